/* SPDX-License-Identifier: MIT */
/* A write of a device is caused by a packet.  The packet that sent it is known, and the work
 * request behind that.  The position of the bytes in the message follows from the packets before;
 * the `key` events behind the fetch of the work request are its gather list.
 */
#include "cli/why/bytes_source.h"

#include "cli/why/work_text.h"
#include "emu/facts/opcode.h"
#include "emu/facts/psn.h"
#include "emu/trace/event.h"

#define PACKETS_MAX 65536u /* of a message before the packet that is looked at */

/* Returns true if @e wrote to @r. */
static bool writes(const struct ev *e, const struct byte_range *r)
{
    uint64_t addr, bytes, at = r->iova;
    uint32_t host;

    switch (e->kind) {
    case EV_dma_write:
        host = e->u.dma_write.host;
        addr = e->u.dma_write.addr;
        bytes = e->u.dma_write.bytes;
        break;
    case EV_atomic:
        host = e->u.atomic.host;
        addr = e->u.atomic.addr;
        bytes = sizeof(uint64_t);
        break;
    case EV_mem_write:
        host = e->u.mem_write.host;
        addr = e->u.mem_write.addr;
        bytes = e->u.mem_write.bytes;
        at = r->addr;
        break;
    default:
        return false;
    }
    return host == r->host && addr < at + (r->bytes ? r->bytes : 1) && addr + bytes > at;
}

const struct ev *bytes_last_write(const struct past *p, const struct byte_range *r, ev_id before)
{
    for (size_t i = before ? past_lower_bound(p, before) : p->n; i > 0; i--) {
        if (writes(past_at(p, i - 1), r))
            return past_at(p, i - 1);
    }
    return NULL;
}

const struct ev *bytes_next_write(const struct past *p, const struct byte_range *r, ev_id after)
{
    for (size_t i = past_lower_bound(p, after + 1); i < p->n; i++) {
        if (writes(past_at(p, i), r))
            return past_at(p, i);
    }
    return NULL;
}

/* Returns the tx event of the packet that made a device write in @w; *@ret_rx is its arrival. */
static const struct ev *packet_behind(const struct past_index *x, const struct ev *w,
                                      const struct ev **ret_rx)
{
    const struct ev *rx = past_find(x->past, w->cause);

    *ret_rx = rx;
    return rx && rx->kind == EV_rx ? past_tx_of(x->past, rx) : NULL;
}

/* Returns the offset in its packet of the first byte that @w wrote: a scatter list has more parts.
 */
static uint64_t offset_in_packet(const struct past_index *x, const struct ev *w)
{
    uint64_t offset = 0;

    for (size_t i = past_lower_bound(x->past, w->cause); i < x->past->n; i++) {
        const struct ev *e = past_at(x->past, i);

        if (e->id >= w->id)
            break;
        if (e->kind == EV_dma_write && e->cause == w->cause)
            offset += e->u.dma_write.bytes;
    }
    return offset;
}

/* Returns the PSN that is @n before @psn. */
static uint32_t psn_before(uint32_t psn, uint32_t n)
{
    return psn_add((struct psn){psn}, PSN_MASK + 1u - n).v;
}

/* *@ret is the number of bytes of the message of @work that packets before @tx have carried.
 * Returns false if one of them may be missing in the record.
 */
static bool offset_in_message(const struct past_index *x, const struct ev *tx,
                              const struct ev *work, uint64_t *ret)
{
    uint64_t offset = 0;

    if (past_gap_between(x->past, work->id, tx->id))
        return false;
    for (uint32_t n = 1; n <= PACKETS_MAX; n++) {
        const struct ev *e =
            past_last_tx(x, tx->u.tx.host, tx->u.tx.qpn, psn_before(tx->u.tx.psn, n), tx->id);

        if (!e || work_of_packet(x, e) != work) {
            *ret = offset;
            return true;
        }
        offset += e->u.tx.bytes;
    }
    return false;
}

/* Finds byte @offset of the message of @work in its gather list. */
static bool in_gather_list(const struct past_index *x, const struct ev *work, uint64_t offset,
                           struct bytes_origin *ret)
{
    for (size_t i = past_lower_bound(x->past, work->id + 1); i < x->past->n; i++) {
        const struct ev *e = past_at(x->past, i);

        if (ev_tick(e->id) != ev_tick(work->id) || e->kind == EV_fetch)
            break;
        if (e->kind != EV_key || e->u.key.host != work->u.fetch.host ||
            e->u.key.qpn != work->u.fetch.qpn)
            continue;
        if (offset < e->u.key.bytes) {
            ret->iova = e->u.key.addr + offset;
            ret->bytes = e->u.key.bytes - offset;
            return true;
        }
        offset -= e->u.key.bytes;
    }
    return false;
}

/* Finds byte @offset of the READ response @tx at the address of the request. */
static bool in_answer(const struct past_index *x, const struct ev *rx, const struct ev *tx,
                      uint64_t offset, struct bytes_origin *ret)
{
    const struct ev *asked = past_last_asked(x, rx->u.rx.host, rx->u.rx.qpn, tx->u.tx.psn, rx->id);
    const struct ev *first;
    int32_t n;

    if (!asked)
        return false;
    n = psn_diff((struct psn){tx->u.tx.psn}, (struct psn){asked->u.tx.psn});
    first = past_last_response(x, tx->u.tx.host, tx->u.tx.qpn, asked->u.tx.psn, rx->id);
    if (n < 0 || (n > 0 && !first))
        return false;
    offset += n > 0 ? (uint64_t)n * first->u.tx.bytes : 0; /* all but the last have equal sizes */
    ret->iova = asked->u.tx.va + offset;
    ret->bytes = UINT64_MAX;
    return true;
}

const struct ev *bytes_work(const struct past_index *x, const struct ev *w)
{
    const struct ev *rx, *tx = packet_behind(x, w, &rx);

    if (!tx)
        return NULL;
    if (op_is_response(op_info((uint8_t)tx->u.tx.opcode)))
        return past_fetch_before(x, w->u.dma_write.host, w->u.dma_write.qpn, w->u.dma_write.wr_id,
                                 w->id);
    return work_of_packet(x, tx);
}

bool bytes_find_origin(const struct past_index *x, const struct ev *w, const struct byte_range *r,
                       struct bytes_origin *ret)
{
    const struct ev *rx, *tx = packet_behind(x, w, &rx);
    const struct op_info *op = tx ? op_info((uint8_t)tx->u.tx.opcode) : NULL;
    const struct ev *work = tx ? work_of_packet(x, tx) : NULL;
    const uint64_t end = r->iova + (r->bytes ? r->bytes : 1);
    const uint64_t w_end = w->u.dma_write.addr + w->u.dma_write.bytes;
    const uint64_t skipped = r->iova > w->u.dma_write.addr ? r->iova - w->u.dma_write.addr : 0;
    struct bytes_origin origin = {.read = tx ? tx->id : 0};
    uint64_t most, before = 0, offset;
    bool found = false;

    if (!tx || op->service == OPS_UD)
        return false;
    offset = offset_in_packet(x, w) + skipped;
    origin.host = tx->u.tx.host;
    if (op->kind == OPK_READ_RESPONSE)
        found = in_answer(x, rx, tx, offset, &origin);
    else if ((op->kind == OPK_SEND || op->kind == OPK_WRITE) && work)
        found = offset_in_message(x, tx, work, &before) &&
                in_gather_list(x, work, before + offset, &origin);
    if (!found)
        return false;
    most = (end < w_end ? end : w_end) - (w->u.dma_write.addr + skipped);
    if (origin.bytes > most)
        origin.bytes = most;
    *ret = origin;
    return true;
}
