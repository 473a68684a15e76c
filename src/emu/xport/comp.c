/* SPDX-License-Identifier: MIT */
/* Completer, RC: the rules COMP_*, pure, in the order in which they are asked.  comp_apply.c does
 * what they decide.
 *
 * Every response that names an outstanding PSN acknowledges what is before that PSN, whatever else
 * it says.  Limits are judged here too: a NAK that would ask for one retry too many ends the
 * request.
 */
#include "emu/xport/comp.h"

#include "emu/base/assert.h"
#include "emu/facts/aeth.h"
#include "emu/xport/retry.h"

/* What is known once the PSN is. */
struct answer {
    uint32_t before; /* PSNs from the oldest outstanding one to its own */
    struct aeth_word word;
};

/* A check decides (true, and fills @out), or leaves the packet to the next one. */
typedef bool comp_check(const struct comp_view *v, const struct packet *p, const struct answer *a,
                        struct comp_verdict *out);

static bool check_window(const struct comp_view *v, const struct packet *p, const struct answer *a,
                         struct comp_verdict *out)
{
    if (a->before < v->out_psns)
        return false;
    *out = (struct comp_verdict){.act = ACT_DROP};
    if (v->out_psns > 0) /* otherwise no PSN would do */
        out->values = (struct compared){v->una.v, psn_add(v->una, v->out_psns - 1).v, p->bth.psn.v};
    return true;
}

/* What is carried is answered by what is carried, and the NAK code must be defined. */
static bool check_response(const struct comp_view *v, const struct packet *p,
                           const struct answer *a, struct comp_verdict *out)
{
    (void)v;
    if (p->op->carried && a->word.kind != SYN_NAK_RESERVED)
        return false;
    *out = (struct comp_verdict){.act = ACT_FAIL, .status = WCS_BAD_RESP_ERR};
    return true;
}

static bool check_ack(const struct comp_view *v, const struct packet *p, const struct answer *a,
                      struct comp_verdict *out)
{
    (void)v;
    (void)p;
    if (a->word.kind != SYN_ACK)
        return false;
    *out = (struct comp_verdict){.act = ACT_ACKS, .n_acked = a->before + 1};
    return true;
}

/* While an RNR NAK is waited out, another NAK for the same packet says nothing new: a copy, or a
 * responder without TRAIT_RNR_SILENCES, which sends a sequence NAK for what followed the refused
 * one.
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
        *out =
            (struct comp_verdict){ACT_FAIL, RULE_RNR_LIMIT, WCS_RNR_RETRY_EXC_ERR, a->before, {0}};
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
        *out = (struct comp_verdict){ACT_FAIL, RULE_RETRY_LIMIT, WCS_RETRY_EXC_ERR, a->before, {0}};
    return true;
}

static bool check_nak(const struct comp_view *v, const struct packet *p, const struct answer *a,
                      struct comp_verdict *out)
{
    enum wc_status status = WCS_REM_OP_ERR;

    (void)v;
    (void)p;
    if (a->word.kind == SYN_NAK_INVALID_REQUEST)
        status = WCS_REM_INV_REQ_ERR;
    else if (a->word.kind == SYN_NAK_REMOTE_ACCESS)
        status = WCS_REM_ACCESS_ERR;
    *out = (struct comp_verdict){.act = ACT_FAIL, .status = status, .n_acked = a->before};
    return true;
}

static const struct {
    enum rule rule; /* unless the check names another */
    comp_check *check;
} checks[] = {
    {RULE_COMP_WINDOW, check_window}, {RULE_COMP_RESPONSE, check_response},
    {RULE_COMP_ACK, check_ack},       {RULE_COMP_RNR, check_waiting},
    {RULE_COMP_RNR, check_rnr},       {RULE_COMP_SEQUENCE, check_sequence},
    {RULE_COMP_NAK, check_nak},
};

struct comp_verdict comp_decide(const struct comp_view *v, const struct packet *p)
{
    const struct answer a = {
        .before = (p->bth.psn.v - v->una.v) & PSN_MASK,
        .word = aeth_unpack(p->aeth.syndrome),
    };
    struct comp_verdict out = {.act = ACT_DROP};

    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        if (!checks[i].check(v, p, &a, &out))
            continue;
        if (out.rule == RULE_NONE && out.act != ACT_ACKS)
            out.rule = checks[i].rule;
        break;
    }
    return out;
}
