/* SPDX-License-Identifier: MIT */
/* The requests of one half: continuation, gaps, and the reasons for repetitions. */
#include "capture/half.h"

#include <stdlib.h>
#include <string.h>

#include "emu/facts/aeth.h"
#include "emu/facts/enum/op_header.h"
#include "process/must.h"

#define ENTRIES_FIRST 256u
/* Position of PSN 0, a multiple of the number of PSNs. */
#define FIRST_AT          (UINT64_C(1) << 32)
#define TIMEOUT_MIN_NS    8192u /* the shortest ACK timeout: code 1 */
#define FIRST_LOOK        256u /* packets that are searched for lower PSNs at the start of a life */
#define FOLLOW_LOOK       256u /* packets that are searched for what follows a request */
#define FIRST_MISSING_MAX 64   /* how far the first captured PSN may be above the first one sent */

/* The reasons why a packet comes with a PSN before the expected one. */
enum early_packet {
    WAY_COPY, /* the network has duplicated it */
    WAY_LATE, /* it was overtaken */
    WAY_BACK, /* the requester has retransmitted it */
};

/* --- List of entries -------------------------------------------------------------------------- */

static struct asked *insert(struct half *h, uint32_t at)
{
    if (h->n == h->cap) {
        h->cap = h->cap ? 2 * h->cap : ENTRIES_FIRST;
        h->v = must_realloc(h->v, h->cap * sizeof(h->v[0]));
    }
    memmove(&h->v[at + 1], &h->v[at], (h->n - at) * sizeof(h->v[0]));
    h->n++;
    return &h->v[at];
}

static struct asked missing(uint64_t at, uint64_t psns, uint32_t shown_by, uint64_t now_ns)
{
    return (struct asked){.at = at,
                          .psns = psns,
                          .seen = SEEN_NONE,
                          .first_seen = shown_by,
                          .since_ns = now_ns,
                          .answer = SEEN_NONE,
                          .was_lost = true};
}

/* Follows the responses to the repetition of READ @e at @at, too, which asks for @psns.  They take
 * the place of those to a repetition that has been answered, or to the oldest one.
 */
static void begin_row(struct asked *e, uint64_t at, uint64_t psns)
{
    uint32_t i = HALF_ROWS - 1;

    while (i > 0 && e->rows[i].next != e->rows[i].end)
        i--;
    if (e->rows[i].next != e->rows[i].end)
        i = HALF_ROWS - 1;
    memmove(e->rows + 1, e->rows, i * sizeof(e->rows[0]));
    e->rows[0] = (struct half_row){at, at + psns};
}

static void set(struct asked *e, uint64_t at, uint64_t psns, uint32_t seen)
{
    e->at = e->got = e->high = at;
    for (unsigned i = 0; i < HALF_ROWS; i++)
        e->rows[i] = (struct half_row){at, at + psns};
    e->psns = psns;
    e->seen = e->first_seen = seen;
    e->times = 1;
}

/* Puts request @seen at position @at, within the missing range @e. */
static struct asked *fill(struct half *h, struct asked *e, uint64_t at, uint64_t psns,
                          uint32_t seen)
{
    const struct asked row = *e;
    const uint64_t end = row.at + row.psns;
    uint32_t i = (uint32_t)(e - h->v);

    if (psns > end - at)
        psns = end - at;
    if (at > row.at) {
        e->psns = at - row.at;
        e = insert(h, ++i);
    }
    *e = row;
    set(e, at, psns, seen);
    if (at + psns < end) {
        *insert(h, i + 1) = missing(at + psns, end - at - psns, row.first_seen, row.since_ns);
        e = &h->v[i];
    }
    return e;
}

/* Returns the next response with @psn or a later one; SEEN_NONE: there is none. */
static uint32_t first_answer_of(const struct half *h, struct psn psn)
{
    uint32_t i = h->next_answer;

    for (; i != SEEN_NONE; i = h->r->v[i].next) {
        const int32_t ahead = psn_diff(seen_psn(&h->r->v[i]), psn);

        if (op_is_response(seen_op(&h->r->v[i])) && ahead >= 0 && ahead < HALF_LIFE_PSNS)
            break;
    }
    return i;
}

/* Returns the first PSN of the life whose first captured packet is @seen.  Earlier packets may have
 * been lost before the observer.  They are retransmitted before anything later is acknowledged.
 */
static struct psn first_of_life(const struct half *h, uint32_t seen)
{
    const struct seen *v = h->r->v;
    const uint32_t end = first_answer_of(h, seen_psn(&v[seen]));
    struct psn first = seen_psn(&v[seen]);

    for (uint32_t i = seen, n = 0; i < end && n < FIRST_LOOK; i = v[i].next, n++) {
        const int32_t before = psn_diff(first, seen_psn(&v[i]));

        if (record_is_request(&v[i]) && before > 0 && before <= FIRST_MISSING_MAX)
            first = seen_psn(&v[i]);
    }
    return first;
}

/* Returns true if the response to the first request @seen is positive, though its PSN is not
 * @expected.  A responder that takes the request for an old one acknowledges the PSN before the
 * expected one.
 */
static bool is_accepted(const struct half *h, uint32_t seen, uint32_t expected)
{
    const uint32_t is = first_answer_of(h, seen_psn(&h->r->v[seen]));

    return is != SEEN_NONE && psn_add(seen_psn(&h->r->v[is]), 1).v != expected &&
           (seen_op(&h->r->v[is])->kind != OPK_ACK || aeth_is_ack(h->r->v[is].syndrome));
}

/* Reports that the first PSN is @first and not the one in the peer's message. */
static void report_first_psn(struct half *h, const struct agreed *a, struct psn first,
                             uint32_t seen)
{
    const struct flow *f = &h->r->flows[h->asks];
    const struct handshakes *all = &h->r->handshakes;
    const struct cm_seen *from =
        handshake_first(all, &all->v[f->handshake], f->side == 0 ? CM_REP : CM_REQ);

    h->disagrees = !is_accepted(h, seen, a->sq_psn);
    half_find(h, h->disagrees ? FIND_WRONG_FIRST_PSN : FIND_OTHER_FIRST_PSN, seen,
              (struct found){
                  .psn = first.v,
                  .value = a->sq_psn,
                  .earlier = h->r->v[from->seen].number,
                  .why = first.v == a->rq_psn
                             ? "; it is the PSN of its own message, which is the peer's first one"
                             : "",
              });
}

/* Returns the first PSN of a life.  Of the first life the messages of the connection manager may
 * tell it; it is wrong if what was captured cannot follow it.
 */
static struct psn first_psn(struct half *h, uint32_t seen)
{
    const struct agreed a = record_agreed(h->r, &h->r->flows[h->asks]);
    const struct psn first = first_of_life(h, seen);
    int32_t ahead;

    if (h->has_begun || a.sq_psn == AGREED_UNKNOWN)
        return first;
    ahead = psn_diff(first, (struct psn){a.sq_psn});
    if (ahead < 0 || ahead > HALF_LIFE_PSNS || (ahead > 0 && h->r->v[seen].flags & SEEN_SENT)) {
        report_first_psn(h, &a, first, seen);
        return first;
    }
    return (struct psn){a.sq_psn};
}

static void begin_life(struct half *h, uint32_t seen)
{
    const uint32_t psn = first_psn(h, seen).v;

    h->disagrees &= !h->has_begun; /* only the first life is held against the messages */
    h->n = h->n_acked = h->n_told = h->whole = h->n_recent = 0;
    h->has_begun = true;
    h->is_over = h->has_gone_on = h->told_going_on = false;
    h->came_again = 0;
    h->next = h->cursor = h->acked = h->came = FIRST_AT + psn;
    h->nak = h->rnr = h->hole = (struct half_reason){.is_there = false};
    h->is_open_known = h->is_length_known = h->has_base = false;
    h->messages = 0;
    h->newest_request = h->newest_answer = SEEN_NONE;
}

/* --- Repetitions ------------------------------------------------------------------------------ */

/* Returns true if the flow continues at the cursor after @seen. */
static bool goes_on_behind(const struct half *h, uint32_t seen)
{
    const struct flow *f = &h->r->flows[h->asks];

    for (uint32_t i = h->r->v[seen].next; i != SEEN_NONE; i = h->r->v[i].next) {
        if (record_is_request(&h->r->v[i]) && record_counts(f, &h->r->v[i]))
            return half_at(h, h->r->v[i].psn) == h->cursor;
    }
    return false;
}

/* Decides why packet @seen repeats a PSN.  With identifications, a copy has the same one as the
 * original, and an overtaken packet a lower one than its overtaker.  Without them, a single old
 * packet is not a retransmission, because a requester also retransmits all packets that follow.
 */
static enum early_packet way_of(const struct half *h, const struct asked *e, uint64_t at,
                                uint64_t end, uint32_t seen)
{
    const struct seen *v = h->r->v, *s = &v[seen];
    bool is_alone;

    if (h->nak.is_there && at == h->nak.at)
        return WAY_BACK; /* exactly what the NAK requested; later packets may have been kept */
    if (record_has_ids(&h->r->flows[h->asks])) {
        if (e->seen != SEEN_NONE && seen_same_headers(s, &v[e->seen]) &&
            (s->ip_id == v[e->seen].ip_id || s->ip_id == v[e->first_seen].ip_id))
            return WAY_COPY;
        if (h->newest_request != SEEN_NONE && seen_is_older(s, &v[h->newest_request]))
            return WAY_LATE;
        return WAY_BACK;
    }
    if (e->seen != SEEN_NONE && seen_op(s)->kind == OPK_READ && !seen_same_headers(s, &v[e->seen]))
        return WAY_BACK; /* a request for a part of the READ */
    is_alone = end != h->cursor && goes_on_behind(h, seen);
    if (!is_alone)
        return WAY_BACK;
    return e->seen == SEEN_NONE ? WAY_LATE : WAY_COPY;
}

static bool explains(struct half_reason *r, uint64_t at)
{
    const bool does = r->is_there && at <= r->at;

    r->is_there &= !does;
    return does;
}

/* Returns true if the RNR timer has expired. */
static bool has_waited(const struct half *h, const struct seen *s)
{
    return s->at_ns + h->r->clock_ns >= h->rnr.at_ns + h->rnr.wait_ns;
}

/* Returns false if the RNR NAK is known to be lost: the requester's host was captured, and it did
 * not come there.
 */
static bool may_have_come(const struct half *h)
{
    return h->rnr.has_come || h->r->flows[h->asks].n_sent == 0 || !h->r->has_arrivals;
}

static void report_again(struct half *h, const struct asked *e, uint64_t at, uint32_t seen)
{
    const struct seen *v = h->r->v, *s = &v[seen];
    const struct seen *before = &v[e->seen == SEEN_NONE ? e->first_seen : e->seen];
    const uint32_t answer = half_last_answer(h);
    struct found f = {.psn = s->psn};
    enum finding finding = FIND_AGAIN_UNEXPLAINED;

    f.earlier = before->number;
    f.time_ns = s->at_ns - before->at_ns;
    if (has_waited(h, s) && explains(&h->rnr, at)) {
        finding = FIND_AGAIN_AFTER_RNR;
        f.earlier = h->rnr.frame;
        f.time_ns = s->at_ns - h->rnr.at_ns;
    } else if (explains(&h->nak, at)) {
        finding = FIND_AGAIN_AFTER_NAK;
        f.earlier = h->nak.frame;
        f.time_ns = s->at_ns - h->nak.at_ns;
    } else if (explains(&h->hole, at)) {
        finding = FIND_AGAIN_AFTER_HOLE;
        f.earlier = h->hole.frame;
        f.time_ns = s->at_ns - h->hole.at_ns;
    } else if (!has_waited(h, s) && may_have_come(h) && explains(&h->rnr, at)) {
        finding = FIND_AGAIN_IN_RNR_WAIT;
        f.earlier = h->rnr.frame;
        f.time_ns = s->at_ns - h->rnr.at_ns;
        f.value = h->rnr.wait_ns / 1000;
    } else if (at < h->acked && answer != SEEN_NONE) {
        finding = FIND_ANSWER_LOST;
        f.earlier = v[answer].number;
    } else if (f.time_ns >= TIMEOUT_MIN_NS) {
        finding = FIND_AGAIN_AFTER_TIMEOUT;
        h->sums.timeouts++;
    }
    half_find(h, finding, seen, f);
}

/* Returns true if @s requests a part of the READ @was again, from its middle or up to it. */
static bool is_part_of(const struct asked *e, const struct seen *was, const struct seen *s,
                       uint64_t at, uint64_t psns)
{
    return seen_op(s)->kind == OPK_READ && seen_op(was)->kind == OPK_READ &&
           at + psns <= e->at + e->psns && s->dma_bytes < was->dma_bytes;
}

/* Checks that a repeated request equals the first one. */
static void judge_changed(struct half *h, struct asked *e, uint64_t at, uint64_t psns,
                          uint32_t seen)
{
    const struct seen *s = &h->r->v[seen], *was = &h->r->v[e->first_seen];

    if (is_part_of(e, was, s, at, psns)) {
        e->in_parts |= at + psns < e->at + e->psns;
        return;
    }
    if (!seen_same_headers(s, was))
        half_find(h, FIND_CHANGED_REQUEST, seen,
                  (struct found){.psn = s->psn, .earlier = was->number});
    else if (!seen_same_payload(s, was))
        half_find(h, FIND_CHANGED_PAYLOAD, seen,
                  (struct found){.psn = s->psn, .earlier = was->number});
}

/* Returns the number of messages of requests from packet @seen on, up to packet @end. */
static uint32_t messages_up_to(const struct half *h, uint32_t seen, uint32_t end)
{
    uint32_t n = 0;

    for (uint32_t i = seen, looked = 0; i < end && looked < FOLLOW_LOOK;
         i = h->r->v[i].next, looked++)
        n += record_is_request(&h->r->v[i]) && (op_ends(seen_op(&h->r->v[i])) || half_is_rd(h, i));
    return n;
}

/* Returns true if the MSN of the first answer to @seen counts messages before it: the responder was
 * not reset.
 */
static bool counts_old_messages(const struct half *h, uint32_t seen)
{
    const struct seen *v = h->r->v;
    const uint32_t before = half_last_answer(h), is = first_answer_of(h, seen_psn(&v[seen]));

    if (before == SEEN_NONE || is == SEEN_NONE || is < seen ||
        !(seen_op(&v[is])->headers & H_AETH) || !(seen_op(&v[before])->headers & H_AETH))
        return false;
    return psn_diff((struct psn){v[is].msn}, (struct psn){v[before].msn}) >= 0 &&
           v[is].msn > messages_up_to(h, seen, is);
}

/* Returns true if the requester goes on behind @seen, which ends before @end, with the PSN that was
 * due before it, and never sends what is between: the requester was not reset.
 */
static bool goes_on_as_before(const struct half *h, uint32_t seen, uint64_t end)
{
    const struct flow *f = &h->r->flows[h->asks];
    bool goes_on = false;

    if (end == h->next)
        return false;
    for (uint32_t i = h->r->v[seen].next, n = 0; i != SEEN_NONE && n < FOLLOW_LOOK;
         i = h->r->v[i].next, n++) {
        const uint64_t at = half_at(h, h->r->v[i].psn);

        if (!record_is_request(&h->r->v[i]) || !record_counts(f, &h->r->v[i]))
            continue;
        if (at >= end && at < h->next)
            return false;
        goes_on |= at == h->next;
    }
    return goes_on;
}

/* Returns true if @s asks for something else than the request @e had at its PSN. */
static bool is_other(const struct half *h, const struct asked *e, const struct seen *s)
{
    const struct seen *was = &h->r->v[e->first_seen];

    return e->seen != SEEN_NONE && !seen_same_headers(s, was) &&
           !is_part_of(e, was, s, half_at(h, s->psn), half_psns_of(h, s));
}

/* Returns true if @s, which has the PSN of the acknowledged request @e and asks for something else,
 * belongs to the same life: what follows shows that the queue pair was not reset.
 */
static bool reuses_psn(const struct half *h, const struct asked *e, uint32_t seen)
{
    const struct seen *s = &h->r->v[seen];

    return e && e->at + e->psns <= h->acked && !h->is_over && is_other(h, e, s) &&
           (counts_old_messages(h, seen) ||
            goes_on_as_before(h, seen, half_at(h, s->psn) + half_psns_of(h, s)));
}

/* Returns true if the responder, which had refused a request for good, takes @seen as its first
 * message: it was reset.
 */
static bool is_taken_afresh(const struct half *h, uint32_t seen)
{
    const struct seen *v = h->r->v;
    const uint32_t is = first_answer_of(h, seen_psn(&v[seen]));

    return h->is_over && is != SEEN_NONE && is > seen && seen_op(&v[is])->headers & H_AETH &&
           aeth_is_ack(v[is].syndrome) && v[is].msn <= messages_up_to(h, seen, is);
}

/* Returns true if the requester has all answers, and certainly that to @e. */
static bool has_all_answers(const struct half *h, const struct asked *e)
{
    return h->came == h->next && (!e->may_be_over || half_is_answered(h, e));
}

/* Returns true if packet @seen, whose PSN was used before, begins a new life.  All requests are
 * answered, and it requests something else, or it is the first PSN although the requester has the
 * acknowledgment or a refusal.  If the old life ended early, only its first PSN or an earlier one
 * shows a new life.
 */
static bool begins_anew(const struct half *h, const struct asked *e, uint32_t seen)
{
    const struct seen *s = &h->r->v[seen];
    const bool differs = !e || is_other(h, e, s);
    const bool is_first = e && e == h->v && (has_all_answers(h, e) || is_taken_afresh(h, seen));
    const bool is_from_start = differs && (!e || e == h->v) && h->acked > h->v[0].at;

    return (differs || is_first) && op_starts(seen_op(s)) &&
           (h->acked == h->next || h->is_over || is_from_start);
}

static void take_back(struct half *h, struct asked *e, uint64_t at, uint64_t psns, uint32_t seen)
{
    const struct seen *s = &h->r->v[seen];
    const uint64_t from = h->cursor > h->acked ? h->cursor : h->acked;
    const bool goes_on = at == h->cursor;
    const bool skips = !goes_on && h->cursor < h->next && at > from;
    const bool has_ids = record_has_ids(&h->r->flows[h->asks]);
    const enum early_packet way =
        goes_on && !has_ids ? WAY_BACK : way_of(h, e, at, at + psns, seen);

    if (way == WAY_COPY) {
        half_find(h, FIND_DOUBLED, seen,
                  (struct found){.psn = s->psn,
                                 .earlier = h->r->v[e->seen].number,
                                 .time_ns = s->at_ns - h->r->v[e->seen].at_ns});
    } else if (way == WAY_LATE) {
        half_find(h, FIND_LATE, seen, (struct found){.psn = s->psn});
    } else if (skips) {
        half_find(
            h, FIND_GAP, seen,
            (struct found){.psn = (uint32_t)h->cursor & PSN_MASK, .n = (uint32_t)(at - from)});
        h->sums.missing += at - from;
    } else if (!goes_on) {
        report_again(h, e, at, seen);
    }
    h->sums.again += way == WAY_BACK;
    if (e->seen == SEEN_NONE) {
        fill(h, e, at, psns, seen);
    } else {
        judge_changed(h, e, at, psns, seen);
        if (!e->was_lost)
            e->since_ns = h->r->v[e->first_seen].at_ns;
        e->was_lost |= way == WAY_BACK && !goes_on;
        e->seen = seen;
        e->times++;
        begin_row(e, at, psns);
    }
    if (way == WAY_BACK)
        h->cursor = at + psns;
    half_go_on(h);
}

/* Returns true if the MSN goes back in the first response to @seen, which begins a message while
 * everything before is answered.  Then a new life has begun.
 */
static bool has_new_msn(const struct half *h, uint32_t seen)
{
    const struct seen *v = h->r->v;
    const uint32_t before = half_last_answer(h), is = first_answer_of(h, seen_psn(&v[seen]));

    return before != SEEN_NONE && is != SEEN_NONE && h->acked == h->next &&
           op_starts(seen_op(&v[seen])) && !half_is_rd(h, seen) &&
           seen_op(&v[before])->headers & H_AETH && seen_op(&v[is])->headers & H_AETH &&
           psn_diff((struct psn){v[is].msn}, (struct psn){v[before].msn}) < 0;
}

/* Returns the number of READs and atomics that are not answered. */
static uint32_t rds_under_way(const struct half *h)
{
    uint32_t n = 0;

    for (uint32_t i = h->n; i > h->n_acked && h->n - i < FOLLOW_LOOK; i--) {
        const struct asked *e = &h->v[i - 1];

        n += e->seen != SEEN_NONE && half_is_rd(h, e->seen) && !half_is_answered(h, e);
    }
    return n;
}

/* Counts the READs and atomics under way at the latest entry, which is one. */
static void judge_rds(struct half *h, uint32_t seen)
{
    const uint32_t n = rds_under_way(h);

    h->v[h->n - 1].n_rds = n;
    if (n <= h->max_rds || h->told_rds)
        return;
    h->told_rds = true;
    half_find(h, FIND_MORE_RDS_THAN_AGREED, seen,
              (struct found){.psn = h->r->v[seen].psn, .n = n, .value = h->max_rds});
}

static void take_new(struct half *h, uint64_t at, uint64_t psns, uint32_t seen)
{
    const struct seen *s = &h->r->v[seen];

    if (at > h->next) {
        half_find(
            h, FIND_GAP, seen,
            (struct found){.psn = (uint32_t)h->next & PSN_MASK, .n = (uint32_t)(at - h->next)});
        h->sums.missing += at - h->next;
        *insert(h, h->n) = missing(h->next, at - h->next, seen, s->at_ns);
    }
    *insert(h, h->n) = (struct asked){.answer = SEEN_NONE};
    set(&h->v[h->n - 1], at, psns, seen);
    if (half_is_rd(h, seen))
        judge_rds(h, seen);
    h->next = h->cursor = at + psns;
    half_go_on(h);
}

/* Returns true if packet @seen at position @at begins a new life.  @e: the entry that has its PSN,
 * or NULL.
 */
static bool is_new_life(const struct half *h, const struct asked *e, uint64_t at, uint32_t seen)
{
    const struct seen *s = &h->r->v[seen];
    const int32_t far = psn_diff(seen_psn(s), (struct psn){(uint32_t)h->next & PSN_MASK});

    return far > HALF_LIFE_PSNS || far < -HALF_LIFE_PSNS ||
           (at < h->next && begins_anew(h, e, seen) && !reuses_psn(h, e, seen)) ||
           (at > h->next && op_starts(seen_op(s)) && is_taken_afresh(h, seen)) ||
           ((at > h->next || (e && e == h->v)) && has_new_msn(h, seen));
}

void half_takes_request(struct half *h, uint32_t seen)
{
    const struct seen *s = &h->r->v[seen];
    struct asked *e;
    uint64_t at;

    if (!h->has_begun)
        begin_life(h, seen);
    at = half_at(h, s->psn);
    e = at < h->next ? half_entry(h, at) : NULL;
    if (is_new_life(h, e, at, seen)) {
        half_find(h, FIND_STARTS_AGAIN, seen, (struct found){.psn = s->psn});
        begin_life(h, seen);
        at = half_at(h, s->psn);
        e = NULL;
    }
    if (h->has_gone_on && !h->told_going_on)
        half_find(h, FIND_REQUESTS_AFTER_NAK, seen,
                  (struct found){.psn = s->psn, .earlier = h->r->v[h->over_seen].number});
    h->told_going_on |= h->has_gone_on;
    h->sums.requests++;
    if (h->sums.requests == 1)
        h->sums.first_ns = s->at_ns;
    h->sums.last_ns = s->at_ns;
    h->came_again += at < h->next && !half_is_rd(h, seen);
    if (at >= h->next)
        take_new(h, at, half_psns_of(h, s), seen);
    else if (reuses_psn(h, e, seen))
        half_find(h, FIND_REUSED_PSN, seen,
                  (struct found){.psn = s->psn, .earlier = h->r->v[e->first_seen].number});
    else if (e)
        take_back(h, e, at, half_psns_of(h, s), seen);
    else
        h->sums.again++; /* requested before the capture */
    if (h->newest_request == SEEN_NONE || !seen_is_older(s, &h->r->v[h->newest_request]))
        h->newest_request = seen;
}
