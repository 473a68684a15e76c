/* SPDX-License-Identifier: MIT */
#include "emu/guest/machine/rdma_cm.h"

#include "emu/facts/enum/cm_state.h"
#include "emu/facts/enum/object.h"
#include "emu/guest/verbs/driver.h"

/* --- Objects ---------------------------------------------------------------------------------- */

/* The agent of the guest that has @o. */
static struct cm_agent *agent_of(const struct guest_cm_object *o)
{
    return &((struct guest *)o->o.verbs->config.ctx)->cm;
}

/* Makes an object without a part.  Returns RDL_OK, RDL_ERR_LIMIT, RDL_ERR_NOMEM or an error of its
 * name.
 */
static enum rdl_status add(struct verbs *v, enum object_kind kind, const char *name,
                           struct guest_cm_object **ret)
{
    struct guest_object *o;
    const enum rdl_status st = verbs_add_object(v, kind, name, &o);

    *ret = (struct guest_cm_object *)o;
    return st;
}

enum rdl_status rdma_cm_create_channel(struct guest *g, const char *name, uint64_t *ret)
{
    struct guest_cm_object *o;
    enum rdl_status st = g->cm.is_up ? g->cm.failed : RDL_ERR_STATE;

    if (st == RDL_OK)
        st = add(&g->verbs, OBJ_EVENT_CHANNEL, name, &o);
    if (st != RDL_OK)
        return st;
    o->part = cma_channel_new(&g->cm.cma);
    if (!o->part) {
        verbs_drop_object(&o->o);
        return RDL_ERR_NOMEM;
    }
    verbs_name_object(&o->o, ++g->cm.n_channels);
    *ret = o->o.handle;
    return RDL_OK;
}

enum rdl_status rdma_cm_destroy_channel(struct guest_cm_object *ch)
{
    if (rdma_cm_channel_of(ch)->n_ids > 0)
        return RDL_ERR_BUSY;
    cma_channel_free(&agent_of(ch)->cma, ch->part);
    verbs_remove_object(&ch->o);
    return RDL_OK;
}

static void join(struct guest_cm_object *o, struct guest_cm_object *ch, struct cma_id *id)
{
    o->part = id;
    o->channel = ch;
    o->o.owner = ch->o.owner;
    id->user = o;
    ch->o.n_users++;
    verbs_name_object(&o->o, id->number);
}

enum rdl_status rdma_cm_create_id(struct guest_cm_object *ch, uint32_t space, const char *name,
                                  uint64_t *ret)
{
    struct cma *cma = &agent_of(ch)->cma;
    struct guest_cm_object *o;
    struct cma_id *id;
    enum rdl_status st;

    if (space != PORT_SPACE_TCP && space != PORT_SPACE_UDP)
        return RDL_ERR_UNSUPPORTED;
    st = add(ch->o.verbs, OBJ_CM_ID, name, &o);
    if (st != RDL_OK)
        return st;
    id = cma_create(cma, ch->part, (enum port_space)space, o);
    if (!id) {
        verbs_drop_object(&o->o);
        return RDL_ERR_NOMEM;
    }
    join(o, ch, id);
    *ret = o->o.handle;
    return RDL_OK;
}

enum rdl_status rdma_cm_destroy_id(struct guest_cm_object *o)
{
    if (rdma_cm_id_of(o)->n_told > 0)
        return RDL_ERR_BUSY;
    cma_destroy(o->part);
    o->channel->o.n_users--;
    verbs_remove_object(&o->o);
    return RDL_OK;
}

enum rdl_status rdma_cm_migrate_id(struct guest_cm_object *o, struct guest_cm_object *ch)
{
    if (ch->o.verbs != o->o.verbs)
        return RDL_ERR_INVAL;
    if (rdma_cm_id_of(o)->n_told > 0)
        return RDL_ERR_BUSY;
    cma_migrate(o->part, ch->part);
    o->channel->o.n_users--;
    ch->o.n_users++;
    o->channel = ch;
    o->o.owner = ch->o.owner;
    return RDL_OK;
}

/* --- Events ----------------------------------------------------------------------------------- */

static uint64_t handle_of(const struct cma_id *id)
{
    const struct guest_cm_object *o = id ? id->user : NULL;

    return o ? o->o.handle : 0;
}

/* A taken event waits here to be acknowledged, the oldest first. */
static void await_ack(struct guest_cm_object *ch, struct cma_event *e)
{
    e->next = NULL;
    if (ch->taken)
        ch->last_taken->next = e;
    else
        ch->taken = e;
    ch->last_taken = e;
}

enum rdl_status rdma_cm_get_event(struct guest_cm_object *ch, const char *name,
                                  struct rdl_cm_event *ret, size_t *ret_n)
{
    struct cma_channel *c = rdma_cm_channel_of(ch);
    struct guest_cm_object *made = NULL;
    struct cma_event *e;
    enum rdl_status st;

    *ret_n = 0;
    e = c->first;
    if (!e)
        return RDL_OK;
    if (e->id->user && name && name[0])
        return RDL_ERR_INVAL;
    if (!e->id->user) { /* the ID of a request, which is new to the program */
        st = add(ch->o.verbs, OBJ_CM_ID, name, &made);
        if (st != RDL_OK)
            return st;
    }
    (void)cma_take(c);
    if (made)
        join(made, ch, e->id);
    *ret =
        (struct rdl_cm_event){.kind = e->kind, .status = e->status, .param = e->param, .ah = e->ah};
    ret->id.raw = handle_of(e->id);
    ret->listener.raw = handle_of(e->listener);
    ret->group = e->group ? e->group->number : 0;
    ret->sends_only = e->group && e->group->sends_only;
    *ret_n = 1;
    await_ack(ch, e);
    return RDL_OK;
}

enum rdl_status rdma_cm_turn_event(struct guest_cm_object *ch, uint32_t kind, int status)
{
    struct cma_event *e = ch->last_taken;

    if (!ch->taken)
        return RDL_ERR_STATE;
    if (e->kind != RDMA_CM_EVENT_CONNECT_RESPONSE)
        return RDL_ERR_INVAL;
    e->kind = (enum rdma_cm_event)kind;
    e->status = status;
    if (kind == RDMA_CM_EVENT_CONNECT_ERROR)
        cma_hide_end(e->id);
    return RDL_OK;
}

enum rdl_status rdma_cm_ack_event(struct guest_cm_object *ch)
{
    struct cma_event *e = ch->taken;

    if (!e)
        return RDL_ERR_STATE;
    ch->taken = e->next;
    cma_ack(&agent_of(ch)->cma, e);
    return RDL_OK;
}

void rdma_cm_ack_all(struct guest_cm_object *id)
{
    while (rdma_cm_ack_event(id->channel) == RDL_OK) {
    }
}

/* Returns the handle of the queue pair of a connection: the one that the caller has told, or the
 * one with its number, which is all that the kernel knows.  0: there is none.
 */
static uint64_t qp_of(const struct guest_cm_object *o)
{
    const struct cma_id *id = rdma_cm_id_of(o);
    const struct guest_qp *qp =
        !o->qp && id->state == CMA_CONNECT ? verbs_qp(o->o.verbs, id->qpn) : NULL;

    return qp && qp->o.life == GUEST_LIVE ? qp->o.handle : o->qp;
}

void rdma_cm_id_info(const struct guest_cm_object *o, struct rdl_cm_id_info *ret)
{
    const struct cma_id *id = rdma_cm_id_of(o);
    const struct ib_cm_id *ib = id->ib;

    *ret = (struct rdl_cm_id_info){
        .state = id->state,
        .ib_state = ib ? ib->state : (uint32_t)CMS_IDLE,
        .space = id->space,
        .comm_id = ib ? ib->local_id : 0,
        .remote_comm_id = ib ? ib->remote_id : 0,
        .local = id->local,
        .peer = id->peer,
        .qpn = id->qpn,
        .remote_qpn = id->remote_qpn,
        .psn = id->psn,
        .remote_psn = id->remote_psn,
        .retries = ib ? ib->retries : 0,
        .due_ns = ib && ib->timer ? ib->due_ns : 0,
        .unacked = id->n_told,
        .has_device = cma_has_device(id),
        .path_mtu = id->path_mtu,
        .packet_life = cma_packet_life(id),
        .qp.raw = qp_of(o),
        .backlog = id->backlog,
        .of_program = o->o.owner != NULL,
        .channel.raw = o->channel->o.handle,
    };
    if (ret->has_device)
        cma_put_way(id, id->peer.gid, &ret->ah);
}
