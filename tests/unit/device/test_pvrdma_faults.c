/* SPDX-License-Identifier: MIT */
/* PVRDMA: injected faults at its doorbells, interrupts, completions and answers. */
#include "pv_rig.h"

#include <string.h>

#include "emu/facts/enum/fault.h"
#include "emu/facts/pvrdma/ring.h"
#include "emu/pci/fault.h"

#define SEND     2u
#define SIGNALED 2u
#define LATE_NS  20000u

static struct device_fault fault_of(enum fault_kind kind, uint32_t queue)
{
    return (struct device_fault){
        .kind = (uint32_t)kind, .number = 1, .queue = queue, .nth = 1, .count = 1};
}

static struct pv_sge part(const struct pv_pair *p, uint32_t at)
{
    return (struct pv_sge){.addr = p->mem + at, .length = 64, .lkey = p->lkey};
}

static void post(struct pv_rig *g, struct pv_pair *p)
{
    const struct pv_sge from = part(p, 0);

    pvrig_post_recv(g, p, 1, 7, part(p, PV_PAGE_BYTES));
    pvrig_post_send(
        g, p, 0, (struct pv_sq_wqe){.opcode = SEND, .num_sge = 1, .send_flags = SIGNALED}, &from);
}

static uint32_t queue_of_cq(const struct pv_pair *p)
{
    return pv_queue_of_cq(PVRIG_MAX_QP, PVRIG_MAX_SRQ, p->cq + 1);
}

static void a_lost_doorbell_leaves_the_request_in_the_ring(void **state)
{
    struct pv_rig *g = *state;
    struct pv_pair p = pvrig_pair(g, QPT_RC, false);
    struct device_fault f = fault_of(FLT_LOST_KICK, pv_queue_of_sends(p.qp[0]));
    struct pv_cqe c;

    device_fault_add(&g->d->faults, &f);
    post(g, &p);
    pvrig_kick(g, &p, 0, PV_UAR_RECV); /* another queue: no occasion */
    pvrig_kick(g, &p, 0, PV_UAR_SEND);
    pvrig_run(g);
    assert_int_equal(f.hits, 1);
    assert_null(g->d->faults); /* it has hit what it was to hit */
    assert_int_equal(g->last[EV_device_fault].u.device_fault.queue, f.queue);
    assert_int_equal(pvrig_peek32(g, p.qp_ring[0].pages + 4), 0); /* nothing was consumed */
    assert_false(pvrig_poll(g, &p, &c));
    pvrig_kick(g, &p, 0, PV_UAR_SEND);
    pvrig_run(g);
    assert_int_equal(pvrig_peek32(g, p.qp_ring[0].pages + 4), 1);
    assert_true(pvrig_poll(g, &p, &c));
}

static void a_lost_interrupt_leaves_the_notification(void **state)
{
    struct pv_rig *g = *state;
    struct pv_pair p = pvrig_pair(g, QPT_RC, false);
    struct device_fault f = fault_of(FLT_LOST_INTERRUPT, queue_of_cq(&p));

    device_fault_add(&g->d->faults, &f);
    pvrig_doorbell(g, PV_UAR_AT_CQ, p.cq | PV_UAR_ARM);
    post(g, &p);
    pvrig_kick(g, &p, 0, PV_UAR_SEND);
    pvrig_run(g);
    assert_int_equal(f.hits, 1);
    assert_int_equal(g->irqs[PV_VECTOR_CQ], 0);
    assert_int_equal(pvrig_peek32(g, g->notes.pages + 8), 1);
}

/* A notification that found no room has its interrupt later.  It is that of its queue, too. */
static void a_notification_that_has_waited_can_lose_its_interrupt(void **state)
{
    struct pv_rig *g = *state;
    struct pv_pair p = pvrig_pair(g, QPT_RC, false);
    struct device_fault f = fault_of(FLT_LOST_INTERRUPT, queue_of_cq(&p));
    const uint64_t head = g->notes.pages + PV_RING_RX + PV_RING_HEAD;

    device_fault_add(&g->d->faults, &f);
    pvrig_poke32(g, head, g->d->notes.ring.n); /* the ring is full */
    pvrig_doorbell(g, PV_UAR_AT_CQ, p.cq | PV_UAR_ARM);
    post(g, &p);
    pvrig_kick(g, &p, 0, PV_UAR_SEND);
    pvrig_run(g);
    assert_int_equal(g->events[EV_cq_note_held], 1);
    assert_int_equal(f.hits, 0);
    pvrig_poke32(g, head, 0); /* and now empty */
    pvrig_doorbell(g, PV_UAR_AT_CQ, p.cq | PV_UAR_ARM);
    assert_int_equal(g->events[EV_cq_note], 1);
    assert_int_equal(f.hits, 1);
    assert_int_equal(g->irqs[PV_VECTOR_CQ], 0);
}

static void a_lost_completion_is_in_no_slot(void **state)
{
    struct pv_rig *g = *state;
    struct pv_pair p = pvrig_pair(g, QPT_RC, false);
    struct device_fault f = fault_of(FLT_LOST_CQE, queue_of_cq(&p));
    struct pv_cqe c;

    f.nth = 2; /* the receive completes first */
    device_fault_add(&g->d->faults, &f);
    post(g, &p);
    pvrig_kick(g, &p, 0, PV_UAR_SEND);
    pvrig_run(g);
    assert_int_equal(f.hits, 1);
    assert_true(pvrig_poll(g, &p, &c));
    assert_int_equal(c.opcode, 0x80);
    assert_false(pvrig_poll(g, &p, &c));
    assert_int_equal(g->events[EV_cq_overflow], 0);
}

static void a_late_answer_comes_with_its_interrupt(void **state)
{
    struct pv_rig *g = *state;
    struct device_fault f = fault_of(FLT_LATE_DATA, PV_QUEUE_COMMANDS);
    uint64_t begun;

    f.time_ns = LATE_NS;
    f.count = 2;
    device_fault_add(&g->d->faults, &f);
    begun = sim_now(&g->sim);
    assert_int_equal(pvrig_ask(g, CREATE_PD, handle, .handle = 0),
                     0);               /* ERR says it was accepted */
    assert_int_equal(g->rsp[0], 0xee); /* nothing is there yet */
    assert_int_equal(g->irqs[PV_VECTOR_RESPONSE], 0);
    pvrig_run(g);
    pvrig_peek(g, RESPONSE_AT, g->rsp, sizeof(g->rsp));
    assert_int_equal(pvrig_ack(g), PV_ACK | PV_CMD_CREATE_PD);
    assert_int_equal(g->irqs[PV_VECTOR_RESPONSE], 1);
    assert_true(sim_now(&g->sim) - begun >= LATE_NS);

    /* The answer to another command is not delayed, but overtakes no earlier one. */
    assert_int_equal(pvrig_ask(g, CREATE_PD, handle, .handle = 0), 0);
    assert_int_equal(g->rsp[0], 0xee);
    assert_int_equal(pvrig_ask(g, QUERY_PKEY, query_pkey, .port = 1), 0);
    assert_int_equal(pvrig_ack(g), PV_ACK | PV_CMD_QUERY_PKEY);
    pvrig_run(g);
    pvrig_peek(g, RESPONSE_AT, g->rsp, sizeof(g->rsp));
    assert_int_equal(pvrig_ack(g), PV_ACK | PV_CMD_QUERY_PKEY);
    assert_int_equal(g->irqs[PV_VECTOR_RESPONSE], 3);
    assert_int_equal(f.hits, 2);

    /* A reset forgets it. */
    f = fault_of(FLT_LATE_DATA, PV_QUEUE_COMMANDS);
    f.time_ns = LATE_NS;
    device_fault_add(&g->d->faults, &f);
    assert_int_equal(pvrig_ask(g, CREATE_PD, handle, .handle = 0), 0);
    pvrig_out(g, PVR_CTL, PV_CTL_RESET);
    pvrig_run(g);
    pvrig_peek(g, RESPONSE_AT, g->rsp, sizeof(g->rsp));
    assert_int_equal(g->rsp[0], 0xee);
}

/* A second late answer would take the place of the first one, whose interrupt would be missing. */
static void one_answer_is_late_at_a_time(void **state)
{
    struct pv_rig *g = *state;
    struct device_fault f = fault_of(FLT_LATE_DATA, PV_QUEUE_COMMANDS);

    f.time_ns = LATE_NS;
    f.count = 2;
    device_fault_add(&g->d->faults, &f);
    assert_int_equal(pvrig_ask(g, CREATE_PD, handle, .handle = 0), 0);
    assert_int_equal(g->rsp[0], 0xee);
    assert_int_equal(pvrig_ask(g, QUERY_PKEY, query_pkey, .port = 1), 0);
    assert_int_equal(pvrig_ack(g), PV_ACK | PV_CMD_QUERY_PKEY);
    assert_int_equal(f.hits, 1);
    pvrig_run(g);
    assert_int_equal(g->irqs[PV_VECTOR_RESPONSE], 2);
    assert_int_equal(pvrig_ask(g, CREATE_PD, handle, .handle = 0), 0);
    assert_int_equal(g->rsp[0], 0xee); /* the next one can be late again */
    assert_int_equal(f.hits, 2);
    pvrig_run(g);
    assert_int_equal(g->irqs[PV_VECTOR_RESPONSE], 3);
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, pvrig_set_up, pvrig_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_RIG(a_lost_doorbell_leaves_the_request_in_the_ring),
        WITH_RIG(a_lost_interrupt_leaves_the_notification),
        WITH_RIG(a_notification_that_has_waited_can_lose_its_interrupt),
        WITH_RIG(a_lost_completion_is_in_no_slot),
        WITH_RIG(a_late_answer_comes_with_its_interrupt),
        WITH_RIG(one_answer_is_late_at_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
