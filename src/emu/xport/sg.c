/* SPDX-License-Identifier: MIT */
#include "emu/xport/sg.h"

#include "emu/base/copy.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/qp.h"
#include "emu/wire/icrc.h"

enum rule sge_check(const struct hca *h, const struct sg_list *l, struct sge_cur at, uint32_t bytes,
                    struct sge *reterr_bad)
{
    while (bytes > 0) {
        const struct sge piece = sge_take(l->sge, &at, bytes);
        enum rule rule;

        bytes -= piece.bytes;
        if (piece.bytes == 0)
            continue;
        rule = key_check(h, piece.lkey, &l->who, piece.addr, piece.bytes, l->access);
        if (rule != RULE_NONE) {
            *reterr_bad = piece;
            return rule;
        }
    }
    return RULE_NONE;
}

/* Copies @piece to @to and updates *@icrc if that is not NULL.  The ICRC is computed before the
 * copy: computation hides the latency of uncached memory, copying does not.  Lent memory is copied
 * first, with one call of the lender.
 */
static void copy_piece(const struct hca *h, const struct sge *piece, uint8_t *to, uint32_t *icrc)
{
    size_t run;

    if (key_is_lent(h, piece->lkey)) {
        key_copy_out(h, piece->lkey, piece->addr, to, piece->bytes);
        if (icrc)
            *icrc = icrc_more(*icrc, to, piece->bytes);
        return;
    }
    for (size_t i = 0; i < piece->bytes; i += run) {
        const uint8_t *from = key_look(h, piece->lkey, piece->addr + i, piece->bytes - i, &run);

        if (icrc)
            *icrc = icrc_more(*icrc, from, run);
        copy_payload(to + i, from, run);
    }
}

enum rule sge_copy_out(const struct hca *h, const struct sg_list *l, struct sge_cur *at,
                       const struct sg_sink *sink, struct sge *reterr_bad)
{
    uint32_t done = 0;

    while (done < sink->bytes) {
        const struct sge piece = sge_take(l->sge, at, sink->bytes - done);
        enum rule rule;

        if (piece.bytes == 0)
            continue;
        rule = key_check(h, piece.lkey, &l->who, piece.addr, piece.bytes, l->access);
        if (rule != RULE_NONE) {
            *reterr_bad = piece;
            return rule;
        }
        copy_piece(h, &piece, sink->to + done, sink->icrc);
        done += piece.bytes;
    }
    return RULE_NONE;
}

void sge_copy_in(const struct qp *qp, uint64_t wr_id, const struct sge *sge, struct sge_cur *at,
                 const uint8_t *from, uint32_t bytes)
{
    struct hca *h = qp->hca;

    while (bytes > 0) {
        const struct sge piece = sge_take(sge, at, bytes);

        if (piece.bytes == 0)
            continue;
        key_copy_in(h, piece.lkey, piece.addr, from, piece.bytes);
        TRACE(h->trace, dma_write, .host = h->host, .qpn = qp->qpn, .addr = piece.addr,
              .bytes = piece.bytes, .wr_id = wr_id);
        from += piece.bytes;
        bytes -= piece.bytes;
    }
}
