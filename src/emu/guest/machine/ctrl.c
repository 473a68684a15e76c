/* SPDX-License-Identifier: MIT */
/* The control queue: one request at a time, and what each answer means.  [virtio-rdma RFC, controlq
 * Operation]
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/guest/machine/internal.h"

_Static_assert(1 + sizeof(struct raw_port_attr) <= CTRL_BUFFER_BYTES, "largest response");
_Static_assert(1 + sizeof(struct raw_modify_qp) <= CTRL_BUFFER_BYTES, "largest request");

/* A driver presets the status byte, so that a response that was never written is no success. */
#define RSP_PRESET 0xffu

/* What is done with the answer, by command; NULL: nothing. */
static const struct {
    void (*done)(struct guest *g, const uint8_t *data);
    void (*refused)(struct guest *g);
    bool creates; /* the response begins with the new object's number */
} answers[] = {
    [CMD_QUERY_PORT] = {port_queried, NULL, false},
    [CMD_CREATE_CQ] = {cq_created, cq_refused, true},
    [CMD_DESTROY_CQ] = {cq_destroyed, destroy_refused, false},
    [CMD_CREATE_PD] = {pd_created, pd_refused, true},
    [CMD_DESTROY_PD] = {pd_destroyed, destroy_refused, false},
    [CMD_REG_USER_MR] = {mr_created, mr_refused, true},
    [CMD_DEREG_MR] = {mr_destroyed, destroy_refused, false},
    [CMD_CREATE_QP] = {qp_created, qp_refused, true},
    [CMD_MODIFY_QP] = {qp_modified, NULL, false},
    [CMD_QUERY_QP] = {qp_queried, NULL, false},
    [CMD_DESTROY_QP] = {qp_destroyed, destroy_refused, false},
    [CMD_ADD_GID] = {NULL, NULL, false},
    [CMD_REQ_NOTIFY_CQ] = {NULL, notify_refused, false},
};

enum rdl_status ctrl_ready(const struct guest *g)
{
    if (g->broken)
        return RDL_ERR_BROKEN;
    if (g->ctrl.busy)
        return RDL_ERR_BUSY;
    return g->up ? RDL_OK : RDL_ERR_STATE;
}

/* Writes both buffers and puts them into the ring. */
static enum rdl_status put_request(struct guest *g, const void *request)
{
    struct guest_ctrl *c = &g->ctrl;
    struct ram *ram = g->config.ram;
    struct vqd *q = guest_vq(g, QUEUE_CTRL);
    const size_t request_bytes = rfc_bytes(rfc_ctrl(c->cmd)->request);
    uint8_t bytes[CTRL_BUFFER_BYTES] = {(uint8_t)c->cmd};
    const uint8_t preset = RSP_PRESET;
    const struct vqd_seg segs[] = {{c->request_gpa, (uint32_t)(1 + request_bytes)},
                                   {c->response_gpa, c->response_bytes}};
    uint16_t head;

    RDL_ASSERT(1 + request_bytes <= CTRL_BUFFER_BYTES && c->response_bytes <= CTRL_BUFFER_BYTES);
    if (request_bytes > 0)
        memcpy(bytes + 1, request, request_bytes);
    if (!ram_write(ram, c->request_gpa, bytes, 1 + request_bytes) ||
        !ram_write(ram, c->response_gpa, &preset, 1))
        return RDL_ERR_NOMEM;
    if (!vqd_add(q, ram, segs, 1, 1, &head))
        return RDL_ERR_BROKEN; /* one request at a time always finds room */
    vqd_want_interrupt(q, ram, false);
    vqd_publish(q, ram);
    return RDL_OK;
}

enum rdl_status ctrl_send(struct guest *g, enum ctrl_cmd cmd, const void *request,
                          struct guest_object *object, uint32_t number)
{
    struct guest_ctrl *c = &g->ctrl;
    struct trace *t = g->config.trace;
    enum rdl_status st;
    ev_id id, old;

    c->cmd = cmd;
    c->object = object;
    c->number = number;
    c->response_bytes = (uint32_t)(1 + rfc_bytes(rfc_ctrl(cmd)->response));
    st = put_request(g, request);
    if (st != RDL_OK)
        return st;
    c->busy = true;
    c->no_route = false;
    TRACE_ID(t, id, ctrl_request, .host = g->config.host, .cmd = cmd, .number = number);
    old = trace_because(t, id);
    queue_kick(g, QUEUE_CTRL);
    trace_because(t, old);
    /* A device may answer inside the notification.  If it did not, it shall interrupt. */
    ctrl_poll(g);
    if (c->busy) {
        vqd_want_interrupt(guest_vq(g, QUEUE_CTRL), g->config.ram, true);
        ctrl_poll(g);
    }
    return RDL_OK;
}

/* The response, if it is one: a device that writes too little has failed.  [our decision] */
static uint32_t read_response(const struct guest *g, uint32_t len, uint8_t out[CTRL_BUFFER_BYTES])
{
    const struct guest_ctrl *c = &g->ctrl;

    if (len == 0 || !ram_read(g->config.ram, c->response_gpa, out, c->response_bytes))
        return RSP_ERR;
    if (out[0] == RSP_OK && len < c->response_bytes)
        return RSP_ERR;
    return out[0];
}

static void apply(struct guest *g, const uint8_t *data)
{
    const struct guest_ctrl *c = &g->ctrl;

    RDL_ASSERT((size_t)c->cmd < ARRAY_LEN(answers));
    if (c->rsp == RSP_OK && answers[c->cmd].done)
        answers[c->cmd].done(g, data);
    else if (c->rsp != RSP_OK && answers[c->cmd].refused)
        answers[c->cmd].refused(g);
}

void ctrl_poll(struct guest *g)
{
    struct guest_ctrl *c = &g->ctrl;
    struct trace *t = g->config.trace;
    uint8_t response[CTRL_BUFFER_BYTES];
    uint16_t head;
    uint32_t len;
    ev_id id, old;

    switch (vqd_take_used(guest_vq(g, QUEUE_CTRL), g->config.ram, &head, &len)) {
    case VQD_NONE:
        return;
    case VQD_BROKEN:
        g->broken = true;
        return;
    case VQD_GOT:
        break;
    }
    c->busy = false;
    c->rsp = read_response(g, len, response);
    if (c->rsp == RSP_OK && answers[c->cmd].creates)
        c->number = ld_le32(response + 1);
    TRACE_ID(t, id, ctrl_response, .host = g->config.host, .cmd = c->cmd, .rsp = c->rsp,
             .number = c->number);
    old = trace_because(t, id);
    apply(g, response + 1);
    trace_because(t, old);
}

enum rdl_status guest_answer(const struct guest *g, uint32_t *reterr_rsp)
{
    if (g->broken)
        return RDL_ERR_BROKEN;
    if (g->ctrl.busy)
        return RDL_ERR_BUSY;
    if (g->ctrl.no_route)
        return RDL_ERR_NO_ROUTE;
    if (g->ctrl.rsp == RSP_OK)
        return RDL_OK;
    *reterr_rsp = g->ctrl.rsp;
    return RDL_ERR_DEVICE;
}
