/* SPDX-License-Identifier: MIT */
/* Verbs for queue pairs: create, modify, query, destroy. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/psn.h"
#include "emu/facts/qp_fsm.h"
#include "emu/guest/internal.h"

#define MAX_WR_DEFAULT  16u
#define MAX_SGE_DEFAULT 4u

/* A WQE and its inline data lie in one page. */
#define INLINE_MAX (RAM_PAGE_BYTES - (uint32_t)sizeof(struct raw_sq_wqe))

/* Largest values of attributes, where no limit of the device applies.  [IBTA1 11.2.5.2
 * (unverified), libibverbs ibv_modify_qp(3)]
 */
#define TIMER_CODE_MAX 31u
#define RETRY_MAX      7u
#define SL_MAX         7u /* RoCE: the three bits of the VLAN priority */
#define FLOW_LABEL_MAX 0xfffffu
#define QPN_MAX        0xffffffu
#define ACCESS_ALL     31u

#define AH_FLAG_GRH 1u

static struct guest_qp *answered_qp(const struct guest *g)
{
    return (struct guest_qp *)g->ctrl.object;
}

/* Looks up what @config names; all of it must live, on this host. */
static enum rdl_status find_parts(const struct guest *g, const struct rdl_qp_config *config,
                                  struct guest_qp *qp)
{
    struct guest_object *parts[3];

    qp->pd = slots_get(&g->config.tables->pd, config->pd.raw);
    qp->send_cq = slots_get(&g->config.tables->cq, config->send_cq.raw);
    qp->recv_cq = slots_get(&g->config.tables->cq, config->recv_cq.raw);
    if (!qp->pd || !qp->send_cq || !qp->recv_cq)
        return RDL_ERR_STALE;
    parts[0] = &qp->pd->o;
    parts[1] = &qp->send_cq->o;
    parts[2] = &qp->recv_cq->o;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (parts[i]->guest != g)
            return RDL_ERR_INVAL;
        if (parts[i]->life != GUEST_LIVE)
            return RDL_ERR_BUSY;
    }
    return RDL_OK;
}

/* Fills in @plan from @config: defaults, and what a device of these limits can do. */
static enum rdl_status plan_qp(const struct guest *g, const struct rdl_qp_config *config,
                               struct guest_qp *plan)
{
    const struct rfc_config *d = &g->device;

    plan->type = (enum qp_type)config->type;
    plan->sq_sig_all = config->sq_sig_all;
    plan->max_inline_data = config->max_inline_data;
    plan->sq.max_wr = config->max_send_wr ? config->max_send_wr : MAX_WR_DEFAULT;
    plan->rq.max_wr = config->max_recv_wr ? config->max_recv_wr : MAX_WR_DEFAULT;
    plan->sq.max_sge = config->max_send_sge ? config->max_send_sge : MAX_SGE_DEFAULT;
    plan->rq.max_sge = config->max_recv_sge ? config->max_recv_sge : MAX_SGE_DEFAULT;

    if (!enum_by_value(&enum_qp_type, config->type) || plan->max_inline_data > INLINE_MAX)
        return RDL_ERR_INVAL;
    if (plan->type != QPT_RC)
        return RDL_ERR_UNSUPPORTED;
    if (plan->sq.max_sge > RDL_SGE_MAX || plan->rq.max_sge > RDL_SGE_MAX ||
        plan->sq.max_sge > d->max_send_sge || plan->rq.max_sge > d->max_recv_sge ||
        plan->sq.max_wr > d->max_qp_wr || plan->rq.max_wr > d->max_qp_wr)
        return RDL_ERR_LIMIT;
    return find_parts(g, config, plan);
}

/* Largest WQEs: a head with all SGEs, or with all inline data. */
static uint32_t sq_wqe_bytes(const struct guest_qp *qp)
{
    const uint32_t sges = qp->sq.max_sge * (uint32_t)sizeof(struct raw_sge);

    return (uint32_t)sizeof(struct raw_sq_wqe) +
           (sges > qp->max_inline_data ? sges : qp->max_inline_data);
}

static uint32_t rq_wqe_bytes(const struct guest_qp *qp)
{
    return (uint32_t)(sizeof(struct raw_rq_wqe) + qp->rq.max_sge * sizeof(struct raw_sge));
}

static enum rdl_status send_create(struct guest_qp *qp)
{
    const struct rfc_create_qp cmd = {
        .pdn = qp->pd->pdn,
        .qp_type = (uint8_t)qp->type,
        .sq_sig_type = qp->sq_sig_all ? 0 : 1,
        .max_send_wr = qp->sq.max_wr,
        .max_send_sge = qp->sq.max_sge,
        .send_cqn = qp->send_cq->cqn,
        .max_recv_wr = qp->rq.max_wr,
        .max_recv_sge = qp->rq.max_sge,
        .recv_cqn = qp->recv_cq->cqn,
        .max_inline_data = qp->max_inline_data,
    };
    struct raw_create_qp raw;

    rfc_create_qp_put(&raw, &cmd);
    return ctrl_send(qp->o.guest, CMD_CREATE_QP, &raw, sizeof(raw), sizeof(struct raw_qp_handle),
                     &qp->o, 0);
}

/* Counts the queue pair as a user of its parts, or no longer. */
static void use_parts(const struct guest_qp *qp, bool use)
{
    const uint32_t one = use ? 1u : UINT32_MAX;

    qp->pd->o.n_users += one;
    qp->send_cq->o.n_users += one;
    qp->recv_cq->o.n_users += one;
}

static void release(struct guest_qp *qp)
{
    use_parts(qp, false);
    queue_mem_give(qp->o.guest, &qp->sq.mem);
    queue_mem_give(qp->o.guest, &qp->rq.mem);
}

enum rdl_status guest_create_qp(struct guest *g, const struct rdl_qp_config *config,
                                const char *name, uint32_t *ret)
{
    enum rdl_status st = ctrl_ready(g);
    struct guest_qp plan = {0};
    struct guest_object *o;
    struct guest_qp *qp;
    uint32_t handle;

    if (st == RDL_OK)
        st = plan_qp(g, config, &plan);
    if (st == RDL_OK)
        st = object_new(g, OBJ_QP, name, &o);
    if (st != RDL_OK)
        return st;

    qp = (struct guest_qp *)o;
    plan.o = *o;
    *qp = plan;
    use_parts(qp, true);
    handle = o->handle;
    st = queue_mem_take(g, qp->sq.max_wr, sq_wqe_bytes(qp), &qp->sq.mem);
    if (st == RDL_OK)
        st = queue_mem_take(g, qp->rq.max_wr, rq_wqe_bytes(qp), &qp->rq.mem);
    if (st == RDL_OK)
        st = send_create(qp);
    if (st != RDL_OK) {
        release(qp);
        object_drop(o);
        return st;
    }
    *ret = handle;
    return RDL_OK;
}

/* Completions that are there already are not about this life of the queue pair. */
static void forget_completions(struct guest_qp *qp)
{
    qp->send_cq_from = cq_completions(qp->send_cq);
    qp->recv_cq_from = cq_completions(qp->recv_cq);
}

void qp_created(struct guest *g, const uint8_t *data)
{
    struct guest_qp *qp = answered_qp(g);
    const uint32_t qpn = ld_le32(data);

    if (qpn < 1 || qpn > g->device.max_qp || g->qp_of[qpn])
        goto nonsense;
    qp->qpn = qpn;
    qp->sq.queue = guest_sq_of(g, qpn);
    qp->rq.queue = guest_rq_of(g, qpn);
    if (queue_attach(g, qp->sq.queue, &qp->sq.mem, VIRTIO_NO_VECTOR) != RDL_OK ||
        queue_attach(g, qp->rq.queue, &qp->rq.mem, VIRTIO_NO_VECTOR) != RDL_OK)
        goto nonsense;
    g->qp_of[qpn] = qp;
    forget_completions(qp);
    object_live(&qp->o, qpn);
    return;

nonsense:
    g->broken = true;
    release(qp);
    object_drop(&qp->o);
}

void qp_refused(struct guest *g)
{
    release(answered_qp(g));
    object_drop(g->ctrl.object);
}

enum rdl_status guest_destroy_qp(struct guest_qp *qp)
{
    struct guest *g = qp->o.guest;
    uint8_t handle[sizeof(struct raw_qp_handle)];
    enum rdl_status st = ctrl_ready(g);

    if (st == RDL_OK)
        st = object_destroyable(&qp->o);
    if (st != RDL_OK)
        return st;
    st_le32(handle, qp->qpn);
    qp->o.life = GUEST_LEAVING;
    st = ctrl_send(g, CMD_DESTROY_QP, handle, sizeof(handle), 0, &qp->o, qp->qpn);
    if (st != RDL_OK)
        qp->o.life = GUEST_LIVE;
    return st;
}

void qp_destroyed(struct guest *g, const uint8_t *data)
{
    struct guest_qp *qp = answered_qp(g);

    (void)data;
    g->qp_of[qp->qpn] = NULL;
    queue_detach(g, qp->sq.queue, VIRTIO_NO_VECTOR);
    queue_detach(g, qp->rq.queue, VIRTIO_NO_VECTOR);
    release(qp);
    object_gone(&qp->o, qp->qpn);
}

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
        {QPA_ACCESS_FLAGS, a->access, 0, ACCESS_ALL},
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

/* Finds the MAC of the address vector, if the caller gave none. */
static enum rdl_status resolve(const struct guest *g, struct rdl_qp_attr *a)
{
    static const uint8_t none[MAC_BYTES];
    const uint8_t *mac;

    if (memcmp(a->ah.dmac, none, MAC_BYTES) != 0)
        return RDL_OK;
    mac = guest_neighbour_mac(g, a->ah.dgid);
    if (!mac)
        return RDL_ERR_NO_ROUTE;
    memcpy(a->ah.dmac, mac, MAC_BYTES);
    return RDL_OK;
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

static void attr_from_rfc(const struct rfc_qp_attr *a, struct rdl_qp_attr *out)
{
    *out = (struct rdl_qp_attr){
        .state = a->qp_state,
        .cur_state = a->cur_qp_state,
        .path_mtu = a->path_mtu,
        .access = a->qp_access_flags,
        .pkey_index = a->pkey_index,
        .port = a->port_num,
        .dest_qpn = a->dest_qp_num,
        .rq_psn = a->rq_psn,
        .sq_psn = a->sq_psn,
        .max_rd_atomic = a->max_rd_atomic,
        .max_dest_rd_atomic = a->max_dest_rd_atomic,
        .min_rnr_timer = a->min_rnr_timer,
        .timeout = a->timeout,
        .retry_cnt = a->retry_cnt,
        .rnr_retry = a->rnr_retry,
        .ah.sgid_index = a->ah_sgid_index,
        .ah.hop_limit = a->ah_hop_limit,
        .ah.traffic_class = a->ah_traffic_class,
        .ah.sl = a->ah_sl,
        .ah.flow_label = a->ah_flow_label,
    };
    memcpy(out->ah.dgid, a->ah_dgid, GID_BYTES);
    memcpy(out->ah.dmac, a->ah_dmac, MAC_BYTES);
}

enum rdl_status guest_modify_qp(struct guest_qp *qp, const struct rdl_qp_attr *attr, uint32_t mask,
                                bool unchecked, struct rdl_modify_error *reterr)
{
    struct guest *g = qp->o.guest;
    struct rfc_modify_qp cmd = {.qpn = qp->qpn, .attr_mask = mask};
    struct rdl_qp_attr a = *attr;
    struct rfc_qp_attr fields;
    struct raw_qp_attr packed;
    struct raw_modify_qp raw;
    enum rdl_status st = ctrl_ready(g);

    if (st == RDL_OK)
        st = object_usable(&qp->o);
    if (st == RDL_OK && !unchecked)
        st = check_modify(qp, &a, mask, reterr);
    if (st == RDL_OK && (mask & QPA_AV)) {
        st = resolve(g, &a);
        if (unchecked)
            st = RDL_OK;
    }
    if (st != RDL_OK)
        return st;

    attr_to_rfc(&a, &fields);
    rfc_qp_attr_put(&packed, &fields);
    memcpy(cmd.attrs, &packed, sizeof(packed));
    rfc_modify_qp_put(&raw, &cmd);
    g->ctrl.attr = a;
    g->ctrl.mask = mask;
    return ctrl_send(g, CMD_MODIFY_QP, &raw, sizeof(raw), 0, &qp->o, qp->qpn);
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
    struct guest_qp *qp = answered_qp(g);

    (void)data;
    if ((g->ctrl.mask & QPA_STATE) && g->ctrl.attr.state == QPS_RESET) {
        qp->attr = (struct rdl_qp_attr){.state = QPS_RESET};
        forget_completions(qp);
        return;
    }
    merge(&qp->attr, &g->ctrl.attr, g->ctrl.mask);
}

enum rdl_status guest_query_qp(struct guest_qp *qp)
{
    struct guest *g = qp->o.guest;
    const struct rfc_query_qp cmd = {.qpn = qp->qpn, .attr_mask = UINT32_MAX};
    struct raw_query_qp raw;
    enum rdl_status st = ctrl_ready(g);

    if (st == RDL_OK)
        st = object_usable(&qp->o);
    if (st != RDL_OK)
        return st;
    rfc_query_qp_put(&raw, &cmd);
    return ctrl_send(g, CMD_QUERY_QP, &raw, sizeof(raw), sizeof(struct raw_qp_attr), &qp->o,
                     qp->qpn);
}

void qp_queried(struct guest *g, const uint8_t *data)
{
    struct rfc_qp_attr fields;
    struct raw_qp_attr raw;

    memcpy(&raw, data, sizeof(raw));
    rfc_qp_attr_get(&fields, &raw);
    attr_from_rfc(&fields, &answered_qp(g)->attr);
}

void guest_qp_info(const struct guest_qp *qp, struct rdl_qp_info *ret)
{
    *ret = (struct rdl_qp_info){
        .qpn = qp->qpn,
        .type = qp->type,
        .attr = qp->attr,
        .sq_queue = qp->sq.queue,
        .rq_queue = qp->rq.queue,
        .max_send_sge = qp->sq.max_sge,
        .max_recv_sge = qp->rq.max_sge,
        .max_inline_data = qp->max_inline_data,
    };
}
