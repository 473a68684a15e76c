/* SPDX-License-Identifier: MIT */
/* The drill of connections: what a kernel must do with each message of its peer.  The rules are
 * those of InfiniBand as Linux has them.
 */
#include "emu/base/assert.h"
#include "emu/facts/enum/cm_answered.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/cm_reason.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/facts/enum/sidr_status.h"
#include "swarm/drills/drill_connections.h"

#define REPLY_NS (4096 * MS)           /* response timeout, code 20 */
#define MRA_NS   ((65536 + 2048) * MS) /* service timeout, code 24, and that of the path */

/* Bytes of private data that events have: the whole field.  Events of a RTU, a DREQ or a DREP have
 * none.
 */
#define REQ_BYTES      (92u - RDMA_CM_BYTES)
#define REP_BYTES      196u
#define REJ_BYTES      148u
#define SIDR_REQ_BYTES (216u - RDMA_CM_BYTES)
#define SIDR_REP_BYTES 136u

/* --- Finding ---------------------------------------------------------------------------------- */

/* The ID of @host that messages find by @comm of the peer, or by its queue pair; NULL: none. */
static struct conn_id *known_comm(struct connections *s, unsigned host, uint32_t comm)
{
    for (uint32_t i = 0; i < CONN_IDS; i++) {
        struct conn_id *id = &s->ids[i];

        if (id->is_used && id->host == host && id->is_known && id->peer_comm == comm)
            return id;
    }
    return NULL;
}

static struct conn_id *known_qpn(struct connections *s, unsigned host, uint32_t qpn)
{
    for (uint32_t i = 0; i < CONN_IDS; i++) {
        struct conn_id *id = &s->ids[i];

        if (id->is_used && id->host == host && id->is_known && id->remote_qpn == qpn &&
            id->space == PORT_SPACE_TCP)
            return id;
    }
    return NULL;
}

static struct conn_id *own_comm(struct connections *s, unsigned host, uint32_t comm)
{
    for (uint32_t i = 0; i < CONN_IDS; i++) {
        struct conn_id *id = &s->ids[i];

        if (id->is_used && id->host == host && comm != 0 && id->comm == comm)
            return id;
    }
    return NULL;
}

static struct conn_id *pair(struct connections *s, unsigned host, uint32_t own, uint32_t peer)
{
    struct conn_id *id = own_comm(s, host, own);

    return id && id->peer_comm == peer ? id : NULL;
}

/* --- Requests --------------------------------------------------------------------------------- */

/* The listener that a request of the drill's clients finds, or NULL; *@ret_any: somebody listens at
 * the port. */
static struct conn_id *listener_at(struct connections *s, unsigned host, enum port_space space,
                                   uint16_t port, bool *ret_any)
{
    struct conn_id *found = NULL;

    *ret_any = false;
    for (uint32_t i = 0; i < CONN_IDS; i++) {
        struct conn_id *id = &s->ids[i];

        if (!id->is_used || id->host != host || id->step != STEP_LISTEN || id->space != space ||
            id->port != port)
            continue;
        *ret_any = true;
        if (id->form == CONN_ANY6 || id->form == (s->family ? CONN_OWN6 : CONN_OWN4) ||
            (!s->family && id->form == CONN_ANY4))
            found = id;
    }
    return found;
}

/* The kernel makes a new ID, and a program is told of it. */
static struct conn_id *add_request(struct drill *d, struct conn_id *listener,
                                   const uint8_t *private_data, size_t bytes,
                                   struct conn_event **ret)
{
    struct conn_id *id = conn_new(d, listener->host);

    if (!id)
        return NULL;
    id->is_server = id->has_ib = true;
    id->channel = listener->channel;
    id->space = listener->space;
    id->step = STEP_CONNECT;
    id->listener = conn_index(connections_of(d), listener);
    listener->n_waiting++;
    *ret = conn_expect_event(d, id, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
    (*ret)->private_bytes = bytes;
    id->serial = (*ret)->serial = conn_serial(private_data + RDMA_CM_BYTES);
    return id;
}

/* Rejects a message of a queue pair that has an older connection, and ends that.  Returns false if
 * it has none.
 */
static bool end_stale(struct drill *d, unsigned host, uint32_t qpn)
{
    struct conn_id *old = known_qpn(connections_of(d), host, qpn);

    if (!old)
        return false;
    conn_expect_sent(d, host, CM_REJ, CM_REASON_STALE_CONN);
    if (old->state != CONN_UP)
        return true;
    old->state = CONN_DREQ_SENT;
    conn_expect_sent(d, host, CM_DREQ, 0);
    conn_await(d, old, CM_DREQ, old->timeout_ns);
    return true;
}

/* Checks that the REQ says what its sender's program has said, if that ID still exists. */
static bool check_req(struct drill *d, unsigned host, const struct cm_req *req)
{
    const struct conn_id *from = own_comm(connections_of(d), !host, req->local_comm_id);

    return !from || drill_expect(d,
                                 from->psn == req->starting_psn && from->qpn == req->local_qpn &&
                                     (from->state != CONN_ASKED ||
                                      (from->resources == req->responder_resources &&
                                       from->depth == req->initiator_depth)) &&
                                     req->max_cm_retries == 15 && req->local_cm_timeout == 20,
                                 "a REQ has what the program of its sender gave",
                                 "QPN %u, PSN %u, resources %u, depth %u", req->local_qpn,
                                 req->starting_psn, req->responder_resources, req->initiator_depth);
}

static void receive_req(struct drill *d, unsigned host, const struct cm_req *req)
{
    struct connections *s = connections_of(d);
    struct conn_id *id = known_comm(s, host, req->local_comm_id), *listener;
    struct conn_event *e;
    bool any;

    if (!check_req(d, host, req))
        return;
    if (id) { /* a duplicate */
        if (id->state == CONN_REQUESTED)
            conn_expect_sent(d, host, CM_MRA, 0);
        return;
    }
    if (end_stale(d, host, req->local_qpn))
        return;
    listener = listener_at(s, host, PORT_SPACE_TCP, (uint16_t)req->service_id, &any);
    if (!any)
        conn_expect_sent(d, host, CM_REJ, CM_REASON_INVALID_SERVICE_ID);
    else if (!listener)
        conn_expect_sent(d, host, CM_REJ, CM_REASON_CONSUMER_DEFINED);
    if (!listener || listener->n_waiting == listener->backlog)
        return; /* a full backlog is silent */
    id = add_request(d, listener, req->private_data, REQ_BYTES, &e);
    if (!id)
        return;
    id->state = CONN_REQUESTED;
    id->is_known = true;
    id->timeout_ns = REPLY_NS;
    id->peer_comm = req->local_comm_id;
    id->remote_qpn = e->qpn = req->local_qpn;
    id->remote_psn = req->starting_psn;
    id->resources = e->resources = req->initiator_depth;
    id->depth = e->depth = req->responder_resources;
}

static void receive_sidr_req(struct drill *d, unsigned host, const struct cm_sidr_req *req)
{
    struct connections *s = connections_of(d);
    struct conn_id *id = known_comm(s, host, req->request_id), *listener;
    struct conn_event *e;
    bool any;

    if (id)
        return;
    listener = listener_at(s, host, PORT_SPACE_UDP, (uint16_t)req->service_id, &any);
    if (!listener)
        conn_expect_sent(d, host, CM_SIDR_REP, any ? SIDR_REJECT : SIDR_UNSUPPORTED);
    if (!listener || listener->n_waiting == listener->backlog)
        return;
    id = add_request(d, listener, req->private_data, SIDR_REQ_BYTES, &e);
    if (!id)
        return;
    id->state = CONN_SIDR_REQUESTED;
    id->is_known = true;
    id->peer_comm = req->request_id;
}

/* --- Replies ---------------------------------------------------------------------------------- */

/* Checks that the REP says what its sender's program has said, if that ID still exists. */
static bool check_rep(struct drill *d, unsigned host, const struct cm_rep *rep)
{
    const struct conn_id *from = own_comm(connections_of(d), !host, rep->local_comm_id);

    return !from || drill_expect(d,
                                 from->psn == rep->starting_psn && from->qpn == rep->local_qpn &&
                                     from->peer_comm == rep->remote_comm_id &&
                                     from->resources == rep->responder_resources &&
                                     from->depth == rep->initiator_depth,
                                 "a REP has what the program of its sender gave",
                                 "QPN %u, PSN %u, resources %u, depth %u", rep->local_qpn,
                                 rep->starting_psn, rep->responder_resources, rep->initiator_depth);
}

static void receive_rep(struct drill *d, unsigned host, const struct cm_rep *rep)
{
    struct connections *s = connections_of(d);
    struct conn_id *id = own_comm(s, host, rep->remote_comm_id);
    struct conn_event *e;

    if (!check_rep(d, host, rep) || !id ||
        (id->peer_comm != 0 && id->peer_comm != rep->local_comm_id))
        return;
    if (id->state == CONN_UP)
        conn_expect_sent(d, host, CM_RTU, 0);
    if (id->state == CONN_REPLIED_TO)
        conn_expect_sent(d, host, CM_MRA, 0);
    if (id->state != CONN_ASKED || end_stale(d, host, rep->local_qpn))
        return;
    id->state = CONN_REPLIED_TO;
    id->due_ns = 0;
    id->is_known = true;
    id->peer_comm = rep->local_comm_id;
    id->remote_qpn = rep->local_qpn;
    id->remote_psn = rep->starting_psn;
    e = conn_expect_event(d, id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
    e->private_bytes = REP_BYTES;
    e->serial = conn_serial(rep->private_data);
    e->qpn = rep->local_qpn;
    id->resources = e->resources = rep->initiator_depth;
    id->depth = e->depth = rep->responder_resources;
}

static void receive_rtu(struct drill *d, unsigned host, const struct cm_rtu *rtu)
{
    struct conn_id *id = pair(connections_of(d), host, rtu->remote_comm_id, rtu->local_comm_id);

    if (!id || id->state != CONN_REPLIED)
        return;
    id->state = CONN_UP;
    id->due_ns = 0;
    (void)conn_expect_event(d, id, RDMA_CM_EVENT_ESTABLISHED, 0);
}

/* The timer runs longer, and the number of retries stays. */
static void receive_mra(struct drill *d, unsigned host, const struct cm_mra *mra)
{
    const bool of_req = mra->answered == CM_ANSWERED_REQ;
    struct conn_id *id =
        pair(connections_of(d), host, mra->remote_comm_id, of_req ? 0 : mra->local_comm_id);
    uint32_t retries;

    if (!id || id->is_longer || id->state != (of_req ? CONN_ASKED : CONN_REPLIED))
        return;
    retries = id->retries;
    conn_await(d, id, id->last, MRA_NS);
    id->retries = retries;
    id->is_longer = true;
}

static struct conn_id *rejected_id(struct connections *s, unsigned host, const struct cm_rej *rej)
{
    if (rej->reason == CM_REASON_TIMEOUT)
        return known_comm(s, host, rej->local_comm_id);
    return pair(s, host, rej->remote_comm_id,
                rej->answered == CM_ANSWERED_REQ ? 0 : rej->local_comm_id);
}

static void receive_rej(struct drill *d, unsigned host, const struct cm_rej *rej)
{
    struct conn_id *id = rejected_id(connections_of(d), host, rej);

    if (!id)
        return;
    switch (id->state) {
    case CONN_ASKED:
    case CONN_REPLIED:
    case CONN_REQUESTED:
        if (rej->reason == CM_REASON_STALE_CONN)
            conn_enter_timewait(d, id);
        else
            conn_end(id);
        break;
    case CONN_REPLIED_TO:
    case CONN_UP:
    case CONN_DREQ_SENT:
        conn_enter_timewait(d, id);
        break;
    default:
        return;
    }
    if (id->is_over)
        return;
    conn_expect_event(d, id, RDMA_CM_EVENT_REJECTED, (int)rej->reason)->private_bytes = REJ_BYTES;
}

static void receive_sidr_rep(struct drill *d, unsigned host, const struct cm_sidr_rep *rep)
{
    struct conn_id *id = own_comm(connections_of(d), host, rep->request_id);
    struct conn_event *e;

    if (!id || id->state != CONN_SIDR_ASKED)
        return;
    conn_end(id);
    if (rep->status == SIDR_SUCCESS)
        e = conn_expect_event(d, id, RDMA_CM_EVENT_ESTABLISHED, 0);
    else
        e = conn_expect_event(d, id, RDMA_CM_EVENT_UNREACHABLE, (int)rep->status);
    e->private_bytes = SIDR_REP_BYTES;
    e->qpn = rep->qpn;
}

/* --- The end ---------------------------------------------------------------------------------- */

static void receive_dreq(struct drill *d, unsigned host, const struct cm_dreq *dreq)
{
    struct conn_id *id = pair(connections_of(d), host, dreq->remote_comm_id, dreq->local_comm_id);

    if (!id) { /* a connection that is unknown is over */
        conn_expect_sent(d, host, CM_DREP, 0);
        return;
    }
    if (dreq->remote_qpn != id->qpn)
        return;
    if (id->state == CONN_TIMEWAIT)
        conn_expect_sent(d, host, CM_DREP, 0);
    if (id->state != CONN_REPLIED && id->state != CONN_UP && id->state != CONN_DREQ_SENT)
        return;
    id->state = CONN_DREQ_RCVD;
    id->due_ns = 0;
    id->is_over = true;
    (void)conn_expect_event(d, id, RDMA_CM_EVENT_DISCONNECTED, 0);
}

static void receive_drep(struct drill *d, unsigned host, const struct cm_drep *drep)
{
    struct conn_id *id = pair(connections_of(d), host, drep->remote_comm_id, drep->local_comm_id);
    const bool is_told = id && id->is_over;

    if (!id || (id->state != CONN_DREQ_SENT && id->state != CONN_DREQ_RCVD))
        return;
    conn_enter_timewait(d, id);
    id->is_over = true;
    if (!is_told)
        (void)conn_expect_event(d, id, RDMA_CM_EVENT_DISCONNECTED, 0);
}

void conn_receive(struct drill *d, unsigned host, const struct mad *m)
{
    switch ((enum cm_message)m->head.attr_id) {
    case CM_REQ:
        receive_req(d, host, &m->u.req);
        break;
    case CM_MRA:
        receive_mra(d, host, &m->u.mra);
        break;
    case CM_REJ:
        receive_rej(d, host, &m->u.rej);
        break;
    case CM_REP:
        receive_rep(d, host, &m->u.rep);
        break;
    case CM_RTU:
        receive_rtu(d, host, &m->u.rtu);
        break;
    case CM_DREQ:
        receive_dreq(d, host, &m->u.dreq);
        break;
    case CM_DREP:
        receive_drep(d, host, &m->u.drep);
        break;
    case CM_SIDR_REQ:
        receive_sidr_req(d, host, &m->u.sidr_req);
        break;
    case CM_SIDR_REP:
        receive_sidr_rep(d, host, &m->u.sidr_rep);
        break;
    case CM_LAP:
    case CM_APR:
        break;
    }
}
