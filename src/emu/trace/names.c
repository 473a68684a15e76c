/* SPDX-License-Identifier: MIT */
/* Names of hosts and objects as a trace tells them. */
#include <stdlib.h>
#include <string.h>

#include "emu/trace/event.h"

#define NAMES_HOSTS_MAX   (EV_PORT_FIRST + EV_PORTS_MAX)
#define NAMES_OBJECTS_MAX 65536u

struct object_name {
    uint32_t host, number;
    enum object_kind object;
    struct ev_str name;
};

struct ev_names {
    struct ev_str *hosts;
    size_t n_hosts;
    struct object_name *objects;
    size_t n_objects, cap_objects;
    bool is_short; /* memory was, and nobody has asked yet */
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
    free(n);
}

static void learn_host(struct ev_names *n, uint32_t host, const struct ev_str *name)
{
    if (host >= NAMES_HOSTS_MAX)
        return;
    if (host >= n->n_hosts) {
        struct ev_str *v = realloc(n->hosts, (host + 1) * sizeof(*v));

        if (!v) {
            n->is_short = true;
            return; /* the number is shown instead */
        }
        memset(v + n->n_hosts, 0, (host + 1 - n->n_hosts) * sizeof(*v));
        n->hosts = v;
        n->n_hosts = host + 1;
    }
    n->hosts[host] = *name;
}

static struct object_name *find(const struct ev_names *n, uint32_t host, enum object_kind object,
                                uint32_t number)
{
    for (size_t i = 0; i < n->n_objects; i++) {
        struct object_name *o = &n->objects[i];

        if (o->host == host && o->object == object && o->number == number)
            return o;
    }
    return NULL;
}

static void learn_object(struct ev_names *n, const struct ev_named *e)
{
    struct object_name *o = find(n, e->host, (enum object_kind)e->object, e->number);

    if (!o) {
        if (n->n_objects == n->cap_objects) {
            const size_t cap = n->cap_objects ? 2 * n->cap_objects : 16;
            struct object_name *v;

            if (cap > NAMES_OBJECTS_MAX)
                return;
            v = realloc(n->objects, cap * sizeof(*v));
            if (!v) {
                n->is_short = true;
                return;
            }
            n->objects = v;
            n->cap_objects = cap;
        }
        o = &n->objects[n->n_objects++];
    }
    *o = (struct object_name){e->host, e->number, (enum object_kind)e->object, e->name};
}

bool ev_names_were_short(struct ev_names *n)
{
    const bool was = n->is_short;

    n->is_short = false;
    return was;
}

void ev_names_learn(struct ev_names *n, const struct ev *e)
{
    if (e->kind == EV_host_up)
        learn_host(n, e->u.host_up.host, &e->u.host_up.name);
    else if (e->kind == EV_port_up)
        learn_host(n, e->u.port_up.host, &e->u.port_up.name);
    else if (e->kind == EV_named)
        learn_object(n, &e->u.named);
}

void ev_names_host(const struct ev_names *n, struct text *t, uint32_t host)
{
    if (host == EV_HOST_NONE)
        text_add(t, "none");
    else if (n && host < n->n_hosts && n->hosts[host].s[0])
        text_add(t, n->hosts[host].s);
    else
        text_addf(t, "host%u", host);
}

void ev_names_object(const struct ev_names *n, struct text *t, uint32_t host,
                     enum object_kind object, uint32_t number)
{
    const struct object_name *o = n ? find(n, host, object, number) : NULL;

    ev_names_host(n, t, host);
    if (o)
        text_addf(t, ".%s", o->name.s);
    else if (object == OBJ_QP)
        text_addf(t, ".qpn%u", number);
    else if (object == OBJ_CQ)
        text_addf(t, ".cqn%u", number);
    else
        text_addf(t, ".%u", number);
}

uint32_t ev_names_find_host(const struct ev_names *n, const char *name)
{
    for (size_t i = 0; n && i < n->n_hosts; i++) {
        if (strcmp(n->hosts[i].s, name) == 0)
            return (uint32_t)i;
    }
    return EV_HOST_NONE;
}
