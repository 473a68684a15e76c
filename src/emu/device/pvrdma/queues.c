/* SPDX-License-Identifier: MIT */
/* Doorbells, and the work queues for the RNIC. */
#include "emu/base/min.h"
#include "emu/device/pvrdma/internal.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/path_word.h"
#include "emu/facts/pvrdma/handle.h"
#include "emu/facts/pvrdma/opcode.h"
#include "emu/facts/wr.h"
#include "emu/hca/mr.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/pvrdma.h"
#include "emu/trace/events/qp.h"

static uint32_t queue_of_qp(uint32_t qpn, enum wq wq)
{
    return wq == WQ_SEND ? pv_queue_of_sends(qpn) : pv_queue_of_receives(qpn);
}

/* --- Doorbells -------------------------------------------------------------------------------- */

static void ring_doorbell(struct pvrdma *d, uint32_t qpn, enum wq wq)
{
    struct pv_queue *q = &d->qps[qpn].wq[wq];

    if (q->due)
        return;
    q->due = true;
    fn_ring_doorbell(&d->fn, queue_of_qp(qpn, wq), PV_DOORBELL_NS);
}

/* Processes the work of a queue, or remembers it while the device may not access memory. */
static void take_work(struct pvrdma *d, uint32_t qpn, enum wq wq)
{
    struct pv_queue *q = &d->qps[qpn].wq[wq];
    struct qp *qp = hca_qp(&d->nic.hca, qpn);

    q->held = d->phase == PV_ACTIVE && !pv_is_running(d);
    if (!qp || !pv_is_running(d))
        return;
    if (q->failed)
        rnic_qp_lost_queue(&d->nic, qp);
    else
        rnic_kick(&d->nic, qp, wq);
}

void pv_on_doorbell(void *dev, uint32_t queue)
{
    struct pvrdma *d = dev;
    const enum wq wq = queue % 2 ? WQ_RECV : WQ_SEND;

    if (queue == PV_QUEUE_COMMANDS) {
        pv_late_response(d, true);
        return;
    }
    d->qps[queue / 2].wq[wq].due = false;
    take_work(d, queue / 2, wq);
    rnic_pump(&d->nic);
}

void pv_release_held(struct pvrdma *d)
{
    for (uint32_t qpn = 0; qpn <= d->config.nic.max_qp; qpn++) {
        for (uint32_t wq = 0; wq < 2; wq++) {
            if (d->qps[qpn].wq[wq].held)
                take_work(d, qpn, wq ? WQ_RECV : WQ_SEND);
        }
    }
}

/* Decides what a write to offset @at of a page of doorbells means.  A doorbell of something that
 * does not exist means nothing.
 */
static enum pv_doorbell meaning(struct pvrdma *d, uint32_t at, uint32_t handle, uint32_t bits)
{
    if (d->phase != PV_ACTIVE)
        return PVB_NOTHING;
    if (at == PV_UAR_AT_QP && hca_qp(&d->nic.hca, handle)) {
        if ((bits & PV_UAR_SEND) && (bits & PV_UAR_RECV))
            return PVB_SEND_AND_RECV;
        return bits & PV_UAR_SEND ? PVB_SEND : bits & PV_UAR_RECV ? PVB_RECV : PVB_NOTHING;
    }
    if (at == PV_UAR_AT_CQ && hca_cq(&d->nic.hca, pv_number_of(OBJ_CQ, handle))) {
        if (bits & (PV_UAR_ARM | PV_UAR_ARM_SOL))
            return bits & PV_UAR_ARM ? PVB_ARM : PVB_ARM_SOLICITED;
        return bits & PV_UAR_POLL ? PVB_POLL : PVB_NOTHING;
    }
    if (at == PV_UAR_AT_SRQ && hca_srq(&d->nic.hca, pv_number_of(OBJ_SRQ, handle)) &&
        (bits & PV_UAR_SRQ_RECV))
        return PVB_SRQ_RECV;
    return PVB_NOTHING;
}

static void ring_send(struct pvrdma *d, uint32_t qpn)
{
    d->qps[qpn].wq[WQ_SEND].kick = d->nic.trace->cause;
    ring_doorbell(d, qpn, WQ_SEND);
}

static void ring_recv(struct pvrdma *d, uint32_t qpn)
{
    d->qps[qpn].wq[WQ_RECV].kick = d->nic.trace->cause;
    ring_doorbell(d, qpn, WQ_RECV);
}

/* Arms a CQ.  A notification that has waited for room may have it now. */
static void arm(struct pvrdma *d, uint32_t handle, bool solicited)
{
    cq_arm(hca_cq(&d->nic.hca, pv_number_of(OBJ_CQ, handle)), solicited);
    pv_notes_flush(d);
}

static void apply(struct pvrdma *d, enum pv_doorbell rings, uint32_t handle)
{
    switch (rings) {
    case PVB_NOTHING:
        d->count.uar_bad++;
        break;
    case PVB_SEND:
        ring_send(d, handle);
        break;
    case PVB_RECV:
        ring_recv(d, handle);
        break;
    case PVB_SEND_AND_RECV:
        ring_send(d, handle);
        ring_recv(d, handle);
        break;
    case PVB_ARM:
        arm(d, handle, false);
        break;
    case PVB_ARM_SOLICITED:
        arm(d, handle, true);
        break;
    case PVB_POLL:
        pv_notes_flush(d);
        break;
    case PVB_SRQ_RECV: /* a message takes receives as it needs */
        break;
    }
}

/* The number of the queue of a doorbell; of both work queues that of the sends. */
static uint32_t queue_of(const struct pvrdma *d, enum pv_doorbell rings, uint32_t handle)
{
    switch (rings) {
    case PVB_SEND:
    case PVB_SEND_AND_RECV:
        return queue_of_qp(handle, WQ_SEND);
    case PVB_RECV:
        return queue_of_qp(handle, WQ_RECV);
    case PVB_SRQ_RECV:
        return pv_srq_queue(d, pv_number_of(OBJ_SRQ, handle));
    default:
        return pv_cq_queue(d, pv_number_of(OBJ_CQ, handle));
    }
}

/* Emits the event of a doorbell. */
static ev_id trace_doorbell(const struct pvrdma *d, enum pv_doorbell rings, uint32_t offset,
                            uint32_t value)
{
    const uint32_t handle = value & PV_UAR_HANDLE;
    const bool of_qp = rings == PVB_SEND || rings == PVB_RECV || rings == PVB_SEND_AND_RECV;
    const bool of_cq = rings == PVB_ARM || rings == PVB_ARM_SOLICITED;
    const bool of_srq = rings == PVB_SRQ_RECV;
    const uint32_t queue = of_qp || of_srq ? queue_of(d, rings, handle) : 0;
    ev_id id;

    TRACE_ID(d->nic.trace, id, doorbell, .host = d->config.nic.host, .rings = (uint32_t)rings,
             .qpn = of_qp ? handle : 0, .cqn = of_cq ? pv_number_of(OBJ_CQ, handle) : 0,
             .object = (uint32_t)(of_srq ? OBJ_SRQ : OBJ_NONE),
             .number = of_srq ? pv_number_of(OBJ_SRQ, handle) : 0, .queue = queue,
             .page = offset / PV_UAR_BYTES, .value = value);
    return id;
}

void pv_uar_write(struct pvrdma *d, uint32_t offset, uint32_t value)
{
    const uint32_t at = offset % PV_UAR_BYTES, handle = value & PV_UAR_HANDLE;
    const enum pv_doorbell rings = meaning(d, at, handle, value & ~PV_UAR_HANDLE);
    ev_id cause;

    d->count.uar_writes++;
    if (at == PV_UAR_AT_CQ && rings != PVB_NOTHING && (value & PV_UAR_POLL))
        d->count.poll_cq++;
    if (rings == PVB_POLL) { /* not traced: drivers poll in loops */
        apply(d, rings, handle);
        return;
    }
    cause = trace_because(d->nic.trace, trace_doorbell(d, rings, offset, value));
    if (rings == PVB_NOTHING || !pv_fault_hits(d, FLT_LOST_KICK, queue_of(d, rings, handle)))
        apply(d, rings, handle);
    trace_because(d->nic.trace, cause);
}

/* --- Decoding --------------------------------------------------------------------------------- */

static void read_sges(const uint8_t *raw, uint32_t n, struct sge *out)
{
    struct pv_raw_sge bytes;
    struct pv_sge s;

    for (uint32_t i = 0; i < n; i++) {
        memcpy(&bytes, raw + i * sizeof(bytes), sizeof(bytes));
        pv_sge_get(&s, &bytes);
        out[i] = (struct sge){s.addr, s.length, s.lkey};
    }
}

/* The bytes of all elements of @w.  The field total_len is not always filled in. */
static uint32_t bytes_of(const struct send_wqe *w)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < w->n_sge.found; i++)
        bytes += w->sge[i].bytes;
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static struct datagram_to datagram_of(const uint8_t wr[])
{
    struct pv_raw_wr_ud raw;
    struct pv_wr_ud w;
    struct datagram_to to;

    memcpy(&raw, wr, sizeof(raw));
    pv_wr_ud_get(&w, &raw);
    to = (struct datagram_to){
        .av = {.sgid_index = w.sgid_index,
               .hop_limit = w.hop_limit,
               .static_rate = w.static_rate,
               .tclass = path_word_tclass(w.sl_tclass_flow),
               .sl = path_word_sl(w.sl_tclass_flow),
               .flow_label = path_word_flow_label(w.sl_tclass_flow),
               .port = (uint8_t)(w.port_pd >> PV_PORT_SHIFT),
               .flags = AH_FLAG_GRH},
        .av_pdn = w.port_pd & ((1u << PV_PORT_SHIFT) - 1),
        .qpn = w.qpn,
        .qkey = w.qkey,
    };
    memcpy(to.av.dgid, w.dgid, sizeof(to.av.dgid));
    memcpy(to.av.dmac, w.dmac, sizeof(to.av.dmac));
    return to;
}

/* Reads the page list of @w and makes it that of the region for the next REG_MR.  Returns false if
 * it cannot be mapped.
 */
static bool map_fast(struct pvrdma *d, const struct pv_wr_fast_reg *w)
{
    struct hca *h = &d->nic.hca;
    const struct refused before = h->refused; /* of a command that flushes the queue */
    struct pv_pages pages = {NULL, 0};
    enum refusal_reason why;

    if (w->page_shift != PV_PAGE_SHIFT || w->pages == 0 || w->pages > h->limits.max_fast_pages)
        return false;
    why = pv_pages_read(h, &(struct pv_directory){w->pdir, w->pages, w->pages}, &pages);
    if (why == REF_NONE)
        why = hca_mr_map(h, key_number(w->rkey),
                         &(struct mr_map){w->iova, w->length, pages.gpa, pages.n});
    pv_pages_free(h, &pages);
    h->refused = before;
    return why == REF_NONE;
}

/* A fast registration.  The transport executes it before it fetches the next request, so the pages
 * are mapped now.  If that fails, the request names no region, and is refused for it.
 */
static struct reg_request reg_of(struct pvrdma *d, const struct qp *qp, const uint8_t wr[])
{
    const bool executes = qp->state == QPS_RTS || qp->state == QPS_SQD;
    struct pv_raw_wr_fast_reg raw;
    struct pv_wr_fast_reg w;
    const struct mkey *k;
    struct reg_request req;

    memcpy(&raw, wr, sizeof(raw));
    pv_wr_fast_reg_get(&w, &raw);
    req = (struct reg_request){.mrn = key_number(w.rkey), .key = w.rkey, .access = w.access};
    k = key_at(&d->nic.hca, req.mrn);
    if (executes && k && k->pdn == qp->pd->pdn && k->kind == KEY_FAST_MR && !map_fast(d, &w))
        req.mrn = 0;
    return req;
}

static void decode_operation(struct pvrdma *d, const struct qp *qp, const uint8_t wr[],
                             struct send_wqe *out)
{
    struct pv_raw_wr_atomic raw_atomic;
    struct pv_raw_wr_rdma raw_rdma;
    struct pv_wr_atomic atomic;
    struct pv_wr_rdma rdma;

    switch (wr_form(qp->config.type, out->opcode)) {
    case WR_FORM_RDMA:
        memcpy(&raw_rdma, wr, sizeof(raw_rdma));
        pv_wr_rdma_get(&rdma, &raw_rdma);
        out->remote_addr = rdma.remote_addr;
        out->rkey = rdma.rkey;
        break;
    case WR_FORM_ATOMIC:
        memcpy(&raw_atomic, wr, sizeof(raw_atomic));
        pv_wr_atomic_get(&atomic, &raw_atomic);
        out->remote_addr = atomic.remote_addr;
        out->compare_add = atomic.compare_add;
        out->swap = atomic.swap;
        out->rkey = atomic.rkey;
        break;
    case WR_FORM_REG:
        out->reg = reg_of(d, qp, wr);
        break;
    case WR_FORM_UD:
        out->to = datagram_of(wr);
        break;
    case WR_FORM_NONE:
    case WR_FORM_BIND: /* no number stands for it */
        break;
    }
}

/* --- Calls of the RNIC ------------------------------------------------------------------------ */

/* Emits ring_broken: the driver's index of @r is wrong.  @qpn 0: the ring of a shared queue. */
static void trace_broken(const struct pvrdma *d, const struct pv_ring *r, uint32_t qpn,
                         uint32_t queue)
{
    const bool shared = qpn == 0;

    TRACE(d->nic.trace, ring_broken, .host = d->config.nic.host, .qpn = qpn,
          .object = (uint32_t)(shared ? OBJ_SRQ : OBJ_NONE),
          .number = shared ? queue - pv_srq_queue(d, 0) : 0, .queue = queue,
          .tail = pv_ring_index(d->nic.ram, r, PV_RING_TAIL), .head = r->over, .slots = r->n);
}

/* Emits slot_free: the device has freed slot @desc of @r. */
static void trace_free(const struct pvrdma *d, const struct pv_ring *r, uint32_t qpn,
                       uint32_t queue, uint32_t desc)
{
    TRACE(d->nic.trace, slot_free, .host = d->config.nic.host, .qpn = qpn, .queue = queue,
          .desc = desc, .head = r->over);
}

/* Takes the next entry of @q, a work queue of @qp, into d->wqe. */
static enum fetch take(struct pvrdma *d, const struct qp *qp, enum wq wq, uint32_t *ret_slot)
{
    struct pv_queue *q = &d->qps[qp->qpn].wq[wq];

    if (!pv_is_running(d))
        return FETCH_EMPTY;
    switch (pv_ring_take(d->nic.ram, &q->ring, d->nic.trace->tick, d->wqe, ret_slot)) {
    case PV_TAKEN:
        d->nic.progress->wqes++;
        return FETCH_OK;
    case PV_EMPTY:
        return FETCH_EMPTY;
    case PV_TURN_IS_OVER:
        ring_doorbell(d, qp->qpn, wq);
        return FETCH_EMPTY;
    case PV_BROKEN:
        break;
    }
    if (!q->failed) {
        trace_broken(d, &q->ring, qp->qpn, queue_of_qp(qp->qpn, wq));
        ring_doorbell(d, qp->qpn, wq);
    }
    q->failed = true;
    return FETCH_BROKEN;
}

enum fetch pv_fetch_send(void *ctx, struct qp *qp, struct send_wqe *out)
{
    struct pvrdma *d = ctx;
    struct pv_queue *q = &d->qps[qp->qpn].wq[WQ_SEND];
    struct pv_raw_sq_wqe raw;
    struct pv_sq_wqe w;
    uint32_t slot;
    const enum fetch got = take(d, qp, WQ_SEND, &slot);
    ev_id cause;

    if (got != FETCH_OK)
        return got;
    memcpy(&raw, d->wqe, sizeof(raw));
    pv_sq_wqe_get(&w, &raw);
    out->wr_id = w.wr_id;
    out->opcode = pv_send_opcode(w.opcode);
    out->flags = w.send_flags;
    memcpy(out->imm, w.ex, sizeof(out->imm));
    out->invalidate_rkey = ld_le32(w.ex);
    out->desc = slot;
    out->truncated = false;
    out->n_sge =
        (struct sge_count){.said = w.num_sge, .found = min_u32(w.num_sge, qp->config.max_send_sge)};
    read_sges(d->wqe + sizeof(raw), out->n_sge.found, out->sge);
    out->inline_bytes = bytes_of(out); /* none are allowed */
    if ((w.send_flags & SF_INLINE) && out->n_sge.said == out->n_sge.found)
        out->n_sge.said = 0; /* as verbs have it: data in place of elements */
    decode_operation(d, qp, w.wr, out);
    d->count.tx++;
    d->count.tx_len += bytes_of(out);
    cause = trace_because(d->nic.trace, q->kick);
    TRACE_ID(d->nic.trace, out->fetched, fetch, .host = d->config.nic.host, .qpn = qp->qpn,
             .queue = queue_of_qp(qp->qpn, WQ_SEND), .desc = slot, .wr_id = w.wr_id,
             .op = out->opcode, .bytes = q->ring.slot_bytes);
    trace_because(d->nic.trace, cause);
    return FETCH_OK;
}

/* Takes the next entry of the shared receive queue of @qp into d->wqe.  The slot is free at once,
 * because shared receives end in any order.
 */
static enum fetch take_shared(struct pvrdma *d, const struct qp *qp, uint32_t *ret_slot)
{
    struct pv_ring *r = &d->srqs[qp->srq->srqn].ring;

    if (!pv_is_running(d))
        return FETCH_EMPTY;
    if (qp->srq->error)
        return FETCH_BROKEN;
    switch (pv_ring_take(d->nic.ram, r, d->nic.trace->tick, d->wqe, ret_slot)) {
    case PV_TAKEN:
        d->nic.progress->wqes++;
        (void)pv_ring_end(d->nic.ram, r);
        return FETCH_OK;
    case PV_EMPTY:
    case PV_TURN_IS_OVER: /* the peer tries again */
        return FETCH_EMPTY;
    case PV_BROKEN:
        break;
    }
    trace_broken(d, r, 0, pv_srq_queue(d, qp->srq->srqn));
    rnic_srq_failed(&d->nic, qp->srq);
    return FETCH_BROKEN;
}

enum fetch pv_fetch_recv(void *ctx, struct qp *qp, struct recv_wqe *out)
{
    struct pvrdma *d = ctx;
    struct pv_raw_rq_wqe raw;
    struct pv_rq_wqe w;
    uint32_t slot;
    const enum fetch got = qp->srq ? take_shared(d, qp, &slot) : take(d, qp, WQ_RECV, &slot);
    const struct pv_ring *r =
        qp->srq ? &d->srqs[qp->srq->srqn].ring : &d->qps[qp->qpn].wq[WQ_RECV].ring;
    ev_id fetched, cause;

    if (got != FETCH_OK)
        return got;
    memcpy(&raw, d->wqe, sizeof(raw));
    pv_rq_wqe_get(&w, &raw);
    out->wr_id = w.wr_id;
    out->desc = slot;
    out->truncated = false;
    out->n_sge =
        (struct sge_count){.said = w.num_sge, .found = min_u32(w.num_sge, qp->config.max_recv_sge)};
    read_sges(d->wqe + sizeof(raw), out->n_sge.found, out->sge);
    d->count.rx_bufs++;
    d->count.rx_srq += qp->srq != NULL;
    TRACE_ID(d->nic.trace, fetched, fetch, .host = d->config.nic.host, .qpn = qp->qpn,
             .queue = qp->srq ? pv_srq_queue(d, qp->srq->srqn) : queue_of_qp(qp->qpn, WQ_RECV),
             .desc = slot, .wr_id = w.wr_id, .op = WR_RECV, .bytes = r->slot_bytes);
    if (qp->srq) {
        cause = trace_because(d->nic.trace, fetched);
        trace_free(d, r, 0, pv_srq_queue(d, qp->srq->srqn), slot);
        rnic_srq_taken(&d->nic, qp->srq, pv_ring_waiting(d->nic.ram, r));
        trace_because(d->nic.trace, cause);
    }
    return FETCH_OK;
}

uint32_t pv_receives(void *ctx, struct qp *qp)
{
    const struct pvrdma *d = ctx;

    return pv_ring_waiting(d->nic.ram, &d->qps[qp->qpn].wq[WQ_RECV].ring);
}

bool pv_sends_wait(const void *ctx, const struct qp *qp)
{
    const struct pvrdma *d = ctx;

    return pv_is_running(d) && pv_ring_waiting(d->nic.ram, &d->qps[qp->qpn].wq[WQ_SEND].ring) > 0;
}

void pv_release(void *ctx, struct qp *qp, enum wq wq, uint32_t desc)
{
    struct pvrdma *d = ctx;
    struct pv_ring *r = &d->qps[qp->qpn].wq[wq].ring;

    if (d->phase != PV_ACTIVE || (qp->srq && wq == WQ_RECV))
        return;
    if (pv_ring_end(pv_is_running(d) ? d->nic.ram : NULL, r)) /* requests of a queue end in order */
        trace_free(d, r, qp->qpn, queue_of_qp(qp->qpn, wq), desc);
}
