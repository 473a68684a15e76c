/* SPDX-License-Identifier: MIT */
/* Public functions of the transport: queue pairs, doorbells, packets in, frames out. */
#include "emu/xport/xport.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/log2.h"
#include "emu/facts/aeth.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/profile.h"
#include "emu/facts/roce.h"
#include "emu/hca/ctrl.h"
#include "emu/hca/key.h"
#include "emu/hca/mcast.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/frames.h"
#include "emu/trace/events/qp.h"
#include "emu/xport/admit.h"
#include "emu/xport/credit.h"
#include "emu/xport/ctrl.h"
#include "emu/xport/drain.h"
#include "emu/xport/internal.h"
#include "rdmalab/limits.h"

#define HOP_LIMIT_DEFAULT 64u

/* The UDP source port is fixed per queue pair, so that switches keep the packets of a connection in
 * order.  It is from the dynamic range, by multiplicative hashing of the QPN as in Linux.
 */
#define UDP_PORT_FIRST 0xc000u
#define UDP_PORT_BITS  14u
#define HASH_RATIO     0x61c88647u

#define SUMMED_BYTES 1024u /* payload size from which copy and ICRC are combined */

void xport_init(struct xport *x, struct hca *hca, const struct xport_ops *ops, void *ctx,
                const uint8_t mac[MAC_BYTES])
{
    *x = (struct xport){.hca = hca, .ops = ops, .ctx = ctx};
    memcpy(x->mac, mac, MAC_BYTES);
}

void xport_done(struct xport *x)
{
    /* QPNs without a queue pair return RFK_NO_OBJECT. */
    for (uint32_t qpn = QPN_GSI; qpn <= x->hca->limits.max_qp; qpn++)
        (void)xport_qp_destroy(x, qpn);
}

static size_t recv_body_bytes(const struct xport_qp *xqp)
{
    return xqp->qp.config.max_recv_sge * sizeof(struct sge);
}

static size_t rds_bytes(const struct xport_qp *xqp)
{
    return xqp->resp.rds.size * sizeof(struct resp_rd);
}

/* Frees the ring of sends, which is empty.  req_fetch_place() allocates a new one. */
static void release_ring(struct arena *a, struct requester *r)
{
    arena_release(a, r->ring, r->size * sizeof(*r->ring));
    arena_release(a, r->bodies, r->size * r->body_bytes);
    r->ring = NULL;
    r->bodies = NULL;
}

/* @xqp may be half-built: members that are not allocated are NULL. */
static void xport_free(struct xport_qp *xqp)
{
    struct arena *a = xqp->qp.hca->arena;
    struct requester *r = &xqp->req;

    release_ring(a, r);
    arena_release(a, r->sends, REQ_SENDS_BYTES);
    arena_release(a, xqp->resp.wqe.sge, recv_body_bytes(xqp));
    arena_release(a, xqp->resp.rds.ring, rds_bytes(xqp));
    hca_qp_destroy(xqp->qp.hca, &xqp->qp, sizeof(*xqp));
}

/* Space for the SGEs or the inline data of one send, a multiple of the size of an SGE. */
static size_t send_body_bytes(const struct qp_config *c)
{
    const size_t sges = c->max_send_sge * sizeof(struct sge);
    const size_t most = sges > c->max_inline_data ? sges : c->max_inline_data;

    return (most + sizeof(struct sge) - 1) / sizeof(struct sge) * sizeof(struct sge);
}

/* The entries of a responder's ring of READs and atomics.  Without TRAIT_RD_ROOM_CHECKED it also
 * has room for all that a requester can have outstanding.
 */
static uint32_t rds_size(const struct hca *h)
{
    const uint32_t kept = h->limits.max_dest_rd_atomic;

    return profile_has(h->profile, TRAIT_RD_ROOM_CHECKED) ? kept
                                                          : kept + RDL_MOST_max_qp_init_rd_atom;
}

enum refusal_reason xport_qp_create(struct xport *x, const struct qp_config *config,
                                    struct qp **ret)
{
    struct arena *a = x->hca->arena;
    struct qp *qp;
    struct xport_qp *xqp;
    enum refusal_reason why;

    if (!service_of(config->type))
        return hca_refuse(x->hca, REF_QP_TYPE, compared_found(config->type));
    why = hca_qp_create(x->hca, config, sizeof(*xqp), &qp);
    if (why != REF_NONE)
        return why;
    xqp = xport_of(qp);
    xqp->x = x;
    xqp->service = service_of(config->type);
    xqp->peer = EV_HOST_NONE;
    xqp->req.size = (uint32_t)pow2_ceil(config->max_send_wr);
    xqp->req.body_bytes = send_body_bytes(config);
    xqp->resp.wqe.sge = arena_alloc_raw(a, recv_body_bytes(xqp));
    xqp->resp.rds.size = rds_size(x->hca);
    if (!xqp->resp.wqe.sge) {
        xport_free(xqp);
        return hca_refuse(x->hca, REF_DEVICE_MEMORY, compared_nothing());
    }
    *ret = qp;
    return REF_NONE;
}

enum refusal_reason xport_qp_resize(struct xport *x, struct qp *qp, uint32_t max_send_wr,
                                    uint32_t max_recv_wr)
{
    struct requester *r = &xport_of(qp)->req;
    const uint32_t most = x->hca->limits.max_qp_wr, size = (uint32_t)pow2_ceil(max_send_wr);

    if (max_send_wr > most)
        return hca_refuse(x->hca, REF_QP_SEND_WR, compared_at_most(most, max_send_wr));
    if (max_recv_wr > most)
        return hca_refuse(x->hca, REF_QP_RECV_WR, compared_at_most(most, max_recv_wr));
    if (size != r->size && r->fetched != r->oldest)
        return hca_refuse(x->hca, REF_QP_RING_IN_USE, compared_at_most(0, r->fetched - r->oldest));
    if (size != r->size)
        release_ring(x->hca->arena, r);
    r->size = size;
    qp->config.max_send_wr = max_send_wr;
    qp->config.max_recv_wr = max_recv_wr;
    return REF_NONE;
}

enum refusal_reason xport_qp_destroy(struct xport *x, uint32_t qpn)
{
    struct qp *qp = hca_qp(x->hca, qpn);

    if (!qp)
        return hca_refuse(x->hca, REF_QP_HANDLE, compared_found(qpn));
    retry_timer_stop(xport_of(qp), TMR_ACK);
    retry_timer_stop(xport_of(qp), TMR_RNR);
    if (qp->srq && xport_of(qp)->resp.has_wqe)
        resp_complete(xport_of(qp), NULL); /* the shared ring stays in use */
    xport_free(xport_of(qp));
    return REF_NONE;
}

static uint16_t udp_port_of(uint32_t qpn)
{
    const uint32_t hash = qpn * HASH_RATIO >> (32 - UDP_PORT_BITS);

    return (uint16_t)(UDP_PORT_FIRST + hash);
}

/* Sets the P_Key of the packets of the connection. */
static void set_partition(struct xport_qp *xqp)
{
    const enum refusal_reason why =
        hca_pkey(xqp->qp.hca, xqp->qp.attr.pkey_index, &xqp->out.bth.pkey);

    RDL_ASSERT(why == REF_NONE); /* the index was checked */
}

/* Combining copy and ICRC pays only for large payloads in one piece. */
static bool is_summed(const struct sg_list *l, const struct sge_cur *at, uint32_t bytes)
{
    return bytes >= SUMMED_BYTES && l->sge[at->i].bytes - at->at >= bytes;
}

enum rule xport_fill(const struct xport_qp *xqp, uint8_t *frame, const struct packet_room *room,
                     const struct sg_list *l, struct sge_cur *at, struct sge *reterr_bad)
{
    struct sg_sink sink = {room->payload, xqp->out.payload_bytes, NULL};
    uint32_t icrc;
    enum rule rule;

    if (is_summed(l, at, sink.bytes)) {
        icrc = packet_sum(frame, room->payload);
        sink.icrc = &icrc;
    }
    rule = sge_copy_out(xqp->qp.hca, l, at, &sink, reterr_bad);
    if (rule == RULE_NONE && sink.icrc)
        packet_finish_summed(frame, room->frame_bytes, sink.to + sink.bytes, icrc);
    else if (rule == RULE_NONE)
        packet_finish(frame, room->frame_bytes);
    return rule;
}

void xport_set_path(struct xport_qp *xqp, const struct av *av, uint32_t dest_qpn)
{
    const struct hca *h = xqp->qp.hca;
    const uint8_t *sgid = qp_gids(&xqp->qp)[av->sgid_index].raw;
    struct packet *p = &xqp->out;

    *p = (struct packet){
        .ip = {.version = gid_is_ipv4(sgid) ? 4 : 6,
               .tclass = av->tclass,
               .ttl = av->hop_limit ? av->hop_limit : HOP_LIMIT_DEFAULT},
        .udp_src_port = udp_port_of(xqp->qp.qpn),
        .bth = {.migrated = profile_has(h->profile, TRAIT_MIGREQ_SET),
                .pkey = p->bth.pkey, /* set_partition() */
                .dest_qpn = dest_qpn},
    };
    if (p->ip.version == 6)
        p->ip.flow_label = av->flow_label;
    memcpy(p->ip.src, sgid, GID_BYTES);
    memcpy(p->ip.dst, av->dgid, GID_BYTES);
    memcpy(p->eth.src, xqp->qp.mac ? xqp->qp.mac : xqp->x->mac, MAC_BYTES);
    memcpy(p->eth.dst, av->dmac, MAC_BYTES);
    xqp->path = packet_path_of(p);
    xqp->peer = xqp->x->ops->peer_of(xqp->x->ctx, av->dgid);
}

/* Clears the path of a queue pair in RESET. */
static void forget_path(struct xport_qp *xqp)
{
    xqp->out = (struct packet){0};
    xqp->path = (struct packet_path){0};
    xqp->peer = EV_HOST_NONE;
    xqp->mtu = 0;
}

/* Checks the address vector of a connection: both addresses must be of the same IP version, the
 * destination must not be a multicast group, and the RNIC may connect to it.  Returns REF_NONE or
 * RFK_INVALID.
 */
static enum refusal_reason check_path(struct xport *x, const struct hca_gid *gids, uint32_t mask,
                                      const struct qp_attr *a)
{
    enum refusal_reason why = REF_NONE;

    if (!(mask & QPA_AV))
        return REF_NONE;
    if (gid_is_ipv4(a->av.dgid) != gid_is_ipv4(gids[a->av.sgid_index].raw))
        why = REF_AV_FAMILY;
    else if (gid_is_group(a->av.dgid))
        why = REF_AV_GROUP;
    else if (!x->ops->may_connect(x->ctx, a->av.dgid))
        why = REF_AV_FORBIDDEN;
    return why == REF_NONE ? why : hca_refuse(x->hca, why, compared_nothing());
}

/* Updates the transport state from the attributes in @mask. */
static void adopt(struct xport_qp *xqp, uint32_t mask)
{
    const struct qp_attr *a = &xqp->qp.attr;
    struct requester *r = &xqp->req;

    if (mask & QPA_PKEY_INDEX)
        set_partition(xqp);
    if (mask & (QPA_AV | QPA_DEST_QPN))
        xport_set_path(xqp, &a->av, a->dest_qpn);
    if (mask & QPA_PATH_MTU)
        xqp->mtu = mtu_bytes(a->path_mtu);
    if (!xqp->service->connected)
        xqp->mtu = mtu_bytes((uint32_t)xqp->qp.hca->limits.max_mtu);
    if (mask & QPA_RQ_PSN) {
        xqp->resp.expected = (struct psn){a->rq_psn};
        xqp->resp.taken = psn_add(xqp->resp.expected, PSN_MASK);
    }
    if (mask & QPA_SQ_PSN)
        r->una = (struct psn){a->sq_psn};
    /* The timeout can only change while no answer is outstanding; it applies to later packets. */
    RDL_ASSERT(!(mask & QPA_TIMEOUT) || r->asked_psns == 0);
    if (mask & QPA_RETRY_CNT)
        r->retries = 0;
    if (mask & QPA_RNR_RETRY)
        r->rnr_naks = 0;
}

enum refusal_reason xport_qp_modify(struct xport *x, struct qp *qp, uint32_t mask,
                                    const struct qp_attr *attr)
{
    struct xport_qp *xqp = xport_of(qp);
    enum refusal_reason why = hca_qp_check_modify(qp, mask, attr);
    const enum qp_state from = qp->state;

    if (why == REF_NONE)
        why = check_path(x, qp_gids(qp), mask, attr);
    if (why != REF_NONE)
        return why;
    if (drain_refuses(xqp, mask, attr))
        return hca_refuse(x->hca, REF_QP_DRAINING, compared_nothing());
    hca_qp_apply_modify(qp, mask, attr);
    adopt(xqp, mask);
    drain_moved(xqp, from, mask);
    if (qp->state != QPS_RTR)
        xqp->established = false;
    if (mask & QPA_STATE) {
        if (qp->state == QPS_RESET) {
            xport_reset(xqp);
            forget_path(xqp);
        } else if (qp->state == QPS_ERR)
            xport_fail(xqp);
        else if (from == QPS_SQD && qp->state == QPS_RTS)
            req_judge_waiting(xqp);
    }
    xport_wake(xqp);
    return REF_NONE;
}

void xport_cq_failed(struct xport *x, struct cq *cq)
{
    for (uint32_t qpn = QPN_GSI; qpn <= x->hca->limits.max_qp; qpn++) {
        struct qp *qp = hca_qp(x->hca, qpn);

        if (qp && (qp->send_cq == cq || qp->recv_cq == cq) && qp->state != QPS_RESET &&
            qp->state != QPS_ERR) {
            xport_fail(xport_of(qp));
            xport_event(xport_of(qp), ASE_QP_FATAL); /* its completions cannot be delivered */
        }
    }
}

void xport_srq_failed(struct xport *x, const struct srq *srq)
{
    for (uint32_t qpn = QPN_GSI; qpn <= x->hca->limits.max_qp; qpn++) {
        struct qp *qp = hca_qp(x->hca, qpn);

        if (qp && qp->srq == srq && qp->state != QPS_RESET && qp->state != QPS_ERR)
            xport_fail(xport_of(qp));
    }
}

void xport_kick(struct xport *x, struct qp *qp, enum wq wq)
{
    (void)x;
    if (qp->state == QPS_ERR || (qp->state == QPS_SQE && wq == WQ_SEND)) {
        xport_flush(xport_of(qp), wq);
        return;
    }
    if (wq == WQ_SEND)
        xport_of(qp)->req.kicked = true;
    else
        credit_posted(xport_of(qp));
    xport_wake(xport_of(qp));
}

void xport_drop(const struct xport *x, const struct packet *p, const struct rx_info *info,
                enum drop_reason reason, const struct compared *values)
{
    TRACE(x->hca->trace, drop, .host = x->hca->host, .qpn = p->bth.dest_qpn,
          .opcode = p->bth.opcode, .psn = p->bth.psn.v, .reason = (uint32_t)reason,
          .wire_bytes = info->wire_bytes, .tx = info->tx, .least = values->least,
          .most = values->most, .found = values->found, .cm = packet_message(p));
}

/* Drops @p because of @reason.  @qp is its queue pair, or NULL. */
static enum drop_reason turn_away(const struct xport *x, const struct qp *qp,
                                  const struct packet *p, const struct rx_info *info,
                                  enum drop_reason reason)
{
    const struct compared values = admit_compared(x->hca, qp, p, reason);

    xport_drop(x, p, info, reason, &values);
    return reason;
}

static enum drop_reason hand_over(struct xport_qp *xqp, const struct packet *p,
                                  const struct rx_info *info)
{
    xport_event_arrival(xqp);
    return xqp->service->receive(xqp, p, info);
}

/* Delivers a multicast datagram to each attached queue pair that accepts it.  Returns DROP_NONE if
 * at least one has taken it.
 */
static enum drop_reason receive_group(struct xport *x, const struct packet *p,
                                      const struct rx_info *info)
{
    enum drop_reason all = DROP_NO_SUCH_GID;
    const uint32_t *qpns;
    const uint32_t n = mcast_find(x->hca, p->ip.dst, &qpns);

    if (n == 0 || p->bth.dest_qpn != QPN_MULTICAST)
        return turn_away(x, NULL, p, info, n == 0 ? DROP_NO_SUCH_GID : DROP_NO_SUCH_QP);
    for (uint32_t i = 0; i < n; i++) {
        struct qp *qp = hca_qp(x->hca, qpns[i]);
        enum drop_reason why;

        RDL_ASSERT(qp); /* destroying a queue pair detaches it */
        if (!mcast_wants(qp, p->ip.src, p->deth.src_qpn)) {
            all = all == DROP_NO_SUCH_GID ? DROP_OWN_COPY : all;
            continue;
        }
        why = admit_to(qp, p);
        why = why == DROP_NONE ? hand_over(xport_of(qp), p, info) : turn_away(x, qp, p, info, why);
        if (all != DROP_NONE)
            all = why;
    }
    return all == DROP_OWN_COPY ? turn_away(x, NULL, p, info, all) : all;
}

uint32_t xport_receive(struct xport *x, const struct packet *p, const struct rx_info *info)
{
    struct qp *qp = NULL;
    enum drop_reason reason;

    if (gid_is_group(p->ip.dst))
        return receive_group(x, p, info);
    reason = admit(x->hca, info->gids, p, &qp);
    if (reason != DROP_NONE)
        return turn_away(x, hca_qp(x->hca, p->bth.dest_qpn), p, info, reason);
    return hand_over(xport_of(qp), p, info);
}

void xport_timer(struct xport *x, uint64_t arg, bool held)
{
    struct qp *qp = hca_qp(x->hca, (uint32_t)(arg >> 8));
    const enum timer_kind kind = (enum timer_kind)(arg & 0xff);

    RDL_ASSERT(qp); /* destroying a queue pair cancels its timers */
    if (held)
        retry_hold(xport_of(qp), kind);
    else
        retry_timeout(xport_of(qp), kind);
}

void xport_go_on(struct xport *x)
{
    for (uint32_t qpn = QPN_GSI; qpn <= x->hca->limits.max_qp; qpn++) {
        struct qp *qp = hca_qp(x->hca, qpn);

        if (qp)
            retry_go_on(xport_of(qp));
    }
}

bool xport_has_tx(const struct qp *qp)
{
    const struct xport_qp *xqp = xport_of_const(qp);

    return resp_owes_answer(&xqp->resp) || (!req_is_idle(&xqp->req) && req_may_send(xqp));
}

bool xport_is_draining(const struct qp *qp)
{
    return xport_of_const(qp)->draining && qp->state == QPS_SQD;
}

void xport_wake(struct xport_qp *xqp)
{
    if (xqp->draining)
        drain_settle(xqp);
    if (xqp->is_ready || !xport_has_tx(&xqp->qp))
        return;
    xqp->is_ready = true;
    xqp->x->ops->ready(xqp->x->ctx, &xqp->qp);
}

void xport_trace_key(const struct xport_qp *xqp, const struct sge *s, enum rule rule,
                     unsigned access)
{
    const struct key_user who = key_user_of(&xqp->qp);

    xport_trace_key_of(xqp, &who, s, rule, access);
}

void xport_trace_key_of(const struct xport_qp *xqp, const struct key_user *who, const struct sge *s,
                        enum rule rule, unsigned access)
{
    struct objection o = {RULE_NONE, {0}};

    if (rule != RULE_NONE)
        o = key_objection(xqp->qp.hca, s->lkey, who, s->addr, s->bytes, access);
    RDL_ASSERT(o.rule == rule);
    TRACE(xport_trace(xqp), key, .host = xqp->qp.hca->host, .qpn = xqp->qp.qpn, .key = s->lkey,
          .addr = s->addr, .bytes = s->bytes, .rule = (uint32_t)rule, .least = o.values.least,
          .most = o.values.most, .found = o.values.found);
}

/* Returns true if request @next can send its next packet or be executed now.  Fetches one more
 * request if everything fetched was sent.
 */
static bool next_may_go(struct xport_qp *xqp)
{
    const struct requester *r = &xqp->req;

    if (!req_may_send(xqp))
        return false;
    if (r->next != r->fetched)
        return true;
    /* The fetched request may be complete already, be refused, or have to wait. */
    /* cppcheck-suppress identicalConditionAfterEarlyExit ; req_fetch() changes it */
    return req_fetch(xqp) && r->next != r->fetched && req_may_start(xqp);
}

/* Builds the next packet of the send queue, or executes a local request.  Returns the length of the
 * frame, or 0.
 */
static size_t build_request(struct xport_qp *xqp, uint8_t *frame, ev_id *ret_tx)
{
    size_t frame_bytes = 0;

    if (next_may_go(xqp)) {
        if (req_wqe_at(&xqp->req, xqp->req.next)->info->local)
            req_local_run(xqp);
        else
            frame_bytes = req_build(xqp, frame, ret_tx);
    }
    req_settle(xqp);
    return frame_bytes;
}

static struct tx_info tx_info_of(const struct packet *p, ev_id tx, struct whole *whole)
{
    const bool has_aeth = (op_info(p->bth.opcode)->headers & H_AETH) != 0;

    return (struct tx_info){
        .tx = tx,
        .opcode = p->bth.opcode,
        .dest_qpn = p->bth.dest_qpn,
        .psn = p->bth.psn,
        .syndrome = has_aeth ? aeth_unpack(p->aeth.syndrome).kind : SYN_NONE,
        .cm = packet_message(p),
        .whole = whole,
    };
}

size_t xport_build(struct xport *x, struct qp *qp, uint8_t *frame, size_t cap, struct tx_info *ret)
{
    struct xport_qp *xqp = xport_of(qp);
    size_t frame_bytes;
    ev_id tx = 0;

    RDL_ASSERT(cap >= XPORT_FRAME_BYTES);
    x->whole = NULL;
    xqp->answered_last = resp_owes_answer(&xqp->resp) && !(xqp->answered_last && req_may_send(xqp));
    frame_bytes = xqp->answered_last ? resp_build(xqp, frame, &tx) : build_request(xqp, frame, &tx);
    if (frame_bytes > 0)
        *ret = tx_info_of(&xqp->out, tx, x->whole);
    if (xqp->draining)
        drain_settle(xqp);
    return frame_bytes;
}

bool xport_has_more(struct qp *qp)
{
    struct xport_qp *xqp = xport_of(qp);

    xqp->is_ready = xport_has_tx(qp);
    return xqp->is_ready;
}
