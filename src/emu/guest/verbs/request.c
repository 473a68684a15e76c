/* SPDX-License-Identifier: MIT */
/* The requests under way, and the effect of each answer. */
#include "emu/base/assert.h"
#include "emu/base/log2.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum_table.h"
#include "emu/facts/profile.h"
#include "emu/guest/verbs/internal.h"

void verbs_init(struct verbs *v, struct arena *a, const struct verbs_config *config,
                const struct verbs_driver_ops *ops, void *driver)
{
    *v = (struct verbs){
        .config = *config, .arena = a, .ops = ops, .driver = driver, .requests_max = 1};
    for (uint32_t kind = 0; kind < VERBS_KINDS; kind++)
        slots_init(&v->objects[kind], a, VERBS_OBJECTS_MAX);
}

bool verbs_meet(struct verbs *v, const struct verbs_limits *limits)
{
    v->limits = *limits;
    v->cq_of = arena_alloc(v->arena, (limits->max_cq + 1) * sizeof(struct guest_cq *));
    v->qp_of = arena_alloc(v->arena, (limits->max_qp + 1) * sizeof(struct guest_qp *));
    v->srq_of = arena_alloc(v->arena, (limits->max_srq + 1) * sizeof(struct guest_srq *));
    return v->cq_of && v->qp_of && v->srq_of;
}

uint32_t request_queue_size(const struct verbs *v, uint32_t n, uint32_t most)
{
    const uint64_t rounded = pow2_ceil((uint64_t)n + 1) - 1;

    if (profile_has(v->config.profile, TRAIT_QUEUES_EXACT))
        return n;
    return rounded < most ? (uint32_t)rounded : most;
}

enum rdl_status verbs_usable(const struct verbs *v)
{
    if (!v->ops)
        return RDL_ERR_NO_DEVICE;
    return v->up ? RDL_OK : RDL_ERR_STATE;
}

enum rdl_status request_ready(const struct verbs *v)
{
    if (v->broken)
        return RDL_ERR_BROKEN;
    if (v->request.n > 0)
        return RDL_ERR_BUSY;
    return verbs_usable(v);
}

enum rdl_status request_ready_to_create(const struct verbs *v)
{
    const struct verbs_request *r = &v->request;

    if (!v->broken && v->up && r->n > 0 && r->kind == VERBS_CREATE && !r->resolving &&
        !r->waiting && r->n < v->requests_max && !v->ops->one_request)
        return RDL_OK;
    return request_ready(v);
}

void request_begin(struct verbs *v, enum verbs_request_kind kind, struct guest_object *object)
{
    struct verbs_request *r = &v->request;

    if (r->n++ == 0)
        r->n_answered = 0;
    r->kind = kind;
    r->object_before = r->object;
    r->object = object;
    r->no_route = r->no_function = false;
}

enum rdl_status request_sent(struct verbs *v, enum rdl_status st)
{
    struct verbs_request *r = &v->request;

    if (st != RDL_OK) {
        r->n--;
        r->object = r->object_before;
    }
    return st;
}

void verbs_answering(struct verbs *v, struct guest_object *o)
{
    v->request.object = o;
}

/* Records the answer to a request under way, which must be of @kind. */
static void answered(struct verbs *v, enum verbs_request_kind kind)
{
    struct verbs_request *r = &v->request;

    RDL_ASSERT(r->n > 0 && r->kind == kind);
    r->n--;
    if (r->n_answered++ == 0)
        r->refused = false;
    request_is_over(v);
    if (kind != VERBS_BOOT)
        async_listen(v); /* only now: a request that is not sent must change nothing */
}

void verbs_boot(struct verbs *v)
{
    v->must_poll = true;
    request_begin(v, VERBS_BOOT, NULL);
}

void verbs_up(struct verbs *v)
{
    answered(v, VERBS_BOOT);
    v->up = true;
    v->must_poll = false;
}

void verbs_broken(struct verbs *v)
{
    if (!v->broken)
        verbs_async(v, ASE_DEVICE_FATAL, 0);
    v->broken = true;
}

bool verbs_is_free(const struct verbs *v, uint32_t kind, uint32_t number)
{
    if (kind == OBJ_CQ)
        return number >= 1 && number <= v->limits.max_cq && !v->cq_of[number];
    if (kind == OBJ_QP)
        return number >= 1 && number <= v->limits.max_qp && !v->qp_of[number];
    if (kind == OBJ_SRQ)
        return number >= 1 && number <= v->limits.max_srq && !v->srq_of[number];
    return true;
}

uint32_t verbs_number(const struct guest_object *o)
{
    switch (o->kind) {
    case OBJ_PD:
        return ((const struct guest_pd *)o)->pdn;
    case OBJ_MR:
        return ((const struct guest_mr *)o)->mrn;
    case OBJ_CQ:
        return ((const struct guest_cq *)o)->cqn;
    case OBJ_AH:
        return slots_index(verbs_name_of(o->handle)) + 1;
    case OBJ_SRQ:
        return ((const struct guest_srq *)o)->srqn;
    case OBJ_CHANNEL:
        return ((const struct guest_channel *)o)->number;
    case OBJ_MW:
        return ((const struct guest_mw *)o)->mwn;
    case OBJ_EVENT_CHANNEL:
    case OBJ_CM_ID:
        return ((const struct guest_cm_object *)o)->number;
    default:
        RDL_ASSERT(o->kind == OBJ_QP);
        return ((const struct guest_qp *)o)->qpn;
    }
}

/* Sets the number of @o and enters CQs, QPs and SRQs into the tables by number. */
static void enter_number(struct guest_object *o, uint32_t number)
{
    RDL_ASSERT(verbs_is_free(o->verbs, o->kind, number));
    switch (o->kind) {
    case OBJ_PD:
        ((struct guest_pd *)o)->pdn = number;
        break;
    case OBJ_MR:
        ((struct guest_mr *)o)->mrn = number;
        break;
    case OBJ_MW:
        ((struct guest_mw *)o)->mwn = number;
        break;
    case OBJ_CQ:
        ((struct guest_cq *)o)->cqn = number;
        o->verbs->cq_of[number] = (struct guest_cq *)o;
        break;
    case OBJ_SRQ:
        ((struct guest_srq *)o)->srqn = number;
        o->verbs->srq_of[number] = (struct guest_srq *)o;
        break;
    case OBJ_AH:
        break; /* its slot in the table is its number */
    default:
        ((struct guest_qp *)o)->qpn = number;
        o->verbs->qp_of[number] = (struct guest_qp *)o;
        qp_forget_completions((struct guest_qp *)o);
        break;
    }
}

static void leave_number(const struct guest_object *o)
{
    if (o->kind == OBJ_CQ)
        o->verbs->cq_of[verbs_number(o)] = NULL;
    if (o->kind == OBJ_QP)
        o->verbs->qp_of[verbs_number(o)] = NULL;
    if (o->kind == OBJ_SRQ)
        o->verbs->srq_of[verbs_number(o)] = NULL;
}

void verbs_created(struct guest_object *o, uint32_t number)
{
    const struct verbs *v = o->verbs;

    answered(o->verbs, VERBS_CREATE);
    enter_number(o, number);
    if (o->counts && o->kind == OBJ_QP)
        v->config.layer->placed(v->config.layer_ctx, ((struct guest_qp *)o)->function, number);
    object_live(o, number);
}

void verbs_destroyed(struct guest_object *o)
{
    answered(o->verbs, VERBS_DESTROY);
    leave_number(o);
    async_forget(o);
    if (o->kind == OBJ_CQ)
        channel_forget((const struct guest_cq *)o);
    object_use_parts(o, false);
    object_gone(o);
}

void verbs_modified(struct guest_qp *qp)
{
    answered(qp->o.verbs, VERBS_MODIFY_QP);
    modify_apply(qp);
}

/* Takes over @attr; below a layer the GID stays the one of the program, also if the peer, and with
 * it the address on the wire, is gone.
 */
static void take_over(struct guest_qp *qp, const struct rdl_qp_attr *attr)
{
    uint8_t dgid[GID_BYTES];

    memcpy(dgid, qp->attr.ah.dgid, GID_BYTES);
    qp->attr = *attr;
    if (qp->o.verbs->config.layer)
        memcpy(qp->attr.ah.dgid, dgid, GID_BYTES);
}

void verbs_queried(struct guest_qp *qp, const struct rdl_qp_attr *attr)
{
    answered(qp->o.verbs, VERBS_QUERY_QP);
    take_over(qp, attr);
}

void verbs_queried_port(struct verbs *v, const struct verbs_port *port)
{
    v->port = *port;
    if (v->request.kind != VERBS_BOOT)
        answered(v, VERBS_QUERY_PORT);
}

void verbs_attached(struct guest_qp *qp)
{
    answered(qp->o.verbs, VERBS_ATTACH_MCAST);
    mcast_attached(qp);
}

void verbs_detached(struct guest_qp *qp)
{
    answered(qp->o.verbs, VERBS_DETACH_MCAST);
    mcast_detached(qp);
}

void verbs_queried_pkey(struct verbs *v, uint16_t pkey)
{
    answered(v, VERBS_QUERY_PKEY);
    v->pkey = pkey;
}

void verbs_gid_set(struct verbs *v)
{
    answered(v, VERBS_SET_GID);
}

void verbs_armed(struct guest_cq *cq)
{
    answered(cq->o.verbs, VERBS_ARM_CQ);
}

void verbs_reregistered(struct guest_mr *mr)
{
    answered(mr->o.verbs, VERBS_REREG_MR);
    mr_apply_change(mr);
}

void verbs_mapped(struct guest_mr *mr)
{
    answered(mr->o.verbs, VERBS_MAP_MR_SG);
    mr_apply_map(mr);
}

void verbs_resized(struct guest_cq *cq)
{
    answered(cq->o.verbs, VERBS_RESIZE_CQ);
    cq->cqe = cq->o.verbs->request.cqe;
}

void verbs_qp_resized(struct guest_qp *qp)
{
    const struct verbs_request *r = &qp->o.verbs->request;

    answered(qp->o.verbs, VERBS_RESIZE_QP);
    qp->sq.max_wr = r->max_send_wr;
    if (!qp->srq)
        qp->rq.max_wr = r->max_recv_wr;
}

void verbs_srq_modified(struct guest_srq *srq)
{
    const struct verbs_request *r = &srq->o.verbs->request;

    answered(srq->o.verbs, VERBS_MODIFY_SRQ);
    if (r->mask & SRQ_LIMIT)
        srq->limit = r->srq_limit;
}

void verbs_srq_queried(struct guest_srq *srq, uint32_t limit)
{
    answered(srq->o.verbs, VERBS_QUERY_SRQ);
    srq->limit = limit;
}

void verbs_refused(struct verbs *v, int error, uint32_t code)
{
    struct verbs_request *r = &v->request;

    answered(v, r->kind);
    if (!r->refused) {
        r->error = error;
        r->code = code;
    }
    r->refused = true;
    switch (r->kind) {
    case VERBS_CREATE:
        object_use_parts(r->object, false);
        object_drop(r->object);
        break;
    case VERBS_DESTROY:
        r->object->life = GUEST_LIVE;
        break;
    case VERBS_ARM_CQ:
        ((struct guest_cq *)r->object)->armed = false;
        break;
    case VERBS_ATTACH_MCAST:
        mcast_refused(v);
        break;
    default:
        break;
    }
}

enum rdl_status verbs_answer(const struct verbs *v, struct rdl_response *reterr_rsp)
{
    const struct verbs_request *r = &v->request;

    if (v->broken)
        return RDL_ERR_BROKEN;
    if (r->n > 0)
        return RDL_ERR_BUSY;
    if (r->no_route)
        return RDL_ERR_NO_ROUTE;
    if (r->no_function)
        return RDL_ERR_NO_FUNCTION;
    if (!r->refused)
        return RDL_OK;
    *reterr_rsp = (struct rdl_response){r->error, r->code, enum_name(v->ops->responses, r->code),
                                        enum_text(v->ops->responses, r->code)};
    return RDL_ERR_DEVICE;
}

enum rdl_status verbs_query_port(struct verbs *v)
{
    const enum rdl_status st = request_ready(v);

    if (st != RDL_OK)
        return st;
    request_begin(v, VERBS_QUERY_PORT, NULL);
    return request_sent(v, v->ops->query_port(v));
}

enum rdl_status verbs_set_gid(struct verbs *v, uint32_t index, bool valid)
{
    const enum rdl_status st = request_ready(v);

    if (st != RDL_OK)
        return st;
    if (index >= GUEST_GIDS)
        return RDL_ERR_INVAL;
    request_begin(v, VERBS_SET_GID, NULL);
    return request_sent(v, v->ops->set_gid(v, index, valid));
}

enum rdl_status verbs_query_pkey(struct verbs *v, uint32_t index)
{
    const enum rdl_status st = request_ready(v);

    if (st != RDL_OK)
        return st;
    if (index >= v->limits.max_pkeys)
        return RDL_ERR_INVAL;
    request_begin(v, VERBS_QUERY_PKEY, NULL);
    return request_sent(v, v->ops->query_pkey(v, index));
}
