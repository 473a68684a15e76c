/* SPDX-License-Identifier: MIT */
/* Queue pairs at work: WQEs, kicks, completions and their events. */
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/guest/verbs/driver.h"
#include "guest/virtio_rdma/fake_device.h"

struct work {
    struct fake *f;
    struct guest_pd *pd;
    struct guest_cq *cq;
    struct guest_qp *qp;
};

#define MAX_WR 3u /* in a ring of four */

static const uint8_t peer_mac[MAC_BYTES] = {2, 0, 0, 0, 0, 2};

static int set_up(void **state)
{
    struct work *w = test_calloc(1, sizeof(*w));

    assert_int_equal(fake_set_up((void **)&w->f), 0);
    w->pd = new_pd(&w->f->verbs);
    w->cq = new_cq(&w->f->verbs, 8);
    w->qp = new_qp(w->pd, w->cq, MAX_WR);
    memcpy(w->f->peer_gid, peer_gid, GID_BYTES);
    memcpy(w->f->peer_mac, peer_mac, MAC_BYTES);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct work *w = *state;

    fake_free(w->f);
    test_free(w);
    return 0;
}

static void a_send_is_one_descriptor_in_the_rfcs_layout(void **state)
{
    struct work *w = *state;
    struct fake *f = w->f;
    struct vq *vq = &f->dev.queues[w->qp->sq.queue];
    uint8_t wqe[256];
    struct vq_chain c;

    move_to_rts(w->qp);
    assert_int_equal(verbs_post_send(w->qp, &send_wr, false), RDL_OK);
    assert_int_equal(f->kicks[w->qp->sq.queue], 1);
    assert_int_equal(f->last[EV_post_send].u.post_send.bytes, 64);
    assert_int_equal(f->last[EV_post_send].u.post_send.queue, FAKE_MAX + 2 * w->qp->qpn - 1);
    assert_int_equal(f->last[EV_kick].cause, f->last[EV_post_send].id);
    assert_int_equal(vq_pop(vq, &f->ram, &c), VQ_GOT);
    assert_int_equal(c.n_readable, 1);
    assert_int_equal(c.readable_bytes, 75 + 2 * 16);
    vq_chain_read(&f->ram, &c, 0, wqe, sizeof(wqe));
    assert_int_equal(ld_le32(wqe), 2);
    assert_int_equal(ld_le32(wqe + 4), SF_SIGNALED);
    assert_int_equal(ld_le32(wqe + 8), WR_SEND);
    assert_int_equal(ld_le64(wqe + 12), send_wr.wr_id);
    assert_int_equal(ld_le64(wqe + 75 + 16), sge[1].addr);
    assert_int_equal(ld_le32(wqe + 75 + 24), sge[1].length);
    assert_int_equal(ld_le32(wqe + 75 + 28), sge[1].lkey);
}

#define UNION_AT 24u /* in a send WQE */
#define UNION    51u

/* Lets the driver put @send into the queue, as the verbs do with what they carry out, and reads
 * back the WQE's head; *@ret_bytes is how long the whole WQE is.
 */
static void put(struct work *w, const struct verbs_send *send, uint8_t head[75],
                uint32_t *ret_bytes)
{
    struct fake *f = w->f;
    struct vq *vq = &f->dev.queues[w->qp->sq.queue];
    struct vq_chain c;
    uint32_t entry;

    assert_int_equal(f->verbs.ops->post_send(w->qp, send, &entry), RDL_OK);
    assert_int_equal(vq_pop(vq, &f->ram, &c), VQ_GOT);
    assert_int_equal(c.n_readable, 1);
    assert_int_equal(vq_chain_read(&f->ram, &c, 0, head, 75), 75);
    assert_int_equal(ld_le32(head + 8), send->wr->opcode);
    assert_true(vq_push(vq, &f->ram, c.head, 0));
    *ret_bytes = c.readable_bytes;
}

/* Puts @send; its union begins with the @n bytes at @want, and the rest of it is zero. */
static void expect_union(struct work *w, const struct verbs_send *send, const uint8_t *want,
                         size_t n)
{
    static const uint8_t zero[UNION];
    uint8_t head[75];
    uint32_t bytes;

    put(w, send, head, &bytes);
    assert_int_equal(bytes, 75 + 16 * send->wr->n_sge);
    assert_memory_equal(head + UNION_AT, want, n);
    assert_memory_equal(head + UNION_AT + n, zero, UNION - n);
}

/* The bytes are written by hand from the text of the RFC: packed, little-endian. */
static void every_operation_fills_in_its_union(void **state)
{
    static const uint8_t rdma[] = {0x88, 0x77, 0x66, 0x55, 0x44, 0x33,
                                   0x22, 0x11, 0xd1, 0xc1, 0xb1, 0xa1};
    static const uint8_t atomic[] = {
        0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* remote_addr */
        0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, /* compare_add */
        0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, /* swap */
        0xd1, 0xc1, 0xb1, 0xa1,                         /* rkey */
    };
    struct work *w = *state;
    struct rdl_send_wr wr = {.opcode = WR_RDMA_WRITE,
                             .sge = sge,
                             .n_sge = 2,
                             .remote_addr = 0x1122334455667788u,
                             .rkey = 0xa1b1c1d1,
                             .compare_add = 0x0102030405060708u,
                             .swap = 0x1112131415161718u};
    const struct verbs_send send = {.wr = &wr};

    expect_union(w, &send, rdma, sizeof(rdma));
    wr.opcode = WR_RDMA_READ;
    expect_union(w, &send, rdma, sizeof(rdma));
    wr.opcode = WR_RDMA_READ_WITH_INV;
    expect_union(w, &send, rdma, sizeof(rdma));
    wr.opcode = WR_ATOMIC_CMP_AND_SWP;
    expect_union(w, &send, atomic, sizeof(atomic));
    wr.opcode = WR_ATOMIC_FETCH_AND_ADD;
    expect_union(w, &send, atomic, sizeof(atomic));
    wr.opcode = WR_SEND_WITH_INV;
    expect_union(w, &send, rdma, 0);
    wr.opcode = WR_SEND;
    expect_union(w, &send, rdma, 0);
}

static void what_changes_keys_says_which(void **state)
{
    static const uint8_t reg[] = {7, 0, 0, 0, 0x34, 0x12, 0, 0, 5, 0, 0, 0};
    static const uint8_t bind[] = {
        0x01, 0x09, 0,    0,                            /* mw_rkey */
        0x02, 0x09, 0,    0,                            /* rkey */
        0x05, 0x03, 0,    0,                            /* mr_lkey */
        0x06, 0,    0,    0,                            /* access */
        0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* addr */
        0,    1,    0,    0,    0,    0,    0,    0,    /* length */
        2,                                              /* type */
    };
    static const uint8_t listed[] = {
        7,    0,    0,    0, 0x34, 0x12, 0, 0, 0x05, 0, 0, 0, /* mrn, key, access */
        0,    0x50, 0,    0, 0,    0,    0, 0,                /* pages */
        2,    0,    0,    0,                                  /* npages */
        0x40, 0,    0x01, 0, 0,    0,    0, 0,                /* start */
        0x40, 0x1f, 0,    0, 0,    0,    0, 0,                /* length */
    };
    static const uint8_t unbind[] = {
        0x01, 0x09, 0,    0,    0x02, 0x09, 0,    0,    /* mw_rkey, rkey */
        0,    0,    0,    0,    0x06, 0,    0,    0,    /* no region, access */
        0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* addr */
        0,    0,    0,    0,    0,    0,    0,    0,    /* length */
        1,                                              /* type */
    };
    struct work *w = *state;
    struct reg_list list = {
        .gpa = 0x5000, .n_pages = 2, .start = 0x10040, .length = 8000, .n_users = 1};
    struct virtio_rdma_mr mr = {.mr = {.mrn = 7, .lkey = 0x305}};
    struct rdl_send_wr wr = {
        .opcode = WR_REG_MR,
        .reg = {.key = 0x1234, .access = ACC_LOCAL_WRITE | ACC_REMOTE_READ},
        .bind_mw = {.rkey = 0x902,
                    .addr = 0x1122334455667788u,
                    .length = 256,
                    .access = ACC_REMOTE_WRITE | ACC_REMOTE_READ},
    };
    const struct verbs_send send = {.wr = &wr, .mr = &mr.mr, .mw_rkey = 0x901};

    expect_union(w, &send, reg, sizeof(reg));
    mr.list = &list; /* a mapping with the feature REG_IN_WQE */
    expect_union(w, &send, listed, sizeof(listed));
    assert_int_equal(list.n_users, 2); /* the region, and the request */
    wr.opcode = WR_BIND_MW;
    expect_union(w, &send, bind, sizeof(bind));
    wr.bind_mw.type_1 = true, wr.bind_mw.length = 0;
    expect_union(w, &(struct verbs_send){.wr = &wr, .mw_rkey = 0x901}, unbind, sizeof(unbind));
    wr.opcode = WR_LOCAL_INV;
    expect_union(w, &send, reg, 0);
}

static void a_datagram_carries_its_address(void **state)
{
    static const uint8_t ud[] = {
        0x56, 0x34, 0x12, 0,    /* remote_qpn */
        0x44, 0x33, 0x22, 0x11, /* remote_qkey */
        1,    0,    0,    0,    /* port */
        9,    0,    0,    0,    /* pdn */
        0xcd, 0xab, 0x25, 0x31, /* 3 << 28, 0x12 << 20, label */
        0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 2, /* dgid */
        1,    4,    64,               /* gid_index, rate, hops */
        2,    0,    0,    0,    0, 2, /* dmac */
        0,    0,    0,    0,    0, 0, /* reserved */
    };
    struct work *w = *state;
    struct guest_pd pd = {.pdn = 9};
    struct guest_ah ah = {.pd = &pd,
                          .attr = {.port = 1,
                                   .sgid_index = 1,
                                   .hop_limit = 64,
                                   .traffic_class = 0x12,
                                   .sl = 3,
                                   .static_rate = 4,
                                   .flow_label = 0x5abcd}};
    const struct rdl_send_wr wr = {.opcode = WR_SEND,
                                   .ud = {.remote_qpn = 0x123456, .remote_qkey = 0x11223344}};
    const struct verbs_send send = {.wr = &wr, .ah = &ah};

    memcpy(ah.attr.dgid, peer_gid, GID_BYTES);
    memcpy(ah.attr.dmac, peer_mac, MAC_BYTES);
    w->qp->type = QPT_UD;
    assert_int_equal(sizeof(ud), UNION);
    expect_union(w, &send, ud, sizeof(ud));
    w->qp->type = QPT_RC;
}

/* Immediate data are bytes as on the wire; a key to invalidate is little-endian. */
static void immediate_data_or_a_key(void **state)
{
    static const struct {
        uint32_t opcode;
        uint8_t want[4];
    } rows[] = {
        {WR_SEND_WITH_IMM, {1, 2, 3, 4}},
        {WR_RDMA_WRITE_WITH_IMM, {1, 2, 3, 4}},
        {WR_SEND_WITH_INV, {0xd4, 0xc3, 0xb2, 0xa1}},
        {WR_LOCAL_INV, {0xd4, 0xc3, 0xb2, 0xa1}},
        {WR_RDMA_READ_WITH_INV, {0xd4, 0xc3, 0xb2, 0xa1}},
    };
    struct work *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct rdl_send_wr wr = {
            .opcode = rows[i].opcode, .imm = {1, 2, 3, 4}, .invalidate_rkey = 0xa1b2c3d4};
        uint8_t head[75];
        uint32_t bytes;

        put(w, &(struct verbs_send){.wr = &wr}, head, &bytes);
        assert_memory_equal(head + 20, rows[i].want, 4);
    }
}

/* A list is one kick, and the requests are in the ring in their order. */
static void a_list_is_in_the_ring_before_its_one_kick(void **state)
{
    struct work *w = *state;
    struct fake *f = w->f;
    struct vq *vq = &f->dev.queues[w->qp->sq.queue];
    struct rdl_send_wr wr[MAX_WR + 1];
    struct rdl_post_error e;

    move_to_rts(w->qp);
    for (uint32_t i = 0; i < ARRAY_LEN(wr); i++)
        wr[i] = (struct rdl_send_wr){.opcode = WR_SEND, .wr_id = 100 + i};
    assert_int_equal(verbs_post_send_list(w->qp, wr, ARRAY_LEN(wr), false, &e), RDL_ERR_QUEUE_FULL);
    assert_int_equal(e.bad, MAX_WR);
    assert_int_equal(f->kicks[w->qp->sq.queue], 1);
    assert_int_equal(f->last[EV_kick].u.kick.avail_idx, MAX_WR);
    assert_int_equal(f->last[EV_kick].cause, f->last[EV_post_send].id);
    for (uint32_t i = 0; i < MAX_WR; i++) {
        struct vq_chain c;
        uint8_t head[75];

        assert_int_equal(vq_pop(vq, &f->ram, &c), VQ_GOT);
        vq_chain_read(&f->ram, &c, 0, head, sizeof(head));
        assert_int_equal(ld_le64(head + 12), 100 + i);
    }
}

static void a_receive_is_one_descriptor_in_the_rfcs_layout(void **state)
{
    struct work *w = *state;
    struct fake *f = w->f;
    uint8_t wqe[256];
    struct vq_chain c;

    assert_int_equal(move(w->qp, QPS_INIT, TO_INIT), RDL_OK);
    assert_int_equal(verbs_post_recv(w->qp, &recv_wr, false), RDL_OK);
    assert_int_equal(f->last[EV_post_recv].u.post_recv.queue, FAKE_MAX + 2 * w->qp->qpn);
    assert_int_equal(vq_pop(&f->dev.queues[w->qp->rq.queue], &f->ram, &c), VQ_GOT);
    assert_int_equal(c.n_readable, 1);
    assert_int_equal(c.readable_bytes, sizeof(struct raw_rq_wqe) + sizeof(struct raw_sge));
    vq_chain_read(&f->ram, &c, 0, wqe, sizeof(wqe));
    assert_int_equal(ld_le32(wqe), 1);
    assert_int_equal(ld_le64(wqe + sizeof(struct raw_rq_wqe)), sge[0].addr);
}

static void inline_data_follows_the_head(void **state)
{
    struct work *w = *state;
    struct fake *f = w->f;
    struct rdl_send_wr wr = {.wr_id = 1,
                             .opcode = WR_SEND_WITH_IMM,
                             .flags = SF_INLINE,
                             .imm = {1, 2, 3, 4},
                             .inline_data = "hello",
                             .inline_bytes = 5};
    struct vq_chain c;
    uint8_t wqe[128];

    move_to_rts(w->qp);
    assert_int_equal(verbs_post_send(w->qp, &wr, false), RDL_OK);
    assert_int_equal(vq_pop(&f->dev.queues[w->qp->sq.queue], &f->ram, &c), VQ_GOT);
    assert_int_equal(c.readable_bytes, 80);
    vq_chain_read(&f->ram, &c, 0, wqe, sizeof(wqe));
    assert_int_equal(ld_le32(wqe), 0); /* num_sge */
    assert_memory_equal(wqe + 20, wr.imm, 4);
    assert_memory_equal(wqe + 75, "hello", 5);
    wr.inline_bytes = 101;
    assert_int_equal(verbs_post_send(w->qp, &wr, false), RDL_ERR_INVAL);
    wr.inline_bytes = 5, wr.n_sge = 1, wr.sge = sge;
    assert_int_equal(verbs_post_send(w->qp, &wr, false), RDL_ERR_INVAL);
}

/* More of it than all SGEs of a request would take. */
static void inline_data_has_room_beside_the_head(void **state)
{
    static const uint8_t data[600] = {[599] = 9};
    const struct rdl_qp_config config = {
        .type = QPT_RC, .max_send_sge = 1, .max_inline_data = sizeof(data)};
    const struct rdl_send_wr wr = {
        .opcode = WR_SEND, .flags = SF_INLINE, .inline_data = data, .inline_bytes = sizeof(data)};
    struct work *w = *state;
    struct fake *f = w->f;
    const struct verbs_qp_parts parts = {.pd = w->qp->pd, .send_cq = w->cq, .recv_cq = w->cq};
    uint8_t wqe[sizeof(struct raw_sq_wqe) + sizeof(data)];
    struct vq_chain c;
    uint64_t h = 0;

    assert_int_equal(verbs_create_qp(&f->verbs, &config, &parts, NULL, &h), RDL_OK);
    w->qp = (struct guest_qp *)verbs_get(&f->verbs, OBJ_QP, h);
    move_to_rts(w->qp);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(verbs_post_send(w->qp, &wr, false), RDL_OK);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(vq_pop(&f->dev.queues[w->qp->sq.queue], &f->ram, &c), VQ_GOT);
        assert_int_equal(c.readable_bytes, sizeof(wqe));
        vq_chain_read(&f->ram, &c, 0, wqe, sizeof(wqe));
        assert_int_equal(wqe[sizeof(wqe) - 1], 9);
    }
}

static void a_full_queue_has_room_when_the_device_gives_back(void **state)
{
    struct work *w = *state;
    struct fake *f = w->f;
    struct vq *vq = &f->dev.queues[w->qp->sq.queue];
    struct vq_chain c;

    move_to_rts(w->qp);
    for (unsigned round = 0; round < 100; round++) {
        while (vq_avail_count(vq, &f->ram) < MAX_WR)
            assert_int_equal(verbs_post_send(w->qp, &send_wr, false), RDL_OK);
        assert_int_equal(verbs_post_send(w->qp, &send_wr, false), RDL_ERR_QUEUE_FULL);
        for (unsigned i = 0; i <= round % MAX_WR; i++) {
            assert_int_equal(vq_pop(vq, &f->ram, &c), VQ_GOT);
            assert_true(vq_push(vq, &f->ram, c.head, 0));
        }
    }
}

static void nokick_leaves_the_kick_to_the_caller(void **state)
{
    struct work *w = *state;
    struct fake *f = w->f;
    const uint32_t queue = w->qp->sq.queue;

    move_to_rts(w->qp);
    assert_int_equal(verbs_post_send(w->qp, &send_wr, true), RDL_OK);
    assert_int_equal(verbs_post_send(w->qp, &send_wr, true), RDL_OK);
    assert_int_equal(f->kicks[queue], 0);
    assert_int_equal(vq_avail_count(&f->dev.queues[queue], &f->ram), 2); /* it could look */
    assert_int_equal(verbs_kick(w->qp, true), RDL_OK);
    assert_int_equal(f->kicks[queue], 1);
    assert_int_equal(f->last[EV_kick].u.kick.avail_idx, 2);
    /* EVENT_IDX: the device has not asked for more. */
    assert_int_equal(verbs_post_send(w->qp, &send_wr, false), RDL_OK);
    assert_int_equal(f->kicks[queue], 1);
    assert_int_equal(f->events[EV_no_kick], 1);
    assert_int_equal(verbs_kick(w->qp, true), RDL_OK); /* asked for without need: it is done */
    assert_int_equal(f->kicks[queue], 2);
}

static void a_completion_is_polled_once_and_its_buffer_offered_again(void **state)
{
    struct work *w = *state;
    struct fake *f = w->f;
    const struct rfc_cqe cqe = {.wr_id = 7,
                                .opcode = WC_RECV,
                                .byte_len = 64,
                                .ex = {1, 2, 3, 4},
                                .qp_num = w->qp->qpn,
                                .wc_flags = WCF_WITH_IMM};
    struct rdl_wc wc[4];
    size_t n = 9;

    assert_int_equal(verbs_poll_cq(w->cq, 4, wc, &n), RDL_OK);
    assert_int_equal(n, 0);
    for (uint32_t i = 0; i < 70000; i++) { /* over the wrap of every index */
        fake_complete(f, w->cq, &cqe, sizeof(struct raw_cqe));
        assert_int_equal(verbs_poll_cq(w->cq, 4, wc, &n), RDL_OK);
        assert_int_equal(n, 1);
    }
    assert_int_equal(wc[0].wr_id, 7);
    assert_int_equal(wc[0].opcode, WC_RECV);
    assert_int_equal(wc[0].byte_len, 64);
    assert_int_equal(wc[0].wc_flags, WCF_WITH_IMM);
    assert_memory_equal(wc[0].imm, cqe.ex, 4);
    assert_int_equal(w->cq->polled, 70000);
    assert_int_equal(f->events[EV_poll], 70000);
    assert_int_equal(vq_avail_count(&f->dev.queues[w->cq->cqn], &f->ram), 8);
    for (unsigned i = 0; i < 5; i++)
        fake_complete(f, w->cq, &cqe, sizeof(struct raw_cqe));
    assert_int_equal(verbs_poll_cq(w->cq, 4, wc, &n), RDL_OK);
    assert_int_equal(n, 4);
}

/* Shows B79. */
static void a_completion_has_immediate_data_or_the_key_that_is_gone(void **state)
{
    static const uint8_t none[4];
    struct work *w = *state;
    struct rfc_cqe cqe = {
        .opcode = WC_RECV, .ex = {0xd4, 0xc3, 0xb2, 0xa1}, .wc_flags = WCF_WITH_INV};
    struct rdl_wc wc;
    size_t n;

    fake_complete(w->f, w->cq, &cqe, sizeof(struct raw_cqe));
    assert_int_equal(verbs_poll_cq(w->cq, 1, &wc, &n), RDL_OK);
    assert_int_equal(wc.invalidated_rkey, 0xa1b2c3d4);
    assert_memory_equal(wc.imm, none, sizeof(none));
    cqe.wc_flags = WCF_WITH_IMM;
    fake_complete(w->f, w->cq, &cqe, sizeof(struct raw_cqe));
    assert_int_equal(verbs_poll_cq(w->cq, 1, &wc, &n), RDL_OK);
    assert_int_equal(wc.invalidated_rkey, 0);
    assert_memory_equal(wc.imm, cqe.ex, sizeof(cqe.ex));
}

static void a_completion_of_a_wrong_length_breaks_the_cq(void **state)
{
    struct work *w = *state;
    const struct rfc_cqe cqe = {.wr_id = 1};
    struct rdl_wc wc[2];
    size_t n = 0;

    fake_complete(w->f, w->cq, &cqe, sizeof(struct raw_cqe));
    fake_complete(w->f, w->cq, &cqe, 12);
    assert_int_equal(verbs_poll_cq(w->cq, 2, wc, &n), RDL_OK); /* what came before it */
    assert_int_equal(n, 1);
    assert_int_equal(verbs_poll_cq(w->cq, 2, wc, &n), RDL_ERR_BROKEN);
}

/* Shows B80. */
static void an_armed_cq_has_one_event(void **state)
{
    struct work *w = *state;
    struct fake *f = w->f;
    struct vq *vq = &f->dev.queues[w->cq->cqn];
    const struct rfc_cqe cqe = {.wr_id = 1};

    fake_complete(f, w->cq, &cqe, sizeof(struct raw_cqe));
    assert_false(vq_wants_interrupt(vq, &f->ram));
    assert_int_equal(verbs_req_notify_cq(w->cq, false), RDL_OK);
    assert_int_equal(f->request[0], CMD_REQ_NOTIFY_CQ);
    assert_int_equal(ld_le32(f->request + 5), 2); /* next completion */
    for (unsigned i = 0; i < 2; i++) {
        fake_complete(f, w->cq, &cqe, sizeof(struct raw_cqe));
        assert_int_equal(vq_wants_interrupt(vq, &f->ram), i == 0);
        virtio_rdma_driver.pci.interrupt(&f->rdma, vq->vector);
    }
    assert_int_equal(w->cq->events, 1);
    assert_int_equal(f->events[EV_cq_event], 1);
    assert_false(w->cq->armed);
    assert_int_equal(verbs_req_notify_cq(w->cq, true), RDL_OK);
    assert_int_equal(ld_le32(f->request + 5), 1); /* solicited */
}

/* A vector is shared: the interrupt of another CQ is no event of one that is empty. */
static void an_interrupt_without_a_completion_is_no_event(void **state)
{
    struct work *w = *state;
    struct fake *f = w->f;
    struct vq *vq = &f->dev.queues[w->cq->cqn];
    const struct rfc_cqe cqe = {.wr_id = 1};

    assert_int_equal(verbs_req_notify_cq(w->cq, false), RDL_OK);
    virtio_rdma_driver.pci.interrupt(&f->rdma, vq->vector);
    assert_int_equal(w->cq->events, 0);
    assert_true(w->cq->armed);
    fake_complete(f, w->cq, &cqe, sizeof(struct raw_cqe));
    virtio_rdma_driver.pci.interrupt(&f->rdma, vq->vector);
    assert_int_equal(w->cq->events, 1);
}

/* The program was faster than the interrupt.  The device is not armed any more, so that there must
 * be an event, or the next completions would be waited for in vain.
 */
static void an_interrupt_of_what_was_polled_already_is_an_event(void **state)
{
    struct work *w = *state;
    struct fake *f = w->f;
    struct vq *vq = &f->dev.queues[w->cq->cqn];
    const struct rfc_cqe cqe = {.wr_id = 1};
    struct rdl_wc wc;
    size_t n;

    assert_int_equal(verbs_req_notify_cq(w->cq, false), RDL_OK);
    fake_complete(f, w->cq, &cqe, sizeof(struct raw_cqe));
    assert_int_equal(verbs_poll_cq(w->cq, 1, &wc, &n), RDL_OK);
    assert_int_equal(n, 1);
    virtio_rdma_driver.pci.interrupt(&f->rdma, vq->vector);
    assert_int_equal(w->cq->events, 1);
    assert_false(w->cq->armed);
}

static void modify_resolves_the_neighbour(void **state)
{
    struct work *w = *state;
    struct rdl_qp_attr a = attributes(QPS_RTR);
    struct rdl_modify_error e = {0};
    struct rfc_qp_attr sent;
    struct raw_qp_attr raw;

    w->qp->attr.state = QPS_INIT;
    w->qp->attr.port = 3; /* as INIT has set it */
    a.ah.dgid[15] = 99;
    assert_int_equal(verbs_modify_qp(w->qp, &a, TO_RTR, false, &e), RDL_ERR_NO_ROUTE);
    a.ah.dgid[15] = 2;
    assert_int_equal(verbs_modify_qp(w->qp, &a, TO_RTR, false, &e), RDL_OK);
    memcpy(&raw, w->f->request + 9, sizeof(raw));
    rfc_qp_attr_get(&sent, &raw);
    assert_memory_equal(sent.ah_dmac, peer_mac, MAC_BYTES);
    assert_memory_equal(sent.ah_dgid, peer_gid, GID_BYTES);
    assert_int_equal(sent.ah_port_num, 3);
    assert_int_equal(sent.ah_flags, AH_FLAG_GRH);
    assert_int_equal(sent.dest_qp_num, 3);
    assert_int_equal(sent.rq_psn, 7);
    assert_int_equal(ld_le32(w->f->request + 5), TO_RTR);
    assert_memory_equal(w->qp->attr.ah.dmac, peer_mac, MAC_BYTES);
    assert_int_equal(w->qp->attr.sq_psn, 0); /* not in the mask */
}

static void a_datagram_queue_pair_is_given_its_q_key(void **state)
{
    struct work *w = *state;
    const uint32_t mask = QPA_STATE | QPA_PKEY_INDEX | QPA_PORT | QPA_QKEY;
    struct rdl_qp_attr a = {.state = QPS_INIT, .port = 1, .qkey = 0x11111111};
    struct rdl_modify_error e;
    struct rfc_qp_attr sent;
    struct raw_qp_attr raw;

    w->qp->type = QPT_UD;
    w->qp->attr.state = QPS_RESET;
    assert_int_equal(verbs_modify_qp(w->qp, &a, mask & ~(uint32_t)QPA_QKEY, false, &e),
                     RDL_ERR_INVAL);
    assert_int_equal(e.missing, QPA_QKEY);
    assert_int_equal(verbs_modify_qp(w->qp, &a, mask, false, &e), RDL_OK);
    memcpy(&raw, w->f->request + 9, sizeof(raw));
    rfc_qp_attr_get(&sent, &raw);
    assert_int_equal(sent.qkey, 0x11111111);
    assert_int_equal(w->qp->attr.qkey, 0x11111111);

    a = (struct rdl_qp_attr){.state = QPS_RTR};
    assert_int_equal(verbs_modify_qp(w->qp, &a, QPA_STATE, false, &e), RDL_OK);
    a = (struct rdl_qp_attr){.state = QPS_RTS, .sq_psn = 9};
    assert_int_equal(verbs_modify_qp(w->qp, &a, QPA_STATE | QPA_SQ_PSN, false, &e), RDL_OK);
    a = (struct rdl_qp_attr){.qkey = 0x22222222};
    assert_int_equal(verbs_modify_qp(w->qp, &a, QPA_QKEY, false, &e), RDL_OK);
    assert_int_equal(w->qp->attr.state, QPS_RTS);
    assert_int_equal(w->qp->attr.qkey, 0x22222222);
}

static void query_replaces_what_the_driver_believed(void **state)
{
    struct work *w = *state;
    const struct rfc_qp_attr told = {
        .qp_state = QPS_SQD, .sq_psn = 1234, .qkey = 0x80012345, .ah_hop_limit = 9};
    struct raw_qp_attr raw;
    struct rdl_qp_info info;

    rfc_qp_attr_put(&raw, &told);
    memcpy(w->f->response, &raw, sizeof(raw));
    assert_int_equal(verbs_query_qp(w->qp), RDL_OK);
    verbs_qp_info(w->qp, &info);
    assert_int_equal(info.attr.state, QPS_SQD);
    assert_int_equal(info.attr.sq_psn, 1234);
    assert_int_equal(info.attr.qkey, 0x80012345);
    assert_int_equal(info.attr.ah.hop_limit, 9);
    assert_int_equal(info.qpn, 1);
    assert_int_equal(info.sq_queue, FAKE_MAX + 1);
    assert_int_equal(info.rq_queue, FAKE_MAX + 2);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_send_is_one_descriptor_in_the_rfcs_layout),
        T(every_operation_fills_in_its_union),
        T(what_changes_keys_says_which),
        T(a_datagram_carries_its_address),
        T(immediate_data_or_a_key),
        T(a_list_is_in_the_ring_before_its_one_kick),
        T(a_receive_is_one_descriptor_in_the_rfcs_layout),
        T(inline_data_follows_the_head),
        T(inline_data_has_room_beside_the_head),
        T(a_full_queue_has_room_when_the_device_gives_back),
        T(nokick_leaves_the_kick_to_the_caller),
        T(a_completion_is_polled_once_and_its_buffer_offered_again),
        T(a_completion_has_immediate_data_or_the_key_that_is_gone),
        T(a_completion_of_a_wrong_length_breaks_the_cq),
        T(an_armed_cq_has_one_event),
        T(an_interrupt_without_a_completion_is_no_event),
        T(an_interrupt_of_what_was_polled_already_is_an_event),
        T(modify_resolves_the_neighbour),
        T(a_datagram_queue_pair_is_given_its_q_key),
        T(query_replaces_what_the_driver_believed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
