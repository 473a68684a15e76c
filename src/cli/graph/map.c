/* SPDX-License-Identifier: MIT */
#include "cli/graph/map.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/plural.h"
#include "emu/facts/enum/object.h"
#include "process/must.h"
#include "rdmalab/events.h"
#include "tree/tree.h"

/* The kinds of objects of a host.  An object comes after its home. */
static const struct kind_row {
    enum object_kind object;
    enum leaf_id number; /* number at the device, 0 before it has answered; or LEAF_none */
} kinds[] = {
    {OBJ_PD, LEAF_pd_pdn},  {OBJ_MR, LEAF_none},      {OBJ_MW, LEAF_none},
    {OBJ_AH, LEAF_none},    {OBJ_SRQ, LEAF_srq_srqn}, {OBJ_CHANNEL, LEAF_none},
    {OBJ_CQ, LEAF_cq_cqn},  {OBJ_QP, LEAF_qp_qpn},    {OBJ_EVENT_CHANNEL, LEAF_none},
    {OBJ_CM_ID, LEAF_none},
};

/* The leaves that name another object of the same host. */
static const struct use_row {
    enum node_kind from;
    enum leaf_id leaf;
    enum node_kind to;
    const char *how; /* "": the home of the object */
    bool holds;      /* the other object cannot be destroyed before this one */
} use_rows[] = {
    {NODE_mr, LEAF_mr_pd, NODE_pd, "", true},
    {NODE_mw, LEAF_mw_pd, NODE_pd, "", true},
    {NODE_mw, LEAF_mw_mr, NODE_mr, "bound", true},
    {NODE_ah, LEAF_ah_pd, NODE_pd, "", true},
    {NODE_srq, LEAF_srq_pd, NODE_pd, "", true},
    {NODE_cq, LEAF_cq_channel, NODE_channel, "", true},
    {NODE_qp, LEAF_qp_pd, NODE_pd, "", true},
    {NODE_qp, LEAF_qp_send_cq, NODE_cq, "send", true},
    {NODE_qp, LEAF_qp_recv_cq, NODE_cq, "recv", true},
    {NODE_qp, LEAF_qp_srq, NODE_srq, "receives", true},
    {NODE_cm_id, LEAF_cm_id_channel, NODE_event_channel, "", true},
    {NODE_cm_id, LEAF_cm_id_qp, NODE_qp, "its queue pair", false},
};

/* The leaves that count what keeps an object although nothing refers to it. */
#define UNACKNOWLEDGED(what) what " is not acknowledged", what "s are not acknowledged"
static const struct held_row {
    enum node_kind kind;
    enum leaf_id leaf;
    const char *one, *many; /* behind the number */
} held_rows[] = {
    {NODE_cq, LEAF_cq_unacked, UNACKNOWLEDGED("completion event")},
    {NODE_cq, LEAF_cq_async_unacked, UNACKNOWLEDGED("asynchronous event")},
    {NODE_qp, LEAF_qp_async_unacked, UNACKNOWLEDGED("asynchronous event")},
    {NODE_srq, LEAF_srq_async_unacked, UNACKNOWLEDGED("asynchronous event")},
    {NODE_cm_id, LEAF_cm_id_unacked, UNACKNOWLEDGED("event")},
};

const char *map_name(const struct map *m, const struct map_object *o)
{
    return o->host == MAP_NONE ? o->path : o->path + strlen(m->objects[o->host].path) + 1;
}

static const struct kind_row *row_of(uint32_t kind)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (node_of_object(kinds[i].object) == kind)
            return &kinds[i];
    }
    return NULL;
}

/* --- Objects ---------------------------------------------------------------------------------- */

static struct map_object *add_object(struct map *m, const char *path, uint32_t kind, uint32_t host)
{
    const struct kind_row *row = row_of(kind);
    struct map_object *o;
    struct text t;

    m->objects = must_grow(m->objects, m->n_objects, &m->cap_objects, sizeof(*m->objects));
    o = &m->objects[m->n_objects++];
    *o = (struct map_object){.kind = kind, .host = host, .home = MAP_NONE, .machine = MAP_NONE};
    t = text_on(o->path, sizeof(o->path));
    text_add(&t, path);
    t = text_on(o->about, sizeof(o->about));
    if (kind != NODE_switch && kind != NODE_external_port)
        map_add_about(&t, m->lab, path, kind);
    if (row && row->number != LEAF_none)
        o->number = tree_number(m->lab, path, row->number);
    if (kind == NODE_cm_id) {
        o->comm_id = tree_number(m->lab, path, LEAF_cm_id_comm_id);
        o->remote_comm_id = tree_number(m->lab, path, LEAF_cm_id_remote_comm_id);
    }
    return o;
}

/* Adds the objects of @kind among the @children of host number @host.  @most: at most so many. */
static void add_kind(struct map *m, const struct tree_list *children, uint32_t host,
                     enum node_kind kind, size_t most)
{
    const char *base = m->objects[host].path;
    char path[TREE_PATH_BYTES], name[RDL_NAME_BYTES];
    struct text t = text_on(name, sizeof(name));
    size_t n = 0;

    text_add(&t, base); /* the array may move */
    for (size_t i = 0; i < children->n; i++) {
        if (!tree_value_is(&children->v[i].value, kind) || n++ >= most)
            continue;
        t = text_on(path, sizeof(path));
        tree_join(&t, name, children->v[i].key);
        add_object(m, path, kind, host);
    }
    if (n <= most)
        return;
    m->rests = must_grow(m->rests, m->n_rests, &m->cap_rests, sizeof(*m->rests));
    m->rests[m->n_rests++] = (struct map_rest){host, kind, n - most};
}

/* Adds the virtual functions of host number @host that have a guest.  @most: at most so many. */
static void add_functions(struct map *m, uint32_t host, size_t most)
{
    char name[RDL_NAME_BYTES], path[TREE_PATH_BYTES];
    struct text t = text_on(name, sizeof(name));
    struct rdl_value guest;
    size_t n = 0, rest = 0;

    text_add(&t, m->objects[host].path); /* the array may move */
    for (uint64_t i = 0; tree_element(m->lab, name, CHILD_host_vfs, i, path); i++) {
        if (n < most && tree_leaf(m->lab, path, LEAF_vf_guest, &guest) && guest.text[0]) {
            add_object(m, path, NODE_vf, host);
            n++;
        } else {
            rest++;
        }
    }
    if (rest == 0)
        return;
    m->rests = must_grow(m->rests, m->n_rests, &m->cap_rests, sizeof(*m->rests));
    m->rests[m->n_rests++] = (struct map_rest){host, NODE_vf, rest};
}

static enum rdl_status add_host(struct map *m, const char *path, size_t most)
{
    const uint32_t host = (uint32_t)m->n_objects;
    struct tree_list children;
    enum rdl_status st;
    size_t at;

    add_object(m, path, NODE_host, MAP_NONE);
    st = tree_children(m->lab, path, &children, &at);
    for (size_t i = 0; i < ARRAY_LEN(kinds) && st == RDL_OK; i++)
        add_kind(m, &children, host, node_of_object(kinds[i].object), most);
    tree_done(&children);
    add_functions(m, host, most);
    return st;
}

/* Returns object @name ("cq", or "h1.cq") of @kind of host @host, or MAP_NONE. */
static uint32_t find(const struct map *m, uint32_t host, enum node_kind kind, const char *name)
{
    for (uint32_t i = host + 1; i < m->n_objects && m->objects[i].host == host; i++) {
        const struct map_object *o = &m->objects[i];

        if (o->kind == kind && (strcmp(map_name(m, o), name) == 0 || strcmp(o->path, name) == 0))
            return i;
    }
    return MAP_NONE;
}

uint32_t map_find(const struct map *m, const char *path)
{
    for (uint32_t i = 0; i < m->n_objects; i++) {
        if (strcmp(m->objects[i].path, path) == 0)
            return i;
    }
    return MAP_NONE;
}

/* --- References ------------------------------------------------------------------------------- */

static void add_use(struct map *m, uint32_t from, uint32_t to, const struct use_row *row)
{
    struct map_use *u;
    struct text t;

    for (size_t i = m->n_uses; i > 0 && m->uses[i - 1].from == from; i--) {
        u = &m->uses[i - 1];
        if (u->to != to || !u->how[0])
            continue;
        t = (struct text){u->how, strlen(u->how), sizeof(u->how), false};
        text_addf(&t, ", %s", row->how);
        return;
    }
    m->uses = must_grow(m->uses, m->n_uses, &m->cap_uses, sizeof(*m->uses));
    u = &m->uses[m->n_uses++];
    *u = (struct map_use){.from = from, .to = to, .holds = row->holds};
    t = text_on(u->how, sizeof(u->how));
    text_add(&t, row->how);
}

static void find_uses(struct map *m, uint32_t i)
{
    struct map_object *o = &m->objects[i];
    struct rdl_value v;

    for (size_t k = 0; k < ARRAY_LEN(use_rows); k++) {
        const struct use_row *row = &use_rows[k];
        uint32_t to;

        if (row->from != o->kind || !tree_leaf(m->lab, o->path, row->leaf, &v) || !v.text[0])
            continue;
        to = find(m, o->host, row->to, v.text);
        if (to == MAP_NONE)
            continue;
        add_use(m, i, to, row);
        if (!row->how[0])
            o->home = to;
    }
}

struct map_tie *map_add_tie(struct map *m, uint32_t a, uint32_t b, bool is_link)
{
    struct map_tie *tie;

    m->ties = must_grow(m->ties, m->n_ties, &m->cap_ties, sizeof(*m->ties));
    tie = &m->ties[m->n_ties++];
    *tie = (struct map_tie){.a = a, .b = b, .vf = MAP_NONE, .is_link = is_link};
    return tie;
}

/* Finds the other end of queue pair @i. */
static void find_peer(struct map *m, uint32_t i)
{
    const struct map_object *o = &m->objects[i];
    const uint64_t qpn = tree_number(m->lab, o->path, LEAF_qp_dest_qpn);
    uint32_t host, peer = MAP_NONE;
    struct map_tie *tie;
    struct rdl_value v;
    struct text t;

    if (!qpn || !tree_leaf(m->lab, o->path, LEAF_qp_peer, &v))
        return;
    host = v.text[0] ? map_find(m, v.text) : MAP_NONE;
    for (uint32_t k = host + 1; host != MAP_NONE && k < m->n_objects; k++) {
        const struct map_object *other = &m->objects[k];

        if (other->host != host)
            break;
        if (other->kind == NODE_qp && other->number == qpn)
            peer = k;
    }
    tie = map_add_tie(m, i, peer, false);
    t = text_on(tie->text, sizeof(tie->text));
    if (peer != MAP_NONE)
        text_add(&t, m->objects[peer].path);
    else
        text_addf(&t, "QPN %llu %s%s", (unsigned long long)qpn, v.text[0] ? "of " : "outside",
                  v.text);
}

/* Finds the other end of the connection of ID @i: each end has the communication ID of the other.
 */
static void find_cm_peer(struct map *m, uint32_t i)
{
    const uint64_t mine = m->objects[i].comm_id, its = m->objects[i].remote_comm_id;

    for (uint32_t k = 0; mine && its && k < m->n_objects; k++) {
        const struct map_object *other = &m->objects[k];
        struct map_tie *tie;
        struct text t;

        if (k == i || other->comm_id != its || other->remote_comm_id != mine)
            continue;
        tie = map_add_tie(m, i, k, false);
        t = text_on(tie->text, sizeof(tie->text));
        text_add(&t, other->path);
        return;
    }
}

static void add_link(struct map *m, const char *path)
{
    struct rdl_value a, b;
    struct map_tie *tie;
    struct text t;

    if (!tree_leaf(m->lab, path, LEAF_link_a, &a) || !tree_leaf(m->lab, path, LEAF_link_b, &b))
        return;
    tie = map_add_tie(m, map_find(m, a.text), map_find(m, b.text), true);
    t = text_on(tie->text, sizeof(tie->text));
    map_add_about(&t, m->lab, path, NODE_link);
}

/* --- Objects that cannot be destroyed --------------------------------------------------------- */

static void begin_reason(struct text *t)
{
    text_add(t, t->len ? "; " : "");
}

/* Appends the objects that keep object @i: "in use by qp (send, recv) and 3 more".  @n is their
 * number according to the engine.  @first is one of them.
 */
static void add_holders(struct text *t, const struct map *m, uint32_t i, uint64_t n,
                        const struct rdl_users *first)
{
    char path[RDL_VALUE_BYTES];
    uint64_t named = 0;

    for (size_t k = 0; k < m->n_uses && named < MAP_HOLDERS_MAX; k++) {
        const struct map_use *u = &m->uses[k];

        if (u->to != i || !u->holds)
            continue;
        text_addf(t, "%s%s", named++ ? ", " : "in use by ", map_name(m, &m->objects[u->from]));
        if (u->how[0])
            text_addf(t, " (%s)", u->how);
    }
    if (named == 0 && n > 0) { /* it is not in the map */
        rdl_path_of(m->lab, first->kind, first->raw, path);
        text_addf(t, "in use by %s", path);
        named = 1;
    }
    if (n > named)
        text_addf(t, " and %llu more", (unsigned long long)(n - named));
}

static void add_number(struct text *t, uint64_t n, const char *one, const char *many)
{
    if (n == 0)
        return;
    begin_reason(t);
    text_addf(t, "%llu %s", (unsigned long long)n, n == 1 ? one : many);
}

/* Finds why object @i cannot be destroyed now. */
static void find_held(struct map *m, uint32_t i)
{
    struct map_object *o = &m->objects[i];
    const struct kind_row *row = row_of(o->kind);
    struct text t = text_on(o->held, sizeof(o->held));
    struct rdl_users users = {0};
    uint64_t raw, n;

    if (!row || rdl_find(m->lab, o->path, row->object, &raw) != RDL_OK ||
        rdl_users_of(m->lab, row->object, raw, &users) != RDL_OK)
        return;
    n = users.n;
    if (o->kind == NODE_mr)
        n += tree_number(m->lab, o->path, LEAF_mr_windows);
    if (n > 0)
        add_holders(&t, m, i, n, &users);
    if (o->kind == NODE_event_channel) {
        const uint64_t ids = tree_number(m->lab, o->path, LEAF_event_channel_ids);

        add_number(&t, ids > users.n ? ids - users.n : 0, "connection request was not taken",
                   "connection requests were not taken");
    }
    add_number(&t, users.groups, "multicast group is attached", "multicast groups are attached");
    for (size_t k = 0; k < ARRAY_LEN(held_rows); k++) {
        const struct held_row *h = &held_rows[k];

        if (h->kind == o->kind)
            add_number(&t, tree_number(m->lab, o->path, h->leaf), h->one, h->many);
    }
    if (row->number != LEAF_none && o->number == 0) {
        begin_reason(&t);
        text_add(&t, "the device has not made it yet");
    }
}

/* --- The parts that were asked for ------------------------------------------------------------ */

/* Shows object @i and its host. */
static void show_object(struct map *m, uint32_t i)
{
    if (i == MAP_NONE)
        return;
    m->objects[i].shown = true;
    if (m->objects[i].host != MAP_NONE)
        m->objects[m->objects[i].host].shown = true;
}

/* Shows object @i, what it refers to, what refers to it, and its peers. */
static void show_around(struct map *m, uint32_t i)
{
    show_object(m, i);
    for (size_t k = 0; k < m->n_uses; k++) {
        if (m->uses[k].from == i)
            show_object(m, m->uses[k].to);
        if (m->uses[k].to == i)
            show_object(m, m->uses[k].from);
    }
    for (size_t k = 0; k < m->n_ties; k++) {
        if (m->ties[k].a == i)
            show_object(m, m->ties[k].b);
        if (m->ties[k].b == i)
            show_object(m, m->ties[k].a);
    }
}

/* Shows the guests of machine @about; of a guest @about its machine, and the functions that it has.
 */
static void show_places(struct map *m, uint32_t about)
{
    for (size_t k = 0; k < m->n_ties; k++) {
        const struct map_tie *tie = &m->ties[k];

        if (!tie->is_place || (tie->a != about && tie->b != about))
            continue;
        show_object(m, tie->a);
        if (tie->b != MAP_NONE)
            show_object(m, tie->b);
        if (tie->a == about && tie->vf != MAP_NONE)
            show_object(m, tie->vf);
    }
}

static void choose(struct map *m, const char *path)
{
    const uint32_t about = path[0] ? map_find(m, path) : MAP_NONE;

    m->whole = !path[0];
    if (about != MAP_NONE && m->objects[about].kind != NODE_host) {
        show_around(m, about);
        return;
    }
    for (uint32_t i = 0; i < m->n_objects; i++)
        m->objects[i].shown = m->whole || i == about || m->objects[i].host == about;
    if (!m->whole)
        show_places(m, about);
}

/* Adds the nodes of @kind of the lab.  @most: at most so many objects of a kind of a host. */
static enum rdl_status add_all(struct map *m, const struct tree_list *nodes, enum node_kind kind,
                               size_t most)
{
    enum rdl_status st = RDL_OK;

    for (size_t i = 0; i < nodes->n && st == RDL_OK; i++) {
        if (!tree_value_is(&nodes->v[i].value, kind))
            continue;
        if (kind == NODE_host)
            st = add_host(m, nodes->v[i].key, most);
        else if (kind == NODE_link)
            add_link(m, nodes->v[i].key);
        else
            add_object(m, nodes->v[i].key, kind, MAP_NONE);
    }
    return st;
}

static enum rdl_status add_lab(struct map *m, size_t most)
{
    static const enum node_kind order[] = {NODE_host, NODE_switch, NODE_external_port, NODE_link};
    struct tree_list nodes;
    size_t at;
    enum rdl_status st = tree_children(m->lab, "", &nodes, &at);

    for (size_t i = 0; i < ARRAY_LEN(order) && st == RDL_OK; i++)
        st = add_all(m, &nodes, order[i], most);
    tree_done(&nodes);
    if (st == RDL_OK)
        map_add_places(m);
    return st;
}

enum rdl_status map_make(struct map *m, const struct rdl_lab *lab, const char *path,
                         size_t *reterr_at)
{
    struct rdl_value v;
    enum rdl_status st = rdl_inspect(lab, path, &v, reterr_at);
    const bool of_host = st == RDL_OK && (!path[0] || tree_value_is(&v, NODE_host));

    *m = (struct map){.lab = lab};
    if (st != RDL_OK)
        return st;
    if (!of_host && (v.type != RDL_NODE || !row_of(v.row)))
        return RDL_ERR_INVAL;
    st = add_lab(m, of_host ? MAP_KIND_MAX : SIZE_MAX);
    if (st != RDL_OK)
        return st;
    for (uint32_t i = 0; i < m->n_objects; i++)
        find_uses(m, i);
    for (uint32_t i = 0; i < m->n_objects; i++) {
        if (m->objects[i].kind == NODE_qp)
            find_peer(m, i);
        else if (m->objects[i].kind == NODE_cm_id)
            find_cm_peer(m, i);
    }
    choose(m, path);
    for (uint32_t i = 0; i < m->n_objects; i++) {
        if (m->objects[i].shown)
            find_held(m, i);
    }
    return RDL_OK;
}

static void walk_below(const struct map *m, uint32_t host, uint32_t home, map_each *each, void *ctx)
{
    for (uint32_t i = host + 1; i < m->n_objects && m->objects[i].host == host; i++) {
        const struct map_object *o = &m->objects[i];
        const bool has_home = o->home != MAP_NONE && m->objects[o->home].shown;

        if (!o->shown || (has_home ? o->home : MAP_NONE) != home)
            continue;
        each(ctx, i, has_home ? 2 : 1);
        if (home == MAP_NONE)
            walk_below(m, host, i, each, ctx);
    }
}

void map_walk(const struct map *m, map_each *each, void *ctx)
{
    for (uint32_t i = 0; i < m->n_objects; i++) {
        if (m->objects[i].host != MAP_NONE || !m->objects[i].shown)
            continue;
        each(ctx, i, 0);
        if (m->objects[i].kind == NODE_host)
            walk_below(m, i, MAP_NONE, each, ctx);
    }
}

bool map_has_link(const struct map *m, const struct map_tie *tie)
{
    const bool a = tie->a != MAP_NONE && m->objects[tie->a].shown;
    const bool b = tie->b != MAP_NONE && m->objects[tie->b].shown;

    return tie->is_link && (m->whole || (tie->is_place ? a && b : a || b));
}

void map_done(struct map *m)
{
    free(m->objects);
    free(m->uses);
    free(m->ties);
    free(m->rests);
    *m = (struct map){.lab = m->lab};
}

/* --- Texts ------------------------------------------------------------------------------------ */

void map_add_uses(struct text *t, const struct map *m, uint32_t i)
{
    bool any = false;

    for (size_t k = 0; k < m->n_uses; k++) {
        const struct map_use *u = &m->uses[k];

        if (u->from != i || !u->how[0])
            continue;
        text_addf(t, "%s%s (%s)", any ? ", " : "", map_name(m, &m->objects[u->to]), u->how);
        any = true;
    }
}

void map_add_peers(struct text *t, const struct map *m, uint32_t i)
{
    bool any = false;

    for (size_t k = 0; k < m->n_ties; k++) {
        const struct map_tie *tie = &m->ties[k];

        if (tie->is_link || tie->a != i)
            continue;
        text_addf(t, "%s%s", any ? ", " : "", tie->text);
        any = true;
    }
}

void map_add_rest(struct text *t, const struct map *m, const struct map_rest *r,
                  const char *between)
{
    const char *host = m->objects[r->host].path, *kind = node_rows[r->kind].title;

    if (r->kind == NODE_vf)
        text_addf(t, "%llu more function%s%sshow %s.vfs", (unsigned long long)r->n, plural_s(r->n),
                  between, host);
    else
        text_addf(t, "%llu more %s%sshow %s %s", (unsigned long long)r->n, kind, between, kind,
                  host);
}
