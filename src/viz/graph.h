/* SPDX-License-Identifier: MIT */
/* Graphs: boxes with text in clusters, and arrows between them.  A graph is written as DOT, the
 * language of Graphviz, or drawn as SVG with a plain layout.
 *
 *	graph_init() -> graph_add_...() -> graph_dot() or graph_svg() -> graph_done()
 *
 * The same calls give the same bytes.  Texts may contain any character: the writers escape them.
 */
#ifndef VIZ_GRAPH_H
#define VIZ_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "viz/picture.h"

#define GRAPH_NONE UINT32_MAX /* no cluster, no parent */

/* The subject of a box, which chooses its colours (graph_style.c). */
enum graph_tone {
    GRAPH_PLAIN,
    GRAPH_HOST,   /* a host, a switch, a port */
    GRAPH_MEMORY, /* a protection domain and what belongs to it */
    GRAPH_QUEUE,  /* completion queues and channels, shared receive queues */
    GRAPH_PAIR,   /* a queue pair */
    GRAPH_CM,     /* an ID or an event channel of rdma_cm */
    GRAPH_BAD,    /* something was lost, refused, or failed */
    GRAPH_NOW,    /* the subject of the picture, or its present state */
    GRAPH_TONES
};

enum graph_line {
    GRAPH_SOLID,
    GRAPH_DASHED, /* another way of being related */
    GRAPH_THICK,  /* across hosts: a packet, a connection, a link */
    GRAPH_FAINT,  /* possible, and did not happen */
    GRAPH_LINES
};

struct graph_node {
    char *id;         /* unique in the graph */
    char *label;      /* lines separated by '\n'; the first is the name */
    uint32_t cluster; /* index, or GRAPH_NONE */
    uint32_t parent;  /* the plain layout draws the box below this one, to the right; GRAPH_NONE */
    /* Plain layout: the box begins no higher than this one, of another cluster; GRAPH_NONE. */
    uint32_t beside;
    enum graph_tone tone;
};

struct graph_edge {
    uint32_t from, to; /* indexes of nodes */
    char *label;       /* "": none */
    enum graph_line line;
    bool mutual;  /* without a direction */
    bool to_home; /* leads to the parent of @from, or from the parent of @to */
};

struct graph_cluster {
    char *id, *label;
    bool stacked; /* DOT: its boxes are below each other, as in the plain layout */
};

struct graph {
    const char *form; /* "map": part of the mark at the beginning of the file */
    char *title;      /* "": none */
    /* Arrows lead down: in DOT everywhere, in the plain layout between boxes below each other. */
    bool downwards;
    /* DOT: clusters are beside each other, in their order.  The first box of each is its head:
     * heads are in one row, with the boxes of no cluster above them, and the others below.
     */
    bool side_by_side;
    bool in_order; /* plain layout: each box is below all that were added before it */
    bool failed;   /* memory was exhausted */
    struct graph_cluster *clusters;
    struct graph_node *nodes;
    struct graph_edge *edges;
    uint32_t n_clusters, n_nodes, n_edges;
    uint32_t cap_clusters, cap_nodes, cap_edges;
};

/* Initializes an empty graph.  graph_done() frees its members, also after a failure.  @form must be
 * a constant.
 */
void graph_init(struct graph *g, const char *form, const char *title);
void graph_done(struct graph *g);

/* Add an element and return its index, or an edge until the next one is added.  The texts are
 * copied.  After a failure of an allocation they do nothing and return 0 or NULL, and graph_dot()
 * and graph_svg() return RDL_ERR_NOMEM.
 */
uint32_t graph_add_cluster(struct graph *g, const char *id, const char *label);
uint32_t graph_add_node(struct graph *g, const char *id, const char *label, enum graph_tone tone,
                        uint32_t cluster);
struct graph_edge *graph_add_edge(struct graph *g, uint32_t from, uint32_t to, const char *label,
                                  enum graph_line line);

/* Write the graph to @sink.  They return RDL_OK, or RDL_ERR_NOMEM before any output. */
RDL_MUST_CHECK enum rdl_status graph_dot(const struct graph *g, const struct viz_sink *sink);
RDL_MUST_CHECK enum rdl_status graph_svg(const struct graph *g, const struct viz_sink *sink);

/* Writes the style of all SVG pictures of graphs, those of Graphviz too: <style>...</style>.  It
 * has a light and a dark theme.
 */
void graph_put_style(const struct viz_sink *sink);

/* Returns the name of a class in that style. */
const char *graph_tone_class(enum graph_tone tone);
const char *graph_line_class(enum graph_line line);

/* Colours of DOT, for which there is one theme: boxes are light with dark text, and everything
 * outside boxes is a grey that is visible on white and on black.
 */
#define GRAPH_DOT_OUTSIDE "#7d8590"
const char *graph_tone_fill(enum graph_tone tone);

#endif
