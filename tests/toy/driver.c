/* SPDX-License-Identifier: MIT */
/* The driver of the toy RNIC, as a guest loads it.  One command is under way at a time. */
#include "toy/driver.h"

#include <errno.h>
#include <string.h>

#include "emu/base/log2.h"
#include "emu/facts/enum/key_kind.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/profile.h"
#include "toy/devices.h"
#include "toy/work.h"

/* --- Commands --------------------------------------------------------------------------------- */

static void answer(struct driver *d);

/* Sends @c, whose answer may come at once. */
static enum rdl_status send(struct driver *d, enum toy_op op, struct toy_command c)
{
    c.op = op;
    if (!ram_write(d->pci.ram, d->command, &c, sizeof(c)))
        return RDL_ERR_NOMEM;
    d->op = op;
    d->waits = true;
    pci_write(&d->pci, d->regs + TOY_COMMAND, 8, d->command);
    answer(d);
    return RDL_OK;
}

/* Writes the addresses of the pages of @range, of the program that has @pd, to the list.  *@ret is
 * the list, *@ret_n its length.
 */
static enum rdl_status list_pages(struct driver *d, const struct guest_pd *pd,
                                  const struct rdl_mr_range *range, uint64_t *ret, uint32_t *ret_n)
{
    const uint64_t page = range->addr & ~(uint64_t)(RAM_PAGE_BYTES - 1);
    const uint64_t n = verbs_pages(range->addr, range->bytes), bytes = pow2_ceil(n * 8);

    if (bytes > d->pages_bytes) {
        dma_give(d->pci.dma, d->pages, d->pages_bytes);
        d->pages = dma_take(d->pci.dma, bytes);
        d->pages_bytes = d->pages ? bytes : 0;
    }
    if (!d->pages)
        return RDL_ERR_NOMEM;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t gpa;

        if (!space_translate(verbs_space(pd), page + i * RAM_PAGE_BYTES, &gpa))
            return RDL_ERR_FAULT;
        if (!ram_write(d->pci.ram, d->pages + 8 * i, &gpa, sizeof(gpa)))
            return RDL_ERR_NOMEM;
    }
    *ret = d->pages;
    *ret_n = (uint32_t)n;
    return RDL_OK;
}

static enum rdl_status create_pd(struct guest_pd *pd)
{
    return send(driver_of(&pd->o), TOY_CREATE_PD, (struct toy_command){0});
}

static enum rdl_status reg_mr(struct guest_mr *mr)
{
    struct driver *d = driver_of(&mr->o);
    struct toy_command c = {.kind = mr->kind,
                            .mr = {.pdn = mr->pd->pdn,
                                   .access = mr->access,
                                   .start = mr->addr,
                                   .length = mr->bytes,
                                   .virt_addr = mr->iova,
                                   .n_pages = mr->max_pages}};
    enum rdl_status st = RDL_OK;

    if (mr->kind != KEY_DMA_MR && mr->kind != KEY_FAST_MR)
        st = list_pages(d, mr->pd, &(struct rdl_mr_range){mr->addr, mr->bytes, mr->iova}, &c.pages,
                        &c.mr.n_pages);
    return st == RDL_OK ? send(d, TOY_CREATE_MR, c) : st;
}

static enum rdl_status rereg_mr(struct guest_mr *mr, const struct verbs_region *to)
{
    struct driver *d = driver_of(&mr->o);
    struct toy_command c = {.number = mr->mrn,
                            .mask = to->what,
                            .mr = {.pdn = to->what & RDL_REREG_PD ? to->pd->pdn : 0,
                                   .access = to->access,
                                   .start = to->range.addr,
                                   .length = to->range.bytes,
                                   .virt_addr = to->range.iova}};
    enum rdl_status st = RDL_OK;

    if (to->what & RDL_REREG_TRANSLATION)
        st = list_pages(d, to->what & RDL_REREG_PD ? to->pd : mr->pd, &to->range, &c.pages,
                        &c.mr.n_pages);
    return st == RDL_OK ? send(d, TOY_REREG_MR, c) : st;
}

static enum rdl_status map_mr_sg(struct guest_mr *mr, const struct rdl_mr_range *range)
{
    struct driver *d = driver_of(&mr->o);
    struct toy_command c = {.number = mr->mrn,
                            .mr = {.start = range->iova, .length = range->bytes}};
    const enum rdl_status st = list_pages(d, mr->pd, range, &c.pages, &c.mr.n_pages);

    return st == RDL_OK ? send(d, TOY_MAP_MR, c) : st;
}

static enum rdl_status alloc_mw(struct guest_mw *mw)
{
    return send(driver_of(&mw->o), TOY_CREATE_MW,
                (struct toy_command){.pdn = mw->pd->pdn, .kind = mw->type});
}

static enum rdl_status create_cq(struct guest_cq *cq)
{
    struct driver *d = driver_of(&cq->o);
    struct ring *r = &((struct toy_cq *)cq)->ring;

    if (!ring_take(d, r, cq->cqe, sizeof(struct completion)))
        return RDL_ERR_NOMEM;
    return send(d, TOY_CREATE_CQ, (struct toy_command){.value = cq->cqe, .ring = r->gpa});
}

static enum rdl_status arm_cq(struct guest_cq *cq, bool solicited_only)
{
    return send(driver_of(&cq->o), TOY_ARM_CQ,
                (struct toy_command){.number = cq->cqn, .flag = solicited_only});
}

static enum rdl_status create_srq(struct guest_srq *srq)
{
    struct driver *d = driver_of(&srq->o);
    struct ring *r = &((struct toy_srq *)srq)->ring;

    if (!ring_take(d, r, srq->rq.max_wr, sizeof(struct toy_recv)))
        return RDL_ERR_NOMEM;
    return send(d, TOY_CREATE_SRQ,
                (struct toy_command){.recv_ring = r->gpa,
                                     .srq = {srq->pd->pdn, srq->rq.max_wr, srq->rq.max_sge}});
}

static enum rdl_status modify_srq(struct guest_srq *srq, uint32_t limit, uint32_t mask)
{
    if (mask & SRQ_MAX_WR)
        return RDL_ERR_UNSUPPORTED;
    return send(driver_of(&srq->o), TOY_MODIFY_SRQ,
                (struct toy_command){.number = srq->srqn, .value = limit});
}

static enum rdl_status query_srq(struct guest_srq *srq)
{
    return send(driver_of(&srq->o), TOY_QUERY_SRQ, (struct toy_command){.number = srq->srqn});
}

static enum rdl_status create_qp(struct guest_qp *qp)
{
    struct driver *d = driver_of(&qp->o);
    struct toy_qp *q = (struct toy_qp *)qp;
    struct toy_command c = {
        .qp = {.pdn = qp->pd->pdn,
               .type = qp->type,
               .sig_all = qp->sq_sig_all,
               .send_cqn = qp->send_cq->cqn,
               .recv_cqn = qp->recv_cq->cqn,
               .max_send_wr = qp->sq.max_wr,
               .max_recv_wr = qp->rq.max_wr,
               .max_send_sge = qp->sq.max_sge,
               .max_recv_sge = qp->rq.max_sge,
               .max_inline_data = qp->max_inline_data,
               .create_flags = qp->block_self_mcast_lb ? CREATE_BLOCK_SELF_MCAST_LB : 0,
               .srqn = qp->srq ? qp->srq->srqn : 0}};

    if (!ring_take(d, &q->sends, qp->sq.max_wr, sizeof(struct toy_send)))
        return RDL_ERR_NOMEM;
    if (!ring_take(d, &q->receives, qp->srq ? 0 : qp->rq.max_wr, sizeof(struct toy_recv))) {
        ring_give(d, &q->sends);
        return RDL_ERR_NOMEM;
    }
    c.ring = q->sends.gpa;
    c.recv_ring = q->receives.gpa;
    return send(d, TOY_CREATE_QP, c);
}

/* The attributes that have the same names on both sides. */
#define SAME_ATTRS(X)                                                                              \
    X(state)                                                                                       \
    X(cur_state)                                                                                   \
    X(path_mtu)                                                                                    \
    X(access)                                                                                      \
    X(pkey_index)                                                                                  \
    X(port)                                                                                        \
    X(qkey)                                                                                        \
    X(dest_qpn)                                                                                    \
    X(rq_psn)                                                                                      \
    X(sq_psn)                                                                                      \
    X(max_rd_atomic)                                                                               \
    X(max_dest_rd_atomic)                                                                          \
    X(min_rnr_timer)                                                                               \
    X(timeout)                                                                                     \
    X(retry_cnt)                                                                                   \
    X(rnr_retry)                                                                                   \
    X(en_sqd_async_notify)
#define COPY(name) .name = a->name,

static enum rdl_status modify_qp(struct guest_qp *qp, const struct rdl_qp_attr *a, uint32_t mask)
{
    struct toy_command c = {.number = qp->qpn,
                            .mask = mask,
                            .attr = {SAME_ATTRS(COPY).credits = a->credits, .av = toy_av(&a->ah)}};

    c.attr.av.port = (uint8_t)(mask & QPA_PORT ? a->port : qp->attr.port);
    return send(driver_of(&qp->o), TOY_MODIFY_QP, c);
}

static enum rdl_status query_qp(struct guest_qp *qp)
{
    return send(driver_of(&qp->o), TOY_QUERY_QP, (struct toy_command){.number = qp->qpn});
}

static void queried(struct guest_qp *qp, const struct toy_command *c)
{
    const struct qp_attr *a = &c->attr;
    struct rdl_qp_attr out = {SAME_ATTRS(COPY).sq_draining = c->flag,
                              .ah = {.sgid_index = a->av.sgid_index,
                                     .hop_limit = a->av.hop_limit,
                                     .traffic_class = a->av.tclass,
                                     .sl = a->av.sl,
                                     .flow_label = a->av.flow_label}};

    memcpy(out.ah.dgid, a->av.dgid, sizeof(out.ah.dgid));
    memcpy(out.ah.dmac, a->av.dmac, sizeof(out.ah.dmac));
    verbs_queried(qp, &out);
}

static enum rdl_status about_group(struct guest_qp *qp, const uint8_t gid[GID_BYTES],
                                   enum toy_op op)
{
    struct toy_command c = {.number = qp->qpn};

    memcpy(c.gid, gid, sizeof(c.gid));
    return send(driver_of(&qp->o), op, c);
}

static enum rdl_status attach(struct guest_qp *qp, const uint8_t gid[GID_BYTES])
{
    return about_group(qp, gid, TOY_ATTACH);
}

static enum rdl_status detach(struct guest_qp *qp, const uint8_t gid[GID_BYTES])
{
    return about_group(qp, gid, TOY_DETACH);
}

static enum rdl_status query_port(struct verbs *v)
{
    return send(v->driver, TOY_QUERY_LIMITS, (struct toy_command){0});
}

static enum rdl_status query_pkey(struct verbs *v, uint32_t index)
{
    return send(v->driver, TOY_QUERY_PKEY, (struct toy_command){.number = index});
}

static enum rdl_status set_gid(struct verbs *v, uint32_t index, bool valid)
{
    struct toy_command c = {.number = index, .flag = valid};

    memcpy(c.gid, v->config.gid[index], sizeof(c.gid));
    return send(v->driver, TOY_SET_GID, c);
}

static enum rdl_status destroy(struct guest_object *o)
{
    return send(driver_of(o), TOY_DESTROY,
                (struct toy_command){.number = verbs_number(o), .kind = o->kind});
}

/* Frees the rings of @o, which the device does not have, or not any more. */
static void give_rings(const struct driver *d, struct guest_object *o)
{
    if (o->kind == OBJ_CQ)
        ring_give(d, &((struct toy_cq *)o)->ring);
    if (o->kind == OBJ_SRQ)
        ring_give(d, &((struct toy_srq *)o)->ring);
    if (o->kind == OBJ_QP) {
        ring_give(d, &((struct toy_qp *)o)->sends);
        ring_give(d, &((struct toy_qp *)o)->receives);
    }
}

static void created(struct guest_object *o, const struct toy_command *c)
{
    struct guest_mr *mr = (struct guest_mr *)o;

    if (o->kind == OBJ_MR) {
        mr->lkey = c->key;
        mr->rkey = c->flag ? c->key : 0;
    } else if (o->kind == OBJ_MW) {
        ((struct guest_mw *)o)->rkey = c->key;
    } else if (o->kind == OBJ_QP) {
        ((struct guest_qp *)o)->sq.queue = TOY_SQ(c->number);
        ((struct guest_qp *)o)->rq.queue = TOY_RQ(c->number);
    }
    verbs_created(o, c->number);
}

static void reregistered(struct guest_mr *mr, const struct toy_command *c)
{
    mr->lkey = c->key;
    mr->rkey = c->flag ? c->key : 0;
    verbs_reregistered(mr);
}

/* Takes the limits, which also say what the port carries. */
static void take_limits(struct driver *d, const struct toy_command *c)
{
    d->active_mtu = c->limits.active_mtu;
    if (d->verbs->up)
        verbs_queried_port(d->verbs, &(struct verbs_port){.active_mtu = d->active_mtu});
}

static void poll_events(struct driver *d);

/* Applies the answer @c, which is no refusal, to @o. */
static void apply(struct driver *d, struct guest_object *o, const struct toy_command *c)
{
    switch ((enum toy_op)c->op) {
    case TOY_QUERY_LIMITS:
        take_limits(d, c);
        break;
    case TOY_QUERY_PKEY:
        verbs_queried_pkey(d->verbs, (uint16_t)c->number);
        break;
    case TOY_SET_GID:
        if (d->verbs->up)
            verbs_gid_set(d->verbs);
        break;
    case TOY_REREG_MR:
        reregistered((struct guest_mr *)o, c);
        break;
    case TOY_MAP_MR:
        verbs_mapped((struct guest_mr *)o);
        break;
    case TOY_ARM_CQ:
        verbs_armed((struct guest_cq *)o);
        break;
    case TOY_MODIFY_SRQ:
        verbs_srq_modified((struct guest_srq *)o);
        break;
    case TOY_QUERY_SRQ:
        verbs_srq_queried((struct guest_srq *)o, c->value);
        break;
    case TOY_MODIFY_QP:
        verbs_modified((struct guest_qp *)o);
        break;
    case TOY_QUERY_QP:
        queried((struct guest_qp *)o, c);
        break;
    case TOY_ATTACH:
        verbs_attached((struct guest_qp *)o);
        break;
    case TOY_DETACH:
        verbs_detached((struct guest_qp *)o);
        break;
    case TOY_DESTROY:
        poll_events(d); /* passes on events of this object before its number is reused */
        give_rings(d, o);
        verbs_destroyed(o);
        break;
    default:
        created(o, c);
    }
}

/* Handles the answer to the command under way, if it has come. */
static void answer(struct driver *d)
{
    struct guest_object *o = d->verbs->request.object;
    struct toy_command c;

    if (!d->waits || !ram_read(d->pci.ram, d->command, &c, sizeof(c)) || !c.done)
        return;
    d->waits = false;
    if (c.error == 0) {
        apply(d, o, &c);
        return;
    }
    if (d->verbs->request.kind == VERBS_CREATE)
        give_rings(d, o);
    verbs_refused(d->verbs, c.error, (uint32_t)c.error);
}

/* --- Interrupts ------------------------------------------------------------------------------- */

static void poll_events(struct driver *d)
{
    struct toy_event e;
    bool any = false;

    for (; ring_get(d, &d->events, &e); any = true) {
        struct guest_cq *cq = e.type == TOY_CQ_EVENT ? verbs_cq(d->verbs, e.number) : NULL;

        if (e.missed)
            verbs_async_missed(d->verbs);
        if (cq)
            verbs_cq_event(cq);
        else if (e.type != TOY_CQ_EVENT)
            verbs_async(d->verbs, e.type, e.number);
    }
    if (any)
        pci_write(&d->pci, d->regs + TOY_TAKEN, 4, 0);
}

static void interrupt(void *driver, uint32_t vector)
{
    struct driver *d = driver;

    (void)vector;
    d->irqs++;
    poll_events(d);
    answer(d);
}

static bool line(void *driver)
{
    struct driver *d = driver;
    const bool ours = pci_uses_line(&d->pci) && pci_read(&d->pci, d->regs + TOY_CAUSE, 4);

    if (ours)
        interrupt(d, 0);
    return ours;
}

/* Events are always enabled. */
static void listen(struct verbs *v)
{
    poll_events(v->driver);
}

static uint64_t irqs(const void *driver)
{
    return ((const struct driver *)driver)->irqs;
}

/* --- Boot ------------------------------------------------------------------------------------- */

static bool init(void *driver, struct verbs *verbs, struct arena *a, const struct guest_pci *pci)
{
    struct driver *d = driver;

    (void)a;
    d->verbs = verbs;
    d->pci = *pci;
    d->command = dma_take(pci->dma, sizeof(struct toy_command));
    return d->command && ring_take(d, &d->events, TOY_N_EVENTS, sizeof(struct toy_event));
}

static bool meet(struct driver *d, const struct toy_limits *l)
{
    const bool blocks = profile_has(d->verbs->config.profile, TRAIT_MCAST_BLOCKS_SELF);
    const struct verbs_limits limits = {.max_mr_bytes = l->l.max_mr_size,
                                        .max_cq = l->max_cq,
                                        .max_qp = l->max_qp,
                                        .max_cqe = l->l.max_cqe,
                                        .max_qp_wr = l->l.max_qp_wr,
                                        .max_send_sge = l->l.max_send_sge,
                                        .max_recv_sge = l->l.max_recv_sge,
                                        .max_sge_rd = l->l.max_sge_rd,
                                        .max_inline_data = l->l.max_inline_data,
                                        .max_ah = l->l.max_ah,
                                        .max_pkeys = l->max_pkeys,
                                        .max_dest_rd_atomic = l->l.max_qp_rd_atom,
                                        .max_rd_atomic = l->l.max_qp_init_rd_atom,
                                        .n_ports = 1,
                                        .max_mw = l->l.max_mw,
                                        .max_fast_pages = l->l.max_fast_reg_page_list_len,
                                        .can_rereg = true,
                                        .has_mcast = true,
                                        .blocks_mcast_lb = blocks,
                                        .max_srq = l->max_srq,
                                        .max_srq_wr = l->l.max_qp_wr,
                                        .max_srq_sge = l->l.max_recv_sge,
                                        .max_mr = l->l.max_mr,
                                        .max_pd = l->l.max_pd,
                                        .max_res_rd_atomic = l->l.max_res_rd_atom,
                                        .max_groups = l->l.max_mcast_grp,
                                        .max_group_qps = l->l.max_mcast_qp_attach,
                                        .max_total_group_qps = l->l.max_total_mcast_qp_attach};

    return verbs_meet(d->verbs, &limits);
}

static enum rdl_status boot(void *driver, const struct pci_slot_function *found)
{
    struct driver *d = driver;
    struct toy_command c;
    enum rdl_status st;

    pci_probe(&d->pci, found, NULL, NULL);
    d->regs = pci_bar_place(&d->pci, TOY_BAR, 0, TOY_REG_BYTES);
    if (!d->regs)
        return RDL_ERR_UNSUPPORTED;
    pci_enable(&d->pci);
    pci_write(&d->pci, d->regs + TOY_EVENTS, 8, d->events.gpa);
    st = send(d, TOY_QUERY_LIMITS, (struct toy_command){0});
    if (st != RDL_OK || d->waits)
        return st == RDL_OK ? RDL_ERR_BROKEN : st;
    if (!ram_read(d->pci.ram, d->command, &c, sizeof(c)) || !meet(d, &c.limits))
        return RDL_ERR_NOMEM;
    return RDL_OK;
}

static enum rdl_status start(void *driver)
{
    struct driver *d = driver;

    verbs_boot(d->verbs);
    for (uint32_t i = 0; i < GUEST_GIDS; i++) {
        const enum rdl_status st = set_gid(d->verbs, i, true);

        if (st != RDL_OK)
            return st;
    }
    verbs_queried_port(d->verbs, &(struct verbs_port){.active_mtu = d->active_mtu});
    verbs_up(d->verbs);
    return RDL_OK;
}

static const char *request_name(const struct verbs *v)
{
    static const char *const names[TOY_OPS] = {[TOY_QUERY_LIMITS] = "QUERY_LIMITS",
                                               [TOY_QUERY_PKEY] = "QUERY_PKEY",
                                               [TOY_SET_GID] = "SET_GID",
                                               [TOY_CREATE_PD] = "CREATE_PD",
                                               [TOY_CREATE_MR] = "CREATE_MR",
                                               [TOY_REREG_MR] = "REREG_MR",
                                               [TOY_MAP_MR] = "MAP_MR",
                                               [TOY_CREATE_MW] = "CREATE_MW",
                                               [TOY_CREATE_CQ] = "CREATE_CQ",
                                               [TOY_ARM_CQ] = "ARM_CQ",
                                               [TOY_CREATE_SRQ] = "CREATE_SRQ",
                                               [TOY_MODIFY_SRQ] = "MODIFY_SRQ",
                                               [TOY_QUERY_SRQ] = "QUERY_SRQ",
                                               [TOY_CREATE_QP] = "CREATE_QP",
                                               [TOY_MODIFY_QP] = "MODIFY_QP",
                                               [TOY_QUERY_QP] = "QUERY_QP",
                                               [TOY_ATTACH] = "ATTACH",
                                               [TOY_DETACH] = "DETACH",
                                               [TOY_DESTROY] = "DESTROY"};

    return names[((const struct driver *)v->driver)->op];
}

/* The code of a refusal is its errno. */
static const struct enum_row responses[] = {
    {"BAD_HANDLE", ENOENT, "a handle in the request names nothing"},
    {"BUSY", EBUSY, "the object is in use"},
    {"NO_RESOURCES", ENOMEM, "a limit of the device is reached"},
    {"INVALID_ARG", EINVAL, "a value in the request is out of range"},
    {"NOT_SUPPORTED", EOPNOTSUPP, "the device does not offer this"},
};

static const struct enum_table response_table = {"toy_response", "response of the toy RNIC",
                                                 responses, ARRAY_LEN(responses)};

/* Its queues have one length. */
static enum rdl_status resize_cq(struct guest_cq *cq, uint32_t cqe)
{
    (void)cq;
    (void)cqe;
    return RDL_ERR_UNSUPPORTED;
}

static enum rdl_status resize_qp(struct guest_qp *qp, uint32_t max_send_wr, uint32_t max_recv_wr)
{
    (void)qp;
    (void)max_send_wr;
    (void)max_recv_wr;
    return RDL_ERR_UNSUPPORTED;
}

static const struct verbs_driver_ops verbs_ops = {
    .object_bytes = {[OBJ_PD] = sizeof(struct guest_pd),
                     [OBJ_MR] = sizeof(struct guest_mr),
                     [OBJ_CQ] = sizeof(struct toy_cq),
                     [OBJ_QP] = sizeof(struct toy_qp),
                     [OBJ_AH] = sizeof(struct guest_ah),
                     [OBJ_MW] = sizeof(struct guest_mw),
                     [OBJ_CHANNEL] = sizeof(struct guest_channel),
                     [OBJ_SRQ] = sizeof(struct toy_srq)},
    .responses = &response_table,
    .create_pd = create_pd,
    .reg_mr = reg_mr,
    .create_cq = create_cq,
    .create_qp = create_qp,
    .create_srq = create_srq,
    .destroy = destroy,
    .resize_cq = resize_cq,
    .resize_qp = resize_qp,
    .arm_cq = arm_cq,
    .modify_qp = modify_qp,
    .query_qp = query_qp,
    .query_port = query_port,
    .attach_mcast = attach,
    .detach_mcast = detach,
    .query_pkey = query_pkey,
    .set_gid = set_gid,
    .modify_srq = modify_srq,
    .query_srq = query_srq,
    .listen = listen,
    .alloc_mw = alloc_mw,
    .rereg_mr = rereg_mr,
    .map_mr_sg = map_mr_sg,
    .request_name = request_name,
    .post_send = toy_post_send,
    .post_recv = toy_post_recv,
    .post_srq_recv = toy_post_srq_recv,
    .kick = toy_kick,
    .kick_srq = toy_kick_srq,
    .poll_cq = toy_poll_cq,
    .count_unpolled = toy_count_unpolled,
    .peek_cq = toy_peek_cq,
    .count_posted = toy_count_posted,
};

const struct rdma_driver toy_driver = {
    .pci = {.ids = PCI_IDS(TOY_VENDOR, TOY_DEVICE),
            .boot = boot,
            .start = start,
            .interrupt = interrupt,
            .line = line,
            .irqs = irqs},
    .verbs = &verbs_ops,
    .bytes = sizeof(struct driver),
    .init = init,
};
