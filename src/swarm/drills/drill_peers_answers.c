/* SPDX-License-Identifier: MIT */
/* The drill of peers: responses that the peer sends, and their effect on h1's requests. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/aeth.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/wr.h"
#include "rdmalab/memory.h"
#include "swarm/drills/drill_peers.h"

#define ANSWERS  8u
#define ENOUGH   6u /* credit code: more credits than requests are posted */
#define GO_BACKS 5u /* retransmissions in a row, fewer than retry_cnt */

static const char resumes[] =
    "what is asked is sent once, in its order, behind its fences, and again from where "
    "it was not answered";

/* --- Requests of h1 --------------------------------------------------------------------------- */

static bool fetches(const struct peer_asked *a)
{
    return a->opcode == WR_RDMA_READ || a->opcode == WR_ATOMIC_FETCH_AND_ADD;
}

/* Returns true if h1 has sent @a or part of it. */
static bool has_begun(const struct peers *s, const struct peer_asked *a)
{
    return psn_diff((struct psn){s->sent}, (struct psn){a->psn}) > 0;
}

struct peer_asked *peer_first_fetch(struct peers *s)
{
    for (uint32_t i = 0; i < s->n_asked; i++) {
        if (fetches(&s->asked[i]))
            return has_begun(s, &s->asked[i]) ? &s->asked[i] : NULL;
    }
    return NULL;
}

static uint32_t psns_before(uint32_t from, uint32_t to)
{
    return (to - from) & PSN_MASK;
}

/* Returns true if @p is the request packet of @a that must have @psn. */
static bool is_request_of(const struct peer_asked *a, uint32_t psn, const struct packet *p)
{
    const uint32_t k = psns_before(a->psn, psn), from = k * PEER_MTU;
    const bool is_last = k + 1 == a->n_psns;
    const uint32_t part = is_last ? a->bytes - from : PEER_MTU;

    if (p->bth.psn.v != psn || p->bth.dest_qpn != PEER_QPN)
        return false;
    if (a->opcode == WR_RDMA_READ)
        return p->op->kind == OPK_READ && p->reth.va == a->remote + from &&
               p->reth.dma_bytes == a->bytes - from;
    if (fetches(a))
        return p->op->kind == OPK_ATOMIC && p->atomic.va == a->remote;
    if (((p->op->headers & H_IMM) != 0) != (is_last && a->opcode == WR_RDMA_WRITE_WITH_IMM))
        return false;
    return p->op->kind == (a->opcode == WR_SEND ? OPK_SEND : OPK_WRITE) &&
           p->op->pos == (a->n_psns == 1 ? OPP_ONLY
                          : k == 0       ? OPP_FIRST
                          : is_last      ? OPP_LAST
                                         : OPP_MIDDLE) &&
           p->payload_bytes == part &&
           (part == 0 || memcmp(p->payload, a->data + from, part) == 0) &&
           (p->op->kind != OPK_WRITE || k > 0 ||
            (p->reth.va == a->remote && p->reth.dma_bytes == a->bytes));
}

/* Returns how many packets of @a credits let h1 send.  One message beyond the limit is a probe: a
 * SEND sends its first packet, a WRITE all of them, because only its last one needs a receive.
 */
static uint32_t credited(const struct peers *s, const struct peer_asked *a)
{
    const bool is_send = a->opcode == WR_SEND,
               needs = is_send || a->opcode == WR_RDMA_WRITE_WITH_IMM;
    const int32_t beyond = psn_diff((struct psn){a->ssn}, (struct psn){s->limit});

    if (!s->is_limited || !needs || beyond <= 0 || (beyond == 1 && !is_send))
        return a->n_psns;
    return beyond == 1;
}

/* Returns the PSN up to which h1 may begin to send.  A fenced request waits for earlier READs and
 * atomics, at most max_rd_atomic of those are under way, and messages wait for credits.
 */
static uint32_t sendable(const struct peers *s)
{
    uint32_t n_fetches = 0;

    for (uint32_t i = 0; i < s->n_asked; i++) {
        const struct peer_asked *a = &s->asked[i];

        if ((a->is_fenced && n_fetches > 0) || (fetches(a) && n_fetches == s->end.max_rd_atomic))
            return a->psn;
        if (psn_diff((struct psn){s->sent}, (struct psn){peer_psn(a->psn + a->n_psns)}) < 0 &&
            credited(s, a) < a->n_psns)
            return peer_psn(a->psn + credited(s, a));
        n_fetches += fetches(a);
    }
    return s->next;
}

/* Returns the request of which h1 has sent some packets and not all, because of its credits, or
 * NULL.
 */
static const struct peer_asked *in_part(const struct peers *s)
{
    for (uint32_t i = 0; i < s->n_asked; i++) {
        const uint32_t n = psns_before(s->asked[i].psn, s->sent);

        if (n > 0 && n < s->asked[i].n_psns && !fetches(&s->asked[i]))
            return &s->asked[i];
    }
    return NULL;
}

/* Updates the PSN up to which h1 has sent.  What was sent once is sent again, whatever became of
 * the credits.  In SQD a request that has begun goes on.
 */
static void send_more(struct peers *s)
{
    const struct peer_asked *a = in_part(s);
    const struct psn sent = {s->sent}, end = {a ? peer_psn(a->psn + a->n_psns) : s->sent};
    struct psn to = {sendable(s)};

    if (s->is_paused && psn_diff(to, end) > 0)
        to = end;
    if (psn_diff(to, sent) > 0)
        s->sent = to.v;
}

/* Checks that h1 has sent everything that it may send from PSN @from on, once, and nothing else. */
static bool was_sent(struct drill *d, uint32_t from)
{
    struct peers *s = d->own;
    uint32_t psn = from, i = 0;

    send_more(s);
    for (uint32_t k = 0; k < s->n_asked && psn != s->sent && !d->wrong; k++) {
        const struct peer_asked *a = &s->asked[k];
        const uint32_t behind = peer_psn(a->psn + a->n_psns);

        if (psns_before(a->psn, psn) >= a->n_psns)
            continue;
        while (psn != behind && psn != s->sent && !d->wrong) {
            struct packet p;

            if (!drill_expect(d, i < s->n_seen, resumes, "only %u packets", i) ||
                !peer_seen(d, i++, &p) ||
                !drill_expect(d, is_request_of(a, psn, &p), resumes,
                              "%s, psn %u, where psn %u was due", p.op->name, p.bth.psn.v, psn))
                return false;
            psn = fetches(a) ? behind : peer_psn(psn + 1);
        }
    }
    return drill_expect(d, i == s->n_seen, resumes, "%u packets, not %u", s->n_seen, i);
}

bool peer_sends_again(struct drill *d)
{
    const struct peers *s = d->own;

    return was_sent(d, s->una);
}

bool peer_sends_what_is_due(struct drill *d)
{
    const struct peers *s = d->own;

    return was_sent(d, s->sent);
}

/* Returns true if @a, the oldest request, is complete.  A request without packets completes when it
 * is the oldest, but not in SQD.
 */
static bool is_done(const struct peers *s, const struct peer_asked *a)
{
    return a->n_psns == 0 ? !s->is_paused : psns_before(a->psn, s->una) >= a->n_psns;
}

static bool complete(struct drill *d)
{
    struct peers *s = d->own;
    struct rdl_wc wc;

    while (s->n_asked > 0 && is_done(s, &s->asked[0])) {
        const struct peer_asked *a = &s->asked[0];

        if (!peer_completes(d, a->wr_id, WCS_SUCCESS, &wc) ||
            !drill_expect(d, wc.opcode == (uint32_t)wr_completes_as(a->opcode),
                          "a completion names its operation", "another"))
            return false;
        memmove(s->asked, s->asked + 1, (PEER_ASKED - 1) * sizeof(*a));
        s->n_asked--;
    }
    return true;
}

bool peer_progress(struct drill *d, uint32_t psn)
{
    struct peers *s = d->own;

    if (psn == s->una)
        return true;
    s->una = psn;
    s->go_backs = 0;
    s->was_implied = false;
    return complete(d);
}

/* Adds a request to the model. */
static struct peer_asked *add_asked(struct drill *d, uint32_t opcode, uint32_t bytes,
                                    uint32_t n_psns)
{
    struct peers *s = d->own;
    struct peer_asked *a = &s->asked[s->n_asked];

    *a = (struct peer_asked){.opcode = opcode,
                             .bytes = bytes,
                             .at = 3900 * s->n_asked + drill_below(d, 2800),
                             .wr_id = ++s->wr_id,
                             .remote = prng_next(&d->rng) & 0xfffffffffff8u,
                             .psn = s->next,
                             .n_psns = n_psns,
                             .lkey = s->key};
    memcpy(a->data, s->room + a->at, bytes);
    s->next = peer_psn(s->next + n_psns);
    s->ssn = peer_psn(s->ssn + (n_psns > 0));
    a->ssn = s->ssn;
    s->n_asked++;
    return a;
}

static bool post_asked(struct drill *d, const struct peer_asked *a)
{
    struct peers *s = d->own;
    const struct rdl_sge sge = {s->base + a->at, a->bytes, a->lkey};
    const struct rdl_send_wr wr = {.wr_id = a->wr_id,
                                   .opcode = a->opcode,
                                   .flags = SF_SIGNALED | (a->is_fenced ? SF_FENCE : 0u),
                                   .sge = &sge,
                                   .n_sge = a->opcode == WR_LOCAL_INV ? 0 : 1,
                                   .remote_addr = a->remote,
                                   .rkey = 0x1234,
                                   .invalidate_rkey = a->lkey};

    drill_say(d, "# post_send h1.q wr_id=%u op=%s sge=mine[%u:%u] signaled%s", (unsigned)a->wr_id,
              enum_name(&enum_send_opcode, a->opcode), a->at, a->at + a->bytes,
              a->is_fenced ? " fence" : "");
    return drill_works(d, rdl_post_send(d->lab, s->end.qp, &wr, false), "a request can be posted");
}

static bool post(struct drill *d)
{
    static const uint32_t opcodes[] = {WR_SEND, WR_RDMA_WRITE, WR_RDMA_WRITE_WITH_IMM, WR_RDMA_READ,
                                       WR_ATOMIC_FETCH_AND_ADD};
    const uint32_t opcode = opcodes[drill_below(d, ARRAY_LEN(opcodes))];
    const bool is_atomic = opcode == WR_ATOMIC_FETCH_AND_ADD;
    const uint32_t bytes = is_atomic ? PEER_WORD : drill_below(d, PEER_MESSAGE);
    struct peer_asked *a = add_asked(d, opcode, bytes, is_atomic ? 1 : peer_packets(bytes));

    a->is_fenced = drill_one_in(d, 3);
    return post_asked(d, a);
}

/* --- Requests with a key that is invalidated -------------------------------------------------- */

/* Creates a valid fast region over all of h1's memory. */
static bool add_fast_region(struct drill *d, rdl_mr *ret, uint32_t *ret_key)
{
    struct peers *s = d->own;
    const struct rdl_mr_range range = {s->base, PEER_ROOM, s->base};
    struct rdl_send_wr wr = {.opcode = WR_REG_MR, .flags = SF_SIGNALED, .wr_id = ++s->wr_id};
    struct rdl_mr_info info;
    struct rdl_wc wc;

    if (!drill_is_done(d, s->host[0],
                       rdl_create_mr(d->lab, s->pd, ACC_LOCAL_WRITE, PEER_PAGES, "fast", ret),
                       "a fast region can be created") ||
        !drill_is_done(d, s->host[0], rdl_map_mr_sg(d->lab, *ret, &range), "pages can be mapped") ||
        !drill_works(d, rdl_mr_info(d->lab, *ret, &info), "a region has a key"))
        return false;
    wr.reg.mr = *ret;
    wr.reg.key = *ret_key = info.lkey;
    wr.reg.access = ACC_LOCAL_WRITE;
    return drill_works(d, rdl_post_send(d->lab, s->end.qp, &wr, false),
                       "a request can be posted") &&
           drill_settle(d) && peer_completes(d, wr.wr_id, WCS_SUCCESS, &wc);
}

/* Posts a READ that uses @key as its lkey, and then a LOCAL_INV of that key, which must wait for
 * the READ.
 */
static bool post_with_key(struct drill *d, uint32_t key)
{
    const uint32_t bytes = 1 + drill_below(d, PEER_MESSAGE - 1);
    struct peer_asked *a = add_asked(d, WR_RDMA_READ, bytes, peer_packets(bytes));

    a->lkey = key;
    if (!post_asked(d, a))
        return false;
    a = add_asked(d, WR_LOCAL_INV, 0, 0);
    a->lkey = key;
    return post_asked(d, a);
}

/* Posts an atomic whose buffer is not exactly one word, which must fail. */
static void post_wrong(struct drill *d)
{
    struct peers *s = d->own;
    const uint32_t bytes =
        drill_one_in(d, 2) ? PEER_WORD + 1 + drill_below(d, 20) : drill_below(d, PEER_WORD);
    struct peer_asked *a = add_asked(d, WR_ATOMIC_FETCH_AND_ADD, bytes, 1);
    struct rdl_wc wc;

    s->n_seen = 0;
    if (post_asked(d, a) && drill_settle(d) &&
        drill_expect(d, s->n_seen == 0, "what is wrong is not sent", "%u packets", s->n_seen) &&
        peer_completes(d, a->wr_id, WCS_LOC_LEN_ERR, &wc))
        (void)peer_failed(d, 0, 1);
}

/* --- Responses of the peer -------------------------------------------------------------------- */

/* Draws credits and an MSN for an answer of the peer.  Returns the syndrome of an ACK with them. */
static uint8_t draw_credits(struct drill *d)
{
    struct peers *s = d->own;
    const uint32_t done = s->n_asked > 0 ? s->asked[0].ssn - 1 : s->ssn;

    s->told_msn = peer_psn(done + drill_below(d, 4) - 1);
    s->told_code = s->grants_all ? ENOUGH : drill_below(d, ENOUGH);
    if (!s->end.credits || drill_one_in(d, 5))
        s->told_code = PEER_CREDITS_OFF;
    return (uint8_t)s->told_code;
}

bool peer_learns(struct peers *s)
{
    static const uint8_t credits[] = {0, 1, 2, 3, 4, 6, [ENOUGH] = 8};
    uint32_t limit;

    s->is_limited = s->end.credits && s->told_code != PEER_CREDITS_OFF;
    if (!s->is_limited)
        return true;
    limit = peer_psn(s->told_msn + credits[s->told_code]);
    if (psn_diff((struct psn){limit}, (struct psn){s->limit}) > 0) /* a limit never shrinks */
        s->limit = limit;
    return true;
}

bool peer_ack_on(struct drill *d, uint8_t syndrome, uint32_t psn)
{
    struct peers *s = d->own;
    struct packet p = s->like;

    p.bth.opcode = OP_RC_ACKNOWLEDGE;
    p.op = op_info(p.bth.opcode);
    p.bth.psn.v = psn;
    p.aeth.syndrome = syndrome == PEER_CREDITS_OFF ? draw_credits(d) : syndrome;
    p.aeth.msn = syndrome == PEER_CREDITS_OFF ? s->told_msn : drill_below(d, 1000);
    return peer_send_on(d, &p, NULL);
}

bool peer_ack(struct drill *d, uint8_t syndrome, uint32_t psn)
{
    return peer_ack_on(d, syndrome, psn) && drill_settle(d);
}

uint32_t peer_plain_psns(struct peers *s)
{
    const struct peer_asked *f = peer_first_fetch(s);

    if (!f)
        return psns_before(s->una, s->sent);
    return f->n_answered > 0 ? 0 : psns_before(s->una, f->psn);
}

/* Acknowledges a PSN that is not outstanding.  h1 must ignore it. */
static void answer_ghost(struct drill *d)
{
    static const uint8_t syndromes[] = {PEER_CREDITS_OFF, 0x60, 0x61, 0x62, 0x63, 0x25};
    struct peers *s = d->own;
    const uint32_t by = 1 + drill_below(d, 20);
    const uint32_t psn = peer_psn(drill_one_in(d, 2) ? s->sent - 1 + by : s->una - by);

    const uint8_t syndrome = syndromes[drill_below(d, ARRAY_LEN(syndromes))];

    if (!peer_ack(d, syndrome, psn))
        return;
    /* With credits, an ACK of the last acknowledged PSN is none: it announces receives. */
    if (syndrome == PEER_CREDITS_OFF && s->end.credits && psn == peer_psn(s->una - 1))
        peer_learns(s);
    if (peer_sends_what_is_due(d))
        (void)peer_is_calm(d);
}

/* Acknowledges some packets. */
static void answer_ack(struct drill *d)
{
    struct peers *s = d->own;
    const uint32_t n = peer_plain_psns(s);
    uint32_t psn;

    if (n == 0)
        return;
    psn = peer_psn(s->una + drill_below(d, n));
    if (peer_ack(d, PEER_CREDITS_OFF, psn) && peer_learns(s) &&
        peer_progress(d, peer_psn(psn + 1)) && peer_sends_what_is_due(d))
        (void)peer_is_calm(d);
}

uint64_t peer_rnr_ns(uint8_t code)
{
    static const uint16_t units[] = {65535, 1,    2,    3,     4,     6,     8,     12,
                                     16,    24,   32,   48,    64,    96,    128,   192,
                                     256,   384,  512,  768,   1024,  1536,  2048,  3072,
                                     4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};

    return code == 0 ? UINT64_C(655360000) : units[code] * UINT64_C(10000);
}

/* Sends a NAK that makes h1 retransmit: an RNR NAK, or a PSN sequence error. */
static void answer_again(struct drill *d, bool rnr)
{
    struct peers *s = d->own;
    const uint32_t psn = peer_psn(s->una + drill_below(d, peer_plain_psns(s) + 1));
    const uint8_t code = (uint8_t)drill_below(d, 32);
    const uint64_t wait = rnr ? peer_rnr_ns(code) : 0;

    if (psn == s->sent || s->go_backs == GO_BACKS ||
        !peer_ack(d, rnr ? (uint8_t)(0x20 | code) : 0x60, psn) || !peer_progress(d, psn) ||
        !peer_sends_again(d))
        return;
    s->go_backs = rnr ? 0 : s->go_backs + 1;
    s->was_implied = rnr && s->was_implied;
    drill_expect(d,
                 s->seen[0].at_ns >= s->injected_ns + wait &&
                     s->seen[0].at_ns <= s->injected_ns + wait + PEER_LATE_NS,
                 "after an RNR NAK it waits as long as that says, and not otherwise",
                 "%llu ns, not %llu", (unsigned long long)(s->seen[0].at_ns - s->injected_ns),
                 (unsigned long long)wait);
    (void)peer_is_calm(d);
}

/* Sends a NAK that moves the queue pair to ERR. */
static void answer_fatal(struct drill *d)
{
    static const struct {
        uint8_t syndrome;
        uint32_t status;
    } ends[] = {{0x61, WCS_REM_INV_REQ_ERR}, {0x62, WCS_REM_ACCESS_ERR}, {0x63, WCS_REM_OP_ERR}};
    struct peers *s = d->own;
    const uint32_t pick = drill_below(d, ARRAY_LEN(ends));
    const uint32_t psn = peer_psn(s->una + drill_below(d, peer_plain_psns(s) + 1));
    struct rdl_wc wc;

    if (psn == s->sent || !peer_ack(d, ends[pick].syndrome, psn) || !peer_progress(d, psn) ||
        !peer_sends_what_is_due(d) || !peer_completes(d, s->asked[0].wr_id, ends[pick].status, &wc))
        return;
    (void)peer_failed(d, 0, 1);
}

/* Sends response packet @k of @a. */
static bool send_response(struct drill *d, struct peer_asked *a, uint32_t k)
{
    struct peers *s = d->own;
    struct packet p = s->like;
    const uint32_t from = k * PEER_MTU;
    const bool is_last = k + 1 == a->n_psns;

    p.bth.psn.v = peer_psn(a->psn + k);
    p.aeth.syndrome = draw_credits(d);
    p.aeth.msn = s->told_msn;
    if (a->opcode == WR_RDMA_READ) {
        p.bth.opcode =
            is_last ? (k == 0 ? OP_RC_RDMA_READ_RESPONSE_ONLY : OP_RC_RDMA_READ_RESPONSE_LAST)
                    : (k == 0 ? OP_RC_RDMA_READ_RESPONSE_FIRST : OP_RC_RDMA_READ_RESPONSE_MIDDLE);
        p.payload_bytes = is_last ? a->bytes - from : PEER_MTU;
    } else {
        p.bth.opcode = OP_RC_ATOMIC_ACKNOWLEDGE;
        p.atomic_ack = ld_le64(a->data);
    }
    p.op = op_info(p.bth.opcode);
    return peer_send(d, &p, a->data + from);
}

/* Sends the next response packet of the first READ, or the response of the first atomic. */
static void answer_fetch(struct drill *d)
{
    struct peers *s = d->own;
    struct peer_asked *a = peer_first_fetch(s);
    uint32_t k, from, part;

    if (!a)
        return;
    if (a->n_answered == 0) {
        for (uint32_t i = 0; i < a->bytes; i++)
            a->data[i] = (uint8_t)prng_next(&d->rng);
    }
    k = a->n_answered;
    from = k * PEER_MTU;
    part = k + 1 == a->n_psns ? a->bytes - from : PEER_MTU;
    if (!send_response(d, a, k))
        return;
    memcpy(s->room + a->at + from, a->data + from, part);
    a->n_answered++;
    if (a->opcode != WR_RDMA_READ || k == 0 || k + 1 == a->n_psns) /* a MIDDLE has no AETH */
        peer_learns(s);
    if (peer_progress(d, peer_psn(a->psn + k + 1)) && peer_sends_what_is_due(d))
        (void)peer_is_calm(d);
}

/* Moves the queue pair to SQD, or back to RTS once everything sent is answered.  In SQD requests
 * that have not started wait.
 */
static bool pause(struct drill *d, bool is_paused)
{
    struct peers *s = d->own;
    struct rdl_qp_attr a = {0};

    if (s->is_paused == is_paused || (!is_paused && (s->una != s->sent || in_part(s))))
        return true;
    drill_say(d, "modify_qp h1.q state=%s", is_paused ? "SQD" : "RTS");
    s->n_seen = 0;
    s->is_paused = is_paused;
    return rig_modify(d, &s->end, &a, is_paused ? QPS_SQD : QPS_RTS, 0) && drill_settle(d) &&
           peer_sends_what_is_due(d) && complete(d);
}

/* Skips one READ response, which tells h1 that the one before was lost. */
static void answer_hole(struct drill *d)
{
    struct peers *s = d->own;
    struct peer_asked *a = peer_first_fetch(s);

    if (!a || a->n_answered + 1 >= a->n_psns || a->n_answered == 0 || s->go_backs == GO_BACKS ||
        !send_response(d, a, a->n_answered + 1))
        return;
    if (s->was_implied ? !peer_sends_what_is_due(d) : !peer_sends_again(d))
        return;
    s->go_backs += !s->was_implied;
    s->was_implied = true;
    (void)peer_is_calm(d);
}

/* Sends all missing responses in order, without limits.  A SEND whose first packet was a probe goes
 * on when an ACK of the last acknowledged PSN grants the rest.
 */
static void answer_all(struct drill *d)
{
    struct peers *s = d->own;

    s->grants_all = true;
    while (pause(d, false) && s->n_asked > 0 && !d->wrong) {
        if (fetches(&s->asked[0])) {
            answer_fetch(d);
        } else {
            const uint32_t sent = psns_before(s->una, s->sent), n = peer_plain_psns(s);
            const uint32_t psn = peer_psn(s->una + (sent > 0 ? n : 0) - 1);

            if (peer_ack(d, PEER_CREDITS_OFF, psn) && peer_learns(s) &&
                peer_progress(d, peer_psn(psn + 1)))
                (void)peer_sends_what_is_due(d);
        }
    }
    s->grants_all = false;
}

static void answer(struct drill *d)
{
    switch (drill_below(d, 18)) {
    case 0:
    case 1:
        answer_ghost(d);
        break;
    case 2:
    case 3:
    case 4:
        answer_ack(d);
        break;
    case 5:
        answer_fatal(d);
        break;
    case 16:
        peer_answers_wrong(d);
        break;
    case 17:
        (void)pause(d, drill_one_in(d, 3) ? false : true);
        break;
    case 6:
    case 7:
        answer_again(d, false);
        break;
    case 8:
    case 9:
        answer_again(d, true);
        break;
    case 10:
        peer_answers_in_wait(d);
        break;
    case 11:
        answer_hole(d);
        break;
    default:
        answer_fetch(d);
        break;
    }
}

/* Posts some requests and checks that h1 sends those that it may send. */
static bool post_some(struct drill *d, const uint32_t *key)
{
    struct peers *s = d->own;
    const uint32_t n = 1 + drill_below(d, key ? 2 : 3);

    for (uint32_t i = 0; i < n; i++) {
        if (!post(d))
            return false;
    }
    return (!key || post_with_key(d, *key)) && drill_settle(d) && peer_sends_what_is_due(d) &&
           s->n_asked > 0;
}

static void answer_some(struct drill *d)
{
    struct peers *s = d->own;

    for (uint32_t i = 0; i < ANSWERS && s->n_asked > 0 && !d->wrong; i++)
        answer(d);
    answer_all(d);
    (void)peer_is_calm(d);
}

void peer_answers(struct drill *d)
{
    struct peers *s = d->own;
    const bool has_key = drill_one_in(d, 5);
    uint32_t key;
    rdl_mr mr;

    if (drill_one_in(d, 12)) {
        post_wrong(d);
        return;
    }
    if (has_key && !add_fast_region(d, &mr, &key))
        return;
    s->n_seen = 0;
    if (!has_key && drill_one_in(d, 4) && !pause(d, true))
        return;
    if (post_some(d, has_key ? &key : NULL))
        answer_some(d);
    if (has_key && !d->wrong)
        drill_is_done(d, s->host[0], rdl_dereg_mr(d->lab, mr), "a region can be given back");
}
