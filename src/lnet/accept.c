/* SPDX-License-Identifier: MIT */
/* The passive side of connections, and rejects, both ways.  [Lustre, kiblnd_passive_connect,
 * kiblnd_rejected, kiblnd_check_reconnect]
 */
#include <errno.h>

#include "emu/facts/enum/lnet_why.h"
#include "lnet/lnd_internal.h"
#include "lnet/lnet.h"

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
    lnd_tell(lnd, &(struct lnd_note){.kind = LND_NOTE_REJECTED,
                                     .peer = peer,
                                     .link = l,
                                     .why = r.why,
                                     .version = version,
                                     .is_mine = true});
    (void)lnd->ops->reject(lnd->ctx, l, data, (uint8_t)n);
}

/* Checks the parameters of the request @m.  The rules of 2007 compare them, and negotiate nothing.
 */
static struct conn_refusal check_params(const struct lnd *lnd, const struct lnet_msg *m)
{
    const struct lnet_connparams *p = &m->u.conn;
    const struct lnd_config *g = &lnd->config;
    const uint32_t depth = lnd_depth(lnd, m->version);
    const bool is_old = m->version == LNET_VERSION_1;
    /* The region of all memory does not join fragments: it cannot do with fewer. */
    const bool needs_frags = g->rules_2007 || g->map == LNET_MAP_dma;

    if (p->queue_depth > depth || (g->rules_2007 && p->queue_depth < depth))
        return (struct conn_refusal){is_old ? LNET_WHY_FATAL : LNET_WHY_MSG_QUEUE_SIZE, m->version};
    if (p->max_frags > g->max_frags || (needs_frags && p->max_frags < g->max_frags))
        return (struct conn_refusal){is_old ? LNET_WHY_FATAL : LNET_WHY_RDMA_FRAGS, m->version};
    if (p->queue_depth < (is_old ? LND_DEPTH_1_MIN : 1) || p->max_frags < 1 ||
        p->max_msg_size > LNET_MSG_BYTES_MAX)
        return (struct conn_refusal){LNET_WHY_FATAL, m->version};
    return (struct conn_refusal){0};
}

/* Checks the bytes of a request, which are parsed to lnd->in.  A reject has the newest version of
 * this node, and that of the request as soon as it is known to be for this incarnation.  [the order
 * of Lustre]
 */
static struct conn_refusal check_request(struct lnd *lnd, const uint8_t *data, size_t bytes)
{
    const struct lnet_msg *m = &lnd->in;
    const struct lnd_config *g = &lnd->config;

    if (lnet_parse(data, bytes, &lnd->in) != LNET_GOOD || m->version > g->version ||
        m->src_nid == LNET_NID_ANY || m->src_nid == g->nid)
        return (struct conn_refusal){LNET_WHY_FATAL, g->version};
    if (!lnd_is_up(lnd))
        return (struct conn_refusal){LNET_WHY_EARLY, g->version};
    if (m->dst_nid != g->nid)
        return (struct conn_refusal){LNET_WHY_FATAL, g->version};
    /* A node of version 1 cannot tell its incarnation in a reject, and does not ask for it. */
    if (g->version != LNET_VERSION_1 && m->dst_stamp != 0 && m->dst_stamp != g->stamp)
        return (struct conn_refusal){LNET_WHY_CONN_STALE, g->version};
    if (m->type != LNET_MSG_CONNREQ)
        return (struct conn_refusal){LNET_WHY_FATAL, m->version};
    return check_params(lnd, m);
}

/* Checks the request @m against what is known of the peer @p: connections and attempts. */
static struct conn_refusal check_peer(struct lnd_peer *p, const struct lnet_msg *m)
{
    struct lnd *lnd = p->lnd;

    /* In 2007 older connections closed only when the new one was established. */
    if (!lnd->config.rules_2007 && lnd_peer_close_stale(p, m->version, m->src_stamp))
        return (struct conn_refusal){LNET_WHY_CONN_STALE, m->version};
    if (p->n_connecting > 0 && lnd_wins(lnd, lnd->config.nid, p->nid) &&
        p->n_races < LND_RACES_MAX) {
        p->n_races++;
        lnd->counts.races++;
        return (struct conn_refusal){LNET_WHY_CONN_RACE, m->version};
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
        no = p ? check_peer(p, m) : (struct conn_refusal){LNET_WHY_NO_RESOURCES, m->version};
    }
    if (no.why == 0) {
        c = lnd_conn_new(p, true);
        if (!c)
            no = (struct conn_refusal){LNET_WHY_NO_RESOURCES, m->version};
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
    if (r->conn.max_frags >= c->max_frags || r->conn.max_frags < 1 ||
        c->lnd->config.map == LNET_MAP_dma)
        return false;
    p->max_frags = r->conn.max_frags;
    return true;
}

/* The next request is for the version and the incarnation that the reject names.  That of a node of
 * version 1 names none: then the request names one that nobody has, which version 1 does not look
 * at.  If the peer speaks a newer version meanwhile, it finds that out, and rejects again.
 */
static void heed(struct lnd_peer *p, const struct lnet_reject *r)
{
    p->version = r->version < p->lnd->config.version ? r->version : p->lnd->config.version;
    p->stamp = r->has_params ? r->stamp : UINT64_MAX;
}

/* The peer, or its software, has rejected.  Returns true if another attempt may succeed; sets the
 * reason why the connection closes.  [Lustre, kiblnd_check_reconnect]
 */
static bool consumer_rejected(struct lnd_conn *c, const struct lnet_reject *r, int *ret_error)
{
    bool again = false;

    *ret_error = -ECONNREFUSED;
    if (r->version != LNET_VERSION_1 && (r->version != LNET_VERSION_2 || c->lnd->config.rules_2007))
        return false;
    switch (r->why) {
    case LNET_WHY_CONN_RACE:
        *ret_error = -EALREADY;
        again = true;
        break;
    case LNET_WHY_CONN_STALE:
        *ret_error = -ESTALE;
        again = true;
        break;
    case LNET_WHY_MSG_QUEUE_SIZE:
    case LNET_WHY_RDMA_FRAGS:
        *ret_error = -EPROTO;
        again = settle_for(c, r);
        break;
    case LNET_WHY_FATAL:
        /* A peer that speaks only the old version says so in this way. */
        again = r->version == LNET_VERSION_1 && c->version != LNET_VERSION_1;
        *ret_error = again ? -EPROTO : -ECONNREFUSED;
        break;
    default:
        break;
    }
    if (again)
        heed(c->peer, r);
    return again;
}

void lnd_rejected(struct lnd_conn *c, int reason, const uint8_t *data, size_t bytes)
{
    struct lnd *lnd = c->lnd;
    struct lnet_reject r = {0};
    int error = -ECONNREFUSED;
    bool again = false;

    lnd->counts.rejects_got++;
    if (c->is_passive) { /* after the CONNACK: the peer could not use it */
        error = -ECONNRESET;
    } else if (reason == REJ_CONSUMER && lnet_reject_parse(data, bytes, &r)) {
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
                                     .version = r.version,
                                     .error = error});
    c->connects_again = again;
    lnd_close(c, error);
}
