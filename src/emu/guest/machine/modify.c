/* SPDX-License-Identifier: MIT */
/* MODIFY_QP: what a good driver refuses itself, and names; the neighbour's MAC; what the driver
 * then believes.
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/psn.h"
#include "emu/facts/qp_fsm.h"
#include "emu/guest/machine/internal.h"

#define SL_MAX 7u /* RoCE: the three bits of the VLAN priority */

/* The address vector names a GID of this host, and an address of the same kind. */
static bool ah_is_sound(const struct guest *g, const struct rdl_qp_attr *a)
{
    static const uint8_t none[GID_BYTES];

    return a->ah.sgid_index < GUEST_GIDS && a->ah.sl <= SL_MAX &&
           a->ah.flow_label <= FLOW_LABEL_MAX && memcmp(a->ah.dgid, none, GID_BYTES) != 0 &&
           gid_is_ipv4(a->ah.dgid) == gid_is_ipv4(g->config.gid[a->ah.sgid_index]);
}

/* The attributes of @mask whose value is out of range, a set of enum qp_attr_bit. */
static uint32_t bad_values(const struct guest *g, const struct rdl_qp_attr *a, uint32_t mask)
{
    const struct rfc_config *d = &g->device;
    const struct {
        uint32_t bit, value, min, max;
    } rows[] = {
        {QPA_STATE, a->state, QPS_RESET, QPS_ERR},
        {QPA_CUR_STATE, a->cur_state, QPS_RESET, QPS_ERR},
        {QPA_ACCESS_FLAGS, a->access, 0, GUEST_ACCESS_ALL},
        {QPA_PKEY_INDEX, a->pkey_index, 0, d->max_pkeys ? d->max_pkeys - 1u : 0},
        {QPA_PORT, a->port, 1, d->phys_port_cnt},
        {QPA_PATH_MTU, a->path_mtu, MTU_256, g->port.max_mtu},
        {QPA_TIMEOUT, a->timeout, 0, TIMER_CODE_MAX},
        {QPA_RETRY_CNT, a->retry_cnt, 0, RETRY_MAX},
        {QPA_RNR_RETRY, a->rnr_retry, 0, RETRY_MAX},
        {QPA_RQ_PSN, a->rq_psn, 0, PSN_MASK},
        {QPA_SQ_PSN, a->sq_psn, 0, PSN_MASK},
        {QPA_MAX_QP_RD_ATOMIC, a->max_rd_atomic, 0, d->max_qp_init_rd_atom},
        {QPA_MAX_DEST_RD_ATOMIC, a->max_dest_rd_atomic, 0, d->max_qp_rd_atom},
        {QPA_MIN_RNR_TIMER, a->min_rnr_timer, 0, TIMER_CODE_MAX},
        {QPA_DEST_QPN, a->dest_qpn, 1, QPN_MAX},
    };
    uint32_t bad = (mask & QPA_AV) && !ah_is_sound(g, a) ? QPA_AV : 0;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if ((mask & rows[i].bit) && (rows[i].value < rows[i].min || rows[i].value > rows[i].max))
            bad |= rows[i].bit;
    }
    return bad;
}

/* What a good driver refuses before the device sees it. */
static enum rdl_status check_modify(const struct guest_qp *qp, const struct rdl_qp_attr *a,
                                    uint32_t mask, struct rdl_modify_error *reterr)
{
    const enum qp_state from = (enum qp_state)qp->attr.state;
    const enum qp_state to = mask & QPA_STATE ? (enum qp_state)a->state : from;
    const uint32_t given = mask & ~(uint32_t)(QPA_STATE | QPA_CUR_STATE);
    struct rdl_modify_error e = {.from = from, .to = to};
    enum rdl_status st;

    e.bad = bad_values(qp->o.guest, a, mask);
    if ((mask & QPA_CUR_STATE) && a->cur_state != qp->attr.state)
        e.bad |= QPA_CUR_STATE;
    st = qp_fsm_check(qp->type, from, to, given, &e.missing, &e.extra);
    if (st == RDL_OK && e.bad)
        st = RDL_ERR_INVAL;
    if (st != RDL_OK)
        *reterr = e;
    return st;
}

/* Finds the MAC of the address vector, if the caller gave none: RDL_OK; RDL_ERR_BUSY when the link
 * was asked for it, RDL_ERR_NO_ROUTE.
 */
static enum rdl_status resolve(struct guest *g, struct rdl_qp_attr *a)
{
    static const uint8_t none[MAC_BYTES];
    const uint8_t *mac;
    enum rdl_status st;

    if (memcmp(a->ah.dmac, none, MAC_BYTES) != 0)
        return RDL_OK;
    st = guest_neighbour_resolve(&g->net, a->ah.dgid, &mac);
    if (st == RDL_OK)
        memcpy(a->ah.dmac, mac, MAC_BYTES);
    return st;
}

static void attr_to_rfc(const struct rdl_qp_attr *a, struct rfc_qp_attr *out)
{
    *out = (struct rfc_qp_attr){
        .qp_state = (uint8_t)a->state,
        .cur_qp_state = (uint8_t)a->cur_state,
        .path_mtu = (uint8_t)a->path_mtu,
        .rq_psn = a->rq_psn,
        .sq_psn = a->sq_psn,
        .dest_qp_num = a->dest_qpn,
        .qp_access_flags = a->access,
        .pkey_index = (uint16_t)a->pkey_index,
        .max_rd_atomic = (uint8_t)a->max_rd_atomic,
        .max_dest_rd_atomic = (uint8_t)a->max_dest_rd_atomic,
        .min_rnr_timer = (uint8_t)a->min_rnr_timer,
        .port_num = (uint8_t)a->port,
        .timeout = (uint8_t)a->timeout,
        .retry_cnt = (uint8_t)a->retry_cnt,
        .rnr_retry = (uint8_t)a->rnr_retry,
        .ah_flow_label = a->ah.flow_label,
        .ah_sgid_index = a->ah.sgid_index,
        .ah_hop_limit = a->ah.hop_limit,
        .ah_traffic_class = a->ah.traffic_class,
        .ah_sl = a->ah.sl,
        .ah_port_num = (uint8_t)a->port,
        .ah_flags = AH_FLAG_GRH,
    };
    memcpy(out->ah_dgid, a->ah.dgid, GID_BYTES);
    memcpy(out->ah_dmac, a->ah.dmac, MAC_BYTES);
}

/* Sends the request that ctrl.attr and ctrl.mask describe. */
static enum rdl_status send_modify(struct guest_qp *qp)
{
    struct guest *g = qp->o.guest;
    struct rfc_modify_qp cmd = {.qpn = qp->qpn, .attr_mask = g->ctrl.mask};
    struct rfc_qp_attr fields;
    struct raw_qp_attr packed;
    struct raw_modify_qp raw;

    attr_to_rfc(&g->ctrl.attr, &fields);
    rfc_qp_attr_put(&packed, &fields);
    memcpy(cmd.attrs, &packed, sizeof(packed));
    rfc_modify_qp_put(&raw, &cmd);
    return ctrl_send(g, CMD_MODIFY_QP, &raw, &qp->o, qp->qpn);
}

/* The request is under way, but waits for a neighbour before it is sent. */
static void wait_for_neighbour(struct guest_qp *qp)
{
    struct guest_ctrl *c = &qp->o.guest->ctrl;

    c->busy = true;
    c->resolving = true;
    c->no_route = false;
    c->cmd = CMD_MODIFY_QP;
    c->object = &qp->o;
    c->number = qp->qpn;
}

void modify_resolved(struct guest *g, const uint8_t gid[GID_BYTES], const uint8_t *mac)
{
    struct guest_ctrl *c = &g->ctrl;

    if (!c->resolving || memcmp(c->attr.ah.dgid, gid, GID_BYTES) != 0)
        return;
    c->resolving = false;
    c->busy = false;
    c->no_route = !mac;
    if (!mac)
        return;
    memcpy(c->attr.ah.dmac, mac, MAC_BYTES);
    if (send_modify((struct guest_qp *)c->object) != RDL_OK)
        g->broken = true; /* the ring was sound and empty */
}

enum rdl_status guest_modify_qp(struct guest_qp *qp, const struct rdl_qp_attr *attr, uint32_t mask,
                                bool unchecked, struct rdl_modify_error *reterr)
{
    struct guest *g = qp->o.guest;
    struct rdl_qp_attr a = *attr;
    enum rdl_status st = ctrl_ready(g);

    if (st == RDL_OK)
        st = object_usable(&qp->o);
    if (st == RDL_OK && !unchecked)
        st = check_modify(qp, &a, mask, reterr);
    if (st != RDL_OK)
        return st;
    if (mask & QPA_AV)
        st = resolve(g, &a);
    if (st == RDL_ERR_NO_ROUTE && !unchecked)
        return st;
    g->ctrl.attr = a;
    g->ctrl.mask = mask;
    if (st != RDL_ERR_BUSY || unchecked)
        return send_modify(qp); /* a careless driver does without a MAC */
    wait_for_neighbour(qp);
    return RDL_OK;
}

/* Copies what @mask says from @from to @to. */
static void merge(struct rdl_qp_attr *to, const struct rdl_qp_attr *from, uint32_t mask)
{
    const struct {
        uint32_t bit;
        uint32_t *to;
        uint32_t from;
    } rows[] = {
        {QPA_STATE, &to->state, from->state},
        {QPA_ACCESS_FLAGS, &to->access, from->access},
        {QPA_PKEY_INDEX, &to->pkey_index, from->pkey_index},
        {QPA_PORT, &to->port, from->port},
        {QPA_PATH_MTU, &to->path_mtu, from->path_mtu},
        {QPA_TIMEOUT, &to->timeout, from->timeout},
        {QPA_RETRY_CNT, &to->retry_cnt, from->retry_cnt},
        {QPA_RNR_RETRY, &to->rnr_retry, from->rnr_retry},
        {QPA_RQ_PSN, &to->rq_psn, from->rq_psn},
        {QPA_SQ_PSN, &to->sq_psn, from->sq_psn},
        {QPA_MAX_QP_RD_ATOMIC, &to->max_rd_atomic, from->max_rd_atomic},
        {QPA_MAX_DEST_RD_ATOMIC, &to->max_dest_rd_atomic, from->max_dest_rd_atomic},
        {QPA_MIN_RNR_TIMER, &to->min_rnr_timer, from->min_rnr_timer},
        {QPA_DEST_QPN, &to->dest_qpn, from->dest_qpn},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (mask & rows[i].bit)
            *rows[i].to = rows[i].from;
    }
    if (mask & QPA_AV)
        to->ah = from->ah;
}

void qp_modified(struct guest *g, const uint8_t *data)
{
    struct guest_qp *qp = (struct guest_qp *)g->ctrl.object;

    (void)data;
    if ((g->ctrl.mask & QPA_STATE) && g->ctrl.attr.state == QPS_RESET) {
        qp->attr = (struct rdl_qp_attr){.state = QPS_RESET};
        qp_forget_completions(qp);
        return;
    }
    merge(&qp->attr, &g->ctrl.attr, g->ctrl.mask);
}
