/* SPDX-License-Identifier: MIT */
/* Tests of the commands machine, guest, vf and link where they refuse: the text names the mistake,
 * and the remedy fits it.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/lab_session.h"

#define MACHINE "machine m1 vfs=4 numvfs=2\nhost h1\n"
#define GUESTS  MACHINE "guest g1 g2 on m1\n"

static const struct {
    const char *before, *line, *says, *remedy;
} rows[] = {
    {MACHINE, "guest g1 on h1", "h1 is no machine", "machine m1 vfs=4"},
    {MACHINE, "guest g1 on m1 vf=7", "m1 has no function 7", "show m1.vfs"},
    {MACHINE, "guest a b c on m1 vf=1", "b: function 2 of m1 is not enabled", "\"back\""},
    {MACHINE, "guest a on m1 vf=2", "a: function 2 of m1 is not enabled", "vf enable m1 3"},
    {"", "guest g1 on m1", "no machine is called \"m1\"", "machine m1 vfs=4 adds it"},
    {MACHINE, "guest g1 on m12", "no machine is called \"m12\"",
     "did you mean \"m1\"?  machine m12 vfs=4 adds it"},
    {MACHINE "switch s1\n", "guest g1 on s1", "s1 is no machine", "machine m1 vfs=4"},
    {GUESTS, "guest g3 on m1 vf=1", "function 1 of m1 has a guest", "without vf="},
    {GUESTS, "guest g3 on m1", "function 2 of m1 is not enabled", "\"back\" to before the first"},

    {MACHINE "guest g1 on m1 vrnic\n", "move g1 node9", "no machine is called \"node9\"",
     "machine node9 vfs=4 adds it"},
    {MACHINE "guest g1 on m1 vrnic\n", "move g1 h1", "h1 is no machine", "machine m1 vfs=4"},
    {MACHINE, "move h9 m1", "no host is called \"h9\"", ""},
    {MACHINE "guest g1 on m1 vrnic\n", "move g1 m1", "g1 is on m1 already", "show hosts"},
    {"machine m1 vfs=1\nguest g1 g2 on m1 vrnic\nalloc_pd g1 as pd\n", "alloc_pd g2 as pd",
     "no virtual function of m1 is free: other virtual RNICs", "show m1.vfs"},
    {"machine m1 vfs=1\nguest g1 on m1\nguest g2 on m1 vrnic\n", "alloc_pd g2 as pd",
     "guests without a virtual RNIC have all", "vfs="},
    {"machine m1 vfs=1 numvfs=0\nguest g1 on m1 vrnic\n", "alloc_pd g1 as pd",
     "no function of the machine is enabled", "vf enable m1 1"},
    {"machine m1 vfs=1 features_off=sr_iov\nguest g1 on m1 vrnic\n", "alloc_pd g1 as pd",
     "does not offer feature SR_IOV", "machine m9 vfs=4 adds one that offers it; move g1 m9"},
    {"machine m1 vfs=1\nhost h1 ip=10.200.1.1\nguest g1 on m1 vrnic\n", "alloc_pd g1 as pd",
     "another host was given the address", "another address"},
    {"machine m1 vfs=1 when_full=wait wait=1us\nguest g1 g2 on m1 vrnic\nalloc_pd g1 as pd\n",
     "alloc_pd g2 as pd", "waited long enough: no virtual function of m1", "show m1.vfs"},
    {"machine m1 vfs=1\nguest g1 on m1\n", "guest g2 on m1", "m1 has no free function", "vfs=16"},
    {GUESTS, "guest g1 on m1 vf=3", "the name is already in use", "another name"},

    {MACHINE, "guest g1 on h1 shared", "h1 is no machine", "machine m1 vfs=4"},
    {MACHINE, "guest g1 on m1 shared vf=0", "no virtual function", "leave out shared"},
    {MACHINE, "guest g1 on m1 vrnic shared", "function from the pool", "leave out shared"},
    {MACHINE, "guest g1 on m1 shared mac=02:00:00:00:00:09", "have one MAC", "leave out shared"},
    {MACHINE, "guest g1 on m1 shared vlan=5", "have one VLAN", "leave out shared"},
    {"machine m1 vfs=1 mux=rdmacm_mux\nguest g1 on m1 shared\n",
     "guest g2 on m1 shared ip6=fd00::a00:2",
     "takes one of its addresses for that of another guest", "show m1.mux.gid"},
    {MACHINE "guest g1 on m1 shared\n", "link g1 h1", "its port is that of m1", "its machine m1"},
    {MACHINE, "guest g1 on m1 vm router", "cannot be behind a router", "leave out vm"},
    {MACHINE, "guest g1 on m1 device=none router", "nothing can pass it", "leave out device=none"},

    {"", "machine m1 vfs=2 numvfs=3", "the adapter has 2", "numvfs=2"},
    {"", "machine m1 vfs=2 vm", "cannot share its adapter", "guest g1 on m1 vm"},
    {"", "machine m1 vfs=2 device=pvrdma", "only virtio-rdma", "guest g1 on m1 device=pvrdma"},

    {MACHINE, "vf set node9 0 trust=on", "no machine is called", "machine node9 vfs=4 adds it"},
    {MACHINE, "vf enable node9 1", "no machine is called", "machine node9 vfs=4 adds it"},
    {MACHINE, "vf set h1 0 trust=on", "h1 is no machine", "machine m1 vfs=4"},
    {MACHINE, "vf enable h1 1", "h1 is no machine", "machine m1 vfs=4"},
    {MACHINE, "vf set m1 4 trust=on", "m1 has no virtual function 4", "show m1.vfs"},
    {MACHINE, "vf set m1 0", "without a setting changes nothing", "help vf"},
    {MACHINE, "vf set m1 0 qos=1", "no priority", "vlan=5 qos=3"},
    {MACHINE, "inject from=m1 to=h1 opcode=UD_SEND_ONLY dest_qpn=2 psn=0 qos=1", "no priority",
     "vlan=5 qos=3"},
    {MACHINE, "vf set m1 0 mac=01:00:00:00:00:00", "address of a group", "lowest bit"},
    {MACHINE, "vf set m1 0 min_tx_rate=2 max_tx_rate=1", "above max_tx_rate", "max_tx_rate=0"},
    {MACHINE "link m1 h1 rate=1g\nvf set m1 0 min_tx_rate=600\n", "vf set m1 1 min_tx_rate=401",
     "the cable m1-h1 has 1g, and the guarantees of other functions are 600", "show m1.vfs"},
    {MACHINE, "vf enable m1 0 trust=on", "vf enable takes no trust", "vf set m1 0 trust=on"},
    {MACHINE, "vf enable m1 5", "m1 has 4 virtual functions (ERANGE)", "machine m9 vfs=5"},
    {"machine m1 vfs=1\n", "vf enable m1 2", "has 1 virtual function (", "machine m9 vfs=2"},
    {MACHINE, "vf enable m1 3", "EBUSY", "first vf enable m1 0"},
    {MACHINE "vf enable m1 0\n", "vf enable m1 3", "EBUSY", "not complete"},
    {GUESTS, "vf enable m1 3", "EBUSY", "its guests keep their functions"},
    {"machine m1 vfs=2 features_off=sr_iov\n", "vf enable m1 1", "cannot enable", "SR_IOV"},

    {GUESTS, "link g1 h1", "the guest g1 has no cable", "link its machine m1"},
    {GUESTS "link m1 h1\n", "link m1 g2", "the guest g2 has no cable", "link its machine m1"},
};

static void each_refusal_names_the_mistake_and_a_way_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct lab l;
        const struct diag *d;

        lab_open(&l, false);
        lab_run(&l, rows[i].before);
        if (lab_try(&l, rows[i].line))
            fail_msg("%s, behind\n%s\nis not refused", rows[i].line, rows[i].before);
        d = &l.s->diag;
        if (!strstr(d->message, rows[i].says) || !strstr(d->remedy, rows[i].remedy))
            fail_msg("%s, behind\n%s\nsays %s; %s", rows[i].line, rows[i].before, d->message,
                     d->remedy);
        lab_close(&l);
    }
}

static void functions_that_do_not_exist_are_marked(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "machine m1 vfs=3 numvfs=2\nguest g1 on m1\nshow m1.vfs\n"
                "expect m1.vfs[1].enabled == true\nexpect m1.vfs[2].enabled == false");
    fflush(l.f);
    assert_non_null(strstr(l.out, "trust off  g1 (link down)\n"));
    assert_non_null(strstr(l.out, "trust off  no guest\n"));
    assert_non_null(strstr(l.out, "(vf 2 is not enabled)\n"));
    lab_close(&l);
}

#define GROUPS                                                                                     \
    "machine m1 vfs=4\nguest g1 on m1 vrnic group=1\nguest g2 on m1 vrnic group=2\n"               \
    "vf set m1 0 state=enable\nvf set m1 1 state=enable\n"
#define OBJECTS                                                                                    \
    "on g1,g2 { alloc_pd as pd; create_cq as cq\n"                                                 \
    "  create_qp pd type=rc send_cq=cq recv_cq=cq as qp }\n"
#define NO_RULE "          no rule allows groups 1 and 2 to connect: centre allow 1 2\n"
#define CUT     "RTS -> ERR\n  because #43.1 centre_rule: guests of groups 1 and 2 may not connect\n"
#define UNREACHED                                                                                  \
    "g1.id UNREACHABLE, errno 110\n  because #48.1 centre_lookup: g1 in group 1 asks for "         \
    "10.0.0.3 of g2 in group 2, forbidden\n          asked 16 times since #33.2\n" NO_RULE

/* Groups that the centre keeps apart, the question, and its answer. */
static const struct {
    const char *before, *refused, *ask, *answer;
} forbidden[] = {
    {GROUPS OBJECTS, "connect g1.qp g2.qp", "why", "forbidden\n" NO_RULE},
    {GROUPS OBJECTS, "create_ah g2.pd dgid=g1 as ah", "why",
     "forbidden\n          no rule allows "
     "groups 2 and 1"},
    {GROUPS OBJECTS, "connect g1.qp g2.qp", "why g1", "forbidden\n" NO_RULE},
    {GROUPS OBJECTS "centre allow 1 2\nconnect g1.qp g2.qp\ncentre forbid 1 2\n", NULL, "why g1.qp",
     CUT},
    {GROUPS OBJECTS "centre allow 1 2\nconnect g1.qp g2.qp\ncentre forbid 1 2\n", NULL, "why",
     "g2.qp QP_FATAL\n  because #43.1 centre_rule"},
    {GROUPS OBJECTS "centre allow 1 2\ncentre forbid 1 2\n", "connect g1.qp g2.qp", "why",
     "forbidden\n" NO_RULE "  because #25.1 centre_rule"},
    {"machine m1 vfs=1\nguest g1 g2 on m1 vrnic\nalloc_pd g1 as pd\n", "alloc_pd g2 as pd", "why",
     "vrnic_refused g2 gets no virtual function of m1: VRNICS"},
    {"machine m1 vfs=1 when_full=wait wait=1us\nguest g1 g2 on m1 vrnic\nalloc_pd g1 as pd\n",
     "alloc_pd g2 as pd", "why", "vrnic_given_up g2 has waited long enough"},
    {GROUPS, "dial g1 g2", "why g1.id", UNREACHED},
    {GROUPS, "dial g1 g2", "why", UNREACHED},
    {GROUPS "centre allow 1 2\ncentre forbid 1 2\n", "dial g1 g2", "why g1.id",
     "asked 16 times since #35.2\n" NO_RULE "  because #7.1 centre_rule: guests of groups 1 and 2 "
     "may not connect\n"},
};

#define SHORTCUT                                                                                   \
    "machine m1 vfs=2 shortcut=on; host h1; link m1 h1; guest g1 g2 on m1\n"                       \
    "on g1,g2 { alloc_pd as pd; reg_mr pd len=4k access=lw,rw as mr\n"                             \
    "  create_cq as cq; create_qp pd send_cq=cq recv_cq=cq as qp }\n"                              \
    "connect g1.qp g2.qp; drop next from=g1 as f1\n"                                               \
    "post_send g1.qp op=rdma_write sge=mr[0:64] remote=g2.mr[0]; run 10us"

static void the_shortcut_is_named_where_no_frame_was_sent(void **state)
{
    (void)state;
    assert_line_prints(SHORTCUT, "why not f1",
                       "f1 has looked at 0 frames that hosts sent since it was made.\n"
                       "1 message took the shortcut of a machine: in no frame, so that no fault "
                       "of frames meets it.\n");
    assert_line_refused(SHORTCUT, "show packet", "took the shortcut of a machine");
}

static void a_function_that_is_not_enabled_is_named(void **state)
{
    static const char lab[] = "machine m1 vfs=2; host h1; link m1 h1; guest g1 g2 on m1\n"
                              "on g1,g2 { alloc_pd as pd; create_cq as cq\n"
                              "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"
                              "reg_write m1 sriov_control 0; run 2s";

    (void)state;
    assert_line_prints(lab, "show m1.vfs", "(vf 1 is that of g2, whose device does not exist now)");
    assert_line_prints(lab, "show rdma link m1", "function 0 of m1, which is not enabled\n");
    assert_line_prints(lab, "why not", "virtual function 1 of m1 is not enabled.");
    assert_line_prints(lab, "why not g1.qp", "virtual function 0 of m1 is not enabled.");
}

static void all_functions_of_a_virtual_rnic_are_listed(void **state)
{
    (void)state;
    assert_line_prints("machine m1 vfs=3; guest g1 on m1 vrnic vfs=2\n"
                       "on g1 { alloc_pd as pd; create_cq as cq\n"
                       "  repeat 2 { create_qp pd send_cq=cq recv_cq=cq } }",
                       "show rdma resource g1", "virtual RNIC, functions 0, 1 of m1\n");
}

/* The frame leaves the machine, since no function of it is in that VLAN. */
static void the_ladder_tells_where_a_frame_for_nobody_was_dropped(void **state)
{
    (void)state;
    assert_line_prints("machine m1 vfs=2; host h1; link m1 h1; guest g1 g2 on m1\n"
                       "on g1,g2 { alloc_pd as pd; reg_mr pd len=4k access=lw,rw as mr\n"
                       "  create_cq as cq; create_qp pd send_cq=cq recv_cq=cq as qp }\n"
                       "connect g1.qp g2.qp; vf set m1 0 vlan=5\n"
                       "post_send g1.qp op=rdma_write sge=mr[0:64] remote=g2.mr[0]; run 10us",
                       "export ladder -", "dropped at h1: NOT_FOR_US");
}

static void the_mac_of_a_function_is_compared(void **state)
{
    static const char lab[] = "machine m1 vfs=2; guest g1 g2 on m1";

    (void)state;
    assert_line_prints(lab, "vf set m1 0 mac=02:00:00:00:00:09",
                       "g1 has function 0, and still sends with 02:00:00:00:00:02\n");
    assert_line_prints(lab, "vf set m1 1 mac=02:00:00:00:00:01",
                       "m1 has the MAC 02:00:00:00:00:01, too\n"
                       "g2 has function 1, and still sends with 02:00:00:00:00:03\n");
}

static void drops_of_an_injected_frame_are_printed(void **state)
{
    (void)state;
    assert_line_prints("machine m1 vfs=2; host h1; link m1 h1; guest g1 on m1",
                       "inject from=g1 to=h1 opcode=UD_SEND_ONLY dest_qpn=2 psn=0 "
                       "source_mac=02:00:00:00:00:99",
                       "drop       g1 SPOOFED");
}

static void a_move_is_told(void **state)
{
    (void)state;
    assert_line_prints("machine m1 m2 vfs=1; guest g1 on m1 vrnic", "move g1 m2",
                       "g1: virtual RNIC now on m2\n");
}

static void why_names_the_rule_of_the_centre(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(forbidden); i++) {
        struct lab l;

        lab_open(&l, false);
        lab_run(&l, forbidden[i].before);
        if (forbidden[i].refused)
            assert_false(lab_try(&l, forbidden[i].refused));
        lab_run(&l, forbidden[i].ask);
        fflush(l.f);
        if (!strstr(l.out, forbidden[i].answer))
            fail_msg("%s behind %s\nsays\n%s", forbidden[i].ask, forbidden[i].before, l.out);
        lab_close(&l);
    }
}

/* g3 is connected with g1.a.  g2 has asked g1, as ID b, when a rule takes its group away. */
#define CONNECTED_GUESTS                                                                           \
    "machine m1 vfs=4\nguest g1 g3 on m1 vrnic group=1\nguest g2 on m1 vrnic group=2\n"            \
    "centre allow 1 2\nforeach i in 0..2 { vf set m1 $i state=enable }\n"                          \
    "on g1,g2,g3 { alloc_pd as pd; create_cq as cq\n"                                              \
    "  rdma_create_event_channel as ch; rdma_create_id ch as id }\n"                               \
    "on g1 { rdma_create_id ch as l; rdma_bind_addr l port=7471; rdma_listen l }\n"                \
    "macro next h { rdma_get_cm_event $h.ch wait; rdma_ack_cm_event $h.ch }\n"                     \
    "macro ask h { rdma_resolve_addr $h.id dst=g1 port=7471; next $h\n"                            \
    "  rdma_resolve_route $h.id; next $h\n"                                                        \
    "  rdma_create_qp $h.id pd=pd send_cq=cq recv_cq=cq as qp; rdma_connect $h.id }\n"             \
    "ask g3\non g1 { rdma_get_cm_event ch wait as a; rdma_ack_cm_event ch\n"                       \
    "  rdma_create_qp a pd=pd send_cq=cq recv_cq=cq as qp; rdma_accept a }\nnext g3\nnext g1\n"    \
    "ask g2\non g1 { rdma_get_cm_event ch wait as b; rdma_ack_cm_event ch }\ncentre forbid 1 2\n"

/* The REJ of g1.b is lost.  The next timer of g1 is that of g1.a, and waits for no message. */
static void a_lost_message_is_no_cause_of_the_next_timer(void **state)
{
    static const struct {
        const char *lines, *answer;
    } ends[] = {
        {"rdma_disconnect g1.a; next g3; rdma_disconnect g3.id; rdma_reject g1.b; run",
         "g1.a TIMEWAIT_EXIT\n  because #135.6 cm_received: g1 DREP"},
        {"rdma_disconnect g3.id; next g1; rdma_reject g1.b; rdma_disconnect g1.a; run",
         "g1.a TIMEWAIT_EXIT\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        struct lab l;
        char *why;

        lab_open(&l, false);
        lab_run(&l, CONNECTED_GUESTS);
        lab_run(&l, ends[i].lines);
        why = lab_answer(&l, "why g1.a");
        if (!strstr(why, ends[i].answer) || strstr(why, "centre"))
            fail_msg("behind %s\nwhy says\n%s", ends[i].lines, why);
        free(why);
        lab_close(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_refusal_names_the_mistake_and_a_way_out),
        cmocka_unit_test(functions_that_do_not_exist_are_marked),
        cmocka_unit_test(the_ladder_tells_where_a_frame_for_nobody_was_dropped),
        cmocka_unit_test(the_shortcut_is_named_where_no_frame_was_sent),
        cmocka_unit_test(a_function_that_is_not_enabled_is_named),
        cmocka_unit_test(a_lost_message_is_no_cause_of_the_next_timer),
        cmocka_unit_test(all_functions_of_a_virtual_rnic_are_listed),
        cmocka_unit_test(the_mac_of_a_function_is_compared),
        cmocka_unit_test(drops_of_an_injected_frame_are_printed),
        cmocka_unit_test(a_move_is_told),
        cmocka_unit_test(why_names_the_rule_of_the_centre),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
