/* SPDX-License-Identifier: MIT */
/* `why not`: what it says in situations in which something does not come. */
#include "cli/lab_session.h"

#define PAIR                                                                                       \
    "host h1 h2; link h1 h2 latency=1us\n"                                                         \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw,rr,rw as mr; create_cq cqe=16 as cq\n"  \
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"
#define CONNECTED PAIR "connect h1.qp h2.qp timeout=4\n"
#define RECEIVING CONNECTED "post_recv h2.qp wr_id=7 sge=mr[0:1k]\n"
#define IN_TWO    PAIR "connect h1.qp h2.qp timeout=4 mtu=256\npost_recv h2.qp wr_id=7 sge=mr[0:1k]\n"
#define SEND_TWO  "post_send h1.qp wr_id=1 sge=mr[0:512] signaled\n"
#define WAITING(name_)                                                                             \
    "create_qp h2.pd send_cq=cq recv_cq=cq as " name_ "\n"                                         \
    "modify_qp h2." name_ " state=INIT access=lw port=1 pkey_index=0\n"                            \
    "post_recv h2." name_ " sge=mr[0:64]\n"
#define SEND_NO_KICK "post_send h1.qp wr_id=1 sge=mr[0:64] signaled nokick\n"
#define SEND         "post_send h1.qp wr_id=1 sge=mr[0:64] signaled\n"

struct row {
    const char *lines, *asked;
    const char *says[8]; /* ended by NULL */
};

static void tell_all(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_tells(rows[i].lines, rows[i].asked, rows[i].says);
}

/* `why` of the end of a timer that a hundred others came before, and of a key that opens nothing.
 */
static void why_counts_waits_and_names_the_key_that_is_none(void **state)
{
    static const struct row rows[] = {
        {CONNECTED SEND "until count(timeout) == 100 timeout=1s\n",
         "why",
         {"the 100th transmission", "the 99th transmission",
          "because of 98 such waits before, the first until #", "the 1st transmission",
          "the device fetched the WQE"}},
        {CONNECTED SEND "until count(timeout) == 3 timeout=1s\n",
         "why",
         {"because of 1 such wait before, the first until #"}},
        {CONNECTED SEND "until count(timeout) == 3 timeout=1s\n",
         "show",
         {"waits for an ACK of psn=0 from h2.qp, which had no receive 3 times\n"}},
        {"host h1 h2; on h1,h2 { alloc_pd as pd; reg_mr pd len=4k as mr; create_cq as cq; "
         "create_qp pd send_cq=cq recv_cq=cq as qp }\n"
         "connect h1.qp h2.qp timeout=1\n" SEND "run\n",
         "why; explain NO_ROUTE",
         {"transmission 8, was dropped in #", "\n  NO_ROUTE: a switch or port without a link\n",
          "no link leads from there"}},
        {CONNECTED "reg_mr h2.pd len=64 as closed\n"
                   "post_send h1.qp op=rdma_write sge=mr[0:4] remote=h2.closed[0] signaled\nrun\n",
         "why",
         {"refused by MR_KEY", "rkey 0: the region allows no remote access"}},
    };

    (void)state;
    tell_all(rows, ARRAY_LEN(rows));
}

static void what_holds_a_send_is_said(void **state)
{
    static const struct row rows[] = {
        {PAIR,
         "why not h1.cq.wc[0]",
         {"h1.cq has had no completion yet; wc[0] will be the first.", "h1.qp: no send is posted.",
          "the device sends nothing before RTS", "try: why not h1.qp.state == RTS"}},
        {CONNECTED, "why not h1.cq.wc[0]", {"no send is posted", "try: post_send h1.qp"}},
        {CONNECTED SEND_NO_KICK,
         "why not h1.cq.wc[0]",
         {"one send is not complete, SEND wr_id=1", "there was no kick", "try: kick h1.qp.sq"}},
        {CONNECTED SEND,
         "why not h1.cq.wc[0]",
         {"The device was told of it in #", "has not fetched it yet", "try: run"}},
        {RECEIVING "post_send h1.qp wr_id=1 sge=mr[0:64]\nrun\n",
         "why not h1.cq.wc[0]",
         {"SEND wr_id=1, posted in #", "so that its success writes no completion",
          "try: post_send h1.qp ... signaled"}},
        {RECEIVING "post_send h1.qp wr_id=1 sge=mr[0:64]\n",
         "why not h1.cq.wc[0]",
         {"It is not `signaled`: when it succeeds, no completion is written."}},
        {RECEIVING "modify_qp h1.qp state=SQD; run\n" SEND "run\n",
         "why not h1.cq.wc[0]",
         {"begins nothing new", "try: modify_qp h1.qp state=RTS"}},
        {RECEIVING SEND "run 600ns\n",
         "why not h1.cq.wc[0]",
         {"waits for the answer of h2.qp to psn=0", "the 1st transmission", "has not arrived yet",
          "retry 1 of 7", "try: run"}},
        {RECEIVING "drop ack from=h2 as thief\n" SEND "run 5us\n",
         "why not h1.cq.wc[0]",
         {"ACK #", "was lost in #", "by thief", "the ACK timer runs out at t="}},
        {CONNECTED SEND "run 5us\n",
         "why not h1.cq.wc[0]",
         {"h2.qp had no receive posted, and said so: its RNR NAK arrived in #",
          "sends again when its RNR timer runs out, at t=", "no receive posted now either",
          "try: post_recv h2.qp"}},
        {RECEIVING SEND "run\n",
         "why not h1.cq.wc[0]",
         {"It is there:", "SUCCESS SEND", "try: why h1.cq.wc[0]"}},
        {RECEIVING SEND "run\n",
         "why not h1.cq.wc[3]",
         {"h1.cq has had 1 completion, up to wc[0].", "Before wc[3] 2 others must come."}},
        {RECEIVING "post_send h1.qp wr_id=1 op=rdma_read sge=mr[0:64] remote=h2.mr[0] signaled\n"
                   "post_send h1.qp wr_id=2 op=send sge=mr[0:64] fence signaled\n"
                   "drop next from=h2 as f1; run 5us\n",
         "why not h1.cq.wc[1]",
         {"2 sends are not complete, the oldest is RDMA_READ wr_id=1", "it has a fence"}},
    };

    (void)state;
    tell_all(rows, ARRAY_LEN(rows));
}

static void a_device_that_needs_a_reset_is_said(void **state)
{
    static const struct row rows[] = {
        {"host h1; on h1 { alloc_pd as pd; reg_mr pd len=4k access=lw as mr; create_cq cqe=16 as "
         "cq\n"
         "get_dma_mr pd access=lw,rw as dma; create_qp pd send_cq=cq recv_cq=cq as qp\n"
         "create_qp pd send_cq=cq recv_cq=cq as pen }\n"
         "connect h1.qp h1.qp; connect h1.pen h1.pen\n" SEND_NO_KICK
         "write h1.mr[0] hex=01001000; expect h1.qp.sq.desc_addr == 155648\n"
         "post_send h1.pen op=rdma_write sge=mr[0:4] remote=h1.dma[155660]\n"
         "run; kick h1.qp.sq; run\n",
         "why not h1.qp",
         {"needs a reset: it fetches nothing more.", "try: show h1.device"}},
    };

    (void)state;
    tell_all(rows, ARRAY_LEN(rows));
}

static void how_the_last_send_ended_is_said(void **state)
{
    static const struct row rows[] = {
        {RECEIVING "post_recv h2.qp sge=mr[0:1k]\n" SEND
                   "post_send h1.qp wr_id=1 sge=mr[0:64]\nrun\n",
         "why not h1.cq.wc[1]",
         {"posted in #49.1, was the last send; it is done,", "so that its success writes no"}},
        {RECEIVING "post_recv h2.qp sge=mr[0:1k]\npost_send h1.qp wr_id=1 sge=mr[0:64]\n" SEND
                   "run\n",
         "why not h1.cq.wc[1]",
         {"was the last send; it is complete since #57.4."}},
        {CONNECTED "modify_qp h1.qp state=ERR\npost_send h1.qp wr_id=1 sge=mr[0:64]\nrun\n",
         "why not h1.cq.wc[1]",
         {"was the last send; it is complete since #", ", with\nWR_FLUSH_ERR."}},
        {PAIR "create_cq h1 cqe=1 as few; create_qp h1.pd send_cq=few recv_cq=few as q2\n"
              "connect h1.q2 h2.qp; post_recv h2.qp sge=mr[0:64]; post_recv h2.qp sge=mr[0:64]\n"
              "post_send h1.q2 sge=mr[0:64] signaled; post_send h1.q2 sge=mr[0:64] signaled\nrun\n",
         "why not h1.q2",
         {"it is done since #", "was not written: the completion queue failed."}},
        {CONNECTED SEND "modify_qp h1.qp state=RESET; run\n",
         "why not h1.qp",
         {"h1.qp is in RESET", "was forgotten when the queue pair moved to RESET in #"}},
    };

    (void)state;
    tell_all(rows, ARRAY_LEN(rows));
}

static void what_a_receive_lacks_is_said(void **state)
{
    static const struct row rows[] = {
        {RECEIVING,
         "why not h2.cq.wc[0]",
         {"h2.qp: 1 receive waits for a message.",
          "Its peer h1.qp has no send under way, and has sent nothing so far.",
          "try: post_send h1.qp"}},
        {CONNECTED, "why not h2.cq.wc[0]", {"no receive is posted", "RNR NAK", "post_recv h2.qp"}},
        {RECEIVING SEND,
         "why not h2.cq.wc[0]",
         {"Its peer has sends that are not complete", "h1.qp: one send is not complete"}},
        {PAIR, "why not h2.cq.wc[0]", {"packets for it are dropped before RTR"}},
        {RECEIVING "modify_qp h2.qp state=ERR; run; poll_cq h2.cq\n",
         "why not h2.cq.wc[1]",
         {"it takes no packets"}},
        {PAIR WAITING("q1") WAITING("q2") WAITING("q3") WAITING("q4") WAITING("q5") WAITING("q6")
             WAITING("q7") WAITING("q8") WAITING("q9") WAITING("r1"),
         "why not h2.cq.wc[0]",
         {"h2.q8 is in INIT", "And 2 more queue pairs wait"}},
        {"host h1 h2; link h1 h2; on h1,h2 { alloc_pd as pd; create_cq cqe=16 as cq\n"
         "create_qp pd type=ud send_cq=cq recv_cq=cq as qp; reg_mr pd len=4k access=lw as mr\n"
         "modify_qp qp state=INIT qkey=1 port=1 pkey_index=0; modify_qp qp state=RTR\n"
         "post_recv qp sge=mr[0:256] }\n",
         "why not h2.cq.wc[0]",
         {"It takes datagrams of anybody who knows its Q_Key."}},
    };

    (void)state;
    tell_all(rows, ARRAY_LEN(rows));
}

static void what_a_packet_met_is_said(void **state)
{
    static const struct row rows[] = {
        {RECEIVING "drop next from=h1 as f1\n" SEND "until lost timeout=1ms\n",
         "why not #50.3",
         {"It was lost in #", "by f1", "the ACK timer runs out at t="}},
        {RECEIVING SEND "run\n", "why not #49.3", {"It is answered: #", "arrived in #"}},
        {RECEIVING SEND "run\n", "why not #51.7", {"It is an answer itself"}},
        {RECEIVING SEND "run\n", "why not #47.1", {"That did happen.", "try: why #47.1"}},
        {IN_TWO SEND_TWO "until rx timeout=1ms\n",
         "why not #49.3",
         {"No answer to it was sent so far. One packet in a message asks for an ACK, the last;"}},
        {IN_TWO SEND_TWO "run\n",
         "why not #49.3",
         {"It has no answer of its own; one of psn=1 acknowledges it, too: the ACK #",
          " arrived in #"}},
        {IN_TWO "drop ack from=h2 as f1\n" SEND_TWO "until lost timeout=1ms\n",
         "why not #50.3",
         {"one of psn=1 acknowledges it, too: the ACK #", "was lost in #", "by f1",
          "Without an answer the ACK timer runs out"}},
        {IN_TWO "drop psn=1 from=h1 as f1\n" SEND_TWO "until rx timeout=1ms\n"
                "modify_qp h1.qp state=RESET; modify_qp h2.qp state=RESET\n"
                "connect h1.qp h2.qp timeout=4 mtu=256; post_recv h2.qp sge=mr[0:1k]\n" SEND_TWO
                "run\n",
         "why not #50.3",
         {"#50.3   tx         RC_SEND_FIRST psn=0", "No answer to it was sent so far."}},
        {IN_TWO "drop psn=2 from=h2 as f1\n"
                "post_send h1.qp wr_id=1 op=rdma_read sge=mr[0:2k] remote=h2.mr[0]\nrun 2200ns\n",
         "why not #50.2",
         {"It is answered: #", "But of the responses behind it psn=2, #", "was lost in #",
          "by f1"}},
    };

    (void)state;
    tell_all(rows, ARRAY_LEN(rows));
}

static void what_an_expression_lacks_is_said(void **state)
{
    static const struct row rows[] = {
        {PAIR,
         "why not h1.qp.state == RTS",
         {"h1.qp is in RESET, and not in RTS.", "RESET -> INIT needs access, pkey_index, port.",
          "INIT -> RTR needs", "dest_qpn", "RTR -> RTS needs", "try: modify_qp h1.qp state=INIT"}},
        {CONNECTED "modify_qp h1.qp state=ERR\n",
         "why not h1.qp.state == RTS",
         {"From ERR the only way goes through RESET", "try: modify_qp h1.qp state=RESET",
          "It was in RTS, and left that in #"}},
        {CONNECTED,
         "why not h1.qp.state == SQD",
         {"RTS -> SQD", "try: modify_qp h1.qp state=SQD\n"}},
        {CONNECTED "modify_qp h1.qp state=ERR\n",
         "why not h1.qp.state == RTS",
         {"try: modify_qp h1.qp state=RESET, then connect\n"}},
        {CONNECTED, "why not h1.qp.state == SQE", {"Nobody can ask for SQE"}},
        {CONNECTED, "why not h1.qp.state == RTS", {"It holds."}},
        {CONNECTED,
         "why not h1.qp.retries > 0 and t > 5ms",
         {"h1.qp.retries > 0 does not hold, it is 0", "t > 5ms does not hold, it is",
          "Nothing more is due in the lab"}},
        {CONNECTED,
         "why not h1.cq.wc[0].status == SUCCESS",
         {"it is not there", "no send is posted"}},
        {CONNECTED, "why not count(lost) == 1", {"it is 0", "There was no lost event"}},
        {CONNECTED, "on h1 { why not cq.wc[0] }", {"h1.cq has had no completion yet"}},
    };

    (void)state;
    tell_all(rows, ARRAY_LEN(rows));
}

static void what_an_event_or_a_fault_lacks_is_said(void **state)
{
    static const struct row rows[] = {
        {RECEIVING SEND "run\n",
         "why not tx(host==h1, psn==9)",
         {"2 tx events are recorded.", "Of them 1 has host == h1 and none has psn == 9.",
          "its psn is 0:"}},
        {RECEIVING SEND "run\n", "why not tx(host==h2)", {"It did happen, 1 time", "try: why #"}},
        {RECEIVING SEND, "why not timeout", {"There was no timeout event", "What is waited for:"}},
        {CONNECTED,
         "why not cq_event(host==h1)",
         {"h1.cq is not armed: its completions, 0 so far, interrupt nobody.",
          "try: req_notify_cq h1.cq"}},
        {CONNECTED "req_notify_cq h1.cq solicited\n",
         "why not cq_event(host==h1)",
         {"h1.cq is armed for a solicited completion"}},
        {RECEIVING "drop psn=9 from=h1 as f1\n" SEND "run\n",
         "why not f1",
         {"f1 has hit no frame so far.",
          "f1 has looked at 2 frames that hosts sent since it was made; 1 of them is from h1; none",
          "with psn=9"}},
        {RECEIVING "drop from=h2 nth=2 as f1\n" SEND "run\n",
         "why not f1",
         {"1 frame has matched it, but it begins with number 2 of those"}},
        {RECEIVING "drop ack from=h2 as f1\n" SEND "run\n",
         "why not f1",
         {"f1 did hit, 1 time", "by f1", "It is used up"}},
    };

    (void)state;
    tell_all(rows, ARRAY_LEN(rows));
}

static void nothing_named_is_what_is_waited_for(void **state)
{
    static const struct row rows[] = {
        {RECEIVING SEND, "why not", {"one send is not complete", "try: run"}},
        {RECEIVING, "why not", {"1 posted receive waits for a message"}},
        {PAIR, "why not", {"Nobody waits for anything.", "try: why not h1.cq.wc[0]"}},
    };

    (void)state;
    tell_all(rows, ARRAY_LEN(rows));
}

static void what_is_forgotten_is_not_guessed(void **state)
{
    static const struct row rows[] = {
        {CONNECTED "record off\n" SEND "record on\n",
         "why not h1.cq.wc[0]",
         {"one send is not complete. Its posting is not recorded (any more).",
          "Whether it was told of it is not recorded (any more)."}},
        {RECEIVING "drop ack from=h2 as f1\nrecord off\n" SEND "run 5us\nrecord on\n",
         "why not h1.cq.wc[0]",
         {"what became of psn=0 is not recorded (any more)", "Not all is known:"}},
        {IN_TWO SEND_TWO "until rx timeout=1ms\nrecord off\nrun\nrecord on\n",
         "why not #49.3",
         {"No answer to it is recorded.", "Not all is known: recording was off"}},
        {RECEIVING SEND "record off\nrun\nrecord on\n",
         "why not kick(host==h1)",
         {"It did happen, at least ",
          ", as far as it is recorded; the last that is recorded was:"}},
        {CONNECTED "record off\n" SEND "run 5us\nrecord on\n",
         "why not post_send",
         {"There were post_send events, but none is recorded (any more)."}},
        {RECEIVING SEND "run\nrecord off\npost_recv h2.qp sge=mr[0:64]\n" SEND "run\nrecord on\n",
         "why not cqe",
         {"It did happen, 4 times; the last that is recorded was:"}},
        {RECEIVING SEND "run\nrecord off\npost_recv h2.qp sge=mr[0:64]\n" SEND
                        "run\nrecord on\npost_recv h2.qp sge=mr[0:64]\n",
         "why not h2.qp",
         {"The last that it sent and that is recorded was #49.3"}},
        {CONNECTED SEND "run 5us\nrecord off\npost_recv h1.qp sge=mr[0:64]\nrecord on\n",
         "why not h1.qp",
         {"its RNR NAK arrived in #", " or later, number 1;"}},
        {RECEIVING "drop from=h1 nth=1 count=2 as f1\n" SEND
                   "until lost timeout=1ms\nrecord off\nrun\nrecord on\n",
         "why not f1",
         {"f1 did hit, 2 times; the last that is recorded was:"}},
    };

    (void)state;
    tell_all(rows, ARRAY_LEN(rows));
}

static void what_nobody_knows_is_refused(void **state)
{
    static const struct {
        const char *asked, *says, *remedy;
    } rows[] = {
        {"why not interrupt", "nothing is called \"interrupt\"", "why not irq(host==h1)"},
        {"why not interrupt(host==h1)", "no kind of event", "did you mean \"irq\"?"},
        {"why not completion", "nothing is called", "why not cqe(host==h1)"},
        {"why not ack", "nothing is called", "why not tx(host==h1); of a packet without an answer"},
        {"why not packet(psn==3)", "no kind of event", "did you mean \"tx\"?"},
        {"why not #999.1", "there is no event #999.1", NULL},
        {"why not nonsense", "nothing", NULL},
        {"why not h1.qp.stat == RTS", "stat", NULL},
        {"why not h1-h2", "this is a link between two ports: what of it is missing?", NULL},
        {"why not h1.pd", "this is a protection domain", NULL},
        {"why h1.qp not h1.qp", "either why h1.qp or why not", NULL},
    };
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, CONNECTED);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_false(lab_try(&l, rows[i].asked));
        if (!strstr(l.s->diag.message, rows[i].says))
            fail_msg("%s: %s", rows[i].asked, l.s->diag.message);
        if (rows[i].remedy && !strstr(l.s->diag.remedy, rows[i].remedy))
            fail_msg("%s: %s", rows[i].asked, l.s->diag.remedy);
    }
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(why_counts_waits_and_names_the_key_that_is_none),
        cmocka_unit_test(what_holds_a_send_is_said),
        cmocka_unit_test(a_device_that_needs_a_reset_is_said),
        cmocka_unit_test(how_the_last_send_ended_is_said),
        cmocka_unit_test(what_a_receive_lacks_is_said),
        cmocka_unit_test(what_a_packet_met_is_said),
        cmocka_unit_test(what_an_expression_lacks_is_said),
        cmocka_unit_test(what_an_event_or_a_fault_lacks_is_said),
        cmocka_unit_test(nothing_named_is_what_is_waited_for),
        cmocka_unit_test(what_is_forgotten_is_not_guessed),
        cmocka_unit_test(what_nobody_knows_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
