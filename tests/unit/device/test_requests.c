/* SPDX-License-Identifier: MIT */
/* How a control request may be split into buffers, when it is executed, and what happens to a
 * malformed control queue.
 */
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "machine.h"

#include <string.h>

#define REQ REQUEST_AT
#define RSP RESPONSE_AT

/* Kicks the control queue and expects that its oldest chain comes back with @want bytes written,
 * the first of them @code.
 */
static void expect(struct machine *m, uint32_t want, uint8_t code)
{
    uint32_t head, len;
    uint8_t rsp = 0xee;

    ring_kick(&m->ctrl);
    machine_run(m);
    assert_true(ring_used(m, &m->ctrl, &head, &len));
    assert_int_equal(len, want);
    machine_peek(m, RSP, &rsp, 1);
    if (want > 0)
        assert_int_equal(rsp, code);
}

static void put_request(struct machine *m, uint8_t cmd, uint32_t number)
{
    uint8_t b[5] = {cmd};

    st_le32(b + 1, number);
    machine_poke(m, REQ, b, sizeof(b));
}

static uint32_t pds(const struct machine *m)
{
    return m->rdma.nic.hca.pds.used;
}

static void buffers_may_be_cut_anywhere(void **state)
{
    const struct seg bytes[] = {{REQ, 1},     {REQ + 1, 1}, {REQ + 2, 1}, {REQ + 3, 1},
                                {REQ + 4, 1}, {RSP, 1},     {RSP + 1, 3}, {RSP + 4, 1}};
    const struct seg mixed[] = {{REQ, 3}, {REQ + 3, 200}, {RSP, 100}};
    struct machine *m = *state;
    uint8_t number[4];

    put_request(m, CMD_CREATE_CQ, 8);
    ring_post(m, &m->ctrl, bytes, 5, 3);
    expect(m, 5, RSP_OK);
    machine_peek(m, RSP + 1, number, sizeof(number));
    assert_int_equal(ld_le32(number), 1);
    put_request(m, CMD_DESTROY_CQ, 1);
    ring_post(m, &m->ctrl, mixed, 2, 1); /* more bytes than the request has: they are not read */
    expect(m, 1, RSP_OK);
}

static void an_indirect_table_is_as_good_as_a_chain(void **state)
{
    static const uint32_t table_at = 0x24000;
    struct machine *m = *state;
    const struct ring table = {.at.desc = table_at};

    put_request(m, CMD_CREATE_CQ, 8);
    ring_desc(m, &table, 0, (struct seg){REQ, 5}, VRING_NEXT, 1);
    ring_desc(m, &table, 1, (struct seg){RSP, 5}, VRING_WRITE, 0);
    ring_desc(m, &m->ctrl, 9, (struct seg){table_at, 2 * VRING_DESC_BYTES}, VRING_INDIRECT, 0);
    ring_offer(m, &m->ctrl, 9);
    expect(m, 5, RSP_OK);
}

static void what_does_not_fit_changes_nothing(void **state)
{
    struct machine *m = *state;

    assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, 4), RSP_INVALID_ARG); /* it needs 5 */
    assert_int_equal(m->rsp_bytes, 1);
    assert_int_equal(pds(m), 0);
    assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, 5), RSP_OK);
    assert_int_equal(m->rsp_bytes, 5);
    assert_int_equal(pds(m), 1);
    /* A request that ends before its data does. */
    assert_int_equal(machine_ask(m, CMD_DESTROY_PD, "\1\0\0", 3, ROOM), RSP_INVALID_ARG);
    assert_int_equal(machine_ask(m, CMD_DESTROY_PD, "\1\0\0\0", 4, 1), RSP_OK);
    assert_int_equal(m->rsp_bytes, 1);
}

static void a_request_without_room_for_a_response_is_not_executed(void **state)
{
    const struct seg only[] = {{REQ, 5}};
    struct machine *m = *state;

    put_request(m, CMD_CREATE_PD, 0);
    ring_post(m, &m->ctrl, only, 1, 0);
    expect(m, 0, 0);
    assert_int_equal(pds(m), 0);
    assert_int_equal(m->events[EV_ctrl_execute], 1); /* that of GID 0, at the start */
}

static void a_request_without_a_command_byte_is_unknown(void **state)
{
    const struct seg only[] = {{RSP, 5}};
    struct machine *m = *state;

    ring_post(m, &m->ctrl, only, 0, 1);
    expect(m, 1, RSP_UNKNOWN_COMMAND);
}

static void one_kick_is_enough_for_many_requests(void **state)
{
    const struct seg segs[] = {{REQ, 1}, {RSP, 5}};
    struct machine *m = *state;
    uint32_t head, len;

    put_request(m, CMD_CREATE_PD, 0);
    for (uint32_t i = 0; i < 3; i++)
        ring_post(m, &m->ctrl, segs, 1, 1);
    ring_kick(&m->ctrl);
    ring_kick(&m->ctrl); /* while the first is on its way: nothing more happens */
    machine_run(m);
    assert_int_equal(pds(m), 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(ring_used(m, &m->ctrl, &head, &len));
    assert_false(ring_used(m, &m->ctrl, &head, &len));
    assert_int_equal(m->n_irq, 3);
    assert_int_equal(m->irq.number, pci_number_of(FN_RDMA));
    assert_int_equal(m->irq.vector, VECTOR_QUEUE);
    assert_int_equal(m->irq.queue, QUEUE_CTRL);
}

static void a_request_takes_its_time(void **state)
{
    struct machine *m = *state;
    const struct seg segs[] = {{REQ, 1}, {RSP, 5}};
    const uint64_t t0 = sim_now(&m->sim);

    put_request(m, CMD_CREATE_PD, 0);
    ring_post(m, &m->ctrl, segs, 1, 1);
    ring_kick(&m->ctrl);
    assert_int_equal(pds(m), 0);
    assert_int_equal(sim_next_ns(&m->sim), t0 + RDMA_CTRL_NS);
    sim_dispatch(&m->sim);
    assert_int_equal(pds(m), 1);
    assert_int_equal(sim_next_ns(&m->sim), t0 + RDMA_CTRL_NS + FN_IRQ_NS);
}

static void while_booting_requests_are_executed_at_once_and_silently(void **state)
{
    struct machine *m = *state;
    const struct seg segs[] = {{REQ, 1}, {RSP, 5}};

    m->rdma.nic.booting = true;
    put_request(m, CMD_CREATE_PD, 0);
    ring_post(m, &m->ctrl, segs, 1, 1);
    ring_kick(&m->ctrl);
    assert_int_equal(pds(m), 1);
    assert_int_equal(sim_next_ns(&m->sim), UINT64_MAX);
    m->rdma.nic.booting = false;
}

static void a_driver_that_wants_no_interrupt_gets_none(void **state)
{
    struct machine *m = *state;
    uint8_t flags[2];

    st_le16(flags, VRING_AVAIL_NO_INTERRUPT);
    machine_poke(m, m->ctrl.at.avail, flags, sizeof(flags));
    assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_OK);
    assert_int_equal(m->n_irq, 0);
    st_le16(flags, 0);
    machine_poke(m, m->ctrl.at.avail, flags, sizeof(flags));
    m->rdma.pci.queues[QUEUE_CTRL].vector = VIRTIO_NO_VECTOR;
    assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_OK);
    assert_int_equal(m->n_irq, 0);
}

/* How a ring can be broken; in all of them the device reads no further and asks to be reset. */
enum fault {
    FAULT_HEAD,
    FAULT_NEXT,
    FAULT_LOOP,
    FAULT_ADDRESS,
    FAULT_ORDER,
    FAULT_LENGTH,
    FAULT_INDIRECT,
    FAULT_INDEX,
};

static void break_ring(struct machine *m, enum fault fault)
{
    const struct seg req = {REQ, 1}, rsp = {RSP, 5};
    struct ring *r = &m->ctrl;

    ring_desc(m, r, 0, req, VRING_NEXT, 1);
    ring_desc(m, r, 1, rsp, VRING_WRITE, 0);
    if (fault == FAULT_NEXT)
        ring_desc(m, r, 0, req, VRING_NEXT, RING_SIZE);
    else if (fault == FAULT_LOOP)
        ring_desc(m, r, 1, rsp, VRING_WRITE | VRING_NEXT, 1);
    else if (fault == FAULT_ADDRESS)
        ring_desc(m, r, 1, (struct seg){MACHINE_RAM_BYTES - 4, 5}, VRING_WRITE, 0);
    else if (fault == FAULT_ORDER)
        ring_desc(m, r, 0, rsp, VRING_WRITE | VRING_NEXT, 2);
    else if (fault == FAULT_LENGTH)
        ring_desc(m, r, 1, (struct seg){RSP, 0}, VRING_WRITE, 0);
    else if (fault == FAULT_INDIRECT)
        ring_desc(m, r, 1, rsp, VRING_INDIRECT, 0);
    ring_desc(m, r, 2, req, 0, 0);
    if (fault == FAULT_INDEX)
        r->avail_idx = (uint16_t)(r->avail_idx + RING_SIZE);
    ring_offer(m, r, fault == FAULT_HEAD ? RING_SIZE : 0);
}

static void a_broken_control_queue_needs_a_reset(void **state)
{
    static const struct {
        enum fault fault;
        enum vq_error error;
    } rows[] = {
        {FAULT_HEAD, VQE_BAD_HEAD},
        {FAULT_NEXT, VQE_BAD_NEXT},
        {FAULT_LOOP, VQE_LOOP},
        {FAULT_ADDRESS, VQE_BAD_ADDRESS},
        {FAULT_ORDER, VQE_BAD_ORDER},
        {FAULT_LENGTH, VQE_ZERO_LENGTH},
        {FAULT_INDIRECT, VQE_BAD_INDIRECT},
        {FAULT_INDEX, VQE_AVAIL_RUNS_AWAY},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const uint8_t create_pd = CMD_CREATE_PD;
        struct machine *m;
        uint32_t head, len;

        machine_set_up((void **)&m);
        assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_OK);
        m->n_irq = 0;
        machine_poke(m, REQ, &create_pd, 1);
        break_ring(m, rows[i].fault);
        ring_kick(&m->ctrl);
        machine_run(m);
        assert_int_equal(m->events[EV_vq_broken], 1);
        assert_int_equal(m->last[EV_vq_broken].u.vq_broken.error, rows[i].error);
        assert_int_equal(m->last[EV_vq_broken].u.vq_broken.queue, QUEUE_CTRL);
        assert_true(rdma_broken(&m->rdma));
        assert_false(ring_used(m, &m->ctrl, &head, &len));
        assert_int_equal(pds(m), 1);
        assert_int_equal(m->n_irq, 1);
        assert_int_equal(m->irq.vector, VECTOR_CONFIG);
        assert_int_equal(m->irq.queue, VIRTIO_IRQ_CONFIG);
        machine_tear_down((void **)&m);
    }
}

/* Queue reset makes avail.idx begin at 0 again, while the next protection domain has number AHEAD +
 * 1: laid over avail.idx, each number offers the one chain anew.
 */
static void a_ring_that_feeds_itself_has_one_turn_in_each_tick(void **state)
{
    enum { AHEAD = 3, TURNS = 4 };
    struct machine *m = *state;

    for (uint32_t i = 0; i < AHEAD; i++)
        assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_OK);
    machine_reset_queue(&m->rdma.pci, QUEUE_CTRL);
    m->ctrl = ring_enable(m, &m->rdma.pci, QUEUE_CTRL);
    machine_out(&m->rdma.pci, REG_QUEUE_MSIX_VECTOR, 2, VIRTIO_NO_VECTOR);
    put_request(m, CMD_CREATE_PD, 0);
    ring_desc(m, &m->ctrl, 0, (struct seg){REQ, 1}, VRING_NEXT, 1);
    ring_desc(m, &m->ctrl, 1, (struct seg){vring_avail_idx_at(&m->ctrl.at) - 1, 5}, VRING_WRITE, 0);
    ring_offer(m, &m->ctrl, 0);
    ring_kick(&m->ctrl);
    for (uint32_t turn = 1; turn <= TURNS; turn++) {
        while (pds(m) == AHEAD + (turn - 1) * RING_SIZE)
            sim_dispatch(&m->sim);
        assert_int_equal(pds(m), AHEAD + turn * RING_SIZE);
    }
    assert_false(rdma_broken(&m->rdma));
    machine_out(&m->rdma.pci, REG_DEVICE_STATUS, 1, 0); /* the end of it */
    machine_run(m);
    assert_int_equal(pds(m), 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, machine_set_up, machine_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(buffers_may_be_cut_anywhere),
        T(an_indirect_table_is_as_good_as_a_chain),
        T(what_does_not_fit_changes_nothing),
        T(a_request_without_room_for_a_response_is_not_executed),
        T(a_request_without_a_command_byte_is_unknown),
        T(one_kick_is_enough_for_many_requests),
        T(a_request_takes_its_time),
        T(while_booting_requests_are_executed_at_once_and_silently),
        T(a_driver_that_wants_no_interrupt_gets_none),
        T(a_ring_that_feeds_itself_has_one_turn_in_each_tick),
        cmocka_unit_test(a_broken_control_queue_needs_a_reset),
    };

    return cmocka_run_group_tests_name("requests", tests, NULL, NULL);
}
