/* SPDX-License-Identifier: MIT */
/* The state of a queue pair that a driver derives from polled completions. */
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/guest/verbs/internal.h"
#include "guest/verbs/one_qp.h"

/* The device has completed @status for queue pair @qpn, and a program polls it. */
static void poll_one(struct work *w, uint32_t status, uint32_t qpn)
{
    struct rdl_wc wc;
    size_t n = 0;

    w->f->unpolled[0] = (struct rdl_wc){.status = status, .qp_num = qpn};
    w->f->n_unpolled = 1;
    assert_int_equal(verbs_poll_cq(w->cq, 1, &wc, &n), RDL_OK);
    assert_int_equal(n, 1);
    assert_int_equal(wc.status, status);
}

static void an_error_completion_tells_of_the_error_state(void **state)
{
    struct work *w = *state;
    struct rdl_wc wc;
    size_t n;

    move_to_rts(w->qp);
    poll_one(w, WCS_RETRY_EXC_ERR, 0xffffffff); /* nobody's: no crash */
    poll_one(w, WCS_SUCCESS, w->qp->qpn);
    assert_int_equal(w->qp->attr.state, QPS_RTS);
    poll_one(w, WCS_RETRY_EXC_ERR, w->qp->qpn);
    assert_int_equal(w->qp->attr.state, QPS_ERR);
    assert_int_equal(w->cq->polled, 3);
    assert_int_equal(w->f->events[EV_poll], 3);

    /* One that waits while the queue pair is reset is of its earlier life. */
    w->f->unpolled[0] = (struct rdl_wc){.status = WCS_WR_FLUSH_ERR, .qp_num = w->qp->qpn};
    w->f->n_unpolled = 1;
    assert_int_equal(move(w->qp, QPS_RESET, QPA_STATE), RDL_OK);
    move_to_rts(w->qp);
    assert_int_equal(verbs_poll_cq(w->cq, 1, &wc, &n), RDL_OK);
    assert_int_equal(w->qp->attr.state, QPS_RTS);
    poll_one(w, WCS_WR_FLUSH_ERR, w->qp->qpn);
    assert_int_equal(w->qp->attr.state, QPS_ERR);
}

/* On UC and UD a send that fails stops the sends, and what is wrong with a receive everything.
 * Shows B85, I6.
 */
static void a_failed_send_of_an_unreliable_service_tells_of_sqe(void **state)
{
    static const struct {
        enum qp_state from;
        uint32_t opcode, status;
        enum qp_state to;
    } rows[] = {
        {QPS_RTS, WC_SEND, WCS_LOC_PROT_ERR, QPS_SQE},
        {QPS_SQE, WC_SEND, WCS_WR_FLUSH_ERR, QPS_SQE},
        {QPS_RTS, WC_SEND, WCS_WR_FLUSH_ERR, QPS_ERR},
        {QPS_ERR, WC_SEND, WCS_WR_FLUSH_ERR, QPS_ERR},
        {QPS_RTS, WC_RECV, WCS_LOC_PROT_ERR, QPS_ERR},
        {QPS_SQE, WC_RECV, WCS_WR_FLUSH_ERR, QPS_ERR},
        {QPS_RTS, WC_RECV_RDMA_WITH_IMM, WCS_SUCCESS, QPS_RTS},
    };
    struct work *w = *state;
    struct rdl_wc wc;
    size_t n;

    move_to_rts(w->qp);
    w->qp->type = QPT_UC;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        w->qp->attr.state = rows[i].from;
        w->f->unpolled[0] = (struct rdl_wc){
            .status = rows[i].status, .opcode = rows[i].opcode, .qp_num = w->qp->qpn};
        w->f->n_unpolled = 1;
        assert_int_equal(verbs_poll_cq(w->cq, 1, &wc, &n), RDL_OK);
        assert_int_equal(w->qp->attr.state, rows[i].to);
    }

    /* One that waits while the queue pair goes back to RTS is of what was before. */
    w->qp->attr.state = QPS_SQE;
    w->f->unpolled[0] = (struct rdl_wc){.status = WCS_WR_FLUSH_ERR, .qp_num = w->qp->qpn};
    w->f->n_unpolled = 1;
    assert_int_equal(move(w->qp, QPS_RTS, QPA_STATE), RDL_OK);
    assert_int_equal(verbs_poll_cq(w->cq, 1, &wc, &n), RDL_OK);
    assert_int_equal(w->qp->attr.state, QPS_RTS);
    w->qp->type = QPT_RC;
}

/* So is one that waits while a queue pair with the same number is destroyed. */
static void an_error_completion_tells_nothing_of_a_later_queue_pair(void **state)
{
    struct work *w = *state;
    const uint32_t qpn = w->qp->qpn;
    struct rdl_wc wc;
    size_t n;

    w->f->unpolled[0] = (struct rdl_wc){.status = WCS_WR_FLUSH_ERR, .qp_num = qpn};
    w->f->n_unpolled = 1;
    assert_int_equal(verbs_destroy_qp(w->qp), RDL_OK);
    w->qp = new_qp(w->pd, w->cq, 0);
    assert_int_equal(w->qp->qpn, qpn);
    move_to_rts(w->qp);
    assert_int_equal(verbs_poll_cq(w->cq, 1, &wc, &n), RDL_OK);
    assert_int_equal(w->qp->attr.state, QPS_RTS);
    poll_one(w, WCS_WR_FLUSH_ERR, qpn);
    assert_int_equal(w->qp->attr.state, QPS_ERR);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(an_error_completion_tells_of_the_error_state),
        T(a_failed_send_of_an_unreliable_service_tells_of_sqe),
        T(an_error_completion_tells_nothing_of_a_later_queue_pair),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
