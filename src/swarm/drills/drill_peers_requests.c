/* SPDX-License-Identifier: MIT */
/* The drill of peers: requests that the peer sends, and h1's responses to them. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/aeth.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "swarm/drills/drill_peers.h"

#define RECV_BYTES 600u
#define AHEAD      5u /* PSNs beyond the expected one */
/* Half of all PSNs: those before the expected one are duplicates, the others are ahead of it. */
#define HALF 0x800000u

/* The error in a request. */
enum fault_of {
    NOTHING,
    OUT_OF_ORDER, /* not the next packet of its message */
    BAD_LENGTH,   /* of the payload */
    BAD_KEY,
    BAD_RANGE,
    BAD_TOTAL, /* the payload of a WRITE does not match the length in its RETH */
    UNALIGNED, /* an atomic */
    BAD_PAD,
    BARRED, /* the access flags of the queue pair forbid it */
    FAULTS
};

/* --- Responses of h1 -------------------------------------------------------------------------- */

/* Returns the credits that an ACK of h1 announces: its receives, rounded down to a number that has
 * a code.
 */
static uint32_t credits_of(const struct peers *s)
{
    static const uint8_t codes[] = {0, 1, 2, 3, 4, 4, 5, 5, 6};
    const uint32_t n = s->n_recvs - s->is_taking;

    RDL_ASSERT(n < ARRAY_LEN(codes));
    return s->end.credits ? codes[n] : PEER_CREDITS_OFF;
}

bool peer_has_credits(struct drill *d, const struct packet *p)
{
    const struct peers *s = d->own;

    return drill_expect(d, !(p->op->headers & H_AETH) || p->aeth.syndrome == credits_of(s),
                        "an ACK announces the receives of its queue pair, if that was agreed",
                        "syndrome 0x%02x, not 0x%02x", p->aeth.syndrome, credits_of(s));
}

/* Checks that h1 sent exactly one packet: an acknowledgment of @kind for @psn. */
static bool says(struct drill *d, enum syndrome kind, uint32_t psn)
{
    struct peers *s = d->own;
    struct packet p = {0};

    return drill_expect(d, s->n_seen == 1, "a request that asks for an answer has one",
                        "%u answers", s->n_seen) &&
           peer_seen(d, 0, &p) &&
           drill_expect(d, p.op->kind == OPK_ACK && aeth_unpack(p.aeth.syndrome).kind == kind,
                        "a request is answered as its rule says", "%s, syndrome 0x%02x, not %s",
                        p.op->name, p.aeth.syndrome, enum_name(&enum_syndrome, kind)) &&
           drill_expect(d, p.bth.psn.v == psn && p.aeth.msn == peer_psn(s->msn),
                        "an answer has the PSN it is about, and counts messages",
                        "psn %u, msn %u, not %u, %u", p.bth.psn.v, p.aeth.msn, psn,
                        peer_psn(s->msn)) &&
           (kind != SYN_ACK || peer_has_credits(d, &p)) &&
           drill_expect(d, kind != SYN_RNR_NAK || (p.aeth.syndrome & 0x1fu) == s->end.min_rnr_timer,
                        "an RNR NAK says how long to wait", "code %u, not %u",
                        p.aeth.syndrome & 0x1fu, s->end.min_rnr_timer) &&
           drill_expect(d, p.bth.dest_qpn == PEER_QPN, "an answer goes to who asked", "QPN 0x%x",
                        p.bth.dest_qpn);
}

static bool says_nothing(struct drill *d)
{
    struct peers *s = d->own;

    return drill_expect(d, s->n_seen == 0, "what nobody must answer is not answered", "%u packets",
                        s->n_seen);
}

/* Returns the status of the receive that tells of the refusal of @p.  WCS_SUCCESS: none does, and
 * h1 raises an event.
 */
static uint32_t told_by_receive(const struct peers *s, const struct packet *p, enum syndrome kind)
{
    if (kind == SYN_NAK_INVALID_REQUEST)
        return s->open == OPK_SEND ? WCS_REM_INV_REQ_ERR : WCS_SUCCESS;
    return p->op->kind == OPK_WRITE && p->op->headers & H_IMM && s->n_recvs > 0 ? WCS_LOC_ACCESS_ERR
                                                                                : WCS_SUCCESS;
}

/* Checks that h1 refuses the request @p with a NAK, tells its program by a receive or an event, and
 * moves the queue pair to ERR.
 */
static void refuses(struct drill *d, const struct packet *p, enum syndrome kind, enum fault_of f)
{
    struct peers *s = d->own;
    const bool is_malformed = f == OUT_OF_ORDER || f == BAD_LENGTH || f == BAD_PAD;
    const uint32_t status = told_by_receive(s, p, kind);
    struct rdl_wc wc;

    if (!says(d, kind, s->expected) ||
        !peer_event(d, status == WCS_SUCCESS, is_malformed ? ASE_QP_REQ_ERR : ASE_QP_ACCESS_ERR))
        return;
    if (status == WCS_SUCCESS || peer_completes(d, s->recv[0].wr_id, status, &wc))
        (void)peer_failed(d, status != WCS_SUCCESS, 0);
}

/* --- Execution -------------------------------------------------------------------------------- */

struct peer_taken *peer_remember(struct peers *s, const struct packet *p, uint32_t n_psns)
{
    struct peer_taken *t = &s->taken[s->n_taken++ % PEER_TAKEN];

    t->p = *p;
    t->n_psns = n_psns;
    return t;
}

void peer_advance(struct peers *s, uint32_t n_psns, bool ends)
{
    s->expected = peer_psn(s->expected + n_psns);
    s->msn += ends;
    s->has_told_gap = s->has_told_rnr = false;
}

static bool ends_message(const struct packet *p)
{
    return p->op->pos == OPP_LAST || p->op->pos == OPP_ONLY;
}

/* Checks the completion of the first receive, which a whole message has consumed. */
static bool completes_receive(struct drill *d, const struct packet *p)
{
    struct peers *s = d->own;
    const bool is_write = p->op->kind == OPK_WRITE, has_imm = p->op->headers & H_IMM;
    struct rdl_wc wc;

    if (!peer_completes(d, s->recv[0].wr_id, WCS_SUCCESS, &wc))
        return false;
    memmove(s->recv, s->recv + 1, (PEER_RECVS - 1) * sizeof(s->recv[0]));
    s->n_recvs--;
    return drill_expect(
        d,
        wc.opcode == (is_write ? (uint32_t)WC_RECV_RDMA_WITH_IMM : (uint32_t)WC_RECV) &&
            wc.byte_len == s->got && wc.wc_flags == (has_imm ? (uint32_t)WCF_WITH_IMM : 0) &&
            (!has_imm || memcmp(wc.imm, p->imm_data, 4) == 0),
        "a receive tells what came", "%u bytes, flags 0x%x", wc.byte_len, wc.wc_flags);
}

static void take_part(struct drill *d, const struct packet *p, const uint8_t *payload)
{
    struct peers *s = d->own;
    const bool is_write = p->op->kind == OPK_WRITE, ends = ends_message(p);
    const bool takes_recv = ends && (!is_write || p->op->headers & H_IMM);

    if (p->payload_bytes > 0)
        memcpy(s->room + (is_write ? s->to : s->recv[0].at + s->got), payload, p->payload_bytes);
    s->got += p->payload_bytes;
    s->to += p->payload_bytes;
    s->left -= is_write ? p->payload_bytes : 0;
    peer_remember(s, p, 1);
    peer_advance(s, 1, ends);
    s->open = ends ? OPK_NONE : p->op->kind;
    s->acked = p->bth.psn.v;
    s->is_taking = takes_recv;
    if (p->bth.ack_req ? !says(d, SYN_ACK, p->bth.psn.v) : !says_nothing(d))
        return;
    s->is_taking = false;
    if (takes_recv && !completes_receive(d, p))
        return;
    (void)peer_is_calm(d);
}

bool peer_was_answered(struct drill *d, const struct peer_taken *t, uint32_t *i)
{
    struct peers *s = d->own;
    const uint32_t at = (uint32_t)(t->p.reth.va - s->base);

    for (uint32_t k = 0; k < t->n_psns; k++) {
        const uint32_t from = k * PEER_MTU,
                       part = k + 1 == t->n_psns ? t->p.reth.dma_bytes - from : PEER_MTU;
        const bool is_read = t->p.op->kind == OPK_READ;
        struct packet p;

        if (!drill_expect(d, *i < s->n_seen, "each READ and atomic is answered", "%u packets",
                          s->n_seen) ||
            !peer_seen(d, (*i)++, &p) || !peer_has_credits(d, &p) ||
            !drill_expect(
                d,
                p.bth.psn.v == peer_psn(t->p.bth.psn.v + k) &&
                    (is_read ? p.op->kind == OPK_READ_RESPONSE && p.payload_bytes == part &&
                                   (part == 0 || memcmp(p.payload, s->room + at + from, part) == 0)
                             : p.op->kind == OPK_ATOMIC_ACK && p.atomic_ack == t->found),
                "READs and atomics are answered in their order", "%s, psn %u", p.op->name,
                p.bth.psn.v))
            return false;
    }
    return true;
}

struct peer_taken *peer_takes_fetch(struct drill *d, const struct packet *p)
{
    struct peers *s = d->own;
    const bool is_read = p->op->kind == OPK_READ;
    struct peer_taken *t = peer_remember(s, p, is_read ? peer_packets(p->reth.dma_bytes) : 1);

    if (!is_read) {
        uint8_t *word = s->room + (p->atomic.va - s->base);

        t->found = ld_le64(word);
        if (p->bth.opcode == OP_RC_FETCH_ADD)
            st_le64(word, t->found + p->atomic.swap_add);
        else if (t->found == p->atomic.compare)
            st_le64(word, p->atomic.swap_add);
    }
    peer_advance(s, t->n_psns, true);
    return t;
}

/* Checks the responses to @t, of which nothing else may have been sent. */
static void check_answers(struct drill *d, const struct peer_taken *t)
{
    struct peers *s = d->own;
    uint32_t i = 0;

    if (peer_was_answered(d, t, &i) &&
        drill_expect(d, i == s->n_seen, "a READ or an atomic has as many responses as it takes",
                     "%u, not %u", s->n_seen, i))
        (void)peer_is_calm(d);
}

/* --- Requests in sequence --------------------------------------------------------------------- */

static uint8_t code_of(enum op_kind kind, enum op_position pos, bool imm)
{
    static const uint8_t sends[] = {[OPP_FIRST] = OP_RC_SEND_FIRST,
                                    [OPP_MIDDLE] = OP_RC_SEND_MIDDLE,
                                    [OPP_LAST] = OP_RC_SEND_LAST,
                                    [OPP_ONLY] = OP_RC_SEND_ONLY};
    static const uint8_t writes[] = {[OPP_FIRST] = OP_RC_RDMA_WRITE_FIRST,
                                     [OPP_MIDDLE] = OP_RC_RDMA_WRITE_MIDDLE,
                                     [OPP_LAST] = OP_RC_RDMA_WRITE_LAST,
                                     [OPP_ONLY] = OP_RC_RDMA_WRITE_ONLY};

    if (imm && pos == OPP_LAST)
        return kind == OPK_SEND ? OP_RC_SEND_LAST_WITH_IMM : OP_RC_RDMA_WRITE_LAST_WITH_IMM;
    if (imm && pos == OPP_ONLY)
        return kind == OPK_SEND ? OP_RC_SEND_ONLY_WITH_IMM : OP_RC_RDMA_WRITE_ONLY_WITH_IMM;
    return kind == OPK_SEND ? sends[pos] : writes[pos];
}

void peer_set_code(struct packet *p, uint8_t code)
{
    p->bth.opcode = code;
    p->op = op_info(code);
}

/* Draws the next packet of the unfinished message, or the first packet of a new one. */
static void draw_part(struct drill *d, struct packet *p)
{
    struct peers *s = d->own;
    const bool imm = drill_one_in(d, 3);
    enum op_kind kind = s->open;
    enum op_position pos;

    if (kind == OPK_NONE) {
        kind = drill_one_in(d, 2) ? OPK_SEND : OPK_WRITE;
        pos = drill_one_in(d, 2) ? OPP_ONLY : OPP_FIRST;
        p->reth.dma_bytes = pos == OPP_ONLY ? drill_below(d, 5) * drill_below(d, PEER_MTU / 4 + 1)
                                            : PEER_MTU + 1 + drill_below(d, 600);
        p->reth.rkey = s->key;
        p->reth.va = s->base + drill_below(d, PEER_ROOM - p->reth.dma_bytes);
    } else if (kind == OPK_WRITE) {
        pos = s->left > PEER_MTU ? OPP_MIDDLE : OPP_LAST;
    } else {
        pos = drill_one_in(d, 2) ? OPP_MIDDLE : OPP_LAST;
    }
    peer_set_code(p, code_of(kind, pos, imm));
    if (pos == OPP_FIRST || pos == OPP_MIDDLE)
        p->payload_bytes = PEER_MTU;
    else if (kind == OPK_WRITE)
        p->payload_bytes = pos == OPP_ONLY ? p->reth.dma_bytes : s->left;
    else
        p->payload_bytes =
            pos == OPP_ONLY ? drill_below(d, PEER_MTU + 1) : 1 + drill_below(d, PEER_MTU);
}

static void draw_fetch(struct drill *d, struct packet *p)
{
    struct peers *s = d->own;

    if (drill_one_in(d, 2)) {
        peer_set_code(p, OP_RC_RDMA_READ_REQUEST);
        p->reth.dma_bytes = drill_below(d, PEER_MESSAGE);
        p->reth.rkey = s->key;
        p->reth.va = s->base + drill_below(d, PEER_ROOM - p->reth.dma_bytes);
        return;
    }
    peer_set_code(p, drill_one_in(d, 2) ? OP_RC_FETCH_ADD : OP_RC_COMPARE_SWAP);
    p->atomic.rkey = s->key;
    p->atomic.va = s->base + (uint64_t)drill_below(d, PEER_ROOM / PEER_WORD) * PEER_WORD;
    p->atomic.swap_add = prng_next(&d->rng);
    p->atomic.compare =
        drill_one_in(d, 2) ? ld_le64(s->room + (p->atomic.va - s->base)) : prng_next(&d->rng);
}

static bool is_fetch(const struct packet *p)
{
    return p->op->kind == OPK_READ || p->op->kind == OPK_ATOMIC;
}

static bool begins(const struct packet *p)
{
    return p->op->pos == OPP_FIRST || p->op->pos == OPP_ONLY;
}

/* Puts an error into @p and returns it.  Returns NOTHING if the error that was drawn does not
 * apply.
 */
static enum fault_of spoil(struct drill *d, struct packet *p)
{
    struct peers *s = d->own;
    const enum fault_of f = (enum fault_of)(1 + drill_below(d, BAD_PAD));
    const bool names_memory = p->op->kind != OPK_SEND && begins(p);
    const bool is_whole = p->op->kind == OPK_WRITE && ends_message(p);

    if (f == OUT_OF_ORDER && s->open == OPK_NONE && !is_fetch(p)) {
        peer_set_code(p, code_of(p->op->kind, drill_one_in(d, 2) ? OPP_LAST : OPP_MIDDLE, false));
        p->payload_bytes = p->op->pos == OPP_MIDDLE ? PEER_MTU : 1 + drill_below(d, PEER_MTU);
    } else if (f == OUT_OF_ORDER && s->open != OPK_NONE && drill_one_in(d, 2)) {
        p->payload_bytes = 0;
        draw_fetch(d, p);
    } else if (f == OUT_OF_ORDER && s->open != OPK_NONE) {
        peer_set_code(p,
                      code_of(p->op->kind == OPK_SEND ? OPK_WRITE : OPK_SEND, p->op->pos, false));
    } else if (f == BAD_LENGTH && !is_fetch(p) && p->op->pos != OPP_ONLY) {
        p->payload_bytes = p->op->pos == OPP_LAST ? PEER_MTU + 4 : PEER_MTU - 1 - drill_below(d, 9);
    } else if (f == BAD_KEY && names_memory) {
        const uint32_t other = 1 + drill_below(d, 255);

        p->reth.rkey ^= other;
        p->atomic.rkey ^= other;
    } else if (f == BAD_RANGE && names_memory && p->op->kind != OPK_ATOMIC) {
        p->reth.va = drill_one_in(d, 2) ? s->base - 1 : s->base + PEER_ROOM - p->reth.dma_bytes + 1;
    } else if (f == BAD_TOTAL && p->op->kind == OPK_WRITE && p->op->pos == OPP_FIRST) {
        p->reth.dma_bytes = drill_below(d, PEER_MTU);
    } else if (f == BAD_TOTAL && p->op->kind == OPK_WRITE && p->op->pos == OPP_LAST &&
               s->left < PEER_MTU && drill_one_in(d, 2)) {
        peer_set_code(p, OP_RC_RDMA_WRITE_MIDDLE);
        p->payload_bytes = PEER_MTU;
    } else if (f == BAD_TOTAL && is_whole && p->payload_bytes > 1) {
        p->payload_bytes--;
    } else if (f == UNALIGNED && p->op->kind == OPK_ATOMIC) {
        p->atomic.va += 1 + drill_below(d, PEER_WORD - 1);
    } else if (f == BAD_PAD && !is_fetch(p) && ends_message(p) && p->payload_bytes >= 4) {
        p->payload_bytes &= ~3u;
        p->reth.dma_bytes = p->payload_bytes - 1;
        s->cut = 1;
    } else {
        return NOTHING;
    }
    return f;
}

/* Returns true if the queue pair's access flags forbid the operation of @p. */
static bool is_barred(const struct peers *s, const struct packet *p)
{
    const uint32_t needs = p->op->kind == OPK_WRITE    ? ACC_REMOTE_WRITE
                           : p->op->kind == OPK_READ   ? ACC_REMOTE_READ
                           : p->op->kind == OPK_ATOMIC ? ACC_REMOTE_ATOMIC
                                                       : 0;

    return begins(p) && (needs & ~s->end.access) != 0;
}

/* Returns true if @f makes h1 refuse the access.  A transfer of 0 bytes succeeds with any key. */
static bool is_refused_access(enum fault_of f, const struct packet *p)
{
    return (f == BAD_KEY || f == BAD_RANGE) && (p->op->kind == OPK_ATOMIC || p->reth.dma_bytes > 0);
}

/* Returns true if @p needs a receive and none is posted. */
static bool lacks_receive(const struct peers *s, const struct packet *p)
{
    const bool needs =
        p->op->kind == OPK_SEND ? begins(p) : p->op->kind == OPK_WRITE && p->op->headers & H_IMM;

    return needs && s->n_recvs == 0;
}

static void judge_in_turn(struct drill *d, const struct packet *p, const uint8_t *payload,
                          enum fault_of f)
{
    struct peers *s = d->own;

    if (is_refused_access(f, p)) {
        refuses(d, p, SYN_NAK_REMOTE_ACCESS, f);
    } else if (f != NOTHING && f != BAD_KEY && f != BAD_RANGE) {
        refuses(d, p, SYN_NAK_INVALID_REQUEST, f);
    } else if (lacks_receive(s, p)) {
        if (says(d, SYN_RNR_NAK, p->bth.psn.v))
            s->has_told_rnr = peer_is_calm(d);
    } else if (is_fetch(p)) {
        check_answers(d, peer_takes_fetch(d, p));
    } else {
        if (begins(p)) {
            s->got = 0;
            s->to = (uint32_t)(p->reth.va - s->base);
            s->left = p->reth.dma_bytes;
        }
        if (p->op->kind == OPK_SEND && s->got + p->payload_bytes > s->recv[0].bytes) {
            struct rdl_wc wc;

            if (says(d, SYN_NAK_INVALID_REQUEST, s->expected) && peer_event(d, false, 0) &&
                peer_completes(d, s->recv[0].wr_id, WCS_LOC_LEN_ERR, &wc))
                (void)peer_failed(d, 1, 0);
            return;
        }
        take_part(d, p, payload);
    }
}

/* Returns the PSN in an ACK of a repeated SEND or WRITE.  With credits it is the last PSN of all,
 * because credits come only with the newest.
 */
static uint32_t last_acked(const struct peers *s)
{
    return s->end.credits ? peer_psn(s->expected - 1) : s->acked;
}

/* --- Requests out of sequence ----------------------------------------------------------------- */

/* Repeats an earlier request, or the rest of a READ.  Its payload differs: h1 must not write it. */
static void repeat(struct drill *d)
{
    struct peers *s = d->own;
    struct peer_taken *t;
    uint8_t other[PEER_MTU];
    struct packet p;
    uint32_t skip;

    if (s->n_taken == 0)
        return;
    t = &s->taken[drill_below(d, s->n_taken < PEER_TAKEN ? s->n_taken : PEER_TAKEN)];
    p = t->p;
    memset(other, 0x99, sizeof(other));
    skip = p.op->kind == OPK_READ ? drill_below(d, t->n_psns) : 0;
    p.bth.psn.v = peer_psn(p.bth.psn.v + skip);
    p.reth.va += (uint64_t)skip * PEER_MTU;
    p.reth.dma_bytes -= skip * PEER_MTU;
    if (!peer_send(d, &p, other))
        return;
    if (is_fetch(&p))
        check_answers(d, &(struct peer_taken){p, t->n_psns - skip, t->found});
    else if (says(d, SYN_ACK, last_acked(s))) /* even if the packet did not request an ACK */
        (void)peer_is_calm(d);
}

/* Sends a duplicate from long ago: half of the PSN space counts as duplicate. */
static void repeat_ancient(struct drill *d)
{
    struct peers *s = d->own;
    const uint32_t ago = drill_one_in(d, 2) ? HALF : 1000 + drill_below(d, HALF - 1000);
    struct packet p = s->like;
    uint8_t other[8] = {0};

    if (s->n_taken == 0 || s->expected == s->peer.sq_psn)
        return;
    peer_set_code(&p, OP_RC_SEND_ONLY);
    p.payload_bytes = sizeof(other);
    p.bth.psn.v = peer_psn(s->expected - ago);
    if (peer_send(d, &p, other) && says(d, SYN_ACK, last_acked(s)))
        (void)peer_is_calm(d);
}

/* Checks h1's response to a packet beyond a PSN gap. */
static void judge_ahead(struct drill *d)
{
    struct peers *s = d->own;

    if (s->has_told_gap || s->has_told_rnr ? !says_nothing(d)
                                           : !says(d, SYN_NAK_PSN_SEQUENCE, s->expected))
        return;
    s->has_told_gap = s->has_told_gap || !s->has_told_rnr;
    (void)peer_is_calm(d);
}

void peer_draw_word(struct drill *d, struct packet *p, uint32_t from, uint8_t word[PEER_WORD])
{
    const struct peers *s = d->own;

    *p = s->like;
    st_le64(word, prng_next(&d->rng));
    peer_set_code(p, OP_RC_RDMA_WRITE_ONLY);
    p->payload_bytes = p->reth.dma_bytes = PEER_WORD;
    p->reth.rkey = s->key;
    p->reth.va = s->base + from + drill_below(d, PEER_ROOM - PEER_WORD - from);
}

/* Sends a correct WRITE.  @is_taken: h1 must execute it; otherwise h1 must ignore it. */
static bool write_some(struct drill *d, bool is_taken)
{
    struct peers *s = d->own;
    struct packet p;
    uint8_t payload[PEER_WORD];

    peer_draw_word(d, &p, 0, payload);
    p.bth.psn.v = s->expected;
    p.bth.ack_req = true;
    s->got = 0;
    s->to = (uint32_t)(p.reth.va - s->base);
    s->left = PEER_WORD;
    if (!peer_send(d, &p, payload))
        return false;
    if (is_taken)
        take_part(d, &p, payload);
    else
        (void)(says_nothing(d) && peer_is_calm(d));
    return !d->wrong;
}

/* Sends packets while the queue pair is in RESET, INIT and RTR.  In RTR the first packet raises the
 * event COMM_EST.
 */
void peer_comes_early(struct drill *d)
{
    struct peers *s = d->own;

    if (!peer_resets(d))
        return;
    s->end.access = PEER_ACCESS;
    if (!write_some(d, false) || !rig_move(d, &s->end, &s->peer, QPT_RC, QPS_INIT))
        return;
    if (!write_some(d, false) || !rig_move(d, &s->end, &s->peer, QPT_RC, QPS_RTR) ||
        !peer_event(d, false, 0))
        return;
    if (!write_some(d, true) || !peer_event(d, true, ASE_COMM_EST))
        return;
    if (write_some(d, true) && peer_event(d, false, 0))
        (void)rig_move(d, &s->end, &s->peer, QPT_RC, QPS_RTS);
}

/* With credits h1 announces the new receive at once. */
void peer_posts_receive(struct drill *d)
{
    struct peers *s = d->own;
    struct peer_recv *r = &s->recv[s->n_recvs];
    struct rdl_sge sge;
    const struct rdl_recv_wr wr = {.wr_id = ++s->wr_id, .sge = &sge, .n_sge = 1};

    if (s->n_recvs == PEER_RECVS)
        return;
    *r = (struct peer_recv){.wr_id = wr.wr_id,
                            .at = drill_below(d, PEER_ROOM - RECV_BYTES),
                            .bytes = drill_below(d, RECV_BYTES)};
    sge = (struct rdl_sge){s->base + r->at, r->bytes, s->key};
    s->n_seen = 0;
    drill_say(d, "post_recv h1.q wr_id=%u sge=mine[%u:%u]", (unsigned)r->wr_id, r->at,
              r->at + r->bytes);
    if (!drill_works(d, rdl_post_recv(d->lab, s->end.qp, &wr, false), "a receive can be posted") ||
        !drill_settle(d))
        return;
    s->n_recvs++;
    if (s->end.credits)
        (void)says(d, SYN_ACK, last_acked(s));
    else
        (void)says_nothing(d);
}

void peer_requests(struct drill *d)
{
    struct peers *s = d->own;
    struct packet p = s->like;
    uint8_t payload[PEER_MTU + 8];
    enum fault_of f = NOTHING;
    uint32_t ahead = 0;

    if (drill_one_in(d, 6)) {
        if (drill_one_in(d, 6))
            repeat_ancient(d);
        else
            repeat(d);
        return;
    }
    if (s->open == OPK_NONE && (s->end.access & ACC_REMOTE_READ) && drill_one_in(d, 12)) {
        static void (*const bursts[])(struct drill *) = {peer_sends_burst, peer_sends_replay,
                                                         peer_region_ends};

        bursts[drill_below(d, ARRAY_LEN(bursts))](d);
        return;
    }
    if (s->open == OPK_NONE && (s->end.access & ACC_REMOTE_READ) &&
        (s->end.access & ACC_REMOTE_WRITE) && drill_one_in(d, 20)) {
        peer_sends_late_packet(d);
        return;
    }
    if (s->open == OPK_NONE && drill_one_in(d, 3))
        draw_fetch(d, &p);
    else
        draw_part(d, &p);
    if (drill_one_in(d, 10))
        f = spoil(d, &p);
    else if (drill_one_in(d, 8))
        ahead = drill_one_in(d, 6) ? HALF - 1 : 1 + drill_below(d, AHEAD);
    if (f != OUT_OF_ORDER && is_barred(s, &p))
        f = BARRED;
    p.bth.psn.v = peer_psn(s->expected + ahead);
    p.bth.ack_req = drill_one_in(d, 2) || f != NOTHING;
    st_be32(p.imm_data, (uint32_t)prng_next(&d->rng));
    for (size_t i = 0; i < sizeof(payload); i++)
        payload[i] = (uint8_t)prng_next(&d->rng);
    if (!peer_send(d, &p, payload))
        return;
    if (ahead > 0)
        judge_ahead(d);
    else
        judge_in_turn(d, &p, payload, f);
}
