/* SPDX-License-Identifier: MIT */
/* Asynchronous events, written by the device into the buffers of the event queue. */
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/virtio_rdma/ctrl_cmd.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "machine.h"

#include <string.h>

/* Brings the RDMA function up with its control queue and, with EVENTQ, its event queue. */
static struct ring start(struct machine *m, uint64_t features)
{
    struct ring events = {.queue = queue_of_events(MACHINE_MAX_CQ, MACHINE_MAX_QP)};
    struct ring *const queues[] = {&m->ctrl, &events};

    m->ctrl.queue = QUEUE_CTRL;
    machine_start(m, &m->rdma.pci, features, queues, features & VIRTIO_FEATURE(VF_EVENTQ) ? 2 : 1);
    return events;
}

static struct rfc_async_event told(const struct machine *m, uint32_t i)
{
    struct raw_async_event raw;
    struct rfc_async_event event;

    machine_peek(m, MACHINE_EVENT_AT(i), &raw, sizeof(raw));
    rfc_async_event_get(&event, &raw);
    return event;
}

static void raise(struct machine *m, enum async_event type, uint32_t number)
{
    rnic_event(&m->rdma.nic, type, number);
}

/* The event at place @i of those for which there was no buffer yet. */
static struct rnic_event waiting(const struct machine *m, uint32_t i)
{
    const struct rnic_events *e = &m->rdma.nic.events;

    return e->ring[(e->first + i) % RNIC_EVENTS_MAX];
}

static void an_event_uses_up_a_buffer_and_interrupts(void **state)
{
    struct machine *m = *state;
    struct ring r = start(m, VIRTIO_FEATURE(VF_EVENTQ));
    uint32_t head, len;

    ring_post_event(m, &r, 0, EVENT_BYTES);
    rnic_link_changed(&m->rdma.nic, true);
    machine_run(m);
    assert_true(ring_used(m, &r, &head, &len));
    assert_int_equal(len, EVENT_BYTES);
    assert_int_equal(told(m, 0).type, ASE_PORT_ACTIVE);
    assert_int_equal(told(m, 0).number, 1);
    assert_int_equal(m->n_irq, 1);
    assert_int_equal(m->irq.queue, r.queue);
    assert_int_equal(m->events[EV_async_event], 1);
}

static void events_wait_for_buffers_in_their_order(void **state)
{
    struct machine *m = *state;
    struct ring r = start(m, VIRTIO_FEATURE(VF_EVENTQ) | VIRTIO_FEATURE(VF_EVENT_IDX));
    uint32_t head, len;

    raise(m, ASE_CQ_ERR, 2);
    raise(m, ASE_COMM_EST, 4);
    machine_run(m);
    assert_false(ring_used(m, &r, &head, &len));
    for (uint32_t i = 0; i < 2; i++) {
        ring_post_event(m, &r, i, EVENT_BYTES);
        ring_kick(&r);
        machine_run(m);
        assert_true(ring_used(m, &r, &head, &len));
    }
    assert_int_equal(told(m, 0).type, ASE_CQ_ERR);
    assert_int_equal(told(m, 0).number, 2);
    assert_int_equal(told(m, 1).type, ASE_COMM_EST);
    assert_int_equal(told(m, 1).number, 4);
}

static void too_many_are_lost_and_the_next_says_so(void **state)
{
    struct machine *m = *state;
    struct ring r = start(m, VIRTIO_FEATURE(VF_EVENTQ));

    for (uint32_t i = 0; i < RNIC_EVENTS_MAX; i++)
        raise(m, ASE_COMM_EST, 2);
    assert_int_equal(m->last[EV_async_event].u.async_event.lost, 0);
    raise(m, ASE_SQ_DRAINED, 2);
    assert_int_equal(m->last[EV_async_event].u.async_event.lost, 1);
    assert_int_equal(m->rdma.nic.events.lost, 1);
    assert_int_equal(m->rdma.nic.events.raised, RNIC_EVENTS_MAX + 1);
    ring_post_event(m, &r, 0, EVENT_BYTES);
    ring_post_event(m, &r, 1, EVENT_BYTES);
    ring_kick(&r);
    machine_run(m);
    assert_int_equal(told(m, 0).type, ASE_COMM_EST | ASYNC_EVENTS_MISSED);
    assert_int_equal(told(m, 1).type, ASE_COMM_EST);
}

static void a_buffer_that_is_too_small_comes_back_empty(void **state)
{
    struct machine *m = *state;
    struct ring r = start(m, VIRTIO_FEATURE(VF_EVENTQ));
    uint32_t head, len;

    ring_post_event(m, &r, 0, EVENT_BYTES - 1);
    ring_post_event(m, &r, 1, EVENT_BYTES);
    rnic_link_changed(&m->rdma.nic, true);
    assert_true(ring_used(m, &r, &head, &len));
    assert_int_equal(len, 0);
    assert_true(ring_used(m, &r, &head, &len));
    assert_int_equal(len, EVENT_BYTES);
    assert_int_equal(told(m, 1).type, ASE_PORT_ACTIVE);
}

/* On rxe a CQ survives an overflow, so its buffer that is too small comes back: that one, and not
 * the buffer of the event that tells of the overflow.
 */
static void a_cq_buffer_that_is_too_small_comes_back_with_its_own_number(void **state)
{
    struct machine *m = *state;
    struct rfc_add_gid gid = {.gid_type = GID_TYPE_ROCE_V2, .port_num = HCA_PORT};
    uint32_t head, len;
    struct ring r;
    struct pair p;

    m->rdma.config.nic.profile = PROFILE_rxe;
    r = start(m, VIRTIO_FEATURE(VF_EVENTQ) | VIRTIO_FEATURE(VF_RING_RESET));
    memcpy(gid.gid, machine_gid, GID_BYTES);
    assert_int_equal(machine_ask_add_gid(m, CMD_ADD_GID, &gid), RSP_OK);
    p = machine_pair(m, machine_mac);
    for (uint32_t i = 0; i < 3; i++)
        ring_post_event(m, &r, i, EVENT_BYTES);
    rnic_link_changed(&m->rdma.nic, true); /* GID_CHANGE and this take two of the buffers */
    pair_give_cqes(m, &p, 1, sizeof(struct raw_cqe) - 1);
    pair_post_recv(m, &p, 1, BUFFER_AT + 0x400, 10);
    pair_post_send(m, &p, &(struct rfc_sq_wqe){.opcode = WR_SEND}, NULL, 0);
    ring_kick(&p.sq);
    machine_run(m);
    assert_true(m->events[EV_cq_overflow] > 0);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(ring_used(m, &r, &head, &len));
        assert_int_equal(head, i);
    }
    assert_int_equal(told(m, 1).type, ASE_PORT_ACTIVE);
    assert_int_equal(told(m, 2).type, ASE_CQ_ERR);
    assert_true(ring_used(m, &p.cq, &head, &len));
    assert_int_equal(head, 0);
    assert_int_equal(len, 0);
}

static void without_the_queue_the_configuration_counts(void **state)
{
    struct machine *m = *state;
    const uint32_t at = BAR_DEVICE + (uint32_t)offsetof(struct raw_config, reserved);
    uint64_t generation;

    (void)start(m, 0);
    generation = machine_in(&m->rdma.pci, REG_CONFIG_GENERATION, 1);
    raise(m, ASE_CQ_ERR, 1);
    raise(m, ASE_CQ_ERR, 2);
    machine_run(m);
    assert_int_equal(virtio_read(&m->rdma.pci, at, 8), 2);
    assert_int_equal(machine_in(&m->rdma.pci, REG_CONFIG_GENERATION, 1), generation + 1);
    assert_int_equal(m->n_irq, 2);
    assert_int_equal(m->irq.queue, VIRTIO_IRQ_CONFIG);
    machine_out(&m->rdma.pci, REG_DEVICE_STATUS, 1, 0);
    assert_int_equal(virtio_read(&m->rdma.pci, at, 8), 0);
}

/* The driver compares it with what it has read before: a smaller one would hide events. */
static void what_the_configuration_counts_stays_when_a_limit_changes(void **state)
{
    const uint32_t at = BAR_DEVICE + (uint32_t)offsetof(struct raw_config, reserved);
    const struct rdl_device_limits fewer = {.max_pd = 1};
    struct machine *m = *state;
    uint64_t generation;

    (void)start(m, 0);
    raise(m, ASE_CQ_ERR, 1);
    raise(m, ASE_CQ_ERR, 2);
    generation = machine_in(&m->rdma.pci, REG_CONFIG_GENERATION, 1);
    assert_true(virtio_rdma_device_ops.limit(&m->rdma, &fewer));
    assert_int_equal(virtio_read(&m->rdma.pci, at, 8), 2);
    assert_int_equal(machine_in(&m->rdma.pci, REG_CONFIG_GENERATION, 1), generation + 1);
    assert_true(virtio_rdma_device_ops.limit(&m->rdma, &fewer)); /* changes nothing */
    assert_int_equal(machine_in(&m->rdma.pci, REG_CONFIG_GENERATION, 1), generation + 1);
}

static void nobody_is_told_without_a_driver(void **state)
{
    struct machine *m = *state;

    raise(m, ASE_CQ_ERR, 1);
    assert_int_equal(m->rdma.nic.events.raised, 0);
    assert_int_equal(m->events[EV_async_event], 0);
}

/* The next object with this number would get what belongs to the one before it.  The others keep
 * their order.
 */
static void what_waits_goes_with_its_object(void **state)
{
    struct machine *m = *state;

    (void)start(m, VIRTIO_FEATURE(VF_EVENTQ) | VIRTIO_FEATURE(VF_RING_RESET));
    assert_int_equal(ASK(m, CMD_CREATE_CQ, create_cq, .cqe = 8), RSP_OK);
    raise(m, ASE_CQ_ERR, 1);
    raise(m, ASE_QP_FATAL, 1);
    raise(m, ASE_CQ_ERR, 2);
    raise(m, ASE_CQ_ERR, 1);
    assert_int_equal(m->rdma.nic.events.len, 4);
    assert_int_equal(ASK(m, CMD_DESTROY_CQ, cq_handle, .cqn = 1), RSP_OK);
    assert_int_equal(m->rdma.nic.events.len, 2);
    assert_int_equal(waiting(m, 0).type, ASE_QP_FATAL);
    assert_int_equal(waiting(m, 1).type, ASE_CQ_ERR);
    assert_int_equal(waiting(m, 1).number, 2);
    machine_out(&m->rdma.pci, REG_DEVICE_STATUS, 1, 0);
    assert_int_equal(m->rdma.nic.events.len, 0);
}

static void a_change_of_the_gid_table_is_told(void **state)
{
    static const struct {
        uint8_t last; /* byte of the address; 0: the entry is cleared */
        uint32_t told;
    } rows[] = {{9, 1}, {9, 0}, {10, 1}, {0, 1}, {0, 0}, {10, 1}};
    struct machine *m = *state;

    (void)start(m, VIRTIO_FEATURE(VF_EVENTQ));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rfc_add_gid add = {.gid_type = GID_TYPE_ROCE_V2, .index = 3, .port_num = 1};
        const uint64_t before = m->rdma.nic.events.raised;

        add.gid[15] = rows[i].last;
        if (rows[i].last)
            assert_int_equal(machine_ask_add_gid(m, CMD_ADD_GID, &add), RSP_OK);
        else
            assert_int_equal(ASK(m, CMD_DEL_GID, del_gid, .index = 3, .port = 1), RSP_OK);
        assert_int_equal(m->rdma.nic.events.raised - before, rows[i].told);
    }
    assert_int_equal(m->last[EV_async_event].u.async_event.event, ASE_GID_CHANGE);
}

static void a_broken_event_queue_is_the_end(void **state)
{
    struct machine *m = *state;
    struct ring r = start(m, VIRTIO_FEATURE(VF_EVENTQ));

    ring_offer(m, &r, RING_SIZE); /* no such descriptor */
    rnic_link_changed(&m->rdma.nic, true);
    assert_true(rdma_broken(&m->rdma));
    assert_int_equal(m->last[EV_async_event].u.async_event.event, ASE_DEVICE_FATAL);
    raise(m, ASE_CQ_ERR, 1);
    assert_int_equal(m->events[EV_async_event], 2);
}

#define T(f) cmocka_unit_test_setup_teardown(f, machine_power_on, machine_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(an_event_uses_up_a_buffer_and_interrupts),
        T(events_wait_for_buffers_in_their_order),
        T(too_many_are_lost_and_the_next_says_so),
        T(a_buffer_that_is_too_small_comes_back_empty),
        T(a_cq_buffer_that_is_too_small_comes_back_with_its_own_number),
        T(without_the_queue_the_configuration_counts),
        T(what_the_configuration_counts_stays_when_a_limit_changes),
        T(nobody_is_told_without_a_driver),
        T(what_waits_goes_with_its_object),
        T(a_change_of_the_gid_table_is_told),
        T(a_broken_event_queue_is_the_end),
    };

    return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
