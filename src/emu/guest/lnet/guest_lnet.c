/* SPDX-License-Identifier: MIT */
#include "emu/guest/lnet/guest_lnet.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/port_space.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/guest/machine/rdma_cm.h"

#define POSTS_MAX 64u /* work requests that are posted by one call of the verbs */
#define REARM_NS                                                                                   \
    UINT64_C(10000) /* until a completion queue that could not be armed is tried again */

enum lnet_tick { LOOK, TIME, ARM };

static struct verbs *verbs_of(const struct guest_lnet *g)
{
    return &g->config.guest->verbs;
}

/* --- Memory and time -------------------------------------------------------------------------- */

static void *alloc(void *ctx, size_t bytes)
{
    struct guest_lnet *g = ctx;
    void *block = arena_alloc(g->config.arena, bytes);

    g->live_bytes += block ? bytes : 0;
    return block;
}

static void release(void *ctx, void *block, size_t bytes)
{
    struct guest_lnet *g = ctx;

    g->live_bytes -= block ? bytes : 0;
    arena_release(g->config.arena, block, bytes);
}

static uint64_t pages(void *ctx, uint64_t bytes)
{
    struct guest_lnet *g = ctx;
    uint64_t addr = 0;

    if (verbs_mem_alloc(verbs_of(g), bytes, &addr) != RDL_OK)
        return 0;
    g->live_bytes += bytes;
    return addr;
}

/* Frees the pages that no region covers any more. */
static void free_doomed(struct guest_lnet *g)
{
    struct guest_lnet_pages **at = &g->doomed;

    while (*at) {
        struct guest_lnet_pages *p = *at;

        if (verbs_mem_free(verbs_of(g), p->addr) == RDL_OK) {
            *at = p->next;
            arena_release(g->config.arena, p, sizeof(*p));
        } else {
            at = &p->next;
        }
    }
}

/* A region of the driver may cover the pages: then they wait until it is gone. */
static void pages_free(void *ctx, uint64_t addr, uint64_t bytes)
{
    struct guest_lnet *g = ctx;
    struct guest_lnet_pages *p = arena_alloc(g->config.arena, sizeof(*p));

    g->live_bytes -= bytes;
    if (g->node)
        lnd_forget(lnet_lnd(g->node), addr, bytes);
    if (!p)
        return; /* the lab stops at the end of this tick */
    p->addr = addr;
    p->next = g->doomed;
    g->doomed = p;
    free_doomed(g);
}

static bool read_memory(void *ctx, uint64_t addr, void *ret, size_t n)
{
    return space_read(verbs_of(ctx)->config.space, addr, ret, n);
}

static bool write_memory(void *ctx, uint64_t addr, const void *bytes, size_t n)
{
    return space_write(verbs_of(ctx)->config.space, addr, bytes, n);
}

static bool copy_memory(void *ctx, uint64_t to, uint64_t from, size_t n)
{
    struct space *s = verbs_of(ctx)->config.space;
    uint8_t buf[512];

    if (!space_is_mapped(s, to, n) || !space_is_mapped(s, from, n))
        return false;
    while (n > 0) {
        const size_t piece = n < sizeof(buf) ? n : sizeof(buf);

        if (!space_read(s, from, buf, piece) || !space_write(s, to, buf, piece))
            return false;
        to += piece;
        from += piece;
        n -= piece;
    }
    return true;
}

static uint64_t now_ns(void *ctx)
{
    const struct guest_lnet *g = ctx;

    return g->config.trace->now_ns;
}

static void wake_at(void *ctx, uint64_t at_ns)
{
    struct guest_lnet *g = ctx;

    if (g->timer_ns)
        (void)sim_cancel(g->config.sim, g->timer);
    g->timer_ns = at_ns;
    if (at_ns)
        g->timer = sim_schedule(g->config.sim, at_ns, SIM_LNET, g->config.host, TIME);
}

/* Looks at what has happened, in a tick of its own. */
static void look_soon(struct guest_lnet *g)
{
    if (g->is_due || !g->node)
        return;
    g->is_due = true;
    sim_enqueue(g->config.sim, g->config.trace->now_ns, SIM_LNET, g->config.host, LOOK);
}

/* --- The control path ------------------------------------------------------------------------- */

static int errno_of(enum rdl_status st)
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
    const enum rdl_status st = verbs_answer(verbs_of(g), &rsp);

    if (st == RDL_ERR_DEVICE)
        return rsp.error ? -rsp.error : -EIO;
    return st == RDL_OK ? -EIO : -errno_of(st);
}

/* A request about @handle was sent, or not, as @st says.  Returns LND_LATER or a negative errno. */
static int sent(struct guest_lnet *g, enum rdl_status st, uint64_t handle)
{
    if (st == RDL_OK)
        g->asked = handle;
    return st == RDL_OK || st == RDL_ERR_BUSY ? LND_LATER : -errno_of(st);
}

/* The object *@handle of @kind is being created: returns 0 when it is live, LND_LATER, or a
 * negative errno, and then *@handle is 0.
 */
static int created(struct guest_lnet *g, enum object_kind kind, uint64_t *handle)
{
    const struct guest_object *o = verbs_get(verbs_of(g), kind, *handle);

    if (o && o->life == GUEST_PENDING)
        return LND_LATER;
    g->asked = 0;
    if (o)
        return 0;
    *handle = 0;
    return refusal(g);
}

/* Destroys the object *@handle by @ask, and sets *@handle to 0. */
static int destroy(struct guest_lnet *g, enum object_kind kind, uint64_t *handle,
                   enum rdl_status (*ask)(struct guest_object *o))
{
    struct guest_object *o = verbs_get(verbs_of(g), kind, *handle);

    if (!o) {
        g->asked = 0;
        *handle = 0;
        return 0;
    }
    if (o->life == GUEST_LEAVING)
        return LND_LATER;
    if (g->asked == *handle) { /* it was refused: the device is broken */
        g->asked = 0;
        *handle = 0;
        return refusal(g);
    }
    return sent(g, ask(o), *handle);
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

/* Chooses a name for the next object: "lnet_KIND1". */
static const char *name_next(struct guest_lnet *g, const char *kind, char ret[RDL_NAME_BYTES])
{
    (void)snprintf(ret, RDL_NAME_BYTES, "lnet_%s%u", kind, ++g->n_names);
    return ret;
}

static int take_region(struct guest_lnet *g, struct lnd_mr *ret)
{
    const int st = created(g, OBJ_MR, &ret->handle);
    const struct guest_mr *mr =
        (const struct guest_mr *)verbs_get(verbs_of(g), OBJ_MR, ret->handle);

    if (st == 0) {
        ret->lkey = mr->lkey;
        ret->rkey = mr->rkey;
    }
    return st;
}

static struct guest_pd *pd_of(const struct guest_lnet *g)
{
    return (struct guest_pd *)verbs_get(verbs_of(g), OBJ_PD, g->pd);
}

static int reg_mr(void *ctx, uint64_t addr, uint64_t bytes, struct lnd_mr *ret)
{
    struct guest_lnet *g = ctx;
    char name[RDL_NAME_BYTES];

    if (ret->handle)
        return take_region(g, ret);
    return sent(g,
                verbs_reg_mr(pd_of(g), addr, bytes, ACC_LOCAL_WRITE | ACC_REMOTE_WRITE,
                             name_next(g, "mr", name), &ret->handle),
                ret->handle);
}

static int dereg_mr(void *ctx, struct lnd_mr *mr)
{
    const int st = destroy(ctx, OBJ_MR, &mr->handle, ask_dereg_mr);

    if (st != LND_LATER)
        free_doomed(ctx);
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
    ch = (struct guest_cm_object *)verbs_get(verbs_of(g), OBJ_EVENT_CHANNEL, g->channel);
    if (rdma_cm_create_id(ch, PORT_SPACE_TCP, "lnet_listener", &g->listener_id) != RDL_OK)
        return -ENOMEM;
    id = (struct guest_cm_object *)verbs_get(verbs_of(g), OBJ_CM_ID, g->listener_id);
    memcpy(at.gid, guest->config.gid[0], sizeof(at.gid));
    st = cma_bind(rdma_cm_id_of(id), &at);
    return st ? -st : -cma_listen(rdma_cm_id_of(id), 0);
}

static int create_dev(void *ctx, uint16_t service, bool dma, struct lnd_mr *ret_dma)
{
    struct guest_lnet *g = ctx;
    char name[RDL_NAME_BYTES];
    int st;

    if (!g->channel) {
        st = listen_at(g, service);
        if (st)
            return st;
    }
    if (!g->pd)
        return sent(g, verbs_alloc_pd(verbs_of(g), "lnet_pd", &g->pd), g->pd);
    if (g->asked == g->pd) {
        st = created(g, OBJ_PD, &g->pd);
        if (st)
            return st;
    }
    if (!dma)
        return 0;
    if (!ret_dma->handle)
        return sent(g,
                    verbs_get_dma_mr(pd_of(g), ACC_LOCAL_WRITE | ACC_REMOTE_WRITE,
                                     name_next(g, "mr", name), &ret_dma->handle),
                    ret_dma->handle);
    return take_region(g, ret_dma);
}

static struct guest_cm_object *id_object(const struct guest_lnet *g, uint64_t handle)
{
    return (struct guest_cm_object *)verbs_get(verbs_of(g), OBJ_CM_ID, handle);
}

static int destroy_dev(void *ctx, struct lnd_mr *dma)
{
    struct guest_lnet *g = ctx;
    struct guest_cm_object *ch;
    int st = 0;

    if (dma->handle)
        st = dereg_mr(g, dma);
    if (st == 0 && g->pd)
        st = destroy(g, OBJ_PD, &g->pd, ask_dealloc_pd);
    if (st == LND_LATER)
        return st;
    if (g->listener_id && rdma_cm_destroy_id(id_object(g, g->listener_id)) != RDL_OK)
        return -EBUSY;
    g->listener_id = 0;
    ch = (struct guest_cm_object *)verbs_get(verbs_of(g), OBJ_EVENT_CHANNEL, g->channel);
    if (ch && rdma_cm_destroy_channel(ch) != RDL_OK)
        return -EBUSY;
    g->channel = 0;
    return st;
}

static uint64_t dma_addr(void *ctx, uint64_t addr)
{
    uint64_t at;

    return space_translate(verbs_of(ctx)->config.space, addr, &at) ? at : 0;
}

static struct guest_cq *cq_of(const struct guest_lnet *g, const struct lnd_link *l)
{
    return (struct guest_cq *)verbs_get(verbs_of(g), OBJ_CQ, l->cq);
}

static struct guest_qp *qp_of(const struct guest_lnet *g, const struct lnd_link *l)
{
    return (struct guest_qp *)verbs_get(verbs_of(g), OBJ_QP, l->qp);
}

static struct cma_id *cm_id_of(const struct guest_lnet *g, const struct lnd_link *l)
{
    return rdma_cm_id_of(id_object(g, l->id));
}

static void rearm(struct guest_lnet *g, struct guest_cq *cq)
{
    if (cq->armed)
        return;
    if (verbs_rearm_cq(cq) == RDL_ERR_QUEUE_FULL)
        sim_enqueue(g->config.sim, now_ns(g) + REARM_NS, SIM_LNET, g->config.host, ARM);
}

static int create_cq(void *ctx, struct lnd_link *l, uint32_t cqe)
{
    struct guest_lnet *g = ctx;
    char name[RDL_NAME_BYTES];
    struct guest_cq *cq;
    int st;

    if (!l->cq)
        return sent(g, verbs_create_cq(verbs_of(g), cqe, name_next(g, "cq", name), &l->cq), l->cq);
    st = created(g, OBJ_CQ, &l->cq);
    if (st)
        return st;
    cq = cq_of(g, l);
    cq->of_kernel = true;
    cq->kernel = l;
    rearm(g, cq);
    return 0;
}

static int destroy_cq(void *ctx, struct lnd_link *l)
{
    struct guest_cq *cq = cq_of(ctx, l);

    if (cq)
        cq->kernel = NULL;
    return destroy(ctx, OBJ_CQ, &l->cq, ask_destroy_cq);
}

/* Moves the queue pair of @l to @to, with the attributes of its ID; to ERR without any. */
static int move_qp(struct guest_lnet *g, struct lnd_link *l, enum qp_state to)
{
    struct guest_qp *qp = qp_of(g, l);
    struct rdl_qp_attr attr = {.state = to};
    struct rdl_modify_error why;
    uint32_t mask = QPA_STATE;
    int st = 0;

    if (!qp)
        return -EINVAL;
    if (g->asked == l->qp) {
        if (verbs_of(g)->request.n > 0 && verbs_of(g)->request.object == &qp->o)
            return LND_LATER;
        g->asked = 0;
        return qp->attr.state == (uint32_t)to ? 0 : refusal(g);
    }
    if (qp->attr.state == (uint32_t)to && to != QPS_INIT)
        return 0;
    if (to != QPS_ERR)
        st = cma_qp_attr(cm_id_of(g, l), to, &attr, &mask);
    if (st)
        return -st;
    return sent(g, verbs_modify_qp(qp, &attr, mask, false, &why), l->qp);
}

/* Moves the queue pair to RTS.  It is in INIT without the access that peers have, which is known
 * only with the connection.  [librdmacm, ucma_modify_qp_rtr()]
 */
static int make_ready(struct guest_lnet *g, struct lnd_link *l)
{
    static const enum qp_state states[] = {QPS_INIT, QPS_RTR, QPS_RTS};
    int st = 0;

    for (; st == 0 && l->step < ARRAY_LEN(states); l->step += st == 0)
        st = move_qp(g, l, states[l->step]);
    return st;
}

static int create_qp(void *ctx, struct lnd_link *l, uint32_t max_send_wr, uint32_t max_recv_wr)
{
    struct guest_lnet *g = ctx;
    const struct rdl_qp_config config = {.type = QPT_RC,
                                         .max_send_wr = max_send_wr,
                                         .max_recv_wr = max_recv_wr,
                                         .max_send_sge = 1,
                                         .max_recv_sge = 1};
    const struct verbs_qp_parts parts = {
        .pd = pd_of(g), .send_cq = cq_of(g, l), .recv_cq = cq_of(g, l)};
    char name[RDL_NAME_BYTES];
    int st;

    if (!l->qp)
        return sent(g,
                    verbs_create_qp(verbs_of(g), &config, &parts, name_next(g, "qp", name), &l->qp),
                    l->qp);
    if (l->step == 0) {
        st = created(g, OBJ_QP, &l->qp);
        if (st)
            return st;
        id_object(g, l->id)->qp = l->qp;
        cm_id_of(g, l)->qpn = qp_of(g, l)->qpn;
        l->step = 1;
    }
    st = move_qp(g, l, QPS_INIT);
    if (st == 0)
        l->step = 0;
    return st;
}

static int destroy_qp(void *ctx, struct lnd_link *l)
{
    return destroy(ctx, OBJ_QP, &l->qp, ask_destroy_qp);
}

/* --- Connections ------------------------------------------------------------------------------ */

static void put_ip(uint32_t ip, uint16_t port, struct rdl_cm_addr *ret)
{
    *ret = (struct rdl_cm_addr){.version = 4, .gid = {[10] = 0xff, [11] = 0xff}, .port = port};
    st_be32(ret->gid + 12, ip);
}

static void adopt(void *ctx, struct lnd_link *l)
{
    id_object(ctx, l->id)->kernel = l;
}

static int resolve(void *ctx, struct lnd_link *l, uint32_t ip, uint16_t service,
                   uint64_t timeout_ns)
{
    struct guest_lnet *g = ctx;
    struct rdl_cm_addr to;
    char name[RDL_NAME_BYTES];
    struct guest_cm_object *ch =
        (struct guest_cm_object *)verbs_get(verbs_of(g), OBJ_EVENT_CHANNEL, g->channel);

    if (!ch || rdma_cm_create_id(ch, PORT_SPACE_TCP, name_next(g, "id", name), &l->id) != RDL_OK)
        return -ENOMEM;
    adopt(g, l);
    put_ip(ip, service, &to);
    return -cma_resolve_addr(cm_id_of(g, l), NULL, &to, timeout_ns);
}

static struct rdl_cm_param param_of(const struct guest_lnet *g, const struct lnd_link *l,
                                    const void *data, uint8_t bytes)
{
    struct rdl_cm_param p = {.private_bytes = bytes,
                             .flow_control = true,
                             .retry_count = LND_RETRY_COUNT,
                             .rnr_retry_count = LND_RNR_RETRY_COUNT,
                             .qpn = qp_of(g, l)->qpn};

    memcpy(p.private_data, data, bytes);
    return p;
}

static int connect_to(void *ctx, struct lnd_link *l, const void *data, uint8_t bytes)
{
    const struct rdl_cm_param p = param_of(ctx, l, data, bytes);

    return -cma_connect(cm_id_of(ctx, l), &p);
}

static int accept_with(void *ctx, struct lnd_link *l, const void *data, uint8_t bytes)
{
    const struct rdl_cm_param p = param_of(ctx, l, data, bytes);
    const int st = make_ready(ctx, l);

    return st ? st : -cma_accept(cm_id_of(ctx, l), &p);
}

static int establish(void *ctx, struct lnd_link *l)
{
    const int st = make_ready(ctx, l);

    return st ? st : -cma_accept(cm_id_of(ctx, l), NULL);
}

static int reject(void *ctx, struct lnd_link *l, const void *data, uint8_t bytes)
{
    return -cma_reject(cm_id_of(ctx, l), data, bytes);
}

/* A queue pair that is not connected has nobody to be told. */
static int disconnect(void *ctx, struct lnd_link *l)
{
    const int st = move_qp(ctx, l, QPS_ERR);

    if (st == LND_LATER)
        return st;
    (void)cma_disconnect(cm_id_of(ctx, l));
    return 0;
}

static int destroy_id(void *ctx, struct lnd_link *l)
{
    struct guest_cm_object *o = id_object(ctx, l->id);

    o->kernel = NULL;
    l->id = 0;
    return rdma_cm_destroy_id(o) == RDL_OK ? 0 : -EBUSY;
}

/* --- The data path ---------------------------------------------------------------------------- */

static int post_recv(void *ctx, struct lnd_link *l, const struct lnd_wr *wr)
{
    const struct rdl_sge sge = {wr->addr, wr->bytes, wr->lkey};
    const struct rdl_recv_wr recv = {.wr_id = wr->wr_id, .sge = &sge, .n_sge = 1};
    struct guest_qp *qp = qp_of(ctx, l);
    const enum rdl_status st = qp ? verbs_post_recv(qp, &recv, false) : RDL_ERR_STALE;

    return st == RDL_OK ? 0 : -errno_of(st);
}

/* Posts at most POSTS_MAX requests. */
static enum rdl_status post_some(struct guest_qp *qp, const struct lnd_wr *wr, uint32_t n,
                                 bool more)
{
    struct rdl_send_wr send[POSTS_MAX];
    struct rdl_sge sge[POSTS_MAX];
    struct rdl_post_error why;

    for (uint32_t i = 0; i < n; i++) {
        sge[i] = (struct rdl_sge){wr[i].addr, wr[i].bytes, wr[i].lkey};
        send[i] = (struct rdl_send_wr){.wr_id = wr[i].wr_id,
                                       .opcode = wr[i].is_write ? WR_RDMA_WRITE : WR_SEND,
                                       .flags = wr[i].is_write ? 0 : SF_SIGNALED,
                                       .sge = &sge[i],
                                       .n_sge = 1,
                                       .remote_addr = wr[i].remote_addr,
                                       .rkey = wr[i].rkey};
    }
    return verbs_post_send_list(qp, send, n, more, &why);
}

static int post_send(void *ctx, struct lnd_link *l, const struct lnd_wr *wr, uint32_t n)
{
    struct guest_lnet *g = ctx;
    struct guest_qp *qp = qp_of(g, l);
    enum rdl_status st = qp ? RDL_OK : RDL_ERR_STALE;
    const ev_id old = g->config.trace->cause;

    if (g->because)
        (void)trace_because(g->config.trace, g->because);
    g->because = 0;
    while (st == RDL_OK && n > 0) {
        const uint32_t some = n < POSTS_MAX ? n : POSTS_MAX;

        st = post_some(qp, wr, some, some < n);
        wr += some;
        n -= some;
    }
    (void)trace_because(g->config.trace, old);
    return st == RDL_OK ? 0 : -errno_of(st);
}

/* Takes all completions of @cq. */
static void poll(struct guest_lnet *g, uint64_t cq)
{
    struct lnd *lnd = lnet_lnd(g->node);
    const ev_id cause = g->config.trace->cause;

    for (;;) {
        struct guest_cq *c = (struct guest_cq *)verbs_get(verbs_of(g), OBJ_CQ, cq);
        struct rdl_wc wc;
        size_t n = 0;

        if (!c || !c->kernel || verbs_poll_cq(c, 1, &wc, &n) != RDL_OK || n == 0)
            return;
        lnd_completion(lnd, c->kernel, wc.wr_id, wc.status, wc.byte_len);
        (void)trace_because(g->config.trace, cause);
    }
}

/* Calls of the guest's own while a program of the host calls: its objects are not the program's. */
struct guest_program *guest_lnet_begin(struct guest_lnet *g)
{
    struct guest_program *caller = verbs_of(g)->current;

    verbs_of(g)->current = NULL;
    return caller;
}

void guest_lnet_end(struct guest_lnet *g, struct guest_program *caller)
{
    verbs_of(g)->current = caller;
}

static void cq_event(void *ctx, struct guest_cq *cq, bool armed)
{
    struct guest_lnet *g = ctx;
    struct guest_program *caller;
    const uint64_t handle = cq->o.handle;

    if (!g->node || !cq->kernel || cq->o.life != GUEST_LIVE)
        return;
    caller = guest_lnet_begin(g);
    if (!armed)
        sim_enqueue(g->config.sim, now_ns(g) + REARM_NS, SIM_LNET, g->config.host, ARM);
    poll(g, handle);
    cq = (struct guest_cq *)verbs_get(verbs_of(g), OBJ_CQ, handle);
    if (cq && cq->kernel && armed)
        rearm(g, cq);
    guest_lnet_end(g, caller);
}

/* Arms the completion queues that could not be armed. */
static void rearm_all(struct guest_lnet *g)
{
    struct lnd_peer_info p;

    for (uint32_t i = 0; lnd_peer_at(lnet_lnd(g->node), i, &p); i++) {
        struct guest_cq *cq = p.link ? cq_of(g, p.link) : NULL;

        if (cq && cq->o.life == GUEST_LIVE)
            rearm(g, cq);
    }
}

static void cm_event(void *ctx, struct cma_channel *channel)
{
    struct guest_lnet *g = ctx;
    const struct guest_cm_object *ch =
        g->channel ? (struct guest_cm_object *)verbs_get(verbs_of(g), OBJ_EVENT_CHANNEL, g->channel)
                   : NULL;

    if (ch && rdma_cm_channel_of(ch) == channel)
        look_soon(g);
}

static void answered(void *ctx)
{
    look_soon(ctx);
}

/* The connection @e is about may go on: the address is known, and the route is asked for. */
static void tell(struct guest_lnet *g, const struct rdl_cm_event *e)
{
    struct lnd *lnd = lnet_lnd(g->node);
    struct guest_cm_object *o = id_object(g, e->id.raw);
    struct lnd_link *l = o ? o->kernel : NULL;
    const struct rdl_cm_param *p = &e->param;
    int st;

    if (e->kind == RDMA_CM_EVENT_CONNECT_REQUEST) {
        lnd_cm_request(lnd, e->id.raw, ld_be32(rdma_cm_id_of(o)->peer.gid + 12), p->private_data,
                       p->private_bytes);
        return;
    }
    if (!l)
        return;
    if (e->kind == RDMA_CM_EVENT_ADDR_RESOLVED) {
        st = cma_resolve_route(rdma_cm_id_of(o));
        if (st)
            lnd_cm_event(lnd, l, RDMA_CM_EVENT_ROUTE_ERROR, -st, NULL, 0);
        return;
    }
    lnd_cm_event(lnd, l, e->kind, e->status, p->private_data, p->private_bytes);
}

/* Takes all events of the channel.  Each is acknowledged before it is handled, which may destroy
 * its ID.
 */
static void take_events(struct guest_lnet *g)
{
    const ev_id cause = g->config.trace->cause;

    for (;;) {
        struct guest_cm_object *ch =
            (struct guest_cm_object *)verbs_get(verbs_of(g), OBJ_EVENT_CHANNEL, g->channel);
        struct rdl_cm_event e;
        size_t n = 0;

        if (!ch || rdma_cm_get_event(ch, NULL, &e, &n) != RDL_OK || n == 0)
            return;
        RDL_ASSERT(rdma_cm_ack_event(ch) == RDL_OK); /* it was taken */
        tell(g, &e);
        (void)trace_because(g->config.trace, cause);
    }
}

void guest_lnet_tick(struct guest_lnet *g, uint64_t arg)
{
    struct guest_program *caller;

    if (arg == LOOK)
        g->is_due = false;
    if (arg == TIME)
        g->timer_ns = 0;
    if (!g->node)
        return;
    caller = guest_lnet_begin(g);
    if (arg == ARM)
        rearm_all(g);
    else if (arg == LOOK)
        take_events(g);
    lnd_wake(lnet_lnd(g->node));
    guest_lnet_end(g, caller);
}

/* Returns true if what follows in the same call happens because of @n. */
static bool makes_cause(const struct lnd_note *n)
{
    return n->kind == LND_NOTE_RECEIVED || n->kind == LND_NOTE_REJECTED ||
           (n->kind == LND_NOTE_STATE && n->state == LND_CONN_CLOSING);
}

/* A message that is sent is the cause of its work requests, one that has come of all that follows
 * in the same call.
 */
static void note(void *ctx, const struct lnd_note *n)
{
    struct guest_lnet *g = ctx;
    const ev_id id = g->config.note(g->config.ctx, n);

    if (n->kind == LND_NOTE_SENT && n->msg->type >= LNET_MSG_NOOP)
        g->because = id;
    else if (id && makes_cause(n))
        (void)trace_because(g->config.trace, id);
}

const struct lnd_ops guest_lnet_ops = {
    .alloc = alloc,
    .free = release,
    .pages = pages,
    .pages_free = pages_free,
    .read = read_memory,
    .write = write_memory,
    .copy = copy_memory,
    .now_ns = now_ns,
    .wake_at = wake_at,
    .create_dev = create_dev,
    .destroy_dev = destroy_dev,
    .dma_addr = dma_addr,
    .reg_mr = reg_mr,
    .dereg_mr = dereg_mr,
    .create_cq = create_cq,
    .destroy_cq = destroy_cq,
    .create_qp = create_qp,
    .destroy_qp = destroy_qp,
    .resolve = resolve,
    .adopt = adopt,
    .connect = connect_to,
    .accept = accept_with,
    .establish = establish,
    .reject = reject,
    .disconnect = disconnect,
    .destroy_id = destroy_id,
    .post_recv = post_recv,
    .post_send = post_send,
    .note = note,
};

enum rdl_status guest_lnet_start(struct guest_lnet *g, const struct guest_lnet_config *config,
                                 const struct lnd_config *lnd)
{
    struct guest_program *caller;

    if (g->node)
        return RDL_ERR_EXISTS;
    *g = (struct guest_lnet){
        .config = *config, .n_names = g->n_names, .module = {cq_event, cm_event, answered, g}};
    g->node = lnet_new(&guest_lnet_ops, g, lnd, config->listener, config->ctx);
    if (!g->node)
        return arena_is_short(config->arena) ? RDL_ERR_NOMEM : RDL_ERR_INVAL;
    config->guest->module = &g->module;
    caller = guest_lnet_begin(g);
    lnd_start(lnet_lnd(g->node));
    guest_lnet_end(g, caller);
    return RDL_OK;
}

void guest_lnet_stop(struct guest_lnet *g)
{
    struct guest_program *caller = guest_lnet_begin(g);

    lnd_stop(lnet_lnd(g->node));
    guest_lnet_end(g, caller);
}

void guest_lnet_free(struct guest_lnet *g)
{
    if (!g || !g->node)
        return;
    wake_at(g, 0);
    g->config.guest->module = NULL;
    lnet_free(g->node);
    g->node = NULL;
    RDL_ASSERT(g->live_bytes == 0);
}
