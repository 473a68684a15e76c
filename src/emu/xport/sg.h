/* SPDX-License-Identifier: MIT */
/* Scatter/gather lists: iteration, key checks, and the copies of payload out of and into guest
 * memory.
 *
 * A position in a list is a struct sge_cur.  The caller ensures that the list is long enough.
 * Elements of length 0 are skipped without a check of their keys.
 */
#ifndef EMU_XPORT_SG_H
#define EMU_XPORT_SG_H

#include "emu/hca/mr.h"
#include "emu/hca/qp.h"
#include "emu/xport/xport.h"

/* A position in a list of SGEs. */
struct sge_cur {
    uint32_t i;  /* index of the element */
    uint32_t at; /* byte offset in the element */
};

/* A list, and the user and access for its key checks. */
struct sg_list {
    const struct sge *sge;
    struct key_user who;
    unsigned access; /* set of enum access_bit; 0 for local reads */
};

/* Returns the total length in bytes of a list of @n elements. */
static inline uint64_t sge_total(const struct sge *sge, uint32_t n)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < n; i++)
        total += sge[i].bytes;
    return total;
}

/* Returns the length in bytes of the list @sge before position @at. */
static inline uint32_t sge_bytes_before(const struct sge *sge, struct sge_cur at)
{
    return (uint32_t)sge_total(sge, at.i) + at.at;
}

/* Returns the next piece of the list @sge from position *@at, and advances *@at by its length.  The
 * piece is at most @bytes long and within one element.  It is empty if the element has length 0.
 * The list must have at least one more element.
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

/* Checks the keys for @bytes from position @at of the list @l.  Returns RULE_NONE, or the rule that
 * refuses a key, with the refused piece in *@reterr_bad.  Only pieces within @bytes are checked.
 * Pure.
 */
enum rule sge_check(const struct hca *h, const struct sg_list *l, struct sge_cur at, uint32_t bytes,
                    struct sge *reterr_bad);

/* Destination of a copy. */
struct sg_sink {
    uint8_t *to;
    uint32_t bytes;
    uint32_t *icrc; /* running ICRC, updated over the copied bytes; NULL: none */
};

/* Fills @sink from position *@at of the list @l, and advances *@at by the copied bytes.  Checks
 * each key first.  Returns RULE_NONE, or the rule that refuses a key, with the refused piece in
 * *@reterr_bad; the content of @sink is then undefined.
 */
enum rule sge_copy_out(const struct hca *h, const struct sg_list *l, struct sge_cur *at,
                       const struct sg_sink *sink, struct sge *reterr_bad);

/* Copies @bytes from @from to position *@at of the list @sge, and advances *@at by @bytes.
 * sge_check() must have allowed the access.  Emits `dma_write` with @wr_id for each piece; @wr_id
 * is 0 for an RDMA WRITE, which belongs to no work request of @qp.
 */
void sge_copy_in(const struct qp *qp, uint64_t wr_id, const struct sge *sge, struct sge_cur *at,
                 const uint8_t *from, uint32_t bytes);

#endif
