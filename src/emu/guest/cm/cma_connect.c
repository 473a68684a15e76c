/* SPDX-License-Identifier: MIT */
/* Connections: what a program asks for becomes messages, and messages become events. */
#include <errno.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/min.h"
#include "emu/facts/cma_calls.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/cm_reason.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/sidr_status.h"
#include "emu/guest/cm/cma_internal.h"

#define RESPONSE_TIMEOUT 20u /* code  [Linux, CMA_CM_RESPONSE_TIMEOUT] */
#define MAX_CM_RETRIES   15u /* [Linux, CMA_MAX_CM_RETRIES] */
#define MRA_TIMEOUT      24u /* code  [Linux, CMA_CM_MRA_SETTING] */
#define RETRIES_MAX      7u
#define HOPS             64u
#define FLOW_LABEL_MASK  0xfffffu
#define HASH_FACTOR      31u

/* --- Asking ----------------------------------------------------------------------------------- */

/* Linux spreads connections over UDP source ports by the flow label.  Options that are set after
 * this change nothing of the route.  [Linux, cma_resolve_iboe_route(), rdma_calc_flow_label()]
 */
void cma_take_route(struct cma_id *id)
{
    id->path_mtu = id->cma->config.path_mtu;
    id->packet_life = cma_packet_life(id);
    id->traffic_class = id->tos;
    id->flow_label = (HASH_FACTOR * id->local.port + id->peer.port) & FLOW_LABEL_MASK;
}

void cma_put_way(const struct cma_id *id, const uint8_t gid[GID_BYTES], struct rdl_ah_attr *ret)
{
    memcpy(ret->dgid, gid, GID_BYTES);
    ret->hop_limit = HOPS;
    ret->traffic_class = id->traffic_class;
    ret->flow_label = id->flow_label;
    ret->sgid_index = id->local.version == 4 ? 0 : 1;
    ret->port = 1;
}

static void put_path(const struct cma_id *id, struct ib_cm_path *ret)
{
    memcpy(ret->sgid, id->local.gid, GID_BYTES);
    memcpy(ret->dgid, id->peer.gid, GID_BYTES);
    ret->flow_label = id->flow_label;
    ret->traffic_class = id->traffic_class;
    ret->hop_limit = HOPS;
}

/* In the header an IPv4 address has zeros before it. */
static void put_ip(uint8_t to[GID_BYTES], const struct rdl_cm_addr *a)
{
    if (a->version == 4)
        memcpy(to + GID_IPV4_AT, a->gid + GID_IPV4_AT, GID_BYTES - GID_IPV4_AT);
    else
        memcpy(to, a->gid, GID_BYTES);
}

/* Writes the addresses and the program's private data to @to.  Returns their length, 0 if there is
 * no room for them.
 */
static size_t put_private(const struct cma_id *id, const struct rdl_cm_param *p, uint8_t *to,
                          size_t room)
{
    struct rdma_cm_header h = {.ip_version = id->local.version, .port = id->local.port};

    if (p->private_bytes > room - RDMA_CM_BYTES)
        return 0;
    put_ip(h.source, &id->local);
    put_ip(h.destination, &id->peer);
    rdma_cm_build(&h, to);
    memcpy(to + RDMA_CM_BYTES, p->private_data, p->private_bytes);
    return RDMA_CM_BYTES + p->private_bytes;
}

/* The option ACK_TIMEOUT sets it by the rule that the timeout is one more.  [Linux,
 * cma_resolve_iboe_route()]
 */
uint32_t cma_packet_life(const struct cma_id *id)
{
    return id->has_timeout && id->timeout > 0 ? id->timeout - 1 : id->cma->config.packet_life;
}

static enum rdl_status send_req(struct cma_id *id, const struct rdl_cm_param *p)
{
    uint8_t data[CM_DATA_BYTES(req)];
    struct ib_cm_req req = {.path_mtu = id->path_mtu,
                            .packet_life = id->packet_life,
                            .service_id = cma_service_id(id->space, id->peer.port),
                            .qpn = id->qpn,
                            .starting_psn = id->psn,
                            .responder_resources = p->responder_resources,
                            .initiator_depth = p->initiator_depth,
                            .remote_cm_timeout = RESPONSE_TIMEOUT,
                            .local_cm_timeout = RESPONSE_TIMEOUT,
                            .max_cm_retries = MAX_CM_RETRIES,
                            .retry_count = min_u32(p->retry_count, RETRIES_MAX),
                            .rnr_retry_count = min_u32(p->rnr_retry_count, RETRIES_MAX),
                            .flow_control = p->flow_control,
                            .srq = id->srq,
                            .private_data = data};

    put_path(id, &req.path);
    req.private_bytes = put_private(id, p, data, sizeof(data));
    return req.private_bytes ? ib_cm_send_req(id->ib, &req) : RDL_ERR_INVAL;
}

static enum rdl_status send_sidr_req(struct cma_id *id, const struct rdl_cm_param *p)
{
    uint8_t data[CM_DATA_BYTES(sidr_req)];
    struct ib_cm_sidr_req req = {.service_id = cma_service_id(id->space, id->peer.port),
                                 .timeout_ns = ib_cm_time_ns(RESPONSE_TIMEOUT),
                                 .max_cm_retries = MAX_CM_RETRIES,
                                 .private_data = data};

    put_path(id, &req.path);
    req.private_bytes = put_private(id, p, data, sizeof(data));
    return req.private_bytes ? ib_cm_send_sidr_req(id->ib, &req) : RDL_ERR_INVAL;
}

int cma_connect(struct cma_id *id, const struct rdl_cm_param *p)
{
    enum rdl_status st;

    if (!cma_call_is_permitted(CMA_CALL_CONNECT, id->state))
        return EINVAL;
    id->ib = ib_cm_create(id->cma->config.ib, id);
    if (!id->ib)
        return ENOMEM;
    id->qpn = p->qpn;
    id->srq = p->srq;
    id->responder_resources = p->responder_resources;
    id->initiator_depth = p->initiator_depth;
    id->retry_count = min_u32(p->retry_count, RETRIES_MAX);
    id->state = CMA_CONNECT;
    st = cma_is_datagram(id) ? send_sidr_req(id, p) : send_req(id, p);
    if (st == RDL_OK)
        return 0;
    ib_cm_destroy(id->ib);
    id->ib = NULL;
    id->state = CMA_ROUTE_RESOLVED;
    return EINVAL;
}

/* --- Answering -------------------------------------------------------------------------------- */

static enum rdl_status accept_datagrams(struct cma_id *id, const struct rdl_cm_param *p)
{
    return ib_cm_send_sidr_rep(id->ib, SIDR_SUCCESS, id->qpn, CMA_DATAGRAM_QKEY,
                               p ? p->private_data : NULL, p ? p->private_bytes : 0);
}

static enum rdl_status accept_connection(struct cma_id *id, const struct rdl_cm_param *p)
{
    const struct ib_cm_rep rep = {.qpn = id->qpn,
                                  .starting_psn = id->psn,
                                  .responder_resources = p->responder_resources,
                                  .initiator_depth = p->initiator_depth,
                                  .rnr_retry_count = min_u32(p->rnr_retry_count, RETRIES_MAX),
                                  .flow_control = p->flow_control,
                                  .srq = id->srq,
                                  .private_data = p->private_data,
                                  .private_bytes = p->private_bytes};
    const enum rdl_status st = ib_cm_send_rep(id->ib, &rep);

    if (st == RDL_OK) {
        id->responder_resources = p->responder_resources;
        id->initiator_depth = p->initiator_depth;
    }
    return st;
}

/* An answer that cannot be sent becomes a refusal, if the peer still waits for one.  A second
 * rdma_accept() before the RTU so ends the connection.  [Linux, rdma_accept()]
 */
int cma_accept(struct cma_id *id, const struct rdl_cm_param *p)
{
    enum rdl_status st;

    if (!cma_call_is_permitted(CMA_CALL_ACCEPT, id->state) || !id->ib)
        return EINVAL;
    if (p) {
        id->qpn = p->qpn;
        id->srq = p->srq;
    }
    if (cma_is_datagram(id))
        st = accept_datagrams(id, p);
    else
        st = p ? accept_connection(id, p) : ib_cm_send_rtu(id->ib, NULL, 0);
    if (st != RDL_OK) {
        (void)!cma_reject(id, NULL, 0);
        return EINVAL;
    }
    if (p) /* which names the ID */
        id->is_unaccepted = false;
    return 0;
}

int cma_reject(struct cma_id *id, const void *data, size_t bytes)
{
    enum rdl_status st;

    if (!id->ib)
        return EINVAL;
    st = cma_is_datagram(id)
             ? ib_cm_send_sidr_rep(id->ib, SIDR_REJECT, 0, 0, data, bytes)
             : ib_cm_send_rej(id->ib, CM_REASON_CONSUMER_DEFINED, NULL, 0, data, bytes);
    return st == RDL_OK ? 0 : EINVAL;
}

/* The first of the two sides sends a DREQ, the other one a DREP.  [Linux, rdma_disconnect()] */
int cma_disconnect(struct cma_id *id)
{
    if (!id->ib)
        return EINVAL;
    if (ib_cm_send_dreq(id->ib, NULL, 0) != RDL_OK)
        (void)!ib_cm_send_drep(id->ib, NULL, 0);
    return 0;
}

int cma_notify(struct cma_id *id)
{
    enum rdl_status st;

    if (!id->ib)
        return EINVAL;
    st = ib_cm_notify(id->ib);
    return st == RDL_OK ? 0 : st == RDL_ERR_EXISTS ? EISCONN : EINVAL;
}

/* --- Queue pairs ------------------------------------------------------------------------------ */

/* The peer may write; and read, if it was told that there are resources for that. */
static uint32_t access_of(const struct cma_id *id)
{
    return ACC_REMOTE_WRITE | (id->responder_resources ? ACC_REMOTE_READ | ACC_REMOTE_ATOMIC : 0);
}

static int connection_attr(const struct cma_id *id, uint32_t state, struct rdl_qp_attr *ret,
                           uint32_t *ret_mask)
{
    if (state == QPS_INIT) {
        ret->access = id->ib ? access_of(id) : 0;
        *ret_mask = QPA_STATE | QPA_PKEY_INDEX | QPA_PORT | QPA_ACCESS_FLAGS;
        return 0;
    }
    if (!id->ib)
        return EINVAL;
    if (state == QPS_RTR) {
        ret->path_mtu = id->path_mtu;
        ret->dest_qpn = id->remote_qpn;
        ret->rq_psn = id->psn; /* the peer was told to begin with it */
        ret->max_dest_rd_atomic = id->responder_resources;
        cma_put_way(id, id->peer.gid, &ret->ah);
        *ret_mask = QPA_STATE | QPA_AV | QPA_PATH_MTU | QPA_DEST_QPN | QPA_RQ_PSN |
                    QPA_MAX_DEST_RD_ATOMIC | QPA_MIN_RNR_TIMER;
        return 0;
    }
    if (state != QPS_RTS)
        return EINVAL;
    ret->sq_psn = id->remote_psn;
    ret->timeout = id->has_timeout ? id->timeout : id->ib->ack_timeout;
    ret->retry_cnt = id->retry_count;
    ret->rnr_retry = id->rnr_retry_count;
    ret->max_rd_atomic = id->initiator_depth;
    *ret_mask =
        QPA_STATE | QPA_SQ_PSN | QPA_TIMEOUT | QPA_RETRY_CNT | QPA_RNR_RETRY | QPA_MAX_QP_RD_ATOMIC;
    return 0;
}

static int datagram_attr(uint32_t state, struct rdl_qp_attr *ret, uint32_t *ret_mask)
{
    *ret_mask = QPA_STATE;
    if (state == QPS_INIT) {
        ret->qkey = CMA_DATAGRAM_QKEY;
        *ret_mask |= QPA_PKEY_INDEX | QPA_PORT | QPA_QKEY;
    }
    if (state == QPS_RTS)
        *ret_mask |= QPA_SQ_PSN;
    return state >= QPS_INIT && state <= QPS_RTS ? 0 : EINVAL;
}

int cma_qp_attr(const struct cma_id *id, uint32_t state, struct rdl_qp_attr *ret,
                uint32_t *ret_mask)
{
    *ret = (struct rdl_qp_attr){.state = state, .port = 1};
    ret->ah.port = 1;
    return cma_is_datagram(id) ? datagram_attr(state, ret, ret_mask)
                               : connection_attr(id, state, ret, ret_mask);
}

/* --- Events of the connection manager --------------------------------------------------------- */

static void copy_private(struct rdl_cm_param *p, const uint8_t *data, size_t bytes)
{
    RDL_ASSERT(bytes <= sizeof(p->private_data));
    memcpy(p->private_data, data, bytes);
    p->private_bytes = bytes;
}

#define COPY_PRIVATE(p, message)                                                                   \
    copy_private(p, (message).private_data, sizeof((message).private_data))

/* Queues an event about a message; if there is no memory for it, it is lost. */
static void tell(struct cma_id *id, enum rdma_cm_event kind, int status,
                 const struct rdl_cm_param *p)
{
    struct cma_event *e = cma_event_new(id, kind, status);

    if (!e)
        return;
    e->param = *p;
    cma_post(e);
}

static void take_ip(struct rdl_cm_addr *to, uint32_t version, const uint8_t from[GID_BYTES])
{
    to->version = (uint8_t)version;
    if (version == 4)
        gid_from_ipv4(to->gid, from + GID_IPV4_AT);
    else
        memcpy(to->gid, from, GID_BYTES);
}

/* The addresses of a request: "local" is that of this host. */
struct ends {
    struct rdl_cm_addr local, peer;
};

/* Returns false if the header is none that this side knows. */
static bool read_ends(const uint8_t *private_data, uint64_t service_id, struct ends *ret)
{
    struct rdma_cm_header h;

    rdma_cm_parse(&h, private_data);
    if (h.version != 0 || (h.ip_version != 4 && h.ip_version != 6))
        return false;
    *ret = (struct ends){0};
    take_ip(&ret->peer, h.ip_version, h.source);
    take_ip(&ret->local, h.ip_version, h.destination);
    ret->peer.port = (uint16_t)h.port;
    ret->local.port = (uint16_t)service_id;
    return true;
}

/* Makes the ID of a request, and its event.  Returns NULL, with nothing left of them, if there is
 * no memory.
 */
static struct cma_event *new_request(struct cma_id *listener, struct ib_cm_id *ib,
                                     const struct ends *ends)
{
    struct cma_id *id = cma_create(listener->cma, listener->channel, listener->space, NULL);
    struct cma_event *e;

    if (!id)
        return NULL;
    id->local = ends->local;
    id->peer = ends->peer;
    id->state = CMA_CONNECT;
    id->is_request = id->is_unaccepted = true;
    id->from = listener;
    e = cma_event_new(id, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
    if (!e) {
        id->is_request = false; /* it has no place in the backlog yet */
        cma_destroy(id);
        return NULL;
    }
    e->listener = listener;
    id->ib = ib;
    ib->user = id;
    if (ib->cm->config.ops.changed) /* a listener has made @ib, when it was nobody's */
        ib->cm->config.ops.changed(ib->cm->config.ctx, ib, CMS_IDLE);
    return e;
}

/* Resources and depth are those of the sender: each is the other one here. */
static void take_req(struct cma_event *e, const struct cm_req *req)
{
    struct cma_id *id = e->id;

    copy_private(&e->param, req->private_data + RDMA_CM_BYTES,
                 sizeof(req->private_data) - RDMA_CM_BYTES);
    e->param.responder_resources = req->initiator_depth;
    e->param.initiator_depth = req->responder_resources;
    id->responder_resources = e->param.responder_resources;
    id->initiator_depth = e->param.initiator_depth;
    e->param.flow_control = req->flow_control;
    e->param.retry_count = req->retry_count;
    e->param.rnr_retry_count = req->rnr_retry_count;
    e->param.srq = req->srq;
    e->param.qpn = req->local_qpn;
    id->remote_qpn = req->local_qpn;
    id->remote_psn = req->starting_psn;
    id->path_mtu = req->path_mtu;
    id->traffic_class = (uint8_t)req->traffic_class; /* [Linux, cm_format_paths_from_req()] */
    id->flow_label = req->flow_label;
    id->retry_count = req->retry_count;
    id->rnr_retry_count = req->rnr_retry_count;
}

enum cma_taken { REFUSED, NO_ROOM, TAKEN };

/* A request that nobody here listens for at that address, or whose transport is another one, is
 * refused with reason CONSUMER_DEFINED.  [Linux, cma_ib_req_handler()]
 */
static enum cma_taken take_request(struct cma *cma, struct ib_cm_id *ib,
                                   const struct ib_cm_event *ev)
{
    const bool is_datagram = ev->kind == IB_CM_SIDR_REQ_RECEIVED;
    const uint8_t *data =
        is_datagram ? ev->mad->u.sidr_req.private_data : ev->mad->u.req.private_data;
    struct cma_id *listener;
    struct cma_event *e;
    struct ends ends;

    if (!read_ends(data, ib->service_id, &ends))
        return REFUSED;
    listener = cma_listener_at(cma, (enum port_space)(ib->service_id >> 16), &ends.local);
    if (!listener || cma_is_datagram(listener) != is_datagram)
        return REFUSED;
    if (listener->backlog == 0)
        return NO_ROOM;
    e = new_request(listener, ib, &ends);
    if (!e)
        return NO_ROOM;
    listener->backlog--;
    listener->n_requests++;
    if (is_datagram)
        copy_private(&e->param, data + RDMA_CM_BYTES,
                     sizeof(ev->mad->u.sidr_req.private_data) - RDMA_CM_BYTES);
    else
        take_req(e, &ev->mad->u.req);
    cma_post(e);
    if (!is_datagram)
        (void)!ib_cm_prepare_mra(ib, MRA_TIMEOUT);
    return TAKEN;
}

static void take_rep(struct cma_id *id, const struct cm_rep *rep)
{
    struct rdl_cm_param p = {.responder_resources = rep->initiator_depth,
                             .initiator_depth = rep->responder_resources,
                             .flow_control = rep->flow_control,
                             .rnr_retry_count = rep->rnr_retry_count,
                             .srq = rep->srq,
                             .qpn = rep->local_qpn};

    COPY_PRIVATE(&p, *rep);
    id->remote_qpn = rep->local_qpn;
    id->remote_psn = rep->starting_psn;
    id->rnr_retry_count = rep->rnr_retry_count;
    id->initiator_depth = rep->responder_resources;
    id->responder_resources = rep->initiator_depth;
    (void)!ib_cm_prepare_mra(id->ib, MRA_TIMEOUT);
    tell(id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, &p);
}

static void take_sidr_rep(struct cma_id *id, const struct cm_sidr_rep *rep)
{
    struct rdl_cm_param p = {.qpn = rep->qpn, .qkey = rep->qkey};
    struct cma_event *e;

    COPY_PRIVATE(&p, *rep);
    if (rep->status != SIDR_SUCCESS) {
        tell(id, RDMA_CM_EVENT_UNREACHABLE, (int)rep->status, &p);
        return;
    }
    e = cma_event_new(id, RDMA_CM_EVENT_ESTABLISHED, 0);
    if (!e)
        return;
    e->param = p;
    cma_put_way(id, id->peer.gid, &e->ah);
    cma_post(e);
}

static void disconnected(struct cma_id *id, int status)
{
    id->state = CMA_DISCONNECT;
    cma_tell(id, RDMA_CM_EVENT_DISCONNECTED, status);
}

/* An event about a connection, or a datagram service, of @id.  Programs get the private data of a
 * REP and of a REJ alone.  [Linux, cma_ib_handler()]
 */
static void take_event(struct cma_id *id, const struct ib_cm_event *ev)
{
    const struct mad *m = ev->mad;
    struct rdl_cm_param p = {0};

    switch (ev->kind) {
    case IB_CM_REQ_ERROR:
    case IB_CM_REP_ERROR:
    case IB_CM_SIDR_REQ_ERROR:
        cma_tell(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
        break;
    case IB_CM_REP_RECEIVED:
        take_rep(id, &m->u.rep);
        break;
    case IB_CM_RTU_RECEIVED:
    case IB_CM_USER_ESTABLISHED:
        cma_tell(id, RDMA_CM_EVENT_ESTABLISHED, 0);
        break;
    case IB_CM_DREQ_ERROR:
        disconnected(id, -ETIMEDOUT);
        break;
    case IB_CM_DREQ_RECEIVED:
    case IB_CM_DREP_RECEIVED:
        disconnected(id, 0);
        break;
    case IB_CM_REJ_RECEIVED:
        COPY_PRIVATE(&p, m->u.rej);
        tell(id, RDMA_CM_EVENT_REJECTED, (int)m->u.rej.reason, &p);
        break;
    case IB_CM_SIDR_REP_RECEIVED:
        take_sidr_rep(id, &m->u.sidr_rep);
        break;
    case IB_CM_TIMEWAIT_EXIT:
        cma_tell(id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
        break;
    case IB_CM_MRA_RECEIVED:
    case IB_CM_REQ_RECEIVED:
    case IB_CM_SIDR_REQ_RECEIVED:
        break;
    }
}

/* An ID that is connected has no TIMEWAIT_EXIT, and one whose connection is over has nothing else.
 * [Linux, cma_ib_handler()]
 */
static bool is_of_state(const struct cma_id *id, enum ib_cm_event_kind kind)
{
    return id->state == (kind == IB_CM_TIMEWAIT_EXIT ? CMA_DISCONNECT : CMA_CONNECT);
}

bool cma_ib_event(struct cma *cma, struct ib_cm_id *ib, const struct ib_cm_event *e)
{
    struct cma_id *id = ib->user;

    if (e->listener) {
        const enum cma_taken how = take_request(cma, ib, e);

        if (how == REFUSED)
            ib_cm_destroy(ib); /* which tells the peer */
        return how != NO_ROOM;
    }
    if (id && is_of_state(id, e->kind))
        take_event(id, e);
    return true;
}
