/* SPDX-License-Identifier: MIT */
#include "cli/trial/swarm_judge.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/device.h"
#include "emu/facts/profile.h"
#include "emu/facts/wr.h"

static const char right_bytes[] = "what is moved arrives in its place, and nothing else is written";

void swarm_expect(struct swarm_run *run, bool right, unsigned lane, uint64_t id, const char *what)
{
    if (right || run->wrong)
        return;
    run->wrong = what;
    run->wrong_lane = lane;
    run->wrong_id = (uint32_t)id;
}

static bool is_tight(const struct swarm_plan *p, unsigned lane)
{
    return p->limits[lane].max_rd_atomic > p->limits[swarm_peer(lane)].max_dest_rd_atomic;
}

bool swarm_is_bad(const struct swarm_plan *p, unsigned lane)
{
    return p->lane[lane].wrong < p->lane[lane].n_reqs || is_tight(p, lane);
}

static bool read_memory(struct swarm_run *run, unsigned host, uint32_t at, void *out,
                        uint32_t bytes)
{
    const struct rig_side *s = &run->rig->side[host];

    return rdl_mem_read(run->rig->lab, s->host, s->mem.addr + at, out, bytes) == RDL_OK;
}

/* --- Places ----------------------------------------------------------------------------------- */

/* Is a place as it will be in the end?  Only its one writer, who is done, can have changed it. */
static bool is_final(struct swarm_run *run, unsigned host, uint32_t place)
{
    const uint32_t at = place * SWARM_PLACE_BYTES;
    uint8_t have[SWARM_PLACE_BYTES];

    return read_memory(run, host, at, have, sizeof(have)) &&
           memcmp(run->plan->after[host] + at, have, sizeof(have)) == 0;
}

/* Every byte that a request may have written has its value, or the one from before. */
static bool is_mixed(const uint8_t *have, const uint8_t *before, const uint8_t *after)
{
    for (uint32_t i = 0; i < SWARM_PLACE_BYTES; i++) {
        if (have[i] != before[i] && have[i] != after[i])
            return false;
    }
    return true;
}

/* Has request @i of @lane been carried out for certain?  Or certainly not? */
static bool has_run(const struct swarm_run *run, unsigned lane, uint32_t i)
{
    return i < run->lane[lane].reqs_ok;
}

static bool cannot_have_run(const struct swarm_run *run, unsigned lane, uint32_t i)
{
    return i >= run->lane[lane].reqs_alive || i >= run->plan->lane[lane].ends;
}

static bool is_place_right(struct swarm_run *run, unsigned host, uint32_t place)
{
    const struct swarm_plan *p = run->plan;
    const struct swarm_writers *w = &p->writers[host][place];
    const uint32_t at = place * SWARM_PLACE_BYTES;
    const uint8_t *before = p->before[host] + at, *after = p->after[host] + at;
    uint8_t have[SWARM_PLACE_BYTES];

    if (!read_memory(run, host, at, have, sizeof(have)))
        return false;
    if (w->n == 0 || cannot_have_run(run, w->lane, w->first))
        return memcmp(have, before, sizeof(have)) == 0;
    if (has_run(run, w->lane, w->last))
        return memcmp(have, after, sizeof(have)) == 0;
    /* Of several that followed each other, it would be a long story which came how far. */
    return w->n > 1 || swarm_is_shared(&p->lane[w->lane].req[w->last]) ||
           is_mixed(have, before, after);
}

/* --- Completions ------------------------------------------------------------------------------ */

/* What a shared atomic found is not in the plan: from now on it is. */
static void note_found(struct swarm_run *run, unsigned lane, uint32_t i)
{
    const struct swarm_req *r = &run->plan->lane[lane].req[i];
    const unsigned host = swarm_host(lane);
    uint8_t word[ATOMIC_WORD_BYTES] = {0}, *to = word;

    for (uint32_t k = 0; k < r->local.n; k++) {
        const struct swarm_piece *piece = &r->local.piece[k];

        swarm_expect(run, read_memory(run, host, piece->at, to, piece->bytes), lane, i,
                     "memory can be read");
        to += piece->bytes;
    }
    run->lane[lane].found[i] = ld_le64(word);
    swarm_scatter(&r->local, run->plan->after[host], word, sizeof(word));
}

/* Request @i has succeeded, whether or not it said so itself. */
static void take_success(struct swarm_run *run, unsigned lane, uint32_t i)
{
    const struct swarm_plan *p = run->plan;
    const struct swarm_req *r = &p->lane[lane].req[i];
    const unsigned there = swarm_host(swarm_peer(lane));
    bool right = true;

    swarm_expect(run, r->wrong == SWARM_RIGHT, lane, i, "a wrong request fails");
    if (swarm_is_shared(r))
        note_found(run, lane, i);
    if (swarm_is_read(r) || swarm_is_atomic(r)) {
        right = is_final(run, swarm_host(lane), swarm_place(p, SWARM_LOCAL, lane, i));
    } else if (swarm_is_write(r) && r->bytes > 0) {
        const uint32_t place = r->remote / SWARM_PLACE_BYTES;

        right = p->writers[there][place].n > 1 || is_final(run, there, place);
    }
    swarm_expect(run, right, lane, i, right_bytes);
}

/* May this be how the first request of a lane that does not succeed ends? */
static bool may_fail(const struct swarm_run *run, unsigned lane, const struct swarm_req *r,
                     uint32_t status)
{
    static const enum wc_status ends[] = {
        [SWARM_WRONG_RKEY] = WCS_REM_ACCESS_ERR,
        [SWARM_WRONG_RANGE] = WCS_REM_ACCESS_ERR,
        [SWARM_WRONG_ACCESS] = WCS_REM_ACCESS_ERR,
        [SWARM_WRONG_KEYS] = WCS_REM_ACCESS_ERR,
        [SWARM_WRONG_QP_ACCESS] = WCS_REM_INV_REQ_ERR,
        [SWARM_WRONG_ALIGNMENT] = WCS_REM_INV_REQ_ERR,
    };
    /* The key of a sink is no profile's matter: it is looked at when the data come. */
    const bool is_prot_err =
        swarm_is_read(r) || profile_has(run->profile[swarm_host(lane)], TRAIT_SEND_KEY_IS_PROT_ERR);
    const bool peer_is_bad = swarm_is_bad(run->plan, swarm_peer(lane));

    if (status == WCS_WR_FLUSH_ERR)
        return peer_is_bad;
    if (status == WCS_RETRY_EXC_ERR)
        return peer_is_bad || run->is_faulty;
    if (status == WCS_REM_INV_REQ_ERR && is_tight(run->plan, lane) &&
        (swarm_is_read(r) || swarm_is_atomic(r)))
        return true;
    /* The source of a WRITE is read before its target is asked for. */
    if (r->wrong == SWARM_WRONG_LKEY || (r->wrong == SWARM_WRONG_KEYS && swarm_is_write(r)))
        return status == (is_prot_err ? (uint32_t)WCS_LOC_PROT_ERR : (uint32_t)WCS_LOC_QP_OP_ERR);
    return r->wrong != SWARM_RIGHT && status == (uint32_t)ends[r->wrong];
}

static void judge_request(struct swarm_run *run, unsigned lane, const struct rdl_wc *wc)
{
    struct swarm_lane_state *s = &run->lane[lane];
    const uint32_t i = (uint32_t)wc->wr_id;
    const struct swarm_req *r = &run->plan->lane[lane].req[i];
    const bool succeeds = wc->status == WCS_SUCCESS;

    if (i < s->reqs_done || i >= s->reqs) {
        swarm_expect(run, false, lane, i, "requests complete in the order of posting, once");
        return;
    }
    if (s->sends_failed) {
        swarm_expect(run, i == s->reqs_done && wc->status == WCS_WR_FLUSH_ERR, lane, i,
                     "after an error everything is flushed, and says so");
        s->reqs_done++;
        return;
    }
    for (uint32_t k = s->reqs_done; k < i + succeeds; k++) {
        swarm_expect(run, ((run->plan->lane[lane].req[k].flags & SF_SIGNALED) != 0) == (k == i),
                     lane, k, "what is signaled says that it succeeded, and nothing else");
        take_success(run, lane, k);
    }
    s->reqs_ok = i + succeeds;
    s->reqs_done = i + 1;
    if (succeeds) {
        swarm_expect(run, !s->failed, lane, i, "nothing succeeds after an error");
        swarm_expect(run, wc->opcode == wr_completes_as(r->opcode), lane, i,
                     "a completion names its operation");
        swarm_expect(run, (!swarm_is_read(r) && !swarm_is_atomic(r)) || wc->byte_len == r->bytes,
                     lane, i, "a READ or an atomic says how much it brought");
    } else {
        swarm_expect(run, may_fail(run, lane, r, wc->status), lane, i,
                     "a request fails for a reason, which its status says");
        s->failed = s->sends_failed = true;
    }
}

static void judge_message(struct swarm_run *run, unsigned lane, uint32_t k, const struct rdl_wc *wc)
{
    const struct swarm_plan *p = run->plan;
    const struct swarm_recv *v = &p->lane[lane].recv[k];
    const unsigned peer = swarm_peer(lane);
    const struct swarm_req *r = &p->lane[peer].req[v->req];
    const uint64_t id = wc->wr_id;

    swarm_expect(run, v->req < run->lane[peer].reqs && !cannot_have_run(run, peer, v->req), lane,
                 id, "a receive has a message that was sent");
    swarm_expect(run, wc->byte_len == r->bytes, lane, id, "a receive says how long its message is");
    swarm_expect(run,
                 wc->opcode ==
                     (swarm_is_write(r) ? (uint32_t)WC_RECV_RDMA_WITH_IMM : (uint32_t)WC_RECV),
                 lane, id, "a receive says what completed it");
    swarm_expect(run, wc->wc_flags == (swarm_has_imm(r) ? (uint32_t)WCF_WITH_IMM : 0u), lane, id,
                 "a receive says whether it has immediate data");
    swarm_expect(run, !swarm_has_imm(r) || memcmp(wc->imm, r->imm, sizeof(wc->imm)) == 0, lane, id,
                 "immediate data arrive unchanged");
    swarm_expect(run, is_final(run, swarm_host(lane), swarm_place(p, SWARM_RECEIVE, lane, k)), lane,
                 id, right_bytes);
    if (swarm_is_write(r) && r->bytes > 0 &&
        p->writers[swarm_host(lane)][r->remote / SWARM_PLACE_BYTES].n == 1)
        swarm_expect(run, is_final(run, swarm_host(lane), r->remote / SWARM_PLACE_BYTES), lane, id,
                     right_bytes);
}

static void judge_receive(struct swarm_run *run, unsigned lane, const struct rdl_wc *wc)
{
    struct swarm_lane_state *s = &run->lane[lane];
    const uint32_t k = s->recvs_done;

    if (wc->wr_id != SWARM_RECV_ID + k || k >= s->recvs) {
        swarm_expect(run, false, lane, wc->wr_id,
                     "receives complete in the order of posting, once");
        return;
    }
    s->recvs_done++;
    if (wc->status == WCS_SUCCESS) {
        swarm_expect(run, !s->failed, lane, wc->wr_id, "nothing succeeds after an error");
        judge_message(run, lane, k, wc);
        s->recvs_ok++;
        return;
    }
    swarm_expect(run,
                 wc->status == WCS_WR_FLUSH_ERR &&
                     (s->failed || swarm_is_bad(run->plan, swarm_peer(lane))),
                 lane, wc->wr_id, "a receive fails by flushing, after an error");
    s->failed = true;
}

void swarm_judge_wc(struct swarm_run *run, unsigned lane, const struct rdl_wc *wc)
{
    swarm_expect(run, wc->qp_num == run->side[lane].qpn, lane, wc->wr_id,
                 "a completion names its queue pair");
    if (wc->wr_id >= SWARM_RECV_ID)
        judge_receive(run, lane, wc);
    else
        judge_request(run, lane, wc);
}

/* --- Words ------------------------------------------------------------------------------------ */

/* The atomics of one lane at one word, in their order, and the values that were left after the
 * first, the first two, ... if nobody else came between.
 */
struct chain {
    uint32_t n, n_certain; /* that may have been, and that have been carried out */
    uint64_t add[SWARM_REQS], found[SWARM_REQS];
};

static void add_link(struct swarm_run *run, struct chain *c, unsigned lane, uint32_t i)
{
    c->add[c->n] = run->plan->lane[lane].req[i].compare_add;
    c->found[c->n] = run->lane[lane].found[i];
    c->n++;
    if (has_run(run, lane, i))
        c->n_certain = c->n;
}

static struct chain chain_of(struct swarm_run *run, unsigned lane, uint32_t word)
{
    struct chain c = {0};

    for (uint32_t i = 0; lane < run->plan->n_lanes && i < run->plan->lane[lane].n_reqs; i++) {
        const struct swarm_req *r = &run->plan->lane[lane].req[i];

        if (swarm_is_atomic(r) && r->word == word && !cannot_have_run(run, lane, i))
            add_link(run, &c, lane, i);
    }
    return c;
}

/* Can the atomic at @at of @c have found @value? */
static bool may_find(const struct chain *c, uint32_t at, uint64_t value)
{
    return at >= c->n_certain || c->found[at] == value;
}

/* Is there an order of the additions of two lanes in which everybody found what it found, and which
 * ends with @have?  After some of each the word has one value, whatever their order.
 */
static bool is_sum_right(const struct chain c[2], uint64_t before, uint64_t have)
{
    bool is_possible[SWARM_REQS + 1][SWARM_REQS + 1] = {{false}};
    uint64_t of_a = before;

    for (uint32_t a = 0; a <= c[0].n; a++) {
        uint64_t value = of_a;

        for (uint32_t b = 0; b <= c[1].n; b++) {
            const bool by_a =
                a > 0 && is_possible[a - 1][b] && may_find(&c[0], a - 1, value - c[0].add[a - 1]);
            const bool by_b =
                b > 0 && is_possible[a][b - 1] && may_find(&c[1], b - 1, value - c[1].add[b - 1]);

            is_possible[a][b] = (a == 0 && b == 0) || by_a || by_b;
            if (is_possible[a][b] && value == have && a >= c[0].n_certain && b >= c[1].n_certain)
                return true;
            if (b < c[1].n)
                value += c[1].add[b];
        }
        if (a < c[0].n)
            of_a += c[0].add[a];
    }
    return false;
}

/* The words of one lane: what its atomics found is in the plan and was looked at, what they left
 * follows from how many there were.
 */
static bool is_own_word_right(const struct swarm_run *run, unsigned lane, uint32_t word,
                              uint64_t before, uint64_t have)
{
    uint64_t value = before;
    bool right = have == value;

    for (uint32_t i = 0; lane < run->plan->n_lanes && i < run->plan->lane[lane].n_reqs; i++) {
        const struct swarm_req *r = &run->plan->lane[lane].req[i];

        if (!swarm_is_atomic(r) || r->word != word || cannot_have_run(run, lane, i))
            continue;
        if (r->opcode == WR_ATOMIC_FETCH_AND_ADD)
            value += r->compare_add;
        else if (value == r->compare_add)
            value = r->swap;
        right = have == value || (right && !has_run(run, lane, i));
    }
    return right;
}

static void judge_words(struct swarm_run *run, unsigned host)
{
    const struct swarm_plan *p = run->plan;
    uint8_t have[SWARM_MEMORY_BYTES - SWARM_WORDS_AT];
    const uint8_t *before = &p->before[host][(size_t)SWARM_WORDS_AT];
    const unsigned first = swarm_peer(host); /* the lanes that reach it: this one, and the next */

    swarm_expect(run, read_memory(run, host, SWARM_WORDS_AT, have, sizeof(have)), host, UINT32_MAX,
                 "memory can be read");
    for (uint32_t word = 0; word < SWARM_WORDS; word++) {
        const uint32_t at = swarm_word_at(word) - SWARM_WORDS_AT;
        const unsigned lane = first + word / SWARM_WORDS_OWN * SWARM_HOSTS;
        const struct chain both[2] = {chain_of(run, first, word),
                                      chain_of(run, first + SWARM_HOSTS, word)};
        const bool right =
            word < SWARM_WORDS_SHARED
                ? is_own_word_right(run, lane, word, ld_le64(before + at), ld_le64(have + at))
                : is_sum_right(both, ld_le64(before + at), ld_le64(have + at));

        swarm_expect(run, right, first, UINT32_MAX,
                     "each atomic is carried out once, and what they find is in some order");
        memcpy(have + at, before + at, ATOMIC_WORD_BYTES);
    }
    swarm_expect(run, memcmp(have, before, sizeof(have)) == 0, host, UINT32_MAX, right_bytes);
}

/* --- The end ---------------------------------------------------------------------------------- */

/* Whoever sent a message with success can rely on it that the other side has it. */
static void judge_delivery(struct swarm_run *run, unsigned lane)
{
    const struct swarm_lane *l = &run->plan->lane[lane];
    uint32_t n = 0;

    for (uint32_t i = 0; i < run->lane[lane].reqs_ok; i++)
        n += l->req[i].recv != UINT32_MAX;
    swarm_expect(run, n <= run->lane[swarm_peer(lane)].recvs_ok, lane, UINT32_MAX,
                 "what was sent with success was received");
}

void swarm_judge_end(struct swarm_run *run)
{
    for (unsigned lane = 0; lane < run->plan->n_lanes; lane++)
        judge_delivery(run, lane);
    for (unsigned host = 0; host < SWARM_HOSTS; host++) {
        for (uint32_t place = 0; place < SWARM_PLACES; place++)
            swarm_expect(run, is_place_right(run, host, place), host, UINT32_MAX, right_bytes);
        judge_words(run, host);
    }
}
