/* SPDX-License-Identifier: MIT */
/* The invariants of a lab: each violation is detected and ends the run. */
#include "testing.h"

#include "emu/device/rdma.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/opcode.h"
#include "emu/hca/ctrl.h"
#include "emu/lab/lab_state.h"
#include "emu/rnic/rnic.h"
#include "emu/trace/emit.h"
#include "emu/trace/event.h"
#include "emu/xport/xport_qp.h"
#include "testbed/testbed.h"

#define WINDOW_WR 16u

static const struct rdl_limits none = {0};

/* A rig at rest, and the place of host 1's send queue. */
struct stand {
    struct testbed r;
    struct lab_state *w;
    struct host *h;
    uint32_t qpn, sq;
};

static void stand_open(struct stand *s)
{
    const struct testbed_config c = {.seed = 1,
                                     .check_invariants = true,
                                     .mr_bytes = 4096,
                                     .max_wr = WINDOW_WR,
                                     .path_mtu = MTU_1024,
                                     .timeout = 14};

    assert_int_equal(testbed_init(&s->r, &c), RDL_OK);
    s->w = s->r.lab->state;
    s->h = s->w->hosts[0];
    s->qpn = s->r.side[0].qpn;
    s->sq = queue_of_sends(s->h->rnic->config->max_cq, s->qpn);
    assert_int_equal(rdl_run(s->r.lab, RDL_NEVER, none), RDL_OK);
    assert_null(rdl_broken_invariant(s->r.lab));
}

/* Events as a broken emulator would emit them. */
static void post(struct stand *s, uint32_t desc, uint64_t wr_id, unsigned flags)
{
    TRACE(&s->w->trace, post_send, .qpn = s->qpn, .queue = s->sq, .desc = desc, .wr_id = wr_id,
          .flags = flags);
}

static void used(struct stand *s, uint32_t desc)
{
    TRACE(&s->w->trace, used, .queue = s->sq, .desc = desc);
}

static void cqe(struct stand *s, uint64_t wr_id, enum wc_status status)
{
    TRACE(&s->w->trace, cqe, .cqn = 1, .qpn = s->qpn, .wr_id = wr_id, .status = (uint32_t)status);
}

static void given_back_unposted(struct stand *s)
{
    used(s, 0);
}

static void given_back_out_of_order(struct stand *s)
{
    post(s, 0, 1, 0);
    post(s, 1, 2, 0);
    used(s, 1);
}

static void given_back_in_silence(struct stand *s)
{
    post(s, 0, 1, SF_SIGNALED);
    post(s, 1, 2, SF_SIGNALED);
    used(s, 0);
    used(s, 1);
}

static void completed_under_another_name(struct stand *s)
{
    post(s, 0, 1, SF_SIGNALED);
    used(s, 0);
    cqe(s, 2, WCS_SUCCESS);
}

static void completed_though_unsignaled(struct stand *s)
{
    post(s, 0, 1, 0);
    used(s, 0);
    cqe(s, 1, WCS_SUCCESS);
}

static void completed_twice(struct stand *s)
{
    post(s, 0, 1, SF_SIGNALED);
    used(s, 0);
    cqe(s, 1, WCS_SUCCESS);
    cqe(s, 1, WCS_SUCCESS);
}

static void completed_in(struct stand *s, enum qp_state state, enum wc_status status)
{
    hca_qp(&s->h->rnic->hca, s->qpn)->state = state;
    post(s, 0, 1, SF_SIGNALED);
    used(s, 0);
    cqe(s, 1, status);
}

static void succeeded_in_err(struct stand *s)
{
    completed_in(s, QPS_ERR, WCS_SUCCESS);
}

static void succeeded_in_err_behind_a_router(struct stand *s)
{
    hca_qp(&s->h->rnic->hca, s->qpn)->state = QPS_ERR;
    TRACE(&s->w->trace, router_completion, .host = s->h->index, .qpn = s->qpn,
          .status = WCS_SUCCESS);
}

static void completed_in_reset(struct stand *s)
{
    completed_in(s, QPS_RESET, WCS_WR_FLUSH_ERR);
}

static void acknowledged_backwards(struct stand *s)
{
    TRACE(&s->w->trace, tx, .qpn = s->qpn, .opcode = OP_RC_ACKNOWLEDGE, .psn = 5,
          .syndrome = SYN_ACK);
    TRACE(&s->w->trace, tx, .qpn = s->qpn, .opcode = OP_RC_ACKNOWLEDGE, .psn = 4,
          .syndrome = SYN_ACK);
}

static void sent_garbage(struct stand *s)
{
    static const uint8_t garbage[64] = {2};

    watch_frame(s->r.lab->watch, garbage, sizeof(garbage));
}

static void tell(struct stand *s, enum async_event event)
{
    TRACE(&s->w->trace, async_event, .event = (uint32_t)event, .object = OBJ_QP, .number = s->qpn);
}

static void drained_out_of_sqd(struct stand *s)
{
    tell(s, ASE_SQ_DRAINED);
}

static void drained_twice(struct stand *s)
{
    hca_qp(&s->h->rnic->hca, s->qpn)->state = QPS_SQD;
    tell(s, ASE_SQ_DRAINED);
    assert_null(watch_broken(s->r.lab->watch));
    tell(s, ASE_SQ_DRAINED);
}

static void failed_and_goes_on(struct stand *s)
{
    tell(s, ASE_QP_REQ_ERR);
}

static void lost_a_frame(struct stand *s)
{
    s->w->net.counts.sent++;
}

static void dropped_without_a_reason(struct stand *s)
{
    s->w->net.counts.sent++;
    s->w->net.counts.dropped++;
}

static void delivered_to_nobody(struct stand *s)
{
    s->w->net.counts.sent++;
    s->w->net.counts.delivered++;
}

static void forgot_what_became_of_a_frame(struct stand *s)
{
    s->h->port.taken_frames++;
}

static void stack_forgot_what_became_of_a_frame(struct stand *s)
{
    s->h->guest.net.rcvd_frames++;
}

static void device_gives_back_too_much(struct stand *s)
{
    host_rdma(s->h)->pci.queues[s->sq].used_idx++;
}

static void device_takes_too_much(struct stand *s)
{
    host_rdma(s->h)->pci.queues[s->sq].last_avail++;
    host_rdma(s->h)->pci.queues[s->sq].used_idx++;
}

static void driver_takes_back_too_much(struct stand *s)
{
    host_rdma_vq(s->h, s->sq)->last_used++;
}

static void polled_too_much(struct stand *s)
{
    s->h->guest.verbs.cq_of[1]->polled++;
}

static void transport_is_broken(struct stand *s)
{
    xport_of(hca_qp(&s->h->rnic->hca, s->qpn))->req.retries = 1; /* retry_cnt is 0 */
}

/* Makes @s the only shared receive queue of the device, without a word to the driver. */
static struct srq *share(struct stand *s)
{
    struct hca *hca = &s->h->rnic->hca;
    const struct srq_config config = {hca_qp(hca, s->qpn)->pd->pdn, 8, 1};
    struct srq *srq;

    assert_int_equal(hca_srq_create(hca, &config, &srq), REF_NONE);
    hca_qp(hca, s->qpn)->srq = srq;
    srq->users++;
    return srq;
}

static void used_shared(struct stand *s, uint32_t desc)
{
    TRACE(&s->w->trace, used, .queue = rdma_srq(host_rdma(s->h), 1), .desc = desc);
}

static void cqe_shared(struct stand *s, uint64_t wr_id)
{
    TRACE(&s->w->trace, cqe, .cqn = 1, .qpn = s->qpn, .wr_id = wr_id, .op = WC_RECV);
}

/* Two are posted, and the second one is given back first, which is as it should be. */
static void share_and_return(struct stand *s)
{
    (void)share(s);
    for (uint32_t i = 0; i < 2; i++)
        TRACE(&s->w->trace, post_srq_recv, .object = OBJ_SRQ, .number = 1,
              .queue = rdma_srq(host_rdma(s->h), 1), .desc = i, .wr_id = i + 10);
    used_shared(s, 1);
    cqe_shared(s, 11);
    assert_true(lab_check(s->r.lab, false));
}

static void shared_given_back_unposted(struct stand *s)
{
    share_and_return(s);
    used_shared(s, 1);
}

static void shared_completed_under_another_name(struct stand *s)
{
    share_and_return(s);
    used_shared(s, 0);
    cqe_shared(s, 11);
}

static void shared_completed_twice(struct stand *s)
{
    share_and_return(s);
    cqe_shared(s, 11);
}

static void limit_is_out_of_reach(struct stand *s)
{
    share(s)->limit = 9;
    TRACE(&s->w->trace, kick, .queue = rdma_srq(host_rdma(s->h), 1));
}

/* Something happens where the damage is: only there the invariants are looked at. */
static void touch(struct stand *s)
{
    TRACE(&s->w->trace, kick, .queue = s->sq);
    TRACE(&s->w->trace, poll, .cqn = 1);
    assert_int_equal(rdl_query_port(s->r.lab, s->r.side[0].host), RDL_OK);
}

/* Shows I4, I5, I6, I10, I19. */
static void every_invariant_can_be_broken(void **state)
{
    static const struct {
        void (*damage)(struct stand *s);
        const char *says;
    } rows[] = {
        {given_back_unposted, "only what was posted is given back"},
        {given_back_out_of_order, "work requests are given back in the order of posting"},
        {given_back_in_silence, "what was given back and is signaled has its completion at once"},
        {completed_under_another_name,
         "a completion names the work request that was given back last"},
        {completed_though_unsignaled,
         "an unsignaled success has no completion, and nothing completes twice"},
        {completed_twice, "an unsignaled success has no completion, and nothing completes twice"},
        {succeeded_in_err, "nothing completes with success in ERR"},
        {succeeded_in_err_behind_a_router, "nothing completes with success in ERR"},
        {completed_in_reset, "nothing completes in RESET"},
        {acknowledged_backwards, "positive acknowledges never go back"},
        {drained_out_of_sqd, "a send queue is drained once for each move to SQD"},
        {drained_twice, "a send queue is drained once for each move to SQD"},
        {failed_and_goes_on, "a queue pair that tells of its failure is in ERR"},
        {sent_garbage, "every frame that is sent can be decoded"},
        {lost_a_frame, "frames sent and copied are delivered, lost, dropped or in flight"},
        {dropped_without_a_reason, "every frame that the network drops is counted under a reason"},
        {delivered_to_nobody, "every frame delivered is counted at a port"},
        {forgot_what_became_of_a_frame, "h1: frames received by a port are taken or dropped"},
        {stack_forgot_what_became_of_a_frame,
         "h1: frames received by the IP stack are taken or dropped"},
        {device_gives_back_too_much, "h1: a device gives back no more chains than it took"},
        {device_takes_too_much, "h1: a device takes no more chains than were offered"},
        {driver_takes_back_too_much, "h1: a driver takes back no more chains than were given back"},
        {polled_too_much, "h1: no more completions are polled than were written"},
        {transport_is_broken, "h1: retries are within their limits"},
        {shared_given_back_unposted, "only shared receives that were posted are given back"},
        {shared_completed_under_another_name,
         "a completion names the shared receive that was given back last"},
        {shared_completed_twice, "a completion names the shared receive that was given back last"},
        {limit_is_out_of_reach, "h1: the limit of a shared receive queue is within its length"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct stand s;

        stand_open(&s);
        rows[i].damage(&s);
        touch(&s);
        assert_int_equal(rdl_run(s.r.lab, RDL_NEVER, none), RDL_ERR_INVARIANT);
        assert_string_equal(rdl_broken_invariant(s.r.lab), rows[i].says);
        testbed_done(&s.r);
    }
}

static void only_what_has_changed_is_looked_at(void **state)
{
    struct rdl_checkpoint *c = NULL;
    struct stand s;

    (void)state;
    stand_open(&s);
    transport_is_broken(&s);
    for (uint32_t i = 0; i < 3; i++) { /* elsewhere */
        assert_int_equal(rdl_query_port(s.r.lab, s.r.side[i % 2].host), RDL_OK);
        assert_int_equal(rdl_run(s.r.lab, RDL_NEVER, none), RDL_OK);
    }
    assert_int_equal(s.r.lab->changed->n, 0); /* each was looked at */
    assert_int_equal(rdl_checkpoint_save(s.r.lab, &c), RDL_OK);
    touch(&s);
    for (uint32_t i = 0; i < 2; i++) /* it does not mend by looking */
        assert_int_equal(rdl_run(s.r.lab, RDL_NEVER, none), RDL_ERR_INVARIANT);
    rdl_checkpoint_restore(s.r.lab, c); /* nobody knows what that has changed */
    assert_int_equal(rdl_run(s.r.lab, RDL_NEVER, none), RDL_ERR_INVARIANT);
    rdl_checkpoint_free(c);
    testbed_done(&s.r);
}

/* Though its events tell no more of it than its number. */
static void what_a_request_is_about_is_looked_at(void **state)
{
    struct stand s;

    (void)state;
    stand_open(&s);
    transport_is_broken(&s);
    assert_int_equal(rdl_query_qp(s.r.lab, s.r.side[0].qp), RDL_OK);
    assert_int_equal(rdl_run(s.r.lab, RDL_NEVER, none), RDL_ERR_INVARIANT);
    testbed_done(&s.r);
    stand_open(&s);
    polled_too_much(&s);
    assert_int_equal(rdl_req_notify_cq(s.r.lab, s.r.side[0].cq, false), RDL_OK);
    assert_int_equal(rdl_run(s.r.lab, RDL_NEVER, none), RDL_ERR_INVARIANT);
    testbed_done(&s.r);
}

/* What was posted before the checkpoint is known after going back, again and again. */
static void going_back_keeps_the_watcher(void **state)
{
    struct rdl_checkpoint *c = NULL;
    struct stand s;

    (void)state;
    stand_open(&s);
    post(&s, 0, 1, SF_SIGNALED);
    assert_int_equal(rdl_checkpoint_save(s.r.lab, &c), RDL_OK);
    for (int i = 0; i < 2; i++) {
        used(&s, 0);
        cqe(&s, 1, WCS_SUCCESS);
        assert_int_equal(rdl_run(s.r.lab, RDL_NEVER, none), RDL_OK);
        cqe(&s, 1, WCS_SUCCESS);
        assert_int_equal(rdl_run(s.r.lab, RDL_NEVER, none), RDL_ERR_INVARIANT);
        rdl_checkpoint_restore(s.r.lab, c);
        assert_null(rdl_broken_invariant(s.r.lab));
    }
    used(&s, 1);
    assert_int_equal(rdl_run(s.r.lab, RDL_NEVER, none), RDL_ERR_INVARIANT);
    assert_string_equal(rdl_broken_invariant(s.r.lab),
                        "work requests are given back in the order of posting");
    rdl_checkpoint_free(c);
    testbed_done(&s.r);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_invariant_can_be_broken),
        cmocka_unit_test(only_what_has_changed_is_looked_at),
        cmocka_unit_test(what_a_request_is_about_is_looked_at),
        cmocka_unit_test(going_back_keeps_the_watcher),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
