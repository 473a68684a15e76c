/* SPDX-License-Identifier: MIT */
#include "capture/stream.h"

#define LATE_MAX 1024 /* PSNs that a packet may be late; an older PSN starts a new life */

struct stream {
    const struct capture_record *r;
    struct found_list *found;
    struct half_sums *sums;
    uint32_t flow, mtu;
    struct psn next;
    bool has_begun;
    bool is_open_known, is_length_known;
    const struct op_info *open; /* the previous packet of the message */
    uint64_t bytes, dma_bytes;  /* of that message */
    uint32_t last;              /* index of the last packet in sequence */
};

static void find(struct stream *st, enum finding finding, uint32_t seen, struct found f)
{
    f.finding = finding;
    f.flow = st->flow;
    f.frame = st->r->v[seen].number;
    f.opcode = st->r->v[seen].opcode;
    found_add(st->found, &f);
}

static void judge_size(struct stream *st, uint32_t seen)
{
    const struct seen *s = &st->r->v[seen];
    const enum op_position pos = seen_op(s)->pos;
    const bool is_full = pos == OPP_FIRST || pos == OPP_MIDDLE;

    if (st->mtu == 0 && record_fits_no_mtu(s))
        find(st, FIND_BAD_SIZE_AT_ANY_MTU, seen, (struct found){.n = s->payload_bytes});
    else if (st->mtu != 0 &&
             (is_full ? s->payload_bytes != st->mtu
                      : s->payload_bytes > st->mtu || (pos == OPP_LAST && s->payload_bytes == 0)))
        find(st, FIND_BAD_SIZE, seen, (struct found){.n = s->payload_bytes, .value = st->mtu});
}

/* Processes a packet in sequence. */
static void take(struct stream *st, uint32_t seen)
{
    const struct seen *s = &st->r->v[seen];
    const struct op_info *op = seen_op(s);

    judge_size(st, seen);
    if (st->is_open_known && !op_may_follow(st->open, op))
        find(st, FIND_BAD_ORDER, seen,
             (struct found){.why = st->open ? "a message that is not finished"
                                            : "the end of a message"});
    st->is_length_known = op->kind == OPK_WRITE && (op_starts(op) || st->is_length_known);
    if (op_starts(op)) {
        st->bytes = 0;
        st->dma_bytes = s->dma_bytes;
    }
    st->bytes += s->payload_bytes;
    if (op_ends(op) && st->is_length_known && st->bytes != st->dma_bytes)
        find(st, FIND_BAD_DMA_LENGTH, seen,
             (struct found){.n = (uint32_t)st->bytes, .value = st->dma_bytes});
    st->is_open_known = true;
    st->open = op_ends(op) ? NULL : op;
    st->sums->messages += op_ends(op);
    st->sums->bytes += s->payload_bytes;
    st->last = seen;
}

static void take_next(struct stream *st, uint32_t seen)
{
    const struct seen *s = &st->r->v[seen];
    const int32_t ahead = psn_diff(seen_psn(s), st->next);

    if (ahead > HALF_LIFE_PSNS || ahead < -LATE_MAX) {
        find(st, FIND_STARTS_AGAIN, seen, (struct found){.psn = s->psn});
        st->is_open_known = st->is_length_known = false;
    } else if (ahead > 0) {
        find(st, FIND_GAP, seen, (struct found){.psn = st->next.v, .n = (uint32_t)ahead});
        st->sums->missing += (uint32_t)ahead;
        st->is_open_known = st->is_length_known = false;
    } else if (ahead == -1 && seen_same_headers(s, &st->r->v[st->last]) &&
               seen_same_payload(s, &st->r->v[st->last])) {
        find(st, FIND_DOUBLED, seen,
             (struct found){.psn = s->psn,
                            .earlier = st->r->v[st->last].number,
                            .time_ns = s->at_ns - st->r->v[st->last].at_ns});
        return;
    } else if (ahead < 0) {
        find(st, FIND_LATE, seen, (struct found){.psn = s->psn});
        return;
    }
    take(st, seen);
    st->next = psn_add(seen_psn(s), 1);
}

void stream_judge(const struct capture_record *r, uint32_t flow, struct found_list *found,
                  struct half_sums *ret)
{
    struct stream st = {.r = r, .found = found, .sums = ret, .flow = flow};
    const struct flow *f = &r->flows[flow];

    st.mtu = record_mtu(r, f);
    *ret = (struct half_sums){.requests = 0};
    for (uint32_t i = f->first; i != SEEN_NONE; i = r->v[i].next) {
        if (!record_counts(f, &r->v[i]))
            continue;
        if (!st.has_begun) {
            st.next = seen_psn(&r->v[i]);
            st.last = i;
            ret->first_ns = r->v[i].at_ns;
        }
        st.has_begun = true;
        ret->requests++;
        ret->last_ns = r->v[i].at_ns;
        take_next(&st, i);
    }
}
