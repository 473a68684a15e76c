/* SPDX-License-Identifier: MIT */
#include "capture/exact.h"

#include "emu/base/assert.h"
#include "emu/facts/aeth.h"
#include "watcher/wire_end.h"

/* The most by which the first PSN that comes may be above the expected one. */
#define FIRST_MISSING_MAX 65536
#define RETRY_MAX         7u /* rnr_retry with this value is endless */
#define LATE_TIMES        3u /* a device may take four times the ACK timeout [IBTA1 9.7.6.1.3] */

/* A kind of requester.  A capture does not tell of which kind an end is. */
struct requester_kind {
    bool waits_in_read, ack_ends_read; /* as in struct wire_rules */
};

/* The first one does what the specification says, the last one is like rxe. */
static const struct requester_kind kinds[] = {
    {false, false}, {true, false}, {false, true}, {true, true}};

/* Returns the first packet of @flow with @flag that is a request, or is not; SEEN_NONE: none. */
static uint32_t first_of(const struct capture_record *r, uint32_t flow, enum seen_flag flag,
                         bool request)
{
    uint32_t i = r->flows[flow].first;

    while (i != SEEN_NONE && (!(r->v[i].flags & flag) || record_is_request(&r->v[i]) != request))
        i = r->v[i].next;
    return i;
}

/* Returns the first PSN that the end expects: that of its own message of the connection manager if
 * what arrives may follow it.  Otherwise it is the lowest PSN that arrived before its first
 * response, or the PSN of a sequence NAK if that is lower.
 */
static uint32_t first_expected(const struct capture_record *r, uint32_t from, uint32_t to)
{
    const uint32_t agreed = record_agreed(r, &r->flows[from]).rq_psn;
    const uint32_t request = to == SEEN_NONE ? SEEN_NONE : first_of(r, to, SEEN_CAME, true);
    const uint32_t answer = first_of(r, from, SEEN_SENT, false);
    struct psn first;
    int32_t ahead;

    if (request == SEEN_NONE)
        return agreed == AGREED_UNKNOWN ? 0 : agreed; /* nothing has come */
    first = seen_psn(&r->v[request]);
    ahead = psn_diff(first, (struct psn){agreed});
    if (agreed != AGREED_UNKNOWN && ahead >= 0 && ahead <= FIRST_MISSING_MAX)
        return agreed;
    for (uint32_t i = request; i < answer && i != SEEN_NONE; i = r->v[i].next) {
        if (record_is_request(&r->v[i]) && r->v[i].flags & SEEN_CAME &&
            psn_diff(seen_psn(&r->v[i]), first) < 0)
            first = seen_psn(&r->v[i]);
    }
    if (answer != SEEN_NONE && seen_op(&r->v[answer])->kind == OPK_ACK &&
        aeth_unpack(r->v[answer].syndrome).kind == SYN_NAK_PSN_SEQUENCE &&
        psn_diff(seen_psn(&r->v[answer]), first) < 0)
        first = seen_psn(&r->v[answer]);
    return first.v;
}

static struct wire_rules rules_of(const struct capture_record *r, uint32_t from, uint32_t to,
                                  const struct exact_limits *l, const struct requester_kind *kind)
{
    const uint32_t first = first_of(r, from, SEEN_SENT, true);
    struct wire_rules rules = {
        .mtu_bytes = record_read_mtu(r, &r->flows[from]),
        .retry_cnt = l->retry_cnt == EXACT_UNKNOWN ? WIRE_ENDLESS : l->retry_cnt,
        .rnr_retry = l->rnr_retry == EXACT_UNKNOWN || l->rnr_retry == RETRY_MAX ? WIRE_ENDLESS
                                                                                : l->rnr_retry,
        .max_rd_atomic = l->max_rd_atomic,
        .clock_ns = r->clock_ns,
        .sq_psn = first == SEEN_NONE ? 0 : r->v[first].psn,
        .rq_psn = first_expected(r, from, to),
        .rnr_is_told_twice = true,
        .waits_in_read = kind->waits_in_read,
        .ack_ends_read = kind->ack_ends_read,
        .may_lag = true, /* half.h judges the MSN */
        .may_keep_early = true,
    };

    if (l->timeout != EXACT_UNKNOWN) {
        rules.knows_timeout = true;
        rules.timeout_ns = ack_timeout_ns((uint8_t)l->timeout);
        rules.late_ns = l->timeout == 0 ? 0 : LATE_TIMES * rules.timeout_ns;
    }
    return rules;
}

/* Reports what the watcher found in this packet.  An acknowledgment that was captured at the host
 * may not have reached the queue pair when its timer expired: a retransmission is no error then.
 */
static void report_wrong(const struct capture_record *r, uint32_t from, uint32_t i,
                         struct wire_end *e, struct found_list *found)
{
    const struct seen *s = &r->v[i];
    const bool is_answered =
        e->wrong == FIND_AGAIN_WITHOUT_REASON && psn_diff(seen_psn(s), e->una) <= 0;

    if (e->wrong != FIND_COUNT && !is_answered)
        found_add(found, &(struct found){.finding = e->wrong,
                                         .flow = from,
                                         .frame = s->number,
                                         .psn = e->wrong_psn.v,
                                         .opcode = s->opcode});
    e->wrong = FIND_COUNT;
}

/* Returns true if the capture has the packets that the end of @from sent and received, or if
 * nothing came to it.
 */
static bool is_known(const struct capture_record *r, uint32_t from, uint32_t to)
{
    if (r->flows[from].n_sent == 0)
        return false;
    if (to == SEEN_NONE)
        return r->flows[from].n_requests > 0 && record_knows_silence(r, from);
    return r->flows[to].n_came > 0;
}

/* Reports that a request has no retry left at the end of the capture.  @last: its last sending. */
static void report_last_retry(const struct capture_record *r, uint32_t from, uint32_t last,
                              const struct wire_end *e, struct found_list *found)
{
    const uint32_t times = e->go_backs + e->unseen;

    if (e->rules.retry_cnt == WIRE_ENDLESS || times == 0 || times != e->rules.retry_cnt ||
        psn_diff(e->una, e->next) >= 0 || last == SEEN_NONE)
        return;
    found_add(found, &(struct found){.finding = FIND_RETRIES_USED_UP,
                                     .flow = from,
                                     .frame = r->v[last].number,
                                     .psn = e->una.v,
                                     .opcode = r->v[last].opcode});
}

/* Judges the end as a requester with these @rules.  Adds findings to @found. */
static void judge_by(const struct capture_record *r, uint32_t from, const struct wire_rules *rules,
                     struct found_list *found)
{
    const uint32_t to = r->flows[from].peer;
    uint32_t a = r->flows[from].first, b = to == SEEN_NONE ? SEEN_NONE : r->flows[to].first;
    uint32_t last = SEEN_NONE;
    bool has_come = false; /* earlier requests, which its responses answer, were not captured */
    struct wire_end e;

    wire_end_init(&e, rules);
    while (a != SEEN_NONE || b != SEEN_NONE) {
        const bool is_sent = a < b;
        const uint32_t i = is_sent ? a : b;
        const struct seen *s = &r->v[i];
        const struct packet p = seen_packet(s);

        if (is_sent && s->flags & SEEN_SENT && (has_come || record_is_request(s)))
            wire_end_sent(&e, &p, s->at_ns, 0); /* it is not known when its line was free */
        else if (!is_sent && s->flags & SEEN_CAME)
            wire_end_arrived(&e, &p, s->at_ns);
        if (is_sent && s->flags & SEEN_SENT && record_is_request(s))
            last = i;
        has_come |= !is_sent && s->flags & SEEN_CAME && record_is_request(s);
        report_wrong(r, from, i, &e, found);
        if (is_sent)
            a = s->next;
        else
            b = s->next;
    }
    report_last_retry(r, from, last, &e, found);
}

/* Returns @limits with what the messages of the connection manager tell in addition. */
static struct exact_limits with_agreed(const struct capture_record *r, uint32_t from,
                                       const struct exact_limits *limits)
{
    const struct agreed a = record_agreed(r, &r->flows[from]);
    struct exact_limits l = *limits;

    if (l.timeout == EXACT_UNKNOWN)
        l.timeout = a.timeout;
    if (l.retry_cnt == EXACT_UNKNOWN)
        l.retry_cnt = a.retry_cnt;
    if (l.rnr_retry == EXACT_UNKNOWN)
        l.rnr_retry = a.rnr_retry;
    if (l.max_rd_atomic == EXACT_UNKNOWN)
        l.max_rd_atomic = a.max_rd_atomic;
    return l;
}

/* The end is taken for the kind of requester whose rules it breaks least: what it does is an error
 * only if no kind does it.
 */
bool exact_judge(const struct capture_record *r, uint32_t from, const struct exact_limits *limits,
                 struct found_list *found)
{
    const struct exact_limits known = with_agreed(r, from, limits);
    const uint32_t to = r->flows[from].peer;
    struct found_list least = {0};

    if (!is_known(r, from, to))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(kinds) && (i == 0 || least.n > 0); i++) {
        const struct wire_rules rules = rules_of(r, from, to, &known, &kinds[i]);
        struct found_list other = {0};

        judge_by(r, from, &rules, &other);
        if (i == 0 || other.n < least.n) {
            found_done(&least);
            least = other;
        } else {
            found_done(&other);
        }
    }
    for (uint32_t i = 0; i < least.n; i++)
        found_add(found, &least.v[i]);
    found_done(&least);
    return true;
}
