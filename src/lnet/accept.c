/* SPDX-License-Identifier: MIT */
/* The passive side of connections, and rejects, both ways.  [Lustre, kiblnd_passive_connect,
 * kiblnd_rejected, kiblnd_check_reconnect]
 */
#include <errno.h>

#include "emu/facts/enum/lnet_why.h"
#include "lnet/lnd_internal.h"

/* Reasons of a REJ that the connection manager itself gives. */
#define REJ_INVALID_SERVICE 8
#define REJ_STALE           10
#define REJ_CONSUMER        28

/* The reason of a reject; why 0: there is none. */
struct conn_refusal {
    uint32_t why;
    uint16_t version; /* in the reject */
};

void lnd_send_reject(struct lnd *lnd, struct lnd_link *l, uint64_t peer, uint32_t why,
                     const struct lnet_connparams *mine, uint16_t version)
{
    const bool old = lnd->config.rules_2007;
    const struct lnet_reject r = {.big_endian = lnd->config.big_endian,
                                  .magic = LNET_MAGIC,
                                  .version = version,
                                  .why =
                                      (uint8_t)(old && why > LNET_WHY_FATAL ? LNET_WHY_FATAL : why),
                                  .has_params = !old,
                                  .stamp = lnd->config.stamp,
                                  .conn = *mine};
    uint8_t data[LNET_REJECT_BYTES];
    const size_t n = lnet_reject_build(&r, data);

    lnd->counts.rejects_sent++;
    lnd_tell(
        lnd,
        &(struct lnd_note){
            .kind = LND_NOTE_REJECTED, .peer = peer, .link = l, .why = r.why, .is_mine = true});
    (void)lnd->ops->reject(lnd->ctx, l, data, (uint8_t)n);
}

static struct conn_refusal refuse(const struct lnd *lnd, uint32_t why)
{
    return (struct conn_refusal){why, lnd->config.version};
}

/* Checks the parameters of the request @m. */
static struct conn_refusal check_params(const struct lnd *lnd, const struct lnet_msg *m)
{
    const struct lnet_connparams *p = &m->u.conn;
    struct conn_refusal no = {LNET_WHY_FATAL, m->version};

    if (p->queue_depth > lnd_depth(lnd, m->version)) {
        if (m->version != LNET_VERSION_1)
            no.why = LNET_WHY_MSG_QUEUE_SIZE;
        return no;
    }
    if (p->max_frags > lnd->config.max_frags) {
        no.why = LNET_WHY_RDMA_FRAGS;
        return no;
    }
    if (p->queue_depth < (m->version == LNET_VERSION_1 ? LND_DEPTH_1_MIN : 1) || p->max_frags < 1 ||
        p->max_msg_size > LNET_MSG_BYTES_MAX)
        return no;
    return (struct conn_refusal){0};
}

/* Checks the bytes of a request, which are parsed to lnd->in.  [the order of Lustre] */
static struct conn_refusal check_request(struct lnd *lnd, const uint8_t *data, size_t bytes)
{
    const struct lnet_msg *m = &lnd->in;
    const enum lnet_bad bad = lnet_parse(data, bytes, &lnd->in);

    if (bad != LNET_GOOD || m->version > lnd->config.version)
        return refuse(lnd, LNET_WHY_FATAL);
    if (!lnd_is_up(lnd))
        return refuse(lnd, LNET_WHY_EARLY);
    if (m->dst_nid != lnd->config.nid)
        return refuse(lnd, LNET_WHY_FATAL);
    if (m->dst_stamp != 0 && m->dst_stamp != lnd->config.stamp)
        return refuse(lnd, LNET_WHY_CONN_STALE);
    if (m->type != LNET_MSG_CONNREQ)
        return refuse(lnd, LNET_WHY_FATAL);
    return check_params(lnd, m);
}

/* Checks the request @m against what is known of the peer @p: connections and attempts. */
static struct conn_refusal check_peer(struct lnd_peer *p, const struct lnet_msg *m)
{
    struct lnd *lnd = p->lnd;

    if (lnd_peer_close_stale(p, m->version, m->src_stamp))
        return refuse(lnd, LNET_WHY_CONN_STALE);
    if (p->n_connecting > 0 && lnd_wins(lnd, lnd->config.nid, p->nid) &&
        p->n_races < LND_RACES_MAX) {
        p->n_races++;
        lnd->counts.races++;
        return refuse(lnd, LNET_WHY_CONN_RACE);
    }
    return (struct conn_refusal){0};
}

void lnd_cm_request(struct lnd *lnd, uint64_t id, uint32_t ip, const uint8_t *data, size_t bytes)
{
    struct lnd_link l = {.id = id};
    const struct lnet_connparams mine = {(uint16_t)lnd->config.peer_credits,
                                         (uint16_t)lnd->config.max_frags, LNET_MSG_BYTES_MAX};
    struct conn_refusal no;
    const struct lnet_msg *m = &lnd->in;
    struct lnd_peer *p = NULL;
    struct lnd_conn *c = NULL;

    lnd_enter(lnd);
    no = check_request(lnd, data, bytes);
    lnd->counts.accepts++;
    if (no.why == 0) {
        lnd->counts.received[lnd_count_index(LNET_MSG_CONNREQ)]++;
        lnd_tell(lnd, &(struct lnd_note){.kind = LND_NOTE_RECEIVED, .peer = m->src_nid, .msg = m});
        p = lnd_peer_of(lnd, m->src_nid);
        no = p ? check_peer(p, m) : refuse(lnd, LNET_WHY_NO_RESOURCES);
    }
    if (no.why == 0) {
        c = lnd_conn_new(p, true);
        if (!c)
            no = refuse(lnd, LNET_WHY_NO_RESOURCES);
    }
    if (no.why) {
        lnd_send_reject(lnd, &l, lnet_nid((uint32_t)(lnd->config.nid >> 32) & 0xffff, ip), no.why,
                        &mine, no.version);
        (void)lnd->ops->destroy_id(lnd->ctx, &l);
        lnd_leave(lnd);
        return;
    }
    c->link.id = id;
    c->version = m->version;
    c->stamp = m->src_stamp;
    c->queue_depth = m->u.conn.queue_depth;
    c->max_frags = m->u.conn.max_frags;
    lnd->ops->adopt(lnd->ctx, &c->link);
    lnd_job(lnd, &c->job, LND_JOB_SETUP, c);
    lnd_leave(lnd);
}

/* The peer wants less: takes it if it is less than before.  Returns true if so. */
static bool settle_for(struct lnd_conn *c, const struct lnet_reject *r)
{
    struct lnd_peer *p = c->peer;

    if (!r->has_params || c->version == LNET_VERSION_1)
        return false;
    if (r->why == LNET_WHY_MSG_QUEUE_SIZE) {
        if (r->conn.queue_depth >= c->queue_depth || r->conn.queue_depth < 2)
            return false;
        p->queue_depth = r->conn.queue_depth;
        return true;
    }
    if (r->conn.max_frags >= c->max_frags || r->conn.max_frags < 1)
        return false;
    p->max_frags = r->conn.max_frags;
    return true;
}

/* The peer, or its software, has rejected.  Returns true if another attempt may succeed; sets the
 * reason why the connection closes.
 */
static bool consumer_rejected(struct lnd_conn *c, const struct lnet_reject *r, int *ret_error)
{
    struct lnd_peer *p = c->peer;

    *ret_error = -ECONNREFUSED;
    switch (r->why) {
    case LNET_WHY_CONN_RACE:
        *ret_error = -EALREADY;
        return true;
    case LNET_WHY_CONN_STALE:
        *ret_error = -ESTALE;
        p->stamp = r->has_params ? r->stamp : 0;
        return true;
    case LNET_WHY_MSG_QUEUE_SIZE:
    case LNET_WHY_RDMA_FRAGS:
        *ret_error = -EPROTO;
        return settle_for(c, r);
    case LNET_WHY_FATAL:
        /* A peer that speaks only the old version says so in this way. */
        if (r->version == LNET_VERSION_1 && c->version != LNET_VERSION_1) {
            p->version = LNET_VERSION_1;
            *ret_error = -EPROTO;
            return true;
        }
        p->stamp = 0; /* it may be another one; the rules of 2007 have no reason for that */
        return false;
    default:
        return false;
    }
}

void lnd_rejected(struct lnd_conn *c, int reason, const uint8_t *data, size_t bytes)
{
    struct lnd *lnd = c->lnd;
    struct lnet_reject r = {0};
    int error = -ECONNREFUSED;
    bool again = false;

    lnd->counts.rejects_got++;
    if (reason == REJ_CONSUMER && lnet_reject_parse(data, bytes, &r)) {
        again = consumer_rejected(c, &r, &error);
    } else if (reason == REJ_STALE) {
        error = -ESTALE;
        again = true;
    } else if (reason == REJ_INVALID_SERVICE) {
        r.why = LNET_WHY_INVALID_SRV_ID;
        error = -EHOSTUNREACH;
    }
    lnd_tell(lnd, &(struct lnd_note){.kind = LND_NOTE_REJECTED,
                                     .peer = c->peer->nid,
                                     .link = &c->link,
                                     .why = r.why,
                                     .error = error});
    c->connects_again = again;
    lnd_close(c, error);
}
