/* SPDX-License-Identifier: MIT */
/* The device from power-on to reset: configuration, queues, interrupts. */
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "machine.h"

#include <string.h>

static struct rfc_config read_config(struct machine *m)
{
    struct raw_config raw;
    struct rfc_config c;
    uint8_t *bytes = (uint8_t *)&raw;

    for (uint32_t i = 0; i < sizeof(raw); i++)
        bytes[i] = (uint8_t)virtio_read(&m->rdma.pci, BAR_DEVICE + i, 1);
    rfc_config_get(&c, &raw);
    return c;
}

static void the_configuration_says_what_the_device_has(void **state)
{
    static const uint8_t guid[8] = {0, 0, 0, 0xff, 0xfe, 0, 0, 1}; /* of machine_mac, EUI-64 */
    struct machine *m = *state;
    const struct rfc_config c = read_config(m);

    assert_int_equal(c.phys_port_cnt, 1);
    assert_memory_equal(c.sys_image_guid, guid, sizeof(guid));
    assert_int_equal(c.max_mr_size, 1u << 30);
    assert_int_equal(c.page_size_cap, 4096);
    assert_int_equal(c.max_qp, MACHINE_MAX_QP);
    assert_int_equal(c.max_cq, MACHINE_MAX_CQ);
    assert_int_equal(c.max_qp_wr, 4096);
    assert_int_equal(c.max_send_sge, 32);
    assert_int_equal(c.max_recv_sge, 32);
    assert_int_equal(c.max_cqe, 32768);
    assert_int_equal(c.max_mr, 4096);
    assert_int_equal(c.max_pd, 1024);
    assert_int_equal(c.max_qp_rd_atom, 16);
    assert_int_equal(c.max_qp_init_rd_atom, 16);
    assert_int_equal(c.max_res_rd_atom, 16 * MACHINE_MAX_QP);
    assert_int_equal(c.max_pkeys, 1);
    assert_int_equal(c.device_cap_flags,
                     1u << 1 | 1u << 2 | 1u << 6 | 1u << 11 | 1u << 12 | 1u << 21);
    assert_int_equal(c.max_mcast_grp, 0); /* the driver did not accept MCAST */
    assert_int_equal(c.max_sge_rd, 32);
    assert_int_equal(c.max_ah, 65536);
    assert_int_equal(c.max_mw, 0);
    virtio_write(&m->rdma.pci, BAR_DEVICE, 4, 99); /* it cannot be written */
    assert_int_equal(read_config(m).phys_port_cnt, 1);
    assert_int_equal(machine_in(&m->rdma.pci, REG_NUM_QUEUES, 2),
                     1 + MACHINE_MAX_CQ + 2 * MACHINE_MAX_QP + 1); /* the event queue */
}

/* PD 1, CQ 1, and queue pair 2, which uses them. */
static void create_objects(struct machine *m)
{
    assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_OK);
    assert_int_equal(ASK(m, CMD_CREATE_CQ, create_cq, .cqe = 8), RSP_OK);
    assert_int_equal(ASK(m, CMD_CREATE_QP, create_qp, .pdn = 1, .qp_type = QPT_RC, .send_cqn = 1,
                         .recv_cqn = 1, .max_recv_wr = 4, .max_recv_sge = 1),
                     RSP_OK);
}

static void a_reset_forgets_all_objects_and_addresses(void **state)
{
    struct machine *m = *state;
    struct virtio_dev *dev = &m->rdma.pci;

    create_objects(m);
    assert_int_equal(ASK(m, CMD_CREATE_QP, create_qp, .pdn = 1, .qp_type = QPT_GSI, .send_cqn = 1,
                         .recv_cqn = 1),
                     RSP_OK);
    assert_int_equal(machine_number(m), QPN_GSI);
    m->rdma.nic.bad_pkeys = m->rdma.nic.bad_qkeys = 3;
    machine_out(dev, REG_DEVICE_STATUS, 1, 0);
    assert_int_equal(machine_in(dev, REG_DEVICE_STATUS, 1), 0);
    assert_false(dev->queues[QUEUE_CTRL].enabled);
    assert_int_equal(m->rdma.nic.hca.pds.used, 0);
    assert_int_equal(m->rdma.nic.hca.cqs.used, 0);
    assert_int_equal(m->rdma.nic.hca.qps.used, 0);
    assert_null(m->rdma.nic.hca.gsi);
    assert_int_equal(m->rdma.nic.bad_pkeys, 0);
    assert_int_equal(m->rdma.nic.bad_qkeys, 0);
    assert_false(hca_gid_is_own(&m->rdma.nic.hca, machine_gid));
    assert_int_equal(read_config(m).max_qp, MACHINE_MAX_QP);

    machine_start(m, dev, 0, (struct ring *const[]){&m->ctrl}, 1);
    assert_int_equal(ASK(m, CMD_DESTROY_PD, pd_handle, .pdn = 1), RSP_BAD_HANDLE);
    assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_OK);
    assert_int_equal(machine_number(m), 1);
}

static void a_doorbell_from_before_a_reset_does_nothing(void **state)
{
    const struct seg segs[] = {{REQUEST_AT, 1}, {RESPONSE_AT, 5}};
    const uint8_t create_pd = CMD_CREATE_PD;
    struct machine *m = *state;
    uint32_t head, len;

    machine_poke(m, REQUEST_AT, &create_pd, 1);
    ring_post(m, &m->ctrl, segs, 1, 1);
    ring_kick(&m->ctrl);
    machine_out(&m->rdma.pci, REG_DEVICE_STATUS, 1, 0);
    machine_run(m);
    assert_false(ring_used(m, &m->ctrl, &head, &len));
    assert_int_equal(m->rdma.nic.hca.pds.used, 0);
    /* Its successor is heard as always. */
    machine_start(m, &m->rdma.pci, 0, (struct ring *const[]){&m->ctrl}, 1);
    assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_OK);
}

static void a_queue_is_used_from_the_moment_that_it_is_enabled(void **state)
{
    struct machine *m = *state;
    struct ring sq;

    assert_false(m->rdma.pci.queues[rdma_sq(&m->rdma, 2)].enabled);
    sq.dev = &m->rdma.pci;
    sq.queue = rdma_sq(&m->rdma, 2);
    ring_kick(&sq); /* not enabled: not heard */
    assert_int_equal(sim_next_ns(&m->sim), UINT64_MAX);
    sq = ring_enable(m, &m->rdma.pci, sq.queue); /* after DRIVER_OK, as RING_RESET allows */
    ring_kick(&sq);
    assert_int_equal(sim_next_ns(&m->sim), sim_now(&m->sim) + RDMA_DOORBELL_NS);
    machine_run(m); /* no queue pair owns it yet: nothing happens */
    assert_false(rdma_broken(&m->rdma));
}

static uint16_t used_flags(const struct machine *m, const struct ring *r)
{
    uint8_t flags[2];

    machine_peek(m, r->at.used, flags, sizeof(flags));
    return ld_le16(flags);
}

static void completion_queues_ask_for_no_kicks(void **state)
{
    struct machine *m = *state;
    const uint32_t first = 1, last = MACHINE_MAX_CQ;
    struct ring r;

    r = ring_enable(m, &m->rdma.pci, first);
    assert_int_equal(used_flags(m, &r), VRING_USED_NO_NOTIFY);
    r = ring_enable(m, &m->rdma.pci, last);
    assert_int_equal(used_flags(m, &r), VRING_USED_NO_NOTIFY);
    r = ring_enable(m, &m->rdma.pci, last + 1); /* the sends of the first queue pair */
    assert_int_equal(used_flags(m, &r), 0);
    assert_int_equal(used_flags(m, &m->ctrl), 0);
}

/* The queue pair of create_objects() in INIT, with its queues enabled. */
static struct qp *qp_in_init(struct machine *m)
{
    const struct rfc_qp_attr init = {.qp_state = QPS_INIT, .port_num = 1};
    struct virtio_dev *dev = &m->rdma.pci;

    create_objects(m);
    ring_enable(m, dev, 1);
    ring_enable(m, dev, rdma_sq(&m->rdma, 2));
    ring_enable(m, dev, rdma_rq(&m->rdma, 2));
    assert_int_equal(machine_move(m, 2, &init), RSP_OK);
    return hca_qp(&m->rdma.nic.hca, 2);
}

static void a_queue_pair_in_use_cannot_go_on_without_its_queue(void **state)
{
    struct machine *m = *state;
    const struct qp *qp = qp_in_init(m);

    machine_reset_queue(&m->rdma.pci, 1); /* a CQ has no queue pair of its own */
    machine_reset_queue(&m->rdma.pci, rdma_sq(&m->rdma, 3));
    assert_int_equal(qp->state, QPS_INIT);
    machine_reset_queue(&m->rdma.pci, rdma_rq(&m->rdma, 2));
    assert_int_equal(qp->state, QPS_ERR);
    assert_false(m->rdma.pci.queues[rdma_rq(&m->rdma, 2)].enabled);
    machine_reset_queue(&m->rdma.pci, rdma_sq(&m->rdma, 2)); /* in ERR nothing more is lost */
    assert_int_equal(m->events[EV_qp_state], 2);
}

static void a_queue_pair_in_reset_does_not_mind(void **state)
{
    const struct rfc_qp_attr reset = {.qp_state = QPS_RESET};
    struct machine *m = *state;
    const struct qp *qp = qp_in_init(m);

    assert_int_equal(machine_move(m, 2, &reset), RSP_OK);
    machine_reset_queue(&m->rdma.pci, rdma_sq(&m->rdma, 2));
    assert_int_equal(qp->state, QPS_RESET);
}

/* Destroys the owners of queues that have been used, with a driver that took @features.
 * Checks that the queues are at their start then if @want_start, and are not otherwise.
 */
static void destroy_owners(uint64_t features, bool want_start)
{
    static const uint32_t cq_queue = 1;
    struct machine *m;
    struct vq *queues, *sq, *rq;

    machine_power_on((void **)&m);
    m->ctrl.queue = QUEUE_CTRL;
    machine_start(m, &m->rdma.pci, features, (struct ring *const[]){&m->ctrl}, 1);
    queues = m->rdma.pci.queues;
    sq = &queues[rdma_sq(&m->rdma, 2)];
    rq = &queues[rdma_rq(&m->rdma, 2)];
    create_objects(m);
    queues[cq_queue].last_avail = queues[cq_queue].used_idx = 5;
    sq->last_avail = sq->avail_event = 6;
    rq->used_idx = 7;
    assert_int_equal(ASK(m, CMD_DESTROY_QP, qp_handle, .qpn = 2), RSP_OK);
    assert_int_equal(ASK(m, CMD_DESTROY_CQ, cq_handle, .cqn = 1), RSP_OK);
    assert_int_equal(queues[cq_queue].last_avail, want_start ? 0 : 5);
    assert_int_equal(queues[cq_queue].used_idx, want_start ? 0 : 5);
    assert_int_equal(sq->last_avail, want_start ? 0 : 6);
    assert_int_equal(sq->avail_event, want_start ? 0 : 6);
    assert_int_equal(rq->used_idx, want_start ? 0 : 7);
    machine_tear_down((void **)&m);
}

/* Such a driver has no other way to empty a queue than to destroy its owner. */
static void without_ring_reset_a_destroyed_owner_leaves_its_queue_at_the_start(void **state)
{
    (void)state;
    destroy_owners(0, true);
    destroy_owners(VIRTIO_FEATURE(VF_RING_RESET), false);
}

static void every_queue_can_have_a_vector_and_the_configuration_too(void **state)
{
    struct machine *m = *state;
    struct virtio_dev *dev = &m->rdma.pci;
    const uint32_t n = 1 + MACHINE_MAX_CQ + 2 * MACHINE_MAX_QP + 1 + 1;

    machine_out(dev, REG_QUEUE_SELECT, 2, 1);
    machine_out(dev, REG_QUEUE_MSIX_VECTOR, 2, n - 1);
    assert_int_equal(machine_in(dev, REG_QUEUE_MSIX_VECTOR, 2), n - 1);
    machine_out(dev, REG_QUEUE_MSIX_VECTOR, 2, n); /* there is none: it reads back as such */
    assert_int_equal(machine_in(dev, REG_QUEUE_MSIX_VECTOR, 2), VIRTIO_NO_VECTOR);
    machine_out(dev, REG_CONFIG_MSIX_VECTOR, 2, n);
    assert_int_equal(machine_in(dev, REG_CONFIG_MSIX_VECTOR, 2), VIRTIO_NO_VECTOR);
}

#define T(f) cmocka_unit_test_setup_teardown(f, machine_set_up, machine_tear_down)

/* A table that virtio_rdma_device_ops.limit() took away can be given again, whatever happened
 * meanwhile.
 */
static void a_reset_takes_no_table_by_a_lower_limit(void **state)
{
    struct machine *m = *state;

    assert_true(virtio_rdma_device_ops.limit(
        &m->rdma, &(struct rdl_device_limits){.max_pd = 1, .max_mr = 1}));
    machine_out(&m->rdma.pci, REG_DEVICE_STATUS, 1, 0);
    machine_start(m, &m->rdma.pci, 0, (struct ring *const[]){&m->ctrl}, 1);
    assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_OK);
    assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_NO_RESOURCES);
    assert_true(virtio_rdma_device_ops.limit(
        &m->rdma, &(struct rdl_device_limits){.max_pd = 2, .max_mr = 2}));
    assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_OK);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(ASK(m, CMD_GET_DMA_MR, get_dma_mr, .pdn = 1), RSP_OK);
}

/* The driver takes a queue that has got another length away and gives it back, which ends no queue
 * pair: once for each request, and whatever else it asks for before.
 */
static void a_queue_may_be_taken_away_once_for_its_new_length(void **state)
{
    struct machine *m = *state;
    struct virtio_dev *dev = &m->rdma.pci;
    const uint32_t queues[] = {rdma_sq(&m->rdma, PAIR_SENDER), rdma_rq(&m->rdma, PAIR_SENDER)};
    const struct qp *qp;

    dev->accepted |= VIRTIO_FEATURE(VF_RESIZE) | VIRTIO_FEATURE(VF_RING_RESET);
    (void)machine_pair(m, machine_mac);
    qp = hca_qp(&m->rdma.nic.hca, PAIR_SENDER);
    for (uint32_t wr = 16; wr <= 32; wr += 16)
        assert_int_equal(ASK(m, CMD_RESIZE_QP, resize_qp, .qpn = PAIR_SENDER, .max_send_wr = 16,
                             .max_recv_wr = wr),
                         RSP_OK);
    for (size_t i = 0; i < ARRAY_LEN(queues); i++) {
        (void)ring_enable(m, dev, queues[i]);
        machine_out(dev, REG_QUEUE_SELECT, 2, queues[i]);
        machine_out(dev, REG_QUEUE_RESET, 2, 1);
        assert_int_equal(qp->state, QPS_RTS);
    }
    (void)ring_enable(m, dev, queues[0]);
    machine_out(dev, REG_QUEUE_RESET, 2, 1);
    assert_int_equal(qp->state, QPS_ERR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(the_configuration_says_what_the_device_has),
        T(a_reset_forgets_all_objects_and_addresses),
        T(a_doorbell_from_before_a_reset_does_nothing),
        T(a_queue_is_used_from_the_moment_that_it_is_enabled),
        T(completion_queues_ask_for_no_kicks),
        T(a_queue_pair_in_use_cannot_go_on_without_its_queue),
        T(a_queue_pair_in_reset_does_not_mind),
        T(a_reset_takes_no_table_by_a_lower_limit),
        T(a_queue_may_be_taken_away_once_for_its_new_length),
        cmocka_unit_test(without_ring_reset_a_destroyed_owner_leaves_its_queue_at_the_start),
        T(every_queue_can_have_a_vector_and_the_configuration_too),
    };

    return cmocka_run_group_tests_name("life", tests, NULL, NULL);
}
