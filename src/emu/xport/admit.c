/* SPDX-License-Identifier: MIT */
#include "emu/xport/admit.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/profile.h"
#include "emu/hca/ctrl.h"
#include "emu/xport/xport_qp.h"

/* The upper three bits of an opcode are the service, also for reserved opcodes.  [IBTA1 9.2.1] */
#define SERVICE_SHIFT 5u

/* Returns true if the opcode of @p, which can be reserved, belongs to the service @s. */
static bool is_of_service(const struct packet *p, enum op_service s)
{
    static const uint8_t upper[] = {[OPS_RC] = 0, [OPS_UC] = 1, [OPS_UD] = 3};

    return p->bth.opcode >> SERVICE_SHIFT == upper[s];
}

/* Returns true if the opcode @op is reserved for @qp: undefined, or of an extension that its device
 * does not have.
 */
static bool is_reserved(const struct qp *qp, const struct op_info *op)
{
    return !op->name ||
           (op_is_placement(op) && !profile_has(qp->hca->profile, TRAIT_PLACEMENT_OFFERED));
}

/* Returns true if @qp answers a reserved opcode with a NAK. */
static bool answers_reserved(const struct qp *qp)
{
    return xport_of_const(qp)->service->reliable &&
           profile_has(qp->hca->profile, TRAIT_RESERVED_OPCODE_IS_NAKED);
}

/* Unreliable services receive in SQE, too.  A reliable one is never in SQE. */
static bool state_takes(enum qp_state state, const struct packet *p)
{
    if (state == QPS_RTS || state == QPS_SQD || state == QPS_SQE)
        return true;
    return state == QPS_RTR && !op_is_response(p->op);
}

static bool is_from_peer(const struct qp *qp, const struct packet *p)
{
    const struct av *av = &qp->attr.av;

    return memcmp(p->ip.src, av->dgid, GID_BYTES) == 0 &&
           memcmp(p->ip.dst, qp_gids(qp)[av->sgid_index].raw, GID_BYTES) == 0;
}

/* The addresses that differ, as numbers, if they are IPv4 addresses. */
static struct compared source_compared(const struct qp *qp, const struct packet *p)
{
    const struct av *av = &qp->attr.av;
    const uint8_t *want = av->dgid, *have = p->ip.src;

    if (memcmp(want, have, GID_BYTES) == 0) {
        want = qp_gids(qp)[av->sgid_index].raw;
        have = p->ip.dst;
    }
    if (!gid_is_ipv4(want) || !gid_is_ipv4(have))
        return (struct compared){0};
    return compared_one(ld_be32(want + GID_IPV4_AT), ld_be32(have + GID_IPV4_AT));
}

bool admit_partition(const struct qp *qp, uint16_t pkey, uint16_t *ret_index)
{
    const uint32_t n = qp->qpn == QPN_GSI ? qp->hca->pkeys.n : qp->attr.pkey_index + 1;
    uint16_t own = 0;

    for (uint32_t i = qp->attr.pkey_index; i < n; i++) {
        const enum refusal_reason found = hca_pkey(qp->hca, i, &own);

        RDL_ASSERT(found == REF_NONE); /* the index was checked by MODIFY_QP */
        if (hca_pkey_match(pkey, own)) {
            *ret_index = (uint16_t)i;
            return true;
        }
    }
    return false;
}

struct compared admit_compared(const struct hca *h, const struct qp *qp, const struct packet *p,
                               enum drop_reason reason)
{
    uint16_t pkey = 0;

    if (reason == DROP_NO_SUCH_QP)
        return (struct compared){1, 0, p->bth.dest_qpn}; /* 1 .. 0: no value is valid */
    if (!qp)
        return (struct compared){0};
    switch (reason) {
    case DROP_QP_NOT_READY:
        return (struct compared){op_is_response(p->op) ? QPS_RTS : QPS_RTR, QPS_SQD, qp->state};
    case DROP_BAD_PKEY:
        (void)!hca_pkey(h, qp->attr.pkey_index, &pkey);
        return compared_one(pkey, p->bth.pkey);
    case DROP_BAD_QKEY:
        return compared_one(qp->attr.qkey, p->deth.qkey);
    case DROP_WRONG_SOURCE:
        return source_compared(qp, p);
    default:
        return (struct compared){0};
    }
}

enum drop_reason admit_to(const struct qp *qp, const struct packet *p)
{
    const struct service *service = xport_of_const(qp)->service;
    uint16_t index;

    if (is_reserved(qp, p->op) && (!is_of_service(p, service->packets) || !answers_reserved(qp)))
        return DROP_BAD_OPCODE;
    if (!is_of_service(p, service->packets))
        return DROP_WRONG_SERVICE;
    if (!state_takes(qp->state, p) || xport_of_const(qp)->resp.closing)
        return DROP_QP_NOT_READY;
    if (!admit_partition(qp, p->bth.pkey, &index))
        return DROP_BAD_PKEY;
    if (service->connected && !is_from_peer(qp, p))
        return DROP_WRONG_SOURCE;
    if (!service->connected && p->deth.qkey != qp->attr.qkey)
        return DROP_BAD_QKEY; /* [IBTA1 9.8.3] */
    return DROP_NONE;
}

enum drop_reason admit(const struct hca *h, const struct hca_gid *gids, const struct packet *p,
                       struct qp **ret)
{
    struct qp *qp;
    enum drop_reason reason;

    if (!hca_gid_is_in(gids ? gids : h->gids, p->ip.dst))
        return DROP_NO_SUCH_GID;
    qp = hca_qp(h, p->bth.dest_qpn);
    if (!qp || qp->gids != gids)
        return DROP_NO_SUCH_QP;
    reason = admit_to(qp, p);
    if (reason == DROP_NONE)
        *ret = qp;
    return reason;
}
