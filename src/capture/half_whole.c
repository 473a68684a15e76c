/* SPDX-License-Identifier: MIT */
/* The messages of one half: their packets in PSN order, each once, without repetitions. */
#include "capture/half.h"

static void judge_size(struct half *h, uint32_t seen)
{
    const struct seen *s = &h->r->v[seen];
    const enum op_position pos = seen_op(s)->pos;
    const bool is_full = pos == OPP_FIRST || pos == OPP_MIDDLE;
    bool is_right;

    if (seen_op(s)->kind == OPK_READ || seen_op(s)->kind == OPK_ATOMIC)
        return;
    if (h->mtu == 0) {
        if (record_fits_no_mtu(s))
            half_find(h, FIND_BAD_SIZE_AT_ANY_MTU, seen, (struct found){.n = s->payload_bytes});
        return;
    }
    is_right = is_full ? s->payload_bytes == h->mtu
                       : s->payload_bytes <= h->mtu && (pos == OPP_ONLY || s->payload_bytes > 0);
    if (!is_right)
        half_find(h, FIND_BAD_SIZE, seen, (struct found){.n = s->payload_bytes, .value = h->mtu});
}

/* Describes the packet before, for a finding about a wrong order. */
static const char *before(const struct half *h)
{
    if (!h->open)
        return "the end of a message";
    return h->open->kind == OPK_SEND ? "a SEND that is not finished"
                                     : "a WRITE that is not finished";
}

static void judge_order(struct half *h, uint32_t seen)
{
    const struct op_info *op = seen_op(&h->r->v[seen]);

    if (h->is_open_known && !op_may_follow(h->open, op))
        half_find(h, FIND_BAD_ORDER, seen, (struct found){.why = before(h)});
    h->is_open_known = true;
    h->open = op_ends(op) ? NULL : op;
}

static void judge_length(struct half *h, uint32_t seen)
{
    const struct seen *s = &h->r->v[seen];
    const struct op_info *op = seen_op(s);

    if (op_starts(op)) {
        h->is_length_known = op->kind == OPK_WRITE || op->kind == OPK_ATOMIC_WRITE;
        h->open_dma_bytes = s->dma_bytes;
        h->open_bytes = 0;
    }
    h->open_bytes += s->payload_bytes;
    if (op_ends(op) && h->is_length_known && h->open_bytes != h->open_dma_bytes)
        half_find(h, FIND_BAD_DMA_LENGTH, seen,
                  (struct found){.n = (uint32_t)h->open_bytes, .value = h->open_dma_bytes});
    if (op_ends(op))
        h->is_length_known = false;
}

static void take(struct half *h, struct asked *e)
{
    const struct seen *s = &h->r->v[e->first_seen];
    const struct op_info *op = seen_op(s);

    judge_size(h, e->first_seen);
    judge_order(h, e->first_seen);
    judge_length(h, e->first_seen);
    h->sums.bytes += op->kind == OPK_READ     ? s->dma_bytes
                     : op->kind == OPK_ATOMIC ? 8
                                              : s->payload_bytes;
    if (op_ends(op)) {
        h->messages++;
        h->sums.messages++;
    }
    e->messages = h->messages;
}

/* Skips a missing entry that was acknowledged: it arrived on a way past the observer, so its
 * contents are not known.
 */
static void pass_over(struct half *h, struct asked *e)
{
    h->is_open_known = h->is_length_known = false;
    h->has_base = false;
    e->messages = h->messages;
}

void half_go_on(struct half *h)
{
    for (; h->whole < h->n; h->whole++) {
        struct asked *e = &h->v[h->whole];

        if (e->seen != SEEN_NONE)
            take(h, e);
        else if (e->at + e->psns <= h->acked)
            pass_over(h, e);
        else
            return;
    }
}
