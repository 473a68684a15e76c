/* SPDX-License-Identifier: MIT */
/* Names of hosts and objects, collected from a trace. */
#include <stdlib.h>
#include <string.h>

#include "emu/facts/enum/object.h"
#include "emu/trace/event.h"

#define NAMES_HOSTS_MAX   (EV_PORT_FIRST + EV_PORTS_MAX)
#define NAMES_OBJECTS_MAX 65536u

/* A name that an object got with event @id. */
struct entry {
    struct ev_named named;
    ev_id id;
};

struct ev_names {
    /* By number; unknown hosts have an empty name; of a port only number and name are set. */
    struct ev_host_up *hosts;
    size_t n_hosts;
    struct entry *objects; /* in the order in which they were learnt */
    uint32_t *sorted;      /* indices into objects, sorted by host, kind, number and index */
    size_t n_objects, cap_objects;
    size_t n_seen; /* objects up to the lab's position; the others are ahead */
    size_t n_old;  /* at most so many objects have a later entry for the same number */
    bool is_short; /* memory ran short since the last ev_names_were_short() */
};

struct ev_names *ev_names_new(void)
{
    return calloc(1, sizeof(struct ev_names));
}

void ev_names_free(struct ev_names *n)
{
    if (!n)
        return;
    free(n->hosts);
    free(n->objects);
    free(n->sorted);
    free(n);
}

static void learn_host(struct ev_names *n, const struct ev_host_up *e)
{
    if (e->host >= NAMES_HOSTS_MAX)
        return;
    if (e->host >= n->n_hosts) {
        struct ev_host_up *v = realloc(n->hosts, (e->host + 1) * sizeof(*v));

        if (!v) {
            n->is_short = true;
            return; /* its number is printed instead */
        }
        memset(v + n->n_hosts, 0, (e->host + 1 - n->n_hosts) * sizeof(*v));
        n->hosts = v;
        n->n_hosts = e->host + 1;
    }
    n->hosts[e->host] = *e;
}

/* Compares @o with the object that has these numbers: less than 0 if it sorts before, 0 if equal.
 */
static int compare(const struct ev_named *o, uint32_t host, uint32_t object, uint32_t number)
{
    if (o->host != host)
        return o->host < host ? -1 : 1;
    if (o->object != (uint32_t)object)
        return o->object < (uint32_t)object ? -1 : 1;
    return o->number == number ? 0 : o->number < number ? -1 : 1;
}

/* Returns the index in @sorted behind all entries of the object. */
static size_t place_after(const struct ev_names *n, uint32_t host, uint32_t object, uint32_t number)
{
    size_t low = 0, high = n->n_objects;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (compare(&n->objects[n->sorted[middle]].named, host, object, number) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the newest entry of the object that is not ahead; or NULL. */
static struct entry *find(const struct ev_names *n, uint32_t host, uint32_t object, uint32_t number)
{
    for (size_t at = place_after(n, host, object, number); at > 0; at--) {
        struct entry *o = &n->objects[n->sorted[at - 1]];

        if (compare(&o->named, host, object, number) != 0)
            return NULL;
        if (n->sorted[at - 1] < n->n_seen)
            return o;
    }
    return NULL;
}

/* Removes the entries that @drops tells from objects and sorted. */
static void remove_entries(struct ev_names *n, bool (*drops)(const struct ev_names *n, size_t i))
{
    uint32_t *moved = malloc((n->n_objects + 1) * sizeof(*moved));
    size_t kept = 0, n_sorted = 0, n_seen = 0;

    if (!moved) {
        n->is_short = true;
        return;
    }
    for (size_t i = 0; i < n->n_objects; i++)
        moved[i] = drops(n, i) ? UINT32_MAX : (uint32_t)kept++;
    for (size_t i = 0; i < n->n_objects; i++) {
        if (moved[n->sorted[i]] != UINT32_MAX)
            n->sorted[n_sorted++] = moved[n->sorted[i]];
    }
    for (size_t i = 0; i < n->n_objects; i++) {
        if (moved[i] == UINT32_MAX)
            continue;
        n_seen += i < n->n_seen;
        n->objects[moved[i]] = n->objects[i];
    }
    n->n_objects = kept;
    n->n_seen = n_seen;
    free(moved);
}

static bool is_ahead(const struct ev_names *n, size_t i)
{
    return i >= n->n_seen;
}

static bool is_replaced(const struct ev_names *n, size_t i)
{
    const struct ev_named *o = &n->objects[i].named;

    return i < n->n_seen && find(n, o->host, o->object, o->number) != &n->objects[i];
}

void ev_names_forget_ahead(struct ev_names *n)
{
    if (n->n_seen < n->n_objects)
        remove_entries(n, is_ahead);
}

void ev_names_place(struct ev_names *n, ev_id last)
{
    size_t low = 0, high = n->n_objects;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (n->objects[middle].id <= last)
            low = middle + 1;
        else
            high = middle;
    }
    n->n_seen = low;
}

/* Doubles the arrays.  Returns false if NAMES_OBJECTS_MAX is reached or memory is short. */
static bool grow(struct ev_names *n)
{
    const size_t cap = n->cap_objects ? 2 * n->cap_objects : 16;
    struct entry *objects;
    uint32_t *sorted;

    if (cap > NAMES_OBJECTS_MAX)
        return false;
    objects = realloc(n->objects, cap * sizeof(*objects));
    if (objects)
        n->objects = objects;
    sorted = realloc(n->sorted, cap * sizeof(*sorted));
    if (sorted)
        n->sorted = sorted;
    if (!objects || !sorted) {
        n->is_short = true;
        return false;
    }
    n->cap_objects = cap;
    return true;
}

/* Makes room for one more entry.  Names that were replaced are given up if there are many. */
static bool has_room(struct ev_names *n)
{
    if (n->n_objects < n->cap_objects || grow(n))
        return true;
    if (n->n_old < n->n_objects / 4)
        return false;
    n->n_old = 0;
    remove_entries(n, is_replaced);
    return n->n_objects < n->cap_objects;
}

static void learn_object(struct ev_names *n, const struct ev_named *e, ev_id id)
{
    struct entry *known = find(n, e->host, e->object, e->number);
    const struct entry *next = n->n_seen < n->n_objects ? &n->objects[n->n_seen] : NULL;
    size_t at;

    if (!e->name.s[0])
        return; /* a damaged trace file */
    if (known && strcmp(known->named.name.s, e->name.s) == 0)
        return;
    if (next && next->id == id && compare(&next->named, e->host, e->object, e->number) == 0 &&
        strcmp(next->named.name.s, e->name.s) == 0) {
        n->n_seen++;
        return;
    }
    ev_names_forget_ahead(n);
    if (!has_room(n)) {
        if (known)
            known->named = *e;
        return; /* otherwise its number is printed */
    }
    n->n_old += known != NULL;
    at = place_after(n, e->host, e->object, e->number);
    memmove(&n->sorted[at + 1], &n->sorted[at], (n->n_objects - at) * sizeof(*n->sorted));
    n->sorted[at] = (uint32_t)n->n_objects;
    n->objects[n->n_objects++] = (struct entry){*e, id};
    n->n_seen = n->n_objects;
}

bool ev_names_were_short(struct ev_names *n)
{
    const bool was = n->is_short;

    n->is_short = false;
    return was;
}

void ev_names_learn(struct ev_names *n, const struct ev *e)
{
    struct ev_host_up port = {0};

    if (e->kind == EV_host_up) {
        learn_host(n, &e->u.host_up);
    } else if (e->kind == EV_port_up) {
        port.host = e->u.port_up.host;
        port.name = e->u.port_up.name;
        learn_host(n, &port);
    } else if (e->kind == EV_named) {
        learn_object(n, &e->u.named, e->id);
    }
}

void ev_names_host(const struct ev_names *n, struct text *t, uint32_t host)
{
    if (host == EV_HOST_NONE)
        text_add(t, "none");
    else if (n && host < n->n_hosts && n->hosts[host].name.s[0])
        text_add(t, n->hosts[host].name.s);
    else
        text_addf(t, "host%u", host);
}

void ev_names_object(const struct ev_names *n, struct text *t, uint32_t host, uint32_t object,
                     uint32_t number)
{
    const struct entry *o = n ? find(n, host, object, number) : NULL;

    ev_names_host(n, t, host);
    if (o)
        text_addf(t, ".%s", o->named.name.s);
    else if (object == OBJ_QP)
        text_addf(t, ".qpn%u", number);
    else if (object == OBJ_CQ)
        text_addf(t, ".cqn%u", number);
    else if (object == OBJ_CM_ID)
        text_addf(t, ".id%u", number); /* its name unless the program chooses another one */
    else
        text_addf(t, ".%u", number);
}

uint32_t ev_names_find_host(const struct ev_names *n, const char *name)
{
    for (size_t i = 0; n && i < n->n_hosts; i++) {
        if (strcmp(n->hosts[i].name.s, name) == 0)
            return (uint32_t)i;
    }
    return EV_HOST_NONE;
}

bool ev_names_next(const struct ev_names *n, size_t *at, struct ev *ret)
{
    while (n && *at < n->n_hosts && !n->hosts[*at].name.s[0])
        (*at)++;
    while (n && *at >= n->n_hosts && *at < n->n_hosts + n->n_seen &&
           is_replaced(n, *at - n->n_hosts))
        (*at)++;
    if (!n || *at >= n->n_hosts + n->n_seen)
        return false;
    memset(ret, 0, sizeof(*ret));
    if (*at >= n->n_hosts) {
        ret->kind = EV_named;
        ret->u.named = n->objects[*at - n->n_hosts].named;
    } else if (*at >= EV_PORT_FIRST) {
        ret->kind = EV_port_up;
        ret->u.port_up.host = n->hosts[*at].host;
        ret->u.port_up.name = n->hosts[*at].name;
    } else {
        ret->kind = EV_host_up;
        ret->u.host_up = n->hosts[*at];
    }
    (*at)++;
    return true;
}
