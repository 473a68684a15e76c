/* SPDX-License-Identifier: MIT */
/* Responder of RC: the rules RESP_*, pure functions, in the order in which they are checked.  The
 * first that objects decides.  resp_apply.c applies the verdict.
 *
 * The PSN is checked first.  So a duplicate is answered whatever else is wrong with it, and a
 * packet after a gap is not checked before the gap is closed.
 */
#include "emu/xport/resp.h"

#include "emu/base/assert.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/profile.h"
#include "emu/facts/roce.h"
#include "emu/xport/whole.h"
#include "emu/xport/wqe.h"

static const struct resp_verdict accept = {.act = ACT_ACCEPT};

struct resp_verdict resp_nak(enum pkt_act act, enum wc_status status)
{
    static const enum syndrome says[] = {
        [ACT_NAK_SEQUENCE] = SYN_NAK_PSN_SEQUENCE,
        [ACT_RNR] = SYN_RNR_NAK,
        [ACT_NAK_INVALID] = SYN_NAK_INVALID_REQUEST,
        [ACT_NAK_ACCESS] = SYN_NAK_REMOTE_ACCESS,
        [ACT_NAK_OPERATIONAL] = SYN_NAK_REMOTE_OPERATIONAL,
    };

    RDL_ASSERT((size_t)act < ARRAY_LEN(says) && says[act] != SYN_NONE);
    return (struct resp_verdict){.act = act, .nak = says[act], .status = status};
}

RDL_COLD static struct resp_verdict drop(enum drop_reason why)
{
    return (struct resp_verdict){.act = ACT_DROP, .drop = why};
}

/* Reports an objection: sets @out to @d with the compared @values, and returns false. */
RDL_COLD static bool object(struct resp_verdict *out, struct resp_verdict d, struct compared values)
{
    *out = d;
    out->values = values;
    return false;
}

RDL_COLD static bool object_invalid(struct resp_verdict *out, struct compared values)
{
    return object(out, resp_nak(ACT_NAK_INVALID, WCS_SUCCESS), values);
}

static const struct compared nothing = {0};

/* Each check returns true if the packet passes.  Otherwise its verdict is in @out.
 *
 * check_psn() sends one sequence NAK until the expected PSN arrives.  After an RNR NAK it sends
 * none if the profile has TRAIT_RNR_SILENCES.
 */
static bool check_psn(const struct resp_view *v, const struct packet *p, struct resp_verdict *out)
{
    const int32_t ahead = psn_diff(p->bth.psn, v->expected);
    struct resp_verdict d;

    if (ahead == 0)
        return true;
    d = resp_nak(ACT_NAK_SEQUENCE, WCS_SUCCESS);
    if (ahead < 0)
        d = (struct resp_verdict){.act = ACT_DUPLICATE};
    else if (v->rnr_nak_out && profile_has(v->profile, TRAIT_RNR_SILENCES))
        d = drop(DROP_AFTER_RNR);
    else if (v->seq_nak_out)
        d = drop(DROP_OUT_OF_SEQUENCE);
    return object(out, d, compared_one(v->expected.v, p->bth.psn.v));
}

static bool check_opcode(const struct resp_view *v, const struct packet *p,
                         struct resp_verdict *out)
{
    if (p->op->carried &&
        (!op_is_placement(p->op) || profile_has(v->profile, TRAIT_PLACEMENT_OFFERED)))
        return true;
    return object_invalid(out, nothing);
}

static bool check_op_sequence(const struct resp_view *v, const struct packet *p,
                              struct resp_verdict *out)
{
    if (op_may_follow(v->open, p->op))
        return true;
    return object_invalid(out, nothing);
}

static bool check_length(const struct resp_view *v, const struct packet *p,
                         struct resp_verdict *out)
{
    struct compared c = compared_at_most(v->mtu, whole_first_bytes(p));

    if (!profile_has(v->profile, TRAIT_LENGTH_CHECKED))
        return true;
    if (p->op->kind == OPK_ATOMIC_WRITE)
        c.least = c.most = ATOMIC_WORD_BYTES;
    else if (op_has_response(p->op))
        c.most = 0;
    else if (p->op->pos == OPP_FIRST || p->op->pos == OPP_MIDDLE || whole_psns(p) > 1)
        c.least = v->mtu;
    else if (p->op->pos == OPP_LAST)
        c.least = 1;
    if (c.found >= c.least && c.found <= c.most)
        return true;
    return object_invalid(out, c);
}

/* Without TRAIT_PAD_CHECKED only WRITEs and ATOMIC WRITEs are checked. */
static bool check_pad(const struct resp_view *v, const struct packet *p, struct resp_verdict *out)
{
    const bool leaves_open = p->op->pos == OPP_FIRST || p->op->pos == OPP_MIDDLE;
    const uint32_t pad = leaves_open ? 0 : packet_pad_bytes(p->payload_bytes);

    if (p->op->kind != OPK_WRITE && p->op->kind != OPK_ATOMIC_WRITE &&
        !profile_has(v->profile, TRAIT_PAD_CHECKED))
        return true;
    if (p->bth.pad_bytes == pad)
        return true;
    return object_invalid(out, compared_one(pad, p->bth.pad_bytes));
}

unsigned resp_access(const struct packet *p)
{
    switch (p->op->kind) {
    case OPK_FLUSH:
        return (p->feth.placement & FETH_GLOBAL ? ACC_FLUSH_GLOBAL : 0u) |
               (p->feth.placement & FETH_PERSISTENT ? ACC_FLUSH_PERSISTENT : 0u);
    case OPK_WRITE:
    case OPK_ATOMIC_WRITE:
        return ACC_REMOTE_WRITE;
    case OPK_READ:
        return ACC_REMOTE_READ;
    case OPK_ATOMIC:
        return ACC_REMOTE_ATOMIC;
    default:
        return 0;
    }
}

static bool check_qp_access(const struct resp_view *v, const struct packet *p,
                            struct resp_verdict *out)
{
    const unsigned access = resp_access(p);

    if (!op_starts(p->op) || (access & ~v->access) == 0)
        return true;
    return object_invalid(out, compared_one(access, v->access));
}

static bool check_rd_room(const struct resp_view *v, const struct packet *p,
                          struct resp_verdict *out)
{
    if (!op_has_response(p->op) || v->rds < v->max_rds)
        return true;
    return object_invalid(out, compared_at_most(v->max_rds, v->rds + 1));
}

/* Alignment is checked before the key.  [IBTA1 9.4.5] */
static bool check_aligned(const struct resp_view *v, const struct packet *p,
                          struct resp_verdict *out)
{
    const bool is_write = p->op->kind == OPK_ATOMIC_WRITE;
    const uint64_t va = is_write ? p->reth.va : p->atomic.va;

    (void)v;
    if ((p->op->kind != OPK_ATOMIC && !is_write) || va % ATOMIC_WORD_BYTES == 0)
        return true;
    return object_invalid(out, compared_one(va - va % ATOMIC_WORD_BYTES, va));
}

static bool check_dma_length(const struct resp_view *v, const struct packet *p,
                             struct resp_verdict *out)
{
    const uint32_t announced = op_starts(p->op) ? p->reth.dma_bytes : v->left;
    struct compared c = compared_at_most(MESSAGE_BYTES_MAX, p->reth.dma_bytes);

    if (p->op->kind == OPK_WRITE || p->op->kind == OPK_ATOMIC_WRITE) {
        if (c.found <= c.most)
            c = compared_one(announced, p->payload_bytes);
        if (!op_ends(p->op) && p->payload_bytes < announced)
            return true; /* more packets follow */
    } else if (p->op->kind != OPK_READ && p->op->kind != OPK_FLUSH) {
        return true;
    }
    if (c.found >= c.least && c.found <= c.most)
        return true;
    return object_invalid(out, c);
}

/* X(rule, check), in the order of checking.  Expanded to direct calls instead of a table of
 * functions, so that the compiler can inline them: they run for every packet.
 */
#define PACKET_CHECKS(X)                                                                           \
    X(RULE_RESP_PSN, check_psn)                                                                    \
    X(RULE_RESP_OPCODE, check_opcode)                                                              \
    X(RULE_RESP_OP_SEQUENCE, check_op_sequence)                                                    \
    X(RULE_RESP_QP_ACCESS, check_qp_access)                                                        \
    X(RULE_RESP_RD_ROOM, check_rd_room)

#define FORM_CHECKS(X)                                                                             \
    X(RULE_RESP_LENGTH, check_length)                                                              \
    X(RULE_RESP_PAD, check_pad)                                                                    \
    X(RULE_RESP_ATOMIC_ALIGNED, check_aligned)                                                     \
    X(RULE_RESP_DMA_LENGTH, check_dma_length)

struct sge resp_target(const struct packet *p, const struct resp_write *w)
{
    if (p->op->kind == OPK_ATOMIC)
        return (struct sge){p->atomic.va, ATOMIC_WORD_BYTES, p->atomic.rkey};
    if (p->op->kind == OPK_FLUSH && p->feth.level == FETH_REGION)
        return (struct sge){p->reth.va, 0, p->reth.rkey};
    if (op_starts(p->op))
        return (struct sge){p->reth.va, p->reth.dma_bytes, p->reth.rkey};
    return (struct sge){w->addr, p->payload_bytes, w->rkey};
}

void resp_decide_memory(const struct target_view *v, struct resp_verdict *ret)
{
    enum rule rule;

    *ret = accept;
    if (v->at.bytes == 0 && !v->needs_key)
        return; /* [IBTA1 C9-88] */
    rule = key_check(v->hca, v->at.lkey, &v->who, v->at.addr, v->at.bytes, v->access);
    if (rule != RULE_NONE) {
        *ret = resp_nak(ACT_NAK_ACCESS, WCS_SUCCESS);
        ret->rule = rule;
    }
}

bool resp_needs_receive(const struct packet *p)
{
    if (p->op->kind == OPK_SEND)
        return op_starts(p->op);
    return p->op->kind == OPK_WRITE && (p->op->headers & H_IMM) != 0;
}

bool resp_ends_receive(const struct packet *p)
{
    RDL_ASSERT(op_ends(p->op));
    return p->op->kind == OPK_SEND || resp_needs_receive(p);
}

bool resp_asks_again(const struct resp_rd *rd, const struct packet *p, uint32_t mtu,
                     uint32_t *ret_at)
{
    const uint32_t at = (p->bth.psn.v - rd->psn.v) & PSN_MASK;
    const uint32_t offset = at * mtu;

    if (p->bth.opcode != rd->opcode || at >= rd->n_psns)
        return false;
    if (p->feth.placement != rd->placement || p->feth.level != rd->level)
        return false;
    if (p->op->kind == OPK_ATOMIC ? p->atomic.rkey != rd->rkey || p->atomic.va != rd->addr
                                  : p->reth.rkey != rd->rkey || p->reth.va != rd->addr + offset ||
                                        p->reth.dma_bytes != rd->bytes - offset)
        return false;
    *ret_at = at;
    return true;
}

static bool check_recv_wqe(const struct delivery_view *v, const struct packet *p,
                           struct resp_verdict *out)
{
    (void)p;
    if (v->got == FETCH_EMPTY)
        return object(out, resp_nak(ACT_RNR, WCS_SUCCESS), nothing);
    return true;
}

static bool check_recv_form(const struct delivery_view *v, const struct packet *p,
                            struct resp_verdict *out)
{
    const struct recv_wqe *w = v->wqe;
    struct compared c = nothing;

    (void)p;
    if (v->got == FETCH_OK && !w->truncated) {
        if (sge_count_is_valid(&w->n_sge, v->max_recv_sge))
            return true;
        c = sge_count_compared(&w->n_sge, v->max_recv_sge);
    }
    return object(out, resp_nak(ACT_NAK_OPERATIONAL, WCS_LOC_QP_OP_ERR), c);
}

static bool check_recv_length(const struct delivery_view *v, const struct packet *p,
                              struct resp_verdict *out)
{
    struct compared c = nothing;

    if (p->op->kind == OPK_SEND) /* the payload of a WRITE does not use the receive */
        c = compared_at_most(v->wqe->holds_bytes, (uint64_t)v->received + v->lead + v->bytes);
    if (c.found <= c.most)
        return true;
    return object(out,
                  profile_has(v->profile, v->lead > 0 ? TRAIT_SHORT_RECV_OF_UD_IS_KEPT
                                                      : TRAIT_SHORT_RECV_IS_LEN_ERR)
                      ? resp_nak(ACT_NAK_INVALID, WCS_LOC_LEN_ERR)
                      : resp_nak(ACT_NAK_OPERATIONAL, WCS_LOC_QP_OP_ERR),
                  c);
}

/* Checks only the part of the receive that this packet writes. */
static bool check_recv_keys(const struct delivery_view *v, const struct packet *p,
                            struct resp_verdict *out)
{
    const struct sg_list l = {v->wqe->sge, v->who, ACC_LOCAL_WRITE};
    struct sge bad;
    enum rule rule;

    if (p->op->kind != OPK_SEND)
        return true;
    rule = sge_check(v->hca, &l, v->at, v->lead + v->bytes, &bad);
    if (rule == RULE_NONE)
        return true;
    *out = resp_nak(ACT_NAK_OPERATIONAL, profile_has(v->profile, TRAIT_RECV_KEY_IS_PROT_ERR)
                                             ? WCS_LOC_PROT_ERR
                                             : WCS_LOC_QP_OP_ERR);
    out->rule = rule;
    out->bad = bad;
    return false;
}

/* As PACKET_CHECKS.  With RULE_NONE the check itself sets the rule. */
#define DELIVERY_CHECKS(X)                                                                         \
    X(RULE_RESP_RECV_WQE, check_recv_wqe)                                                          \
    X(RULE_RESP_RECV_FORM, check_recv_form)                                                        \
    X(RULE_RESP_RECV_LENGTH, check_recv_length)                                                    \
    X(RULE_NONE, check_recv_keys)

/* Checks the length in a RETH, which a packet has at the start of its message. */
static bool check_announced(const struct resp_view *v, const struct packet *p,
                            struct resp_verdict *out)
{
    (void)v;
    if (p->reth.dma_bytes <= MESSAGE_BYTES_MAX)
        return true;
    return object_invalid(out, compared_at_most(MESSAGE_BYTES_MAX, p->reth.dma_bytes));
}

#define ASK(name, check)                                                                           \
    if (!check(v, p, ret)) {                                                                       \
        ret->rule = (name) == RULE_NONE ? ret->rule : (name);                                      \
        return;                                                                                    \
    }

void resp_decide(const struct resp_view *v, const struct packet *p, struct resp_verdict *ret)
{
    *ret = accept;
    PACKET_CHECKS(ASK)
    if (profile_has(v->profile, TRAIT_FORM_BEFORE_KEY)) {
        FORM_CHECKS(ASK)
    }
}

void resp_decide_length(const struct resp_view *v, const struct packet *p, struct resp_verdict *ret)
{
    if (!profile_has(v->profile, TRAIT_FORM_BEFORE_KEY) &&
        profile_has(v->profile, TRAIT_LENGTH_BEFORE_KEY)) {
        ASK(RULE_RESP_LENGTH, check_length)
        ASK(RULE_RESP_DMA_LENGTH, check_announced)
    }
}

void resp_decide_form(const struct resp_view *v, const struct packet *p, struct resp_verdict *ret)
{
    if (!profile_has(v->profile, TRAIT_FORM_BEFORE_KEY)) {
        FORM_CHECKS(ASK)
    }
}

void resp_decide_delivery(const struct delivery_view *v, const struct packet *p,
                          struct resp_verdict *ret)
{
    DELIVERY_CHECKS(ASK)
}
