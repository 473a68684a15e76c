/* SPDX-License-Identifier: MIT */
/* Completion event queues, and arming in memory.  The events are raised as the RNIC raises them. */
#include "emu/device/internal.h"
#include "emu/facts/device.h"
#include "machine.h"

#include <stddef.h>

#define ARM_AT   0x50000u
#define FEATURES (VIRTIO_FEATURE(VF_CEQ) | VIRTIO_FEATURE(VF_ARM_MEM))

/* Brings the device up with its control queue and CEQ 0, and makes CQ 1 and CQ 2 of that CEQ. */
static struct ring start(struct machine *m, uint64_t features)
{
    struct ring ceq = {.queue = rdma_ceq(&m->rdma, 0)};
    struct ring *const queues[] = {&m->ctrl, &ceq};

    m->ctrl.queue = QUEUE_CTRL;
    machine_start(m, &m->rdma.pci, FEATURES | features, queues, 2);
    assert_int_equal(ASK(m, CMD_CREATE_CQ_EX, create_cq_ex, .cqe = 4, .arm = ARM_AT), RSP_OK);
    assert_int_equal(ASK(m, CMD_CREATE_CQ, create_cq, .cqe = 4), RSP_OK);
    m->n_irq = 0;
    return ceq;
}

static struct cq *cq_of(struct machine *m, uint32_t cqn)
{
    return hca_cq(&m->rdma.nic.hca, cqn);
}

/* Returns the event in buffer @i. */
static struct rfc_cq_event event_in(const struct machine *m, uint32_t i)
{
    struct raw_cq_event raw;
    struct rfc_cq_event event;

    machine_peek(m, MACHINE_EVENT_AT(i), &raw, sizeof(raw));
    rfc_cq_event_get(&event, &raw);
    return event;
}

/* Returns the CQN in buffer @i, whose event answers no arming in memory with a number. */
static uint32_t told(const struct machine *m, uint32_t i)
{
    const struct rfc_cq_event event = event_in(m, i);

    assert_int_equal(event.number, 0);
    return event.cqn;
}

static void arm(struct machine *m, uint32_t number, uint32_t flags)
{
    const struct rfc_cq_arm a = {.arm = number << CQ_ARM_SEQUENCE_SHIFT | flags};
    struct raw_cq_arm raw;

    rfc_cq_arm_put(&raw, &a);
    machine_poke(m, ARM_AT, &raw, sizeof(raw));
}

/* A completion of CQ 1.  Returns true if it raised an event. */
static bool complete(struct machine *m, bool solicited)
{
    const struct completion wc = {.solicited = solicited};
    struct cq *cq = cq_of(m, 1);

    rdma_arm_look(&m->rdma, cq);
    if (!cq_completed(&m->rdma.nic.hca, cq, &wc))
        return false;
    rdma_completed(&m->rdma, cq);
    return true;
}

static void an_event_names_its_queue_and_interrupts(void **state)
{
    struct machine *m = *state;
    struct ring r = start(m, 0);
    uint32_t head, len;

    ring_post_event(m, &r, 0, EVENT_BYTES);
    ring_post_event(m, &r, 1, EVENT_BYTES);
    rdma_completed(&m->rdma, cq_of(m, 2));
    rdma_completed(&m->rdma, cq_of(m, 1));
    machine_run(m);
    assert_true(ring_used(m, &r, &head, &len));
    assert_int_equal(len, EVENT_BYTES);
    assert_int_equal(told(m, 0), 2);
    assert_int_equal(told(m, 1), 1);
    assert_int_equal(m->n_irq, 2);
    assert_int_equal(m->irq.queue, r.queue);
    assert_int_equal(m->events[EV_ceq_event], 2);
    assert_int_equal(m->events[EV_ceq_wait], 0);
}

static void events_wait_for_buffers_in_their_order(void **state)
{
    struct machine *m = *state;
    struct ring r = start(m, VIRTIO_FEATURE(VF_EVENT_IDX));
    uint32_t head, len;

    rdma_completed(&m->rdma, cq_of(m, 2));
    rdma_completed(&m->rdma, cq_of(m, 1));
    rdma_completed(&m->rdma, cq_of(m, 2)); /* one event a queue waits */
    machine_run(m);
    assert_int_equal(m->events[EV_ceq_wait], 2);
    assert_null(rdma_ceqs_invariant(&m->rdma));
    assert_true(rdma_ceq_waits(&m->rdma, r.queue));
    for (uint32_t i = 0; i < 2; i++) {
        ring_post_event(m, &r, i, EVENT_BYTES);
        ring_kick(&r);
        machine_run(m);
        assert_true(ring_used(m, &r, &head, &len));
        assert_int_equal(told(m, i), 2 - i);
    }
    assert_false(rdma_ceq_waits(&m->rdma, r.queue));
    ring_post_event(m, &r, 2, EVENT_BYTES);
    ring_kick(&r);
    machine_run(m);
    assert_false(ring_used(m, &r, &head, &len));
}

static void a_destroyed_queue_has_no_events(void **state)
{
    struct machine *m = *state;
    struct ring r = start(m, 0);

    rdma_completed(&m->rdma, cq_of(m, 1));
    rdma_completed(&m->rdma, cq_of(m, 2));
    assert_int_equal(ASK(m, CMD_DESTROY_CQ, cq_handle, .cqn = 1), RSP_OK);
    assert_null(rdma_ceqs_invariant(&m->rdma));
    ring_post_event(m, &r, 0, EVENT_BYTES);
    ring_post_event(m, &r, 1, EVENT_BYTES);
    ring_kick(&r);
    machine_run(m);
    assert_int_equal(m->events[EV_ceq_event], 1);
    assert_int_equal(told(m, 0), 2);
}

static void a_buffer_that_is_too_small_comes_back_empty(void **state)
{
    struct machine *m = *state;
    struct ring r = start(m, 0);
    uint32_t head, len;

    ring_post_event(m, &r, 0, EVENT_BYTES - 1);
    rdma_completed(&m->rdma, cq_of(m, 1));
    assert_true(ring_used(m, &r, &head, &len));
    assert_int_equal(len, 0);
    assert_true(rdma_ceq_waits(&m->rdma, r.queue));
    ring_post_event(m, &r, 1, EVENT_BYTES);
    ring_kick(&r);
    machine_run(m);
    assert_int_equal(told(m, 1), 1);
}

static void an_event_has_the_number_of_its_arming(void **state)
{
    struct machine *m = *state;
    struct ring r = start(m, 0);

    for (uint32_t i = 0; i < 2; i++)
        ring_post_event(m, &r, i, EVENT_BYTES);
    arm(m, 5, NOTIFY_NEXT_COMPLETION);
    assert_true(complete(m, false));
    arm(m, 6, NOTIFY_NEXT_COMPLETION);
    machine_run(m);
    assert_int_equal(event_in(m, 0).number, 5);
    assert_true(complete(m, false));
    machine_run(m);
    assert_int_equal(event_in(m, 1).number, 6);
    assert_int_equal(event_in(m, 1).cqn, 1);
}

static void an_arming_in_memory_fires_once(void **state)
{
    struct machine *m = *state;
    struct ring r = start(m, 0);

    (void)r;
    assert_false(complete(m, true)); /* memory of zeros: not armed */
    arm(m, 0, NOTIFY_NEXT_COMPLETION);
    assert_true(complete(m, false));
    assert_false(complete(m, false)); /* the same number */
    arm(m, 1, NOTIFY_SOLICITED);
    assert_false(complete(m, false));
    assert_int_equal(m->events[EV_arm_seen], 2);
    assert_true(complete(m, true));
    arm(m, 2, 0);
    assert_false(complete(m, true));
    arm(m, 1, NOTIFY_NEXT_COMPLETION); /* the number of the last event */
    assert_false(complete(m, false));
    arm(m, 0, NOTIFY_NEXT_COMPLETION);
    assert_true(complete(m, false));
    assert_int_equal(m->events[EV_arm_seen], 3);
}

static void a_reset_forgets_what_waits(void **state)
{
    struct machine *m = *state;
    struct ring r = start(m, 0);

    rdma_completed(&m->rdma, cq_of(m, 1));
    assert_true(rdma_ceq_waits(&m->rdma, r.queue));
    machine_out(&m->rdma.pci, REG_DEVICE_STATUS, 1, 0);
    assert_false(rdma_ceq_waits(&m->rdma, r.queue));
    assert_null(rdma_ceqs_invariant(&m->rdma));
}

static void the_configuration_tells_their_number(void **state)
{
    struct machine *m = *state;
    const uint32_t at = (uint32_t)offsetof(struct raw_config, reserved) + CEQ_LIMITS_AT;

    (void)start(m, 0);
    assert_int_equal(ld_le32(m->rdma.pci.device_config + at), MACHINE_CEQS);
    assert_int_equal(rdma_ceq(&m->rdma, MACHINE_CEQS), m->rdma.pci.config.num_queues);
}

#define T(f) cmocka_unit_test_setup_teardown(f, machine_power_on_ceqs, machine_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(an_event_names_its_queue_and_interrupts),
        T(events_wait_for_buffers_in_their_order),
        T(a_destroyed_queue_has_no_events),
        T(a_buffer_that_is_too_small_comes_back_empty),
        T(an_event_has_the_number_of_its_arming),
        T(an_arming_in_memory_fires_once),
        T(a_reset_forgets_what_waits),
        T(the_configuration_tells_their_number),
    };

    return cmocka_run_group_tests_name("ceq", tests, NULL, NULL);
}
