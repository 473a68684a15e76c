/* SPDX-License-Identifier: MIT */
/* The invariants of a queue pair hold for a correct one, and each of them detects its violation. */
#include "testing.h"

#include "emu/xport/internal.h"
#include "emu/xport/service.h"
#include "rig.h"

#define A_TICKET 1u

static void cursors_cross(struct xport_qp *xqp)
{
    xqp->req.oldest = xqp->req.fetched + 1;
}

static void the_ring_is_no_power_of_two(struct xport_qp *xqp)
{
    xqp->req.size--;
}

static void the_next_was_never_fetched(struct xport_qp *xqp)
{
    xqp->req.next = xqp->req.fetched + 1;
}

static void a_request_is_sent_twice(struct xport_qp *xqp)
{
    xqp->req.ring[0].n_psns = 1;
    xqp->req.fetched = 1;
    xqp->req.sent_psns = 1;
}

static void too_many_packets(struct xport_qp *xqp)
{
    xqp->req.sent_pkts = xqp->req.acked_pkts + REQ_WINDOW_PKTS + 1;
}

static void more_again_than_outstanding(struct xport_qp *xqp)
{
    xqp->req.again_psns = 1;
}

static void asked_for_what_comes_again(struct xport_qp *xqp)
{
    xqp->req.out_psns = xqp->req.again_psns = xqp->req.asked_psns = 1;
}

static void something_unreliable_is_outstanding(struct xport_qp *xqp)
{
    xqp->service = service_of(QPT_UC);
    xqp->req.out_psns = 1;
}

static void cursor_leaves_its_request(struct xport_qp *xqp)
{
    xqp->req.sent_psns = 1;
}

static void too_much_is_outstanding(struct xport_qp *xqp)
{
    xqp->req.out_psns = REQ_WINDOW_PSNS + 1;
}

static void too_many_retries(struct xport_qp *xqp)
{
    xqp->req.retries = xqp->qp.attr.retry_cnt + 1;
}

static void too_many_rnr_naks(struct xport_qp *xqp)
{
    xqp->req.rnr_naks = xqp->qp.attr.rnr_retry + 1;
}

static void nobody_waits_for_the_ack(struct xport_qp *xqp)
{
    xqp->req.out_psns = xqp->req.asked_psns = 1;
}

static void nobody_asked_for_an_ack(struct xport_qp *xqp)
{
    xqp->req.out_psns = 1;
}

static void an_rnr_wait_without_end(struct xport_qp *xqp)
{
    xqp->req.rnr_wait = true;
}

static void both_timers_run(struct xport_qp *xqp)
{
    xqp->req.rnr_wait = true;
    xqp->req.timer[TMR_RNR] = xqp->req.timer[TMR_ACK] = A_TICKET;
}

static void an_answer_is_forgotten(struct xport_qp *xqp)
{
    xqp->resp.answer.pending = true;
}

static void a_bind_that_nobody_completes(struct xport_qp *xqp)
{
    xqp->req.ring[0].carried_out = true;
    xqp->req.fetched = 1;
    xqp->req.next = 1;
}

static void a_second_nak(struct xport_qp *xqp)
{
    xqp->resp.seq_naks = 2;
}

static void an_ack_of_what_did_not_come(struct xport_qp *xqp)
{
    xqp->resp.n_acked = xqp->resp.n_psns + 1;
}

static void a_receive_without_a_message(struct xport_qp *xqp)
{
    xqp->resp.has_wqe = true;
}

static void a_read_that_was_never_taken(struct xport_qp *xqp)
{
    xqp->resp.rds.first = 1;
    xqp->is_ready = true;
}

static void an_answer_to_no_read(struct xport_qp *xqp)
{
    xqp->resp.rds.answered = 1;
}

static void a_read_that_is_done_and_not_answered(struct xport_qp *xqp)
{
    xqp->resp.rds.done = xqp->resp.rds.next = 1;
}

static void too_many_reads(struct xport_qp *xqp)
{
    xqp->req.out_rds = xqp->qp.hca->limits.max_rd_atomic + 1;
}

static void a_request_in_err(struct xport_qp *xqp)
{
    xqp->qp.state = QPS_ERR;
    xqp->req.ring[0].carried_out = false;
    xqp->req.fetched = xqp->req.next = 1;
}

static void an_rnr_wait_in_err(struct xport_qp *xqp)
{
    xqp->qp.state = QPS_ERR;
    xqp->req.rnr_wait = true;
    xqp->req.timer[TMR_RNR] = A_TICKET;
}

static void a_receive_in_err(struct xport_qp *xqp)
{
    xqp->qp.state = QPS_ERR;
    xqp->resp.closing = true;
    xqp->resp.has_wqe = true;
}

static void a_timer_in_err(struct xport_qp *xqp)
{
    xqp->qp.state = QPS_ERR;
    xqp->req.timer[TMR_ACK] = A_TICKET;
}

/* Shows I8, I9, I10, I11, I12. */
static void every_invariant_can_be_broken(void **state)
{
    static const struct {
        void (*damage)(struct xport_qp *xqp);
        const char *says;
    } rows[] = {
        {cursors_cross, "the cursors of the send queue are in order and inside the ring"},
        {the_ring_is_no_power_of_two,
         "the cursors of the send queue are in order and inside the ring"},
        {the_next_was_never_fetched,
         "the cursors of the send queue are in order and inside the ring"},
        {a_request_is_sent_twice, "the send cursor is inside its work request"},
        {too_many_packets, "the PSNs outstanding are within the window"},
        {more_again_than_outstanding, "the PSNs outstanding are within the window"},
        {asked_for_what_comes_again, "the end of each message asks for an answer"},
        {something_unreliable_is_outstanding, "the end of each message asks for an answer"},
        {an_answer_to_no_read, "READs and atomics are within their limits"},
        {a_read_that_is_done_and_not_answered, "READs and atomics are within their limits"},
        {too_many_reads, "READs and atomics are within their limits"},
        {a_request_in_err, "a queue pair in ERR or RESET holds no work and no timer"},
        {an_rnr_wait_in_err, "a queue pair in ERR or RESET holds no work and no timer"},
        {a_receive_in_err, "a queue pair in ERR or RESET holds no work and no timer"},
        {cursor_leaves_its_request, "the send cursor is inside its work request"},
        {a_bind_that_nobody_completes,
         "a request without packets that is done and the oldest completes"},
        {too_much_is_outstanding, "the PSNs outstanding are within the window"},
        {too_many_retries, "retries are within their limits"},
        {too_many_rnr_naks, "retries are within their limits"},
        {nobody_waits_for_the_ack, "the ACK timer runs while an answer is to come"},
        {nobody_asked_for_an_ack, "the end of each message asks for an answer"},
        {an_rnr_wait_without_end, "the ACK timer and the RNR timer do not run together"},
        {both_timers_run, "the ACK timer and the RNR timer do not run together"},
        {an_answer_is_forgotten, "the device knows of every queue pair with something to send"},
        {a_second_nak, "at most one sequence NAK is out"},
        {an_ack_of_what_did_not_come, "acknowledges do not go back"},
        {a_receive_without_a_message, "a receive is held exactly while a SEND is open"},
        {a_read_that_was_never_taken, "READs and atomics are within their limits"},
        {a_timer_in_err, "a queue pair in ERR or RESET holds no work and no timer"},
    };
    const struct rig_config c = rig_defaults();
    struct rig *r = rig_new(&c);
    struct xport_qp *xqp = xport_of(r->host[0].qp);
    struct xport_qp sound;

    (void)state;
    assert_non_null(req_fetch_place(xqp)); /* the ring is there, as after the first request */
    sound = *xqp;
    assert_null(xport_invariant(&xqp->qp));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *says;

        rows[i].damage(xqp);
        says = xport_invariant(&xqp->qp);
        *xqp = sound;
        assert_non_null(says);
        assert_string_equal(says, rows[i].says);
    }
    rig_free(r);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_invariant_can_be_broken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
