/* SPDX-License-Identifier: MIT */
/* Tests of `why not`: its texts in situations in which something does not come. */
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
#define WRITE        "post_send h1.qp op=rdma_write sge=mr[0:5] remote=h2.mr[0]\n"
#define SEND         "post_send h1.qp wr_id=1 sge=mr[0:64] signaled\n"

#define DATAGRAMS                                                                                  \
    "host h1 h2; link h1 h2 latency=1us\n"                                                         \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw as mr; create_cq as cq\n"               \
    "  create_qp pd type=ud send_cq=cq recv_cq=cq as qp\n"                                         \
    "  modify_qp qp state=INIT pkey_index=0 port=1 qkey=0x1234; modify_qp qp state=RTR\n"          \
    "  modify_qp qp state=RTS sq_psn=100 }\n"                                                      \
    "create_ah h1.pd dgid=h2 as ah\n"
#define DATAGRAM_WITH(qkey_)                                                                       \
    "post_send h1.qp wr_id=1 ah=ah remote_qpn=h2.qp remote_qkey=" qkey_ " sge=mr[0:64] signaled\n" \
    "run\n"
#define DATAGRAM DATAGRAM_WITH("0x1234")
#define EVENTS                                                                                     \
    CONNECTED                                                                                      \
    "create_comp_channel h2 as ch; create_cq h2 channel=ch as cq2\n"                               \
    "create_qp h2.pd send_cq=cq2 recv_cq=cq2 as q2; create_qp h1.pd send_cq=cq recv_cq=cq as q2\n" \
    "connect h1.q2 h2.q2\n"
#define EVENT_MESSAGE "post_recv h2.q2 sge=mr[0:64]; post_send h1.q2 sge=mr[0:20]; run\n"

/* The first message has its interrupt lost. */
#define LOST_MESSAGE "post_recv h2.qp sge=mr[0:64]; post_send h1.qp sge=mr[0:20] signaled; run\n"
#define ON_CHANNELS                                                                                \
    "link h1 h2\non h1,h2 { alloc_pd as pd; reg_mr pd len=4k as mr; create_comp_channel as ch\n"   \
    "  create_cq channel=ch as cq; create_qp pd send_cq=cq recv_cq=cq as qp }\n"                   \
    "connect h1.qp h2.qp\nreq_notify_cq h2.cq\n"
#define LOST_INTERRUPT ON_CHANNELS "lose the next interrupt of h2.cq\n" LOST_MESSAGE

struct row {
    const char *lines, *asked;
    const char *name, *words; /* name of the golden section, and what it must contain */
};

static void tell_all(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_tells(rows[i].name, rows[i].lines, rows[i].asked, rows[i].words);
}

/* `why` of a timer that expired after a hundred others, and of a key that nothing has. */
static void why_counts_waits_and_names_the_key_that_is_none(void **state)
{
    static const struct row rows[] = {
        {CONNECTED SEND "until count(timeout) == 100 timeout=1s\n", "why", "a hundred timeouts",
         "100th 99th 98 1st"},
        {CONNECTED SEND "until count(timeout) == 3 timeout=1s\n", "why", "three timeouts",
         "3rd 2nd 1st"},
        {CONNECTED SEND "until count(timeout) == 3 timeout=1s\n", "show",
         "show after three timeouts", "psn=0 h2.qp 3"},
        {"host h1 h2; on h1,h2 { alloc_pd as pd; reg_mr pd len=4k as mr; create_cq as cq; "
         "create_qp pd send_cq=cq recv_cq=cq as qp }\n"
         "connect h1.qp h2.qp timeout=1\n" SEND "run\n",
         "why; explain NO_ROUTE", "no link and its reason", "8 NO_ROUTE explain NO_ROUTE"},
        {CONNECTED "reg_mr h2.pd len=64 as closed\n"
                   "post_send h1.qp op=rdma_write sge=mr[0:4] remote=h2.closed[0] signaled\nrun\n",
         "why", "a key without remote access", "REM_ACCESS_ERR MR_KEY rkey 0"},
    };

    (void)state;
    tell_all(rows, ARRAY_LEN(rows));
}

static void what_holds_a_send_is_said(void **state)
{
    static const struct row rows[] = {
        {PAIR, "why not h1.cq.wc[0]", "a send in RESET",
         "h1.cq wc[0] h1.qp RTS try: why not h1.qp.state == RTS"},
        {CONNECTED, "why not h1.cq.wc[0]", "no send is posted", "try: post_send h1.qp"},
        {CONNECTED SEND_NO_KICK, "why not h1.cq.wc[0]", "a send without a kick",
         "SEND wr_id=1 try: kick h1.qp.sq"},
        {CONNECTED SEND, "why not h1.cq.wc[0]", "a send that is not fetched",
         "SEND wr_id=1 try: run"},
        {RECEIVING "post_send h1.qp wr_id=1 sge=mr[0:64]\nrun\n", "why not h1.cq.wc[0]",
         "a send that was complete without a completion",
         "SEND wr_id=1 #47.1 try: post_send h1.qp ... signaled"},
        {RECEIVING "post_send h1.qp wr_id=1 sge=mr[0:64]\n", "why not h1.cq.wc[0]",
         "a send that is not signaled", "SEND wr_id=1 signaled"},
        {CONNECTED "repeat 5 { post_send h1.qp sge=mr[0:64] }; run 5us", "why not h1.cq.wc[0]",
         "five sends without a completion or a receive",
         "None of them is `signaled` repeats without end (rnr_retry=7) try: post_recv h2.qp "
         "sge=mr[0:1k]"},
        {CONNECTED WRITE "run\n", "why not h2.cq.wc[0]", "a WRITE completes nothing at its target",
         "RDMA_WRITE h1.qp #46.1 carried out completion op=rdma_write_with_imm try: post_recv "
         "h2.qp"},
        {RECEIVING WRITE "run\n", "why not h2.cq.wc[0]", "a WRITE takes no receive",
         "1 receive waits RDMA_WRITE h1.qp #47.1 carried out or a SEND"},
        {RECEIVING WRITE SEND "run 3us\n", "why not h2.cq.wc[1]", "a SEND behind a WRITE", "h2.cq"},
        {RECEIVING "modify_qp h1.qp state=SQD; run\n" SEND "run\n", "why not h1.cq.wc[0]",
         "a send in SQD", "SQD try: modify_qp h1.qp state=RTS"},
        {RECEIVING SEND "run 600ns\n", "why not h1.cq.wc[0]", "a send under way",
         "h2.qp psn=0 1st retry 1 7 try: run"},
        {RECEIVING "drop ack from=h2 as thief\n" SEND "run 5us\n", "why not h1.cq.wc[0]",
         "a send whose ACK was lost", "ACK lost thief"},
        {CONNECTED SEND "run 5us\n", "why not h1.cq.wc[0]", "a send without a receive",
         "h2.qp RNR try: post_recv h2.qp"},
        {RECEIVING SEND "run\n", "why not h1.cq.wc[0]", "a completion that is there",
         "SUCCESS SEND try: why h1.cq.wc[0]"},
        {RECEIVING SEND "run\n", "why not h1.cq.wc[3]", "a completion after others",
         "h1.cq wc[0] wc[3]"},
        {RECEIVING "post_send h1.qp wr_id=1 op=rdma_read sge=mr[0:64] remote=h2.mr[0] signaled\n"
                   "post_send h1.qp wr_id=2 op=send sge=mr[0:64] fence signaled\n"
                   "drop next from=h2 as f1; run 5us\n",
         "why not h1.cq.wc[1]", "a send behind a fence", "2 RDMA_READ wr_id=1 fence"},
    };

    (void)state;
    tell_all(rows, ARRAY_LEN(rows));
}

/* A datagram has no answer: its fate is in the record alone. */
static void the_fate_of_a_datagram_is_said(void **state)
{
    static const struct row rows[] = {
        {DATAGRAMS "post_recv h2.qp sge=mr[0:20]\n" DATAGRAM, "why not h2.cq.wc[0]",
         "a datagram for which the receive is too short",
         "1 receive waits not accepted h1.qp, psn=100 RESP_RECV_LENGTH SUCCESS try: why #"},
        {DATAGRAMS "post_recv h2.qp sge=mr[0:1k]; drop next from=h1 as f1\n" DATAGRAM,
         "why not h2.cq.wc[0]", "a datagram that was lost",
         "psn=100, was lost in by f1 try: why #"},
        {DATAGRAMS "post_recv h2.qp sge=mr[0:1k]\n" DATAGRAM_WITH("1"), "why not h2.cq.wc[0]",
         "a datagram with a wrong Q_Key", "was dropped by h2 BAD_QKEY expected 0x1234 found 0x1"},
        {DATAGRAMS DATAGRAM DATAGRAM DATAGRAM DATAGRAM, "why not h2.cq.wc[0]",
         "four datagrams without a receive",
         "4 datagrams the last psn=101 psn=102 psn=103 RESP_RECV_WQE try: post_recv h2.qp"},
        {DATAGRAMS "repeat 2 { post_recv h2.qp sge=mr[0:1k] }\n" DATAGRAM, "why not h2.cq.wc[1]",
         "a datagram that was accepted", "1 receive waits accepted in #"},
        {DATAGRAMS "post_recv h2.qp sge=mr[0:1k]\n", "why not h2.cq.wc[0]", "no datagram",
         "No datagram was sent to it so far"},
        {DATAGRAMS "on h1,h2 { attach_mcast qp gid=239.1.1.1 }; run 2s\n"
                   "create_ah h1.pd dgid=239.1.1.1 as group; post_recv h2.qp sge=mr[0:1k]\n"
                   "drop next from=h1 as f1\n"
                   "post_send h1.qp ah=group remote_qpn=0xffffff remote_qkey=0x1234 sge=mr[0:64]\n"
                   "run\n",
         "why not h2.cq.wc[0]", "a datagram to a group", "a copy of it was lost in by f1"},
        {DATAGRAMS "drop next from=h1 as f1\n" DATAGRAM, "why h1.cq.wc[0]",
         "a datagram that was sent and lost", "SUCCESS only says psn=100 was lost in by f1"},
        {"host h1 h2; link h1 h2 latency=1us\n"
         "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw as mr; create_cq as cq; create_qp "
         "pd type=uc send_cq=cq recv_cq=cq as qp }\n"
         "connect h1.qp h2.qp; post_send h1.qp sge=mr[0:64] signaled; run\n",
         "why not h2.cq.wc[0]", "a message over UC without a receive",
         "no receive is posted h1.qp dropped by RESP_RECV_WQE try: post_recv h2.qp"},
    };

    (void)state;
    tell_all(rows, ARRAY_LEN(rows));
}

#define THREE_HOSTS                                                                                \
    "host h1 h2 h3; switch s; switch s2\n"                                                         \
    "link h1 s; link h2 s; link s s2 latency=50us; link h3 s2\n"                                   \
    "on h1,h2,h3 { alloc_pd as pd; reg_mr pd len=4k access=lw as mr; create_cq as cq\n"            \
    "  create_qp pd type=ud send_cq=cq recv_cq=cq as qp\n"                                         \
    "  modify_qp qp state=INIT pkey_index=0 port=1 qkey=0x1234; modify_qp qp state=RTR\n"          \
    "  modify_qp qp state=RTS sq_psn=100 }\n"

/* Numbers of queue pairs are those of a host, and a group has copies for others. */
static void a_datagram_for_others_is_none(void **state)
{
    (void)state;
    /* h1.q2 has the number of h2.qp. */
    assert_line_prints(DATAGRAMS "create_qp h1.pd type=ud send_cq=cq recv_cq=cq as q2\n"
                                 "post_recv h2.qp sge=mr[0:1k]; create_ah h2.pd dgid=h1 as ah\n"
                                 "post_send h2.qp ah=ah remote_qpn=h1.q2 remote_qkey=1 "
                                 "sge=mr[0:64]; run\n",
                       "why not h2.cq.wc[0]", "No datagram was sent to it so far");
    assert_line_prints(THREE_HOSTS
                       "on h1,h2,h3 { attach_mcast qp gid=239.1.1.1 }; run 2s\n"
                       "create_ah h1.pd dgid=239.1.1.1 as group; post_recv h2.qp sge=mr[0:1k]\n"
                       "drop next link=s2-h3 as thief\n"
                       "post_send h1.qp ah=group remote_qpn=0xffffff remote_qkey=1 sge=mr[0:64]\n"
                       "run; expect thief.hits == 1\n",
                       "why not h2.cq.wc[0]", "psn=100, was dropped by h2");
}

static void older_datagrams_are_counted(void **state)
{
    (void)state;
    assert_line_prints(DATAGRAMS "repeat 5 {\n" DATAGRAM "}\n", "why not h2.cq.wc[0]",
                       "5 datagrams were sent to it that it has not accepted, the last:");
}

static void a_receive_that_is_missing_for_ever_is_said(void **state)
{
    static const struct row rows[] = {
        {CONNECTED SEND "until count(timeout) == 1 timeout=1s\nrun 600ns\n", "why not",
         "sent again after an RNR NAK",
         "1 time so far repeats without end (rnr_retry=7) waits not even an RNR NAK try: "
         "post_recv"},
        {CONNECTED SEND "run 20ms\n", "why not", "many RNR NAKs",
         "repeats without end (rnr_retry=7) t=20. 0"},
    };

    (void)state;
    tell_all(rows, ARRAY_LEN(rows));
}

static void completions_that_nobody_sees_are_said(void **state)
{
    static const struct row rows[] = {
        {EVENTS EVENT_MESSAGE, "why not", "a completion of a queue that is not armed",
         "h2.cq2 has 1 completion not armed h2.ch gets no event try: req_notify_cq h2.cq2 poll_cq"},
        {EVENTS "req_notify_cq h2.cq2\n" EVENT_MESSAGE, "why not", "an event that is not taken",
         "h2.ch has 1 event try: get_cq_event h2.ch"},
        {RECEIVING SEND "run; poll_cq h1.cq\n", "why not", "a completion that nobody has polled",
         "Nobody waits h2.cq has 1 completion try: poll_cq h2.cq"},
    };

    (void)state;
    tell_all(rows, ARRAY_LEN(rows));
}

/* The answer names the fault and its event until an event of the queue arrives, or another queue
 * has its number.
 */
static void a_lost_interrupt_is_named(void **state)
{
    static const char lost[] = "has raised an interrupt, but f1 lost that in #";
    static const struct {
        const char *lines, *line;
        bool is_lost;
    } rows[] = {
        {"", "why not h2.ch", true},
        {"", "why not", true},
        {"", "why not irq(host==h2)", true},
        {"", "why not h1.ch", false},
        {"poll_cq h2.cq\n", "why not h2.ch", true},
        {"req_notify_cq h2.cq\n", "why not h2.ch", false},
        {"poll_cq h2.cq\nreq_notify_cq h2.cq\n" LOST_MESSAGE, "why not h2.ch", false},
        {"poll_cq h2.cq\nreq_notify_cq h2.cq\n" LOST_MESSAGE "get_cq_event h2.ch\n",
         "why not h2.ch", false},
        {"destroy_qp h2.qp\ndestroy_cq h2.cq\ncreate_cq h2 channel=ch as cq\n", "why not h2.ch",
         false},
    };

    (void)state;
    for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
        struct lab l;
        char *text;

        lab_open(&l, false);
        lab_run(&l, i % 2 ? "host h1 h2 device=pvrdma\n" : "host h1 h2\n");
        lab_run(&l, LOST_INTERRUPT);
        lab_run(&l, rows[i / 2].lines);
        text = lab_answer(&l, rows[i / 2].line);
        if ((strstr(text, lost) != NULL) != rows[i / 2].is_lost)
            fail_msg("%zu, %s: %s", i, rows[i / 2].line, text);
        if (rows[i / 2].is_lost)
            assert_null(strstr(text, "so far, interrupt nobody"));
        free(text);
        lab_close(&l);
    }
}

/* Nothing is wrong with the arming then. */
static void an_event_that_waits_in_the_device_is_named(void **state)
{
    static const char *const lines[] = {"why not h2.ch", "why not", "why not cq_event(host==h2)"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        size_t before;
        struct lab l;

        lab_open(&l, false);
        lab_run(&l, "host h1 h2 extensions=ceq\n" ON_CHANNELS
                    "stall h2.ceq[0]\npost_recv h2.qp sge=mr[0:64]\n"
                    "post_send h1.qp sge=mr[0:20]; run\n");
        fflush(l.f);
        before = l.n;
        lab_run(&l, lines[i]);
        fflush(l.f);
        assert_non_null(strstr(l.out + before, "An event of h2.cq waits in the device: h2.ceq[0]"));
        assert_non_null(strstr(l.out + before, "show vq h2.ceq[0]"));
        assert_null(strstr(l.out + before, "not armed"));
        lab_close(&l);
    }
}

static void a_program_without_an_event_is_told_how_to_go_on(void **state)
{
    static const struct {
        const char *line, *words;
    } rows[] = {
        {"get_cq_event h2.ch", "no completion event try: why not h2.ch"},
        {"req_notify_cq h2.cq", "h2.cq has no completion channel create_cq channel="},
    };
    struct lab l;

    (void)state;
    lab_open(&l, true);
    lab_run(&l, EVENTS);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        size_t before;

        fflush(l.f);
        before = l.n;
        lab_run(&l, rows[i].line);
        fflush(l.f);
        assert_in_order(l.out + before, rows[i].words);
    }
    lab_run(&l, "req_notify_cq h2.cq2");
    fflush(l.f);
    assert_null(strstr(l.out, "h2.cq2 has no completion channel"));
    lab_close(&l);
}

static void the_key_of_a_receive_is_an_lkey(void **state)
{
    static const struct row rows[] = {
        {CONNECTED "post_recv h2.qp sge=mr[0:64] lkey=0x5\n" SEND "run\n", "why h1.cq.wc[0]",
         "a receive with a wrong lkey", "REM_OP_ERR h2.mr has lkey not 0x5"},
        {CONNECTED "post_send h1.qp op=rdma_write sge=mr[0:20] remote=0x7f0000000000 rkey=5 "
                   "signaled; run\n",
         "why h1.cq.wc[0]", "a WRITE with a wrong rkey", "REM_ACCESS_ERR h2.mr has rkey not 0x5"},
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
         "why not h1.qp", "a device that needs a reset", "reset try: show h1.device"},
    };

    (void)state;
    tell_all(rows, ARRAY_LEN(rows));
}

static void how_the_last_send_ended_is_said(void **state)
{
    static const struct row rows[] = {
        {RECEIVING "post_recv h2.qp sge=mr[0:1k]\n" SEND
                   "post_send h1.qp wr_id=1 sge=mr[0:64]\nrun\n",
         "why not h1.cq.wc[1]", "the last send without a completion", "#49.1"},
        {RECEIVING "post_recv h2.qp sge=mr[0:1k]\npost_send h1.qp wr_id=1 sge=mr[0:64]\n" SEND
                   "run\n",
         "why not h1.cq.wc[1]", "the last send is complete", "#57.4"},
        {CONNECTED "modify_qp h1.qp state=ERR\npost_send h1.qp wr_id=1 sge=mr[0:64]\nrun\n",
         "why not h1.cq.wc[1]", "the last send was flushed", "WR_FLUSH_ERR"},
        {PAIR "create_cq h1 cqe=1 as few; create_qp h1.pd send_cq=few recv_cq=few as q2\n"
              "connect h1.q2 h2.qp; post_recv h2.qp sge=mr[0:64]; post_recv h2.qp sge=mr[0:64]\n"
              "post_send h1.q2 sge=mr[0:64] signaled; post_send h1.q2 sge=mr[0:64] signaled\nrun\n",
         "why not h1.q2", "the last send and a full completion queue", "h1.q2"},
        {CONNECTED SEND "modify_qp h1.qp state=RESET; run\n", "why not h1.qp",
         "the last send before RESET", "h1.qp RESET"},
    };

    (void)state;
    tell_all(rows, ARRAY_LEN(rows));
}

static void what_a_receive_lacks_is_said(void **state)
{
    static const struct row rows[] = {
        {RECEIVING, "why not h2.cq.wc[0]", "a receive and no send",
         "h2.qp h1.qp try: post_send h1.qp"},
        {CONNECTED, "why not h2.cq.wc[0]", "no receive is posted", "RNR post_recv h2.qp"},
        {RECEIVING SEND, "why not h2.cq.wc[0]", "a receive while its peer sends", "h1.qp"},
        {PAIR, "why not h2.cq.wc[0]", "a receive before RTR", "RTR"},
        {RECEIVING "modify_qp h2.qp state=ERR; run; poll_cq h2.cq\n", "why not h2.cq.wc[1]",
         "a receive in ERR", "ERR"},
        {PAIR WAITING("q1") WAITING("q2") WAITING("q3") WAITING("q4") WAITING("q5") WAITING("q6")
             WAITING("q7") WAITING("q8") WAITING("q9") WAITING("r1"),
         "why not h2.cq.wc[0]", "many receives", "h2.q8 INIT 2 more"},
        {"host h1 h2; link h1 h2; on h1,h2 { alloc_pd as pd; create_cq cqe=16 as cq\n"
         "create_qp pd type=ud send_cq=cq recv_cq=cq as qp; reg_mr pd len=4k access=lw as mr\n"
         "modify_qp qp state=INIT qkey=1 port=1 pkey_index=0; modify_qp qp state=RTR\n"
         "post_recv qp sge=mr[0:256] }\n",
         "why not h2.cq.wc[0]", "a receive for datagrams", "Q_Key"},
    };

    (void)state;
    tell_all(rows, ARRAY_LEN(rows));
}

static void what_a_packet_met_is_said(void **state)
{
    static const struct row rows[] = {
        {RECEIVING "drop next from=h1 as f1\n" SEND "until lost timeout=1ms\n", "why not #50.3",
         "a packet that was lost", "#50.3 lost f1"},
        {RECEIVING SEND "run\n", "why not #49.3", "a packet that was answered",
         "#49.3 #51.7 arrived"},
        {RECEIVING SEND "run\n", "why not #51.7", "a packet that is an answer", "#51.7"},
        {RECEIVING SEND "run\n", "why not #47.1", "an event that is no packet", "try: why #47.1"},
        {IN_TWO SEND_TWO "until rx timeout=1ms\n", "why not #49.3",
         "a packet without a request for an ACK", "#49.3 ACK"},
        {IN_TWO SEND_TWO "run\n", "why not #49.3", "a packet whose ACK is that of a later one",
         "psn=1 ACK arrived"},
        {IN_TWO "drop ack from=h2 as f1\n" SEND_TWO "until lost timeout=1ms\n", "why not #50.3",
         "a packet whose ACK was lost", "psn=1 ACK lost f1"},
        {IN_TWO "drop psn=1 from=h1 as f1\n" SEND_TWO "until rx timeout=1ms\n"
                "modify_qp h1.qp state=RESET; modify_qp h2.qp state=RESET\n"
                "connect h1.qp h2.qp timeout=4 mtu=256; post_recv h2.qp sge=mr[0:1k]\n" SEND_TWO
                "run\n",
         "why not #50.3", "a packet of an earlier connection", "#50.3 RC_SEND_FIRST psn=0"},
        {IN_TWO "drop psn=2 from=h2 as f1\n"
                "post_send h1.qp wr_id=1 op=rdma_read sge=mr[0:2k] remote=h2.mr[0]\nrun 2200ns\n",
         "why not #50.2", "a READ of which a response was lost", "psn=2 lost f1"},
    };

    (void)state;
    tell_all(rows, ARRAY_LEN(rows));
}

static void what_an_expression_lacks_is_said(void **state)
{
    static const struct row rows[] = {
        {PAIR, "why not h1.qp.state == RTS", "from RESET to RTS",
         "RESET RTS RESET -> INIT access, pkey_index, port INIT -> RTR dest_qpn RTR -> RTS try: "
         "modify_qp h1.qp state=INIT"},
        {CONNECTED "modify_qp h1.qp state=ERR\n", "why not h1.qp.state == RTS", "from ERR to RTS",
         "ERR RESET"},
        {CONNECTED, "why not h1.qp.state == SQD", "from RTS to SQD",
         "RTS -> SQD try: modify_qp h1.qp state=SQD"},
        {CONNECTED "modify_qp h1.qp state=ERR\n", "why not h1.qp.state == RTS",
         "from ERR to RTS by connect", "try: modify_qp h1.qp state=RESET, then connect"},
        {CONNECTED, "why not h1.qp.state == SQE", "SQE", "SQE"},
        {CONNECTED, "why not h1.qp.state == RTS", "a state that holds", ""},
        {CONNECTED, "why not h1.qp.retries > 0 and t > 5ms", "two conditions",
         "h1.qp.retries 0 t 5ms"},
        {CONNECTED, "why not h1.cq.wc[0].status == SUCCESS", "a condition on a completion", ""},
        {CONNECTED, "why not count(lost) == 1", "a count", "lost"},
        {CONNECTED, "on h1 { why not cq.wc[0] }", "a path within a host", "h1.cq"},
    };

    (void)state;
    tell_all(rows, ARRAY_LEN(rows));
}

static void what_an_event_or_a_fault_lacks_is_said(void **state)
{
    static const struct row rows[] = {
        {RECEIVING SEND "run\n", "why not tx(host==h1, psn==9)", "an event of other values",
         "2 tx host == h1 psn == 9 psn"},
        {RECEIVING SEND "run\n", "why not tx(host==h2)", "an event that happened", "1 try: why #"},
        {RECEIVING SEND, "why not timeout", "an event that is waited for", "timeout"},
        {CONNECTED, "why not cq_event(host==h1)", "an interrupt of a queue that is not armed",
         "h1.cq 0 try: req_notify_cq h1.cq"},
        {CONNECTED "req_notify_cq h1.cq solicited\n", "why not cq_event(host==h1)",
         "an interrupt for solicited completions", "h1.cq solicited"},
        {RECEIVING "drop psn=9 from=h1 as f1\n" SEND "run\n", "why not f1",
         "a fault that matched nothing", "f1 2 h1 psn=9"},
        {RECEIVING "drop from=h2 nth=2 as f1\n" SEND "run\n", "why not f1",
         "a fault for later frames", "1 2"},
        {RECEIVING "drop ack from=h2 as f1\n" SEND "run\n", "why not f1", "a fault that hit",
         "f1 1 f1"},
    };

    (void)state;
    tell_all(rows, ARRAY_LEN(rows));
}

static void nothing_named_is_what_is_waited_for(void **state)
{
    static const struct row rows[] = {
        {RECEIVING SEND, "why not", "nothing named, a send", "try: run"},
        {RECEIVING, "why not", "nothing named, a receive", "1"},
        {PAIR, "why not", "nothing named, nothing waits", "try: why not h1.cq.wc[0]"},
    };

    (void)state;
    tell_all(rows, ARRAY_LEN(rows));
}

static void what_is_forgotten_is_not_guessed(void **state)
{
    static const struct row rows[] = {
        {CONNECTED "record off\n" SEND "record on\n", "why not h1.cq.wc[0]",
         "a send that is not recorded", "recorded recorded"},
        {RECEIVING "drop ack from=h2 as f1\nrecord off\n" SEND "run 5us\nrecord on\n",
         "why not h1.cq.wc[0]", "an ACK that is not recorded", "psn=0 recorded"},
        {IN_TWO SEND_TWO "until rx timeout=1ms\nrecord off\nrun\nrecord on\n", "why not #49.3",
         "an answer that is not recorded", "recorded recording off"},
        {RECEIVING SEND "record off\nrun\nrecord on\n", "why not kick(host==h1)",
         "an event of which some are recorded", "recorded recorded"},
        {CONNECTED "record off\n" SEND "run 5us\nrecord on\n", "why not post_send",
         "an event of which none is recorded", "post_send recorded"},
        {RECEIVING SEND "run\nrecord off\npost_recv h2.qp sge=mr[0:64]\n" SEND "run\nrecord on\n",
         "why not cqe", "an event of which the last is not recorded", "4 recorded"},
        {RECEIVING SEND "run\nrecord off\npost_recv h2.qp sge=mr[0:64]\n" SEND
                        "run\nrecord on\npost_recv h2.qp sge=mr[0:64]\n",
         "why not h2.qp", "the last packet that is recorded", "recorded #49.3"},
        {CONNECTED SEND "run 5us\nrecord off\npost_recv h1.qp sge=mr[0:64]\nrecord on\n",
         "why not h1.qp", "an RNR NAK that is not the last", "RNR 1"},
        {RECEIVING "drop from=h1 nth=1 count=2 as f1\n" SEND
                   "until lost timeout=1ms\nrecord off\nrun\nrecord on\n",
         "why not f1", "hits of a fault that are not recorded", "f1 2 recorded"},
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
        {"why WR_FLUSH_ERR", "the status of a completion", "explain WR_FLUSH_ERR"},
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
        cmocka_unit_test(the_fate_of_a_datagram_is_said),
        cmocka_unit_test(a_datagram_for_others_is_none),
        cmocka_unit_test(older_datagrams_are_counted),
        cmocka_unit_test(a_receive_that_is_missing_for_ever_is_said),
        cmocka_unit_test(completions_that_nobody_sees_are_said),
        cmocka_unit_test(a_lost_interrupt_is_named),
        cmocka_unit_test(an_event_that_waits_in_the_device_is_named),
        cmocka_unit_test(a_program_without_an_event_is_told_how_to_go_on),
        cmocka_unit_test(the_key_of_a_receive_is_an_lkey),
        cmocka_unit_test(a_device_that_needs_a_reset_is_said),
        cmocka_unit_test(how_the_last_send_ended_is_said),
        cmocka_unit_test(what_a_receive_lacks_is_said),
        cmocka_unit_test(what_a_packet_met_is_said),
        cmocka_unit_test(what_an_expression_lacks_is_said),
        cmocka_unit_test(what_an_event_or_a_fault_lacks_is_said),
        cmocka_unit_test(nothing_named_is_what_is_waited_for),
        cmocka_unit_test(what_is_forgotten_is_not_guessed),
        cmocka_unit_test(what_nobody_knows_is_refused),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
