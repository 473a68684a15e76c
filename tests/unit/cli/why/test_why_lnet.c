/* SPDX-License-Identifier: MIT */
/* Tests of `why` and `why not` about nodes of LNet, and of what `why` says of trouble that is over:
 * it is not what is wrong now.
 */
#include "cli/lab_session.h"

/* Two hosts with a node of LNet, started with @first and @second. */
#define NODES(first_, second_)                                                                     \
    "host h1 h2; link h1 h2 latency=1us rate=100g\n"                                               \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=1m access=lw as mr }\n"                              \
    "lnet_start h1 " first_ "\nlnet_start h2 " second_ "\nrun\n"                                   \
    "lnet_attach h1 portal=4 sge=mr[0:64k]; lnet_attach h2 portal=4 sge=mr[0:64k]\n"
#define PUT   "lnet_put h1 h2 portal=4 sge=mr[0:64] ack\n"
#define LARGE "lnet_put h1 h2 portal=4 sge=mr[0:8k]\n"

/* What @asked prints behind @lines: each of @words in order, and none of @without. */
struct row {
    const char *lines, *asked, *words, *without;
};

static void assert_told(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct lab l;
        char *text;

        lab_open(&l, false);
        lab_run(&l, rows[i].lines);
        text = lab_answer(&l, rows[i].asked);
        assert_in_order(text, rows[i].words);
        if (rows[i].without && strstr(text, rows[i].without))
            fail_msg("%s: has \"%s\":\n%s", rows[i].asked, rows[i].without, text);
        free(text);
        lab_close(&l);
    }
}

static void a_connection_that_was_asked_for_again_is_not_what_is_wrong(void **state)
{
    static const struct row rows[] = {
        {NODES("peer_credits=16", "") PUT "run\n", "why",
         "nothing has failed for good overcome in # CLOSING, errno 71 MSG_QUEUE_SIZE how many the "
         "node asks again overcome: h1 asked again in # established in # h2 rejects",
         "and so on"},
        {NODES("peer_credits=16", "max_frags=64") PUT "run\n", "why",
         "nothing has failed for good RDMA_FRAGS overcome: h1 rejected RDMA_FRAGS h2 rejects an "
         "earlier attempt: h1 rejected MSG_QUEUE_SIZE INIT",
         "ctrl_request"},
        {NODES("", "version=17") PUT "run\n", "why",
         "nothing has failed for good errno 71 FATAL version 0x11 in the reject: the peer speaks "
         "no "
         "later asks again overcome: h1 asked again FATAL, version 0x11, errno 71 FATAL, version "
         "0x11",
         "and so on"},
        {NODES("", "version=17") PUT "until lnet_reject(host==h2)\n", "why",
         "h2 rejects FATAL, version 0x11 version 0x11 in the reject: a node that has asked in a "
         "later version asks again",
         "overcome"},
        /* Nobody asks again: */
        {NODES("", "") "lnet_stop h2; run\n" PUT "run\n", "why", "LNet SEND errno 113",
         "nothing has failed"},
        {NODES("rules=2007", "peer_credits=4") PUT "run\n", "why", "errno", "nothing has failed"},
    };

    (void)state;
    assert_told(rows, ARRAY_LEN(rows));
}

#define PAIR                                                                                       \
    "host h1 h2; link h1 h2 latency=1us\n"                                                         \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=16k access=lw,rr,rw as mr; create_cq cqe=16 as cq\n" \
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"                                               \
    "connect h1.qp h2.qp timeout=4 retry_cnt=1 quiet\npost_recv h2.qp sge=mr[0:1k]\n"
#define READ "post_send h1.qp op=rdma_read sge=mr[0:64] remote=h2.mr[0] signaled\n"

/* The same for packets. */
static void a_packet_that_was_sent_again_is_not_what_is_wrong(void **state)
{
    static const struct row rows[] = {
        {PAIR "drop next from=h1 as f1\npost_send h1.qp sge=mr[0:64] signaled\nrun\n", "why",
         "nothing has failed for good: this was overcome in # timeout", NULL},
        {PAIR "drop next from=h2 as f1\npost_send h1.qp sge=mr[0:64] signaled\nrun\n", "why",
         "nothing has failed for good: this was overcome in # timeout", NULL},
        {PAIR "drop next from=h2 as f1\n" READ "run\n", "why",
         "nothing has failed for good: this was overcome in # timeout", NULL},
        {PAIR "drop next from=h1 as f1\npost_send h1.qp sge=mr[0:64] signaled\nrun 50us\n", "why",
         "f1", "nothing has failed"},
        {PAIR "drop from=h1 count=0 as f1\npost_send h1.qp sge=mr[0:64] signaled\nrun\n", "why",
         "RETRY_EXC_ERR", "nothing has failed"},
    };

    (void)state;
    assert_told(rows, ARRAY_LEN(rows));
}

#define HOSTS                                                                                      \
    "host h1 h2; link h1 h2\n"                                                                     \
    "on h1,h2 { alloc_pd as pd; create_cq as cq; rdma_create_event_channel as ch }\n"
#define LISTENER                                                                                   \
    "rdma_create_id h2.ch as listener; rdma_bind_addr h2.listener port=7471\n"                     \
    "rdma_listen h2.listener\n"
#define CLIENT(name_)                                                                              \
    "rdma_create_id h1.ch as " name_ "; rdma_resolve_addr h1." name_ " dst=h2 port=7471\n"         \
    "rdma_get_cm_event h1.ch wait; rdma_ack_cm_event h1.ch; rdma_resolve_route h1." name_ "\n"     \
    "rdma_get_cm_event h1.ch wait; rdma_ack_cm_event h1.ch\n"                                      \
    "rdma_create_qp h1." name_ " pd=pd send_cq=cq recv_cq=cq as q_" name_ "\n"                     \
    "rdma_connect h1." name_ "; run 1ms\n"
#define ACCEPTED                                                                                   \
    "rdma_get_cm_event h2.ch as id; rdma_ack_cm_event h2.ch\n"                                     \
    "rdma_create_qp h2.id pd=pd send_cq=cq recv_cq=cq as qp\nrdma_accept h2.id; run 1ms\n"
#define SEEN "rdma_get_cm_event h1.ch; rdma_ack_cm_event h1.ch; run 1ms\n"

/* The same for connections of programs.  Port 7472 is another one. */
static void a_program_that_was_connected_later_is_not_what_is_wrong(void **state)
{
    static const struct row rows[] = {
        {HOSTS CLIENT("id"), "why", "h1.id REJECTED", "nothing has failed"},
        {HOSTS CLIENT("id") SEEN LISTENER CLIENT("again"), "why", "h1.id REJECTED",
         "nothing has failed"},
        {HOSTS CLIENT("id") SEEN LISTENER CLIENT("again") ACCEPTED SEEN, "why",
         "nothing has failed for good: this was overcome in # h1.id REJECTED overcome: a "
         "connection was established in #",
         NULL},
    };

    (void)state;
    assert_told(rows, ARRAY_LEN(rows));
}

static void a_long_row_of_control_requests_is_counted(void **state)
{
    static const struct row rows[] = {
        {NODES("", "") PUT "run\n", "why h1.lnet.peer[0]",
         "ESTABLISHED CONNACK ctrl_request: h1 MODIFY_QP because of 2 control requests before, the "
         "first # REP to h2 connection INIT CONNREQ REQ to h1 connection INIT",
         "and so on"},
    };

    (void)state;
    assert_told(rows, ARRAY_LEN(rows));
}

/* h2 asks for a region and arms a queue while its connection manager arms another one.  One kick
 * and one interrupt are for all of them.
 */
static void an_answer_is_because_of_its_request(void **state)
{
    static const struct row rows[] = {
        {NODES("", "") LARGE "run\n", "why h2.lnet.event[0]",
         "LNet PUT lnet_sent: h2 PUT_ACK ctrl_request: h2 REG_USER_MR lnet_received: h2 PUT_REQ "
         "lnet_sent: h1 PUT_REQ",
         NULL},
    };

    (void)state;
    assert_told(rows, ARRAY_LEN(rows));
}

static void why_answers_for_what_a_node_has(void **state)
{
    static const struct row rows[] = {
        {NODES("", "") PUT "run\n", "why h1.lnet.event[0]", "lnet_event h1 LNet SEND ACK IMMEDIATE",
         NULL},
        {NODES("", "") PUT "run\n", "why h1.lnet.event[1]", "lnet_event h1 LNet ACK lnet_received",
         NULL},
        {NODES("", "") PUT "run\n", "why h2.lnet.event[0]", "lnet_event h2 LNet PUT portal 4",
         NULL},
        {NODES("", "") "lnet_stop h2; run\n" PUT "run\n", "why h1.lnet",
         "lnet_state h1 DISCONNECTED", NULL},
    };

    (void)state;
    assert_told(rows, ARRAY_LEN(rows));
    assert_line_refused(NODES("", ""), "why h1.lnet.event[0]", NULL);
    assert_line_refused(NODES("", "") PUT, "why h1.lnet.memory[0]", "names no event");
}

/* Events in the same nanosecond with the same values are told apart by their order. */
static void equal_events_are_told_apart(void **state)
{
    struct lab l;
    char *first, *second;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, NODES("", "") "repeat 3 { " PUT "}\nrun\n");
    first = lab_answer(&l, "why h1.lnet.event[0]");
    second = lab_answer(&l, "why h1.lnet.event[1]");
    assert_true(strncmp(first, second, strcspn(first, " ")) != 0);
    free(first);
    free(second);
    lab_close(&l);
}

static void why_not_knows_the_credits_of_lnet(void **state)
{
    static const struct row rows[] = {
        {NODES("", "") "repeat 12 { " PUT "}\nuntil lnet_stall\n", "why not",
         "h1.lnet.peer[0]: 4 messages to 10.0.0.2@o2ib wait at the connection # CREDITS: no credit "
         "is left h2 has to return them Of 8 credits 0 are left h2.lnet.peer[0].outstanding try:",
         "poll_cq"},
        {NODES("", "") "repeat 12 { " PUT "}\nuntil lnet_stall\n", "why not h1",
         "h1.lnet.peer[0]: 4 messages CREDITS h1.lnet_qp5", "poll_cq"},
        {NODES("", "") "repeat 12 { " PUT "}\nuntil lnet_stall\n", "why not h1.lnet.peer[0]",
         "h1.lnet.peer[0]: 4 messages CREDITS", "h1.lnet_qp5"},
        {NODES("", "") "repeat 12 { " PUT "}\n", "why not h1.lnet",
         "8 messages to 10.0.0.2@o2ib wait for a connection, which h1 has asked for 4 messages "
         "wait in LNet",
         NULL},
        {NODES("version=17", "version=17") "repeat 24 { " PUT
                                           "lnet_put h2 h1 portal=4 sge=mr[0:64] }\n"
                                           "until lnet_stall(host==h1, stall==LAST_CREDIT)\n",
         "why not h1.lnet", "1 message LAST_CREDIT NOOP h2 has to return 1 is left", NULL},
        {NODES("concurrent_sends=1", "concurrent_sends=8") "repeat 8 { " PUT
                                                           "}\nuntil lnet_stall\n",
         "why not h1.lnet",
         "4 messages SENDS h1 has to complete a send of h1.lnet_qp5 ACK of the "
         "adapter of h2",
         NULL},
        {NODES("peer_credits=16", "") "repeat 16 { " LARGE "}\nuntil lnet_stall(stall==RESERVED)\n",
         "why not h1.lnet", "RESERVED h2 has to answer an earlier request under way", NULL},
        {NODES("", "") PUT "run\n", "why not h1.lnet", "No message of h1.lnet waits", NULL},
    };

    (void)state;
    assert_told(rows, ARRAY_LEN(rows));
}

#define DEAF                                                                                       \
    NODES("", "")                                                                                  \
    PUT "run\nlose what=interrupt queue=h2.lnet_cq3 count=0 as deaf\n" LARGE "run 1s\n"

/* The kernel polls its queues itself: nobody is told to do it. */
static void queues_of_the_kernel_are_not_offered(void **state)
{
    static const struct row rows[] = {
        {DEAF, "why not", "1 message is sent and not over h2.lnet_cq3 deaf lost that", "poll_cq"},
        {DEAF, "why not h2.lnet_cq3", "h2.lnet_cq3", "try: poll_cq"},
        {DEAF, "why not h2.lnet_qp4", "h2.lnet_qp4", "post_recv"},
        {DEAF, "show h2.lnet_cq3.of_kernel", "yes", NULL},
        {PAIR, "show h1.cq json", "cqn", "of_kernel"},
    };

    (void)state;
    assert_told(rows, ARRAY_LEN(rows));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_that_was_asked_for_again_is_not_what_is_wrong),
        cmocka_unit_test(a_packet_that_was_sent_again_is_not_what_is_wrong),
        cmocka_unit_test(a_program_that_was_connected_later_is_not_what_is_wrong),
        cmocka_unit_test(a_long_row_of_control_requests_is_counted),
        cmocka_unit_test(an_answer_is_because_of_its_request),
        cmocka_unit_test(why_answers_for_what_a_node_has),
        cmocka_unit_test(equal_events_are_told_apart),
        cmocka_unit_test(why_not_knows_the_credits_of_lnet),
        cmocka_unit_test(queues_of_the_kernel_are_not_offered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
