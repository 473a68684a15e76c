/* SPDX-License-Identifier: MIT */
#include "watcher/wire_end.h"

#include <string.h>

#include "emu/facts/aeth.h"
#include "emu/facts/enum/op_header.h"

#define LINE_BYTES 24u /* preamble, FCS and inter-frame gap of a frame */

static void find(struct wire_end *e, bool right, enum finding f, struct psn psn, uint64_t now_ns)
{
    if (right || e->wrong != FIND_COUNT)
        return;
    e->wrong = f;
    e->wrong_psn = psn;
    e->wrong_at_ns = now_ns;
}

void wire_end_init(struct wire_end *e, const struct wire_rules *rules)
{
    memset(e, 0, sizeof(*e));
    e->rules = *rules;
    e->is_told = true;
    e->next = e->una = e->last = e->asked = (struct psn){rules->sq_psn};
    e->expected = e->acked = (struct psn){rules->rq_psn};
    e->timer_from_ns = UINT64_MAX;
    e->nak = SYN_NONE;
    e->wrong = FIND_COUNT;
}

static bool is_rd(const struct packet *p)
{
    return op_has_response(p->op);
}

/* Number of PSNs that request packet @p takes: of a READ one for each response. */
static uint32_t psns_of(const struct wire_end *e, const struct packet *p)
{
    const uint32_t mtu = e->rules.mtu_bytes;

    if (p->op->kind != OPK_READ || p->reth.dma_bytes == 0)
        return 1;
    return (p->reth.dma_bytes + mtu - 1) / mtu;
}

uint64_t wire_ack_timeout_ns(uint32_t code)
{
    return code == 0 ? UINT64_MAX : UINT64_C(4096) << code;
}

uint64_t wire_rnr_wait_ns(uint32_t code)
{
    static const uint32_t units[32] = {/* units of 10 us */
                                       65536, 1,    2,    3,     4,     6,     8,     12,
                                       16,    24,   32,   48,    64,    96,    128,   192,
                                       256,   384,  512,  768,   1024,  1536,  2048,  3072,
                                       4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};

    return units[code % 32] * UINT64_C(10000);
}

uint64_t wire_line_free_ns(uint64_t free_ns, uint64_t at_ns, uint32_t bytes, uint64_t rate_bps)
{
    const uint64_t from_ns = free_ns > at_ns ? free_ns : at_ns;

    return from_ns + (bytes + LINE_BYTES) * UINT64_C(8000000000) / rate_bps;
}

/* Returns true if @a is before @b. */
static bool is_before(struct psn a, struct psn b)
{
    return psn_diff(a, b) < 0;
}

/* --- Requester -------------------------------------------------------------------------------- */

static void start_timer(struct wire_end *e, uint64_t now_ns)
{
    if (e->timer_from_ns == UINT64_MAX)
        e->timer_from_ns = now_ns;
}

/* The end must start again at @psn. */
static void rewind_to(struct wire_end *e, struct psn psn)
{
    e->last = psn;
    e->asked = psn;
    e->timer_from_ns = UINT64_MAX;
}

/* Judges a retransmission without a NAK: the ACK timer must have expired. */
static void judge_again(struct wire_end *e, const struct packet *p, uint64_t now_ns,
                        uint64_t free_ns)
{
    const struct wire_rules *r = &e->rules;
    const uint64_t due = e->timer_from_ns + r->timeout_ns;
    const uint64_t late = (due > free_ns ? due : free_ns) + r->late_ns;

    e->go_backs++;
    find(e, e->timer_from_ns != UINT64_MAX && (!r->knows_timeout || r->timeout_ns != UINT64_MAX),
         FIND_AGAIN_WITHOUT_REASON, p->bth.psn, now_ns);
    find(e, !r->knows_timeout || now_ns + r->clock_ns >= due, FIND_AGAIN_TOO_EARLY, p->bth.psn,
         now_ns);
    find(e, !r->knows_timeout || now_ns <= late + r->clock_ns, FIND_AGAIN_TOO_LATE, p->bth.psn,
         now_ns);
    rewind_to(e, e->una);
}

/* Records a READ or atomic that is sent for the first time. */
static void add_rd(struct wire_end *e, const struct packet *p, bool is_new, uint64_t now_ns)
{
    if (!is_new || !is_rd(p))
        return;
    if (e->n_rds < WIRE_RDS)
        e->rd[e->n_rds] = (struct wire_rd){p->bth.psn, psns_of(e, p)};
    e->n_rds++;
    find(e, e->n_rds <= e->rules.max_rd_atomic, FIND_TOO_MANY_RDS, p->bth.psn, now_ns);
}

static void sent_request(struct wire_end *e, const struct packet *p, uint64_t now_ns,
                         uint64_t free_ns)
{
    const struct psn psn = p->bth.psn, behind = psn_add(psn, psns_of(e, p));
    const bool is_new = psn.v == e->next.v;
    const struct wire_rules *r = &e->rules;

    find(e, !is_before(e->next, psn), FIND_SKIPS_PSNS, psn, now_ns);
    /* Packets that were on their way out may be captured behind the NAK. */
    find(e, e->nak == SYN_NONE || (r->may_lag && !e->has_ignored_nak), FIND_SENDS_AFTER_NAK, psn,
         now_ns);
    find(e, now_ns + r->clock_ns >= e->rnr_until_ns || (is_new && r->may_lag), FIND_RNR_NOT_WAITED,
         psn, now_ns);
    if (is_before(psn, e->last))
        judge_again(e, p, now_ns, free_ns);
    if (!is_new)
        find(e, r->retry_cnt == WIRE_ENDLESS || e->go_backs <= r->retry_cnt, FIND_AGAIN_TOO_OFTEN,
             psn, now_ns);
    if (!is_new)
        find(e, r->rnr_retry == WIRE_ENDLESS || e->rnr_naks <= r->rnr_retry, FIND_RNR_TOO_OFTEN,
             psn, now_ns);
    add_rd(e, p, is_new, now_ns);
    if (is_before(e->next, behind))
        e->next = behind;
    e->last = behind;
    if (p->bth.ack_req || is_rd(p)) {
        start_timer(e, now_ns);
        e->asked = behind;
    }
}

static bool has_run_out(const struct wire_end *e, uint64_t now_ns)
{
    return e->timer_from_ns != UINT64_MAX &&
           (!e->rules.knows_timeout || now_ns - e->timer_from_ns >= e->rules.timeout_ns);
}

/* The end is told to go back at @now_ns. */
static void go_back(struct wire_end *e, uint64_t now_ns)
{
    e->go_backs++;
    e->unseen += has_run_out(e, now_ns);
    rewind_to(e, e->una);
}

/* Records that everything before @psn is acknowledged. */
static void progress(struct wire_end *e, struct psn psn, uint64_t now_ns)
{
    /* The timer has expired: it is about to retransmit. */
    const bool is_about_to = has_run_out(e, now_ns);

    if (!is_before(e->una, psn))
        return;
    e->una = psn;
    if (is_about_to)
        rewind_to(e, psn);
    e->go_backs = e->rnr_naks = e->unseen = 0;
    e->was_implied = false;
    e->rnr_until_ns = 0;
    if (e->timer_from_ns != UINT64_MAX)
        e->timer_from_ns = is_before(e->una, e->asked) ? now_ns : UINT64_MAX;
    if (is_before(e->last, e->una))
        e->last = e->una;
}

/* Returns how far an acknowledgment up to @psn counts: not beyond a READ or atomic whose response
 * is missing.
 */
static struct psn answered_up_to(const struct wire_end *e, struct psn psn)
{
    if (e->n_rds > 0 && e->n_rds <= WIRE_RDS && is_before(e->rd[0].psn, psn))
        return e->rd[0].psn;
    return psn;
}

/* A response of a READ or atomic is missing, because a later request was acknowledged. */
static void take_hole(struct wire_end *e, uint64_t now_ns)
{
    if (e->was_implied)
        return;
    e->was_implied = true;
    go_back(e, now_ns);
}

/* The oldest READ or atomic is over. */
static void forget_rd(struct wire_end *e)
{
    e->n_rds--;
    memmove(e->rd, e->rd + 1, (WIRE_RDS - 1) * sizeof(e->rd[0]));
}

/* Returns true if an acknowledge of @psn ends the oldest READ or atomic. */
static bool ack_ends_rd(const struct wire_end *e, struct psn psn)
{
    return e->rules.ack_ends_read && e->n_rds > 0 &&
           psn_add(e->rd[0].psn, e->rd[0].left - 1).v == psn.v;
}

static void take_rd(struct wire_end *e, const struct packet *p, uint64_t now_ns)
{
    struct wire_rd *rd = &e->rd[0];

    if (e->n_rds == 0 || p->bth.psn.v != rd->psn.v) {
        if (e->n_rds > 0 && is_before(rd->psn, p->bth.psn) &&
            !(e->rules.waits_in_read && (uint32_t)psn_diff(p->bth.psn, rd->psn) < rd->left))
            take_hole(e, now_ns);
        return;
    }
    rd->psn = psn_add(rd->psn, 1);
    if (--rd->left == 0)
        forget_rd(e);
    progress(e, psn_add(p->bth.psn, 1), now_ns);
}

static void take_nak(struct wire_end *e, const struct packet *p, uint64_t now_ns)
{
    const struct aeth_word w = aeth_unpack(p->aeth.syndrome);

    const bool waits = now_ns < e->rnr_until_ns;

    if (waits && (w.kind == SYN_RNR_NAK || w.kind == SYN_NAK_PSN_SEQUENCE))
        return; /* it waits already, and will start again */
    if (w.kind == SYN_RNR_NAK) {
        rewind_to(e, e->una);
        e->rnr_naks++;
        e->go_backs = e->unseen = 0;
        e->rnr_until_ns = now_ns + wire_rnr_wait_ns(w.value);
    } else if (w.kind == SYN_NAK_PSN_SEQUENCE) {
        go_back(e, now_ns);
        e->was_implied = false;
    } else {
        rewind_to(e, e->una);
        e->nak = (uint32_t)w.kind;
        e->nak_next = e->next;
    }
}

static void answer_arrived(struct wire_end *e, const struct packet *p, uint64_t now_ns)
{
    const struct psn behind = psn_add(p->bth.psn, 1);
    struct psn up_to;

    if (e->is_over || is_before(p->bth.psn, e->una) || !is_before(p->bth.psn, e->next))
        return; /* acknowledged already, or never requested */
    if (e->nak != SYN_NONE && !is_before(p->bth.psn, e->nak_next))
        e->has_ignored_nak = true;
    if (p->op->kind != OPK_ACK) {
        up_to = answered_up_to(e, p->bth.psn);
        progress(e, up_to, now_ns);
        take_rd(e, p, now_ns);
        return;
    }
    if (aeth_is_ack(p->aeth.syndrome)) {
        if (ack_ends_rd(e, p->bth.psn))
            forget_rd(e);
        up_to = answered_up_to(e, behind);
        if (up_to.v != behind.v && e->was_implied)
            return; /* a response to something sent before it went back */
        progress(e, up_to, now_ns);
        if (up_to.v != behind.v)
            take_hole(e, now_ns);
        return;
    }
    up_to = answered_up_to(e, p->bth.psn);
    progress(e, up_to, now_ns);
    if (up_to.v != p->bth.psn.v)
        take_hole(e, now_ns);
    else
        take_nak(e, p, now_ns);
}

/* --- Responder -------------------------------------------------------------------------------- */

static void take_request(struct wire_end *e, const struct packet *p)
{
    const uint32_t psns = psns_of(e, p);
    const bool ends = p->op->pos == OPP_LAST || p->op->pos == OPP_ONLY;

    e->taken[e->n_taken++ % WIRE_LOG] = (struct wire_taken){p->bth.psn.v, e->msn, psns, false};
    e->expected = psn_add(p->bth.psn, psns);
    e->msn = (e->msn + (ends || is_rd(p))) & PSN_MASK;
    e->has_told_gap = e->was_rnr = false;
}

/* Returns the request that took @psn; NULL: it is no longer kept. */
static struct wire_taken *taken_at(struct wire_end *e, struct psn psn)
{
    for (uint32_t n = 0; n < WIRE_LOG && n < e->n_taken; n++) {
        struct wire_taken *t = &e->taken[(e->n_taken - 1 - n) % WIRE_LOG];
        const int32_t into = psn_diff(psn, (struct psn){t->psn});

        if (into >= 0) /* they are in PSN order */
            return (uint32_t)into < t->psns ? t : NULL;
    }
    return NULL;
}

/* Records that @psns PSNs from @psn on arrived beyond a gap. */
static void keep_early(struct wire_end *e, struct psn psn, uint32_t psns)
{
    for (uint32_t i = 0; i < psns && i < WIRE_LOG; i++) {
        const uint32_t at = psn_add(psn, i).v;

        e->early[at % WIRE_LOG] = at + 1;
    }
    if (!e->has_ahead || is_before(e->ahead, psn))
        e->ahead = psn;
    e->has_ahead = true;
}

/* The end acknowledges everything before @psn.  If all of it has arrived, though not in sequence,
 * the end has kept it: takes it now.
 */
static void take_early(struct wire_end *e, struct psn psn)
{
    const int32_t far = psn_diff(psn, e->expected);

    if (!e->rules.may_keep_early || far <= 0 || far > (int32_t)WIRE_LOG)
        return;
    for (uint32_t at = e->expected.v; at != psn.v; at = psn_add((struct psn){at}, 1).v) {
        if (e->early[at % WIRE_LOG] != at + 1)
            return;
    }
    for (; e->expected.v != psn.v; e->expected = psn_add(e->expected, 1))
        e->taken[e->n_taken++ % WIRE_LOG] = (struct wire_taken){e->expected.v, e->msn, 1, false};
    e->has_told_gap = e->was_rnr = false;
}

static void request_arrived(struct wire_end *e, const struct packet *p, uint64_t now_ns)
{
    const struct psn psn = p->bth.psn;
    const bool asks = p->bth.ack_req && !is_rd(p);
    struct wire_taken *t;

    if (e->is_over)
        return;
    t = taken_at(e, psn);
    if (t)
        t->came_again = true;
    if (psn.v == e->expected.v)
        take_request(e, p);
    else if (is_before(e->expected, psn)) {
        keep_early(e, psn, psns_of(e, p));
        return;
    }
    if (asks && !e->owes) {
        e->owes = true;
        e->owes_since_ns = now_ns;
    }
}

/* The end refuses @psn: undoes it and later requests.  Returns false if @psn was not taken. */
static bool refuse(struct wire_end *e, struct psn psn)
{
    for (uint32_t n = 0; n < WIRE_LOG && n < e->n_taken; n++) {
        const struct wire_taken *t = &e->taken[(e->n_taken - 1 - n) % WIRE_LOG];
        const int32_t into = psn_diff(psn, (struct psn){t->psn});

        if (into < 0 && e->rules.may_keep_early)
            keep_early(e, (struct psn){t->psn}, t->psns);
        if (into < 0 || (uint32_t)into >= t->psns)
            continue;
        e->expected = (struct psn){t->psn};
        e->msn = t->msn_before;
        e->n_taken -= n + 1;
        return true;
    }
    return false;
}

/* Returns true if a packet beyond the expected PSN arrived and was not taken. */
static bool has_gap(const struct wire_end *e)
{
    return e->has_ahead && !is_before(e->ahead, e->expected);
}

static void sent_nak(struct wire_end *e, const struct packet *p, uint64_t now_ns)
{
    const enum syndrome kind = aeth_unpack(p->aeth.syndrome).kind;
    const struct psn psn = p->bth.psn;

    if (kind == SYN_NAK_PSN_SEQUENCE) {
        const bool after_rnr = e->was_rnr && e->rules.rnr_is_told_twice;

        /* It may replace an RNR NAK that was due. */
        find(e, ((has_gap(e) || after_rnr) && psn.v == e->expected.v) || refuse(e, psn),
             FIND_NAK_WITHOUT_GAP, psn, now_ns);
        find(e, !e->has_told_gap, FIND_NAK_TWICE, psn, now_ns);
        e->has_told_gap = true;
        return;
    }
    if (kind == SYN_RNR_NAK) {
        find(e, refuse(e, psn), FIND_NAK_OF_OTHERS, psn, now_ns);
        e->was_rnr = true;
    } else {
        const struct wire_taken *t = taken_at(e, psn);

        e->is_over = true;
        if (!(t && t->came_again) && !refuse(e, psn)) /* a repeated READ may be refused as well */
            find(e, is_before(psn, e->expected), FIND_NAK_OF_OTHERS, psn, now_ns);
    }
}

static void judge_atomic(struct wire_end *e, const struct packet *p, uint64_t now_ns)
{
    for (uint32_t i = 0; i < WIRE_ATOMICS && i < e->n_atomics; i++) {
        if (e->atomic[i].psn == p->bth.psn.v) {
            find(e, e->atomic[i].found == p->atomic_ack, FIND_ATOMIC_ANSWERED_OTHERWISE, p->bth.psn,
                 now_ns);
            return;
        }
    }
    e->atomic[e->n_atomics % WIRE_ATOMICS].psn = p->bth.psn.v;
    e->atomic[e->n_atomics++ % WIRE_ATOMICS].found = p->atomic_ack;
}

/* Checks the MSN.  An acknowledgment has the present MSN.  The response of a READ or atomic has the
 * MSN right after that request, or the present one if it was requested again.
 */
static bool is_msn(struct wire_end *e, const struct packet *p)
{
    const struct wire_taken *t = taken_at(e, p->bth.psn);

    if (p->op->kind == OPK_ACK)
        return p->aeth.msn == e->msn;
    return !t || p->aeth.msn == ((t->msn_before + 1) & PSN_MASK) ||
           (t->came_again && p->aeth.msn == e->msn);
}

/* The first response shows how many messages were completed before the capture. */
static void learn_msn(struct wire_end *e, const struct packet *p)
{
    const struct wire_taken *t = taken_at(e, p->bth.psn);
    const uint32_t is = p->op->kind == OPK_ACK ? e->msn : t ? t->msn_before + 1 : p->aeth.msn;
    const uint32_t more = (p->aeth.msn - is) & PSN_MASK;

    e->msn = (e->msn + more) & PSN_MASK;
    for (uint32_t i = 0; i < WIRE_LOG; i++)
        e->taken[i].msn_before = (e->taken[i].msn_before + more) & PSN_MASK;
    e->rules.learns_msn = false;
}

/* Returns true if @msn is in first .. last.  It is unknown how many messages behind a failing READ
 * were counted.
 */
static bool is_among(uint32_t msn, uint32_t first, uint32_t last)
{
    return ((msn - first) & PSN_MASK) <= ((last - first) & PSN_MASK);
}

static void sent_answer(struct wire_end *e, const struct packet *p, uint64_t now_ns)
{
    const struct psn psn = p->bth.psn;
    const bool is_ack = p->op->kind == OPK_ACK && aeth_is_ack(p->aeth.syndrome);
    const uint32_t before = e->msn;

    e->owes = false;
    if (e->is_over)
        return; /* responses that were pending when it ended */
    if (p->op->kind == OPK_ATOMIC_ACK)
        judge_atomic(e, p, now_ns);
    take_early(e, p->op->kind == OPK_ACK && !is_ack ? psn : psn_add(psn, 1));
    if (p->op->kind == OPK_ACK && !is_ack)
        sent_nak(e, p, now_ns);
    else
        find(e, is_before(psn, e->expected), FIND_ACK_BEFORE_ARRIVAL, psn, now_ns);
    if (p->op->headers & H_AETH && e->rules.learns_msn)
        learn_msn(e, p);
    if (p->op->headers & H_AETH && !e->rules.may_lag)
        find(e, is_msn(e, p) || (e->is_over && is_among(p->aeth.msn, e->msn, before)),
             FIND_WRONG_MSN, psn, now_ns);
    if (is_ack) {
        find(e, !e->has_acked || !is_before(psn_add(psn, 1), e->acked), FIND_ACK_GOES_BACK, psn,
             now_ns);
        e->acked = psn_add(psn, 1);
        e->has_acked = true;
    }
}

/* --- Packets of both kinds -------------------------------------------------------------------- */

void wire_end_sent(struct wire_end *e, const struct packet *p, uint64_t now_ns, uint64_t free_ns)
{
    if (!e->is_told || p->op->service != OPS_RC)
        return;
    if (op_is_request(p->op))
        sent_request(e, p, now_ns, free_ns);
    else
        sent_answer(e, p, now_ns);
}

void wire_end_arrived(struct wire_end *e, const struct packet *p, uint64_t now_ns)
{
    if (!e->is_told || p->op->service != OPS_RC)
        return;
    if (op_is_request(p->op))
        request_arrived(e, p, now_ns);
    else
        answer_arrived(e, p, now_ns);
}

void wire_end_quiet(struct wire_end *e, uint64_t now_ns)
{
    if (e->is_told && !e->is_over)
        find(e, !e->owes, FIND_UNANSWERED, e->expected, now_ns);
}

void wire_end_failed(struct wire_end *e, uint64_t now_ns)
{
    e->is_over = true;
    if (e->over_ns == 0)
        e->over_ns = now_ns;
}

bool wire_end_is_exhausted(const struct wire_end *e)
{
    const uint32_t most = e->go_backs + e->unseen;

    if (!e->is_told)
        return true;
    if (!is_before(e->una, e->next) || e->rules.retry_cnt == WIRE_ENDLESS ||
        most < e->rules.retry_cnt)
        return false;
    /* It was told to go back once too often, or its last timeout has expired. */
    return most > e->rules.retry_cnt || e->over_ns == 0 || has_run_out(e, e->over_ns);
}

bool wire_end_is_rnr_exhausted(const struct wire_end *e)
{
    if (!e->is_told)
        return true;
    return e->rules.rnr_retry != WIRE_ENDLESS && e->rnr_naks == e->rules.rnr_retry + 1;
}
