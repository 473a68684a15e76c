/* SPDX-License-Identifier: MIT */
/* Writes a graph in DOT, the language of Graphviz.
 *
 * All IDs and labels are strings in double quotes.  Graphviz reads backslashes in labels as escape
 * sequences, such as \N for the name of the node, and "&" as the beginning of an entity of HTML.
 * Labels are no HTML-like labels, which would need "<...>" outside quotes.
 */
#include <string.h>

#include "viz/graph.h"
#include "viz/svg.h"

#define STACK_MAX 20u /* boxes below each other */

/* Writes @s as a string in double quotes.  An ID has no escape sequence but that of the quote, so
 * a backslash there stands for itself.  It is doubled all the same: at the end of an ID it would
 * escape the closing quote.
 */
static void put_string(const struct viz_sink *sink, const char *s, bool is_label)
{
    svg_put(sink, "\"");
    for (; *s; s++) {
        if (*s == '"')
            svg_put(sink, "\\\"");
        else if (*s == '\\')
            svg_put(sink, "\\\\");
        else if (*s == '&' && is_label)
            svg_put(sink, "&amp;");
        else if (*s == '\n')
            svg_put(sink, is_label ? "\\n" : " ");
        else if ((unsigned char)*s >= ' ' && *s != 0x7f)
            sink->put(sink->ctx, s, 1);
    }
    svg_put(sink, "\"");
}

static void put_node(const struct graph_node *n, const char *indent, const struct viz_sink *sink)
{
    svg_put(sink, indent);
    put_string(sink, n->id, false);
    svg_put(sink, " [label=");
    put_string(sink, n->label, true);
    svg_putf(sink, ", class=\"%s\", fillcolor=\"%s\"];\n", graph_tone_class(n->tone),
             graph_tone_fill(n->tone));
}

static void put_nodes(const struct graph *g, uint32_t cluster, const char *indent,
                      const struct viz_sink *sink)
{
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        if (g->nodes[i].cluster == cluster)
            put_node(&g->nodes[i], indent, sink);
    }
}

static void put_cluster(const struct graph *g, uint32_t i, const struct viz_sink *sink)
{
    char id[16];
    struct text t = text_on(id, sizeof(id));

    /* Graphviz draws a box around a subgraph whose ID begins with "cluster". */
    text_addf(&t, "cluster%u", i);
    svg_put(sink, "  subgraph ");
    put_string(sink, id, false);
    svg_put(sink, " {\n    label=");
    put_string(sink, g->clusters[i].label, true);
    svg_put(sink, ";\n");
    put_nodes(g, i, "    ", sink);
    svg_put(sink, "  }\n");
}

/* Returns the first node of the cluster, or GRAPH_NONE if the cluster is empty. */
static uint32_t head_of(const struct graph *g, uint32_t cluster)
{
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        if (g->nodes[i].cluster == cluster)
            return i;
    }
    return GRAPH_NONE;
}

/* Returns true if @e is written from its end to its beginning.  Graphviz puts the node that is
 * written first into the higher row, or to the left in the same row.
 */
static bool is_upwards(const struct graph *g, const struct graph_edge *e)
{
    const struct graph_node *from = &g->nodes[e->from], *to = &g->nodes[e->to];

    if (!g->side_by_side)
        return false;
    if (from->cluster != GRAPH_NONE && to->cluster != GRAPH_NONE && from->cluster != to->cluster)
        return from->cluster > to->cluster;
    if (e->mutual)
        return from->cluster != GRAPH_NONE && to->cluster == GRAPH_NONE;
    return from->parent == e->to;
}

/* Returns true if @e leads to a cluster beside its own.  Its label takes no room (xlabel): Graphviz
 * 2.43 fails where many labels of such edges are in a row.
 */
static bool is_far(const struct graph *g, const struct graph_edge *e)
{
    const uint32_t a = g->nodes[e->from].cluster, b = g->nodes[e->to].cluster;

    return g->side_by_side && a != b && a != GRAPH_NONE && b != GRAPH_NONE;
}

/* Returns true if the ends of @e may be in any rows. */
static bool is_free(const struct graph *g, const struct graph_edge *e)
{
    /* A connection does not say which host is to the left. */
    return g->side_by_side ? is_far(g, e) : e->mutual;
}

static void put_ends(const struct graph *g, uint32_t from, uint32_t to, const struct viz_sink *sink)
{
    svg_put(sink, "  ");
    put_string(sink, g->nodes[from].id, false);
    svg_put(sink, " -> ");
    put_string(sink, g->nodes[to].id, false);
}

static void put_edge(const struct graph *g, const struct graph_edge *e, const struct viz_sink *sink)
{
    static const char *const styles[GRAPH_LINES] = {
        [GRAPH_SOLID] = "solid",
        [GRAPH_DASHED] = "dashed",
        [GRAPH_THICK] = "bold",
        [GRAPH_FAINT] = "dotted",
    };
    const bool upwards = is_upwards(g, e);

    put_ends(g, upwards ? e->to : e->from, upwards ? e->from : e->to, sink);
    svg_putf(sink, " [class=\"%s\", style=%s", graph_line_class(e->line), styles[e->line]);
    if (e->label[0]) {
        svg_put(sink, is_far(g, e) ? ", xlabel=" : ", label=");
        put_string(sink, e->label, true);
    }
    if (e->mutual || upwards)
        svg_put(sink, e->mutual ? ", dir=none" : ", dir=back");
    svg_put(sink, is_free(g, e) ? ", constraint=false];\n" : "];\n");
}

/* Returns true if an edge within its cluster puts node @i below another one. */
static bool is_below_another(const struct graph *g, uint32_t i)
{
    for (uint32_t k = 0; k < g->n_edges; k++) {
        const struct graph_edge *e = &g->edges[k];

        if ((is_upwards(g, e) ? e->from : e->to) == i && e->from != e->to &&
            g->nodes[e->from].cluster == g->nodes[e->to].cluster)
            return true;
    }
    return false;
}

/* Returns the number of boxes of @cluster beside each other, if it is a stack. */
static uint32_t width_of_stack(const struct graph *g, uint32_t cluster)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n_nodes; i++)
        n += g->nodes[i].cluster == cluster && g->nodes[i].parent == GRAPH_NONE;
    return n / STACK_MAX + 1;
}

/* Writes invisible edges that put the boxes of @cluster below @head, and those of a stack below
 * each other, each with what belongs to it.  A high stack gets more boxes in a row: Graphviz takes
 * minutes for hundreds of rows.
 */
static void put_below(const struct graph *g, uint32_t cluster, uint32_t head,
                      const struct viz_sink *sink)
{
    const uint32_t width = width_of_stack(g, cluster);
    uint32_t above = head, n = 0;

    for (uint32_t i = head + 1; i < g->n_nodes; i++) {
        const struct graph_node *b = &g->nodes[i];

        if (b->cluster != cluster || is_below_another(g, i))
            continue;
        put_ends(g, b->parent == GRAPH_NONE ? above : b->parent, i, sink);
        svg_put(sink, " [style=invis];\n");
        if (g->clusters[cluster].stacked && b->parent == GRAPH_NONE && ++n % width == 0)
            above = i;
    }
}

/* Writes invisible edges that put the heads into one row, and the other boxes below their head. */
static void put_rows(const struct graph *g, const struct viz_sink *sink)
{
    uint32_t before = GRAPH_NONE;

    svg_put(sink, "  { rank=same;");
    for (uint32_t c = 0; c < g->n_clusters; c++) {
        const uint32_t head = head_of(g, c);

        if (head == GRAPH_NONE)
            continue;
        svg_put(sink, " ");
        put_string(sink, g->nodes[head].id, false);
        svg_put(sink, ";");
    }
    svg_put(sink, " }\n");
    for (uint32_t c = 0; c < g->n_clusters; c++) {
        const uint32_t head = head_of(g, c);

        if (head == GRAPH_NONE)
            continue;
        if (before != GRAPH_NONE) {
            put_ends(g, before, head, sink);
            svg_put(sink, " [style=invis];\n");
        }
        before = head;
        put_below(g, c, head, sink);
    }
}

enum rdl_status graph_dot(const struct graph *g, const struct viz_sink *sink)
{
    if (g->failed)
        return RDL_ERR_NOMEM;
    svg_putf(sink, DOT_MARK_FORMAT, g->form);
    svg_put(sink, "digraph ");
    put_string(sink, g->title[0] ? g->title : g->form, false);
    svg_put(sink, " {\n  graph [label=");
    put_string(sink, g->title, true);
    svg_putf(sink,
             ", labelloc=t, labeljust=l, rankdir=%s,%s bgcolor=transparent, class=\"graph\",\n"
             "    fontname=\"DejaVu Sans\", fontsize=12, fontcolor=\"" GRAPH_DOT_OUTSIDE
             "\", color=\"" GRAPH_DOT_OUTSIDE "\"];\n",
             g->downwards || g->side_by_side ? "TB" : "LR",
             g->side_by_side ? " newrank=true," : "");
    svg_put(sink, "  node [shape=box, style=filled, fontname=\"DejaVu Sans\", fontsize=12, "
                  "fontcolor=\"" VIZ_INK "\", color=\"" GRAPH_DOT_OUTSIDE "\"];\n"
                  "  edge [fontname=\"DejaVu Sans\", fontsize=12, fontcolor=\"" GRAPH_DOT_OUTSIDE
                  "\", color=\"" GRAPH_DOT_OUTSIDE "\"];\n");
    for (uint32_t i = 0; i < g->n_clusters; i++)
        put_cluster(g, i, sink);
    put_nodes(g, GRAPH_NONE, "  ", sink);
    for (uint32_t i = 0; i < g->n_edges; i++)
        put_edge(g, &g->edges[i], sink);
    if (g->side_by_side && g->n_clusters > 0)
        put_rows(g, sink);
    svg_put(sink, "}\n");
    return RDL_OK;
}
