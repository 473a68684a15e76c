/* SPDX-License-Identifier: MIT */
#include "capture/pairs.h"

#include <stdlib.h>

#include "process/must.h"

#define CANDIDATES 8u     /* candidates per flow: those with the most votes */
#define WANTED     16u    /* requests of a flow that are kept */
#define LOOK_MAX   64u    /* flows that are examined for one response */
#define LIFE_PSNS  65536u /* PSNs at a greater distance belong to another life of the queue pair */

struct candidate {
    uint32_t flow;
    uint32_t votes;
};

/* A request that requires a response. */
struct answer_wanted {
    struct psn psn;
    uint32_t psns;       /* 0: it was answered */
    enum op_kind answer; /* kind of the response */
};

/* State of a flow while the packets are processed. */
struct asker {
    bool has_asked;
    struct psn first, next, answered;
    struct answer_wanted wanted[WANTED]; /* the latest requests */
    uint32_t n_wanted;                   /* requests so far */
    uint32_t before, behind;             /* links of the list of flows of the same direction */
    uint32_t best;                       /* see second_best() */
    struct candidate v[CANDIDATES];      /* flows that it has voted for */
};

/* All flows from one host to another, the latest requester first. */
struct direction {
    uint32_t src, dst;
    uint32_t front; /* SEEN_NONE: none has sent a request */
};

struct pairing {
    struct capture_record *r;
    struct asker *askers; /* one for each flow */
    struct direction *v;  /* hash table with open addressing */
    uint32_t n_slots;     /* a power of two, more than there are flows */
};

struct flow_match {
    uint32_t a, b, votes;
};

static struct direction *direction_of(struct pairing *p, uint32_t src, uint32_t dst)
{
    uint32_t at = (src * 0x9e3779b1u ^ dst * 0x85ebca6bu) & (p->n_slots - 1);

    while (p->v[at].src != SEEN_NONE && (p->v[at].src != src || p->v[at].dst != dst))
        at = (at + 1) & (p->n_slots - 1);
    if (p->v[at].src == SEEN_NONE)
        p->v[at] = (struct direction){src, dst, SEEN_NONE};
    return &p->v[at];
}

/* Moves flow @i, which sends a request, to the front of its list. */
static void bring_forward(struct pairing *p, uint32_t i)
{
    const struct flow *f = &p->r->flows[i];
    struct direction *d = direction_of(p, f->src, f->dst);
    struct asker *a = &p->askers[i];

    if (d->front == i)
        return;
    if (a->before != SEEN_NONE)
        p->askers[a->before].behind = a->behind;
    if (a->behind != SEEN_NONE)
        p->askers[a->behind].before = a->before;
    a->before = SEEN_NONE;
    a->behind = d->front;
    if (d->front != SEEN_NONE)
        p->askers[d->front].before = i;
    d->front = i;
}

static void want(struct asker *a, const struct seen *s, uint32_t psns)
{
    const enum op_kind answer = op_answer(seen_op(s));

    if (answer != OPK_ACK || s->flags & SEEN_ACK_REQ)
        a->wanted[a->n_wanted++ % WANTED] = (struct answer_wanted){seen_psn(s), psns, answer};
}

static void ask(struct pairing *p, uint32_t i, const struct seen *s)
{
    struct asker *a = &p->askers[i];
    const uint32_t mtu = record_mtu(p->r, &p->r->flows[i]);
    const uint32_t psns = seen_op(s)->kind != OPK_READ || s->dma_bytes == 0
                              ? 1
                              : (s->dma_bytes - 1) / (mtu ? mtu : 256) + 1;
    const struct psn behind = psn_add(seen_psn(s), psns);
    const int32_t far = psn_diff(seen_psn(s), a->next);

    want(a, s, psns);
    if (!a->has_asked || far > (int32_t)LIFE_PSNS || far < -(int32_t)LIFE_PSNS) {
        a->has_asked = true;
        a->first = a->answered = seen_psn(s);
        a->next = behind;
    } else if (psn_diff(behind, a->next) > 0) {
        a->next = behind;
    }
    if (psn_diff(seen_psn(s), a->first) < 0)
        a->first = seen_psn(s);
    bring_forward(p, i);
}

static void vote(struct asker *a, uint32_t flow)
{
    struct candidate *least = &a->v[0];

    for (unsigned i = 0; i < CANDIDATES; i++) {
        if (a->v[i].flow == flow) {
            a->v[i].votes++;
            return;
        }
        if (a->v[i].votes < least->votes)
            least = &a->v[i];
    }
    *least = (struct candidate){flow, 1};
}

/* Returns true if flow @at has sent the PSN of @s. */
static bool covers(const struct pairing *p, uint32_t at, const struct seen *s)
{
    const struct asker *a = &p->askers[at];

    return psn_diff(seen_psn(s), a->first) >= 0 && psn_diff(seen_psn(s), a->next) < 0;
}

/* Returns the flow with the most votes in @a; SEEN_NONE: none. */
static uint32_t favourite(const struct asker *a)
{
    const struct candidate *most = &a->v[0];

    for (unsigned i = 1; i < CANDIDATES; i++) {
        if (a->v[i].votes > most->votes)
            most = &a->v[i];
    }
    return most->votes ? most->flow : SEEN_NONE;
}

/* Returns true if flow @at has sent a request that requires the response @s. */
static bool wants(const struct pairing *p, uint32_t at, const struct seen *s)
{
    const struct asker *a = &p->askers[at];
    bool is_wanted = false;

    for (uint32_t n = 0; n < WANTED && n < a->n_wanted; n++) {
        const struct answer_wanted *w = &a->wanted[n];
        const int32_t into = psn_diff(seen_psn(s), w->psn);

        is_wanted |= into >= 0 && (uint32_t)into < w->psns && w->answer == seen_op(s)->kind;
    }
    return is_wanted;
}

/* The requests of @a that the response @s answers are wanted no longer.  An acknowledge, also one
 * in the header of another response, answers all sends and writes up to it.
 */
static void take_answered(struct asker *a, const struct seen *s)
{
    for (uint32_t n = 0; n < WANTED && n < a->n_wanted; n++) {
        struct answer_wanted *w = &a->wanted[n];
        const int32_t into = psn_diff(seen_psn(s), w->psn);

        if (w->answer == OPK_ACK ? into >= 0
                                 : w->answer == seen_op(s)->kind && into + 1 == (int32_t)w->psns)
            w->psns = 0;
    }
}

/* Flow @i sends the response @s, which is a vote for one flow of the opposite direction.  Prefers a
 * flow that requires such a response, then one that has not got it yet, then the one that it voted
 * for most, then the one that waits longest.  It votes for itself only if there is no other: a
 * queue pair may be connected with itself.
 */
static void answer(struct pairing *p, uint32_t i, const struct seen *s)
{
    const uint32_t before = favourite(&p->askers[i]);
    uint32_t at = direction_of(p, s->dst, s->src)->front, chosen = SEEN_NONE;
    unsigned best = 0;

    for (unsigned n = 0; n < LOOK_MAX && at != SEEN_NONE; n++, at = p->askers[at].behind) {
        const bool waits = psn_diff(seen_psn(s), p->askers[at].answered) >= 0;
        const unsigned fits = at == i ? 0 : 4u * wants(p, at, s) + 2u * waits + (at == before);

        if (covers(p, at, s) && (chosen == SEEN_NONE || fits > best || (fits == best && waits))) {
            chosen = at;
            best = fits;
        }
    }
    if (chosen == SEEN_NONE)
        return;
    vote(&p->askers[i], chosen);
    take_answered(&p->askers[chosen], s);
    if (best & 2u)
        p->askers[chosen].answered = psn_add(seen_psn(s), 1);
}

static bool is_rc(const struct capture_record *r, const struct seen *s)
{
    return seen_op(s)->service == OPS_RC && !(s->flags & SEEN_DROPPED) &&
           !(s->flags & SEEN_DAMAGED && !r->hosts[s->src].never_right);
}

/* Processes all packets once.  @flow_at: the flow of each packet. */
static void go_through(struct pairing *p, const uint32_t *flow_at)
{
    struct capture_record *r = p->r;

    for (uint32_t i = 0; i < r->n; i++) {
        const struct seen *s = &r->v[i];

        if (!is_rc(r, s) || !record_counts(&r->flows[flow_at[i]], s))
            continue;
        if (record_is_request(s))
            ask(p, flow_at[i], s);
        else
            answer(p, flow_at[i], s);
    }
}

static int by_votes(const void *va, const void *vb)
{
    const struct flow_match *a = va, *b = vb;

    if (a->votes != b->votes)
        return a->votes > b->votes ? -1 : 1;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    return (a->b > b->b) - (a->b < b->b);
}

static int by_flows(const void *va, const void *vb)
{
    const struct flow_match *a = va, *b = vb;

    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    return (a->b > b->b) - (a->b < b->b);
}

/* Collects all pairs with votes; adds up the votes of both directions.  Returns their number. */
static uint32_t matches(const struct pairing *p, struct flow_match *ret)
{
    uint32_t n = 0, kept = 0;

    for (uint32_t i = 0; i < p->r->n_flows; i++) {
        for (unsigned c = 0; c < CANDIDATES; c++) {
            const struct candidate *v = &p->askers[i].v[c];

            if (v->votes > 0)
                ret[n++] = (struct flow_match){v->flow < i ? v->flow : i, v->flow < i ? i : v->flow,
                                               v->votes};
        }
    }
    if (n > 0)
        qsort(ret, n, sizeof(ret[0]), by_flows);
    for (uint32_t i = 0; i < n; i++) {
        if (kept > 0 && ret[kept - 1].a == ret[i].a && ret[kept - 1].b == ret[i].b)
            ret[kept - 1].votes += ret[i].votes;
        else
            ret[kept++] = ret[i];
    }
    if (kept > 0)
        qsort(ret, kept, sizeof(ret[0]), by_votes);
    return kept;
}

/* Returns for each flow the votes of its second best match. */
static uint32_t *second_best(const struct pairing *p, const struct flow_match *m, uint32_t n)
{
    uint32_t *seconds = must_malloc((p->r->n_flows + 1) * sizeof(*seconds));

    for (uint32_t i = 0; i < p->r->n_flows; i++)
        seconds[i] = SEEN_NONE;
    for (uint32_t i = n; i-- > 0;) { /* weakest first */
        const uint32_t both[] = {m[i].a, m[i].b};

        for (unsigned k = 0; k < 2; k++) {
            struct asker *a = &p->askers[both[k]];

            seconds[both[k]] = seconds[both[k]] == SEEN_NONE ? 0 : a->best;
            a->best = m[i].votes;
        }
    }
    return seconds;
}

static void choose(struct pairing *p, const struct flow_match *m, uint32_t n,
                   struct found_list *found)
{
    struct capture_record *r = p->r;
    uint32_t *seconds = second_best(p, m, n);

    for (uint32_t i = 0; i < n; i++) {
        struct flow *a = &r->flows[m[i].a], *b = &r->flows[m[i].b];

        if (a->peer != SEEN_NONE || b->peer != SEEN_NONE || record_differ(r, a, b))
            continue;
        a->peer = m[i].b;
        b->peer = m[i].a;
        a->is_unsure = b->is_unsure =
            2 * seconds[m[i].a] >= m[i].votes || 2 * seconds[m[i].b] >= m[i].votes;
        if (a->is_unsure)
            found_add(found, &(struct found){.finding = FIND_PAIRED_BY_ORDER,
                                             .flow = m[i].a,
                                             .frame = r->v[a->first].number});
    }
    free(seconds);
}

/* Pairs the flows that messages of the connection manager name. */
static void pair_by_messages(struct capture_record *r)
{
    for (size_t i = 0; i < r->handshakes.n; i++) {
        const uint32_t *flow = r->handshakes.v[i].flow;

        if (flow[0] == SEEN_NONE || flow[1] == SEEN_NONE ||
            r->flows[flow[0]].service != r->flows[flow[1]].service)
            continue;
        r->flows[flow[0]].peer = flow[1];
        r->flows[flow[1]].peer = flow[0];
    }
}

/* Reports flows without a peer, unless the place of the capture is known: then half.h judges that
 * nothing answers.
 */
static void report_alone(const struct capture_record *r, struct found_list *found)
{
    for (uint32_t i = 0; i < r->n_flows; i++) {
        const struct flow *f = &r->flows[i];

        if (f->service != OPS_RC || f->peer != SEEN_NONE)
            continue;
        if (record_knows_silence(r, i) &&
            (f->n_requests > 0 || record_other_lonely(r, i) != SEEN_NONE))
            continue;
        found_add(found, &(struct found){
                             .finding = FIND_ONE_WAY, .flow = i, .frame = r->v[f->first].number});
    }
}

void pairs_find(struct capture_record *r, struct found_list *found)
{
    struct pairing p = {.r = r, .n_slots = 16};
    uint32_t *flow_at = record_flows(r);
    struct flow_match *m = must_malloc(((size_t)r->n_flows * CANDIDATES + 1) * sizeof(*m));

    while (p.n_slots < 4 * (r->n_flows + 1))
        p.n_slots *= 2;
    p.v = must_malloc(p.n_slots * sizeof(p.v[0]));
    for (uint32_t i = 0; i < p.n_slots; i++)
        p.v[i].src = SEEN_NONE;
    p.askers = must_malloc((r->n_flows + 1) * sizeof(p.askers[0]));
    for (uint32_t i = 0; i < r->n_flows; i++)
        p.askers[i] = (struct asker){.before = SEEN_NONE, .behind = SEEN_NONE};
    pair_by_messages(r);
    go_through(&p, flow_at);
    choose(&p, m, matches(&p, m), found);
    report_alone(r, found);
    free(flow_at);
    free(m);
    free(p.v);
    free(p.askers);
}
