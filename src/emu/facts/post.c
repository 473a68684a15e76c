/* SPDX-License-Identifier: MIT */
#include "emu/facts/post.h"

#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/rules.h"
#include "emu/facts/wr.h"

#define SEND_FLAGS_ALL (unsigned)(SF_FENCE | SF_SIGNALED | SF_SOLICITED | SF_INLINE)

bool post_state_takes_sends(uint32_t state)
{
    return state == QPS_RTS || state == QPS_SQD || state == QPS_SQE || state == QPS_ERR;
}

bool post_state_takes_recvs(uint32_t state)
{
    return state != QPS_RESET;
}

static bool has_opcode(const struct post_limits *limits, const struct post_send *send,
                       struct compared *ret)
{
    (void)ret;
    return wr_is_of_type(limits->type, send->opcode);
}

static bool has_flags(const struct post_limits *limits, const struct post_send *send,
                      struct compared *ret)
{
    (void)ret;
    if (send->flags & ~SEND_FLAGS_ALL)
        return false;
    return limits->type == QPT_RC || !(send->flags & SF_FENCE);
}

static bool has_inline_opcode(const struct post_limits *limits, const struct post_send *send,
                              struct compared *ret)
{
    (void)limits;
    (void)ret;
    return !(send->flags & SF_INLINE) || wr_info(send->opcode)->data == WR_DATA_TAKES;
}

static bool has_inline_length(const struct post_limits *limits, const struct post_send *send,
                              struct compared *ret)
{
    if (!(send->flags & SF_INLINE))
        return true;
    *ret = compared_at_most(limits->max_inline_data, send->inline_bytes);
    return send->n_sge == 0 && send->inline_bytes <= limits->max_inline_data;
}

static bool has_sge_count(const struct post_limits *limits, const struct post_send *send,
                          struct compared *ret)
{
    const uint32_t sge_rd = limits->max_sge_rd;
    uint32_t most = wr_info(send->opcode)->data == WR_DATA_NONE ? 0 : limits->max_sge;

    if ((send->opcode == WR_RDMA_READ || send->opcode == WR_RDMA_READ_WITH_INV) && most > sge_rd)
        most = sge_rd;
    *ret = compared_at_most(most, send->n_sge);
    return send->n_sge <= most;
}

/* Evaluated in this order; checks after the first may rely on a valid opcode.  When a check fails,
 * *@ret holds the values that it compared, if any.
 */
#define CHECKS(X)                                                                                  \
    X(RULE_POST_OPCODE, has_opcode)                                                                \
    X(RULE_POST_FLAGS, has_flags)                                                                  \
    X(RULE_POST_INLINE_OPCODE, has_inline_opcode)                                                  \
    X(RULE_POST_INLINE_LENGTH, has_inline_length)                                                  \
    X(RULE_POST_SGE_COUNT, has_sge_count)

#define ASK(name, has)                                                                             \
    by = (struct objection){(name), {0}};                                                          \
    if (!has(limits, send, &by.values))                                                            \
        return by;

struct objection post_check_send(const struct post_limits *limits, const struct post_send *send)
{
    struct objection by;

    CHECKS(ASK)
    return (struct objection){RULE_NONE, {0}};
}

struct objection post_check_recv(uint32_t max_sge, uint64_t n_sge)
{
    if (n_sge <= max_sge)
        return (struct objection){RULE_NONE, {0}};
    return (struct objection){RULE_POST_SGE_COUNT, compared_at_most(max_sge, n_sge)};
}
