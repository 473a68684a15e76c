/* SPDX-License-Identifier: MIT */
/* Completer of RC: the rules COMP_*, pure functions, in the order in which they are checked.
 * comp_apply.c applies the verdict.
 *
 * Every response with an outstanding PSN acknowledges all PSNs before it, whatever else it says.
 * READs and atomics are the exception: only their own response completes them, and a response
 * behind a missing one is an implied NAK.  Retry limits are checked here too: a NAK that would
 * exceed one fails the request.
 */
#include "emu/xport/comp.h"

#include "emu/base/assert.h"
#include "emu/base/cold.h"
#include "emu/facts/aeth.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/profile.h"
#include "emu/facts/roce.h"
#include "emu/xport/retry.h"
#include "emu/xport/whole.h"
#include "emu/xport/wqe.h"

/* Values derived from the response. */
struct answer {
    uint32_t before;       /* number of PSNs from una to its own */
    struct aeth_word word; /* SYN_NONE: no AETH */
};

/* A check returns true and fills @out if it decides on the packet.  Otherwise the next check runs.
 */
typedef bool comp_check(const struct comp_view *v, const struct packet *p, const struct answer *a,
                        struct comp_verdict *out);

/* With credits, an acknowledge of the last acknowledged PSN is not a ghost: it announces receives.
 */
static bool check_credits(const struct comp_view *v, const struct packet *p, const struct answer *a,
                          struct comp_verdict *out)
{
    if (!v->credits || a->before != PSN_MASK || p->op->kind != OPK_ACK || a->word.kind != SYN_ACK)
        return false;
    *out = (struct comp_verdict){.act = ACT_CREDITS};
    return true;
}

RDL_COLD static bool ghost(const struct comp_view *v, const struct packet *p,
                           struct comp_verdict *out)
{
    *out = (struct comp_verdict){.act = ACT_DROP, .drop = DROP_GHOST_ACK};
    if (v->out_psns > 0) /* otherwise no PSN is valid */
        out->values = (struct compared){v->una.v, psn_add(v->una, v->out_psns - 1).v, p->bth.psn.v};
    return true;
}

/* Fails the request because of a NAK. */
static void decide_nak(const struct answer *a, struct comp_verdict *out)
{
    enum wc_status status = WCS_REM_OP_ERR;

    if (a->word.kind == SYN_NAK_INVALID_REQUEST)
        status = WCS_REM_INV_REQ_ERR;
    else if (a->word.kind == SYN_NAK_REMOTE_ACCESS)
        status = WCS_REM_ACCESS_ERR;
    *out = (struct comp_verdict){
        .act = ACT_FAIL, .rule = RULE_COMP_NAK, .status = status, .n_acked = a->before};
}

/* A NAK for an older PSN, while the oldest request is a READ that was answered in part: responders
 * without TRAIT_READ_NAK_NAMES_RESPONSE name the PSN of the request.
 */
static bool check_read_nak(const struct comp_view *v, const struct packet *p,
                           const struct answer *a, struct comp_verdict *out)
{
    const bool is_open = v->rd == OPK_READ && v->before_rd == 0 && !v->rd_is_new;
    const bool is_older = a->before > PSN_MASK / 2;
    const enum syndrome nak = a->word.kind;

    if (!is_open || !is_older || p->op->kind != OPK_ACK ||
        !profile_has(v->profile, TRAIT_OLD_NAK_ENDS_READ))
        return false;
    if (nak != SYN_NAK_INVALID_REQUEST && nak != SYN_NAK_REMOTE_ACCESS &&
        nak != SYN_NAK_REMOTE_OPERATIONAL)
        return false;
    decide_nak(&(struct answer){.before = 0, .word = a->word}, out);
    return true;
}

static bool check_window(const struct comp_view *v, const struct packet *p, const struct answer *a,
                         struct comp_verdict *out)
{
    if (a->before < v->out_psns)
        return false;
    return ghost(v, p, out);
}

static bool is_ack(const struct packet *p, const struct answer *a)
{
    return p->op->kind == OPK_ACK && a->word.kind == SYN_ACK;
}

/* An acknowledge with the PSN of a READ or atomic cannot be its response.  It is an implied NAK,
 * like one behind it: some responders acknowledge duplicates with the last PSN that they accepted.
 */
RDL_COLD static bool implied_nak(const struct comp_view *v, const struct packet *p,
                                 struct comp_verdict *out)
{
    const uint32_t used = v->before_rd > 0 ? 0 : v->retries;
    const uint32_t expected = psn_add(v->una, v->before_rd).v;

    *out = (struct comp_verdict){.act = ACT_GO_BACK, .n_acked = v->before_rd};
    if (v->implied_nak && v->before_rd == 0)
        *out = (struct comp_verdict){.act = ACT_DROP, .drop = DROP_AFTER_IMPLIED_NAK};
    else if (!retry_allowed(used, v->retry_cnt, v->profile))
        *out = (struct comp_verdict){.act = ACT_FAIL,
                                     .rule = RULE_RETRY_LIMIT,
                                     .status = WCS_RETRY_EXC_ERR,
                                     .n_acked = v->before_rd};
    if (out->act != ACT_FAIL)
        out->values = compared_one(expected, p->bth.psn.v);
    return true;
}

/* An answer ahead of a missing response to the same READ.  Without TRAIT_READ_GAP_ENDS_WAIT the
 * requester waits for the timer.
 */
static bool is_in_gap(const struct comp_view *v, const struct answer *a)
{
    return a->before > v->before_rd && a->before - v->before_rd < v->rd_psns &&
           !profile_has(v->profile, TRAIT_READ_GAP_ENDS_WAIT);
}

/* An acknowledge with the PSN of the last response.  Without TRAIT_ACK_ENDS_NO_READ it completes
 * the READ or atomic.  Rxe does not use credits, with which such acknowledges are usual.
 */
static bool is_end_without_data(const struct comp_view *v, const struct answer *a)
{
    return a->before == v->before_rd && v->rd_psns == 1 && !v->credits &&
           !profile_has(v->profile, TRAIT_ACK_ENDS_NO_READ);
}

static bool check_implied_nak(const struct comp_view *v, const struct packet *p,
                              const struct answer *a, struct comp_verdict *out)
{
    if (a->before < v->before_rd || (a->before == v->before_rd && !is_ack(p, a)))
        return false;
    if (is_end_without_data(v, a))
        return false;
    if (!is_in_gap(v, a))
        return implied_nak(v, p, out);
    *out = (struct comp_verdict){.act = ACT_ACKS, .n_acked = v->before_rd};
    if (v->before_rd == 0) {
        out->act = ACT_DROP;
        out->drop = DROP_OUT_OF_SEQUENCE;
        out->values = compared_one(v->una.v, p->bth.psn.v);
    }
    return true;
}

/* Fails the request because of a wrong response.  @otherwise is its status without
 * TRAIT_BAD_RESPONSE_FAILS.
 */
RDL_COLD static bool bad_response(const struct comp_view *v, const struct answer *a,
                                  enum wc_status otherwise, struct comp_verdict *out)
{
    const bool fails = profile_has(v->profile, TRAIT_BAD_RESPONSE_FAILS);

    *out = (struct comp_verdict){
        .act = ACT_FAIL, .status = fails ? WCS_BAD_RESP_ERR : otherwise, .n_acked = a->before};
    return true;
}

/* A READ is answered by READ responses, an atomic by an atomic acknowledge, any request by a NAK.
 * The NAK code must be defined.
 */
static bool check_response(const struct comp_view *v, const struct packet *p,
                           const struct answer *a, struct comp_verdict *out)
{
    enum op_kind brings = OPK_NONE;

    if (a->before == v->before_rd)
        brings = v->rd == OPK_READ ? OPK_READ_RESPONSE : OPK_ATOMIC_ACK;
    RDL_ASSERT(p->op->carried); /* all response opcodes are supported */
    if (a->word.kind == SYN_NAK_RESERVED)
        return bad_response(v, a, WCS_REM_OP_ERR, out);
    if (p->op->kind == OPK_ACK)
        return false;
    if (p->op->kind == OPK_READ_RESPONSE && brings != OPK_READ_RESPONSE)
        return bad_response(v, a, WCS_FATAL_ERR, out);
    if (p->op->kind != brings || (a->word.kind != SYN_ACK && a->word.kind != SYN_NONE))
        return bad_response(v, a, WCS_SUCCESS, out);
    return false;
}

/* Responses of any length, see TRAIT_READ_LENGTH_CHECKED.  The last one ends the READ if it brings
 * all bytes that are missing, however many PSNs are left.  If bytes are missing after the last PSN,
 * that PSN stays unacknowledged and the READ runs into its retry limit.
 */
static bool check_read_loosely(const struct comp_view *v, const struct packet *p,
                               const struct answer *a, struct comp_verdict *out)
{
    const bool is_all = p->payload_bytes == v->rd_bytes && op_ends(p->op);

    if (v->rd_is_new && !op_starts(p->op))
        return bad_response(v, a, WCS_SUCCESS, out);
    if (whole_psns(p) > v->rd_psns)
        return ghost(v, p, out); /* the last of those packets would come too late */
    if (p->payload_bytes > v->rd_bytes) {
        *out = (struct comp_verdict){.act = ACT_FAIL,
                                     .status = WCS_LOC_PROT_ERR,
                                     .n_acked = a->before,
                                     .values = compared_at_most(v->rd_bytes, p->payload_bytes)};
        return true;
    }
    *out = (struct comp_verdict){.act = ACT_ACKS, .takes_data = true};
    out->n_data = is_all ? whole_psns(p) : v->rd_psns > 1;
    out->n_unused = is_all ? v->rd_psns - whole_psns(p) : 0;
    out->n_acked = a->before + out->n_data;
    return true;
}

/* The opcode must be FIRST or MIDDLE if more responses follow, LAST or ONLY otherwise.  When the
 * rest of a READ is requested again, a responder may continue with MIDDLE and LAST or start with
 * FIRST.
 */
static bool check_read(const struct comp_view *v, const struct packet *p, const struct answer *a,
                       struct comp_verdict *out)
{
    const uint32_t bytes = v->rd_psns > 1 && !p->whole ? v->mtu : v->rd_bytes;

    if (p->op->kind != OPK_READ_RESPONSE)
        return false;
    if (!profile_has(v->profile, TRAIT_READ_LENGTH_CHECKED))
        return check_read_loosely(v, p, a, out);
    if (op_ends(p->op) != (v->rd_psns == whole_psns(p)) || (v->rd_is_new && !op_starts(p->op)))
        return bad_response(v, a, WCS_SUCCESS, out);
    if (p->payload_bytes == bytes)
        return false;
    bad_response(v, a, WCS_SUCCESS, out);
    out->values = compared_one(bytes, p->payload_bytes);
    return true;
}

static bool check_ack(const struct comp_view *v, const struct packet *p, const struct answer *a,
                      struct comp_verdict *out)
{
    (void)v;
    if (a->word.kind != SYN_ACK && a->word.kind != SYN_NONE)
        return false;
    *out = (struct comp_verdict){.act = ACT_ACKS, .n_acked = a->before + whole_psns(p)};
    out->takes_data = p->op->kind != OPK_ACK;
    out->n_data = out->takes_data ? whole_psns(p) : 0;
    return true;
}

/* While the RNR timer runs, another NAK for the same packet is ignored.  It is a copy, or it comes
 * from a responder without TRAIT_RNR_SILENCES, which sends a sequence NAK for the packets behind
 * the refused one.
 */
static bool check_waiting(const struct comp_view *v, const struct packet *p, const struct answer *a,
                          struct comp_verdict *out)
{
    (void)p;
    if (!v->rnr_wait || a->before > 0 ||
        (a->word.kind != SYN_RNR_NAK && a->word.kind != SYN_NAK_PSN_SEQUENCE))
        return false;
    *out = (struct comp_verdict){.act = ACT_WAIT_RNR};
    return true;
}

static bool check_rnr(const struct comp_view *v, const struct packet *p, const struct answer *a,
                      struct comp_verdict *out)
{
    const uint32_t used = a->before > 0 ? 0 : v->rnr_naks;

    (void)p;
    if (a->word.kind != SYN_RNR_NAK)
        return false;
    *out = (struct comp_verdict){.act = ACT_WAIT_RNR, .n_acked = a->before};
    if (!rnr_retry_allowed(used, v->rnr_retry))
        *out = (struct comp_verdict){.act = ACT_FAIL,
                                     .rule = RULE_RNR_LIMIT,
                                     .status = WCS_RNR_RETRY_EXC_ERR,
                                     .n_acked = a->before};
    return true;
}

static bool check_sequence(const struct comp_view *v, const struct packet *p,
                           const struct answer *a, struct comp_verdict *out)
{
    const uint32_t used = a->before > 0 ? 0 : v->retries;

    (void)p;
    if (a->word.kind != SYN_NAK_PSN_SEQUENCE)
        return false;
    *out = (struct comp_verdict){.act = ACT_GO_BACK, .n_acked = a->before};
    if (!retry_allowed(used, v->retry_cnt, v->profile))
        *out = (struct comp_verdict){.act = ACT_FAIL,
                                     .rule = RULE_RETRY_LIMIT,
                                     .status = WCS_RETRY_EXC_ERR,
                                     .n_acked = a->before};
    return true;
}

/* X(rule, check), expanded like PACKET_CHECKS in resp.c.  A check can set another rule. */
#define CHECKS(X)                                                                                  \
    X(RULE_COMP_CREDITS, check_credits)                                                            \
    X(RULE_COMP_NAK, check_read_nak)                                                               \
    X(RULE_COMP_WINDOW, check_window)                                                              \
    X(RULE_COMP_IMPLIED_NAK, check_implied_nak)                                                    \
    X(RULE_COMP_RESPONSE, check_response)                                                          \
    X(RULE_COMP_READ_LENGTH, check_read)                                                           \
    X(RULE_COMP_ACK, check_ack)                                                                    \
    X(RULE_COMP_RNR, check_waiting)                                                                \
    X(RULE_COMP_RNR, check_rnr)                                                                    \
    X(RULE_COMP_SEQUENCE, check_sequence)

#define ASK(name, check)                                                                           \
    if (check(v, p, &a, ret)) {                                                                    \
        name_rule(ret, name);                                                                      \
        return;                                                                                    \
    }

/* Sets the rule of a verdict, unless the packet is accepted or the check has set a rule. */
static inline void name_rule(struct comp_verdict *d, enum rule rule)
{
    if (d->rule == RULE_NONE && d->act != ACT_ACKS && d->act != ACT_CREDITS)
        d->rule = rule;
}

void comp_decide(const struct comp_view *v, const struct packet *p, struct comp_verdict *ret)
{
    const struct answer a = {
        .before = (p->bth.psn.v - v->una.v) & PSN_MASK,
        .word = p->op->headers & H_AETH ? aeth_unpack(p->aeth.syndrome)
                                        : (struct aeth_word){SYN_NONE, 0},
    };

    *ret = (struct comp_verdict){.act = ACT_DROP};
    CHECKS(ASK)
    decide_nak(&a, ret);
}

uint32_t comp_data_bytes(const struct packet *p)
{
    return p->op->kind == OPK_ATOMIC_ACK ? ATOMIC_WORD_BYTES : p->payload_bytes;
}

void comp_decide_sink(const struct sink_view *v, const struct packet *p, struct comp_verdict *d)
{
    struct sge bad = {0};
    const enum rule rule = sge_check(v->hca, &v->list, v->at, comp_data_bytes(p), &bad);

    RDL_ASSERT(d->act == ACT_ACKS && d->n_acked >= d->n_data);
    if (rule == RULE_NONE)
        return;
    *d = (struct comp_verdict){.act = ACT_FAIL,
                               .rule = rule,
                               .status = WCS_LOC_PROT_ERR,
                               .n_acked = d->n_acked - d->n_data,
                               .bad = bad};
}
