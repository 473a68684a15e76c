/* SPDX-License-Identifier: MIT */
/* Send work requests: the rules SQ_*, pure functions, in the order in which they are checked. */
#include "emu/xport/wqe.h"
#include "emu/facts/datagram.h"

#include "emu/base/assert.h"
#include "emu/base/cold.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/roce.h"
#include "emu/xport/sg.h"

RDL_COLD static struct wqe_verdict refuse(enum wc_status status, struct compared values)
{
    return (struct wqe_verdict){.status = status, .values = values};
}

static const struct compared nothing;
static const struct wqe_verdict allowed = {RULE_NONE, WCS_SUCCESS, {0}};

static struct wqe_verdict check_form(const struct wqe_view *v, const struct send_wqe *w)
{
    (void)v;
    return w->truncated ? refuse(WCS_LOC_QP_OP_ERR, nothing) : allowed;
}

/* The opcodes of the memory management extensions.  [virtio-rdma RFC, Local Invalidate Operation]
 */
static bool is_extension(uint32_t opcode)
{
    return opcode == WR_LOCAL_INV || opcode == WR_SEND_WITH_INV ||
           opcode == WR_RDMA_READ_WITH_INV || opcode == WR_REG_MR;
}

/* Returns true if the QP type has the operation, but this device or its profile does not. */
static bool lacks(const struct wqe_view *v, const struct send_wqe *w)
{
    if (is_extension(w->opcode) && v->hca && v->hca->limits.max_fast_pages == 0)
        return true;
    if (w->opcode == WR_RDMA_READ_WITH_INV)
        return !profile_has(v->profile, TRAIT_READ_INV_IS_AN_OPERATION);
    return w->opcode == WR_LOCAL_INV && v->config->type == QPT_UC &&
           !profile_has(v->profile, TRAIT_UC_LOCAL_INV);
}

static struct wqe_verdict check_opcode(const struct wqe_view *v, const struct send_wqe *w)
{
    return wr_is_of_type(v->config->type, w->opcode) && !lacks(v, w)
               ? allowed
               : refuse(WCS_LOC_QP_OP_ERR, nothing);
}

static struct wqe_verdict check_inline(const struct wqe_view *v, const struct send_wqe *w)
{
    if ((w->flags & SF_INLINE) == 0)
        return allowed;
    if (w->n_sge.said != 0 || wr_info(w->opcode)->data != WR_DATA_TAKES)
        return refuse(WCS_LOC_QP_OP_ERR, nothing);
    return w->inline_bytes <= v->config->max_inline_data
               ? allowed
               : refuse(WCS_LOC_LEN_ERR,
                        compared_at_most(v->config->max_inline_data, w->inline_bytes));
}

bool sge_count_is_valid(const struct sge_count *n, uint32_t max_sge)
{
    return n->said <= max_sge && n->said == n->found && !n->ragged;
}

struct compared sge_count_compared(const struct sge_count *n, uint32_t max_sge)
{
    return n->said > max_sge ? compared_at_most(max_sge, n->said) : compared_one(n->found, n->said);
}

static struct wqe_verdict check_sge_count(const struct wqe_view *v, const struct send_wqe *w)
{
    const bool is_read = w->opcode == WR_RDMA_READ || w->opcode == WR_RDMA_READ_WITH_INV;
    const uint32_t most = is_read ? v->config->max_sge_rd : v->config->max_send_sge;

    if (w->flags & SF_INLINE)
        return allowed;
    if (sge_count_is_valid(&w->n_sge, most))
        return allowed;
    return refuse(WCS_LOC_QP_OP_ERR, sge_count_compared(&w->n_sge, most));
}

static struct wqe_verdict check_length(const struct wqe_view *v, const struct send_wqe *w)
{
    uint64_t bytes;

    (void)v;
    if (w->flags & SF_INLINE)
        return allowed;
    bytes = sge_total(w->sge, w->n_sge.said);
    return bytes <= MESSAGE_BYTES_MAX
               ? allowed
               : refuse(WCS_LOC_LEN_ERR, compared_at_most(MESSAGE_BYTES_MAX, bytes));
}

static struct wqe_verdict check_atomic(const struct wqe_view *v, const struct send_wqe *w)
{
    uint64_t bytes;

    (void)v;
    if (wr_info(w->opcode)->form != WR_FORM_ATOMIC)
        return allowed;
    bytes = sge_total(w->sge, w->n_sge.said);
    return bytes == ATOMIC_WORD_BYTES
               ? allowed
               : refuse(WCS_LOC_LEN_ERR, compared_one(ATOMIC_WORD_BYTES, bytes));
}

static struct wqe_verdict check_rd_atomic(const struct wqe_view *v, const struct send_wqe *w)
{
    if (wr_info(w->opcode)->data != WR_DATA_FILLS || v->max_rd_atomic > 0)
        return allowed;
    return profile_has(v->profile, TRAIT_RD_ATOMIC_0_FAILS) ? refuse(WCS_LOC_QP_OP_ERR, nothing)
                                                            : allowed;
}

static struct wqe_verdict check_ah_pd(const struct wqe_view *v, const struct send_wqe *w)
{
    if (!qp_type_is_datagram(v->config->type) || w->to.av_pdn == v->config->pdn)
        return allowed;
    return refuse(WCS_LOC_QP_OP_ERR, compared_one(v->config->pdn, w->to.av_pdn));
}

static struct wqe_verdict check_ah(const struct wqe_view *v, const struct send_wqe *w)
{
    const struct datagram_to *to = &w->to;

    if (!qp_type_is_datagram(v->config->type))
        return allowed;
    if (to->av.port == HCA_PORT && to->qpn <= QPN_MAX && to->av.sgid_index < HCA_GIDS &&
        v->hca->gids[to->av.sgid_index].valid &&
        gid_is_ipv4(to->av.dgid) == gid_is_ipv4(v->hca->gids[to->av.sgid_index].raw))
        return allowed;
    return refuse(WCS_LOC_QP_OP_ERR, nothing);
}

static const struct {
    enum rule rule;
    struct wqe_verdict (*check)(const struct wqe_view *, const struct send_wqe *);
} checks[] = {
    {RULE_SQ_FORM, check_form},
    {RULE_SQ_OPCODE, check_opcode},
    {RULE_SQ_INLINE, check_inline},
    {RULE_SQ_SGE_COUNT, check_sge_count},
    {RULE_SQ_LENGTH, check_length},
    {RULE_SQ_ATOMIC_LENGTH, check_atomic},
    {RULE_SQ_RD_ATOMIC, check_rd_atomic},
    {RULE_SQ_AH_PD, check_ah_pd},
    {RULE_SQ_AH, check_ah},
};

struct wqe_verdict wqe_decide(const struct wqe_view *v, const struct send_wqe *w)
{
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        struct wqe_verdict d = checks[i].check(v, w);

        if (d.status != WCS_SUCCESS) {
            d.rule = checks[i].rule;
            return d;
        }
    }
    return allowed;
}

enum wc_status wqe_key_status(enum rule rule, enum profile profile)
{
    return rule == RULE_MR_RANGE || profile_has(profile, TRAIT_SEND_KEY_IS_PROT_ERR)
               ? WCS_LOC_PROT_ERR
               : WCS_LOC_QP_OP_ERR;
}

uint32_t wqe_bytes(const struct send_wqe *w)
{
    return w->flags & SF_INLINE ? w->inline_bytes : (uint32_t)sge_total(w->sge, w->n_sge.said);
}

uint32_t wqe_pkts(uint32_t bytes, uint32_t mtu)
{
    return bytes == 0 ? 1 : (uint32_t)(((uint64_t)bytes + mtu - 1) / mtu);
}

enum op_position wqe_position(uint32_t i, uint32_t n)
{
    if (n == 1)
        return OPP_ONLY;
    if (i == 0)
        return OPP_FIRST;
    return i == n - 1 ? OPP_LAST : OPP_MIDDLE;
}
