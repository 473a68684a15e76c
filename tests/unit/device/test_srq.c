/* SPDX-License-Identifier: MIT */
/* Shared receive queues: requests, rings, and receives that queue pairs take from them. */
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "machine.h"

#include <stddef.h>
#include <string.h>

#define SOURCE PAIR_MEM
#define TARGET (PAIR_MEM + 2 * RAM_PAGE_BYTES)

static void send(struct machine *m, struct pair *p, uint64_t wr_id, uint32_t bytes)
{
    const struct raw_sge sge = pair_sge(p, SOURCE, bytes);

    pair_post_send(m, p,
                   &(struct rfc_sq_wqe){
                       .num_sge = 1, .send_flags = SF_SIGNALED, .opcode = WR_SEND, .wr_id = wr_id},
                   &sge, sizeof(sge));
    ring_kick(&p->sq);
    machine_run(m);
}

static void expect_completion(const struct machine *m, const struct pair *p, uint32_t i,
                              uint64_t wr_id, enum wc_status status)
{
    struct rfc_cqe cqe;

    assert_true(pair_completion(m, p, i, &cqe));
    assert_int_equal(cqe.wr_id, wr_id);
    assert_int_equal(cqe.status, status);
}

/* Asynchronous events since boot, which told that the port is active. */
static uint32_t told(const struct machine *m)
{
    return m->events[EV_async_event] - 1;
}

static enum async_event last_event(const struct machine *m)
{
    return (enum async_event)m->last[EV_async_event].u.async_event.event;
}

static void the_queues_come_behind_the_event_queue(void **state)
{
    struct machine *m = *state;
    const uint32_t events = queue_of_events(MACHINE_MAX_CQ, MACHINE_MAX_QP);

    assert_int_equal(machine_in(&m->rdma.pci, REG_NUM_QUEUES, 2), events + 1 + MACHINE_MAX_SRQ);
    assert_int_equal(rdma_srq(&m->rdma, 1), events + 1);
    assert_int_equal(queue_srqn(MACHINE_MAX_CQ, MACHINE_MAX_QP, events + 2), 2);
    for (uint32_t queue = 0; queue <= events; queue++)
        assert_int_equal(queue_srqn(MACHINE_MAX_CQ, MACHINE_MAX_QP, queue), 0);
}

/* The event queue keeps its number, and so do these, when it is not offered. */
static void numbers_stay_without_the_event_queue(void **state)
{
    const struct rdma_device_config with = {.nic = {.max_cq = 3, .max_qp = 5, .max_srq = 2}};
    const struct rdma_device_config without = {.nic = {.max_cq = 3, .max_qp = 5, .max_srq = 2},
                                               .features_off = VIRTIO_FEATURE(VF_EVENTQ)};
    const struct rdma_device_config none = {.nic = {.max_cq = 3, .max_qp = 5}};

    (void)state;
    assert_int_equal(rdma_queues(&with), rdma_queues(&without));
    assert_int_equal(rdma_queues(&none), rdma_queues(&with) - 2);
    assert_false(rdma_offers(&none, VF_SRQ));
}

static void the_configuration_tells_who_accepted_it(void **state)
{
    struct machine *m = *state;
    const uint32_t at =
        BAR_DEVICE + (uint32_t)offsetof(struct raw_config, reserved) + SRQ_LIMITS_AT;

    assert_int_equal(virtio_read(&m->rdma.pci, at, 4), MACHINE_MAX_SRQ);
    assert_int_equal(virtio_read(&m->rdma.pci, at + 4, 4), RDL_USUAL_max_qp_wr);
    assert_int_equal(virtio_read(&m->rdma.pci, at + 8, 4), RDL_USUAL_max_recv_sge);
    machine_out(&m->rdma.pci, REG_DEVICE_STATUS, 1, 0);
    assert_int_equal(virtio_read(&m->rdma.pci, at, 4), 0);
}

static void requests_are_judged(void **state)
{
    struct machine *m = *state;

    assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_OK);
    assert_int_equal(ASK(m, CMD_CREATE_SRQ, create_srq, .pdn = 9, .max_wr = 8), RSP_BAD_HANDLE);
    assert_int_equal(ASK(m, CMD_CREATE_SRQ, create_srq, .pdn = 1), RSP_INVALID_ARG);
    assert_int_equal(
        ASK(m, CMD_CREATE_SRQ, create_srq, .pdn = 1, .max_wr = 8, .max_sge = UINT32_MAX),
        RSP_INVALID_ARG);
    assert_int_equal(ASK(m, CMD_CREATE_SRQ, create_srq, .pdn = 1, .max_wr = 8, .max_sge = 2),
                     RSP_OK);
    assert_int_equal(machine_number(m), 1);
    assert_int_equal(ASK(m, CMD_QUERY_SRQ, srq_handle, .srqn = 1), RSP_OK);
    assert_int_equal(ld_le32(m->rsp + 1), 8);
    assert_int_equal(ld_le32(m->rsp + 5), 2);
    assert_int_equal(ld_le32(m->rsp + 9), 0);
    assert_int_equal(
        ASK(m, CMD_MODIFY_SRQ, modify_srq, .srqn = 1, .attr_mask = SRQ_LIMIT, .limit = 9),
        RSP_INVALID_ARG);
    assert_int_equal(
        ASK(m, CMD_MODIFY_SRQ, modify_srq, .srqn = 1, .attr_mask = SRQ_LIMIT, .limit = 8), RSP_OK);
    assert_int_equal(ASK(m, CMD_MODIFY_SRQ, modify_srq, .srqn = 1,
                         .attr_mask = SRQ_MAX_WR | SRQ_LIMIT, .max_wr = 16),
                     RSP_NOT_SUPPORTED);
    assert_int_equal(ASK(m, CMD_MODIFY_SRQ, modify_srq, .srqn = 1, .attr_mask = 4),
                     RSP_INVALID_ARG);
    assert_int_equal(ASK(m, CMD_QUERY_SRQ, srq_handle, .srqn = 1), RSP_OK);
    assert_int_equal(ld_le32(m->rsp + 9), 8); /* what was refused changed nothing */
    assert_int_equal(ASK(m, CMD_QUERY_SRQ, srq_handle, .srqn = 0), RSP_BAD_HANDLE);
    assert_int_equal(ASK(m, CMD_MODIFY_SRQ, modify_srq, .srqn = 2), RSP_BAD_HANDLE);
    assert_int_equal(ASK(m, CMD_DESTROY_SRQ, srq_handle, .srqn = 2), RSP_BAD_HANDLE);
    assert_int_equal(ASK(m, CMD_DESTROY_SRQ, srq_handle, .srqn = 1), RSP_OK);
}

/* It sees the plain device of the RFC: what it wrote into a reserved field is not looked at. */
static void a_driver_that_did_not_accept_them_has_none(void **state)
{
    struct machine *m = *state;

    assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_OK);
    assert_int_equal(ASK(m, CMD_CREATE_SRQ, create_srq, .pdn = 1, .max_wr = 8),
                     RSP_UNKNOWN_COMMAND);
    assert_int_equal(ASK(m, CMD_DESTROY_SRQ, srq_handle, .srqn = 1), RSP_UNKNOWN_COMMAND);
    assert_int_equal(ASK(m, CMD_CREATE_CQ, create_cq, .cqe = 4), RSP_OK);
    assert_int_equal(ASK(m, CMD_CREATE_QP, create_qp, .pdn = 1, .qp_type = QPT_RC, .send_cqn = 1,
                         .recv_cqn = 1, .max_send_wr = 1, .max_recv_wr = 1, .srqn = 77),
                     RSP_OK);
    assert_null(hca_qp(&m->rdma.nic.hca, machine_number(m))->srq);
}

static void a_queue_pair_needs_one_that_there_is(void **state)
{
    struct machine *m = *state;

    assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_OK);
    assert_int_equal(ASK(m, CMD_CREATE_CQ, create_cq, .cqe = 4), RSP_OK);
    assert_int_equal(ASK(m, CMD_CREATE_QP, create_qp, .pdn = 1, .qp_type = QPT_RC, .send_cqn = 1,
                         .recv_cqn = 1, .max_send_wr = 1, .srqn = 1),
                     RSP_BAD_HANDLE);
}

static void a_message_uses_a_shared_receive(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);
    uint32_t head, len;

    pair_give_cqes(m, &p, 2, sizeof(struct raw_cqe));
    pair_post_recv(m, &p, 71, TARGET, 200);
    send(m, &p, 72, 100);
    expect_completion(m, &p, 0, 71, WCS_SUCCESS);
    expect_completion(m, &p, 1, 72, WCS_SUCCESS);
    assert_true(ring_used(m, &p.rq, &head, &len));
    assert_int_equal(len, 0);
    assert_int_equal(m->last[EV_fetch].u.fetch.queue, rdma_srq(&m->rdma, PAIR_SRQN));
    assert_int_equal(m->last[EV_fetch].u.fetch.qpn, PAIR_RECEIVER);
}

static void an_empty_one_is_answered_with_rnr(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);

    pair_give_cqes(m, &p, 1, sizeof(struct raw_cqe));
    send(m, &p, 72, 100);
    expect_completion(m, &p, 0, 72, WCS_RNR_RETRY_EXC_ERR);
}

static void the_limit_is_told_once(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);

    pair_give_cqes(m, &p, 8, sizeof(struct raw_cqe));
    for (uint32_t i = 0; i < 4; i++)
        pair_post_recv(m, &p, i, TARGET, 200);
    assert_int_equal(
        ASK(m, CMD_MODIFY_SRQ, modify_srq, .srqn = PAIR_SRQN, .attr_mask = SRQ_LIMIT, .limit = 3),
        RSP_OK);
    send(m, &p, 10, 100);
    assert_int_equal(told(m), 0); /* three are left */
    send(m, &p, 11, 100);
    assert_int_equal(told(m), 1);
    assert_int_equal(last_event(m), ASE_SRQ_LIMIT_REACHED);
    assert_int_equal(m->last[EV_async_event].u.async_event.number, PAIR_SRQN);
    send(m, &p, 12, 100);
    assert_int_equal(told(m), 1);
    assert_int_equal(ASK(m, CMD_QUERY_SRQ, srq_handle, .srqn = PAIR_SRQN), RSP_OK);
    assert_int_equal(ld_le32(m->rsp + 9), 0);
}

static void a_queue_pair_that_fails_leaves_what_it_has_not_taken(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);
    const struct rfc_qp_attr err = {.qp_state = QPS_ERR};
    struct ring own = ring_enable(m, &m->rdma.pci, rdma_rq(&m->rdma, PAIR_RECEIVER));
    const struct seg wqe = {BUFFER_AT, sizeof(struct raw_rq_wqe)};
    uint32_t head, len;
    struct rfc_cqe cqe;

    pair_give_cqes(m, &p, 1, sizeof(struct raw_cqe));
    pair_post_recv(m, &p, 71, TARGET, 200);
    (void)ring_post(m, &own, &wqe, 1, 0); /* a driver that does not know what it does */
    assert_int_equal(machine_modify(m, PAIR_RECEIVER, QPA_STATE, &err), RSP_OK);
    assert_int_equal(told(m), 1);
    assert_int_equal(last_event(m), ASE_QP_LAST_WQE_REACHED);
    assert_int_equal(m->last[EV_async_event].u.async_event.number, PAIR_RECEIVER);
    ring_kick(&own);
    ring_kick(&p.rq);
    machine_run(m);
    assert_false(pair_completion(m, &p, 0, &cqe));
    assert_false(ring_used(m, &p.rq, &head, &len));
    assert_false(ring_used(m, &own, &head, &len));
    assert_int_equal(ASK(m, CMD_DESTROY_SRQ, srq_handle, .srqn = PAIR_SRQN), RSP_BUSY);
    assert_int_equal(ASK(m, CMD_DESTROY_QP, qp_handle, .qpn = PAIR_RECEIVER), RSP_OK);
    assert_int_equal(ASK(m, CMD_DESTROY_SRQ, srq_handle, .srqn = PAIR_SRQN), RSP_OK);
}

static void a_broken_ring_is_told_before_the_device_stops(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);

    ring_offer(m, &p.rq, RING_SIZE); /* no such descriptor */
    send(m, &p, 72, 100);
    assert_true(rdma_broken(&m->rdma));
    assert_true(hca_srq(&m->rdma.nic.hca, PAIR_SRQN)->error);
    assert_int_equal(told(m), 2); /* and then DEVICE_FATAL */
    assert_int_equal(last_event(m), ASE_DEVICE_FATAL);
    assert_int_equal(m->rdma.nic.events.raised, 1 + 1);
}

/* Its queue pairs cannot go on, and it never gives anything again. */
static void a_ring_that_is_taken_away_fails(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);

    pair_post_recv(m, &p, 71, TARGET, 200);
    machine_out(&m->rdma.pci, REG_QUEUE_SELECT, 2, p.rq.queue);
    machine_out(&m->rdma.pci, REG_QUEUE_RESET, 2, 1);
    assert_int_equal(told(m), 2);
    assert_int_equal(last_event(m), ASE_QP_LAST_WQE_REACHED);
    assert_int_equal(hca_qp(&m->rdma.nic.hca, PAIR_RECEIVER)->state, QPS_ERR);
    assert_int_equal(hca_qp(&m->rdma.nic.hca, PAIR_SENDER)->state, QPS_RTS);
    assert_true(hca_srq(&m->rdma.nic.hca, PAIR_SRQN)->error);
    p.rq = ring_enable(m, &m->rdma.pci, p.rq.queue);
    machine_out(&m->rdma.pci, REG_QUEUE_SELECT, 2, p.rq.queue);
    machine_out(&m->rdma.pci, REG_QUEUE_RESET, 2, 1);
    assert_int_equal(told(m), 2);
}

/* A driver places the ring anew between creating it and using it. */
static void a_ring_may_be_reset_before_it_is_used(void **state)
{
    struct machine *m = *state;
    struct ring r = ring_enable(m, &m->rdma.pci, rdma_srq(&m->rdma, 1));

    assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_OK);
    assert_int_equal(ASK(m, CMD_CREATE_SRQ, create_srq, .pdn = 1, .max_wr = 8), RSP_OK);
    machine_out(&m->rdma.pci, REG_QUEUE_SELECT, 2, r.queue);
    machine_out(&m->rdma.pci, REG_QUEUE_RESET, 2, 1);
    assert_false(hca_srq(&m->rdma.nic.hca, 1)->error);
    assert_int_equal(told(m), 0);
}

/* The next one with its number would get what belongs to it. */
static void events_go_with_it(void **state)
{
    struct machine *m = *state;

    assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_OK);
    assert_int_equal(ASK(m, CMD_CREATE_SRQ, create_srq, .pdn = 1, .max_wr = 8), RSP_OK);
    m->rdma.nic.events.ring[0] = (struct rnic_event){ASE_SRQ_LIMIT_REACHED, 1};
    m->rdma.nic.events.ring[1] = (struct rnic_event){ASE_SRQ_LIMIT_REACHED, 2};
    m->rdma.nic.events.len = 2;
    assert_int_equal(ASK(m, CMD_DESTROY_SRQ, srq_handle, .srqn = 1), RSP_OK);
    assert_int_equal(m->rdma.nic.events.len, 1);
    assert_int_equal(m->rdma.nic.events.ring[m->rdma.nic.events.first].number, 2);
}

#define T(f) cmocka_unit_test_setup_teardown(f, machine_set_up_srq, machine_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(the_queues_come_behind_the_event_queue),
        cmocka_unit_test(numbers_stay_without_the_event_queue),
        T(the_configuration_tells_who_accepted_it),
        T(requests_are_judged),
        cmocka_unit_test_setup_teardown(a_driver_that_did_not_accept_them_has_none, machine_set_up,
                                        machine_tear_down),
        T(a_queue_pair_needs_one_that_there_is),
        T(a_message_uses_a_shared_receive),
        T(an_empty_one_is_answered_with_rnr),
        T(the_limit_is_told_once),
        T(a_queue_pair_that_fails_leaves_what_it_has_not_taken),
        T(a_broken_ring_is_told_before_the_device_stops),
        T(a_ring_that_is_taken_away_fails),
        T(a_ring_may_be_reset_before_it_is_used),
        T(events_go_with_it),
    };

    return cmocka_run_group_tests_name("srq", tests, NULL, NULL);
}
