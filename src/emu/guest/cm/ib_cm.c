/* SPDX-License-Identifier: MIT */
#include "emu/guest/cm/ib_cm.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/cm_answered.h"
#include "emu/facts/enum/cm_reason.h"
#include "emu/facts/enum/sidr_status.h"
#include "emu/guest/cm/ib_cm_internal.h"

#define NS_PER_MS       1000000u
#define TIME_CODE_OF_MS 8u /* 4.096 us * 2^8 is about a millisecond */
#define TIME_CODE_MAX   31u
#define GUID_BYTES      8u

uint64_t ib_cm_time_ns(uint32_t code)
{
    return ((uint64_t)1 << (code > TIME_CODE_OF_MS ? code - TIME_CODE_OF_MS : 0)) * NS_PER_MS;
}

/* The sum of the two times, as a code: the larger one, and one more if the other is within half. */
uint32_t ib_cm_ack_timeout(uint32_t delay, uint32_t life)
{
    const uint32_t there_and_back = life + 1;
    const uint32_t larger = there_and_back >= delay ? there_and_back : delay;
    const uint32_t smaller = there_and_back >= delay ? delay : there_and_back;
    const uint32_t code = larger + (smaller + 1 >= larger);

    return code < TIME_CODE_MAX ? code : TIME_CODE_MAX;
}

/* --- Tables ----------------------------------------------------------------------------------- */

static uint32_t hash_of(uint64_t guid, uint32_t number)
{
    return hash_lists_of(guid + number);
}

#define ID_OF(node, member)                                                                        \
    ((node) ? (struct ib_cm_id *)((char *)(node)-offsetof(struct ib_cm_id, member)) : NULL)

struct ib_cm_id *ib_cm_find(const struct ib_cm *cm, uint32_t local_id)
{
    struct hash_node *n = hash_lists_first(&cm->by_local, hash_of(0, local_id));

    while (n && ID_OF(n, by_local)->local_id != local_id)
        n = n->next;
    return ID_OF(n, by_local);
}

struct ib_cm_id *ib_cm_find_pair(const struct ib_cm *cm, uint32_t local_id, uint32_t remote_id)
{
    struct ib_cm_id *id = ib_cm_find(cm, local_id);

    return id && id->remote_id == remote_id ? id : NULL;
}

struct ib_cm_id *ib_cm_find_remote(const struct ib_cm *cm, uint64_t guid, uint32_t remote_id)
{
    struct hash_node *n = hash_lists_first(&cm->by_remote, hash_of(guid, remote_id));

    while (n && (ID_OF(n, by_remote)->remote_guid != guid ||
                 ID_OF(n, by_remote)->remote_id != remote_id))
        n = n->next;
    return ID_OF(n, by_remote);
}

struct ib_cm_id *ib_cm_find_qpn(const struct ib_cm *cm, uint64_t guid, uint32_t remote_qpn)
{
    struct hash_node *n = hash_lists_first(&cm->by_qpn, hash_of(guid, remote_qpn));

    while (n &&
           (ID_OF(n, by_qpn)->remote_guid != guid || ID_OF(n, by_qpn)->remote_qpn != remote_qpn))
        n = n->next;
    return ID_OF(n, by_qpn);
}

bool ib_cm_add_remote(struct ib_cm_id *id)
{
    id->in_remote =
        hash_lists_add(&id->cm->by_remote, &id->by_remote, hash_of(id->remote_guid, id->remote_id));
    return id->in_remote;
}

bool ib_cm_add_qpn(struct ib_cm_id *id)
{
    id->in_qpn =
        hash_lists_add(&id->cm->by_qpn, &id->by_qpn, hash_of(id->remote_guid, id->remote_qpn));
    return id->in_qpn;
}

void ib_cm_forget_peer(struct ib_cm_id *id)
{
    if (id->in_remote)
        hash_lists_remove(&id->cm->by_remote, &id->by_remote);
    if (id->in_qpn)
        hash_lists_remove(&id->cm->by_qpn, &id->by_qpn);
    id->in_remote = id->in_qpn = false;
}

struct ib_cm_id *ib_cm_listener(const struct ib_cm *cm, uint64_t service_id)
{
    struct hash_node *n = hash_lists_first(&cm->by_service, hash_lists_of(service_id));

    while (n && ID_OF(n, by_service)->service_id != service_id)
        n = n->next;
    return ID_OF(n, by_service);
}

bool ib_cm_add_listener(struct ib_cm_id *id)
{
    id->in_service =
        hash_lists_add(&id->cm->by_service, &id->by_service, hash_lists_of(id->service_id));
    return id->in_service;
}

/* --- Messages and timers ---------------------------------------------------------------------- */

struct mad ib_cm_message(enum cm_message message, uint64_t tid)
{
    struct mad m;

    memset(&m, 0, sizeof(m));
    m.head = (struct mad_header){.base_version = MAD_BASE_VERSION,
                                 .mgmt_class = MAD_CLASS_CM,
                                 .class_version = MAD_CM_CLASS_VERSION,
                                 .method = MAD_METHOD_SEND,
                                 .tid = tid,
                                 .attr_id = message};
    return m;
}

bool ib_cm_put_private(uint8_t *to, size_t room, const void *data, size_t bytes)
{
    if (bytes > room)
        return false;
    if (bytes > 0)
        memcpy(to, data, bytes);
    return true;
}

static void send_last(struct ib_cm_id *id)
{
    id->cm->config.ops.send(id->cm->config.ctx, &id->path, id->last);
}

void ib_cm_transmit(struct ib_cm_id *id, const struct mad *m)
{
    mad_build(m, id->last);
    send_last(id);
}

void ib_cm_reply(struct ib_cm *cm, const struct ib_cm_path *path, const struct mad *m)
{
    uint8_t bytes[MAD_BYTES];

    mad_build(m, bytes);
    cm->config.ops.send(cm->config.ctx, path, bytes);
}

void ib_cm_stop_timer(struct ib_cm_id *id)
{
    if (id->timer)
        id->cm->config.ops.stop_timer(id->cm->config.ctx, id->timer);
    id->timer = 0;
}

static void start_timer(struct ib_cm_id *id, uint64_t ns)
{
    const struct ib_cm_config *c = &id->cm->config;

    ib_cm_stop_timer(id);
    id->due_ns = c->ops.now_ns(c->ctx) + ns;
    id->timer = c->ops.start_timer(c->ctx, id->local_id, id->due_ns);
}

void ib_cm_await(struct ib_cm_id *id, uint64_t ns, uint32_t retries)
{
    id->wait_ns = ns;
    id->retries = retries;
    start_timer(id, ns);
}

void ib_cm_send_mra(struct ib_cm_id *id)
{
    const bool active = id->state == CMS_MRA_REP_SENT;
    struct mad m = ib_cm_message(CM_MRA, id->tid);

    m.u.mra.local_comm_id = id->local_id;
    m.u.mra.remote_comm_id = id->remote_id;
    m.u.mra.answered = active ? CM_ANSWERED_REP : CM_ANSWERED_REQ;
    m.u.mra.service_timeout = id->service_timeout;
    ib_cm_reply(id->cm, &id->path, &m);
}

/* --- States ----------------------------------------------------------------------------------- */

void ib_cm_set_state(struct ib_cm_id *id, enum cm_state to)
{
    const struct ib_cm_config *c = &id->cm->config;
    const uint32_t from = id->state;

    id->state = to;
    if (c->ops.changed && from != (uint32_t)to)
        c->ops.changed(c->ctx, id, from);
}

void ib_cm_reset(struct ib_cm_id *id)
{
    ib_cm_stop_timer(id);
    ib_cm_forget_peer(id);
    ib_cm_set_state(id, CMS_IDLE);
}

void ib_cm_enter_timewait(struct ib_cm_id *id)
{
    ib_cm_forget_peer(id);
    ib_cm_set_state(id, CMS_TIMEWAIT);
    start_timer(id, ib_cm_time_ns(id->ack_timeout));
}

void ib_cm_reject(struct ib_cm_id *id, struct mad *rej)
{
    const bool is_after_rep = id->state == CMS_REP_SENT || id->state == CMS_MRA_REP_RCVD;

    rej->u.rej.remote_comm_id = id->remote_id;
    rej->u.rej.local_comm_id = id->state == CMS_REQ_RCVD ? 0 : id->local_id;
    if (id->state == CMS_REQ_RCVD || id->state == CMS_MRA_REQ_SENT)
        rej->u.rej.answered = CM_ANSWERED_REQ;
    else if (id->state == CMS_REP_RCVD || id->state == CMS_MRA_REP_SENT)
        rej->u.rej.answered = CM_ANSWERED_REP;
    else
        rej->u.rej.answered = CM_ANSWERED_OTHER;
    ib_cm_reply(id->cm, &id->path, rej);
    if (is_after_rep)
        ib_cm_enter_timewait(id);
    else
        ib_cm_reset(id);
}

bool ib_cm_tell(struct ib_cm_id *id, enum ib_cm_event_kind kind, const struct mad *m,
                struct ib_cm_id *listener)
{
    const struct ib_cm_event e = {kind, m, listener};

    return id->cm->config.ops.event(id->cm->config.ctx, id, &e);
}

/* The last retry is over. */
static void give_up(struct ib_cm_id *id)
{
    switch ((enum cm_state)id->state) {
    case CMS_REQ_SENT:
    case CMS_MRA_REQ_RCVD:
        ib_cm_reset(id);
        (void)ib_cm_tell(id, IB_CM_REQ_ERROR, NULL, NULL);
        break;
    case CMS_REP_SENT:
    case CMS_MRA_REP_RCVD:
        ib_cm_reset(id);
        (void)ib_cm_tell(id, IB_CM_REP_ERROR, NULL, NULL);
        break;
    case CMS_DREQ_SENT:
        ib_cm_enter_timewait(id);
        (void)ib_cm_tell(id, IB_CM_DREQ_ERROR, NULL, NULL);
        break;
    case CMS_SIDR_REQ_SENT:
        ib_cm_reset(id);
        (void)ib_cm_tell(id, IB_CM_SIDR_REQ_ERROR, NULL, NULL);
        break;
    default:
        RDL_ASSERT(false); /* nothing else awaits an answer */
    }
}

void ib_cm_timer(struct ib_cm *cm, uint32_t local_id)
{
    struct ib_cm_id *id = ib_cm_find(cm, local_id);

    RDL_ASSERT(id); /* ib_cm_free() has stopped its timer */
    id->timer = 0;
    if (id->state == CMS_TIMEWAIT) {
        ib_cm_set_state(id, CMS_IDLE);
        (void)ib_cm_tell(id, IB_CM_TIMEWAIT_EXIT, NULL, NULL);
        return;
    }
    if (id->retries == 0) {
        give_up(id);
        return;
    }
    id->retries--;
    send_last(id);
    start_timer(id, id->wait_ns);
}

/* --- IDs -------------------------------------------------------------------------------------- */

void ib_cm_init(struct ib_cm *cm, const struct ib_cm_config *config, struct prng *rng)
{
    *cm = (struct ib_cm){.config = *config, .operand = (uint32_t)prng_next(rng), .next = 1};
    hash_lists_init(&cm->by_local, config->arena);
    hash_lists_init(&cm->by_remote, config->arena);
    hash_lists_init(&cm->by_qpn, config->arena);
    hash_lists_init(&cm->by_service, config->arena);
}

/* Returns an ID that is not used; 0 means none in messages. */
static uint32_t new_local_id(struct ib_cm *cm)
{
    uint32_t local_id;

    do
        local_id = cm->next++ ^ cm->operand;
    while (local_id == 0 || ib_cm_find(cm, local_id));
    return local_id;
}

struct ib_cm_id *ib_cm_create(struct ib_cm *cm, void *user)
{
    struct ib_cm_id *id = arena_alloc(cm->config.arena, sizeof(*id));

    if (!id)
        return NULL;
    *id = (struct ib_cm_id){.cm = cm, .user = user, .local_id = new_local_id(cm)};
    if (!hash_lists_add(&cm->by_local, &id->by_local, hash_of(0, id->local_id))) {
        arena_release(cm->config.arena, id, sizeof(*id));
        return NULL;
    }
    cm->n_ids++;
    return id;
}

void ib_cm_free(struct ib_cm_id *id)
{
    struct ib_cm *cm = id->cm;

    ib_cm_reset(id);
    if (id->in_service)
        hash_lists_remove(&cm->by_service, &id->by_service);
    hash_lists_remove(&cm->by_local, &id->by_local);
    cm->n_ids--;
    arena_release(cm->config.arena, id, sizeof(*id));
}

/* A peer that waits for an answer to a REQ that is taken back gets to know who has sent it. */
static void take_back(struct ib_cm_id *id)
{
    struct mad rej = ib_cm_message(CM_REJ, id->tid);

    rej.u.rej.reason = CM_REASON_TIMEOUT;
    rej.u.rej.info_length = GUID_BYTES;
    st_be(rej.u.rej.info, GUID_BYTES, id->cm->config.guid);
    ib_cm_reject(id, &rej);
}

static void refuse(struct ib_cm_id *id)
{
    struct mad rej = ib_cm_message(CM_REJ, id->tid);

    rej.u.rej.reason = CM_REASON_CONSUMER_DEFINED;
    ib_cm_reject(id, &rej);
}

void ib_cm_destroy(struct ib_cm_id *id)
{
    switch ((enum cm_state)id->state) {
    case CMS_REQ_SENT:
    case CMS_MRA_REQ_RCVD:
        take_back(id);
        break;
    case CMS_REQ_RCVD:
    case CMS_MRA_REQ_SENT:
    case CMS_REP_RCVD:
    case CMS_MRA_REP_SENT:
    case CMS_REP_SENT:
    case CMS_MRA_REP_RCVD:
        refuse(id);
        break;
    case CMS_ESTABLISHED:
        (void)!ib_cm_send_dreq(id, NULL, 0);
        break;
    case CMS_DREQ_RCVD:
        (void)!ib_cm_send_drep(id, NULL, 0);
        break;
    case CMS_SIDR_REQ_RCVD:
        (void)!ib_cm_send_sidr_rep(id, SIDR_REJECT, 0, 0, NULL, 0);
        break;
    case CMS_IDLE:
    case CMS_LISTEN:
    case CMS_DREQ_SENT:
    case CMS_TIMEWAIT:
    case CMS_SIDR_REQ_SENT:
        break;
    }
    ib_cm_free(id);
}
