/* SPDX-License-Identifier: MIT */
/* Tests of the commands of LNet that are refused: the message is about the call that failed, and
 * about the host that it failed for.
 */
#include "cli/lab_session.h"
#include "rdmalab/lnet.h"

#define NODES                                                                                      \
    "host h1 h2 h3; switch s; link h1 s; link h2 s; link h3 s\n"                                   \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=32m access=lw as mr }\n"                             \
    "lnet_start h1 h2; run\n"

#define PIECES_16 "mr,mr,mr,mr,mr,mr,mr,mr,mr,mr,mr,mr,mr,mr,mr,mr"
#define PIECES_4GIB                                                                                \
    PIECES_16 "," PIECES_16 "," PIECES_16 "," PIECES_16 "," PIECES_16 "," PIECES_16 "," PIECES_16  \
              "," PIECES_16

/* @at is the text from the place that the message points to. */
static const struct {
    const char *lines, *line, *says, *at, *remedy;
} rows[] = {
    /* There is no such host: a similar name, and no host before it is changed. */
    {"", "lnet_start h3 hx", "no host is called \"hx\"", "hx", "did you mean"},
    {"", "lnet_stop h1 hx", "no host is called \"hx\"", "hx", "did you mean"},
    {"", "lnet_serve h1 hx", "no host is called \"hx\"", "hx", "did you mean"},
    {"", "lnet_test h1 ping to=h2,x9", "no host is called \"x9\"", "x9", "\"host x9\" adds it"},
    /* Of several hosts, the one that has no node, or one already. */
    {"", "lnet_stop h2 h3", "h3 has no node of LNet", "h3", "lnet_start h3"},
    {"", "lnet_serve h2 h3", "h3 has no node of LNet", "h3", "lnet_start h3"},
    {"", "lnet_start h3 h2", "h2 has a node of LNet", "h2", "lnet_stop h2, then run"},
    {"lnet_serve h1", "lnet_serve h2 h1", "lnet_serve: EBUSY: it serves already", "h1",
     "lnet_test"},
    /* A version is written as everywhere. */
    {"", "lnet_start h3 version=3", "version: 3 is out of range", "3", "it must be 0x11 to 0x12"},
    {"", "lnet_start h3 rules=2007 version=0x12", "in 2007 there was only version 0x11", "0x12",
     "leave out version="},
    /* A NID has an IPv4 address. */
    {"host h4 ip=fe80::5", "lnet_start h3 h4", "h4 has no IPv4 address", "h4", "ip=10.0.0.1"},
    /* No time may be so far away that a sum with it is in the past. */
    {"", "lnet_start h3 timeout=18446744073s", "timeout: 18446744073s is out of range",
     "18446744073s", "1000000s"},
    {"", "lnet_start h3 keepalive=18446744073s", "keepalive: 18446744073s is out of range",
     "18446744073s", "1000000s"},
    /* A node that is stopping. */
    {"lnet_stop h2", "lnet_start h3 h2", "the node of h2 is stopping", "h2", "run"},
    {"lnet_stop h2", "lnet_stop h2", "the node of h2 is stopping", "h2", "run"},
    {"lnet_stop h2", "lnet_serve h1 h2", "the node of h2 is stopping", "h2", "run"},
    {"lnet_stop h1", "lnet_test h1 ping to=h2", "the node of h1 is stopping", "h1 ping", "run"},
    {"lnet_stop h1", "lnet_attach h1 portal=4 sge=mr", "the node of h1 is stopping", "h1 portal",
     "run"},
    {"lnet_stop h1", "lnet_unlink h1 1", "the node of h1 is stopping", "h1 1", "run"},
    {"lnet_stop h1", "lnet_put h1 h2 portal=4", "the node of h1 is stopping", "h1 h2", "run"},
    {"lnet_stop h1", "lnet_get h1 h2 portal=4 sge=mr", "the node of h1 is stopping", "h1 h2",
     "run"},
    /* No loopback. */
    {"", "lnet_test h1 ping to=h2,h1", "h1 does not send to itself", "h1", "another host"},
    {"", "lnet_put h1 h1 portal=4", "h1 does not send to itself", "h1 portal", "another host"},
    {"", "lnet_get h1 h1 portal=4 sge=mr", "h1 does not send to itself", "h1 portal",
     "another host"},
    /* The same errno of different calls. */
    {"repeat 8 { lnet_test h1 ping to=h2 }", "lnet_test h1 ping to=h3",
     "EBUSY: its batch is full, and has not ended", "lnet_test", "run"},
    {"lnet_attach h2 portal=4 sge=mr; lnet_put h1 h2 portal=4 sge=mr[0:64k]\n"
     "until count(lnet_sent, message==PUT_ACK) == 1",
     "lnet_unlink h2 1", "EBUSY: a message uses the memory", "lnet_unlink", "run"},
    {"", "lnet_attach h1 portal=4 sge=" PIECES_4GIB, "EINVAL: memory has less than 4 GiB",
     "lnet_attach", "attach less"},
    {"", "lnet_put h1 h2 portal=4 sge=" PIECES_4GIB, "EINVAL: memory has less than 4 GiB",
     "lnet_put", "send several"},
    {"", "lnet_put h1 h2 portal=4 sge=mr", "EMSGSIZE: a message of LNet has at most 1 MiB",
     "lnet_put", "send several"},
    {"", "lnet_test h1 ping to=h2,h3,h2,h3,h2 concurrency=52",
     "5 peers with 52 RPCs at a time each: a test has at most 256", "52", "concurrency=51"},
};

static void each_refusal_names_the_call_the_host_and_what_helps(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *line = rows[i].line;
        const struct diag *d;
        struct lab l;

        lab_open(&l, false);
        lab_run(&l, NODES);
        lab_run(&l, rows[i].lines);
        assert_false(lab_try(&l, line));
        d = &l.s->diag;
        if (!strstr(d->message, rows[i].says) || !strstr(d->remedy, rows[i].remedy) ||
            strncmp(line + d->at.at, rows[i].at, strlen(rows[i].at)) != 0)
            fail_msg("%s: \"%s\" at \"%s\", \"%s\"", line, d->message, line + d->at.at, d->remedy);
        lab_close(&l);
    }
}

/* A line that names an unknown host does nothing. */
static void hosts_before_an_unknown_one_are_left_alone(void **state)
{
    struct lab l;
    char *text;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, NODES);
    assert_false(lab_try(&l, "lnet_stop h1 hx"));
    assert_false(lab_try(&l, "lnet_start h3 hx"));
    text = lab_answer(&l, "run; show h1.lnet.up");
    assert_in_order(text, "h1.lnet.up = yes");
    free(text);
    lab_run(&l, "lnet_start h3");
    lab_close(&l);
}

/* A call that is refused leaves no memory of its own behind. */
static void a_refused_transfer_leaves_no_memory(void **state)
{
    struct lab l;
    char *text;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, NODES);
    assert_false(lab_try(&l, "lnet_put h1 h2 portal=4 sge=mr"));
    assert_false(lab_try(&l, "lnet_get h1 h2 portal=4 sge=mr"));
    lab_run(&l, "lnet_attach h1 portal=4 sge=mr");
    text = lab_answer(&l, "show h1.lnet.memory");
    assert_null(strstr(text, "[1]"));
    free(text);
    lab_close(&l);
}

static void a_node_has_256_rpcs_at_a_time(void **state)
{
    struct lab l;
    char *text;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, NODES "lnet_start h3; lnet_serve h2 h3; run\n"
                      "lnet_test h1 ping to=h2,h3,h2,h3 concurrency=64; run");
    text = lab_answer(&l, "show h1.lnet.test[0].done");
    assert_in_order(text, "h1.lnet.test[0].done = yes");
    free(text);
    lab_close(&l);
}

/* A test frees the memory of the one before it while a region is over that: the memory goes with
 * the region, and not with the next memory that is freed.
 */
static void memory_of_a_test_comes_back(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1 ram=24m; host h2; link h1 h2; lnet_start h1 h2; run; lnet_serve h2\n"
                "lnet_test h1 write to=h2 size=1m concurrency=4; run\n"
                "lnet_test h1 ping to=h2; run\n"
                "alloc_pd h1 as pd; reg_mr h1.pd len=18m access=lw as mr");
    lab_close(&l);
}

/* The last 256 events can be read. */
static void older_events_are_gone(void **state)
{
    struct rdl_lnet_event e;
    struct lab l;
    rdl_host h1;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, NODES "repeat 300 { lnet_put h1 h2 portal=4 }; run");
    assert_int_equal(rdl_find_host(l.s->lab, "h1", &h1), RDL_OK);
    assert_int_equal(rdl_lnet_event_count(l.s->lab, h1), 300);
    assert_false(rdl_lnet_event_at(l.s->lab, h1, 43, &e));
    assert_true(rdl_lnet_event_at(l.s->lab, h1, 44, &e));
    assert_int_equal(e.md, 45);
    assert_true(rdl_lnet_event_at(l.s->lab, h1, 299, &e));
    assert_false(rdl_lnet_event_at(l.s->lab, h1, 300, &e));
    lab_close(&l);
}

/* A request that is not understood names no NID: the peer is its address in the network of the
 * node.
 */
static void a_reject_names_the_peer_in_the_network_of_the_node(void **state)
{
    struct lab l;
    char *text;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1 h2; link h1 h2; lnet_start h1 net=3 version=0x11; lnet_start h2 net=3\n"
                "run; lnet_put h2 h1 portal=4; run");
    text = lab_answer(&l, "show events kinds=lnet_reject");
    assert_in_order(text, "h1 rejects 10.0.0.2@o2ib3: FATAL h2 rejected by 10.0.0.1@o2ib3: FATAL");
    free(text);
    lab_close(&l);
}

static void the_help_tells_versions_as_messages_have_them(void **state)
{
    (void)state;
    assert_line_prints("", "help lnet_start", "(0x11 .. 0x12); default 0x12,");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_refusal_names_the_call_the_host_and_what_helps),
        cmocka_unit_test(hosts_before_an_unknown_one_are_left_alone),
        cmocka_unit_test(a_refused_transfer_leaves_no_memory),
        cmocka_unit_test(a_node_has_256_rpcs_at_a_time),
        cmocka_unit_test(memory_of_a_test_comes_back),
        cmocka_unit_test(older_events_are_gone),
        cmocka_unit_test(a_reject_names_the_peer_in_the_network_of_the_node),
        cmocka_unit_test(the_help_tells_versions_as_messages_have_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
