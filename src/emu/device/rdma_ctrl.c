/* SPDX-License-Identifier: MIT */
/* The control queue.  [virtio-rdma RFC, controlq Operation]
 *
 * A request is a chain.  Its readable part is a command byte and data, its writable part a response
 * byte and data.  The division into buffers does not matter.  If the response does not fit, nothing
 * is changed: the response is INVALID_ARG, or used.len is 0 if not even its first byte fits.
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/device/ctrl.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/qp_attrs.h"
#include "emu/facts/virtio_rdma/ctrl_cmd.h"
#include "emu/facts/virtio_rdma/refusal_rsp.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/verbs.h"
#include "emu/xport/ctrl.h"

#define PORT_STATE_ACTIVE  4u
#define PORT_PHYS_LINK_UP  5u
#define PORT_STATE_DOWN    1u
#define PORT_PHYS_DISABLED 3u
#define PORT_WIDTH_4X      2u
#define PORT_SPEED_EDR     32u /* 4 x 25 Gbit/s */

/* Upper bound of all requests and responses. */
#define CTRL_DATA_BYTES_MAX 256u

static enum refusal_reason refuse_port(struct call *c, uint32_t port)
{
    return ctrl_refuse(c, REF_PORT_NUMBER, compared_one(HCA_PORT, port));
}

enum refusal_reason ctrl_query_port(struct call *c)
{
    const struct rdma *d = c->d;
    const bool up = eth_port_is_up(d->nic.port);

    REQUEST(c, query_port, r);
    if (r.port != HCA_PORT)
        return refuse_port(c, r.port);
    RESPOND(c, port_attr, .state = up ? PORT_STATE_ACTIVE : PORT_STATE_DOWN,
            .max_mtu = (uint8_t)d->config.nic.max_mtu,
            .active_mtu = (uint8_t)rnic_active_mtu(&d->nic), .phys_mtu = d->nic.port->mtu,
            .gid_tbl_len = HCA_GIDS, .max_msg_sz = rnic_message_max(&d->nic),
            .bad_pkey_cntr = d->nic.bad_pkeys, .qkey_viol_cntr = d->nic.bad_qkeys,
            .pkey_tbl_len = (uint16_t)d->nic.hca.pkeys.n, .active_width = PORT_WIDTH_4X,
            .active_speed = PORT_SPEED_EDR,
            .phys_state = up ? PORT_PHYS_LINK_UP : PORT_PHYS_DISABLED);
    return REF_NONE;
}

enum refusal_reason ctrl_create_cq(struct call *c)
{
    struct cq *cq;
    enum refusal_reason why;

    REQUEST(c, create_cq, r);
    why = hca_cq_create(&c->d->nic.hca, r.cqe, &cq);
    if (why != REF_NONE)
        return why;
    c->number = cq->cqn;
    RESPOND(c, cq_handle, .cqn = cq->cqn);
    return REF_NONE;
}

void ctrl_forget_ring(struct rdma *d, uint32_t queue)
{
    if (!virtio_has(&d->pci, VF_RING_RESET))
        vq_restart(&d->pci.queues[queue]);
}

enum refusal_reason ctrl_destroy_cq(struct call *c)
{
    enum refusal_reason why;

    REQUEST(c, cq_handle, r);
    c->number = r.cqn;
    why = hca_cq_destroy(&c->d->nic.hca, r.cqn);
    if (why == REF_NONE) {
        ctrl_forget_ring(c->d, r.cqn);
        rdma_ceq_forget(c->d, r.cqn);
        rnic_events_forget(&c->d->nic, OBJ_CQ, r.cqn);
    }
    return why;
}

/* The queue itself is reset and enabled by the driver, with a ring of the new size. */
enum refusal_reason ctrl_resize_cq(struct call *c)
{
    REQUEST(c, resize_cq, r);
    c->number = r.cqn;
    if (!virtio_has(&c->d->pci, VF_RING_RESET))
        return ctrl_refuse(c, REF_COMMAND_UNKNOWN, compared_found(CMD_RESIZE_CQ));
    return hca_cq_resize(&c->d->nic.hca, r.cqn, r.cqe);
}

enum refusal_reason ctrl_create_pd(struct call *c)
{
    struct pd *pd;
    const enum refusal_reason why = hca_pd_create(&c->d->nic.hca, &pd);

    if (why != REF_NONE)
        return why;
    c->number = pd->pdn;
    RESPOND(c, pd_handle, .pdn = pd->pdn);
    return REF_NONE;
}

enum refusal_reason ctrl_destroy_pd(struct call *c)
{
    REQUEST(c, pd_handle, r);
    c->number = r.pdn;
    return hca_pd_destroy(&c->d->nic.hca, r.pdn);
}

/* Refuses unknown flags, because they would change the behaviour that the caller expects. */
static enum refusal_reason check_create_flags(struct call *c, const struct rfc_create_qp *r)
{
    if (r->create_flags == 0)
        return REF_NONE;
    if (r->create_flags != CREATE_BLOCK_SELF_MCAST_LB || !virtio_has(&c->d->pci, VF_MCAST) ||
        !rdma_blocks_mcast_lb(&c->d->config))
        return ctrl_refuse(c, REF_QP_CREATE_FLAGS, compared_found(r->create_flags));
    return r->qp_type == QPT_UD
               ? REF_NONE
               : ctrl_refuse(c, REF_QP_FLAGS_OF_TYPE, compared_one(QPT_UD, r->qp_type));
}

enum refusal_reason ctrl_create_qp(struct call *c)
{
    struct qp_config config;
    struct qp *qp;
    enum refusal_reason why;

    REQUEST(c, create_qp, r);
    if (r.sq_sig_type != SIG_ALL_WR && r.sq_sig_type != SIG_REQ_WR)
        return ctrl_refuse(c, REF_QP_SIG_TYPE, compared_at_most(SIG_REQ_WR, r.sq_sig_type));
    why = check_create_flags(c, &r);
    if (why != REF_NONE)
        return why;
    config = (struct qp_config){
        .pdn = r.pdn,
        .type = r.qp_type,
        .send_cqn = r.send_cqn,
        .recv_cqn = r.recv_cqn,
        QP_SIZES(&r),
        .max_inline_data = r.max_inline_data,
        .sig_all = r.sq_sig_type == SIG_ALL_WR,
        .create_flags = r.create_flags,
        .srqn = virtio_has(&c->d->pci, VF_SRQ) ? r.srqn : 0,
    };
    why = xport_qp_create(&c->d->nic.xport, &config, &qp);
    if (why != REF_NONE)
        return why;
    c->number = qp->qpn;
    RESPOND(c, qp_handle, .qpn = qp->qpn);
    return REF_NONE;
}

static void attr_get(struct qp_attr *out, const uint8_t raw_attr[sizeof(struct raw_qp_attr)])
{
    struct raw_qp_attr raw;
    struct rfc_qp_attr a;

    memcpy(&raw, raw_attr, sizeof(raw));
    rfc_qp_attr_get(&a, &raw);
    *out = (struct qp_attr){
        .av = {.sgid_index = a.ah_sgid_index,
               .hop_limit = a.ah_hop_limit,
               .tclass = a.ah_traffic_class,
               .sl = a.ah_sl,
               .static_rate = a.ah_static_rate,
               .port = a.ah_port_num,
               .flags = a.ah_flags,
               .flow_label = a.ah_flow_label},
    };
    QP_ATTRS_FROM_RFC(out, &a);
    memcpy(out->av.dgid, a.ah_dgid, sizeof(out->av.dgid));
    memcpy(out->av.dmac, a.ah_dmac, sizeof(out->av.dmac));
}

enum refusal_reason ctrl_modify_qp(struct call *c)
{
    enum refusal_reason why;
    struct qp_attr attr;
    struct qp *qp;

    REQUEST(c, modify_qp, r);
    c->number = r.qpn;
    qp = hca_qp(&c->d->nic.hca, r.qpn);
    if (!qp)
        return ctrl_refuse(c, REF_QP_HANDLE, compared_found(r.qpn));
    if ((r.attr_mask & QPA_CREDITS) && !virtio_has(&c->d->pci, VF_CREDITS))
        return ctrl_refuse(c, REF_NOT_NEGOTIATED, compared_nothing());
    attr_get(&attr, r.attrs);
    why = xport_qp_modify(&c->d->nic.xport, qp, r.attr_mask, &attr);
    if (why == REF_NONE && (r.attr_mask & QPA_STATE))
        rdma_empty_rings(c->d, qp);
    return why;
}

enum refusal_reason ctrl_query_qp(struct call *c)
{
    const struct qp_attr *a;
    const struct qp *qp;
    struct rfc_qp_attr out;
    struct raw_qp_attr raw;

    REQUEST(c, query_qp, r);
    c->number = r.qpn;
    qp = hca_qp(&c->d->nic.hca, r.qpn);
    if (!qp)
        return ctrl_refuse(c, REF_QP_HANDLE, compared_found(r.qpn));
    a = &qp->attr;
    out = (struct rfc_qp_attr){
        .sq_draining = xport_is_draining(qp),
        QP_SIZES(&qp->config),
        .max_inline_data = qp->config.max_inline_data,
        .ah_flow_label = a->av.flow_label,
        .ah_sgid_index = a->av.sgid_index,
        .ah_hop_limit = a->av.hop_limit,
        .ah_traffic_class = a->av.tclass,
        .ah_sl = a->av.sl,
        .ah_static_rate = a->av.static_rate,
        .ah_port_num = a->av.port,
        .ah_flags = a->av.flags,
    };
    QP_ATTRS_TO_RFC(&out, a);
    out.qp_state = out.cur_qp_state = (uint8_t)qp->state;
    memcpy(out.ah_dgid, a->av.dgid, sizeof(out.ah_dgid));
    memcpy(out.ah_dmac, a->av.dmac, sizeof(out.ah_dmac));
    rfc_qp_attr_put(&raw, &out);
    memcpy(c->rsp, &raw, sizeof(raw));
    return REF_NONE;
}

enum refusal_reason ctrl_destroy_qp(struct call *c)
{
    enum refusal_reason why;

    REQUEST(c, qp_handle, r);
    c->number = r.qpn;
    if (hca_qp(&c->d->nic.hca, r.qpn))
        rdma_end_qp(c->d, hca_qp(&c->d->nic.hca, r.qpn));
    why = xport_qp_destroy(&c->d->nic.xport, r.qpn);
    if (why == REF_NONE) {
        ctrl_forget_ring(c->d, rdma_sq(c->d, r.qpn));
        ctrl_forget_ring(c->d, rdma_rq(c->d, r.qpn));
        rnic_events_forget(&c->d->nic, OBJ_QP, r.qpn);
    }
    return why;
}

/* Checks that no chain of @queue is available, or taken and not completed.  Returns REF_NONE or
 * RFK_BUSY.
 */
static enum refusal_reason check_idle(struct call *c, uint32_t queue)
{
    const struct vq *vq = &c->d->pci.queues[queue];
    const uint32_t taken = (uint16_t)(vq->last_avail - vq->used_idx);
    const uint32_t n = vq->enabled ? vq_avail_peek(vq, c->d->nic.ram) + taken : 0;

    return n == 0 ? REF_NONE : ctrl_refuse(c, REF_QP_RING_IN_USE, compared_at_most(0, n));
}

/* After it the driver resets the queues whose length has changed, and enables them with new rings.
 */
enum refusal_reason ctrl_resize_qp(struct call *c)
{
    struct rdma *d = c->d;
    enum refusal_reason why = REF_NONE;
    bool sends, receives;
    struct qp *qp;

    REQUEST(c, resize_qp, r);
    c->number = r.qpn;
    if (!virtio_has(&d->pci, VF_RING_RESET))
        return ctrl_refuse(c, REF_COMMAND_UNKNOWN, compared_found(CMD_RESIZE_QP));
    qp = hca_qp(&d->nic.hca, r.qpn);
    if (!qp)
        return ctrl_refuse(c, REF_QP_HANDLE, compared_found(r.qpn));
    sends = r.max_send_wr != qp->config.max_send_wr;
    receives = !qp->srq && r.max_recv_wr != qp->config.max_recv_wr;
    if (sends)
        why = check_idle(c, rdma_sq(d, r.qpn));
    if (why == REF_NONE && receives)
        why = check_idle(c, rdma_rq(d, r.qpn));
    if (why == REF_NONE)
        why = xport_qp_resize(&d->nic.xport, qp, r.max_send_wr,
                              receives ? r.max_recv_wr : qp->config.max_recv_wr);
    if (why == REF_NONE)
        qp->exchanged |= (sends ? 1u << WQ_SEND : 0) | (receives ? 1u << WQ_RECV : 0);
    return why;
}

enum refusal_reason ctrl_query_pkey(struct call *c)
{
    struct hca *h = &c->d->nic.hca;
    uint16_t pkey;

    REQUEST(c, query_pkey, r);
    if (r.port != HCA_PORT)
        return refuse_port(c, r.port);
    if (hca_pkey(h, r.index, &pkey) != REF_NONE)
        return hca_refuse(h, REF_PKEY_INDEX, compared_at_most(h->pkeys.n - 1, r.index));
    RESPOND(c, pkey, .pkey = pkey);
    return REF_NONE;
}

enum refusal_reason ctrl_add_gid(struct call *c)
{
    static const uint8_t none[GID_BYTES];

    REQUEST(c, add_gid, r);
    c->number = r.index;
    if (r.port_num != HCA_PORT)
        return refuse_port(c, r.port_num);
    if (r.gid_type != GID_TYPE_ROCE_V2)
        return ctrl_refuse(c, REF_GID_TYPE, compared_one(GID_TYPE_ROCE_V2, r.gid_type));
    if (memcmp(r.gid, none, sizeof(none)) == 0 || gid_is_group(r.gid))
        return ctrl_refuse(c, REF_GID_ADDRESS, compared_nothing());
    return rnic_gid_set(&c->d->nic, r.index, r.gid);
}

enum refusal_reason ctrl_del_gid(struct call *c)
{
    REQUEST(c, del_gid, r);
    c->number = r.index;
    if (r.port != HCA_PORT)
        return refuse_port(c, r.port);
    return rnic_gid_set(&c->d->nic, r.index, NULL);
}

enum refusal_reason ctrl_req_notify_cq(struct call *c)
{
    struct cq *cq;

    REQUEST(c, req_notify, r);
    c->number = r.cqn;
    cq = hca_cq(&c->d->nic.hca, r.cqn);
    if (!cq)
        return ctrl_refuse(c, REF_CQ_HANDLE, compared_found(r.cqn));
    if (r.flags != NOTIFY_SOLICITED && r.flags != NOTIFY_NEXT_COMPLETION)
        return ctrl_refuse(c, REF_NOTIFY_FLAGS,
                           compared_range(NOTIFY_SOLICITED, NOTIFY_NEXT_COMPLETION, r.flags));
    if (rdma_arms_in_memory(c->d, r.cqn))
        return ctrl_refuse(c, REF_CQ_ARMED_IN_MEMORY, compared_nothing());
    cq_arm(cq, r.flags == NOTIFY_SOLICITED);
    return REF_NONE;
}

/* Finds the queue pair of a multicast request @r and checks the group. */
static enum refusal_reason mcast_qp(struct call *c, const struct rfc_mcast *r, struct qp **ret)
{
    c->number = r->qpn;
    *ret = hca_qp(&c->d->nic.hca, r->qpn);
    if (!*ret)
        return ctrl_refuse(c, REF_QP_HANDLE, compared_found(r->qpn));
    return gid_is_group(r->gid) ? REF_NONE : ctrl_refuse(c, REF_GROUP_ADDRESS, compared_nothing());
}

enum refusal_reason ctrl_attach_mcast(struct call *c)
{
    struct qp *qp;
    enum refusal_reason why;

    REQUEST(c, mcast, r);
    why = mcast_qp(c, &r, &qp);
    return why == REF_NONE ? mcast_attach(&c->d->nic.hca, qp, r.gid) : why;
}

enum refusal_reason ctrl_detach_mcast(struct call *c)
{
    struct qp *qp;
    enum refusal_reason why;

    REQUEST(c, mcast, r);
    why = mcast_qp(c, &r, &qp);
    return why == REF_NONE ? mcast_detach(&c->d->nic.hca, qp, r.gid) : why;
}

static const struct {
    enum refusal_reason (*run)(struct call *c);
    enum feature_number needs; /* 0: none */
} commands[] = {
#define CONTROL(nm, name, number, feature, request, response, text)                                \
    [number] = {ctrl_##name, feature},
#include "emu/facts/controls.def"
#undef CONTROL
};

/* Returns true if @cmd exists and its feature was negotiated. */
static bool is_known(const struct rdma *d, uint8_t cmd)
{
    if (cmd >= ARRAY_LEN(commands) || !commands[cmd].run)
        return false;
    return !commands[cmd].needs || virtio_has(&d->pci, commands[cmd].needs);
}

/* Executes the request in d->ctrl.  Returns the number of bytes written to the response. */
static uint32_t execute(struct rdma *d)
{
    uint8_t req[1 + CTRL_DATA_BYTES_MAX] = {0}, rsp[1 + CTRL_DATA_BYTES_MAX] = {0};
    const size_t n_req = vq_chain_read(d->nic.ram, &d->ctrl, 0, req, sizeof(req));
    const uint8_t cmd = req[0];
    const bool known = is_known(d, cmd);
    const size_t req_bytes = rfc_bytes(rfc_ctrl(cmd)->request);
    const size_t rsp_bytes = rfc_bytes(rfc_ctrl(cmd)->response);
    struct call call = {d, req + 1, rsp + 1, 0};
    struct refused *refused = &d->nic.hca.refused;
    enum refusal_reason why;
    uint32_t result;

    if (d->ctrl.writable_bytes == 0)
        return 0;
    refused->why = REF_NONE;
    if (n_req == 0)
        why = ctrl_refuse(&call, REF_REQUEST_EMPTY, compared_nothing());
    else if (!known)
        why = ctrl_refuse(&call, REF_COMMAND_UNKNOWN, compared_found(cmd));
    else if (n_req < 1 + req_bytes)
        why =
            ctrl_refuse(&call, REF_REQUEST_BYTES, compared_range(1 + req_bytes, UINT64_MAX, n_req));
    else if (d->ctrl.writable_bytes < 1 + rsp_bytes)
        why = ctrl_refuse(&call, REF_RESPONSE_BYTES,
                          compared_range(1 + rsp_bytes, UINT64_MAX, d->ctrl.writable_bytes));
    else
        why = commands[cmd].run(&call);
    RDL_ASSERT(why == refused->why); /* hca_refuse() has been told of each refusal */
    result = refusal_rsp(why);
    TRACE(d->nic.trace, ctrl_execute, .host = d->config.nic.host, .cmd = cmd, .rsp = result,
          .number = call.number, .refusal = (uint32_t)refused->why, .least = refused->values.least,
          .most = refused->values.most, .found = refused->values.found);
    rsp[0] = (uint8_t)result;
    return (uint32_t)rdma_write(d, QUEUE_CTRL, &d->ctrl, rsp,
                                1 + (why == REF_NONE ? rsp_bytes : 0));
}

void rdma_ctrl_run(struct rdma *d)
{
    struct vq *vq = &d->pci.queues[QUEUE_CTRL];

    _Static_assert(sizeof(struct raw_port_attr) <= CTRL_DATA_BYTES_MAX, "responses fit");
    _Static_assert(sizeof(struct raw_modify_qp) <= CTRL_DATA_BYTES_MAX, "requests fit");
    while (vq->enabled && virtio_running(&d->pci) && !rdma_is_stuck(d, QUEUE_CTRL)) {
        enum vq_pop got;
        uint32_t len;

        if (!d->nic.booting && vq_turn_is_over(vq, d->nic.ram, d->nic.trace->tick)) {
            rdma_ring(d, QUEUE_CTRL);
            return;
        }
        got = vq_pop(vq, d->nic.ram, &d->ctrl);
        if (got == VQ_BROKEN)
            rdma_queue_broken(d, QUEUE_CTRL);
        if (got != VQ_GOT)
            return;
        d->nic.progress->chains++;
        rnic_control(&d->nic);
        len = execute(d);
        rnic_settle(&d->nic);
        rnic_control(&d->nic);
        rdma_push(d, QUEUE_CTRL, d->ctrl.head, len);
        if (d->nic.booting)
            (void)vq_wants_interrupt(vq, d->nic.ram); /* the driver waits for it */
        else
            rdma_interrupt(d, QUEUE_CTRL);
    }
}
