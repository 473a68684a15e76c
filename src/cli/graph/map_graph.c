/* SPDX-License-Identifier: MIT */
/* The map as a graph.  A host is a cluster, and a box in it that stands for the host itself: the
 * links end there.
 *
 * The guests of a machine are in a cluster beside it, below each other.  The machine has a box for
 * each virtual function with a guest, at the height of that guest.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/graph/map.h"
#include "cli/graph/wrap.h"
#include "emu/facts/leaf.h"
#include "process/must.h"
#include "rdmalab/layer.h"
#include "tree/tree.h"
#include "viz/graph.h"

#define LABEL_COLUMNS 34u
#define LABEL_BYTES   1024u

static const enum graph_tone tones[NODE_COUNT] = {
    [NODE_host] = GRAPH_HOST, [NODE_switch] = GRAPH_HOST, [NODE_external_port] = GRAPH_HOST,
    [NODE_pd] = GRAPH_MEMORY, [NODE_mr] = GRAPH_MEMORY,   [NODE_mw] = GRAPH_MEMORY,
    [NODE_ah] = GRAPH_MEMORY, [NODE_srq] = GRAPH_QUEUE,   [NODE_channel] = GRAPH_QUEUE,
    [NODE_cq] = GRAPH_QUEUE,  [NODE_qp] = GRAPH_PAIR,     [NODE_event_channel] = GRAPH_CM,
    [NODE_cm_id] = GRAPH_CM,  [NODE_vf] = GRAPH_HOST,
};

struct drawing {
    const struct map *m;
    struct graph *g;
    uint32_t *nodes;   /* the node of each object, or GRAPH_NONE */
    uint32_t *cluster; /* the cluster of each host */
    uint32_t *spare;   /* the node for the functions of each machine that have no guest */
    bool functions;    /* add_node() adds virtual functions, and otherwise all but these */
};

static bool is_guest(const struct map *m, uint32_t i)
{
    return m->objects[i].machine != MAP_NONE && m->objects[m->objects[i].machine].shown;
}

static bool has_guests(const struct map *m, uint32_t host)
{
    for (uint32_t i = 0; i < m->n_objects; i++) {
        if (m->objects[i].shown && m->objects[i].machine == host)
            return true;
    }
    return false;
}

/* Adds the cluster of the guests of @machine. */
static void add_guests(struct drawing *d, uint32_t machine)
{
    const struct map *m = d->m;
    char label[RDL_PATH_BYTES + 16];
    struct text t = text_on(label, sizeof(label));
    uint32_t cluster;

    text_addf(&t, "guests of %s", m->objects[machine].path);
    cluster = graph_add_cluster(d->g, label, label);
    for (uint32_t i = 0; i < m->n_objects; i++) {
        if (m->objects[i].machine == machine)
            d->cluster[i] = cluster;
    }
    if (!d->g->failed)
        d->g->clusters[cluster].stacked = true;
}

/* Adds the clusters of all hosts, from left to right.  The guests of the first machine are to its
 * left, those of the second to its right, and so on: a link between the two is short.
 */
static void add_clusters(struct drawing *d)
{
    const struct map *m = d->m;
    bool left = true;

    for (uint32_t i = 0; i < m->n_objects; i++) {
        const struct map_object *o = &m->objects[i];
        const bool is_machine = has_guests(m, i);

        if (o->kind != NODE_host || !o->shown || is_guest(m, i))
            continue;
        if (is_machine && left)
            add_guests(d, i);
        d->cluster[i] = graph_add_cluster(d->g, o->path, o->path);
        if (is_machine && !d->g->failed)
            d->g->clusters[d->cluster[i]].stacked = true;
        if (is_machine && !left)
            add_guests(d, i);
        left = left != is_machine;
    }
}

/* Returns the node that the box of object @i belongs to, or GRAPH_NONE: its home, or the guest in
 * whose cluster there are others.
 */
static uint32_t parent_of(const struct drawing *d, uint32_t i, unsigned depth)
{
    const struct map_object *o = &d->m->objects[i];

    if (depth == 2)
        return d->nodes[o->home];
    return depth == 1 && is_guest(d->m, o->host) ? d->nodes[o->host] : GRAPH_NONE;
}

static void add_node(void *ctx, uint32_t i, unsigned depth)
{
    struct drawing *d = ctx;
    const struct map_object *o = &d->m->objects[i];
    const uint32_t host = depth == 0 ? i : o->host;
    char label[LABEL_BYTES];
    struct text t = text_on(label, sizeof(label));

    if ((o->kind == NODE_vf) != d->functions)
        return;
    text_add(&t, map_name(d->m, o));
    wrap_add(&t, LABEL_COLUMNS, o->about);
    wrap_add(&t, LABEL_COLUMNS, o->held);
    d->nodes[i] = graph_add_node(d->g, o->path, label, tones[o->kind], d->cluster[host]);
    if (!d->g->failed)
        d->g->nodes[d->nodes[i]].parent = parent_of(d, i, depth);
}

/* Adds the virtual functions, each beside its guest. */
static void add_functions(struct drawing *d)
{
    d->functions = true;
    map_walk(d->m, add_node, d);
    for (size_t k = 0; k < d->m->n_ties && !d->g->failed; k++) {
        const struct map_tie *tie = &d->m->ties[k];

        if (tie->is_place && tie->vf != MAP_NONE && d->nodes[tie->vf] != GRAPH_NONE)
            d->g->nodes[d->nodes[tie->vf]].beside = d->nodes[tie->a];
    }
}

static void add_uses(struct drawing *d)
{
    for (size_t k = 0; k < d->m->n_uses; k++) {
        const struct map_use *u = &d->m->uses[k];
        struct graph_edge *e;

        if (d->nodes[u->from] == GRAPH_NONE || d->nodes[u->to] == GRAPH_NONE)
            continue;
        e = graph_add_edge(d->g, d->nodes[u->from], d->nodes[u->to], u->how,
                           u->holds ? GRAPH_SOLID : GRAPH_DASHED);
        if (e)
            e->to_home = !u->how[0];
    }
}

/* Returns true if one of the first @n ties leads back from the peer of @tie. */
static bool leads_back(const struct map *m, const struct map_tie *tie, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!m->ties[i].is_link && m->ties[i].a == tie->b && m->ties[i].b == tie->a)
            return true;
    }
    return false;
}

/* Returns the node where @tie ends: of a guest the virtual function, if it is in the graph, or the
 * functions without a guest.
 */
static uint32_t end_of(const struct drawing *d, const struct map_tie *tie)
{
    if (tie->is_place && !tie->is_shared && tie->vf == MAP_NONE && d->spare[tie->b] != GRAPH_NONE)
        return d->spare[tie->b];
    if (tie->vf != MAP_NONE && d->nodes[tie->vf] != GRAPH_NONE)
        return d->nodes[tie->vf];
    return tie->b == MAP_NONE ? GRAPH_NONE : d->nodes[tie->b];
}

/* Adds @tie, which both ends have in the graph.  A virtual RNIC without a function has a dashed
 * line to its machine; a function has its number itself.
 */
static void add_tie(struct drawing *d, const struct map_tie *tie)
{
    const uint32_t end = end_of(d, tie);
    const char *label = !tie->is_link ? "peer" : tie->vf != MAP_NONE ? "" : tie->text;
    struct graph_edge *e = graph_add_edge(d->g, d->nodes[tie->a], end, label,
                                          tie->is_idle ? GRAPH_DASHED : GRAPH_THICK);

    if (e)
        e->mutual = tie->is_link || leads_back(d->m, tie, d->m->n_ties);
}

/* Adds the links, and an edge for the peers of each other: the first tie draws it. */
static void add_ties(struct drawing *d)
{
    for (size_t k = 0; k < d->m->n_ties; k++) {
        const struct map_tie *tie = &d->m->ties[k];

        if (tie->a == MAP_NONE || d->nodes[tie->a] == GRAPH_NONE || tie->b == MAP_NONE ||
            end_of(d, tie) == GRAPH_NONE || (!tie->is_link && leads_back(d->m, tie, k)))
            continue;
        add_tie(d, tie);
    }
}

/* Adds a box about the objects of a host that are left out. */
static void add_rests(struct drawing *d)
{
    for (size_t k = 0; k < d->m->n_rests; k++) {
        const struct map_rest *r = &d->m->rests[k];
        char label[LABEL_BYTES], id[RDL_PATH_BYTES];
        uint32_t node;
        struct text t = text_on(label, sizeof(label)), n = text_on(id, sizeof(id));

        if (!d->m->objects[r->host].shown)
            continue;
        text_addf(&n, "%s more %s", d->m->objects[r->host].path, node_rows[r->kind].title);
        map_add_rest(&t, d->m, r, "\n");
        node = graph_add_node(d->g, id, label, GRAPH_PLAIN, d->cluster[r->host]);
        if (r->kind == NODE_vf)
            d->spare[r->host] = node;
    }
}

/* Appends the guests of @group: "group 1: g1, g2".  Without any it appends nothing. */
static void add_group(struct text *t, const struct map *m, uint32_t group)
{
    char line[LABEL_BYTES], path[TREE_PATH_BYTES];
    struct text l = text_on(line, sizeof(line));
    uint32_t n = 0;

    text_addf(&l, "group %u:", group);
    for (uint32_t i = 0; i < m->n_objects; i++) {
        const struct map_object *o = &m->objects[i];

        if (o->kind == NODE_host && tree_child(m->lab, o->path, CHILD_host_vrnic, path) &&
            tree_number(m->lab, path, LEAF_vrnic_group) == group)
            text_addf(&l, "%s%s", n++ ? ", " : " ", o->path);
    }
    if (n > 0)
        wrap_add(t, LABEL_COLUMNS, line);
}

/* Adds a box with the groups of virtual RNICs, and which of them may connect. */
static void add_centre(struct drawing *d)
{
    char label[LABEL_BYTES];
    struct text t = text_on(label, sizeof(label));
    const size_t nothing = sizeof("control centre") - 1;

    text_add(&t, "control centre");
    for (uint32_t g = 1; d->m->whole && g <= RDL_GROUPS_MAX; g++)
        add_group(&t, d->m, g);
    if (t.len == nothing)
        return;
    for (uint32_t g = 1; g <= RDL_GROUPS_MAX; g++) {
        for (uint32_t other = g + 1; other <= RDL_GROUPS_MAX; other++) {
            if (rdl_centre_allows(d->m->lab, g, other))
                text_addf(&t, "\ngroups %u and %u may connect", g, other);
        }
    }
    graph_add_node(d->g, "control centre", label, GRAPH_CM, GRAPH_NONE);
}

void map_graph(const struct map *m, const char *title, struct graph *ret)
{
    struct drawing d = {.m = m, .g = ret};
    const size_t n = m->n_objects + 1;

    graph_init(ret, "map", title);
    ret->side_by_side = true;
    d.nodes = must_malloc(n * sizeof(*d.nodes));
    d.cluster = must_malloc(n * sizeof(*d.cluster));
    d.spare = must_malloc(n * sizeof(*d.spare));
    for (size_t i = 0; i < n; i++)
        d.nodes[i] = d.cluster[i] = d.spare[i] = GRAPH_NONE;
    add_clusters(&d);
    map_walk(m, add_node, &d);
    add_functions(&d);
    add_centre(&d);
    add_rests(&d);
    if (!ret->failed) {
        add_uses(&d);
        add_ties(&d);
    }
    free(d.nodes);
    free(d.cluster);
    free(d.spare);
}
