/* SPDX-License-Identifier: MIT */
/* The drill of connections: programs connect, answer, disconnect and destroy. */
#include "swarm/drills/drill_connections.h"

#include <errno.h>

#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/cm_reason.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/facts/enum/sidr_status.h"

#define DEPTHS  4u          /* resources and depths that programs draw are less */
#define REQ_NS  (6144 * MS) /* 2 * 1024 of the path, and 4096 for the response */
#define SIDR_NS (4096 * MS)
#define UD_QPN  77u

static bool any_id(const struct conn_id *id)
{
    (void)id;
    return true;
}

static bool is_connected(const struct conn_id *id)
{
    return id->step == STEP_CONNECT;
}

static bool has_route(const struct conn_id *id)
{
    return id->step == STEP_ROUTE;
}

static bool is_requested(const struct conn_id *id)
{
    return id->state == CONN_REQUESTED || id->state == CONN_SIDR_REQUESTED;
}

static bool is_replied(const struct conn_id *id)
{
    return id->state == CONN_REPLIED;
}

static bool may_reject(const struct conn_id *id)
{
    return id->state == CONN_SIDR_REQUESTED ||
           (id->state >= CONN_ASKED && id->state <= CONN_REPLIED);
}

static bool may_disconnect(const struct conn_id *id)
{
    return id->state == CONN_UP || id->state == CONN_DREQ_RCVD;
}

static bool is_done(const struct conn_id *id)
{
    return id->step == STEP_CONNECT && id->state == CONN_IDLE && id->n_unacked == 0;
}

static bool is_alive(const struct conn_id *id)
{
    return id->state != CONN_IDLE && id->n_unacked == 0;
}

/* --- Connections ------------------------------------------------------------------------------ */

static struct rdl_cm_param draw_param(struct drill *d, const struct conn_id *id)
{
    return (struct rdl_cm_param){
        .private_data = {(uint8_t)(id->serial >> 8), (uint8_t)id->serial},
        .private_bytes = 2,
        .responder_resources = drill_below(d, DEPTHS),
        .initiator_depth = drill_below(d, DEPTHS),
        .retry_count = 7,
        .rnr_retry_count = 7,
        .qpn = id->qpn,
    };
}

/* One client in a few uses the queue pair of another ID, whose old connection is stale then. */
static bool choose_qp(struct drill *d, struct conn_id *id)
{
    const struct conn_id *other = drill_one_in(d, 8) ? conn_pick(d, any_id) : NULL;

    if (id->space == PORT_SPACE_UDP) {
        id->qpn = UD_QPN;
        return true;
    }
    if (other && other->has_qp && other->host == id->host && !id->has_qp) {
        id->qpn = other->qpn;
        return true;
    }
    return id->has_qp || conn_create_qp(d, id);
}

static bool connect_one(struct drill *d, struct conn_id *id)
{
    const int want = id->step == STEP_ROUTE ? 0 : EINVAL;
    const bool is_ud = id->space == PORT_SPACE_UDP;
    struct rdl_cm_param p;
    int error = 0;

    if (!want && !choose_qp(d, id))
        return false;
    p = draw_param(d, id);
    if (!want) {
        id->step = STEP_CONNECT;
        id->has_ib = true;
        id->state = is_ud ? CONN_SIDR_ASKED : CONN_ASKED;
        id->resources = p.responder_resources;
        id->depth = p.initiator_depth;
        id->timeout_ns = REQ_NS;
        conn_expect_sent(d, id->host, is_ud ? CM_SIDR_REQ : CM_REQ, 0);
        conn_await(d, id, is_ud ? CM_SIDR_REQ : CM_REQ, is_ud ? SIDR_NS : REQ_NS);
    }
    return conn_is_errno(d, rdl_cm_connect(d->lab, id->id, &p, &error), &error, want,
                         "only an ID with a route connects");
}

void conn_do_connect(struct drill *d)
{
    struct conn_id *id = conn_pick_mostly(d, has_route, conn_is_client);

    if (id)
        connect_one(d, id);
}

/* All that a client does up to its request. */
void conn_do_dial(struct drill *d)
{
    struct conn_id *id = conn_create(d);

    if (id && conn_resolve(d, id, false) && conn_route(d, id))
        connect_one(d, id);
}

/* The peer of @id is refused, if it waits for an answer.  Returns what rdma_reject() does. */
static int refuse(struct drill *d, struct conn_id *id)
{
    const bool is_ud = id->space == PORT_SPACE_UDP;

    if (is_ud ? id->state != CONN_SIDR_REQUESTED
              : id->state < CONN_ASKED || id->state > CONN_REPLIED)
        return EINVAL;
    if (is_ud)
        conn_expect_sent(d, id->host, CM_SIDR_REP, SIDR_REJECT);
    else
        conn_expect_sent(d, id->host, CM_REJ, CM_REASON_CONSUMER_DEFINED);
    if (id->state == CONN_REPLIED)
        conn_enter_timewait(d, id);
    else
        conn_end(id);
    return 0;
}

/* An answer that cannot be sent is a refusal.  [Linux, rdma_accept()] */
bool conn_accept(struct drill *d, struct conn_id *id)
{
    const bool is_ud = id->space == PORT_SPACE_UDP;
    const enum conn_state asked = is_ud ? CONN_SIDR_REQUESTED : CONN_REQUESTED;
    const int want = id->step == STEP_CONNECT && id->state == asked ? 0 : EINVAL;
    struct rdl_cm_param p;
    int error = 0;

    if (!want && !is_ud && !id->has_qp &&
        (!conn_create_qp(d, id) || !conn_move_qp(d, id, QPS_INIT) ||
         !conn_move_qp(d, id, QPS_RTR) || !conn_move_qp(d, id, QPS_RTS)))
        return false;
    if (!want && id->state != asked)
        return true; /* the request went away meanwhile */
    p = draw_param(d, id);
    if (!want)
        id->is_accepted = true;
    if (!want && is_ud) {
        conn_expect_sent(d, id->host, CM_SIDR_REP, SIDR_SUCCESS);
        conn_end(id);
    } else if (!want) {
        id->state = CONN_REPLIED;
        id->resources = p.responder_resources;
        id->depth = p.initiator_depth;
        conn_expect_sent(d, id->host, CM_REP, 0);
        conn_await(d, id, CM_REP, id->timeout_ns);
    } else {
        p.qpn = id->qpn;
        if (id->step == STEP_CONNECT)
            (void)refuse(d, id);
    }
    return conn_is_errno(d, rdl_cm_accept(d->lab, id->id, &p, &error), &error, want,
                         "only a request is accepted");
}

void conn_do_accept(struct drill *d)
{
    struct conn_id *id = conn_pick_mostly(d, is_requested, is_connected);

    if (id)
        conn_accept(d, id);
}

bool conn_establish(struct drill *d, struct conn_id *id)
{
    int error = 0, want = id->state == CONN_REPLIED_TO ? 0 : EINVAL;

    if (id->space == PORT_SPACE_UDP)
        return true; /* accepts without a queue pair, which conn_accept() shows */
    if (!want && id->has_qp && !id->is_rts && !id->is_err &&
        (!conn_move_qp(d, id, QPS_INIT) || !conn_move_qp(d, id, QPS_RTR) ||
         !conn_move_qp(d, id, QPS_RTS)))
        return false;
    if (!want && id->state != CONN_REPLIED_TO)
        return true;
    if (!want) {
        id->state = CONN_UP;
        conn_expect_sent(d, id->host, CM_RTU, 0);
    } else if (id->step == STEP_CONNECT) {
        (void)refuse(d, id);
    }
    return conn_is_errno(d, rdl_cm_accept(d->lab, id->id, NULL, &error), &error, want,
                         "only a reply is established");
}

void conn_do_establish(struct drill *d)
{
    struct conn_id *id = conn_pick_mostly(d, conn_is_replied_to, is_connected);

    if (id)
        conn_establish(d, id);
}

void conn_do_reject(struct drill *d)
{
    struct conn_id *id = conn_pick_mostly(d, may_reject, any_id);
    int error = 0, want;

    if (!id)
        return;
    want = refuse(d, id);
    conn_is_errno(d, rdl_cm_reject(d->lab, id->id, "no", 2, &error), &error, want,
                  "only an ID that has no connection yet rejects");
}

bool conn_disconnect(struct drill *d, struct conn_id *id)
{
    const int want = id->has_ib ? 0 : EINVAL;
    int error = 0;

    if (id->state == CONN_UP) {
        id->state = CONN_DREQ_SENT;
        conn_expect_sent(d, id->host, CM_DREQ, 0);
        conn_await(d, id, CM_DREQ, id->timeout_ns);
    } else if (id->state == CONN_DREQ_RCVD) {
        conn_enter_timewait(d, id);
        conn_expect_sent(d, id->host, CM_DREP, 0);
    }
    return conn_is_errno(d, rdl_cm_disconnect(d->lab, id->id, &error), &error, want,
                         "only an ID that was connected disconnects") &&
           (want || conn_fail_qp(d, id));
}

void conn_do_disconnect(struct drill *d)
{
    struct conn_id *id = conn_pick_mostly(d, may_disconnect, any_id);

    if (id)
        conn_disconnect(d, id);
}

void conn_do_notify(struct drill *d)
{
    struct conn_id *id = conn_pick_mostly(d, is_replied, is_connected);
    int error = 0, want;

    if (!id)
        return;
    want = id->state == CONN_REPLIED ? 0 : id->state == CONN_UP ? EISCONN : EINVAL;
    if (!want) {
        id->state = CONN_UP;
        id->due_ns = 0;
        conn_expect_event(d, id, RDMA_CM_EVENT_ESTABLISHED, 0);
    }
    conn_is_errno(d, rdl_cm_notify(d->lab, id->id, &error), &error, want,
                  "data comes before the RTU only behind a REP");
}

/* The peer of an ID that is destroyed is told so. */
static void expect_farewell(struct drill *d, const struct conn_id *id)
{
    switch (id->state) {
    case CONN_ASKED:
        conn_expect_sent(d, id->host, CM_REJ, CM_REASON_TIMEOUT);
        break;
    case CONN_REPLIED_TO:
    case CONN_REQUESTED:
    case CONN_REPLIED:
        conn_expect_sent(d, id->host, CM_REJ, CM_REASON_CONSUMER_DEFINED);
        break;
    case CONN_UP:
        conn_expect_sent(d, id->host, CM_DREQ, 0);
        break;
    case CONN_DREQ_RCVD:
        conn_expect_sent(d, id->host, CM_DREP, 0);
        break;
    case CONN_SIDR_REQUESTED:
        conn_expect_sent(d, id->host, CM_SIDR_REP, SIDR_REJECT);
        break;
    case CONN_IDLE:
    case CONN_DREQ_SENT:
    case CONN_TIMEWAIT:
    case CONN_SIDR_ASKED:
        break;
    }
}

/* The requests to a listener that nobody has taken end with it. */
static void forget_requests(struct drill *d, const struct conn_id *listener)
{
    struct connections *s = connections_of(d);
    const uint32_t index = conn_index(s, listener);
    struct conn_id *newest;

    do {
        newest = NULL;
        for (uint32_t i = 0; i < CONN_IDS; i++) {
            if (s->ids[i].is_used && s->ids[i].listener == index &&
                (!newest || s->ids[i].number > newest->number))
                newest = &s->ids[i];
        }
        if (newest) {
            expect_farewell(d, newest);
            conn_forget(d, newest);
        }
    } while (newest);
}

bool conn_destroy(struct drill *d, struct conn_id *id)
{
    enum rdl_status st;

    if (id->n_unacked > 0)
        return drill_expect(d, rdl_cm_destroy_id(d->lab, id->id) == RDL_ERR_BUSY,
                            "an ID with an event that was taken stays", "it goes");
    if (!conn_destroy_qp(d, id))
        return false;
    forget_requests(d, id);
    expect_farewell(d, id);
    st = rdl_cm_destroy_id(d->lab, id->id);
    conn_forget(d, id);
    return drill_works(d, st, "an ID can be destroyed") && conn_hear(d) &&
           drill_expect(d, rdl_cm_destroy_id(d->lab, id->id) == RDL_ERR_STALE,
                        "an ID is destroyed once", "it is destroyed again");
}

void conn_do_destroy(struct drill *d)
{
    struct conn_id *id = drill_one_in(d, 8)   ? conn_pick(d, any_id)
                         : drill_one_in(d, 3) ? conn_pick(d, is_done)
                                              : conn_pick(d, is_alive);

    if (id)
        conn_destroy(d, id);
}
