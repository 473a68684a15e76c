/* SPDX-License-Identifier: MIT */
/* The graphs of a lab as DOT, and the states of a queue pair. */
#include "testing.h"

#include "cli/graph/map.h"
#include "cli/graph/states.h"
#include "cli/graph/why_graph.h"
#include "cli/lab_session.h"
#include "emu/trace/event.h"
#include "tree/lab_past.h"
#include "viz/graph.h"
#include "viz/metrics.h"

static void put(void *ctx, const char *bytes, size_t n)
{
    fwrite(bytes, 1, n, ctx);
}

/* Compares the DOT of @g, which it frees, with the golden section @name.  It must have each of
 * @words, in their order.
 */
static void assert_dot(struct graph *g, const char *name, const char *words)
{
    char *dot = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&dot, &n);
    const struct viz_sink sink = {put, f};

    assert_non_null(f);
    assert_int_equal(graph_dot(g, &sink), RDL_OK);
    fclose(f);
    assert_in_order(dot, words);
    assert_golden(name, dot);
    free(dot);
    graph_done(g);
}

static bool has_edge(const struct graph *g, const char *from, const char *to)
{
    for (uint32_t i = 0; i < g->n_edges; i++) {
        if (strcmp(g->nodes[g->edges[i].from].id, from) == 0 &&
            strcmp(g->nodes[g->edges[i].to].id, to) == 0)
            return true;
    }
    return false;
}

static void the_map_of_two_connected_hosts(void **state)
{
    struct lab l;
    struct graph g;
    struct map m;
    size_t at;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY);
    assert_int_equal(map_make(&m, l.s->lab, "", &at), RDL_OK);
    map_graph(&m, "", &g);
    assert_true(has_edge(&g, "h1.qp", "h1.cq"));
    assert_true(has_edge(&g, "h1.qp", "h2.qp"));
    assert_false(has_edge(&g, "h2.qp", "h1.qp")); /* one line for both directions */
    assert_true(has_edge(&g, "h1", "h2"));
    assert_dot(&g, "a map", "cluster0 h1.pd h1.mr h1.qp h1.cq cluster1");
    map_done(&m);
    lab_close(&l);
}

static ev_id last_completion(const struct past *p)
{
    for (size_t i = p->n; i > 0; i--) {
        if (past_at(p, i - 1)->kind == EV_cqe)
            return past_at(p, i - 1)->id;
    }
    fail_msg("nothing has completed");
    return 0;
}

/* The graph has the loss, the timeout that it made, and the packet that arrived. */
#define MACHINES                                                                                   \
    "machine m1 vfs=4\nmachine m2 vfs=4\nlink m1 m2 latency=1us rate=100g\n"                       \
    "guest g1 on m1 group=1 vrnic\nguest g2 on m2 group=1 vrnic\nguest g3 on m1 group=2 vrnic\n"   \
    "guest g4 on m2\non g1,g2 { alloc_pd as pd }\ncentre allow 1 2\n"

static void open_map(struct lab *l, struct map *m, struct graph *g, const char *lines)
{
    size_t at;

    lab_open(l, false);
    lab_run(l, lines);
    assert_int_equal(map_make(m, l->s->lab, "", &at), RDL_OK);
    map_graph(m, "", g);
}

/* Virtual and physical side by side: guests, with their objects, and functions. */
static void the_map_of_machines_has_guests_beside_functions(void **state)
{
    static const char *const clusters[] = {"guests of m1", "m1", "m2", "guests of m2"};
    struct lab l;
    struct graph g;
    struct map m;

    (void)state;
    open_map(&l, &m, &g, MACHINES);
    assert_int_equal(g.n_clusters, ARRAY_LEN(clusters));
    for (uint32_t i = 0; i < g.n_clusters; i++)
        assert_string_equal(g.clusters[i].label, clusters[i]);
    assert_true(has_edge(&g, "g1", "m1.vfs[0]"));
    assert_true(has_edge(&g, "g2", "m2.vfs[1]")); /* g4 has function 0 */
    assert_true(has_edge(&g, "g3", "m1 more virtual function"));
    assert_true(has_edge(&g, "g4", "m2.vfs[0]"));
    assert_dot(&g, "machines as DOT", "for g1 10.200.1.1 control group groups may connect");
    map_done(&m);
    lab_close(&l);
}

struct area {
    int32_t x, y, w, h;
};

static bool overlap(const struct area *a, const struct area *b)
{
    return a->x < b->x + b->w && b->x < a->x + a->w && a->y < b->y + b->h && b->y < a->y + a->h;
}

/* Finds the boxes and the labels of arrows in @svg. */
static uint32_t find_areas(const char *svg, struct area *ret, uint32_t max)
{
    static const char box[] = "<rect x=\"", label[] = "<text class=\"label\" x=\"";
    uint32_t n = 0;

    for (const char *s = strstr(svg, "<g class=\"edge"); s && n < max; s = strchr(s + 1, '<')) {
        struct area *a = &ret[n];
        int text = 0;

        if (strncmp(s, box, strlen(box)) == 0) {
            n += sscanf(s + strlen(box), "%d\" y=\"%d\" width=\"%d\" height=\"%d", &a->x, &a->y,
                        &a->w, &a->h) == 4;
        } else if (strncmp(s, label, strlen(label)) == 0 &&
                   sscanf(s + strlen(label), "%d\" y=\"%d\">%n", &a->x, &a->y, &text) == 2) {
            char line[64] = "";

            memcpy(line, s + strlen(label) + text, strcspn(s + strlen(label) + text, "<"));
            *a = (struct area){a->x, a->y - 9, text_width(line, 12) / 10, 11};
            n++;
        }
    }
    return n;
}

/* Machines with few and many guests, and with virtual RNICs: in the picture no box and no label of
 * an arrow is over another one.
 */
/* Returns the SVG of @g.  Free it. */
static char *svg_of(const struct graph *g)
{
    char *svg = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&svg, &size);
    const struct viz_sink sink = {put, f};

    assert_non_null(f);
    assert_int_equal(graph_svg(g, &sink), RDL_OK);
    fclose(f);
    return svg;
}

static void nothing_in_a_map_of_machines_is_over_another(void **state)
{
    static const struct {
        const char *lines;
        uint32_t n; /* boxes and labels */
    } rows[] = {
        {"machine m1 vfs=2; host h1; link m1 h1; guest g1 g2 on m1", 7},
        {"machine m1 vfs=5; host h1; link m1 h1; foreach i in 1..5 { guest g$i on m1 }", 13},
        {"machine m1 vfs=16; host h1; link m1 h1; foreach i in 1..16 { guest g$i on m1 }", 35},
        {"machine m1 vfs=3; switch s1; link m1 s1; guest g1 g2 g3 on m1 vrnic", 11},
        {MACHINES, 16},
        {"host h1 h2; link h1 h2 latency=1us rate=100g", 3},
        {"machine m1 vfs=16; foreach i in 1..12 { guest g$i on m1 vrnic group=$i }", 27},
    };
    struct area areas[64];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct lab l;
        struct graph g;
        struct map m;
        char *svg;
        uint32_t n;

        open_map(&l, &m, &g, rows[i].lines);
        svg = svg_of(&g);
        n = find_areas(svg, areas, ARRAY_LEN(areas));
        assert_int_equal(n, rows[i].n);
        for (uint32_t a = 0; a < n; a++) {
            for (uint32_t b = 0; b < a; b++)
                assert_false(overlap(&areas[a], &areas[b]));
        }
        free(svg);
        graph_done(&g);
        map_done(&m);
        lab_close(&l);
    }
}

/* Returns the top of box @id in @svg. */
static int32_t top_of(const char *svg, const char *id)
{
    char title[64];
    const char *s;
    int32_t x, y;

    snprintf(title, sizeof(title), "<title>%s</title>", id);
    s = strstr(svg, title);
    assert_non_null(s);
    assert_int_equal(sscanf(strstr(s, "<rect"), "<rect x=\"%d\" y=\"%d\"", &x, &y), 2);
    return y;
}

static void a_function_is_drawn_beside_its_guest(void **state)
{
    struct lab l;
    struct graph g;
    struct map m;
    char *svg;

    (void)state;
    open_map(&l, &m, &g,
             "machine m1 vfs=4; guest g1 g2 on m1; repeat 5 { alloc_pd g1 }; alloc_pd g2 as pd");
    svg = svg_of(&g);
    assert_int_equal(top_of(svg, "m1.vfs[1]"), top_of(svg, "g2"));
    assert_true(top_of(svg, "m1.vfs[0]") < top_of(svg, "g2"));
    free(svg);
    graph_done(&g);
    map_done(&m);
    lab_close(&l);
}

static void the_causes_of_a_completion(void **state)
{
    struct lab l;
    struct graph g;
    struct past past;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY);
    past = past_of_lab(l.s->lab);
    assert_int_equal(why_graph(&past, last_completion(&past), &g), RDL_OK);
    assert_dot(&g, "causes", "cluster0 post_send kick fetch tx lost timeout tx cluster1 rx tx");
    assert_int_equal(why_graph(&past, ev_id_of(9999, 1), &g), RDL_ERR_NOT_FOUND);
    lab_close(&l);
}

/* A graph has an end, and says where it goes on. */
static void a_long_chain_of_causes_is_cut(void **state)
{
    struct lab l;
    struct graph g;
    struct past past;
    unsigned n_more = 0;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1 h2; link h1 h2\n"
                "on h1,h2 { alloc_pd as pd; reg_mr pd len=64k access=lw as mr; create_cq as cq\n"
                "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"
                "connect h1.qp h2.qp timeout=4 rnr_retry=7\n"
                "post_send h1.qp sge=mr[0:64] signaled\n"
                "run for=40ms; post_recv h2.qp sge=mr[0:64]; run\n");
    past = past_of_lab(l.s->lab);
    assert_int_equal(why_graph(&past, last_completion(&past), &g), RDL_OK);
    assert_int_equal(g.n_nodes, WHY_GRAPH_MAX);
    for (uint32_t i = 0; i < g.n_nodes; i++)
        n_more += strstr(g.nodes[i].label, "\nmore: why #") != NULL;
    assert_true(n_more > 0);
    graph_done(&g);
    lab_close(&l);
}

#define PAIR                                                                                       \
    "host h1 h2; link h1 h2\n"                                                                     \
    "on h1,h2 { alloc_pd as pd; create_cq as cq; create_qp pd send_cq=cq recv_cq=cq as qp }\n"

/* Makes the states of h1.qp after @lines. */
static void make_states(const char *lines, struct states *ret)
{
    struct past past;
    struct lab l;
    size_t at;

    lab_open(&l, false);
    lab_run(&l, lines);
    past = past_of_lab(l.s->lab);
    assert_int_equal(states_make(ret, l.s->lab, &past, "h1.qp", &at), RDL_OK);
    lab_close(&l);
}

static void the_states_have_the_way_that_was_taken(void **state)
{
    struct states s;
    struct graph g;

    (void)state;
    make_states(
        PAIR "connect h1.qp h2.qp\n"
             "modify_qp h1.qp state=ERR; modify_qp h1.qp state=RESET; modify_qp h2.qp state=RESET\n"
             "connect h1.qp h2.qp\n",
        &s);
    assert_int_equal(s.moves[QPS_RESET][QPS_INIT].n, 2);
    assert_int_equal(s.moves[QPS_RTS][QPS_ERR].n, 1);
    assert_int_equal(s.moves[QPS_ERR][QPS_RESET].n, 1);
    assert_int_equal(s.now, QPS_RTS);
    for (unsigned from = 0; from < STATES_COUNT; from++) {
        for (unsigned to = 0; to < STATES_COUNT; to++)
            assert_true(s.moves[from][to].n == 0 || s.moves[from][to].is_drawn);
    }
    states_graph(&s, &g);
    assert_true(has_edge(&g, "RTS", "ERR"));
    assert_false(has_edge(&g, "SQD", "ERR")); /* legal, not taken: it would hide the others */
    assert_dot(&g, "states", "RESET INIT RTR RTS SQD ERR");
    assert_tells("states as text", PAIR "connect h1.qp h2.qp\n", "show states h1.qp",
                 "RC RTS RESET INIT RTR RTS SQD");
}

/* Another queue pair had the QPN before: the device has only few. */
static void a_way_begins_with_the_queue_pair(void **state)
{
    struct states s;

    (void)state;
    make_states("host h1 max_qp=2\n"
                "on h1 { alloc_pd as pd; create_cq as cq\n"
                "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"
                "expect h1.qp.qpn == 2\n"
                "modify_qp h1.qp state=INIT pkey_index=0 port=1 access=rw; destroy_qp h1.qp\n"
                "create_qp h1.pd send_cq=cq recv_cq=cq as qp; expect h1.qp.qpn == 2\n",
                &s);
    assert_int_equal(s.moves[QPS_RESET][QPS_INIT].n, 0);
}

/* Every legal move is one that the engine accepts, and no other. */
static void the_moves_are_those_of_the_engine(void **state)
{
    struct states s;

    (void)state;
    make_states(PAIR, &s);
    for (unsigned from = 0; from < STATES_COUNT; from++) {
        for (unsigned to = 0; to < STATES_COUNT; to++) {
            bool legal = to == QPS_RESET || to == QPS_ERR;

            for (size_t i = 0; i < n_qp_edges; i++)
                legal = legal || (qp_edges[i].type == s.type && qp_edges[i].from == from &&
                                  qp_edges[i].to == to);
            assert_int_equal(s.moves[from][to].is_legal, legal);
        }
    }
}

static void a_move_that_the_device_refused_is_counted(void **state)
{
    struct states s;
    struct graph g;

    (void)state;
    make_states(
        PAIR "refused reason=QP_MOVE { control h1 MODIFY_QP qpn=2 attr_mask=STATE qp_state=RTS }\n",
        &s);
    assert_int_equal(s.moves[QPS_RESET][QPS_RTS].refused, 1);
    assert_false(s.moves[QPS_RESET][QPS_RTS].is_legal);
    states_graph(&s, &g);
    assert_true(has_edge(&g, "RESET", "RTS"));
    graph_done(&g);
}

static void only_queue_pairs_have_states(void **state)
{
    (void)state;
    assert_line_refused(PAIR, "show states h1.cq", "h1.cq is no queue pair");
    assert_line_refused(PAIR, "show states", "of which queue pair?");
    assert_line_refused(PAIR, "export states - h1.nobody", "nobody");
    assert_line_refused(PAIR, "export why - #9999", "#9999");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_map_of_two_connected_hosts),
        cmocka_unit_test(the_map_of_machines_has_guests_beside_functions),
        cmocka_unit_test(nothing_in_a_map_of_machines_is_over_another),
        cmocka_unit_test(a_function_is_drawn_beside_its_guest),
        cmocka_unit_test(the_causes_of_a_completion),
        cmocka_unit_test(a_long_chain_of_causes_is_cut),
        cmocka_unit_test(the_states_have_the_way_that_was_taken),
        cmocka_unit_test(a_way_begins_with_the_queue_pair),
        cmocka_unit_test(the_moves_are_those_of_the_engine),
        cmocka_unit_test(a_move_that_the_device_refused_is_counted),
        cmocka_unit_test(only_queue_pairs_have_states),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
