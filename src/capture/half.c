/* SPDX-License-Identifier: MIT */
#include "capture/half.h"

#include <stdlib.h>

#include "process/must.h"

#define OUT_OF_ORDER_MAX 32u /* requests searched for the one that an early response belongs to */

void half_find(struct half *h, enum finding finding, uint32_t seen, struct found f)
{
    const struct seen *s = &h->r->v[seen];

    if (h->r->flows[h->asks].is_unsure && finding_rows[finding].severity == FINDING_ERROR &&
        !record_is_request(s))
        return; /* it may be the response of another connection */
    f.finding = finding;
    f.frame = s->number;
    f.opcode = s->opcode;
    f.flow = record_is_request(s) ? h->asks : h->answers;
    found_add(h->found, &f);
}

struct asked *half_entry(struct half *h, uint64_t at)
{
    uint32_t low = 0, high = h->n;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (h->v[middle].at + h->v[middle].psns <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < h->n && h->v[low].at <= at ? &h->v[low] : NULL;
}

bool half_is_rd(const struct half *h, uint32_t seen)
{
    return op_has_response(seen_op(&h->r->v[seen]));
}

bool half_is_answered(const struct half *h, const struct asked *e)
{
    if (op_answer(seen_op(&h->r->v[e->first_seen])) == OPK_READ_RESPONSE)
        return e->got == e->at + e->psns;
    return e->answer != SEEN_NONE;
}

uint64_t half_psns_of(const struct half *h, const struct seen *s)
{
    if (seen_op(s)->kind != OPK_READ || s->dma_bytes == 0)
        return 1;
    return (s->dma_bytes - 1) / h->read_mtu + UINT64_C(1);
}

uint32_t half_last_answer(const struct half *h)
{
    return h->n_recent ? h->recent[(h->n_recent - 1) % HALF_RECENT] : SEEN_NONE;
}

static void add_repair(struct half *h, uint64_t ns)
{
    struct half_sums *s = &h->sums;

    if ((s->n_repairs & (s->n_repairs - 1)) == 0) /* the size is a power of two: double it */
        s->repair_ns = must_realloc(s->repair_ns, (s->n_repairs ? 2 * s->n_repairs : 1) *
                                                      sizeof(s->repair_ns[0]));
    s->repair_ns[s->n_repairs++] = ns;
}

void half_acked(struct half *h, uint64_t at, uint64_t now_ns)
{
    if (at <= h->acked)
        return;
    h->acked = at;
    for (; h->n_acked < h->n && h->v[h->n_acked].at + h->v[h->n_acked].psns <= at; h->n_acked++) {
        const struct asked *e = &h->v[h->n_acked];

        if (e->was_lost)
            add_repair(h, now_ns > e->since_ns ? now_ns - e->since_ns : 0);
    }
    half_go_on(h);
}

/* Returns the probable reason why nothing answers flow h->asks. */
static const char *why_silent(const struct half *h)
{
    if (record_other_lonely(h->r, h->asks) != SEEN_NONE)
        return "what its host sends back answers PSNs that were not sent, so most likely the two "
               "ends "
               "do not agree on the first PSN (sq_psn of one, rq_psn of the other)";
    if (h->r->flows[h->asks].n_came > 0)
        return "the request came to its host, so the queue pair there is missing, not ready or "
               "failed, "
               "or expects another P_Key, service or PSN";
    return "the queue pair of the peer is not there or not ready to receive, its address is wrong, "
           "or "
           "every frame was lost";
}

/* Reports that nothing answers a queue pair whose request was sent again.  Returns false if it was
 * sent only once: then the capture may end too early.
 */
static bool report_silence(struct half *h)
{
    const struct asked *e = &h->v[0];

    if (e->times < 2 || e->seen == SEEN_NONE)
        return false;
    half_find(h, FIND_NEVER_ANSWERED, e->seen,
              (struct found){
                  .psn = (uint32_t)e->at & PSN_MASK,
                  .n = e->times,
                  .time_ns = h->r->v[e->seen].at_ns - h->r->v[e->first_seen].at_ns,
                  .why = why_silent(h),
              });
    return true;
}

/* Reports unanswered requests at the end of the capture. */
static void end(struct half *h)
{
    const struct asked *e = h->n_acked < h->n ? &h->v[h->n_acked] : NULL;
    const struct asked *last = h->n > 0 ? &h->v[h->n - 1] : NULL;

    if (!e || h->is_over)
        return;
    if (h->answers == SEEN_NONE && (!record_knows_silence(h->r, h->asks) || report_silence(h)))
        return;
    if (last->seen == SEEN_NONE ||
        (!(h->r->v[last->seen].flags & SEEN_ACK_REQ) && !half_is_rd(h, last->seen)))
        return;
    half_find(
        h, FIND_NOT_ANSWERED, last->seen,
        (struct found){.psn = (uint32_t)h->acked & PSN_MASK, .n = (uint32_t)(h->next - h->acked)});
}

/* Returns the request in flow @asks that @answer responds to, if it comes later in the capture;
 * SEEN_NONE: none.  A capture of two ports may store a response before its request.
 */
static uint32_t asked_behind(const struct half *h, uint32_t asks, uint32_t answer)
{
    const struct seen *v = h->r->v;
    const struct psn psn = {v[answer].psn}, next = {(uint32_t)h->next & PSN_MASK};

    if (!h->has_begun || !op_is_response(seen_op(&v[answer])) || psn_diff(psn, next) < 0 ||
        psn_diff(psn, next) > HALF_LIFE_PSNS)
        return SEEN_NONE;
    for (uint32_t n = 0; asks != SEEN_NONE && n < OUT_OF_ORDER_MAX; asks = v[asks].next, n++) {
        const int32_t into = psn_diff(psn, seen_psn(&v[asks]));

        if (record_is_request(&v[asks]) && into >= 0 && (uint64_t)into < half_psns_of(h, &v[asks]))
            return asks;
    }
    return SEEN_NONE;
}

/* Reports that @answer precedes its request @request.  It is processed after the request. */
static void report_order(struct half *h, uint32_t answer, uint32_t request)
{
    half_find(h, FIND_OUT_OF_ORDER, answer,
              (struct found){.psn = h->r->v[answer].psn, .earlier = h->r->v[request].number});
}

/* Processes the packets of both flows in capture order. */
static void go_through(struct half *h)
{
    const struct capture_record *r = h->r;
    const struct flow *f = &r->flows[h->asks];
    const struct flow *g = h->answers == SEEN_NONE ? NULL : &r->flows[h->answers];
    uint32_t a = f->first, b = g ? g->first : SEEN_NONE, told = SEEN_NONE;

    while (a != SEEN_NONE || b != SEEN_NONE) {
        const uint32_t first = b < a && a != SEEN_NONE ? asked_behind(h, a, b) : SEEN_NONE;

        if (first != SEEN_NONE && told != b)
            report_order(h, b, first);
        if (first != SEEN_NONE)
            told = b;
        h->next_answer = b;
        if (a < b || first != SEEN_NONE) {
            if (record_is_request(&r->v[a]) && record_counts(f, &r->v[a]))
                half_takes_request(h, a);
            a = r->v[a].next;
        } else {
            if (!record_is_request(&r->v[b]) && record_counts(g, &r->v[b]))
                half_takes_answer(h, b);
            if (!record_is_request(&r->v[b]) && r->v[b].flags & SEEN_CAME)
                half_answer_came(h, b);
            b = r->v[b].next;
        }
    }
}

void half_judge(struct half *h, const struct capture_record *r, uint32_t asks, uint32_t answers,
                bool is_complete, struct found_list *found)
{
    *h = (struct half){
        .r = r,
        .found = found,
        .asks = asks,
        .answers = answers,
        .mtu = record_mtu(r, &r->flows[asks]),
        .read_mtu = record_read_mtu(r, &r->flows[asks]),
        .is_complete = is_complete && !r->flows[asks].is_unsure,
        .max_rds = record_agreed(r, &r->flows[asks]).max_rd_atomic,
        .newest_request = SEEN_NONE,
        .newest_answer = SEEN_NONE,
    };
    go_through(h);
    end(h);
}

void half_done(struct half *h)
{
    free(h->v);
    free(h->sums.repair_ns);
    h->v = NULL;
    h->sums.repair_ns = NULL;
}
