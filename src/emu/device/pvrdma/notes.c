/* SPDX-License-Identifier: MIT */
/* Completions, notifications of armed CQs, and asynchronous events: from the RNIC to the driver. */
#include "emu/base/cursor.h"
#include "emu/device/pvrdma/internal.h"
#include "emu/facts/async.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/pvrdma/handle.h"
#include "emu/facts/pvrdma/opcode.h"
#include "emu/hca/cq.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/pvrdma.h"

/* Makes the entry of @wc for a driver of @version. */
static void put_cqe(struct pv_raw_cqe *raw, const struct completion *wc, uint32_t version)
{
    struct pv_cqe cqe = {
        .wr_id = wc->wr_id,
        .qp = wc->qpn, /* which is the handle */
        .opcode = pv_wc_number(wc->opcode),
        .status = wc->status,
        .byte_len = wc->bytes,
        .src_qp = wc->src_qpn,
        .wc_flags = pv_wc_flag_bits(wc->flags),
        .vendor_err = wc->rule,
        .pkey_index = wc->pkey_index,
        .sl = wc->sl,
        .port = HCA_PORT,
    };

    if (wc->flags & WCF_WITH_INV)
        st_le32(cqe.ex, wc->invalidated_rkey);
    else
        memcpy(cqe.ex, wc->imm, sizeof(cqe.ex));
    if (wc->ip && version >= PV_VERSION_ROCE_V2) {
        cqe.wc_flags |= PV_WC_NETWORK_HDR_TYPE;
        cqe.network_hdr_type = wc->ip == 4 ? PV_NETWORK_IPV4 : PV_NETWORK_IPV6;
    }
    pv_cqe_put(raw, &cqe);
}

bool pv_complete(void *ctx, struct cq *cq, const struct completion *wc)
{
    struct pvrdma *d = ctx;
    struct pv_raw_cqe raw;

    if (pv_fault_hits(d, FLT_LOST_CQE, pv_cq_queue(d, cq->cqn)))
        return true;
    put_cqe(&raw, wc, d->version);
    if (pv_is_running(d) && pv_ring_put(d->nic.ram, &d->cqs[cq->cqn].ring, &raw)) {
        d->count.comps++;
        return true;
    }
    d->count.missing_comps++;
    rnic_cq_overflow(&d->nic, cq);
    return false;
}

/* Writes a notification of @cqn.  Returns its event, or 0 if there is no room. */
static ev_id put_note(struct pvrdma *d, uint32_t cqn)
{
    const struct pv_cq_note note = {.cq = pv_handle_of(OBJ_CQ, cqn)};
    struct pv_raw_cq_note raw;
    ev_id id;

    pv_cq_note_put(&raw, &note);
    if (!pv_is_running(d) || !pv_ring_put(d->nic.ram, &d->notes.ring, &raw))
        return 0;
    d->count.notes++;
    TRACE_ID(d->nic.trace, id, cq_note, .host = d->config.nic.host, .cqn = cqn,
             .tail = d->notes.ring.idx);
    return id;
}

/* Raises @vector for @queue because of event @id; 0: there is no reason. */
static void raise_for(struct pvrdma *d, enum pv_vector vector, uint32_t queue, ev_id id)
{
    ev_id cause;

    if (!id)
        return;
    cause = trace_because(d->nic.trace, id);
    pv_raise(d, vector, queue);
    trace_because(d->nic.trace, cause);
}

void pv_completed(void *ctx, struct cq *cq)
{
    struct pvrdma *d = ctx;
    struct pv_cq *c = &d->cqs[cq->cqn];
    const ev_id note = put_note(d, cq->cqn);

    raise_for(d, PV_VECTOR_CQ, pv_cq_queue(d, cq->cqn), note);
    if (note || c->note_due)
        return;
    c->note_due = true;
    d->n_notes_due++;
    d->count.notes_held++;
    TRACE(d->nic.trace, cq_note_held, .host = d->config.nic.host, .cqn = cq->cqn);
}

static void flush_notes(struct pvrdma *d)
{
    uint32_t queue = 0;
    ev_id last = 0;

    for (uint32_t cqn = 1; d->n_notes_due > 0 && cqn <= d->config.nic.max_cq; cqn++) {
        ev_id note;

        if (!d->cqs[cqn].note_due)
            continue;
        note = put_note(d, cqn);
        if (!note)
            break;
        d->cqs[cqn].note_due = false;
        d->n_notes_due--;
        last = note;
        queue = pv_cq_queue(d, cqn);
    }
    raise_for(d, PV_VECTOR_CQ, queue, last);
}

static void flush_events(struct pvrdma *d)
{
    const struct rnic_events *e = &d->nic.events;
    ev_id last = 0;

    while (e->len > 0 && pv_is_running(d)) {
        const struct rnic_event event = e->ring[e->first];
        const enum object_kind kind = async_object((uint32_t)event.type);
        const struct pv_async_event said = {.type = (uint32_t)event.type,
                                            .info = pv_handle_of(kind, event.number)};
        struct pv_raw_async_event raw;

        pv_async_event_put(&raw, &said);
        if (!pv_ring_put(d->nic.ram, &d->events.ring, &raw))
            break;
        if (kind == OBJ_QP && event.number <= d->config.nic.max_qp)
            d->qps[event.number].events++;
        TRACE_ID(d->nic.trace, last, event_note, .host = d->config.nic.host,
                 .event = (uint32_t)event.type, .object = (uint32_t)kind, .number = event.number,
                 .tail = d->events.ring.idx);
        rnic_event_told(&d->nic);
    }
    raise_for(d, PV_VECTOR_ASYNC, PV_QUEUE_EVENTS, last);
}

void pv_event(void *ctx)
{
    flush_events(ctx);
}

void pv_notes_flush(struct pvrdma *d)
{
    flush_events(d);
    flush_notes(d);
}
