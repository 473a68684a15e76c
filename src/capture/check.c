/* SPDX-License-Identifier: MIT */
#include "capture/check.h"

#include <stdlib.h>

#include "capture/handshake_judge.h"
#include "capture/pairs.h"
#include "capture/stream.h"
#include "process/must.h"

#define NS UINT64_C(1000000000)

static int by_size(const void *va, const void *vb)
{
    const uint64_t *a = va, *b = vb;

    return (*a > *b) - (*a < *b);
}

/* Adds a connection of @flow and its peer, if it has one. */
static struct connection *add_connection(struct check *c, uint32_t flow)
{
    struct connection *k = &c->v[c->n];
    const uint32_t peer = c->record.flows[flow].peer;

    *k = (struct connection){.flow = {flow, peer}};
    c->of_flow[flow] = c->n;
    if (peer != SEEN_NONE)
        c->of_flow[peer] = c->n;
    c->n++;
    return k;
}

/* Returns true if losses or changes make it impossible to follow the end exactly. */
static bool is_broken(const struct check *c, uint32_t from, uint32_t n_before)
{
    bool is = c->record.flows[from].is_unsure;

    for (uint32_t i = n_before; i < c->found.n; i++) {
        const struct found *f = &c->found.v[i];

        is |= f->finding == FIND_STARTS_AGAIN || f->finding == FIND_NOT_CAPTURED ||
              f->finding == FIND_CHANGED_REQUEST || f->finding == FIND_REUSED_PSN ||
              (f->finding == FIND_GAP && f->flow == from) ||
              (f->finding == FIND_WRONG_FIRST_PSN && f->flow != from);
    }
    return is;
}

static void judge_reliable(struct check *c, struct connection *k, bool is_complete,
                           const struct exact_limits *limits)
{
    const uint32_t n_before = c->found.n;
    struct half h;

    for (unsigned i = 0; i < 2; i++) {
        const uint32_t asks = k->flow[i], answers = k->flow[1 - i];

        if (asks == SEEN_NONE || (i == 1 && asks == answers) ||
            c->record.flows[asks].n_requests == 0)
            continue;
        half_judge(&h, &c->record, asks, answers, is_complete, &c->found);
        k->sums[i] = h.sums;
        if (h.sums.n_repairs > 0)
            qsort(k->sums[i].repair_ns, k->sums[i].n_repairs, sizeof(uint64_t), by_size);
        h.sums.repair_ns = NULL; /* the connection owns it now */
        half_done(&h);
    }
    for (unsigned i = 0; i < 2; i++) {
        if (k->flow[i] == SEEN_NONE || (i == 1 && k->flow[0] == k->flow[1]))
            continue;
        k->n_ends += c->record.flows[k->flow[i]].n_sent > 0;
        if (!is_broken(c, k->flow[i], n_before))
            k->n_exact += exact_judge(&c->record, k->flow[i], limits, &c->found);
    }
}

static void count_datagrams(struct check *c, struct connection *k)
{
    const struct capture_record *r = &c->record;
    const struct flow *f = &r->flows[k->flow[0]];
    struct half_sums *s = &k->sums[0];

    s->first_ns = r->v[f->first].at_ns;
    for (uint32_t i = f->first; i != SEEN_NONE; i = r->v[i].next) {
        if (!record_counts(f, &r->v[i]))
            continue;
        if (record_fits_no_mtu(&r->v[i]))
            found_add(&c->found, &(struct found){.finding = FIND_BAD_SIZE_AT_ANY_MTU,
                                                 .flow = k->flow[0],
                                                 .frame = r->v[i].number,
                                                 .n = r->v[i].payload_bytes,
                                                 .opcode = r->v[i].opcode});
        s->requests++;
        s->messages++;
        s->bytes += r->v[i].payload_bytes;
        s->last_ns = r->v[i].at_ns;
    }
}

static void judge(struct check *c, bool is_complete, const struct exact_limits *limits)
{
    for (uint32_t i = 0; i < c->record.n_flows; i++) {
        struct connection *k;

        if (c->of_flow[i] != SEEN_NONE)
            continue;
        k = add_connection(c, i);
        if (c->record.flows[i].service == OPS_RC)
            judge_reliable(c, k, is_complete, limits);
        else if (c->record.flows[i].service == OPS_UC)
            stream_judge(&c->record, i, &c->found, &k->sums[0]);
        else
            count_datagrams(c, k);
    }
    handshakes_judge(&c->record, &c->found);
    lnet_messages_judge(&c->record, &c->found);
    for (uint32_t i = 0; i < c->found.n; i++) {
        if (c->found.v[i].flow != FOUND_NOWHERE)
            c->v[c->of_flow[c->found.v[i].flow]].findings++;
    }
}

static bool has_hopes(const struct check_known *k)
{
    const struct exact_limits *l = &k->limits;

    return k->at.n_at > 0 || l->timeout != EXACT_UNKNOWN || l->retry_cnt != EXACT_UNKNOWN ||
           l->rnr_retry != EXACT_UNKNOWN || l->max_rd_atomic != EXACT_UNKNOWN;
}

bool check_file(struct check *c, FILE *f, const struct check_known *known)
{
    bool is_complete;

    *c = (struct check){.has_hopes = has_hopes(known)};
    if (!capture_begin(&c->capture, f))
        return false;
    c->is_whole = record_read(&c->record, &c->capture, &known->at, &c->found);
    for (unsigned i = 0; i < known->at.n_at; i++) {
        if (record_host(&c->record, known->at.at[i]) == SEEN_NONE && !c->is_elsewhere) {
            c->is_elsewhere = true;
            c->elsewhere = i;
        }
    }
    is_complete = c->is_whole && c->capture.tells_dropped && c->capture.dropped == 0 &&
                  c->found.count[FIND_NOT_FOLLOWED] == 0;
    pairs_find(&c->record, &c->found);
    c->v = must_malloc((c->record.n_flows + 1) * sizeof(c->v[0]));
    c->of_flow = must_malloc((c->record.n_flows + 1) * sizeof(c->of_flow[0]));
    for (uint32_t i = 0; i < c->record.n_flows; i++)
        c->of_flow[i] = SEEN_NONE;
    c->shown = must_malloc((c->record.n_flows + 1) * sizeof(c->shown[0]));
    judge(c, is_complete, &known->limits);
    found_sort(&c->found);
    axis_init(&c->axis, &c->record);
    choice_apply(c, &known->choice);
    return true;
}

void check_done(struct check *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        free(c->v[i].sums[0].repair_ns);
        free(c->v[i].sums[1].repair_ns);
    }
    free(c->v);
    free(c->shown);
    free(c->shows_handshake);
    free(c->of_flow);
    found_done(&c->found);
    record_done(&c->record);
    capture_done(&c->capture);
}

const struct station *check_src(const struct check *c, uint32_t flow)
{
    return &c->record.hosts[c->record.flows[flow].src];
}

const struct station *check_dst(const struct check *c, uint32_t flow)
{
    return &c->record.hosts[c->record.flows[flow].dst];
}

bool check_repairs(const struct half_sums *s, uint64_t *ret_median_ns, uint64_t *ret_worst_ns)
{
    if (s->n_repairs == 0)
        return false;
    *ret_median_ns = s->repair_ns[s->n_repairs / 2];
    *ret_worst_ns = s->repair_ns[s->n_repairs - 1];
    return true;
}

uint64_t check_goodput(const struct half_sums *s)
{
    const uint64_t ns = s->last_ns - s->first_ns;

    if (ns == 0 || s->bytes == 0)
        return 0;
    return s->bytes <= UINT64_MAX / 8 / NS ? s->bytes * 8 * NS / ns : s->bytes / (ns / 8 + 1) * NS;
}
