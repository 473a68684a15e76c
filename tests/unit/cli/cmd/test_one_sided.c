/* SPDX-License-Identifier: MIT */
/* What is told of READs, WRITEs and atomics: why, what is waited for, the queue pair, the ladder.
 */
#include "testing.h"

#include <string.h>

#include "cli/lab_session.h"

#define CONNECTED                                                                                  \
    "host h1 h2; link h1 h2 latency=1us rate=100g\n"                                               \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=64k access=lw,rr,rw,ra as mr; create_cq as cq\n"     \
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"
#define CONNECT CONNECTED "connect h1.qp h2.qp mtu=1024 sq_psn=100 timeout=4 rd_atomic=2\n"
#define READ    "post_send h1.qp wr_id=1 op=rdma_read sge=mr[0:5000] remote=h2.mr[0] signaled\n"

static void a_lost_response_is_told_by_the_next_one(void **state)
{
    static const char *const says[] = {
        "because #65.1 RC_RDMA_READ_RESPONSE_LAST psn=104 arrived, sent by h2.qp in #62.1\n",
        "because #60.1 psn=102 arrived, the 2nd transmission #58.4\n",
        "because #58.1 RC_RDMA_READ_RESPONSE_MIDDLE psn=103 arrived, sent by h2.qp in #53.1\n"
        "          the response psn=102 #52.1 was lost in #55.1, by f1; an implied NAK, explain\n",
        NULL};
    static const char *const dropped[] = {
        "AFTER_IMPLIED_NAK: behind a response that is missing and was asked for again\n"
        "  COMP_IMPLIED_NAK: ",
        "          the response psn=102 #52.1 was lost in #55.1, by f1\n"
        "  more: explain COMP_IMPLIED_NAK\n",
        NULL};

    (void)state;
    assert_tells(CONNECT "drop psn=102 from=h2 as f1\n" READ "run\n", "why h1.cq.wc[0]", says);
    assert_tells(CONNECT "drop psn=102 from=h2 as f1\n" READ "run\n", "why #59.2", dropped);
}

static void a_timeout_in_a_read_names_the_response_that_is_missing(void **state)
{
    static const char *const says[] = {
        "  that is, the ack timeout armed in #59.3 ran out\n"
        "          the 1st transmission #48.2 arrived in #50.1, as expected; the response psn=104 "
        "#54.1 was\n"
        "          lost in #55.1, by f1\n",
        NULL};

    (void)state;
    assert_tells(CONNECT "drop psn=104 from=h2 as f1\n" READ "run\n", "why", says);
}

static void an_atomic_is_told_with_what_it_found_and_left(void **state)
{
    static const char *const says[] = {
        "RC_ATOMIC_ACKNOWLEDGE psn=100 arrived, sent by h2.qp",
        "          #50.3   atomic     h2.qp RC_FETCH_ADD at 0x7f0000000000: found 0, left 5\n",
        NULL};
    static const char *const drawn[] = {"found 0, left 5", "duplicate, answered again \xe2\x80\xa2",
                                        NULL};
    static const char add[] =
        CONNECT "duplicate next from=h1\n"
                "post_send h1.qp op=atomic_fetch_and_add add=5 sge=mr[0:8] remote=h2.mr[0] "
                "signaled\nrun\n";

    (void)state;
    assert_tells(add, "why h1.cq.wc[0]", says);
    assert_tells(add, "export ladder -", drawn);
}

static void a_key_that_was_lost_while_a_read_went_on_is_shown(void **state)
{
    static const char *const says[] = {
        "NAK_REMOTE_ACCESS psn=102 arrived, sent by h2.qp in #56.2\n"
        "          #56.1   key        h2.qp key 0x1c5, 1024 bytes at 0x7f0000000800: refused by "
        "MR_KEY\n",
        NULL};

    (void)state;
    assert_tells(CONNECT "set link h1-h2 rate=1g\n" READ
                         "until count(tx, host==h2) == 2\ndereg_mr h2.mr\nrun\n",
                 "why h1.cq.wc[0]", says);
}

/* The atomic was carried out before its own side had no place for what it found. */
static void what_fails_when_it_comes_back_is_told_so(void **state)
{
    static const char *const says[] = {"h1.cq wr_id=1 LOC_PROT_ERR FETCH_ADD, by MR_ACCESS\n",
                                       "RC_ATOMIC_ACKNOWLEDGE psn=100 arrived, sent by h2.qp",
                                       "found 0, left 5\n", "the device fetched the WQE", NULL};

    (void)state;
    assert_tells(CONNECT "reg_mr h1.pd len=4k access=rr as ro\n"
                         "post_send h1.qp wr_id=1 op=atomic_fetch_and_add add=5 sge=ro[0:8] "
                         "remote=h2.mr[0]\nrun\n",
                 "why h1.cq.wc[0]", says);
}

static void giving_up_a_read_lists_what_asked_for_all_of_it_too(void **state)
{
    static const char *const says[] = {
        "RETRY_LIMIT: a request is sent at most retry_cnt + 1 times without progress\n"
        "    #48.2   psn=100, transmission 1, arrived in",
        " psn=101, transmission 2, arrived in", " psn=101, transmission 3, arrived in", NULL};

    (void)state;
    assert_tells(CONNECTED "connect h1.qp h2.qp mtu=1024 sq_psn=100 timeout=4 retry_cnt=2\n"
                           "drop from=h2 nth=2 count=0\n" READ "run\n",
                 "why h1.cq.wc[0]", says);
}

static void a_read_is_drawn_with_its_length(void **state)
{
    static const char *const says[] = {"RDMA_READ_REQUEST psn=100 ackreq, 5000 bytes",
                                       "RDMA_READ_REQUEST psn=102 ackreq 2nd, 2952 bytes", NULL};

    (void)state;
    assert_tells(CONNECT "drop psn=102 from=h2 as f1\n" READ "run\n", "export ladder -", says);
}

static void a_fence_is_drawn_where_it_is_posted(void **state)
{
    static const char *const says[] = {"post RDMA_READ wr_id=1, 5000 bytes, kick",
                                       "post RDMA_WRITE wr_id=2, 8 bytes ",
                                       "post RDMA_WRITE wr_id=3, 8 bytes, fence", NULL};
    static const char *const told[] = {"posted in #47.1 with a fence; ", NULL};

    (void)state;
    assert_tells(CONNECT READ
                 "post_send h1.qp wr_id=2 op=rdma_write sge=mr[0:8] remote=h2.mr[0]\n"
                 "post_send h1.qp wr_id=3 op=rdma_write sge=mr[0:8] remote=h2.mr[0] fence\nrun\n",
                 "export ladder -", says);
    assert_tells(CONNECT READ
                 "post_send h1.qp wr_id=3 op=rdma_write sge=mr[0:8] remote=h2.mr[0] fence "
                 "signaled\nrun\n",
                 "why h1.cq.wc[1]", told);
}

/* A lab that stands still says who waits for what. */
static void assert_waits(const char *lines, const char *const *says)
{
    struct lab l;

    lab_open(&l, false);
    lab_run(&l, CONNECTED "connect h1.qp h2.qp mtu=1024 sq_psn=100 timeout=0 rd_atomic=1\n"
                          "drop from=h2 nth=2 count=0\n");
    lab_run(&l, lines);
    assert_false(lab_try(&l, "until h1.cq.count > 0 timeout=1ms"));
    for (; *says; says++) {
        if (!strstr(l.s->diag.notes, *says))
            fail_msg("no \"%s\" in\n%s", *says, l.s->diag.notes);
    }
    lab_close(&l);
}

static void what_is_waited_for_is_a_response(void **state)
{
    static const char *const read[] = {
        "h1.qp: RDMA_READ wr_id=1 waits for the response psn=101 from h2.qp",
        "h1.qp: RDMA_READ wr_id=2 waits behind 1 READ or atomic: max_rd_atomic is 1", NULL};
    static const char *const fence[] = {
        "h1.qp: RDMA_READ wr_id=1 waits for the response psn=101 from h2.qp",
        "h1.qp: RDMA_WRITE wr_id=2 waits behind 1 READ or atomic: it has a fence", NULL};
    static const char *const write[] = {
        "h1.qp: RDMA_WRITE wr_id=2 waits for an ACK of psn=101 from h2.qp", NULL};

    (void)state;
    assert_waits(READ "post_send h1.qp wr_id=2 op=rdma_read sge=mr[0:8] remote=h2.mr[0]\n", read);
    assert_waits(READ "post_send h1.qp wr_id=2 op=rdma_write sge=mr[0:8] remote=h2.mr[0] fence\n",
                 fence);
    assert_waits("post_send h1.qp wr_id=1 op=rdma_write sge=mr[0:8] remote=h2.mr[0]\nrun\n"
                 "post_send h1.qp wr_id=2 op=rdma_write sge=mr[0:8] remote=h2.mr[0]\n",
                 write);
}

static void a_queue_pair_shows_what_is_under_way(void **state)
{
    static const char *const requester[] = {"max_rd_atomic 2, under way 1, max_dest_rd_atomic 2, "
                                            "to be answered 0\n",
                                            NULL};
    static const char *const responder[] = {
        "max_rd_atomic 2, under way 0, max_dest_rd_atomic 2, to be answered 1\n",
        "the peer may REMOTE_WRITE,REMOTE_READ,REMOTE_ATOMIC\n", NULL};
    static const char half[] = CONNECT READ "until count(tx, host==h2) == 2\n";

    (void)state;
    assert_tells(half, "show qp h1.qp", requester);
    assert_tells(half, "show qp h2.qp", responder);
}

static void a_responder_counts_what_it_has_to_answer_and_what_it_keeps(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, CONNECT READ "until count(tx, host==h2) == 2\n"
                             "expect h2.qp.pending_rd_atomic == 1 and h2.qp.kept_rd_atomic == 0\n"
                             "run\n"
                             "expect h2.qp.pending_rd_atomic == 0 and h2.qp.kept_rd_atomic == 1\n");
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_response_is_told_by_the_next_one),
        cmocka_unit_test(a_timeout_in_a_read_names_the_response_that_is_missing),
        cmocka_unit_test(an_atomic_is_told_with_what_it_found_and_left),
        cmocka_unit_test(a_key_that_was_lost_while_a_read_went_on_is_shown),
        cmocka_unit_test(what_fails_when_it_comes_back_is_told_so),
        cmocka_unit_test(giving_up_a_read_lists_what_asked_for_all_of_it_too),
        cmocka_unit_test(a_read_is_drawn_with_its_length),
        cmocka_unit_test(a_fence_is_drawn_where_it_is_posted),
        cmocka_unit_test(what_is_waited_for_is_a_response),
        cmocka_unit_test(a_queue_pair_shows_what_is_under_way),
        cmocka_unit_test(a_responder_counts_what_it_has_to_answer_and_what_it_keeps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
