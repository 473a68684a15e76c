/* SPDX-License-Identifier: MIT */
/* Rings for the RNIC: fetches WQEs from send and receive queues, and delivers completions to
 * completion queues.
 *
 * The used entry of a work queue is published before the CQE, so that a program that has polled the
 * CQE finds room in the work queue.
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/min.h"
#include "emu/device/internal.h"
#include "emu/facts/datagram.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/path_word.h"
#include "emu/facts/rfc.h"
#include "emu/facts/wr.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/qp.h"
#include "emu/xport/ctrl.h"

enum fetch rdma_pop(struct rdma *d, uint32_t queue)
{
    struct vq *vq = &d->pci.queues[queue];

    if (!vq->enabled || !virtio_running(&d->pci))
        return FETCH_EMPTY;
    if (vq_turn_is_over(vq, d->nic.ram, d->nic.trace->tick)) {
        rdma_ring(d, queue);
        return FETCH_EMPTY;
    }
    switch (vq_pop(vq, d->nic.ram, &d->chain)) {
    case VQ_EMPTY:
        return FETCH_EMPTY;
    case VQ_GOT:
        d->nic.progress->chains++;
        return FETCH_OK;
    case VQ_BROKEN:
        break;
    }
    rdma_queue_broken(d, queue);
    return FETCH_BROKEN;
}

/* Completes with length 0 every chain of @queue that is available.  Unlike in rdma_pop(), the work
 * of a tick is not limited, because the size of the ring bounds it.
 */
static void empty_ring(struct rdma *d, uint32_t queue)
{
    struct vq *vq = &d->pci.queues[queue];

    for (uint32_t i = 0; i < vq->ring.size && vq->enabled && virtio_running(&d->pci); i++) {
        const enum vq_pop got = vq_pop(vq, d->nic.ram, &d->chain);

        if (got == VQ_BROKEN)
            rdma_queue_broken(d, queue);
        if (got != VQ_GOT)
            break;
        d->nic.progress->chains++;
        rdma_push(d, queue, d->chain.head, 0);
    }
    rdma_interrupt(d, queue);
}

void rdma_empty_rings(struct rdma *d, const struct qp *qp)
{
    if (!virtio_has(&d->pci, VF_QP_END) || qp->state != QPS_RESET)
        return;
    empty_ring(d, rdma_sq(d, qp->qpn));
    if (!qp->srq)
        empty_ring(d, rdma_rq(d, qp->qpn));
}

void rdma_end_qp(struct rdma *d, struct qp *qp)
{
    const struct qp_attr reset = {.state = QPS_RESET};
    enum refusal_reason why;

    if (!virtio_has(&d->pci, VF_QP_END))
        return;
    why = xport_qp_modify(&d->nic.xport, qp, QPA_STATE, &reset);
    RDL_ASSERT(why == REF_NONE); /* each state has this move */
    rdma_empty_rings(d, qp);
}

/* Maximum size of the body of a WQE: SGEs or inline data. */
#define BODY_BYTES (RDL_MOST_max_send_sge * sizeof(struct raw_sge))
_Static_assert(RDL_MOST_max_recv_sge <= RDL_MOST_max_send_sge, "receives fit into a body");
_Static_assert(RDL_MOST_max_inline_data <= BODY_BYTES, "inline data fits into a body");

/* Reads the WQE in d->chain: a head of @head_bytes, and the body up to BODY_BYTES.  If the chain is
 * shorter than the head, the rest of the head is zero.  Returns the number of body bytes read.
 */
static size_t read_wqe(const struct rdma *d, void *raw, size_t head_bytes)
{
    const size_t got = vq_chain_read(d->nic.ram, &d->chain, 0, raw, head_bytes + BODY_BYTES);

    if (got >= head_bytes)
        return got - head_bytes;
    memset((uint8_t *)raw + got, 0, head_bytes - got);
    return 0;
}

/* Decodes @n SGEs, or as many as @bytes hold. */
static void read_sges(const struct raw_sge *raw, size_t bytes, uint32_t n, struct sge *out)
{
    struct rfc_sge s;

    for (uint32_t i = 0; i < n && (i + 1) * sizeof(raw[0]) <= bytes; i++) {
        rfc_sge_get(&s, &raw[i]);
        out[i] = (struct sge){s.addr, s.length, s.lkey};
    }
}

/* Length of the chain after @head_bytes; 0 if it is shorter. */
static uint32_t body_of(const struct rdma *d, size_t head_bytes)
{
    const uint32_t all = d->chain.readable_bytes;

    return all > head_bytes ? all - (uint32_t)head_bytes : 0;
}

/* The SGEs of the chain after @head_bytes, of which the WQE says that there are @said. */
static struct sge_count sges_of(const struct rdma *d, size_t head_bytes, uint32_t said)
{
    const uint32_t bytes = body_of(d, head_bytes), each = sizeof(struct raw_sge);

    return (struct sge_count){.said = said, .found = bytes / each, .ragged = bytes % each != 0};
}

/* The address and the destination of a datagram.  A port that no address vector can have becomes
 * port 0, which is none.
 */
static struct datagram_to datagram_of(const struct raw_wr_ud *raw)
{
    struct rfc_wr_ud w;
    struct datagram_to to;

    rfc_wr_ud_get(&w, raw);
    to = (struct datagram_to){
        .av = {.sgid_index = w.av_gid_index,
               .hop_limit = w.av_hop_limit,
               .static_rate = w.av_static_rate,
               .tclass = path_word_tclass(w.av_sl_tclass_flowlabel),
               .sl = path_word_sl(w.av_sl_tclass_flowlabel),
               .flow_label = path_word_flow_label(w.av_sl_tclass_flowlabel),
               .port = w.av_port <= UINT8_MAX ? (uint8_t)w.av_port : 0,
               .flags = AH_FLAG_GRH},
        .av_pdn = w.av_pdn,
        .qpn = w.remote_qpn,
        .qkey = w.remote_qkey,
    };
    memcpy(to.av.dgid, w.av_dgid, sizeof(to.av.dgid));
    memcpy(to.av.dmac, w.av_dmac, sizeof(to.av.dmac));
    return to;
}

static struct bind_request bind_of(const struct raw_wr_bind *raw)
{
    struct rfc_wr_bind b;

    rfc_wr_bind_get(&b, raw);
    return (struct bind_request){
        .type = b.type,
        .mw_key = b.mw_rkey,
        .new_key = b.rkey,
        .mr_key = b.mr_lkey,
        .access = b.access,
        .addr = b.addr,
        .bytes = b.length,
    };
}

/* With REG_IN_WQE the request has its page list, which is read when it is executed. */
static struct reg_request reg_of(const struct rdma *d, const uint8_t wr[])
{
    struct rfc_wr_reg_list l;
    struct rfc_wr_reg w;

    rfc_wr_reg_get(&w, (const struct raw_wr_reg *)wr);
    if (!virtio_has(&d->pci, VF_REG_IN_WQE))
        return (struct reg_request){.mrn = w.mrn, .key = w.key, .access = w.access};
    rfc_wr_reg_list_get(&l, (const struct raw_wr_reg_list *)wr);
    return (struct reg_request){.mrn = l.mrn,
                                .key = l.key,
                                .access = l.access,
                                .has_list = true,
                                .start = l.start,
                                .length = l.length,
                                .pages = l.pages,
                                .n_pages = l.npages};
}

/* Decodes the operation fields of a WQE: the union, as the opcode selects it, and the key to
 * invalidate.
 */
static void decode_operation(const struct rdma *d, enum qp_type type, const struct raw_sq_wqe *raw,
                             struct send_wqe *out)
{
    const struct wr_info *row = wr_info(out->opcode);
    struct rfc_wr_rdma rdma;
    struct rfc_wr_atomic atomic;

    if (!row)
        return;
    if (row->invalidates)
        out->invalidate_rkey = ld_le32(raw->ex);
    switch (qp_type_is_datagram(type) ? WR_FORM_UD : row->form) {
    case WR_FORM_NONE:
        break;
    case WR_FORM_RDMA:
        rfc_wr_rdma_get(&rdma, (const struct raw_wr_rdma *)raw->wr);
        out->remote_addr = rdma.remote_addr;
        out->rkey = rdma.rkey;
        break;
    case WR_FORM_ATOMIC:
        rfc_wr_atomic_get(&atomic, (const struct raw_wr_atomic *)raw->wr);
        out->remote_addr = atomic.remote_addr;
        out->compare_add = atomic.compare_add;
        out->swap = atomic.swap;
        out->rkey = atomic.rkey;
        break;
    case WR_FORM_REG:
        out->reg = reg_of(d, raw->wr);
        break;
    case WR_FORM_BIND:
        out->bind = bind_of((const struct raw_wr_bind *)raw->wr);
        break;
    case WR_FORM_UD:
        out->to = datagram_of((const struct raw_wr_ud *)raw->wr);
        break;
    }
}

/* Takes the next work request of @qp from @queue.  A stuck queue is only read when @qp is in RESET
 * or ERR: ending a queue pair must empty its rings.
 */
static enum fetch pop_work(struct rdma *d, const struct qp *qp, uint32_t queue)
{
    if (qp->state != QPS_RESET && qp->state != QPS_ERR && rdma_is_stuck(d, queue))
        return FETCH_EMPTY;
    return rdma_pop(d, queue);
}

enum fetch rdma_fetch_send(void *ctx, struct qp *qp, struct send_wqe *out)
{
    struct rdma *d = ctx;
    const uint32_t queue = rdma_sq(d, qp->qpn);
    const enum fetch got = pop_work(d, qp, queue);
    struct {
        struct raw_sq_wqe head;
        struct raw_sge body[RDL_MOST_max_send_sge];
    } raw;
    struct rfc_sq_wqe wqe;
    size_t body;
    ev_id cause;

    if (got != FETCH_OK)
        return got;
    body = read_wqe(d, &raw, sizeof(raw.head));
    out->truncated = d->chain.n_writable > 0 || d->chain.readable_bytes < sizeof(raw.head);
    rfc_sq_wqe_get(&wqe, &raw.head);
    out->wr_id = wqe.wr_id;
    out->opcode = wqe.opcode;
    out->flags = wqe.send_flags;
    memcpy(out->imm, wqe.ex, sizeof(out->imm));
    out->desc = d->chain.head;
    out->n_sge = sges_of(d, sizeof(raw.head), wqe.num_sge);
    out->inline_bytes = body_of(d, sizeof(raw.head));
    decode_operation(d, (enum qp_type)qp->config.type, &raw.head, out);
    if (wqe.send_flags & SF_INLINE)
        memcpy(out->inline_data, raw.body, min_u32(out->inline_bytes, qp->config.max_inline_data));
    else
        read_sges(raw.body, body, min_u32(wqe.num_sge, qp->config.max_send_sge), out->sge);
    d->nic.progress->wqes++;
    cause = trace_because(d->nic.trace, d->kicks[queue]);
    TRACE_ID(d->nic.trace, out->fetched, fetch, .host = d->config.nic.host, .qpn = qp->qpn,
             .queue = queue, .desc = d->chain.head, .wr_id = wqe.wr_id, .op = wqe.opcode,
             .bytes = d->chain.readable_bytes);
    trace_because(d->nic.trace, cause);
    return FETCH_OK;
}

/* The ring that the receives of @qp are taken from and completed to. */
static uint32_t receives_of(const struct rdma *d, const struct qp *qp)
{
    return qp->srq ? rdma_srq(d, qp->srq->srqn) : rdma_rq(d, qp->qpn);
}

enum fetch rdma_fetch_recv(void *ctx, struct qp *qp, struct recv_wqe *out)
{
    struct rdma *d = ctx;
    const uint32_t queue = receives_of(d, qp);
    struct {
        struct raw_rq_wqe head;
        struct raw_sge body[RDL_MOST_max_send_sge];
    } raw;
    struct rfc_rq_wqe wqe;
    ev_id fetched, cause;
    enum fetch got;
    size_t body;

    if (qp->srq && qp->srq->error)
        return FETCH_BROKEN;
    got = pop_work(d, qp, queue);
    if (got != FETCH_OK)
        return got;
    body = read_wqe(d, &raw, sizeof(raw.head));
    out->truncated = d->chain.n_writable > 0 || d->chain.readable_bytes < sizeof(raw.head);
    rfc_rq_wqe_get(&wqe, &raw.head);
    out->wr_id = wqe.wr_id;
    out->desc = d->chain.head;
    out->n_sge = sges_of(d, sizeof(raw.head), wqe.num_sge);
    read_sges(raw.body, body, min_u32(wqe.num_sge, qp->config.max_recv_sge), out->sge);
    d->nic.progress->wqes++;
    TRACE_ID(d->nic.trace, fetched, fetch, .host = d->config.nic.host, .qpn = qp->qpn,
             .queue = queue, .desc = d->chain.head, .wr_id = wqe.wr_id, .op = WR_RECV,
             .bytes = d->chain.readable_bytes);
    if (qp->srq) { /* this may use d->chain */
        cause = trace_because(d->nic.trace, fetched);
        rnic_srq_taken(&d->nic, qp->srq, vq_avail_count(&d->pci.queues[queue], d->nic.ram));
        trace_because(d->nic.trace, cause);
    }
    return FETCH_OK;
}

uint32_t rdma_receives(void *ctx, struct qp *qp)
{
    struct rdma *d = ctx;
    struct vq *vq = &d->pci.queues[rdma_rq(d, qp->qpn)];

    if (!vq->enabled)
        return 0;
    vq_want_kick(vq, d->nic.ram); /* the peer is told this number and must be told of changes */
    return vq_avail_count(vq, d->nic.ram); /* a broken queue is reported when a receive is needed */
}

bool rdma_sends_wait(const void *ctx, const struct qp *qp)
{
    const struct rdma *d = ctx;
    const struct vq *vq = &d->pci.queues[rdma_sq(d, qp->qpn)];

    return vq->enabled && virtio_running(&d->pci) && vq_avail_peek(vq, d->nic.ram) > 0;
}

static void put_cqe(struct raw_cqe *raw, const struct completion *wc)
{
    struct rfc_cqe cqe = {
        .wr_id = wc->wr_id,
        .status = (uint8_t)wc->status,
        .opcode = (uint8_t)wc->opcode,
        .vendor_err = (uint32_t)wc->rule,
        .byte_len = wc->bytes,
        .qp_num = wc->qpn,
        .src_qp = wc->src_qpn,
        .wc_flags = wc->flags,
        .pkey_index = wc->pkey_index,
        .sl = wc->sl,
        .port_num = HCA_PORT,
    };

    if (wc->flags & WCF_WITH_INV)
        st_le32(cqe.ex, wc->invalidated_rkey);
    else
        memcpy(cqe.ex, wc->imm, sizeof(cqe.ex));
    rfc_cqe_put(raw, &cqe);
}

/* A buffer that is too small is completed with length 0. */
bool rdma_complete(void *ctx, struct cq *cq, const struct completion *wc)
{
    struct rdma *d = ctx;
    const bool has_buffer = rdma_pop(d, cq->cqn) == FETCH_OK;
    const uint16_t head = d->chain.head; /* an event of the overflow may use d->chain */
    struct raw_cqe raw;

    if (!has_buffer || d->chain.writable_bytes < sizeof(raw)) {
        rnic_cq_overflow(&d->nic, cq);
        if (has_buffer && !cq->error)
            rdma_push(d, cq->cqn, head, 0);
        return false;
    }
    put_cqe(&raw, wc);
    rdma_write(d, cq->cqn, &d->chain, &raw, sizeof(raw));
    rdma_push(d, cq->cqn, head, sizeof(raw));
    rdma_arm_look(d, cq);
    return true;
}

void rdma_completed(void *ctx, struct cq *cq)
{
    if (rdma_has_ceqs(ctx))
        rdma_ceq_event(ctx, cq);
    else
        rdma_interrupt(ctx, cq->cqn);
}

void rdma_release(void *ctx, struct qp *qp, enum wq wq, uint32_t desc)
{
    struct rdma *d = ctx;
    const uint32_t queue = wq == WQ_SEND ? rdma_sq(d, qp->qpn) : receives_of(d, qp);

    rdma_push(d, queue, (uint16_t)desc, 0);
    rdma_interrupt(d, queue);
}
