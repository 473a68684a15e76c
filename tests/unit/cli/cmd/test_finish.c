/* SPDX-License-Identifier: MIT */
/* Tests of `finish`: a work request is finished when its descriptors are used, and what cannot be
 * known is said.
 */
#include "cli/lab_session.h"
#include "rdmalab/trace.h"

#define PAIR                                                                                       \
    "host h1 h2; link h1 h2\n"                                                                     \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw,rw as mr; create_cq as cq\n"            \
    "  create_qp pd send_cq=cq recv_cq=cq as qp; create_srq pd as srq }\n"                         \
    "connect h1.qp h2.qp timeout=4\n"

static void one_request_is_waited_for(void **state)
{
    static const struct {
        const char *lines, *asked, *says;
    } rows[] = {
        {PAIR "post_recv h2.qp; post_send h1.qp wr_id=1", "finish h1.qp",
         ", without a completion\n"},
        {PAIR "post_recv h2.qp wr_id=7; post_send h1.qp wr_id=1 signaled", "finish h1.qp wr_id=1",
         ": SUCCESS\n"},
        {PAIR "post_recv h2.qp wr_id=7; post_send h1.qp wr_id=1 signaled; run",
         "finish h2.qp.rq wr_id=7", "h2.qp.rq wr_id=7 had completed before, in #"},
        /* With a repeated number the last request is meant. */
        {PAIR "post_recv h2.qp; post_recv h2.qp; post_send h1.qp signaled; run; post_send h1.qp",
         "finish h1.qp wr_id=0", "without a completion\n"},
        /* Without a queue the last request of all is meant. */
        {PAIR "post_recv h2.qp wr_id=7; post_send h1.qp wr_id=1 signaled", "finish",
         "h1.qp.sq wr_id=1 completed in #"},
        {PAIR "post_send h1.qp wr_id=1; post_recv h2.qp wr_id=7", "finish",
         "h2.qp.rq wr_id=7 completed in #"},
        {PAIR "post_recv h2.qp wr_id=7; modify_qp h2.qp state=ERR", "finish h2.qp",
         ": WR_FLUSH_ERR\n"},
        {PAIR "post_send h1.qp wr_id=5 nokick; modify_qp h1.qp state=RESET", "finish h1.qp",
         "h1.qp wr_id=5 had completed before"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct lab l;
        size_t before;

        lab_open(&l, true);
        lab_run(&l, rows[i].lines);
        fflush(l.f);
        before = l.n;
        lab_run(&l, rows[i].asked);
        fflush(l.f);
        if (!strstr(l.out + before, rows[i].says))
            fail_msg("%s: not \"%s\" but \"%s\"", rows[i].asked, rows[i].says, l.out + before);
        lab_close(&l);
    }
}

static void what_is_no_answer_is_an_error(void **state)
{
    static const struct {
        const char *lines, *asked, *says;
    } rows[] = {
        {PAIR, "finish h1.qp", "no request was posted to h1.qp"},
        {PAIR, "finish", "no request was posted"},
        {PAIR "post_recv h1.qp wr_id=3", "finish h1.qp wr_id=4", "no request with wr_id=4"},
        {PAIR, "finish h1.mr", "h1.mr has no work requests"},
        {PAIR, "finish h1.nothing", "nothing is called \"h1.nothing\""},
        {PAIR "post_recv h1.qp wr_id=3", "finish h1.qp",
         "h1.qp wr_id=3 is not complete, and nothing is left to run"},
        {PAIR "post_srq_recv h1.srq wr_id=3", "finish h1.srq",
         "h1.srq wr_id=3 is not complete, and nothing is left to run"},
        {PAIR "post_send h1.qp wr_id=1", "finish h1.qp timeout=1us",
         "h1.qp wr_id=1 is not complete, and the time is over"},
        {PAIR "post_recv h2.qp; post_send h1.qp wr_id=1; record off", "finish h1.qp",
         "whether h1.qp wr_id=1 is complete is not known"},
        {PAIR "post_recv h2.qp; post_send h1.qp wr_id=1; record off; run; record on",
         "finish h1.qp wr_id=1", "whether h1.qp wr_id=1 is complete is not known"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct lab l;

        lab_open(&l, true);
        lab_run(&l, rows[i].lines);
        assert_false(lab_try(&l, rows[i].asked));
        if (!strstr(l.s->diag.message, rows[i].says))
            fail_msg("%s: not \"%s\" but \"%s\"", rows[i].asked, rows[i].says, l.s->diag.message);
        lab_close(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_request_is_waited_for),
        cmocka_unit_test(what_is_no_answer_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
