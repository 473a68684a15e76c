/* SPDX-License-Identifier: MIT */
/* States of queue pairs, and multicast groups. */
#include <string.h>

#include "cli/programs/verbs_peer_internal.h"
#include "emu/base/assert.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/qp_fsm.h"

/* Defaults of `connect`. */
#define PORT             1u
#define HOP_LIMIT        64u
#define TIMEOUT          14u
#define RETRIES          7u
#define MIN_RNR_TIMER    12u
#define READS            4u
#define CONNECTED_ACCESS "rw,rr,ra"
#define CONNECTED_MTU    "1024"
#define PEER             "peer."

static const enum qp_state way_up[] = {QPS_INIT, QPS_RTR, QPS_RTS};

unsigned vp_connect_asks(const struct verbs_peer *p)
{
    (void)p;
    return ARRAY_LEN(way_up);
}

/* connect QP peer.QP: does this side's half of the lab's `connect`, one transition per request. */
enum rdl_status vp_connect(struct verbs_peer *p)
{
    const struct vp_object *qp = vp_named(p, vp_operand(p, 0), VP_QP);
    const char *name = vp_operand(p, 1), *mtu = vp_value(p, "mtu");
    const bool is_peers = strncmp(name, PEER, strlen(PEER)) == 0;
    const struct vp_remote *remote = is_peers ? vp_remote(p, name + strlen(PEER)) : NULL;
    const enum qp_state to = way_up[p->step];
    struct rdl_modify_error err;
    struct rdl_qp_attr attr = {
        .state = to,
        .port = PORT,
        .access = vp_access(p, CONNECTED_ACCESS),
        .path_mtu = vp_word(p, &enum_mtu, mtu ? mtu : CONNECTED_MTU),
        .dest_qpn = remote ? remote->number : 0,
        .rq_psn = (uint32_t)vp_number(p, "peer_psn", p->peer_psn),
        .sq_psn = (uint32_t)vp_number(p, "sq_psn", p->psn),
        .max_rd_atomic = (uint32_t)vp_number(p, "max_rd_atomic", READS),
        .max_dest_rd_atomic = (uint32_t)vp_number(p, "max_dest_rd_atomic", READS),
        .min_rnr_timer = (uint32_t)vp_number(p, "min_rnr_timer", MIN_RNR_TIMER),
        .timeout = (uint32_t)vp_number(p, "timeout", TIMEOUT),
        .retry_cnt = (uint32_t)vp_number(p, "retry_cnt", RETRIES),
        .rnr_retry = (uint32_t)vp_number(p, "rnr_retry", RETRIES),
        .ah.sgid_index = (uint8_t)p->config.gid_index,
        .ah.hop_limit = HOP_LIMIT,
    };

    if (!is_peers)
        vp_fail(p, "%s is no queue pair of the other side", name);
    memcpy(attr.ah.dgid, p->peer_gid, sizeof(attr.ah.dgid));
    if (vp_failed(p))
        return RDL_OK;
    return rdl_modify_qp(p->lab, qp->qp, &attr, QPA_STATE | qp_fsm_needs(qp->type, to), false,
                         &err);
}

/* Reads the queue pair and the group ("gid=") of the line. */
static const struct vp_object *read_group(struct verbs_peer *p, uint8_t ret_gid[GID_BYTES])
{
    const struct vp_object *qp = vp_named(p, vp_operand(p, 0), VP_QP);
    const char *gid = vp_value(p, "gid");

    vp_gid(p, gid ? gid : "", ret_gid);
    return qp;
}

enum rdl_status vp_attach_mcast(struct verbs_peer *p)
{
    uint8_t gid[GID_BYTES];
    const struct vp_object *qp = read_group(p, gid);

    return vp_failed(p) ? RDL_OK : rdl_attach_mcast(p->lab, qp->qp, gid);
}

enum rdl_status vp_detach_mcast(struct verbs_peer *p)
{
    uint8_t gid[GID_BYTES];
    const struct vp_object *qp = read_group(p, gid);

    return vp_failed(p) ? RDL_OK : rdl_detach_mcast(p->lab, qp->qp, gid);
}

/* Reads the integer attributes of modify_qp.  Returns the mask of those that are given. */
static uint32_t read_numbers(struct verbs_peer *p, struct rdl_qp_attr *attr)
{
    const struct {
        const char *key;
        uint32_t mask, *at;
    } rows[] = {
        {"pkey_index", QPA_PKEY_INDEX, &attr->pkey_index},
        {"port", QPA_PORT, &attr->port},
        {"qkey", QPA_QKEY, &attr->qkey},
        {"sq_psn", QPA_SQ_PSN, &attr->sq_psn},
    };
    uint32_t mask = 0;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!vp_value(p, rows[i].key))
            continue;
        *rows[i].at = (uint32_t)vp_number(p, rows[i].key, 0);
        mask |= rows[i].mask;
    }
    return mask;
}

enum rdl_status vp_modify_qp(struct verbs_peer *p)
{
    const struct vp_object *qp = vp_named(p, vp_operand(p, 0), VP_QP);
    const char *state = vp_value(p, "state");
    struct rdl_modify_error err;
    struct rdl_qp_attr attr = {0};
    uint32_t mask = read_numbers(p, &attr);

    if (state) {
        attr.state = vp_word(p, &enum_qp_state, state);
        mask |= QPA_STATE;
    }
    if (vp_value(p, "access")) {
        attr.access = vp_access(p, "");
        mask |= QPA_ACCESS_FLAGS;
    }
    return vp_failed(p) ? RDL_OK : rdl_modify_qp(p->lab, qp->qp, &attr, mask, false, &err);
}
