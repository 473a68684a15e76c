/* SPDX-License-Identifier: MIT */
/* The objects of a connection, its active side, and the moment when it is established.
 * [Lustre, kiblnd_create_conn, kiblnd_active_connect, kiblnd_check_connack, kiblnd_connreq_done]
 */
#include <errno.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/min.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "lnet/lnd_internal.h"

uint32_t lnd_depth(const struct lnd *lnd, uint16_t version)
{
    const uint32_t most = lnd->config.peer_credits;

    if (version != LNET_VERSION_1)
        return most;
    return most < LND_DEPTH_1_MIN ? LND_DEPTH_1_MIN : min_u32(most, LND_DEPTH_1);
}

struct lnd_conn *lnd_conn_new(struct lnd_peer *p, bool is_passive)
{
    struct lnd *lnd = p->lnd;
    struct lnd_conn *c = lnd_alloc(lnd, sizeof(*c));

    if (!c)
        return NULL;
    c->lnd = lnd;
    c->peer = p;
    c->link.owner = c;
    c->is_passive = is_passive;
    c->counts = true;
    c->version = p->version;
    c->queue_depth = p->version == LNET_VERSION_1 ? lnd_depth(lnd, p->version) : p->queue_depth;
    c->max_frags = p->max_frags;
    c->max_sends = lnd->config.concurrent_sends;
    c->next = lnd->conns;
    lnd->conns = c;
    if (is_passive)
        p->n_accepting++;
    else
        p->n_connecting++;
    lnd_tell_state(c, LND_CONN_INIT, 0);
    return c;
}

/* Makes the CONNREQ or CONNACK of @c. */
static void conn_message(const struct lnd_conn *c, enum lnet_msg_type type,
                         uint8_t ret[LNET_CONN_BYTES])
{
    struct lnd *lnd = c->lnd;
    struct lnet_msg *m = &lnd->out;

    m->big_endian = lnd->config.big_endian;
    m->version = c->version;
    m->type = type;
    m->credits = 0;
    m->nob = LNET_CONN_BYTES;
    m->cksum = 0;
    m->src_nid = lnd->config.nid;
    m->src_stamp = lnd->config.stamp;
    m->dst_nid = c->peer->nid;
    m->dst_stamp = type == LNET_MSG_CONNACK ? c->stamp : c->peer->stamp;
    if (type == LNET_MSG_CONNREQ && lnd->config.rules_2007)
        m->dst_stamp = 0;
    m->u.conn = (struct lnet_connparams){(uint16_t)c->queue_depth, (uint16_t)c->max_frags,
                                         LNET_MSG_BYTES_MAX};
    (void)lnet_build(m, lnd->bytes);
    if (lnd->config.cksum)
        lnet_put_cksum(lnd->bytes, LNET_CONN_BYTES, lnd->config.big_endian);
    memcpy(ret, lnd->bytes, LNET_CONN_BYTES);
    lnd_tell(lnd, &(struct lnd_note){
                      .kind = LND_NOTE_SENT, .peer = c->peer->nid, .link = &c->link, .msg = m});
    lnd->counts.sent[lnd_count_index(type)]++;
}

/* Number of receives of a connection: one for each credit of the peer, one for each reserved credit
 * of this side, and in version 2 those for NOOPs, which cost none.
 */
static uint32_t receives_of(const struct lnd_conn *c)
{
    return 2 * c->queue_depth + (c->version == LNET_VERSION_1 ? 0 : LND_NOOPS_MAX);
}

static uint32_t sends_of(const struct lnd_conn *c)
{
    return (1 + c->max_frags) * c->max_sends;
}

/* Registers the buffers of the receives. */
static int map_receives(struct lnd_conn *c)
{
    struct lnd *lnd = c->lnd;
    const uint32_t n = receives_of(c);

    if (!c->rxs) {
        c->rxs = lnd_alloc(lnd, n * sizeof(*c->rxs));
        c->n_rx = c->rxs ? n : 0;
    }
    if (c->rxs && !c->rx_pages)
        c->rx_pages = lnd->ops->pages(lnd->ctx, (uint64_t)n * LNET_MSG_BYTES_MAX);
    if (!c->rx_pages)
        return -ENOMEM;
    return lnd->ops->reg_mr(lnd->ctx, c->rx_pages, (uint64_t)n * LNET_MSG_BYTES_MAX, &c->rx_mr);
}

/* Creates the queue pair.  If the adapter has no queues of such a length, tries with fewer messages
 * that are posted at a time and, when that is one, with fewer fragments.  [LU-10213 reduces the
 * queue depth, which is the number of messages there]
 */
static int make_qp(struct lnd_conn *c)
{
    const struct lnd *lnd = c->lnd;
    int st;

    do {
        st = lnd->ops->create_qp(lnd->ctx, &c->link, sends_of(c), c->n_rx);
        if (st != -EINVAL && st != -ENOMEM)
            return st;
        c->link.step = 0;
        if (c->max_sends > 1)
            c->max_sends /= 2;
        else
            c->max_frags /= 2;
    } while (c->max_frags > 0);
    return st;
}

static int post_receives(struct lnd_conn *c)
{
    int st = 0;

    for (uint32_t i = 0; st == 0 && i < c->n_rx; i++) {
        struct lnd_rx *rx = &c->rxs[i];

        rx->conn = c;
        rx->index = i;
        rx->buf = c->rx_pages + (uint64_t)i * LNET_MSG_BYTES_MAX;
        st = lnd_rx_post(rx);
    }
    return st;
}

/* Everything is there: asks for the connection, or accepts it. */
static int connect_or_accept(struct lnd_conn *c)
{
    struct lnd *lnd = c->lnd;
    uint8_t data[LNET_CONN_BYTES];
    const enum lnet_msg_type type = c->is_passive ? LNET_MSG_CONNACK : LNET_MSG_CONNREQ;
    int st;

    if (!c->was_offered) {
        c->was_offered = true;
        conn_message(c, type, c->offer);
    }
    memcpy(data, c->offer, sizeof(data));
    st = c->is_passive ? lnd->ops->accept(lnd->ctx, &c->link, data, sizeof(data))
                       : lnd->ops->connect(lnd->ctx, &c->link, data, sizeof(data));
    if (st == 0 && c->state < LND_CONN_CLOSING)
        lnd_tell_state(c, c->is_passive ? LND_CONN_PASSIVE_WAIT : LND_CONN_ACTIVE_CONNECT, 0);
    return st;
}

/* Returns 0 when the steps are done, LND_LATER, or a negative errno. */
static int set_up(struct lnd_conn *c)
{
    const struct lnd *lnd = c->lnd;
    int st = 0;

    while (st == 0 && c->step != LND_STEP_DONE && (c->state < LND_CONN_CLOSING || c->is_asking)) {
        switch (c->step) {
        case LND_STEP_MAP:
            st = map_receives(c);
            break;
        case LND_STEP_CQ:
            st = lnd->ops->create_cq(lnd->ctx, &c->link, c->n_rx + sends_of(c));
            break;
        case LND_STEP_QP:
            st = make_qp(c);
            if (st == 0)
                st = post_receives(c);
            break;
        default:
            st = connect_or_accept(c);
            break;
        }
        c->is_asking = st == LND_LATER;
        if (st == 0)
            c->step++;
    }
    return st;
}

/* The job of @c, which is over with @st, may have closed it, or an event has meanwhile: lnd_close()
 * leaves the end to the job that is under way.
 */
static void job_is_over(struct lnd_conn *c, int st)
{
    if (st < 0)
        lnd_close(c, st);
    if (c->state >= LND_CONN_CLOSING)
        lnd_job(c->lnd, &c->job, LND_JOB_END, c);
}

int lnd_setup(struct lnd_conn *c)
{
    const int st = set_up(c);

    if (st != LND_LATER)
        job_is_over(c, st);
    return st;
}

/* Returns 0 if the CONNACK of the peer is acceptable, or a negative errno. */
static int check_ack(struct lnd_conn *c, const uint8_t *data, size_t bytes)
{
    struct lnd *lnd = c->lnd;
    const struct lnet_msg *m = &lnd->in;

    if (lnet_parse(data, bytes, &lnd->in) != LNET_GOOD)
        return -EPROTO;
    if (lnd->config.rules_2007 &&
        (m->u.conn.queue_depth != c->queue_depth || m->u.conn.max_frags != c->max_frags))
        return -EPROTO;
    if (m->type != LNET_MSG_CONNACK || m->version != c->version ||
        m->u.conn.queue_depth > c->queue_depth || m->u.conn.queue_depth < 1 ||
        m->u.conn.max_frags > c->max_frags || m->u.conn.max_frags < 1 ||
        m->u.conn.max_msg_size > LNET_MSG_BYTES_MAX)
        return -EPROTO;
    if (m->src_nid != c->peer->nid || m->dst_nid != lnd->config.nid ||
        m->dst_stamp != lnd->config.stamp)
        return -ESTALE;
    lnd->counts.received[lnd_count_index(LNET_MSG_CONNACK)]++;
    c->stamp = m->src_stamp;
    c->queue_depth = m->u.conn.queue_depth;
    c->max_frags = m->u.conn.max_frags;
    lnd_tell(lnd, &(struct lnd_note){
                      .kind = LND_NOTE_RECEIVED, .peer = c->peer->nid, .link = &c->link, .msg = m});
    return 0;
}

/* Takes @c into use: it is established on both sides, or the RTU is under way. */
static void take_into_use(struct lnd_conn *c)
{
    struct lnd *lnd = c->lnd;

    c->credits = c->reserved = c->queue_depth;
    c->outstanding = 0;
    c->last_send_ns = lnd_now(lnd);
    (void)lnd_peer_close_stale(c->peer, c->version, c->stamp);
    lnd_tell_state(c, LND_CONN_ESTABLISHED, 0);
    lnd_peer_established(c);
    lnd_push(c);
    while (c->early && c->state == LND_CONN_ESTABLISHED) {
        struct lnd_rx *rx = c->early;

        c->early = rx->next;
        lnd_rx_came(rx);
    }
}

/* The connection manager has established @c. */
static void established(struct lnd_conn *c, const uint8_t *data, size_t bytes)
{
    int st = 0;

    if (c->state != LND_CONN_ACTIVE_CONNECT && c->state != LND_CONN_PASSIVE_WAIT)
        return;
    if (!c->is_passive)
        st = check_ack(c, data, bytes);
    if (st)
        lnd_close(c, st);
    else
        take_into_use(c);
}

int lnd_establish(struct lnd_conn *c)
{
    const struct lnd *lnd = c->lnd;
    const bool is_open = c->state < LND_CONN_CLOSING;
    const int st = is_open || c->is_asking ? lnd->ops->establish(lnd->ctx, &c->link) : 0;

    c->is_asking = st == LND_LATER;
    if (c->is_asking)
        return st;
    if (st == 0)
        established(c, c->answer, c->answer_bytes);
    job_is_over(c, st);
    return st;
}

/* The peer has accepted, and this side has to establish the connection. */
static void answered(struct lnd_conn *c, const uint8_t *data, size_t bytes)
{
    if (c->state != LND_CONN_ACTIVE_CONNECT || c->job.is_queued)
        return;
    c->answer_bytes = bytes < sizeof(c->answer) ? bytes : sizeof(c->answer);
    memcpy(c->answer, data, c->answer_bytes);
    lnd_job(c->lnd, &c->job, LND_JOB_ESTABLISH, c);
}

void lnd_cm_event(struct lnd *lnd, struct lnd_link *l, uint32_t event, int status,
                  const uint8_t *data, size_t bytes)
{
    struct lnd_conn *c = l->owner;

    lnd_enter(lnd);
    switch (event) {
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
        if (c->state == LND_CONN_INIT && !c->job.is_queued)
            lnd_job(lnd, &c->job, LND_JOB_SETUP, c);
        break;
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
        answered(c, data, bytes);
        break;
    case RDMA_CM_EVENT_ESTABLISHED:
        established(c, data, bytes);
        break;
    case RDMA_CM_EVENT_REJECTED:
        lnd_rejected(c, status, data, bytes);
        break;
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
        lnd_close(c, -EHOSTUNREACH);
        break;
    case RDMA_CM_EVENT_CONNECT_ERROR:
        lnd_close(c, -ENOTCONN);
        break;
    case RDMA_CM_EVENT_DISCONNECTED:
        lnd_close(c, 0);
        break;
    default:
        break;
    }
    lnd_leave(lnd);
}
