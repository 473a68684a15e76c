/* SPDX-License-Identifier: MIT */
/* Tests of `show life`: the steps of a work request, and those that are missing. */
#include "looking.h"

static void a_life_is_told_with_what_is_missing(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, CONNECTED "post_recv h2.qp wr_id=7 sge=mr[0:1k]; drop next from=h1 as f1\n"
                          "post_send h1.qp wr_id=1 sge=mr[0:64] signaled; step packet");
    assert_page(&l, "the life of a send under way", "show life h1.qp wr_id=1",
                "post # answer - interrupt - req_notify");
    lab_run(&l, "run");
    assert_page(&l, "the life of a send that is complete", "show life h1.qp wr_id=1",
                "later by sent again # attempt 2 answer # completion # poll - poll_cq");
    assert_page(&l, "the life of a send that is complete", "show life h1.cq.wc[0]",
                "later by sent again # attempt 2 answer # completion # poll - poll_cq");
    assert_page(&l, "the life of a receive", "show life h2.qp.rq",
                "RECV wr_id=7 first packet # completion #");
    assert_page(&l, "the life of a receive", "show life h2.cq.wc[0]",
                "RECV wr_id=7 first packet # completion #");
    lab_run(&l, "poll_cq h1.cq");
    assert_page(&l, "the life of a send that was polled", "show life h1.qp", "interrupt - poll #");
    lab_run(&l, "post_recv h2.qp wr_id=8 sge=mr[0:1k]; req_notify_cq h1.cq\n"
                "post_send h1.qp wr_id=1 sge=mr[0:64] signaled; run; poll_cq h1.cq");
    assert_page(&l, "the life of a send with an interrupt", "show life h1.qp wr_id=1",
                "interrupt #"); /* the last one of that number */
    assert_page(&l, "the life of a send that was polled", "show life h1.cq.wc[0]",
                "interrupt - poll #"); /* still the first one */
    assert_false(lab_try(&l, "show life h1.qp wr_id=9"));
    assert_has(l.s->diag.message, "no work request with wr_id=9 is recorded there");
    assert_false(lab_try(&l, "show life h1.mr"));
    assert_has(l.s->diag.message, "h1.mr is no work request");
    assert_false(lab_try(&l, "show life h1.qq"));
    lab_close(&l);
}

/* Long messages, and services without responses. */
static void each_operation_has_its_life(void **state)
{
    static const struct {
        const char *lines, *asked, *name, *words;
    } rows[] = {
        {"post_recv h2.qp sge=mr[0:4k]; post_send h1.qp sge=mr[0:4k] signaled",
         "show life h1.qp.sq", "the life of a long send",
         "RC_SEND_FIRST psn=100 last packet # RC_SEND_LAST psn=103 answer #"},
        {"post_send h1.qp op=rdma_read sge=mr[0:64] remote=h2.mr[0] signaled", "show life h1.qp",
         "the life of a READ", "RC_RDMA_READ_REQUEST psn=100 RC_RDMA_READ_RESPONSE_ONLY psn=100"},
        {"post_recv h2.qp sge=mr[0:64]; post_send h1.qp sge=mr[0:64]", "show life h1.qp.sq",
         "the life of a send that was not signaled", "answer # given back # signaled"},
        {"post_recv h2.qp wr_id=3 sge=mr[0:64]; modify_qp h2.qp state=ERR", "show life h2.qp.rq",
         "the life of a receive that was flushed", "first packet - WR_FLUSH_ERR"},
        {"drop next from=h1; post_recv h2.qp sge=mr[0:64]; post_send h1.qp sge=mr[0:64]",
         "show life h1.qp.sq", "the life of a send that was lost", "lost # sent again #"},
        {"on h1,h2 { create_srq pd as srq; create_qp pd send_cq=cq recv_cq=cq srq=srq as q2 }\n"
         "connect h1.q2 h2.q2; post_srq_recv h2.srq wr_id=9 sge=mr[0:64]\n"
         "post_send h1.q2 sge=mr[0:64]",
         "show life h2.srq", "the life of a shared receive",
         "RECV wr_id=9 first packet # completion #"},
        /* Requests with the same number are distinguished, */
        {"post_recv h2.qp sge=mr[0:1k]; post_recv h2.qp sge=mr[0:1k]; drop next from=h2\n"
         "post_send h1.qp wr_id=5 sge=mr[0:64] signaled\n"
         "post_send h1.qp wr_id=5 sge=mr[0:128] signaled",
         "show life h1.cq.wc[0]", "the life of the first send of a number",
         "SEND wr_id=5, 64 RC_SEND_ONLY psn=100 answer"},
        {"post_recv h2.qp sge=mr[0:1k]; post_recv h2.qp sge=mr[0:1k]; drop next from=h2\n"
         "post_send h1.qp wr_id=5 sge=mr[0:64] signaled\n"
         "post_send h1.qp wr_id=5 sge=mr[0:128] signaled; run; poll_cq h1.cq max=2",
         "show life h1.cq.wc[1]", "the life of the second send of a number",
         "SEND wr_id=5, 128 RC_SEND_ONLY psn=101 poll #"},
        /* and a completion that found no space is no success without one. */
        {"repeat 17 { post_send h1.qp op=rdma_write sge=mr[0:8] remote=h2.mr[0] signaled; run }",
         "show life h1.qp", "the life of a send without room for its completion",
         "completion # h1.cq CQ error"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct lab l;

        lab_open(&l, false);
        lab_run(&l, CONNECTED);
        lab_run(&l, rows[i].lines);
        lab_run(&l, "run");
        assert_page(&l, rows[i].name, rows[i].asked, rows[i].words);
        lab_close(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_life_is_told_with_what_is_missing),
        cmocka_unit_test(each_operation_has_its_life),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
