/* SPDX-License-Identifier: MIT */
/* Tests of the texts about READs, WRITEs and atomics: `why`, what they wait for, the queue pair,
 * the ladder.
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
    (void)state;
    assert_tells("a_lost_response_is_told_by_the_next_one",
                 CONNECT "drop psn=102 from=h2 as f1\n" READ "run\n", "why h1.cq.wc[0]",
                 "#65.1 RC_RDMA_READ_RESPONSE_LAST psn=104 h2.qp #62.1 #60.1 psn=102 2nd #58.4 "
                 "#58.1 RC_RDMA_READ_RESPONSE_MIDDLE psn=103 h2.qp #53.1 psn=102 #52.1 #55.1 f1");
    assert_tells("a_lost_response_is_told_by_the_next_one, dropped",
                 CONNECT "drop psn=102 from=h2 as f1\n" READ "run\n", "why #59.2",
                 "AFTER_IMPLIED_NAK COMP_IMPLIED_NAK psn=102 #52.1 #55.1 f1 COMP_IMPLIED_NAK");
}

static void a_timeout_in_a_read_names_the_response_that_is_missing(void **state)
{
    (void)state;
    assert_tells("a_timeout_in_a_read_names_the_response_that_is_missing",
                 CONNECT "drop psn=104 from=h2 as f1\n" READ "run\n", "why",
                 "#59.3 1st #48.2 #50.1 psn=104 #54.1 #55.1 f1");
}

static void an_atomic_is_told_with_what_it_found_and_left(void **state)
{
    static const char add[] =
        CONNECT "duplicate next from=h1\n"
                "post_send h1.qp op=atomic_fetch_and_add add=5 sge=mr[0:8] remote=h2.mr[0] "
                "signaled\nrun\n";

    (void)state;
    assert_tells("an_atomic_is_told_with_what_it_found_and_left", add, "why h1.cq.wc[0]",
                 "RC_ATOMIC_ACKNOWLEDGE psn=100 h2.qp #50.3 h2.qp RC_FETCH_ADD");
    assert_tells("an_atomic_is_told_with_what_it_found_and_left, drawn", add, "export ladder -",
                 "found 0, left 5 duplicate");
}

static void a_key_that_was_lost_while_a_read_went_on_is_shown(void **state)
{
    (void)state;
    assert_tells("a_key_that_was_lost_while_a_read_went_on_is_shown",
                 CONNECT "set link h1-h2 rate=1g\n" READ
                         "until count(tx, host==h2) == 2\ndereg_mr h2.mr\nrun\n",
                 "why h1.cq.wc[0]",
                 "NAK_REMOTE_ACCESS psn=102 h2.qp #56.2 #56.1 h2.qp 1024 MR_KEY");
}

/* The atomic was executed before its own side had no place for the result. */
static void what_fails_when_it_comes_back_is_told_so(void **state)
{
    (void)state;
    assert_tells(
        "what_fails_when_it_comes_back_is_told_so",
        CONNECT "reg_mr h1.pd len=4k access=rr as ro\n"
                "post_send h1.qp wr_id=1 op=atomic_fetch_and_add add=5 sge=ro[0:8] "
                "remote=h2.mr[0]\nrun\n",
        "why h1.cq.wc[0]",
        "h1.cq wr_id=1 LOC_PROT_ERR FETCH_ADD MR_ACCESS RC_ATOMIC_ACKNOWLEDGE psn=100 h2.qp");
}

static void giving_up_a_read_lists_what_asked_for_all_of_it_too(void **state)
{
    (void)state;
    assert_tells("giving_up_a_read_lists_what_asked_for_all_of_it_too",
                 CONNECTED "connect h1.qp h2.qp mtu=1024 sq_psn=100 timeout=4 retry_cnt=2\n"
                           "drop from=h2 nth=2 count=0\n" READ "run\n",
                 "why h1.cq.wc[0]", "RETRY_LIMIT #48.2 psn=100 psn=101 psn=101");
}

static void a_read_is_drawn_with_its_length(void **state)
{
    (void)state;
    assert_tells("a_read_is_drawn_with_its_length",
                 CONNECT "drop psn=102 from=h2 as f1\n" READ "run\n", "export ladder -",
                 "RDMA_READ_REQUEST psn=100 5000 RDMA_READ_REQUEST psn=102 2nd 2952");
}

static void a_fence_is_drawn_where_it_is_posted(void **state)
{
    (void)state;
    assert_tells("a_fence_is_drawn_where_it_is_posted",
                 CONNECT READ
                 "post_send h1.qp wr_id=2 op=rdma_write sge=mr[0:8] remote=h2.mr[0]\n"
                 "post_send h1.qp wr_id=3 op=rdma_write sge=mr[0:8] remote=h2.mr[0] fence\nrun\n",
                 "export ladder -",
                 "RDMA_READ wr_id=1, 5000 RDMA_WRITE wr_id=2, 8 RDMA_WRITE wr_id=3, 8 fence");
    assert_tells("a_fence_is_drawn_where_it_is_posted, told",
                 CONNECT READ
                 "post_send h1.qp wr_id=3 op=rdma_write sge=mr[0:8] remote=h2.mr[0] fence "
                 "signaled\nrun\n",
                 "why h1.cq.wc[1]", "#47.1 fence");
}

/* Fails unless a stopped lab says who waits for what. */
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
    static const char half[] = CONNECT READ "until count(tx, host==h2) == 2\n";

    (void)state;
    assert_tells("a_queue_pair_shows_what_is_under_way, requester", half, "show qp h1.qp",
                 "max_rd_atomic 2, 1, max_dest_rd_atomic 2, 0");
    assert_tells(
        "a_queue_pair_shows_what_is_under_way, responder", half, "show qp h2.qp",
        "max_rd_atomic 2, 0, max_dest_rd_atomic 2, 1 REMOTE_WRITE,REMOTE_READ,REMOTE_ATOMIC");
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
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
