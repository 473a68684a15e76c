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

static void put_edge(const struct graph *g, const struct graph_edge *e, const struct viz_sink *sink)
{
    static const char *const styles[GRAPH_LINES] = {
        [GRAPH_SOLID] = "solid",
        [GRAPH_DASHED] = "dashed",
        [GRAPH_THICK] = "bold",
        [GRAPH_FAINT] = "dotted",
    };

    svg_put(sink, "  ");
    put_string(sink, g->nodes[e->from].id, false);
    svg_put(sink, " -> ");
    put_string(sink, g->nodes[e->to].id, false);
    svg_putf(sink, " [class=\"%s\", style=%s", graph_line_class(e->line), styles[e->line]);
    if (e->label[0]) {
        svg_put(sink, ", label=");
        put_string(sink, e->label, true);
    }
    /* A connection does not say which host is to the left. */
    svg_put(sink, e->mutual ? ", dir=none, constraint=false];\n" : "];\n");
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
             ", labelloc=t, labeljust=l, rankdir=%s, bgcolor=transparent, class=\"graph\",\n"
             "    fontname=\"DejaVu Sans\", fontsize=12, fontcolor=\"" GRAPH_DOT_OUTSIDE
             "\", color=\"" GRAPH_DOT_OUTSIDE "\"];\n",
             g->downwards ? "TB" : "LR");
    svg_put(sink, "  node [shape=box, style=filled, fontname=\"DejaVu Sans\", fontsize=12, "
                  "fontcolor=\"" VIZ_INK "\", color=\"" GRAPH_DOT_OUTSIDE "\"];\n"
                  "  edge [fontname=\"DejaVu Sans\", fontsize=12, fontcolor=\"" GRAPH_DOT_OUTSIDE
                  "\", color=\"" GRAPH_DOT_OUTSIDE "\"];\n");
    for (uint32_t i = 0; i < g->n_clusters; i++)
        put_cluster(g, i, sink);
    put_nodes(g, GRAPH_NONE, "  ", sink);
    for (uint32_t i = 0; i < g->n_edges; i++)
        put_edge(g, &g->edges[i], sink);
    svg_put(sink, "}\n");
    return RDL_OK;
}
