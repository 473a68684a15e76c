/* SPDX-License-Identifier: MIT */
/* The map of a lab: who refers to whom, and what the engine refuses to destroy. */
#include "testing.h"

#include "cli/graph/map.h"
#include "cli/lab_session.h"
#include "emu/facts/leaf.h"

/* Hosts with an object of every kind, and every reason why one cannot be destroyed. */
#define LAB                                                                                        \
    "host h1 h2; switch s1; link h1 s1; link h2 s1\n"                                              \
    "on h1,h2 { alloc_pd as pd; alloc_pd as free; reg_mr pd len=4k access=lw,rr,rw,mw as mr\n"     \
    "  create_comp_channel as ch; create_cq cqe=16 channel=ch as cq; create_cq as rcq\n"           \
    "  create_srq pd max_wr=8 as srq\n"                                                            \
    "  create_qp pd send_cq=cq recv_cq=rcq srq=srq as qp\n"                                        \
    "  create_qp pd type=ud send_cq=cq recv_cq=rcq as ud\n"                                        \
    "  rdma_create_event_channel as events; rdma_create_event_channel as quiet\n"                  \
    "  rdma_create_id events as id; alloc_mw pd as mw; alloc_mw pd as other }\n"                   \
    "create_ah h1.pd dgid=h2 as ah\n"                                                              \
    "connect h1.qp h2.qp\n"                                                                        \
    "bind_mw h1.qp mw mr=mr[0:64] access=rr signaled\n"                                            \
    "attach_mcast h1.ud gid=239.1.1.1\n"                                                           \
    "run\n"

static void make(struct map *m, const struct lab *l, const char *path)
{
    size_t at;

    assert_int_equal(map_make(m, l->s->lab, path, &at), RDL_OK);
}

static const struct map_object *object(const struct map *m, const char *path)
{
    for (size_t i = 0; i < m->n_objects; i++) {
        if (strcmp(m->objects[i].path, path) == 0)
            return &m->objects[i];
    }
    fail_msg("the map has no %s", path);
    return NULL;
}

/* The command that destroys an object of each kind. */
static const char *destroyer(enum node_kind kind)
{
    switch (kind) {
    case NODE_pd:
        return "dealloc_pd";
    case NODE_mr:
        return "dereg_mr";
    case NODE_mw:
        return "dealloc_mw";
    case NODE_ah:
        return "destroy_ah";
    case NODE_srq:
        return "destroy_srq";
    case NODE_channel:
        return "destroy_comp_channel";
    case NODE_cq:
        return "destroy_cq";
    case NODE_qp:
        return "destroy_qp";
    case NODE_event_channel:
        return "rdma_destroy_event_channel";
    case NODE_cm_id:
        return "rdma_destroy_id";
    default:
        return NULL;
    }
}

/* Destroys each object of the lab, in a lab of its own: that is refused just where the map says so.
 */
static void assert_map_is_right(const char *lines, unsigned least_held)
{
    struct lab all;
    struct map m;
    unsigned held = 0;

    lab_open(&all, false);
    lab_run(&all, lines);
    make(&m, &all, "");
    for (size_t i = 0; i < m.n_objects; i++) {
        const struct map_object *o = &m.objects[i];
        char line[RDL_PATH_BYTES + 64];
        struct lab l;
        bool done;

        if (!destroyer(o->kind) || strncmp(map_name(&m, o), "cm_", 3) == 0)
            continue;
        lab_open(&l, false);
        lab_run(&l, lines);
        snprintf(line, sizeof(line), "%s %s", destroyer(o->kind), o->path);
        done = lab_try(&l, line);
        if (done == (o->held[0] != '\0'))
            fail_msg("%s: %s, and the map says \"%s\"", line, done ? "done" : "refused", o->held);
        held += o->held[0] != '\0';
        lab_close(&l);
    }
    assert_true(held >= least_held);
    map_done(&m);
    lab_close(&all);
}

static void what_is_held_cannot_be_destroyed(void **state)
{
    (void)state;
    assert_map_is_right(LAB, 12);
}

static void events_that_are_not_acknowledged_hold_objects(void **state)
{
    static const char lines[] =
        LAB "req_notify_cq h1.cq\n"
            "post_srq_recv h2.srq sge=mr[0:64]; post_send h1.qp sge=mr[0:64] signaled; run\n"
            "get_cq_event h1.ch\n"
            "rdma_bind_addr h1.id port=7; rdma_resolve_addr h1.id dst=h2 port=9; run\n"
            "rdma_get_cm_event h1.events\n";
    struct lab l;
    struct map m;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, lines);
    make(&m, &l, "");
    assert_non_null(strstr(object(&m, "h1.cq")->held, "1 completion event is not acknowledged"));
    assert_string_equal(object(&m, "h1.id")->held, "1 event is not acknowledged");
    map_done(&m);
    lab_close(&l);
    assert_map_is_right(lines, 13);
}

static void users_are_named_with_what_they_use_it_for(void **state)
{
    struct lab l;
    struct map m;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, LAB);
    make(&m, &l, "");
    assert_string_equal(object(&m, "h1.cq")->held, "in use by qp (send), ud (send)");
    assert_string_equal(object(&m, "h1.srq")->held, "in use by qp (receives)");
    assert_string_equal(object(&m, "h1.mr")->held, "in use by mw (bound)");
    assert_string_equal(object(&m, "h1.ud")->held, "1 multicast group is attached");
    assert_string_equal(object(&m, "h1.free")->held, "");
    assert_string_equal(object(&m, "h1.quiet")->held, "");
    lab_run(&l, "on h1 { repeat 12 { create_cq channel=ch } }");
    map_done(&m);
    make(&m, &l, "");
    assert_string_equal(object(&m, "h1.ch")->held,
                        "in use by cq, cq4, cq5, cq6, cq7, cq8 and 7 more");
    map_done(&m);
    lab_close(&l);
}

static void the_map_is_whole_or_of_a_part(void **state)
{
    (void)state;
    assert_tells("the map of a lab", LAB, "show map", "h1 pd mr qp peer h2.qp ch cq");
    assert_tells("the map of a host", LAB, "show map h2", "h2 10.0.0.2 h2-s1");
    assert_tells("the map of an object", LAB, "show map h1.qp", "h1 pd qp peer h2.qp h2 qp");
}

/* The parts of a map of an object: itself, what it refers to and what refers to it. */
static void an_object_is_shown_with_its_neighbours(void **state)
{
    struct lab l;
    struct map m;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, LAB);
    make(&m, &l, "h1.mr");
    for (size_t i = 0; i < m.n_objects; i++) {
        const char *path = m.objects[i].path;
        const bool near = strcmp(path, "h1") == 0 || strcmp(path, "h1.mr") == 0 ||
                          strcmp(path, "h1.pd") == 0 || strcmp(path, "h1.mw") == 0;

        assert_int_equal(m.objects[i].shown, near);
    }
    map_done(&m);
    lab_close(&l);
}

static void of_many_objects_some_are_counted(void **state)
{
    struct lab l;
    struct map m;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1; on h1 { alloc_pd as pd; repeat 70 { reg_mr pd len=64 } }");
    make(&m, &l, "");
    assert_int_equal(m.n_rests, 1);
    assert_int_equal(m.rests[0].n, 70 - MAP_KIND_MAX);
    assert_string_equal(object(&m, "h1.pd")->held,
                        "in use by mr1, mr2, mr3, mr4, mr5, mr6 and 64 more");
    map_done(&m);
    make(&m, &l, "h1.mr70"); /* the one that is asked for is there */
    assert_true(object(&m, "h1.mr70")->shown);
    map_done(&m);
    lab_close(&l);
    assert_line_prints("host h1; on h1 { alloc_pd as pd; repeat 70 { reg_mr pd len=64 } }",
                       "show map h1", "h1 has 6 more mr: show mr h1");
}

/* Functions with a guest are named, as many as other objects. */
static void functions_without_a_guest_are_counted(void **state)
{
    struct lab l;
    struct map m;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "machine m1 vfs=126\nforeach i in 1..70 { guest g$i on m1 ram=1m }");
    make(&m, &l, "");
    assert_int_equal(m.n_rests, 1);
    assert_int_equal(m.rests[0].n, 126 - MAP_KIND_MAX);
    assert_string_equal(object(&m, "m1.vfs[63]")->about,
                        "for g64, MAC 02:00:00:00:00:41, link down");
    map_done(&m);
    lab_close(&l);
    assert_line_prints("machine m1 vfs=3; guest g1 on m1 vrnic; guest g2 on m1", "show map",
                       "m1 has 2 more functions: show m1.vfs\ng2-m1     vf 0\n"
                       "g1-m1     no function\n");
}

/* Several guests are on one function, and one guest is on several. */
static void each_function_has_the_wire_addresses_of_its_guests(void **state)
{
    (void)state;
    assert_line_prints("machine m1 vfs=1 when_full=share; guest v1 v2 on m1 vrnic\n"
                       "on v1,v2 { alloc_pd as pd }",
                       "show map m1",
                       "vfs[0]  for v1, v2, MAC 02:00:00:00:00:02, on the wire 10.200.1.1, "
                       "100.64.0.3, link down\n");
    assert_line_prints(
        "machine m1 vfs=2; guest g1 on m1 vrnic vfs=2\n"
        "on g1 { alloc_pd as pd; create_cq as cq; create_qp pd send_cq=cq recv_cq=cq\n"
        "  create_qp pd send_cq=cq recv_cq=cq }",
        "show map m1",
        "  vfs[0]  for g1, MAC 02:00:00:00:00:02, on the wire 10.200.1.1, link down\n"
        "  vfs[1]  for g1, MAC 06:00:00:01:00:02, on the wire 10.200.1.2, link down\n");
}

/* The function names as many of its guests as fit.  The map has them all. */
static void guests_that_a_function_does_not_name_are_in_the_map(void **state)
{
    uint32_t on_function = 0;
    struct lab l;
    struct map m;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "machine m1 vfs=1 when_full=share\n"
                "foreach i in 1..30 { guest v$i on m1 vrnic ram=1m; alloc_pd v$i as pd }");
    make(&m, &l, "");
    assert_non_null(strstr(object(&m, "m1.vfs[0]")->about, "v1, v2"));
    assert_null(strstr(object(&m, "m1.vfs[0]")->about, "v30"));
    for (size_t i = 0; i < m.n_ties; i++) {
        const struct map_tie *tie = &m.ties[i];

        assert_true(tie->is_place && !tie->is_idle && !tie->is_shared);
        assert_string_equal(m.objects[tie->b].path, "m1");
        assert_string_equal(m.objects[tie->vf].path, "m1.vfs[0]");
        assert_string_equal(tie->text, "vf 0");
        on_function++;
    }
    assert_int_equal(on_function, 30);
    map_done(&m);
    lab_close(&l);
}

static void a_machine_is_shown_with_its_guests_and_a_guest_with_its_function(void **state)
{
    static const char lab[] = "machine m1 vfs=2; host h1; link m1 h1; guest v1 v2 on m1 vrnic\n"
                              "on v1,v2 { alloc_pd as pd }";

    (void)state;
    assert_line_prints(lab, "show map m1",
                       "v2        10.0.0.4, virtual RNIC, group 1\n"
                       "m1-h1     latency 1us, 100g\nv1-m1     vf 0\nv2-m1     vf 1\n");
    assert_line_prints(lab, "show map v2",
                       "  vfs[1]  for v2, MAC 02:00:00:00:00:04, on the wire 10.200.1.2\n"
                       "v2        10.0.0.4, virtual RNIC, group 1\n  pd      PDN 1\n"
                       "m1-h1     latency 1us, 100g\nv2-m1     vf 1\n");
}

static void what_is_no_object_has_no_map(void **state)
{
    (void)state;
    assert_line_refused(LAB, "show map h1.sq", "");
    assert_line_refused(LAB, "show map h3", "there is no \"h3\"");
    assert_line_refused(LAB, "show map s1", "s1 is no host and no object of one");
    assert_line_refused(LAB, "show map h1.qp.sq", "is no host and no object of one");
    assert_line_refused(LAB, "export map - h1.cq.wc", "is no host and no object of one");
    assert_line_refused(LAB, "export map x.png", "must end in .svg, .dot or .txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_held_cannot_be_destroyed),
        cmocka_unit_test(events_that_are_not_acknowledged_hold_objects),
        cmocka_unit_test(users_are_named_with_what_they_use_it_for),
        cmocka_unit_test(the_map_is_whole_or_of_a_part),
        cmocka_unit_test(an_object_is_shown_with_its_neighbours),
        cmocka_unit_test(of_many_objects_some_are_counted),
        cmocka_unit_test(functions_without_a_guest_are_counted),
        cmocka_unit_test(each_function_has_the_wire_addresses_of_its_guests),
        cmocka_unit_test(guests_that_a_function_does_not_name_are_in_the_map),
        cmocka_unit_test(a_machine_is_shown_with_its_guests_and_a_guest_with_its_function),
        cmocka_unit_test(what_is_no_object_has_no_map),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
