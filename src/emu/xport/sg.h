/* SPDX-License-Identifier: MIT */
/* Scatter/gather lists: the pieces of one, what their keys allow, and the copies out of guest
 * memory and into it, which are the only ones.
 *
 * A place in a list is a cursor; whoever walks sees to it that the list is that long.  Elements of
 * length 0 are passed over: their keys are not looked at.
 */
#ifndef EMU_XPORT_SG_H
#define EMU_XPORT_SG_H

#include "emu/hca/mr.h"
#include "emu/hca/qp.h"
#include "emu/xport/xport.h"

/* A place in a list of SGEs. */
struct sge_cur {
    uint32_t i;  /* element */
    uint32_t at; /* byte in it */
};

/* A list, and who touches the memory that it names in which way. */
struct sg_list {
    const struct sge *sge;
    struct key_user who;
    unsigned access; /* set of enum access_bit; reading locally needs none */
};

/* All bytes of a list of @n elements. */
static inline uint64_t sge_total(const struct sge *sge, uint32_t n)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < n; i++)
        total += sge[i].bytes;
    return total;
}

/* The next piece of a list: @at stands on at least one more byte of it, or the piece is empty.
 * Moves @at behind the piece, which has at most @bytes.
 */
static inline struct sge sge_take(const struct sge *sge, struct sge_cur *at, uint32_t bytes)
{
    const struct sge *e = &sge[at->i];
    struct sge piece = {.addr = e->addr + at->at, .bytes = e->bytes - at->at, .lkey = e->lkey};

    if (piece.bytes > bytes)
        piece.bytes = bytes;
    at->at += piece.bytes;
    if (at->at == e->bytes)
        *at = (struct sge_cur){at->i + 1, 0};
    return piece;
}

/* May @bytes be touched at place @at of the list @l?  The piece that refuses them is @reterr_bad
 * then.  Elements that are not touched are not looked at.  Pure.
 */
enum rule sge_check(const struct hca *h, const struct sg_list *l, struct sge_cur at, uint32_t bytes,
                    struct sge *reterr_bad);

/* Where what is copied goes. */
struct sg_sink {
    uint8_t *to;
    uint32_t bytes;
    uint32_t *icrc; /* of all before @to, goes on over what is copied; NULL: nobody sums */
};

/* Fills @sink from place *@at of the list @l, and moves *@at behind what was copied.  Each key is
 * checked first: RULE_NONE, or what refused the piece @reterr_bad; what is in @sink then is worth
 * nothing.
 */
enum rule sge_copy_out(const struct hca *h, const struct sg_list *l, struct sge_cur *at,
                       const struct sg_sink *sink, struct sge *reterr_bad);

/* Copies @bytes at @from to place *@at of a list of @qp, which sge_check() has allowed, and moves
 * *@at behind them.  Emits `dma_write` for each piece, for request @wr_id.
 */
void sge_copy_in(const struct qp *qp, uint64_t wr_id, const struct sge *sge, struct sge_cur *at,
                 const uint8_t *from, uint32_t bytes);

#endif
