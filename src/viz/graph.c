/* SPDX-License-Identifier: MIT */
#include "viz/graph.h"

#include <stdlib.h>
#include <string.h>

static char *copy(struct graph *g, const char *s)
{
    const size_t n = strlen(s) + 1;
    char *p = malloc(n);

    if (p)
        memcpy(p, s, n);
    else
        g->failed = true;
    return p;
}

void graph_init(struct graph *g, const char *form, const char *title)
{
    *g = (struct graph){.form = form};
    g->title = copy(g, title);
}

void graph_done(struct graph *g)
{
    for (uint32_t i = 0; i < g->n_clusters; i++) {
        free(g->clusters[i].id);
        free(g->clusters[i].label);
    }
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        free(g->nodes[i].id);
        free(g->nodes[i].label);
    }
    for (uint32_t i = 0; i < g->n_edges; i++)
        free(g->edges[i].label);
    free(g->title);
    free(g->clusters);
    free(g->nodes);
    free(g->edges);
    *g = (struct graph){.form = g->form};
}

/* Returns an array with room for one more element of @bytes, or NULL after a failure. */
static void *grow(struct graph *g, void *array, uint32_t n, uint32_t *cap, size_t bytes)
{
    const uint32_t more = *cap ? 2 * *cap : 16;
    void *p;

    if (g->failed)
        return NULL;
    if (n < *cap)
        return array;
    p = realloc(array, more * bytes);
    if (p)
        *cap = more;
    else
        g->failed = true;
    return p;
}

uint32_t graph_add_cluster(struct graph *g, const char *id, const char *label)
{
    struct graph_cluster *v =
        grow(g, g->clusters, g->n_clusters, &g->cap_clusters, sizeof(*g->clusters));

    if (!v)
        return 0;
    g->clusters = v;
    v[g->n_clusters] = (struct graph_cluster){.id = copy(g, id), .label = copy(g, label)};
    return g->n_clusters++;
}

uint32_t graph_add_node(struct graph *g, const char *id, const char *label, enum graph_tone tone,
                        uint32_t cluster)
{
    struct graph_node *v = grow(g, g->nodes, g->n_nodes, &g->cap_nodes, sizeof(*g->nodes));

    if (!v)
        return 0;
    g->nodes = v;
    v[g->n_nodes] = (struct graph_node){.id = copy(g, id),
                                        .label = copy(g, label),
                                        .cluster = cluster,
                                        .parent = GRAPH_NONE,
                                        .beside = GRAPH_NONE,
                                        .tone = tone};
    return g->n_nodes++;
}

struct graph_edge *graph_add_edge(struct graph *g, uint32_t from, uint32_t to, const char *label,
                                  enum graph_line line)
{
    struct graph_edge *v = grow(g, g->edges, g->n_edges, &g->cap_edges, sizeof(*g->edges));

    if (!v)
        return NULL;
    g->edges = v;
    v[g->n_edges] =
        (struct graph_edge){.from = from, .to = to, .label = copy(g, label), .line = line};
    return &v[g->n_edges++];
}
