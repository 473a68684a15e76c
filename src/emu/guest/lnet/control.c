/* SPDX-License-Identifier: MIT */
/* Requests of a node of LNet to its device.  Each is sent once, and asked about until it is
 * answered.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/port_space.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/guest/lnet/internal.h"

int gl_errno_of(enum rdl_status st)
{
    switch (st) {
    case RDL_ERR_FAULT:
        return EFAULT;
    case RDL_ERR_NOMEM:
    case RDL_ERR_LIMIT:
    case RDL_ERR_QUEUE_FULL:
        return ENOMEM;
    case RDL_ERR_NO_ROUTE:
        return EHOSTUNREACH;
    case RDL_ERR_BROKEN:
    case RDL_ERR_NO_DEVICE:
        return EIO;
    case RDL_ERR_FORBIDDEN:
        return EPERM;
    default:
        return EINVAL;
    }
}

/* Returns a negative errno for the refusal of the last request. */
static int refusal(const struct guest_lnet *g)
{
    struct rdl_response rsp = {0};
    const enum rdl_status st = verbs_answer(gl_verbs(g), &rsp);

    if (st == RDL_ERR_DEVICE)
        return rsp.error ? -rsp.error : -EIO;
    return st == RDL_OK ? -EIO : -gl_errno_of(st);
}

/* The request under way is over.  All that follows in the same call has its answer as cause. */
static void over(struct guest_lnet *g)
{
    g->asked = 0;
    if (g->answer)
        (void)trace_because(g->config.trace, g->answer);
    g->answer = 0;
}

int gl_sent(struct guest_lnet *g, enum rdl_status st, const uint64_t *handle)
{
    if (st == RDL_OK)
        g->asked = *handle;
    return st == RDL_OK || st == RDL_ERR_BUSY ? LND_LATER : -gl_errno_of(st);
}

/* The same for a request that creates the object of @kind, which no program may destroy. */
static int create_sent(struct guest_lnet *g, enum rdl_status st, enum object_kind kind,
                       const uint64_t *handle)
{
    struct guest_object *o = st == RDL_OK ? verbs_get(gl_verbs(g), kind, *handle) : NULL;

    if (o)
        o->kept_by = RDL_KERNEL_LNET;
    return gl_sent(g, st, handle);
}

/* The object *@handle of @kind is being created: returns 0 when it is live, LND_LATER, or a
 * negative errno, and then *@handle is 0.
 */
static int created(struct guest_lnet *g, enum object_kind kind, uint64_t *handle)
{
    const struct guest_object *o = verbs_get(gl_verbs(g), kind, *handle);

    if (o && o->life == GUEST_PENDING)
        return LND_LATER;
    over(g);
    if (o)
        return 0;
    *handle = 0;
    return refusal(g);
}

/* Destroys the object *@handle by @ask, and sets *@handle to 0. */
static int destroy(struct guest_lnet *g, enum object_kind kind, uint64_t *handle,
                   enum rdl_status (*ask)(struct guest_object *o))
{
    struct guest_object *o = verbs_get(gl_verbs(g), kind, *handle);
    enum rdl_status st;

    if (!o) {
        over(g);
        *handle = 0;
        return 0;
    }
    if (o->life != GUEST_LIVE)
        return LND_LATER;
    if (g->asked == *handle) { /* it was refused: the device is broken */
        over(g);
        *handle = 0;
        return refusal(g);
    }
    o->kept_by = RDL_KERNEL_NONE;
    st = ask(o);
    if (st != RDL_OK)
        o->kept_by = RDL_KERNEL_LNET;
    return gl_sent(g, st, handle);
}

static enum rdl_status ask_dealloc_pd(struct guest_object *o)
{
    return verbs_dealloc_pd((struct guest_pd *)o);
}

static enum rdl_status ask_dereg_mr(struct guest_object *o)
{
    return verbs_dereg_mr((struct guest_mr *)o);
}

static enum rdl_status ask_destroy_cq(struct guest_object *o)
{
    return verbs_destroy_cq((struct guest_cq *)o);
}

static enum rdl_status ask_destroy_qp(struct guest_object *o)
{
    return verbs_destroy_qp((struct guest_qp *)o);
}

const char *gl_name_next(struct guest_lnet *g, const char *kind, char ret[RDL_NAME_BYTES])
{
    (void)snprintf(ret, RDL_NAME_BYTES, "lnet_%s%u", kind, ++g->n_names);
    return ret;
}

static int take_region(struct guest_lnet *g, struct lnd_mr *ret)
{
    const int st = created(g, OBJ_MR, &ret->handle);
    const struct guest_mr *mr =
        (const struct guest_mr *)verbs_get(gl_verbs(g), OBJ_MR, ret->handle);

    if (st == 0) {
        ret->lkey = mr->lkey;
        ret->rkey = mr->rkey;
    }
    return st;
}

static struct guest_pd *pd_of(const struct guest_lnet *g)
{
    return (struct guest_pd *)verbs_get(gl_verbs(g), OBJ_PD, g->pd);
}

int gl_reg_mr(void *ctx, uint64_t addr, uint64_t bytes, struct lnd_mr *ret)
{
    struct guest_lnet *g = ctx;
    char name[RDL_NAME_BYTES];

    if (ret->handle)
        return take_region(g, ret);
    return create_sent(g,
                       verbs_reg_mr(pd_of(g), addr, bytes, ACC_LOCAL_WRITE | ACC_REMOTE_WRITE,
                                    gl_name_next(g, "mr", name), &ret->handle),
                       OBJ_MR, &ret->handle);
}

int gl_dereg_mr(void *ctx, struct lnd_mr *mr)
{
    const int st = destroy(ctx, OBJ_MR, &mr->handle, ask_dereg_mr);

    if (st != LND_LATER)
        gl_free_doomed(ctx);
    return st;
}

/* The channel and the ID that listens, which need no request. */
static int listen_at(struct guest_lnet *g, uint16_t service)
{
    struct guest *guest = g->config.guest;
    struct rdl_cm_addr at = {.version = 4, .port = service};
    struct guest_cm_object *ch, *id;
    int st;

    if (rdma_cm_create_channel(guest, "lnet_events", &g->channel) != RDL_OK)
        return -ENOMEM;
    ch = (struct guest_cm_object *)verbs_get(gl_verbs(g), OBJ_EVENT_CHANNEL, g->channel);
    ch->o.kept_by = RDL_KERNEL_LNET;
    if (rdma_cm_create_id(ch, PORT_SPACE_TCP, "lnet_listener", &g->listener_id) != RDL_OK)
        return -ENOMEM;
    id = (struct guest_cm_object *)verbs_get(gl_verbs(g), OBJ_CM_ID, g->listener_id);
    id->o.kept_by = RDL_KERNEL_LNET;
    memcpy(at.gid, guest->config.gid[0], sizeof(at.gid));
    st = cma_bind(rdma_cm_id_of(id), &at);
    return st ? -st : -cma_listen(rdma_cm_id_of(id), 0);
}

/* Makes the device, step by step.  Returns as gl_create_dev(). */
static int make_dev(struct guest_lnet *g, uint16_t service, bool dma, struct lnd_mr *ret_dma)
{
    char name[RDL_NAME_BYTES];
    int st = 0;

    if (!g->channel)
        st = listen_at(g, service);
    if (st)
        return st;
    if (!g->pd)
        return create_sent(g, verbs_alloc_pd(gl_verbs(g), "lnet_pd", &g->pd), OBJ_PD, &g->pd);
    st = created(g, OBJ_PD, &g->pd);
    if (st || !dma)
        return st;
    if (!ret_dma->handle)
        return create_sent(g,
                           verbs_get_dma_mr(pd_of(g), ACC_LOCAL_WRITE | ACC_REMOTE_WRITE,
                                            gl_name_next(g, "mr", name), &ret_dma->handle),
                           OBJ_MR, &ret_dma->handle);
    return take_region(g, ret_dma);
}

int gl_create_dev(void *ctx, uint16_t service, bool dma, struct lnd_mr *ret_dma)
{
    struct guest_lnet *g = ctx;
    int st = g->refused;

    if (st == 0)
        st = make_dev(g, service, dma, ret_dma);
    if (st == 0 || st == LND_LATER)
        return st;
    g->refused = st;
    if (gl_destroy_dev(g, ret_dma) == LND_LATER)
        return LND_LATER;
    g->refused = 0;
    return st;
}

struct guest_cm_object *gl_id_object(const struct guest_lnet *g, uint64_t handle)
{
    return (struct guest_cm_object *)verbs_get(gl_verbs(g), OBJ_CM_ID, handle);
}

int gl_destroy_dev(void *ctx, struct lnd_mr *dma)
{
    struct guest_lnet *g = ctx;
    struct guest_cm_object *ch;
    int st = 0;

    if (dma->handle)
        st = gl_dereg_mr(g, dma);
    if (st == 0 && g->pd)
        st = destroy(g, OBJ_PD, &g->pd, ask_dealloc_pd);
    if (st == LND_LATER)
        return st;
    if (g->listener_id) {
        gl_id_object(g, g->listener_id)->o.kept_by = RDL_KERNEL_NONE;
        if (rdma_cm_destroy_id(gl_id_object(g, g->listener_id)) != RDL_OK)
            return -EBUSY;
    }
    g->listener_id = 0;
    ch = (struct guest_cm_object *)verbs_get(gl_verbs(g), OBJ_EVENT_CHANNEL, g->channel);
    if (ch && rdma_cm_destroy_channel(ch) != RDL_OK)
        return -EBUSY;
    g->channel = 0;
    return st;
}

uint64_t gl_dma_addr(void *ctx, uint64_t addr)
{
    uint64_t at;

    return space_translate(gl_verbs(ctx)->config.space, addr, &at) ? at : 0;
}

struct guest_cq *gl_cq_of(const struct guest_lnet *g, const struct lnd_link *l)
{
    return (struct guest_cq *)verbs_get(gl_verbs(g), OBJ_CQ, l->cq);
}

struct guest_qp *gl_qp_of(const struct guest_lnet *g, const struct lnd_link *l)
{
    return (struct guest_qp *)verbs_get(gl_verbs(g), OBJ_QP, l->qp);
}

struct cma_id *gl_cm_id_of(const struct guest_lnet *g, const struct lnd_link *l)
{
    return rdma_cm_id_of(gl_id_object(g, l->id));
}

void gl_rearm(struct guest_lnet *g, struct guest_cq *cq)
{
    if (cq->armed)
        return;
    if (verbs_rearm_cq(cq) == RDL_ERR_QUEUE_FULL)
        sim_enqueue(g->config.sim, gl_now_ns(g) + GL_REARM_NS, SIM_LNET, g->config.host, GL_ARM);
}

int gl_create_cq(void *ctx, struct lnd_link *l, uint32_t cqe)
{
    struct guest_lnet *g = ctx;
    char name[RDL_NAME_BYTES];
    struct guest_cq *cq;
    int st;

    if (!l->cq)
        return create_sent(g,
                           verbs_create_cq(gl_verbs(g), cqe, gl_name_next(g, "cq", name), &l->cq),
                           OBJ_CQ, &l->cq);
    st = created(g, OBJ_CQ, &l->cq);
    if (st)
        return st;
    cq = gl_cq_of(g, l);
    cq->of_kernel = true;
    cq->kernel = l;
    gl_rearm(g, cq);
    return 0;
}

int gl_destroy_cq(void *ctx, struct lnd_link *l)
{
    struct guest_cq *cq = gl_cq_of(ctx, l);

    if (cq)
        cq->kernel = NULL;
    return destroy(ctx, OBJ_CQ, &l->cq, ask_destroy_cq);
}

int gl_move_qp(struct guest_lnet *g, struct lnd_link *l, enum qp_state to)
{
    struct guest_qp *qp = gl_qp_of(g, l);
    struct rdl_qp_attr attr = {.state = to};
    struct rdl_modify_error why;
    uint32_t mask = QPA_STATE;
    int st = 0;

    if (!qp)
        return -EINVAL;
    if (g->asked == l->qp) {
        if (gl_verbs(g)->request.n > 0 && gl_verbs(g)->request.object == &qp->o)
            return LND_LATER;
        over(g);
        return qp->attr.state == (uint32_t)to ? 0 : refusal(g);
    }
    if (qp->attr.state == (uint32_t)to && to != QPS_INIT)
        return 0;
    if (to != QPS_ERR)
        st = cma_qp_attr(gl_cm_id_of(g, l), to, &attr, &mask);
    if (st)
        return -st;
    return gl_sent(g, verbs_modify_qp(qp, &attr, mask, false, &why), &l->qp);
}

int gl_make_ready(struct guest_lnet *g, struct lnd_link *l)
{
    static const enum qp_state states[] = {QPS_INIT, QPS_RTR, QPS_RTS};
    int st = 0;

    for (; st == 0 && l->step < ARRAY_LEN(states); l->step += st == 0)
        st = gl_move_qp(g, l, states[l->step]);
    return st;
}

int gl_create_qp(void *ctx, struct lnd_link *l, uint32_t max_send_wr, uint32_t max_recv_wr)
{
    struct guest_lnet *g = ctx;
    const struct rdl_qp_config config = {.type = QPT_RC,
                                         .max_send_wr = max_send_wr,
                                         .max_recv_wr = max_recv_wr,
                                         .max_send_sge = 1,
                                         .max_recv_sge = 1};
    const struct verbs_qp_parts parts = {
        .pd = pd_of(g), .send_cq = gl_cq_of(g, l), .recv_cq = gl_cq_of(g, l)};
    char name[RDL_NAME_BYTES];
    int st;

    if (!l->qp)
        return create_sent(
            g, verbs_create_qp(gl_verbs(g), &config, &parts, gl_name_next(g, "qp", name), &l->qp),
            OBJ_QP, &l->qp);
    if (l->step == 0) {
        st = created(g, OBJ_QP, &l->qp);
        if (st)
            return st;
        gl_id_object(g, l->id)->qp = l->qp;
        gl_cm_id_of(g, l)->qpn = gl_qp_of(g, l)->qpn;
        l->step = 1;
    }
    st = gl_move_qp(g, l, QPS_INIT);
    if (st == 0)
        l->step = 0;
    return st;
}

int gl_destroy_qp(void *ctx, struct lnd_link *l)
{
    return destroy(ctx, OBJ_QP, &l->qp, ask_destroy_qp);
}
