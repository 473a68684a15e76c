/* SPDX-License-Identifier: MIT */
/* The responses of one half: ACKs, NAKs, READ responses and atomic responses. */
#include "capture/half.h"

#include "emu/facts/aeth.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/op_header.h"

static enum op_kind kind_of(const struct half *h, const struct asked *e)
{
    return seen_op(&h->r->v[e->first_seen])->kind;
}

static struct half_reason reason(const struct half *h, uint64_t at, uint32_t seen)
{
    return (struct half_reason){
        .is_there = true, .at = at, .at_ns = h->r->v[seen].at_ns, .frame = h->r->v[seen].number};
}

/* Reports the response to a request that was not captured.  Does nothing if the two ends do not
 * agree on the first PSN.
 */
static void report_unseen(struct half *h, enum finding otherwise, uint64_t at, uint32_t seen)
{
    if (h->disagrees)
        return;
    half_find(h, h->is_complete ? otherwise : FIND_NOT_CAPTURED, seen,
              (struct found){.psn = (uint32_t)at & PSN_MASK});
}

/* Reports entry @e, which response @seen covers: it is missing, or has no response of its own. */
static void report_hole(struct half *h, struct asked *e, uint32_t seen, bool *was_unseen)
{
    if (e->seen == SEEN_NONE) {
        if (!*was_unseen)
            report_unseen(h, FIND_ACK_BEFORE_ARRIVAL, e->at, seen);
        *was_unseen = true;
        return;
    }
    if (e->hole_told || !half_is_rd(h, e->seen) || half_is_answered(h, e))
        return;
    half_find(h, FIND_ANSWER_GAP, seen,
              (struct found){.psn = (uint32_t)e->got & PSN_MASK,
                             .n = (uint32_t)(e->at + e->psns - e->got)});
    e->hole_told = e->was_lost = true;
    e->since_ns = h->r->v[e->first_seen].at_ns;
}

/* Response @seen acknowledges everything before @at.  But a READ or atomic whose own response is
 * missing is not answered, so the acknowledgment ends before it, unless it may be over.
 */
static void take_up_to(struct half *h, uint64_t at, uint32_t seen)
{
    const uint64_t now_ns = h->r->v[seen].at_ns;
    bool was_unseen = false;

    if (h->n_told < h->n_acked)
        h->n_told = h->n_acked;
    for (; h->n_told < h->n && h->v[h->n_told].at < at; h->n_told++)
        report_hole(h, &h->v[h->n_told], seen, &was_unseen);
    for (uint32_t i = h->n_acked; i < h->n && h->v[i].at < at; i++) {
        const struct asked *e = &h->v[i];

        if (e->seen == SEEN_NONE || !half_is_rd(h, e->seen) || half_is_answered(h, e) ||
            e->may_be_over)
            continue;
        h->hole = reason(h, e->got, seen);
        half_acked(h, e->got, now_ns);
        return;
    }
    half_acked(h, at, now_ns);
}

/* --- MSN -------------------------------------------------------------------------------------- */

/* Checks the MSN of packet @seen.  The responder had completed between @low and @high messages of
 * this life.  The number before the life is learnt from the first packets.
 */
static void judge_msn(struct half *h, uint32_t seen, uint64_t low, uint64_t high)
{
    const struct psn base = {(h->r->v[seen].msn - (uint32_t)high) & PSN_MASK};
    const int32_t span = (int32_t)(high - low);
    int32_t from, to;

    if (!h->has_base) {
        h->has_base = true;
        h->base_low = base.v;
        h->base_span = (uint32_t)span;
        return;
    }
    from = psn_diff(base, (struct psn){h->base_low});
    to = from + span;
    if (from < 0)
        from = 0;
    if (to > (int32_t)h->base_span)
        to = (int32_t)h->base_span;
    if (from > to) {
        half_find(h, FIND_WRONG_MSN, seen, (struct found){.psn = h->r->v[seen].psn});
        h->has_base = false;
        return;
    }
    h->base_low = psn_add((struct psn){h->base_low}, (uint32_t)from).v;
    h->base_span = (uint32_t)(to - from);
}

/* @e: the entry that @seen acknowledges, or with @takes false the first one that it refuses. */
static void judge_msn_of(struct half *h, const struct asked *e, uint32_t seen, bool takes)
{
    const uint32_t i = (uint32_t)(e - h->v);
    uint64_t low;

    if (!(seen_op(&h->r->v[seen])->headers & H_AETH) || i >= h->whole)
        return;
    if (takes && !half_is_rd(h, e->first_seen))
        low = e->messages;
    else
        low = i > 0 ? h->v[i - 1].messages : 0;
    judge_msn(h, seen, low, h->messages);
}

/* --- ACK and NAK ------------------------------------------------------------------------------ */

static const char *what_it_is(enum op_kind asked)
{
    switch (asked) {
    case OPK_READ:
        return "a READ";
    case OPK_ATOMIC:
        return "an atomic";
    case OPK_FLUSH:
        return "a FLUSH";
    case OPK_ATOMIC_WRITE:
        return "an ATOMIC WRITE";
    case OPK_WRITE:
        return "of a WRITE";
    default:
        return "of a SEND";
    }
}

static bool has_ids(const struct half *h)
{
    return record_has_ids(&h->r->flows[h->answers]);
}

/* Returns an earlier response equal to @seen; SEEN_NONE: none.  If each packet has its own
 * identification, a copy has the same one.  Otherwise only the previous response can be the
 * original.
 */
static uint32_t like(const struct half *h, uint32_t seen)
{
    const bool by_id = has_ids(h);
    const struct seen *v = h->r->v;
    /* Other responses may have a new MSN when repeated. */
    const bool is_ack = seen_op(&v[seen])->kind == OPK_ACK;

    for (uint32_t n = 1; n <= HALF_RECENT && n <= h->n_recent; n++) {
        const uint32_t i = h->recent[(h->n_recent - n) % HALF_RECENT];

        if (v[i].psn == v[seen].psn && v[i].opcode == v[seen].opcode &&
            (!is_ack || (v[i].syndrome == v[seen].syndrome && v[i].msn == v[seen].msn)) &&
            (!by_id || v[i].ip_id == v[seen].ip_id))
            return i;
    }
    return SEEN_NONE;
}

/* Returns true if @seen was sent before a response that was captured earlier. */
static bool was_overtaken(const struct half *h, uint32_t seen)
{
    if (h->newest_answer == SEEN_NONE)
        return false;
    if (has_ids(h))
        return seen_is_older(&h->r->v[seen], &h->r->v[h->newest_answer]);
    return h->came_again == 0;
}

/* Reports that response @seen repeats @was; SEEN_NONE: the original is not known. */
static void report_answered_twice(struct half *h, uint32_t was, uint32_t seen)
{
    const struct seen *v = h->r->v;

    half_find(h, FIND_ANSWERED_TWICE, seen,
              (struct found){.psn = v[seen].psn,
                             .earlier = was == SEEN_NONE ? 0 : v[was].number,
                             .time_ns = was == SEEN_NONE ? 0 : v[seen].at_ns - v[was].at_ns});
}

/* Reports @seen and returns true if it is a copy that the network made.  A responder repeats a
 * response only if it is requested again.
 */
static bool is_copy(struct half *h, uint32_t seen)
{
    const uint32_t was = like(h, seen);

    if (was == SEEN_NONE)
        return false;
    if (!has_ids(h) && (was != half_last_answer(h) || h->came_again > 0))
        return false;
    report_answered_twice(h, was, seen);
    return true;
}

/* Returns true if @at is certainly a PSN of a READ or atomic: without the path MTU, the number of
 * PSNs that a READ takes is a guess.
 */
static bool is_of_rd(const struct half *h, const struct asked *e, uint64_t at)
{
    return half_is_rd(h, e->first_seen) && (at == e->at || h->mtu != 0);
}

/* Processes a positive acknowledgment of the READ or atomic @e.  It is no answer, but the requester
 * may take it as one, or as the sign that the answer is missing.
 */
static void take_ack_of_rd(struct half *h, struct asked *e, uint64_t at, uint32_t seen)
{
    half_find(h, FIND_ANSWER_OF_OTHERS, seen,
              (struct found){.psn = h->r->v[seen].psn, .why = what_it_is(kind_of(h, e))});
    take_up_to(h, e->at, seen);
    if (half_is_answered(h, e))
        return;
    h->hole = reason(h, e->got, seen);
    e->may_be_over |= at == e->got && at + 1 == e->at + e->psns;
}

static void take_ack(struct half *h, struct asked *e, uint64_t at, uint32_t seen)
{
    judge_msn_of(h, e, seen, true);
    if (is_of_rd(h, e, at)) {
        take_ack_of_rd(h, e, at, seen);
        return;
    }
    if (at + 1 < h->acked) {
        if (was_overtaken(h, seen))
            half_find(h, FIND_LATE, seen, (struct found){.psn = h->r->v[seen].psn});
        return;
    }
    take_up_to(h, at + 1, seen);
}

/* Returns the largest number of READs and atomics under way before @e that were answered. */
static uint32_t rds_taken(const struct half *h, const struct asked *e)
{
    uint32_t most = 0;

    for (const struct asked *i = h->v; i < e; i++) {
        if (i->seen != SEEN_NONE && half_is_rd(h, i->first_seen) && half_is_answered(h, i) &&
            i->n_rds > most)
            most = i->n_rds;
    }
    return most;
}

/* Reports why the responder refuses request @e as invalid, if the request shows it. */
static void report_cause(struct half *h, const struct asked *e, uint32_t seen)
{
    const struct seen *asked = &h->r->v[e->first_seen];
    const bool is_rd = half_is_rd(h, e->first_seen);
    struct found f = {.psn = h->r->v[seen].psn, .n = e->n_rds};

    if (is_rd)
        f.value = rds_taken(h, e);
    if (asked->flags & SEEN_UNALIGNED)
        f.why = "the address of the atomic is no multiple of 8";
    else if (asked->dma_bytes > MESSAGE_BYTES_MAX)
        f.why = "a message has at most 2^31 bytes";
    else if (seen_op(asked)->kind == OPK_ATOMIC_WRITE && asked->payload_bytes != ATOMIC_WORD_BYTES)
        f.why = "an ATOMIC WRITE carries exactly 8 bytes";
    else if (op_is_placement(seen_op(asked)) && f.n == 1 && f.value == 0)
        f.why = "the responder does not have the memory placement extensions, or its "
                "queue pair does not allow them";
    else if (is_rd && f.n == 1 && f.value == 0)
        f.why = "the responder takes no READs and atomics: its max_dest_rd_atomic is 0, or its "
                "queue pair does not allow them";
    if (f.why)
        half_find(h, FIND_REFUSED_BECAUSE, seen, f);
    else if (is_rd && f.n > f.value)
        half_find(h, FIND_TOO_MANY_READS, seen, f);
}

/* A NAK ends the connection. */
static void take_refusal(struct half *h, const struct asked *e, uint64_t at, uint32_t seen)
{
    const enum syndrome kind = aeth_unpack(h->r->v[seen].syndrome).kind;

    h->sums.naks++;
    if (!h->is_over) {
        h->over_at = at;
        h->over_seen = seen;
    }
    h->is_over = true;
    half_find(
        h, FIND_REFUSED, seen,
        (struct found){.psn = h->r->v[seen].psn, .why = enum_by_value(&enum_syndrome, kind)->text});
    if (kind == SYN_NAK_INVALID_REQUEST && e->seen != SEEN_NONE)
        report_cause(h, e, seen);
}

/* Reports the first positive response to a request that was sent after the connection ended.  A new
 * life, whose MSN begins again, is no error.
 */
static void judge_going_on(struct half *h, const struct asked *e, uint64_t at, uint32_t seen)
{
    const struct seen *s = &h->r->v[seen], *nak = &h->r->v[h->over_seen];

    if (!h->is_over || h->has_gone_on || at < h->over_at || e->seen == SEEN_NONE ||
        e->seen < h->over_seen)
        return;
    if (seen_op(s)->headers & H_AETH && psn_diff((struct psn){s->msn}, (struct psn){nak->msn}) < 0)
        return;
    h->has_gone_on = true;
    half_find(h, FIND_AFTER_THE_END, seen, (struct found){.psn = s->psn});
}

/* Processes a NAK with the code PSN sequence error. */
static void take_sequence_nak(struct half *h, struct asked *e, uint64_t at, uint32_t seen)
{
    const struct found f = {.psn = h->r->v[seen].psn};

    h->sums.naks++;
    if (h->nak.is_there && h->nak.at == at)
        half_find(h, FIND_NAK_TWICE, seen, f);
    else if (e->seen != SEEN_NONE)
        half_find(h, FIND_LOST_BEHIND, seen,
                  (struct found){.psn = f.psn, .earlier = h->r->v[e->seen].number});
    if (e->seen != SEEN_NONE && !e->was_lost)
        e->since_ns = h->r->v[e->first_seen].at_ns;
    e->was_lost = true;
    h->nak = reason(h, at, seen);
}

static void take_nak(struct half *h, struct asked *e, uint64_t at, uint32_t seen)
{
    const struct seen *s = &h->r->v[seen];
    const struct aeth_word w = aeth_unpack(s->syndrome);
    const bool is_old = at < h->acked;

    judge_msn_of(h, e, seen, false);
    if (is_old && was_overtaken(h, seen)) {
        half_find(h, FIND_LATE, seen, (struct found){.psn = s->psn});
        return;
    }
    if (!is_old)
        take_up_to(h, at, seen);
    if (w.kind == SYN_NAK_PSN_SEQUENCE) {
        take_sequence_nak(h, e, at, seen);
    } else if (w.kind == SYN_RNR_NAK) {
        h->sums.rnrs++;
        h->rnr = reason(h, at, seen);
        h->rnr.wait_ns = rnr_timer_ns(w.value);
        half_find(h, FIND_RECEIVER_NOT_READY, seen,
                  (struct found){.psn = s->psn, .time_ns = h->rnr.wait_ns});
    } else if (w.kind == SYN_NAK_RESERVED) {
        half_find(h, FIND_BAD_SYNDROME, seen, (struct found){.n = s->syndrome});
    } else {
        take_refusal(h, e, at, seen);
    }
}

/* --- READ and atomic responses ---------------------------------------------------------------- */

/* Returns the number of bytes that the responses to @e bring: of a FLUSH or an ATOMIC WRITE none.
 */
static uint32_t brings(const struct half *h, const struct asked *e)
{
    return kind_of(h, e) == OPK_READ ? h->r->v[e->first_seen].dma_bytes : 0;
}

/* Checks response @seen to READ @e as far as that is possible without the path MTU: a single
 * response has all bytes.
 */
static void judge_without_mtu(struct half *h, const struct asked *e, uint64_t at, uint32_t seen)
{
    const struct seen *s = &h->r->v[seen];
    const uint32_t dma_bytes = brings(h, e);

    if (record_fits_no_mtu(s))
        half_find(h, FIND_BAD_SIZE_AT_ANY_MTU, seen, (struct found){.n = s->payload_bytes});
    else if (seen_op(s)->pos == OPP_ONLY && at == e->at && s->payload_bytes != dma_bytes)
        half_find(h, FIND_BAD_READ_LENGTH, seen,
                  (struct found){.n = s->payload_bytes, .value = dma_bytes});
}

/* Checks that @seen is a correct response to READ @e at position @at. */
static void judge_response(struct half *h, const struct asked *e, uint64_t at, uint32_t seen)
{
    const struct seen *s = &h->r->v[seen];
    const uint64_t left = e->at + e->psns - at;
    const uint64_t rest = brings(h, e) - (e->psns - 1) * h->mtu;
    const enum op_position pos = seen_op(s)->pos;
    const bool ends = pos == OPP_LAST || pos == OPP_ONLY;
    const bool starts = pos == OPP_FIRST || pos == OPP_ONLY;

    if (e->in_parts)
        return;
    if (h->mtu == 0) {
        judge_without_mtu(h, e, at, seen);
        return;
    }
    if (ends != (left == 1) || (e->times == 1 && starts != (at == e->at)))
        half_find(h, FIND_ANSWER_PLACE, seen,
                  (struct found){.psn = s->psn, .n = (uint32_t)e->psns});
    else if (!ends && s->payload_bytes != h->mtu)
        half_find(h, FIND_BAD_SIZE, seen, (struct found){.n = s->payload_bytes, .value = h->mtu});
    else if (ends && s->payload_bytes != rest)
        half_find(h, FIND_BAD_READ_LENGTH, seen,
                  (struct found){.n = s->payload_bytes, .value = rest});
}

/* Reports missing responses before the one at @at. */
static void miss_responses(struct half *h, struct asked *e, uint64_t from, uint64_t at,
                           uint32_t seen)
{
    half_find(h, FIND_ANSWER_GAP, seen,
              (struct found){.psn = (uint32_t)from & PSN_MASK, .n = (uint32_t)(at - from)});
    e->hole_told = e->was_lost = true;
    e->since_ns = h->r->v[e->first_seen].at_ns;
    h->hole = reason(h, e->got, seen);
}

/* Judges a response that is neither a copy nor the next one expected.  It is late or a repetition.
 * If a READ was requested more than once, each request is answered.
 */
static void judge_odd_response(struct half *h, struct asked *e, uint64_t at, uint32_t seen)
{
    if (has_ids(h) ? !was_overtaken(h, seen) : e->times > 1)
        e->rows[1] = (struct half_row){at + 1, e->at + e->psns};
    else if (at >= e->got || has_ids(h))
        half_find(h, FIND_LATE, seen, (struct found){.psn = h->r->v[seen].psn});
    else
        report_answered_twice(h, like(h, seen), seen);
}

/* Returns true if @at is the position of the next response to one of the repetitions. */
static bool is_next_of_row(struct asked *e, uint64_t at)
{
    for (unsigned i = 0; e->times > 1 && i < HALF_ROWS; i++) {
        if (e->rows[i].next == at && at < e->rows[i].end) {
            e->rows[i].next++;
            return true;
        }
    }
    return false;
}

/* Sorts the response at @at of READ @e into the sequence of all responses, or into that of a
 * repetition.  A copy made by the network belongs to none of them.
 */
static void place_response(struct half *h, struct asked *e, uint64_t at, uint32_t seen)
{
    const bool comes_again = e->times > 1 && e->rows[0].next < e->rows[0].end;
    const bool is_old = comes_again && has_ids(h) && was_overtaken(h, seen);
    const uint32_t was = at < e->high && has_ids(h) ? like(h, seen) : SEEN_NONE;

    if (was != SEEN_NONE) {
        report_answered_twice(h, was, seen);
    } else if (is_next_of_row(e, at) || at == e->high) {
        /* expected */
    } else if (at > e->high) {
        miss_responses(h, e, e->high, at, seen);
    } else if (comes_again && at > e->rows[0].next && !is_old) {
        miss_responses(h, e, e->rows[0].next, at, seen);
        e->rows[0].next = at + 1;
    } else {
        judge_odd_response(h, e, at, seen);
    }
    if (at >= e->high)
        e->high = at + 1;
    if (at >= e->got && at - e->got < 64)
        e->behind_got |= UINT64_C(1) << (at - e->got);
    for (; e->behind_got & 1; e->behind_got >>= 1)
        e->got++;
}

static void take_response(struct half *h, struct asked *e, uint64_t at, uint32_t seen)
{
    judge_response(h, e, at, seen);
    judge_msn_of(h, e, seen, true);
    take_up_to(h, e->at, seen);
    place_response(h, e, at, seen);
    if (h->acked >= e->at)
        half_acked(h, e->got, h->r->v[seen].at_ns);
}

static void take_atomic(struct half *h, struct asked *e, uint64_t at, uint32_t seen)
{
    const struct seen *v = h->r->v;
    uint32_t was = has_ids(h) ? like(h, seen) : SEEN_NONE;

    if (was == SEEN_NONE && e->times == 1)
        was = e->answer;
    judge_msn_of(h, e, seen, true);
    take_up_to(h, at, seen);
    if (e->answer == SEEN_NONE && v[e->first_seen].flags & SEEN_UNALIGNED)
        half_find(h, FIND_UNALIGNED_ATOMIC, seen,
                  (struct found){.psn = v[seen].psn, .earlier = v[e->first_seen].number});
    if (e->answer != SEEN_NONE && v[e->answer].value != v[seen].value)
        half_find(h, FIND_ATOMIC_ANSWERED_OTHERWISE, seen, (struct found){.psn = v[seen].psn});
    else if (was != SEEN_NONE)
        report_answered_twice(h, was, seen);
    e->answer = seen;
    if (h->acked == at)
        half_acked(h, at + 1, v[seen].at_ns);
}

/* --- All responses ---------------------------------------------------------------------------- */

static void take(struct half *h, struct asked *e, uint64_t at, uint32_t seen)
{
    const struct seen *s = &h->r->v[seen];
    const enum op_kind kind = seen_op(s)->kind;
    const bool is_ack = kind == OPK_ACK && aeth_is_ack(s->syndrome);

    if (kind != OPK_ACK || is_ack)
        judge_going_on(h, e, at, seen);
    if (kind == OPK_ACK && !is_ack) {
        take_nak(h, e, at, seen);
    } else if (e->seen == SEEN_NONE) {
        report_unseen(h, FIND_ACK_BEFORE_ARRIVAL, at, seen);
        if (is_ack)
            take_up_to(h, at + 1, seen);
    } else if (is_ack) {
        take_ack(h, e, at, seen);
    } else if (op_answer(seen_op(&h->r->v[e->first_seen])) != kind) {
        half_find(h, FIND_ANSWER_OF_OTHERS, seen,
                  (struct found){.psn = s->psn, .why = what_it_is(kind_of(h, e))});
    } else if (kind == OPK_READ_RESPONSE) {
        take_response(h, e, at, seen);
    } else {
        take_atomic(h, e, at, seen);
    }
}

void half_takes_answer(struct half *h, uint32_t seen)
{
    const struct seen *s = &h->r->v[seen];
    int32_t far;
    uint64_t at;
    bool was_acked;

    if (!h->has_begun)
        return; /* the request was before the capture */
    h->sums.answers++;
    h->sums.last_ns = s->at_ns;
    far = psn_diff(seen_psn(s), (struct psn){(uint32_t)h->next & PSN_MASK});
    at = half_at(h, s->psn);
    if (far < -HALF_LIFE_PSNS || at < h->v[0].at)
        return; /* the same, or from another life */
    was_acked = at < h->acked;
    if (far >= 0)
        report_unseen(h, FIND_ACK_OF_NOTHING, at, seen);
    else if (seen_op(s)->kind != OPK_ACK || !is_copy(h, seen))
        take(h, half_entry(h, at), at, seen);
    h->recent[h->n_recent++ % HALF_RECENT] = seen;
    if (h->newest_answer == SEEN_NONE || !seen_is_older(s, &h->r->v[h->newest_answer]))
        h->newest_answer = seen;
    if (h->came_again > 0 && was_acked && seen_op(s)->kind == OPK_ACK)
        h->came_again--;
}

void half_answer_came(struct half *h, uint32_t seen)
{
    const struct seen *s = &h->r->v[seen];
    const uint64_t at = half_at(h, s->psn);
    const struct asked *e;

    if (!h->has_begun || seen_op(s)->kind != OPK_ACK)
        return;
    if (h->rnr.is_there && at == h->rnr.at && aeth_unpack(s->syndrome).kind == SYN_RNR_NAK)
        h->rnr.has_come = true;
    if (!aeth_is_ack(s->syndrome) || at >= h->acked || at < h->came)
        return;
    e = half_entry(h, at);
    if (!(e && e->seen != SEEN_NONE && half_is_rd(h, e->seen))) /* only its response answers it */
        h->came = at + 1;
}
