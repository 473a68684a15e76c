/* SPDX-License-Identifier: MIT */
/* Graphs as DOT and as SVG, from a description written by hand. */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collected.h"
#include "golden.h"
#include "viz/graph.h"

/* A name that tries to end a string, an element, a comment, and to begin an entity. */
#define HOSTILE "a\"b\\<script>&lt;--></svg>\x01\x7f\\N"

typedef enum rdl_status writer(const struct graph *g, const struct viz_sink *sink);

static char *write_with(writer *w, const struct graph *g)
{
    struct collected c;
    const struct viz_sink sink = collect(&c);

    assert_int_equal(w(g, &sink), RDL_OK);
    return c.s;
}

/* Two hosts, an object that belongs to another one, a use, a peer, and a box without a host. */
static void make(struct graph *g, const char *name)
{
    uint32_t a, b, pd, qp, cq, other, s;

    graph_init(g, "map", name);
    a = graph_add_cluster(g, name, name);
    b = graph_add_cluster(g, "h2", "h2");
    pd = graph_add_node(g, "h1.pd", "pd\nPDN 1", GRAPH_MEMORY, a);
    qp = graph_add_node(g, name, name, GRAPH_PAIR, a);
    g->nodes[qp].parent = pd;
    cq = graph_add_node(g, "h1.cq", "cq", GRAPH_QUEUE, a);
    other = graph_add_node(g, "h2.qp", "qp", GRAPH_PAIR, b);
    s = graph_add_node(g, "s1", "s1", GRAPH_HOST, GRAPH_NONE);
    graph_add_edge(g, qp, pd, "", GRAPH_SOLID)->to_home = true;
    graph_add_edge(g, qp, cq, name, GRAPH_SOLID);
    graph_add_edge(g, qp, other, "peer", GRAPH_THICK)->mutual = true;
    graph_add_edge(g, s, pd, "link", GRAPH_FAINT);
}

static void dot_has_each_box_and_arrow_once(void **state)
{
    struct graph g;
    char *dot;

    (void)state;
    make(&g, "h1.qp");
    dot = write_with(graph_dot, &g);
    assert_golden("a graph as DOT", dot);
    assert_int_equal(count_in(dot, " -> "), 4);
    assert_int_equal(count_in(dot, "subgraph"), 2);
    free(dot);
    graph_done(&g);
}

/* The oracle tests/oracle/maps.py reads this section with Graphviz. */
static void names_do_no_harm_in_dot(void **state)
{
    struct graph g;
    char *dot;

    (void)state;
    make(&g, HOSTILE);
    dot = write_with(graph_dot, &g);
    assert_golden("hostile names as DOT", dot);
    assert_null(strchr(dot, '\x01'));
    /* A label shows the characters as they are, and an ID is a string that ends where it must. */
    assert_non_null(strstr(dot, "label=\"a\\\"b\\\\<script>&amp;lt;--></svg>\\\\N\""));
    free(dot);
    graph_done(&g);
}

static void names_do_no_harm_in_svg(void **state)
{
    struct graph g;
    char *svg;

    (void)state;
    make(&g, HOSTILE);
    svg = write_with(graph_svg, &g);
    assert_is_closed(svg);
    assert_null(strstr(svg, "<script"));
    assert_null(strchr(svg, '\x01'));
    assert_non_null(strstr(svg, "&lt;script&gt;&amp;lt;"));
    assert_int_equal(count_in(svg, "</svg>"), 1);
    free(svg);
    graph_done(&g);
}

static void svg_draws_each_box_inside_the_page(void **state)
{
    int width = 0, height = 0;
    struct graph g;
    char *svg;

    (void)state;
    make(&g, "h1.qp");
    svg = write_with(graph_svg, &g);
    assert_is_closed(svg);
    assert_int_equal(count_in(svg, "class=\"node "), 5);
    assert_int_equal(count_in(svg, "class=\"edge "), 4);
    assert_int_equal(count_in(svg, "class=\"cluster\""), 2);
    assert_int_equal(count_in(svg, "class=\"tip\""), 2); /* the peers and the home have none */
    assert_int_equal(sscanf(strstr(svg, "viewBox=\"0 0 "), "viewBox=\"0 0 %d %d", &width, &height),
                     2);
    for (const char *at = svg; (at = strstr(at, "<rect x=\"")); at++) {
        int x, y, w, h;

        assert_int_equal(
            sscanf(at, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"", &x, &y, &w, &h), 4);
        assert_true(x >= 0 && y >= 0 && x + w <= width && y + h <= height);
    }
    free(svg);
    graph_done(&g);
}

/* Arrows of one column that overlap take different lanes. */
static void arrows_of_a_column_do_not_hide_each_other(void **state)
{
    uint32_t v[4];
    struct graph g;
    char *svg, *first, *second;

    (void)state;
    graph_init(&g, "map", "");
    for (unsigned i = 0; i < ARRAY_LEN(v); i++) {
        char id[8];

        snprintf(id, sizeof(id), "v%u", i);
        v[i] = graph_add_node(&g, id, id, GRAPH_PLAIN, GRAPH_NONE);
    }
    graph_add_edge(&g, v[0], v[2], "long", GRAPH_SOLID);
    graph_add_edge(&g, v[1], v[3], "other", GRAPH_SOLID);
    svg = write_with(graph_svg, &g);
    first = strstr(svg, "<path d=\"M");
    assert_non_null(first);
    second = strstr(first + 1, "<path d=\"M");
    assert_non_null(second);
    assert_int_not_equal(strtol(strchr(first, 'H') + 1, NULL, 10),
                         strtol(strchr(second, 'H') + 1, NULL, 10));
    free(svg);
    graph_done(&g);
}

static void a_graph_may_be_empty(void **state)
{
    struct graph g;
    char *svg, *dot;

    (void)state;
    graph_init(&g, "map", "");
    svg = write_with(graph_svg, &g);
    dot = write_with(graph_dot, &g);
    assert_is_closed(svg);
    assert_non_null(strstr(dot, "digraph \"map\""));
    free(svg);
    free(dot);
    graph_done(&g);
}

/* A parent in another column, or after its child, is no reason for an indentation. */
static void a_parent_elsewhere_is_an_arrow(void **state)
{
    uint32_t a, b;
    struct graph g;
    char *svg;

    (void)state;
    graph_init(&g, "map", "");
    a = graph_add_node(&g, "a", "a", GRAPH_PLAIN, graph_add_cluster(&g, "h1", "h1"));
    b = graph_add_node(&g, "b", "b", GRAPH_PLAIN, graph_add_cluster(&g, "h2", "h2"));
    graph_add_edge(&g, a, b, "", GRAPH_SOLID)->to_home = true;
    svg = write_with(graph_svg, &g);
    assert_int_equal(count_in(svg, "class=\"tip\""), 1);
    free(svg);
    graph_done(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dot_has_each_box_and_arrow_once),
        cmocka_unit_test(names_do_no_harm_in_dot),
        cmocka_unit_test(names_do_no_harm_in_svg),
        cmocka_unit_test(svg_draws_each_box_inside_the_page),
        cmocka_unit_test(arrows_of_a_column_do_not_hide_each_other),
        cmocka_unit_test(a_graph_may_be_empty),
        cmocka_unit_test(a_parent_elsewhere_is_an_arrow),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
