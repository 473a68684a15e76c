/* SPDX-License-Identifier: MIT */
/* The calls of the user: each builds one message. */
#include <string.h>

#include "emu/facts/enum/sidr_status.h"
#include "emu/guest/cm/ib_cm_internal.h"

#define LID_PERMISSIVE 0xffffu
#define PKEY_DEFAULT   0xffffu

#define PUT_PRIVATE(message, data, bytes)                                                          \
    ib_cm_put_private((message).private_data, sizeof((message).private_data), data, bytes)

/* The transaction ID of a message that opens an exchange. */
static uint64_t new_tid(const struct ib_cm_id *id)
{
    return (uint64_t)id->cm->config.agent << 32 | id->local_id;
}

enum rdl_status ib_cm_listen(struct ib_cm_id *id, uint64_t service_id)
{
    if (id->state != CMS_IDLE)
        return RDL_ERR_STATE;
    if (ib_cm_listener(id->cm, service_id))
        return RDL_ERR_EXISTS;
    id->service_id = service_id;
    if (!ib_cm_add_listener(id))
        return RDL_ERR_NOMEM;
    ib_cm_set_state(id, CMS_LISTEN);
    return RDL_OK;
}

/* A route with more than one hop has permissive LIDs; RoCE has none.  [Linux, cm_format_req()] */
static void put_path(struct cm_req *req, const struct ib_cm_path *path)
{
    const bool local = path->hop_limit <= 1;

    req->local_lid = req->remote_lid = local ? 0 : LID_PERMISSIVE;
    memcpy(req->local_gid, path->sgid, GID_BYTES);
    memcpy(req->remote_gid, path->dgid, GID_BYTES);
    req->flow_label = path->flow_label;
    req->traffic_class = path->traffic_class;
    req->hop_limit = path->hop_limit;
    req->sl = path->sl;
    req->subnet_local = local;
}

static void put_req(struct ib_cm_id *id, const struct ib_cm_req *r, struct cm_req *req)
{
    req->local_comm_id = id->local_id;
    req->service_id = r->service_id;
    req->local_ca_guid = id->cm->config.guid;
    req->local_qpn = r->qpn;
    req->responder_resources = r->responder_resources;
    req->initiator_depth = r->initiator_depth;
    req->remote_cm_timeout = r->remote_cm_timeout;
    req->transport = r->transport;
    req->flow_control = r->flow_control;
    req->starting_psn = r->starting_psn;
    req->local_cm_timeout = r->local_cm_timeout;
    req->retry_count = r->retry_count;
    req->pkey = PKEY_DEFAULT;
    req->path_mtu = r->path_mtu;
    req->rnr_retry_count = r->rnr_retry_count;
    req->max_cm_retries = r->max_cm_retries;
    req->srq = r->srq;
    req->ack_timeout = ib_cm_ack_timeout(id->cm->config.ack_delay, r->packet_life);
    put_path(req, &r->path);
}

enum rdl_status ib_cm_send_req(struct ib_cm_id *id, const struct ib_cm_req *r)
{
    struct mad m = ib_cm_message(CM_REQ, new_tid(id));

    if (id->state != CMS_IDLE)
        return RDL_ERR_STATE;
    if (!PUT_PRIVATE(m.u.req, r->private_data, r->private_bytes))
        return RDL_ERR_INVAL;
    id->ack_timeout = r->packet_life + 1;
    put_req(id, r, &m.u.req);
    id->path = r->path;
    id->service_id = r->service_id;
    id->tid = m.head.tid;
    id->local_qpn = r->qpn;
    id->remote_id = 0;
    id->max_retries = r->max_cm_retries;
    id->timeout_ns = 2 * ib_cm_time_ns(r->packet_life) + ib_cm_time_ns(r->remote_cm_timeout);
    ib_cm_set_state(id, CMS_REQ_SENT);
    ib_cm_transmit(id, &m);
    ib_cm_await(id, id->timeout_ns, id->max_retries);
    return RDL_OK;
}

enum rdl_status ib_cm_send_rep(struct ib_cm_id *id, const struct ib_cm_rep *r)
{
    struct mad m = ib_cm_message(CM_REP, id->tid);
    struct cm_rep *rep = &m.u.rep;

    if (id->state != CMS_REQ_RCVD && id->state != CMS_MRA_REQ_SENT)
        return RDL_ERR_STATE;
    if (!PUT_PRIVATE(*rep, r->private_data, r->private_bytes))
        return RDL_ERR_INVAL;
    rep->local_comm_id = id->local_id;
    rep->remote_comm_id = id->remote_id;
    rep->local_qpn = r->qpn;
    rep->starting_psn = r->starting_psn;
    rep->responder_resources = r->responder_resources;
    rep->initiator_depth = r->initiator_depth;
    rep->target_ack_delay = id->cm->config.ack_delay;
    rep->flow_control = r->flow_control;
    rep->rnr_retry_count = r->rnr_retry_count;
    rep->srq = r->srq;
    rep->local_ca_guid = id->cm->config.guid;
    id->local_qpn = r->qpn;
    ib_cm_set_state(id, CMS_REP_SENT);
    ib_cm_transmit(id, &m);
    ib_cm_await(id, id->timeout_ns, id->max_retries);
    return RDL_OK;
}

enum rdl_status ib_cm_send_rtu(struct ib_cm_id *id, const void *data, size_t bytes)
{
    struct mad m = ib_cm_message(CM_RTU, id->tid);

    if (id->state != CMS_REP_RCVD && id->state != CMS_MRA_REP_SENT)
        return RDL_ERR_STATE;
    if (!PUT_PRIVATE(m.u.rtu, data, bytes))
        return RDL_ERR_INVAL;
    m.u.rtu.local_comm_id = id->local_id;
    m.u.rtu.remote_comm_id = id->remote_id;
    ib_cm_set_state(id, CMS_ESTABLISHED);
    ib_cm_transmit(id, &m);
    return RDL_OK;
}

static bool may_reject(uint32_t state)
{
    return state >= CMS_REQ_SENT && state <= CMS_MRA_REP_RCVD;
}

enum rdl_status ib_cm_send_rej(struct ib_cm_id *id, uint32_t reason, const void *info,
                               size_t info_bytes, const void *data, size_t bytes)
{
    struct mad m = ib_cm_message(CM_REJ, id->tid);

    if (!may_reject(id->state))
        return RDL_ERR_STATE;
    if (!PUT_PRIVATE(m.u.rej, data, bytes) ||
        !ib_cm_put_private(m.u.rej.info, sizeof(m.u.rej.info), info, info_bytes))
        return RDL_ERR_INVAL;
    m.u.rej.reason = reason;
    m.u.rej.info_length = (uint32_t)info_bytes;
    ib_cm_reject(id, &m);
    return RDL_OK;
}

enum rdl_status ib_cm_prepare_mra(struct ib_cm_id *id, uint32_t service_timeout)
{
    if (id->state != CMS_REQ_RCVD && id->state != CMS_REP_RCVD)
        return RDL_ERR_STATE;
    ib_cm_set_state(id, id->state == CMS_REQ_RCVD ? CMS_MRA_REQ_SENT : CMS_MRA_REP_SENT);
    id->service_timeout = service_timeout;
    return RDL_OK;
}

enum rdl_status ib_cm_send_dreq(struct ib_cm_id *id, const void *data, size_t bytes)
{
    struct mad m = ib_cm_message(CM_DREQ, new_tid(id));

    if (id->state != CMS_ESTABLISHED)
        return RDL_ERR_STATE;
    if (!PUT_PRIVATE(m.u.dreq, data, bytes))
        return RDL_ERR_INVAL;
    m.u.dreq.local_comm_id = id->local_id;
    m.u.dreq.remote_comm_id = id->remote_id;
    m.u.dreq.remote_qpn = id->remote_qpn;
    ib_cm_set_state(id, CMS_DREQ_SENT);
    ib_cm_transmit(id, &m);
    ib_cm_await(id, id->timeout_ns, id->max_retries);
    return RDL_OK;
}

enum rdl_status ib_cm_send_drep(struct ib_cm_id *id, const void *data, size_t bytes)
{
    struct mad m = ib_cm_message(CM_DREP, id->tid);

    if (id->state != CMS_DREQ_RCVD)
        return RDL_ERR_STATE;
    if (!PUT_PRIVATE(m.u.drep, data, bytes))
        return RDL_ERR_INVAL;
    m.u.drep.local_comm_id = id->local_id;
    m.u.drep.remote_comm_id = id->remote_id;
    ib_cm_enter_timewait(id);
    ib_cm_transmit(id, &m);
    return RDL_OK;
}

enum rdl_status ib_cm_notify(struct ib_cm_id *id)
{
    if (id->state == CMS_ESTABLISHED)
        return RDL_ERR_EXISTS;
    if (id->state != CMS_REP_SENT && id->state != CMS_MRA_REP_RCVD)
        return RDL_ERR_STATE;
    ib_cm_stop_timer(id);
    ib_cm_set_state(id, CMS_ESTABLISHED);
    (void)ib_cm_tell(id, IB_CM_USER_ESTABLISHED, NULL, NULL);
    return RDL_OK;
}

enum rdl_status ib_cm_send_sidr_req(struct ib_cm_id *id, const struct ib_cm_sidr_req *r)
{
    struct mad m = ib_cm_message(CM_SIDR_REQ, new_tid(id));

    if (id->state != CMS_IDLE)
        return RDL_ERR_STATE;
    if (!PUT_PRIVATE(m.u.sidr_req, r->private_data, r->private_bytes))
        return RDL_ERR_INVAL;
    m.u.sidr_req.request_id = id->local_id;
    m.u.sidr_req.pkey = PKEY_DEFAULT;
    m.u.sidr_req.service_id = r->service_id;
    id->path = r->path;
    id->service_id = r->service_id;
    id->tid = m.head.tid;
    id->remote_id = 0;
    ib_cm_set_state(id, CMS_SIDR_REQ_SENT);
    ib_cm_transmit(id, &m);
    ib_cm_await(id, r->timeout_ns, r->max_cm_retries);
    return RDL_OK;
}

enum rdl_status ib_cm_send_sidr_rep(struct ib_cm_id *id, uint32_t status, uint32_t qpn,
                                    uint32_t qkey, const void *data, size_t bytes)
{
    struct mad m = ib_cm_message(CM_SIDR_REP, id->tid);

    if (id->state != CMS_SIDR_REQ_RCVD)
        return RDL_ERR_STATE;
    if (!PUT_PRIVATE(m.u.sidr_rep, data, bytes))
        return RDL_ERR_INVAL;
    m.u.sidr_rep.request_id = id->remote_id;
    m.u.sidr_rep.status = status;
    m.u.sidr_rep.service_id = id->service_id;
    if (status == SIDR_SUCCESS) {
        m.u.sidr_rep.qpn = qpn;
        m.u.sidr_rep.qkey = qkey;
    }
    ib_cm_transmit(id, &m);
    ib_cm_reset(id);
    return RDL_OK;
}
