/* SPDX-License-Identifier: MIT */
/* PVRDMA: work requests, completions, notifications, and queues that break. */
#include "pv_rig.h"

#include <string.h>

#include "emu/facts/enum/access.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/pvrdma/opcode.h"
#include "emu/hca/cq.h"
#include "emu/hca/ctrl.h"

#define SIGNALED  2u
#define SOLICITED 4u

/* Numbers of Linux's header. */
enum { SEND = 2, SEND_IMM = 3, READ = 4, CAS = 5, FAA = 6, LOCAL_INV = 10, FAST_REG = 11 };

static struct pv_sge sge(const struct pv_pair *p, uint32_t at, uint32_t bytes)
{
    return (struct pv_sge){.addr = p->mem + at, .length = bytes, .lkey = p->lkey};
}

static void put_wr(struct pv_sq_wqe *w, const void *raw, size_t n)
{
    memcpy(w->wr, raw, n);
}

/* Sends by queue pair 0 @w with one SGE of @bytes at the begin of the region, and runs. */
static void send_one(struct pv_rig *g, struct pv_pair *p, struct pv_sq_wqe w, uint32_t bytes)
{
    const struct pv_sge s = sge(p, 0, bytes);

    w.num_sge = bytes > 0;
    w.total_len = bytes;
    w.send_flags |= SIGNALED;
    pvrig_post_send(g, p, 0, w, &s);
    pvrig_kick(g, p, 0, PV_UAR_SEND);
    pvrig_run(g);
}

static struct pv_cqe next(struct pv_rig *g, struct pv_pair *p)
{
    struct pv_cqe c = {0};

    assert_true(pvrig_poll(g, p, &c));
    return c;
}

static void completed(struct pv_rig *g, struct pv_pair *p, uint32_t opcode, uint32_t status)
{
    const struct pv_cqe c = next(g, p);

    assert_int_equal(c.opcode, opcode);
    assert_int_equal(c.status, status);
}

/* --- Operations ------------------------------------------------------------------------------- */

static void a_message_comes_with_its_completions(void **state)
{
    struct pv_rig *g = *state;
    struct pv_pair p = pvrig_pair(g, QPT_RC, false);
    struct pv_cqe c;
    char got[6] = "";

    pvrig_poke(g, p.mem, "hello", 6);
    for (uint32_t i = 0; i < 3 * PAIR_WR; i++) {
        pvrig_post_recv(g, &p, 1, 100 + i, sge(&p, PV_PAGE_BYTES, 64));
        pvrig_kick(g, &p, 1, PV_UAR_RECV);
        send_one(g, &p, (struct pv_sq_wqe){.wr_id = i, .opcode = SEND_IMM, .ex = {1, 2, 3, 4}}, 6);
        c = next(g, &p);
        assert_int_equal(c.wr_id, 100 + i);
        assert_int_equal(c.qp, p.qp[1]);
        assert_int_equal(c.opcode, 0x80);
        assert_int_equal(c.byte_len, 6);
        assert_int_equal(c.wc_flags & 2, 2);
        assert_memory_equal(c.ex, ((uint8_t[]){1, 2, 3, 4}), 4);
        c = next(g, &p);
        assert_int_equal(c.wr_id, i);
        assert_int_equal(c.qp, p.qp[0]);
        assert_int_equal(c.opcode, 0);
        assert_int_equal(c.status, WCS_SUCCESS);
        assert_false(pvrig_poll(g, &p, &c));
        /* the consumer indices tell the driver that the slots are free */
        assert_int_equal(pvrig_peek32(g, p.qp_ring[0].pages + 4), p.sent[0]);
        assert_int_equal(pvrig_peek32(g, p.qp_ring[1].pages + 12), p.received[1]);
    }
    pvrig_peek(g, p.mem + PV_PAGE_BYTES, got, sizeof(got));
    assert_string_equal(got, "hello");
    assert_int_equal(g->irqs[PV_VECTOR_CQ], 0); /* it was never armed */
}

static void writes_reads_and_atomics_reach_memory(void **state)
{
    struct pv_rig *g = *state;
    struct pv_pair p = pvrig_pair(g, QPT_RC, false);
    const struct pv_wr_rdma rdma = {.remote_addr = p.mem + 512, .rkey = p.rkey};
    struct pv_wr_atomic atomic = {
        .remote_addr = p.mem + 1024, .compare_add = 7, .swap = 9, .rkey = p.rkey};
    struct pv_sq_wqe w = {.opcode = 0};
    struct pv_raw_wr_atomic raw_atomic;
    struct pv_raw_wr_rdma raw_rdma;

    pvrig_poke32(g, p.mem, 4711);
    pvrig_poke32(g, p.mem + 1024, 7);
    pv_wr_rdma_put(&raw_rdma, &rdma);
    put_wr(&w, &raw_rdma, sizeof(raw_rdma));
    send_one(g, &p, w, 4);
    completed(g, &p, 1, WCS_SUCCESS);
    assert_int_equal(pvrig_peek32(g, p.mem + 512), 4711);
    pvrig_poke32(g, p.mem + 512, 4712);
    w.opcode = READ;
    send_one(g, &p, w, 4);
    completed(g, &p, 2, WCS_SUCCESS);
    assert_int_equal(pvrig_peek32(g, p.mem), 4712);
    pv_wr_atomic_put(&raw_atomic, &atomic);
    put_wr(&w, &raw_atomic, sizeof(raw_atomic));
    w.opcode = CAS;
    send_one(g, &p, w, 8);
    completed(g, &p, 3, WCS_SUCCESS);
    assert_int_equal(pvrig_peek32(g, p.mem), 7);
    assert_int_equal(pvrig_peek32(g, p.mem + 1024), 9);
    w.opcode = FAA;
    send_one(g, &p, w, 8);
    completed(g, &p, 4, WCS_SUCCESS);
    assert_int_equal(pvrig_peek32(g, p.mem + 1024), 16);
}

/* Numbers that stand for nothing here: LSO, masked atomics, BIND, and more. */
static void other_opcodes_complete_in_error(void **state)
{
    static const uint32_t opcodes[] = {7, 12, 13, 14, 15, 16, 0x20, 0x1000, UINT32_MAX};

    for (size_t i = 0; i < ARRAY_LEN(opcodes); i++) {
        struct pv_rig *g;
        struct pv_pair p;

        (void)pvrig_set_up(state);
        g = *state;
        p = pvrig_pair(g, QPT_RC, false);
        send_one(g, &p, (struct pv_sq_wqe){.opcode = opcodes[i]}, 0);
        assert_int_equal(next(g, &p).status, WCS_LOC_QP_OP_ERR);
        pvrig_tear_down(state);
    }
}

/* The library of Linux fills in no total_len: inline data shows in its elements. */
static void too_many_elements_and_inline_data_are_refused(void **state)
{
    static const struct {
        uint32_t num_sge, flags, length;
        bool good;
    } rows[] = {
        {PAIR_SGE, SIGNALED, 4, true},        {PAIR_SGE + 1, SIGNALED, 4, false},
        {UINT32_MAX, SIGNALED, 4, false},     {1, SIGNALED | 8, 4, false},
        {2, SIGNALED | 8, UINT32_MAX, false}, {1, SIGNALED | 8, 0, true},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct pv_sq_wqe w = {.opcode = SEND, .num_sge = 2, .send_flags = rows[i].flags};
        struct pv_raw_sq_wqe raw;
        struct pv_rig *g;
        struct pv_pair p;
        struct pv_cqe c;

        (void)pvrig_set_up(state);
        g = *state;
        p = pvrig_pair(g, QPT_RC, false);
        pvrig_post_recv(g, &p, 1, 1, sge(&p, PV_PAGE_BYTES, 64));
        pvrig_kick(g, &p, 1, PV_UAR_RECV);
        pvrig_post_send(
            g, &p, 0, w,
            (const struct pv_sge[]){sge(&p, 0, rows[i].length), sge(&p, 0, rows[i].length)});
        w.num_sge = rows[i].num_sge;
        pv_sq_wqe_put(&raw, &w);
        pvrig_poke(g, p.qp_ring[0].pages + PV_PAGE_BYTES, &raw, sizeof(raw));
        pvrig_kick(g, &p, 0, PV_UAR_SEND);
        pvrig_run(g);
        c = next(g, &p);
        assert_int_equal(c.status == WCS_SUCCESS, rows[i].good);
        pvrig_tear_down(state);
    }
}

/* Sends a datagram from one queue pair to the other.  Returns the completion of the receive, whose
 * buffer is at *@ret_at.
 */
static struct pv_cqe datagram(struct pv_rig *g, uint64_t *ret_at)
{
    struct pv_pair p = pvrig_pair(g, QPT_UD, false);
    struct pv_wr_ud ud = {.qpn = p.qp[1],
                          .qkey = 0x11111111,
                          .port_pd = (uint32_t)HCA_PORT << 24 | p.pd,
                          .hop_limit = 64};
    struct pv_sq_wqe w = {.opcode = SEND};
    struct pv_raw_wr_ud raw;
    struct pv_cqe c;

    memcpy(ud.dgid, pvrig_gid, GID_BYTES);
    memcpy(ud.dmac, pvrig_mac, MAC_BYTES);
    pv_wr_ud_put(&raw, &ud);
    put_wr(&w, &raw, sizeof(raw));
    *ret_at = p.mem + PV_PAGE_BYTES;
    pvrig_post_recv(g, &p, 1, 1, sge(&p, PV_PAGE_BYTES, 256));
    send_one(g, &p, w, 100);
    c = next(g, &p);
    if (c.opcode != 0x80)
        c = next(g, &p);               /* the send may complete first */
    assert_int_equal(c.byte_len, 140); /* with the GRH */
    assert_int_equal(c.src_qp, p.qp[0]);
    return c;
}

static void datagrams_say_their_network_type(void **state)
{
    uint64_t at;
    const struct pv_cqe c = datagram(*state, &at);

    assert_int_equal(c.wc_flags, 1 | PV_WC_NETWORK_HDR_TYPE);
    assert_int_equal(c.network_hdr_type, PV_NETWORK_IPV4);
}

/* Drivers before version 18 know no network types: field and flag were reserved. */
static void network_types_came_with_version_18(void **state)
{
    for (uint32_t version = PV_VERSION_LEAST; version <= PV_VERSION_ROCE_V2; version++) {
        const bool old = version < PV_VERSION_ROCE_V2;
        struct pv_rig *g = pvrig_new(0, 0);
        struct pv_create_bind bind = {.type = old ? PV_GID_ROCE_V1 : PV_GID_ROCE_V2};
        uint64_t received_at;
        uint8_t area[40];
        struct pv_cqe c;

        *state = g;
        pvrig_start(g, version);
        memcpy(bind.gid, pvrig_gid, sizeof(bind.gid));
        assert_int_equal(pvrig_ask_create_bind(g, PV_CMD_CREATE_BIND, &bind), 0);
        c = datagram(g, &received_at);
        assert_int_equal(c.wc_flags, old ? 1 : 1 | PV_WC_NETWORK_HDR_TYPE);
        assert_int_equal(c.network_hdr_type, old ? 0 : PV_NETWORK_IPV4);
        /* Linux finds the kind of RoCE in the area: a GRH, or an IPv4 header at its end. */
        for (uint32_t i = 0; i < sizeof(area) / 4; i++)
            st_le32(area + 4 * (size_t)i, pvrig_peek32(g, received_at + 4 * (uint64_t)i));
        assert_int_equal(area[0] >> 4, old ? 6 : 0);
        assert_int_equal(area[6], old ? 0x1b : 0);
        assert_int_equal(area[20] >> 4, old ? 0 : 4);
        assert_memory_equal(area + (old ? 24 : 36), pvrig_gid + (old ? 0 : 12),
                            old ? GID_BYTES : 4);
        pvrig_tear_down(state);
    }
}

/* Only completions of QPN 1 have an index: that of another queue pair is one of its attributes. */
static void completions_tell_the_partition_of_a_mad(void **state)
{
    struct pv_rig *g = *state;
    struct pv_pair p = pvrig_pair(g, QPT_UD, false);
    const struct completion wc = {
        .wr_id = 5, .status = WCS_SUCCESS, .opcode = WC_RECV, .qpn = QPN_GSI, .pkey_index = 3};

    assert_true(g->d->nic.ops->complete(g->d, hca_cq(&g->d->nic.hca, p.cq + 1), &wc));
    assert_int_equal(next(g, &p).pkey_index, 3);
}

static void shared_receives_are_free_when_they_are_taken(void **state)
{
    struct pv_rig *g = *state;
    struct pv_pair p = pvrig_pair(g, QPT_RC, true);
    const uint64_t note = g->async.pages + PV_PAGE_BYTES;

    assert_int_equal(pvrig_ask(g, MODIFY_SRQ, modify_srq, .handle = p.srq, .mask = 2, .limit = 1),
                     0);
    pvrig_post_recv(g, &p, 1, 55, sge(&p, PV_PAGE_BYTES, 64));
    pvrig_doorbell(g, PV_UAR_AT_SRQ, p.srq | PV_UAR_SRQ_RECV);
    assert_int_equal(pvrdma_device_ops.shared_receives(g->d, p.srq + 1), 1);
    send_one(g, &p, (struct pv_sq_wqe){.opcode = SEND}, 4);
    assert_int_equal(next(g, &p).wr_id, 55);
    assert_int_equal(pvrig_peek32(g, p.srq_ring.pages + 12), 1);
    assert_int_equal(pvrdma_device_ops.shared_receives(g->d, p.srq + 1), 0);
    assert_int_equal(pvrig_peek32(g, note), 15); /* SRQ_LIMIT; the GID of the set-up has no event */
    assert_int_equal(pvrig_peek32(g, note + 4), p.srq);
}

/* --- Fast registration ------------------------------------------------------------------------ */

static struct pv_sq_wqe fast_reg(const struct pv_pair *p, uint64_t pdir, uint32_t key)
{
    const struct pv_wr_fast_reg w = {.iova = 0x7000000,
                                     .pdir = pdir,
                                     .page_shift = 12,
                                     .pages = 2,
                                     .length = 2 * PV_PAGE_BYTES,
                                     .access = ACC_LOCAL_WRITE | ACC_REMOTE_WRITE,
                                     .rkey = key};
    struct pv_sq_wqe wqe = {.opcode = FAST_REG};
    struct pv_raw_wr_fast_reg raw;

    (void)p;
    pv_wr_fast_reg_put(&raw, &w);
    put_wr(&wqe, &raw, sizeof(raw));
    return wqe;
}

static void a_fast_region_is_registered_used_and_invalidated(void **state)
{
    struct pv_rig *g = *state;
    struct pv_pair p = pvrig_pair(g, QPT_RC, false);
    const struct pv_drv_ring list = pvrig_pages(g, 2);
    struct pv_wr_rdma rdma = {.remote_addr = 0x7000000 + PV_PAGE_BYTES};
    struct pv_sq_wqe w = {.opcode = 0};
    struct pv_raw_wr_rdma raw;
    uint32_t key;

    assert_int_equal(
        pvrig_ask(g, CREATE_MR, create_mr, .pd = p.pd, .flags = PV_MR_FAST, .pages = 8), 0);
    key = ld_le32(g->rsp + PV_HEADER_BYTES + 8);
    assert_int_not_equal(key, 0);
    send_one(g, &p, fast_reg(&p, list.pdir, key), 0);
    completed(g, &p, 8, WCS_SUCCESS);
    pvrig_poke32(g, p.mem, 77);
    rdma.rkey = key;
    pv_wr_rdma_put(&raw, &rdma);
    put_wr(&w, &raw, sizeof(raw));
    send_one(g, &p, w, 4);
    completed(g, &p, 1, WCS_SUCCESS);
    assert_int_equal(pvrig_peek32(g, list.pages + PV_PAGE_BYTES), 77);
    w = (struct pv_sq_wqe){.opcode = LOCAL_INV};
    st_le32(w.ex, key);
    send_one(g, &p, w, 0);
    completed(g, &p, 7, WCS_SUCCESS);
    send_one(g, &p, fast_reg(&p, 1, key), 0); /* no directory */
    assert_int_not_equal(next(g, &p).status, WCS_SUCCESS);
}

/* --- Notifications ---------------------------------------------------------------------------- */

static void arm(struct pv_rig *g, const struct pv_pair *p, uint32_t bits)
{
    pvrig_doorbell(g, PV_UAR_AT_CQ, p->cq | bits);
}

static void message(struct pv_rig *g, struct pv_pair *p, uint32_t flags)
{
    struct pv_cqe c;

    pvrig_post_recv(g, p, 1, 1, sge(p, PV_PAGE_BYTES, 64));
    send_one(g, p, (struct pv_sq_wqe){.opcode = SEND, .send_flags = flags}, 4);
    while (pvrig_poll(g, p, &c))
        assert_int_equal(c.status, WCS_SUCCESS);
}

static void only_an_armed_cq_notifies_and_once(void **state)
{
    struct pv_rig *g = *state;
    struct pv_pair p = pvrig_pair(g, QPT_RC, false);
    const uint64_t tail = g->notes.pages + 8;

    message(g, &p, 0);
    assert_int_equal(pvrig_peek32(g, tail), 0);
    arm(g, &p, PV_UAR_ARM);
    message(g, &p, 0);
    assert_int_equal(pvrig_peek32(g, tail), 1);
    assert_int_equal(pvrig_peek32(g, g->notes.pages + PV_PAGE_BYTES), p.cq);
    assert_int_equal(g->irqs[PV_VECTOR_CQ], 1);
    arm(g, &p, PV_UAR_ARM_SOL);
    message(g, &p, 0);
    assert_int_equal(pvrig_peek32(g, tail), 1);
    message(g, &p, SOLICITED);
    assert_int_equal(pvrig_peek32(g, tail), 2);
    assert_int_equal(g->irqs[PV_VECTOR_CQ], 2);
    arm(g, &p, PV_UAR_POLL);
    assert_int_equal(g->d->count.poll_cq, 1);
}

/* The ring has room for 1,023; a further notification waits for the driver's next doorbell. */
static void notifications_wait_for_room(void **state)
{
    struct pv_rig *g = *state;
    struct pv_pair p = pvrig_pair(g, QPT_RC, false);
    const uint64_t tail = g->notes.pages + 8, head = g->notes.pages + 12;

    for (uint32_t i = 0; i < 1023; i++) {
        arm(g, &p, PV_UAR_ARM);
        message(g, &p, 0);
    }
    assert_int_equal(pvrig_peek32(g, tail), 1023);
    for (uint32_t i = 0; i < 2; i++) {
        arm(g, &p, PV_UAR_ARM);
        message(g, &p, 0);
    }
    assert_int_equal(pvrig_peek32(g, tail), 1023);
    assert_int_equal(g->d->n_notes_due, 1);
    pvrig_poke32(g, head, 1);
    arm(g, &p, PV_UAR_POLL);
    assert_int_equal(pvrig_peek32(g, tail), 1024);
    assert_int_equal(g->d->n_notes_due, 0);
    arm(g, &p, PV_UAR_ARM); /* and one goes with its CQ */
    message(g, &p, 0);
    assert_int_equal(g->d->n_notes_due, 1);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(pvrig_ask(g, DESTROY_QP, handle, .handle = p.qp[i]), 0);
    assert_int_equal(pvrig_ask(g, DESTROY_CQ, handle, .handle = p.cq), 0);
    assert_int_equal(g->d->n_notes_due, 0);
}

/* --- Queues that break ------------------------------------------------------------------------ */

static uint32_t state_of(struct pv_rig *g, uint32_t handle)
{
    assert_int_equal(pvrig_ask(g, QUERY_QP, query_qp, .handle = handle), 0);
    return pvrig_handle(g);
}

static void a_wrong_index_ends_the_queue_pair_until_its_reset(void **state)
{
    const struct pv_qp_attr to_reset = {.state = QPS_RESET};
    struct pv_rig *g = *state;
    struct pv_pair p = pvrig_pair(g, QPT_RC, false);
    const uint32_t event = pvrig_peek32(g, g->async.pages + 8);
    struct pv_cqe c;

    pvrig_poke32(g, p.qp_ring[0].pages, 3 * PAIR_WR);
    pvrig_kick(g, &p, 0, PV_UAR_SEND);
    pvrig_run(g);
    assert_int_equal(state_of(g, p.qp[0]), QPS_ERR);
    assert_int_equal(pvrig_peek32(g, g->async.pages + 8), event + 1);
    assert_int_equal(pvrig_peek32(g, g->async.pages + PV_PAGE_BYTES + 8 * event), 1); /* QP_FATAL */
    assert_int_equal(pvrig_peek32(g, g->async.pages + PV_PAGE_BYTES + 8 * event + 4), p.qp[0]);
    assert_false(pvrig_poll(g, &p, &c));
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(pvrig_modify(g, p.qp[i], QPA_STATE, &to_reset), 0);
        p.sent[i] = p.received[i] = 0;
        for (uint32_t at = 0; at < 16; at += 4)
            pvrig_poke32(g, p.qp_ring[i].pages + at, 0);
        pvrig_connect(g, p.qp[i], QPT_RC, p.qp[1 - i]);
    }
    message(g, &p, 0);
    assert_int_equal(state_of(g, p.qp[0]), QPS_RTS);
    assert_int_equal(pvrig_ask(g, DESTROY_QP, handle, .handle = p.qp[0]), 0);
    assert_int_equal(pvrig_handle(g), 1); /* events that were reported */
}

static void a_broken_shared_queue_raises_srq_err(void **state)
{
    struct pv_rig *g = *state;
    struct pv_pair p = pvrig_pair(g, QPT_RC, true);
    const uint32_t event = pvrig_peek32(g, g->async.pages + 8);

    pvrig_poke32(g, p.srq_ring.pages + 8, UINT32_MAX);
    send_one(g, &p, (struct pv_sq_wqe){.opcode = SEND}, 4);
    assert_int_equal(pvrig_peek32(g, g->async.pages + PV_PAGE_BYTES + 8 * event), 14);
    assert_int_equal(pvrig_peek32(g, g->async.pages + PV_PAGE_BYTES + 8 * event + 4), p.srq);
    assert_int_not_equal(next(g, &p).status, WCS_SUCCESS);
}

static void a_full_cq_overflows(void **state)
{
    struct pv_rig *g = *state;
    struct pv_pair p = pvrig_pair(g, QPT_RC, false);
    const uint32_t event = pvrig_peek32(g, g->async.pages + 8);

    pvrig_poke32(g, p.cq_ring.pages + 12, PAIR_CQE); /* as if it were full */
    send_one(g, &p, (struct pv_sq_wqe){.opcode = 99}, 0);
    assert_int_equal(pvrig_peek32(g, p.cq_ring.pages + 8), 0);
    assert_int_equal(pvrig_peek32(g, g->async.pages + PV_PAGE_BYTES + 8 * event), 0); /* CQ_ERR */
    assert_int_equal(pvrig_peek32(g, g->async.pages + PV_PAGE_BYTES + 8 * event + 4), p.cq);
    assert_int_equal(g->events[EV_cq_overflow], 1);
}

static void doorbells_wait_for_bus_mastering(void **state)
{
    struct pv_rig *g = *state;
    struct pv_pair p = pvrig_pair(g, QPT_RC, false);
    struct pv_cqe c;

    pvrig_post_recv(g, &p, 1, 1, sge(&p, PV_PAGE_BYTES, 64));
    fn_config_write(&g->d->fn, PCI_COMMAND, 2, PCI_CMD_MEMORY);
    send_one(g, &p, (struct pv_sq_wqe){.opcode = SEND}, 4);
    assert_false(pvrig_poll(g, &p, &c));
    fn_config_write(&g->d->fn, PCI_COMMAND, 2, PCI_CMD_MEMORY | PCI_CMD_MASTER);
    pvrig_run(g);
    assert_int_equal(next(g, &p).opcode, 0x80);
}

/* Returns sq_draining of queue pair @i, as QUERY_QP answers. */
static bool is_draining(struct pv_rig *g, const struct pv_pair *p, uint32_t i)
{
    struct pv_raw_qp_attr raw;
    struct pv_qp_attr a;

    assert_int_equal(pvrig_ask(g, QUERY_QP, query_qp, .handle = p->qp[i]), 0);
    memcpy(&raw, g->rsp + PV_HEADER_BYTES, sizeof(raw));
    pv_qp_attr_get(&a, &raw);
    return a.sq_draining != 0;
}

/* In SQD a send queue drains until the requests that the device has sent are answered. */
static void query_qp_tells_that_a_queue_drains(void **state)
{
    struct pv_rig *g = *state;
    struct pv_pair p = pvrig_pair(g, QPT_RC, false);
    const struct pv_qp_attr to_sqd = {.state = QPS_SQD};
    const struct pv_sge from = sge(&p, 0, 64);

    pvrig_post_recv(g, &p, 1, 1, sge(&p, PV_PAGE_BYTES, 256));
    pvrig_post_send(
        g, &p, 0, (struct pv_sq_wqe){.opcode = SEND, .num_sge = 1, .send_flags = SIGNALED}, &from);
    pvrig_kick(g, &p, 0, PV_UAR_SEND);
    while (g->n_fetches == 0) /* until the device has the request */
        sim_dispatch(&g->sim);
    assert_false(is_draining(g, &p, 0));
    assert_int_equal(pvrig_modify(g, p.qp[0], QPA_STATE, &to_sqd), 0);
    assert_true(is_draining(g, &p, 0));
    assert_false(is_draining(g, &p, 1));
    pvrig_run(g);
    assert_false(is_draining(g, &p, 0));
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, pvrig_set_up, pvrig_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_RIG(a_message_comes_with_its_completions),
        WITH_RIG(writes_reads_and_atomics_reach_memory),
        cmocka_unit_test(other_opcodes_complete_in_error),
        cmocka_unit_test(too_many_elements_and_inline_data_are_refused),
        WITH_RIG(query_qp_tells_that_a_queue_drains),
        WITH_RIG(datagrams_say_their_network_type),
        WITH_RIG(completions_tell_the_partition_of_a_mad),
        cmocka_unit_test(network_types_came_with_version_18),
        WITH_RIG(shared_receives_are_free_when_they_are_taken),
        WITH_RIG(a_fast_region_is_registered_used_and_invalidated),
        WITH_RIG(only_an_armed_cq_notifies_and_once),
        WITH_RIG(notifications_wait_for_room),
        WITH_RIG(a_wrong_index_ends_the_queue_pair_until_its_reset),
        WITH_RIG(a_broken_shared_queue_raises_srq_err),
        WITH_RIG(a_full_cq_overflows),
        WITH_RIG(doorbells_wait_for_bus_mastering),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
