/* SPDX-License-Identifier: MIT */
/* The public functions of cm.h: look up the objects of handles and call the guest. */
#include "rdmalab/cm.h"

#include <string.h>

#include "emu/facts/enum/cm_call.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/guest/machine/rdma_cm.h"
#include "emu/lab/cm_calls.h"
#include "emu/lab/lab_state.h"
#include "emu/rnic/rnic.h"

static struct guest_cm_object *channel_of(const struct rdl_lab *lab, rdl_cm_channel h)
{
    return (struct guest_cm_object *)lab_object(lab->state, OBJ_EVENT_CHANNEL, h.raw);
}

static struct guest_cm_object *object_of(const struct rdl_lab *lab, rdl_cm_id h)
{
    return (struct guest_cm_object *)lab_object(lab->state, OBJ_CM_ID, h.raw);
}

static bool can_start(const struct host *h)
{
    return h->rnic && !h->is_external && h->guest.verbs.up && !h->guest.verbs.broken;
}

void lab_cm_start(struct host *h)
{
    if (!can_start(h))
        return;
    h->rnic->booting = true;
    cm_agent_start(&h->guest.cm);
    h->rnic->booting = false;
}

/* Starts the connection managers of all hosts, and of those that come later.  Returns RDL_OK, or
 * RDL_ERR_BUSY if a host has a request under way.
 */
static enum rdl_status start_all(struct lab_state *w)
{
    struct rdl_response ignored;

    for (uint32_t i = 0; i < w->n_hosts; i++) {
        if (can_start(w->hosts[i]) &&
            verbs_answer(&w->hosts[i]->guest.verbs, &ignored) == RDL_ERR_BUSY)
            return RDL_ERR_BUSY;
    }
    w->has_cm = true;
    w->cm_calls = cm_calls_new(w->arena);
    for (uint32_t i = 0; i < w->n_hosts; i++)
        lab_cm_start(w->hosts[i]);
    return RDL_OK;
}

/* Returns RDL_OK if the connection manager of @h can be used; otherwise why it cannot. */
static enum rdl_status usable(const struct host *h)
{
    if (!h->rnic)
        return RDL_ERR_NO_DEVICE;
    if (h->guest.verbs.broken)
        return RDL_ERR_BROKEN;
    if (h->guest.cm.failed != RDL_OK)
        return h->guest.cm.failed;
    return h->guest.cm.is_up ? RDL_OK : RDL_ERR_STATE;
}

enum rdl_status lab_cm_usable(struct lab_state *w, const struct host *h)
{
    const enum rdl_status st = h->guest.cm.is_up ? RDL_OK : start_all(w);

    return st == RDL_OK ? usable(h) : st;
}

static enum rdl_status create_channel(struct lab_state *w, struct host *h, const char *name,
                                      uint64_t *ret)
{
    const enum rdl_status st = lab_cm_usable(w, h);

    return st == RDL_OK ? rdma_cm_create_channel(&h->guest, name, ret) : st;
}

enum rdl_status rdl_cm_create_channel(struct rdl_lab *lab, rdl_host host, const char *name,
                                      rdl_cm_channel *ret)
{
    ACT_AT(lab, host, h, create_channel(lab->state, h, name, &ret->raw));
}

enum rdl_status rdl_cm_destroy_channel(struct rdl_lab *lab, rdl_cm_channel channel)
{
    struct guest_cm_object *ch = channel_of(lab, channel);

    ACT_ON(lab, ch, rdma_cm_destroy_channel(ch));
}

enum rdl_status rdl_cm_create_id(struct rdl_lab *lab, rdl_cm_channel channel, uint32_t space,
                                 const char *name, rdl_cm_id *ret)
{
    struct guest_cm_object *ch = channel_of(lab, channel);

    ACT_ON(lab, ch, rdma_cm_create_id(ch, space, name, &ret->raw));
}

static struct cm_moment now(const struct rdl_lab *lab)
{
    return (struct cm_moment){lab->state->trace.tick, lab->state->trace.now_ns};
}

/* Remembers a call about ID @o that began at @at, or an event that it got. */
static void note_at(const struct rdl_lab *lab, const struct guest_cm_object *o, enum cm_call call,
                    uint32_t event, int error, const struct cm_moment *at)
{
    const struct rdl_cm_call c = {.at_ns = at->ns,
                                  .tick = at->tick,
                                  .call = call,
                                  .host = o->o.verbs->config.host,
                                  .id = rdma_cm_id_of(o)->number,
                                  .event = event,
                                  .error = error};

    cm_calls_add(lab->state->cm_calls, &c);
}

/* The same within the tick of the call.  It began then, or at o->began. */
static void note(const struct rdl_lab *lab, struct guest_cm_object *o, enum cm_call call,
                 uint32_t event, int error)
{
    struct cm_moment at = now(lab);

    at.tick--; /* the tick of the call is not over */
    if (o->began.tick)
        at = o->began;
    o->began.tick = 0;
    note_at(lab, o, call, event, error, &at);
}

/* An rdma_accept() has begun with the moves of the queue pair, if the ID has one. */
static void note_accept(const struct rdl_lab *lab, struct guest_cm_object *o, int error)
{
    if (o->moved.tick)
        note_at(lab, o, CM_CALL_rdma_accept, 0, error, &o->moved);
    else
        note(lab, o, CM_CALL_rdma_accept, 0, error);
}

static enum rdl_status destroy_id(const struct rdl_lab *lab, struct guest_cm_object *o)
{
    if (rdma_cm_id_of(o)->n_told == 0)
        note(lab, o, CM_CALL_rdma_destroy_id, 0, 0);
    return rdma_cm_destroy_id(o);
}

enum rdl_status rdl_cm_destroy_id(struct rdl_lab *lab, rdl_cm_id id)
{
    struct guest_cm_object *o = object_of(lab, id);

    ACT_ON(lab, o, destroy_id(lab, o));
}

enum rdl_status rdl_cm_migrate_id(struct rdl_lab *lab, rdl_cm_id id, rdl_cm_channel channel)
{
    struct guest_cm_object *o = object_of(lab, id), *ch = channel_of(lab, channel);
    const enum rdl_status st = lab_may_use(ch ? &ch->o : NULL);

    if (st != RDL_OK)
        return st;
    ACT_ON(lab, o, rdma_cm_migrate_id(o, ch));
}

/* Keeps the errno of a call of the kernel. */
static enum rdl_status told(int error, int *reterr)
{
    *reterr = error;
    return error ? RDL_ERR_ERRNO : RDL_OK;
}

/* The same of a call that the lab remembers. */
static enum rdl_status called(const struct rdl_lab *lab, struct guest_cm_object *o,
                              enum cm_call call, int error, int *reterr)
{
    note(lab, o, call, 0, error);
    return told(error, reterr);
}

enum rdl_status rdl_cm_bind(struct rdl_lab *lab, rdl_cm_id id, const struct rdl_cm_addr *at,
                            int *reterr)
{
    struct guest_cm_object *o = object_of(lab, id);

    ACT_ON(lab, o, called(lab, o, CM_CALL_rdma_bind_addr, cma_bind(o->part, at), reterr));
}

enum rdl_status rdl_cm_resolve_addr(struct rdl_lab *lab, rdl_cm_id id,
                                    const struct rdl_cm_addr *from, const struct rdl_cm_addr *to,
                                    uint64_t timeout_ns, int *reterr)
{
    struct guest_cm_object *o = object_of(lab, id);

    ACT_ON(lab, o,
           called(lab, o, CM_CALL_rdma_resolve_addr,
                  cma_resolve_addr(o->part, from, to, timeout_ns), reterr));
}

enum rdl_status rdl_cm_resolve_route(struct rdl_lab *lab, rdl_cm_id id, int *reterr)
{
    struct guest_cm_object *o = object_of(lab, id);

    ACT_ON(lab, o, called(lab, o, CM_CALL_rdma_resolve_route, cma_resolve_route(o->part), reterr));
}

enum rdl_status rdl_cm_listen(struct rdl_lab *lab, rdl_cm_id id, uint32_t backlog, int *reterr)
{
    struct guest_cm_object *o = object_of(lab, id);

    ACT_ON(lab, o, called(lab, o, CM_CALL_rdma_listen, cma_listen(o->part, backlog), reterr));
}

enum rdl_status rdl_cm_connect(struct rdl_lab *lab, rdl_cm_id id, const struct rdl_cm_param *param,
                               int *reterr)
{
    struct guest_cm_object *o = object_of(lab, id);

    ACT_ON(lab, o, called(lab, o, CM_CALL_rdma_connect, cma_connect(o->part, param), reterr));
}

/* The program gets the event @from of ID @o as @to, and only now. */
static void turned(const struct rdl_lab *lab, const struct guest_cm_object *o, uint32_t from,
                   uint32_t to)
{
    const struct cm_moment at = now(lab);

    cm_calls_turn(lab->state->cm_calls, o->o.verbs->config.host, rdma_cm_id_of(o)->number, from, to,
                  at.ns, at.tick);
}

/* librdmacm establishes a connection before the program gets its event: see cma_accept(). */
static enum rdl_status accept_or_establish(const struct rdl_lab *lab, struct guest_cm_object *o,
                                           const struct rdl_cm_param *param, int *reterr)
{
    const int error = cma_accept(o->part, param);

    if (param)
        note_accept(lab, o, error);
    else if (!error)
        turned(lab, o, RDMA_CM_EVENT_CONNECT_RESPONSE, RDMA_CM_EVENT_ESTABLISHED);
    return told(error, reterr);
}

enum rdl_status rdl_cm_accept(struct rdl_lab *lab, rdl_cm_id id, const struct rdl_cm_param *param,
                              int *reterr)
{
    struct guest_cm_object *o = object_of(lab, id);

    ACT_ON(lab, o, accept_or_establish(lab, o, param, reterr));
}

enum rdl_status rdl_cm_reject(struct rdl_lab *lab, rdl_cm_id id, const void *data, size_t bytes,
                              int *reterr)
{
    struct guest_cm_object *o = object_of(lab, id);

    ACT_ON(lab, o, called(lab, o, CM_CALL_rdma_reject, cma_reject(o->part, data, bytes), reterr));
}

enum rdl_status rdl_cm_disconnect(struct rdl_lab *lab, rdl_cm_id id, int *reterr)
{
    struct guest_cm_object *o = object_of(lab, id);

    ACT_ON(lab, o, called(lab, o, CM_CALL_rdma_disconnect, cma_disconnect(o->part), reterr));
}

enum rdl_status rdl_cm_set_option(struct rdl_lab *lab, rdl_cm_id id, uint32_t option,
                                  uint32_t value, int *reterr)
{
    struct guest_cm_object *o = object_of(lab, id);

    ACT_ON(lab, o, told(cma_set_option(o->part, (enum cm_option)option, value), reterr));
}

/* Joins, and sets *@ret to the number of the membership. */
static int join(struct cma_id *id, const struct rdl_cm_addr *to, bool sends_only, uint32_t *ret)
{
    struct cma_group *g = NULL;
    const int error = cma_join(id, to, sends_only, &g);

    if (!error)
        *ret = g->number;
    return error;
}

enum rdl_status rdl_cm_join(struct rdl_lab *lab, rdl_cm_id id, const struct rdl_cm_addr *to,
                            bool sends_only, uint32_t *ret, int *reterr)
{
    struct guest_cm_object *o = object_of(lab, id);

    ACT_ON(lab, o,
           called(lab, o, CM_CALL_rdma_join_multicast, join(o->part, to, sends_only, ret), reterr));
}

enum rdl_status rdl_cm_group_at(const struct rdl_lab *lab, rdl_cm_id id, uint32_t i,
                                struct rdl_cm_group *ret)
{
    const struct guest_cm_object *o = object_of(lab, id);
    const struct cma_group *g = o ? rdma_cm_id_of(o)->groups : NULL;

    if (!o)
        return RDL_ERR_STALE;
    for (; g && i > 0; i--)
        g = g->next;
    if (!g)
        return RDL_ERR_NOT_FOUND;
    *ret = (struct rdl_cm_group){
        .number = g->number, .sends_only = g->sends_only, .is_attached = g->is_attached};
    memcpy(ret->gid, g->gid, sizeof(ret->gid));
    return RDL_OK;
}

/* Finds a membership of ID @id.  Returns RDL_OK, RDL_ERR_STALE or RDL_ERR_NOT_FOUND. */
static enum rdl_status membership_of(const struct rdl_lab *lab, rdl_cm_id id, uint32_t number,
                                     struct guest_cm_object **ret, struct cma_group **ret_group)
{
    enum rdl_status st;

    *ret = object_of(lab, id);
    *ret_group = *ret ? cma_group_of((*ret)->part, number) : NULL;
    st = lab_may_use(*ret ? &(*ret)->o : NULL);
    return st == RDL_OK && !*ret_group ? RDL_ERR_NOT_FOUND : st;
}

enum rdl_status rdl_cm_set_attached(struct rdl_lab *lab, rdl_cm_id id, uint32_t membership)
{
    struct guest_cm_object *o;
    struct cma_group *g;
    const enum rdl_status st = membership_of(lab, id, membership, &o, &g);

    if (st == RDL_OK)
        g->is_attached = true;
    return st;
}

enum rdl_status rdl_cm_leave(struct rdl_lab *lab, rdl_cm_id id, uint32_t membership)
{
    struct guest_cm_object *o;
    struct cma_group *g;
    const enum rdl_status st = membership_of(lab, id, membership, &o, &g);

    if (st == RDL_OK)
        cma_leave(o->part, g);
    return st;
}

enum rdl_status rdl_cm_notify(struct rdl_lab *lab, rdl_cm_id id, int *reterr)
{
    struct guest_cm_object *o = object_of(lab, id);

    ACT_ON(lab, o, called(lab, o, CM_CALL_rdma_notify, cma_notify(o->part), reterr));
}

enum rdl_status rdl_cm_qp_attr(struct rdl_lab *lab, rdl_cm_id id, uint32_t state,
                               struct rdl_qp_attr *ret, uint32_t *ret_mask, int *reterr)
{
    struct guest_cm_object *o = object_of(lab, id);

    if (o && state == QPS_INIT)
        o->moved = now(lab);
    return o ? told(cma_qp_attr(o->part, state, ret, ret_mask), reterr) : RDL_ERR_STALE;
}

enum rdl_status rdl_cm_set_qp(struct rdl_lab *lab, rdl_cm_id id, rdl_qp qp)
{
    struct guest_cm_object *o = object_of(lab, id);
    const enum rdl_status st = lab_may_use(o ? &o->o : NULL);

    if (st == RDL_OK)
        o->qp = qp.raw;
    return st;
}

static enum rdl_status get_event(const struct rdl_lab *lab, struct guest_cm_object *ch,
                                 const char *name, struct rdl_cm_event *ret, size_t *ret_n)
{
    const enum rdl_status st = rdma_cm_get_event(ch, name, ret, ret_n);
    struct guest_cm_object *o = st == RDL_OK && *ret_n ? object_of(lab, ret->id) : NULL;

    if (o)
        note(lab, o, CM_CALL_rdma_get_cm_event, ret->kind, 0);
    return st;
}

enum rdl_status rdl_cm_get_event(struct rdl_lab *lab, rdl_cm_channel channel, const char *name,
                                 struct rdl_cm_event *ret, size_t *ret_n)
{
    struct guest_cm_object *ch = channel_of(lab, channel);

    ACT_ON(lab, ch, get_event(lab, ch, name, ret, ret_n));
}

enum rdl_status rdl_cm_turn_event(struct rdl_lab *lab, rdl_cm_channel channel, uint32_t kind,
                                  int status)
{
    struct guest_cm_object *ch = channel_of(lab, channel);
    const struct guest_cm_object *o;
    enum rdl_status st;

    if (!ch)
        return RDL_ERR_STALE;
    st = rdma_cm_turn_event(ch, kind, status);
    o = st == RDL_OK ? ch->last_taken->id->user : NULL;
    if (o)
        turned(lab, o, RDMA_CM_EVENT_CONNECT_RESPONSE, kind);
    return st;
}

enum rdl_status rdl_cm_ack_event(struct rdl_lab *lab, rdl_cm_channel channel)
{
    struct guest_cm_object *ch = channel_of(lab, channel);
    const enum rdl_status st = lab_may_use(ch ? &ch->o : NULL);

    return st == RDL_OK ? rdma_cm_ack_event(ch) : st;
}

enum rdl_status rdl_cm_id_info(const struct rdl_lab *lab, rdl_cm_id id, struct rdl_cm_id_info *ret)
{
    const struct guest_cm_object *o = object_of(lab, id);

    if (!o)
        return RDL_ERR_STALE;
    rdma_cm_id_info(o, ret);
    return RDL_OK;
}

enum rdl_status rdl_cm_listener(const struct rdl_lab *lab, rdl_host host, uint32_t space,
                                const struct rdl_cm_addr *to, rdl_cm_id *ret)
{
    const struct host *h = lab_host(lab->state, host.raw);
    const struct cma_id *id = NULL;

    if (!h)
        return RDL_ERR_STALE;
    if (usable(h) == RDL_OK)
        id = cma_listener_at(&h->guest.cm.cma, (enum port_space)space, to);
    if (!id || !id->user)
        return RDL_ERR_NOT_FOUND;
    ret->raw = ((const struct guest_cm_object *)id->user)->o.handle;
    return RDL_OK;
}

void rdl_cm_began(struct rdl_lab *lab, rdl_cm_id id, uint64_t tick, uint64_t at_ns)
{
    struct guest_cm_object *o = object_of(lab, id);

    if (o)
        o->began = (struct cm_moment){tick, at_ns};
}

void rdl_cm_event_told(struct rdl_lab *lab, rdl_cm_channel channel)
{
    const struct guest_cm_object *ch = channel_of(lab, channel);
    const struct cma_event *e = ch && ch->taken ? ch->last_taken : NULL;

    if (e && e->id->user)
        turned(lab, e->id->user, e->kind, e->kind);
}

size_t rdl_cm_call_count(const struct rdl_lab *lab)
{
    return cm_calls_count(lab->state->cm_calls);
}

const struct rdl_cm_call *rdl_cm_call_at(const struct rdl_lab *lab, size_t i)
{
    return cm_calls_at(lab->state->cm_calls, i);
}

uint32_t rdl_cm_pending(const struct rdl_lab *lab, rdl_cm_channel channel)
{
    const struct guest_cm_object *ch = channel_of(lab, channel);

    return ch ? rdma_cm_channel_of(ch)->n_events : 0;
}

enum rdl_status rdl_cm_counts(const struct rdl_lab *lab, rdl_host host, struct rdl_cm_counts *ret)
{
    const struct host *h = lab_host(lab->state, host.raw);
    const enum rdl_status st = h ? usable(h) : RDL_ERR_STALE;

    if (st == RDL_OK)
        cm_agent_counts(&h->guest.cm, ret);
    return st;
}

bool rdl_cm_next_event(const struct rdl_lab *lab, rdl_cm_channel channel, uint32_t *ret_kind)
{
    const struct guest_cm_object *ch = channel_of(lab, channel);
    const struct cma_event *e = ch ? rdma_cm_channel_of(ch)->first : NULL;

    if (e)
        *ret_kind = e->kind;
    return e != NULL;
}
