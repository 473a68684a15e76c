/* SPDX-License-Identifier: MIT */
/* The messages of the peer.  Each finds its ID; cm_rules.def says what becomes of it then. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/fnv.h"
#include "emu/facts/enum/cm_answered.h"
#include "emu/facts/enum/cm_reason.h"
#include "emu/facts/enum/sidr_status.h"
#include "emu/guest/cm/ib_cm_internal.h"

#define REPLY_HOP_LIMIT 255u /* [Linux, ib_init_ah_attr_from_wc()] */

enum cm_verdict { DROP, TAKE, AGAIN, MRA };

struct cm_rule {
    enum cm_verdict verdict;
    enum cm_state next;
};

/* Returns the rule for @message in the state of @id. */
static struct cm_rule rule_for(struct ib_cm_id *id, enum cm_message message)
{
    static const struct {
        enum cm_message message;
        enum cm_state state;
        struct cm_rule rule;
    } rows[] = {
#define CM_RULE(message, state, verdict, next) {CM_##message, CMS_##state, {verdict, CMS_##next}},
#include "emu/facts/cm_rules.def"
#undef CM_RULE
    };

    _Static_assert(ARRAY_LEN(rows) <= 64, "ib_cm.rules has a bit for each row");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].message != message || rows[i].state != id->state)
            continue;
        id->cm->rules |= (uint64_t)1 << i;
        return rows[i].rule;
    }
    return (struct cm_rule){DROP, CMS_IDLE};
}

/* @id takes @m, and goes to state @next. */
static void take(struct ib_cm_id *id, const struct mad *m, enum cm_state next)
{
    const bool is_stale =
        m->head.attr_id == CM_REJ && m->u.rej.reason == CM_REASON_STALE_CONN && next == CMS_IDLE;

    ib_cm_stop_timer(id);
    if (next == CMS_TIMEWAIT || is_stale)
        ib_cm_enter_timewait(id);
    else if (next == CMS_IDLE)
        ib_cm_reset(id);
    else
        ib_cm_set_state(id, next);
}

/* @id, which may be NULL, takes @m if the rule says so, and its user gets an event. */
static void take_if_ruled(struct ib_cm_id *id, const struct mad *m, enum ib_cm_event_kind kind)
{
    const struct cm_rule rule =
        id ? rule_for(id, (enum cm_message)m->head.attr_id) : (struct cm_rule){DROP, CMS_IDLE};

    if (!id || rule.verdict != TAKE)
        return;
    take(id, m, rule.next);
    (void)ib_cm_tell(id, kind, m, NULL);
}

/* --- Messages to no ID ------------------------------------------------------------------------ */

static void reject(struct ib_cm *cm, const struct ib_cm_path *path, const struct mad *m,
                   uint32_t theirs, uint32_t ours, uint32_t reason)
{
    struct mad rej = ib_cm_message(CM_REJ, m->head.tid);

    rej.u.rej.remote_comm_id = theirs;
    rej.u.rej.local_comm_id = ours;
    rej.u.rej.answered = m->head.attr_id == CM_REQ ? CM_ANSWERED_REQ : CM_ANSWERED_REP;
    rej.u.rej.reason = reason;
    ib_cm_reply(cm, path, &rej);
}

/* --- Requests --------------------------------------------------------------------------------- */

/* Takes from a REQ what the passive side needs of it. */
static void learn_from_req(struct ib_cm_id *id, const struct mad *m, const struct ib_cm_path *from)
{
    const struct cm_req *req = &m->u.req;

    ib_cm_set_state(id, CMS_REQ_RCVD);
    id->tid = m->head.tid;
    id->service_id = req->service_id;
    id->remote_id = req->local_comm_id;
    id->remote_guid = req->local_ca_guid;
    id->remote_qpn = req->local_qpn;
    id->timeout_ns = ib_cm_time_ns(req->local_cm_timeout);
    id->max_retries = req->max_cm_retries;
    id->ack_timeout = req->ack_timeout;
    id->path = *from;
    memcpy(id->path.sgid, req->remote_gid, GID_BYTES);
    memcpy(id->path.dgid, req->local_gid, GID_BYTES);
    id->path.flow_label = req->flow_label;
    id->path.traffic_class = (uint8_t)req->traffic_class;
    id->path.sl = (uint8_t)req->sl;
    id->path.hop_limit = REPLY_HOP_LIMIT;
}

/* The REQ names another address than those of this host. */
static void reject_gid(struct ib_cm_id *id, const struct ib_cm_path *from)
{
    id->path = *from;
    (void)!ib_cm_send_rej(id, CM_REASON_INVALID_GID, from->sgid, GID_BYTES, NULL, 0);
}

static void accept_req(struct ib_cm *cm, const struct ib_cm_path *from, const struct mad *m,
                       struct ib_cm_id *listener)
{
    struct ib_cm_id *id = ib_cm_create(cm, NULL);

    if (!id)
        return; /* the peer tries again */
    learn_from_req(id, m, from);
    if (!ib_cm_add_remote(id) || !ib_cm_add_qpn(id)) {
        ib_cm_free(id);
        return;
    }
    if (!cm->config.ops.has_gid(cm->config.ctx, id->path.sgid)) {
        reject_gid(id, from);
        ib_cm_free(id);
        return;
    }
    if (!ib_cm_tell(id, IB_CM_REQ_RECEIVED, m, listener))
        ib_cm_free(id);
}

static void receive_req(struct ib_cm *cm, const struct ib_cm_path *from, const struct mad *m)
{
    const struct cm_req *req = &m->u.req;
    struct ib_cm_id *known = ib_cm_find_remote(cm, req->local_ca_guid, req->local_comm_id);
    struct ib_cm_id *listener;

    if (known) {
        if (rule_for(known, CM_REQ).verdict == MRA)
            ib_cm_send_mra(known);
        return;
    }
    known = ib_cm_find_qpn(cm, req->local_ca_guid, req->local_qpn);
    if (known) {
        reject(cm, from, m, req->local_comm_id, 0, CM_REASON_STALE_CONN);
        (void)!ib_cm_send_dreq(known, NULL, 0);
        return;
    }
    listener = ib_cm_listener(cm, req->service_id);
    if (listener)
        accept_req(cm, from, m, listener);
    else
        reject(cm, from, m, req->local_comm_id, 0, CM_REASON_INVALID_SERVICE_ID);
}

/* A SIDR_REQ does not say of which node it is: its address takes the place of the GUID. */
static uint64_t sidr_guid(const struct ib_cm_path *from)
{
    return fnv1a_64(FNV64_OF_NOTHING, from->dgid, GID_BYTES);
}

static void receive_sidr_req(struct ib_cm *cm, const struct ib_cm_path *from, const struct mad *m)
{
    const struct cm_sidr_req *req = &m->u.sidr_req;
    struct ib_cm_id *listener = ib_cm_listener(cm, req->service_id);
    struct ib_cm_id *id;

    if (ib_cm_find_remote(cm, sidr_guid(from), req->request_id))
        return; /* the program has it */
    id = ib_cm_create(cm, NULL);
    if (!id)
        return;
    ib_cm_set_state(id, CMS_SIDR_REQ_RCVD);
    id->tid = m->head.tid;
    id->service_id = req->service_id;
    id->remote_id = req->request_id;
    id->remote_guid = sidr_guid(from);
    id->path = *from;
    id->path.hop_limit = REPLY_HOP_LIMIT;
    if (!listener)
        (void)!ib_cm_send_sidr_rep(id, SIDR_UNSUPPORTED, 0, 0, NULL, 0);
    if (!listener || !ib_cm_add_remote(id)) {
        ib_cm_free(id);
        return;
    }
    if (!ib_cm_tell(id, IB_CM_SIDR_REQ_RECEIVED, m, listener))
        ib_cm_free(id);
}

/* --- Replies ---------------------------------------------------------------------------------- */

/* The RTU was lost. */
static void repeat_rtu(struct ib_cm_id *id)
{
    struct mad m;

    if (!mad_parse(&m, id->last) || m.head.attr_id != CM_RTU) {
        m = ib_cm_message(CM_RTU, id->tid);
        m.u.rtu.local_comm_id = id->local_id;
        m.u.rtu.remote_comm_id = id->remote_id;
    }
    ib_cm_reply(id->cm, &id->path, &m);
}

/* Returns true if the peer is new.  If its queue pair is that of an older connection, this one is
 * over on its side.
 */
static bool learn_peer(struct ib_cm_id *id, const struct ib_cm_path *from, const struct mad *m)
{
    const struct cm_rep *rep = &m->u.rep;
    struct ib_cm_id *old;

    if (ib_cm_find_remote(id->cm, rep->local_ca_guid, rep->local_comm_id))
        return false;
    old = ib_cm_find_qpn(id->cm, rep->local_ca_guid, rep->local_qpn);
    if (old) {
        reject(id->cm, from, m, rep->local_comm_id, rep->remote_comm_id, CM_REASON_STALE_CONN);
        (void)!ib_cm_send_dreq(old, NULL, 0);
        return false;
    }
    id->remote_id = rep->local_comm_id;
    id->remote_guid = rep->local_ca_guid;
    id->remote_qpn = rep->local_qpn;
    id->ack_timeout = ib_cm_ack_timeout(rep->target_ack_delay, id->ack_timeout - 1);
    if (ib_cm_add_remote(id) && ib_cm_add_qpn(id))
        return true;
    ib_cm_forget_peer(id); /* there is no memory: the REP comes again */
    id->remote_id = 0;
    return false;
}

static void receive_rep(struct ib_cm *cm, const struct ib_cm_path *from, const struct mad *m)
{
    struct ib_cm_id *id = ib_cm_find(cm, m->u.rep.remote_comm_id);
    struct cm_rule rule;

    if (!id || (id->remote_id != 0 && id->remote_id != m->u.rep.local_comm_id))
        return;
    rule = rule_for(id, CM_REP);
    if (rule.verdict == AGAIN)
        repeat_rtu(id);
    if (rule.verdict == MRA)
        ib_cm_send_mra(id);
    if (rule.verdict == TAKE && learn_peer(id, from, m))
        take_if_ruled(id, m, IB_CM_REP_RECEIVED);
}

static void receive_rtu(struct ib_cm *cm, const struct mad *m)
{
    struct ib_cm_id *id = ib_cm_find_pair(cm, m->u.rtu.remote_comm_id, m->u.rtu.local_comm_id);

    take_if_ruled(id, m, IB_CM_RTU_RECEIVED);
}

/* The peer needs longer: the timer runs longer, and the retries are the same. */
static void receive_mra(struct ib_cm *cm, const struct mad *m)
{
    const struct cm_mra *mra = &m->u.mra;
    const bool of_req = mra->answered == CM_ANSWERED_REQ;
    struct ib_cm_id *id = ib_cm_find_pair(cm, mra->remote_comm_id, of_req ? 0 : mra->local_comm_id);
    struct cm_rule rule;
    uint32_t retries;

    if (!id || mra->answered > CM_ANSWERED_REP)
        return;
    rule = rule_for(id, CM_MRA);
    if (rule.verdict != TAKE || (id->state == CMS_REQ_SENT) != of_req)
        return;
    retries = id->retries;
    take(id, m, rule.next);
    ib_cm_await(id, ib_cm_time_ns(mra->service_timeout) + ib_cm_time_ns(id->ack_timeout), retries);
    (void)ib_cm_tell(id, IB_CM_MRA_RECEIVED, m, NULL);
}

/* The side that takes a REQ back does not know the ID of the passive side: its node and its own ID
 * name it.
 */
static struct ib_cm_id *find_rejected(struct ib_cm *cm, const struct cm_rej *rej)
{
    if (rej->reason == CM_REASON_TIMEOUT)
        return ib_cm_find_remote(cm, ld_be(rej->info, 8), rej->local_comm_id);
    return ib_cm_find_pair(cm, rej->remote_comm_id,
                           rej->answered == CM_ANSWERED_REQ ? 0 : rej->local_comm_id);
}

static void receive_rej(struct ib_cm *cm, const struct mad *m)
{
    struct ib_cm_id *id = find_rejected(cm, &m->u.rej);

    take_if_ruled(id, m, IB_CM_REJ_RECEIVED);
}

/* --- The end ---------------------------------------------------------------------------------- */

/* A connection that is unknown is over: the peer may know that. */
static void answer_unknown_dreq(struct ib_cm *cm, const struct ib_cm_path *from,
                                const struct mad *m)
{
    struct mad drep = ib_cm_message(CM_DREP, m->head.tid);

    drep.u.drep.remote_comm_id = m->u.dreq.local_comm_id;
    drep.u.drep.local_comm_id = m->u.dreq.remote_comm_id;
    ib_cm_reply(cm, from, &drep);
}

static void repeat_drep(struct ib_cm_id *id)
{
    struct mad m;

    if (!mad_parse(&m, id->last) || m.head.attr_id != CM_DREP) {
        m = ib_cm_message(CM_DREP, id->tid);
        m.u.drep.local_comm_id = id->local_id;
        m.u.drep.remote_comm_id = id->remote_id;
    }
    ib_cm_reply(id->cm, &id->path, &m);
}

static void receive_dreq(struct ib_cm *cm, const struct ib_cm_path *from, const struct mad *m)
{
    const struct cm_dreq *dreq = &m->u.dreq;
    struct ib_cm_id *id = ib_cm_find_pair(cm, dreq->remote_comm_id, dreq->local_comm_id);
    struct cm_rule rule;

    if (!id) {
        answer_unknown_dreq(cm, from, m);
        return;
    }
    if (dreq->remote_qpn != id->local_qpn)
        return;
    rule = rule_for(id, CM_DREQ);
    if (rule.verdict == AGAIN)
        repeat_drep(id);
    if (rule.verdict == TAKE)
        id->tid = m->head.tid; /* that of the DREP */
    take_if_ruled(id, m, IB_CM_DREQ_RECEIVED);
}

static void receive_drep(struct ib_cm *cm, const struct mad *m)
{
    struct ib_cm_id *id = ib_cm_find_pair(cm, m->u.drep.remote_comm_id, m->u.drep.local_comm_id);

    take_if_ruled(id, m, IB_CM_DREP_RECEIVED);
}

static void receive_sidr_rep(struct ib_cm *cm, const struct mad *m)
{
    struct ib_cm_id *id = ib_cm_find_pair(cm, m->u.sidr_rep.request_id, 0);

    take_if_ruled(id, m, IB_CM_SIDR_REP_RECEIVED);
}

void ib_cm_receive(struct ib_cm *cm, const struct ib_cm_path *from, const uint8_t bytes[MAD_BYTES])
{
    struct mad m;

    if (!mad_parse(&m, bytes) || m.head.method != MAD_METHOD_SEND)
        return;
    switch ((enum cm_message)m.head.attr_id) {
    case CM_REQ:
        receive_req(cm, from, &m);
        break;
    case CM_MRA:
        receive_mra(cm, &m);
        break;
    case CM_REJ:
        receive_rej(cm, &m);
        break;
    case CM_REP:
        receive_rep(cm, from, &m);
        break;
    case CM_RTU:
        receive_rtu(cm, &m);
        break;
    case CM_DREQ:
        receive_dreq(cm, from, &m);
        break;
    case CM_DREP:
        receive_drep(cm, &m);
        break;
    case CM_SIDR_REQ:
        receive_sidr_req(cm, from, &m);
        break;
    case CM_SIDR_REP:
        receive_sidr_rep(cm, &m);
        break;
    case CM_LAP: /* not on RoCE  [Linux, cm_lap_handler()] */
    case CM_APR:
        break;
    }
}
