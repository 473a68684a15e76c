/* SPDX-License-Identifier: MIT */
/* The map as a graph.  A host is a cluster, and a box in it that stands for the host itself: the
 * links end there.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/graph/map.h"
#include "cli/graph/wrap.h"
#include "emu/facts/leaf.h"
#include "process/must.h"
#include "viz/graph.h"

#define LABEL_COLUMNS 34u
#define LABEL_BYTES   1024u

static const enum graph_tone tones[NODE_COUNT] = {
    [NODE_host] = GRAPH_HOST, [NODE_switch] = GRAPH_HOST, [NODE_external_port] = GRAPH_HOST,
    [NODE_pd] = GRAPH_MEMORY, [NODE_mr] = GRAPH_MEMORY,   [NODE_mw] = GRAPH_MEMORY,
    [NODE_ah] = GRAPH_MEMORY, [NODE_srq] = GRAPH_QUEUE,   [NODE_channel] = GRAPH_QUEUE,
    [NODE_cq] = GRAPH_QUEUE,  [NODE_qp] = GRAPH_PAIR,     [NODE_event_channel] = GRAPH_CM,
    [NODE_cm_id] = GRAPH_CM,
};

struct drawing {
    const struct map *m;
    struct graph *g;
    uint32_t *nodes;   /* the node of each object, or GRAPH_NONE */
    uint32_t *cluster; /* the cluster of each host */
};

static void add_node(void *ctx, uint32_t i, unsigned depth)
{
    struct drawing *d = ctx;
    const struct map_object *o = &d->m->objects[i];
    const bool is_host = o->kind == NODE_host;
    char label[LABEL_BYTES];
    struct text t = text_on(label, sizeof(label));

    text_add(&t, map_name(d->m, o));
    wrap_add(&t, LABEL_COLUMNS, o->about);
    wrap_add(&t, LABEL_COLUMNS, o->held);
    if (is_host)
        d->cluster[i] = graph_add_cluster(d->g, o->path, o->path);
    d->nodes[i] = graph_add_node(d->g, o->path, label, tones[o->kind],
                                 is_host               ? d->cluster[i]
                                 : o->host == MAP_NONE ? GRAPH_NONE
                                                       : d->cluster[o->host]);
    if (depth == 2 && !d->g->failed)
        d->g->nodes[d->nodes[i]].parent = d->nodes[o->home];
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

/* Adds the links, and an edge for the peers of each other: the first tie draws it. */
static void add_ties(struct drawing *d)
{
    for (size_t k = 0; k < d->m->n_ties; k++) {
        const struct map_tie *tie = &d->m->ties[k];
        struct graph_edge *e;

        if (tie->a == MAP_NONE || tie->b == MAP_NONE || d->nodes[tie->a] == GRAPH_NONE ||
            d->nodes[tie->b] == GRAPH_NONE || (!tie->is_link && leads_back(d->m, tie, k)))
            continue;
        e = graph_add_edge(d->g, d->nodes[tie->a], d->nodes[tie->b],
                           tie->is_link ? tie->text : "peer", GRAPH_THICK);
        if (e)
            e->mutual = tie->is_link || leads_back(d->m, tie, d->m->n_ties);
    }
}

/* Adds a box about the objects of a host that are left out. */
static void add_rests(struct drawing *d)
{
    for (size_t k = 0; k < d->m->n_rests; k++) {
        const struct map_rest *r = &d->m->rests[k];
        char label[LABEL_BYTES], id[RDL_PATH_BYTES];
        struct text t = text_on(label, sizeof(label)), n = text_on(id, sizeof(id));

        if (!d->m->objects[r->host].shown)
            continue;
        text_addf(&n, "%s more %s", d->m->objects[r->host].path, node_rows[r->kind].title);
        text_addf(&t, "%llu more %s\nshow %s %s", (unsigned long long)r->n,
                  node_rows[r->kind].title, node_rows[r->kind].title, d->m->objects[r->host].path);
        graph_add_node(d->g, id, label, GRAPH_PLAIN, d->cluster[r->host]);
    }
}

void map_graph(const struct map *m, const char *title, struct graph *ret)
{
    struct drawing d = {.m = m, .g = ret};
    const size_t n = m->n_objects + 1;

    graph_init(ret, "map", title);
    ret->side_by_side = true;
    d.nodes = must_malloc(n * sizeof(*d.nodes));
    d.cluster = must_malloc(n * sizeof(*d.cluster));
    for (size_t i = 0; i < n; i++)
        d.nodes[i] = d.cluster[i] = GRAPH_NONE;
    map_walk(m, add_node, &d);
    add_rests(&d);
    if (!ret->failed) {
        add_uses(&d);
        add_ties(&d);
    }
    free(d.nodes);
    free(d.cluster);
}
