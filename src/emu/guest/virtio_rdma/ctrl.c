/* SPDX-License-Identifier: MIT */
/* The control queue: sends the verbs' requests and applies the answers.  Requests that create
 * objects may be under way together.  [virtio-rdma RFC, controlq Operation]
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "emu/facts/virtio_rdma/refusal_rsp.h"
#include "emu/guest/virtio_rdma/internal.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/verbs.h"

_Static_assert(1 + sizeof(struct raw_port_attr) <= CTRL_BUFFER_BYTES, "largest response");
_Static_assert(1 + sizeof(struct raw_modify_qp) <= CTRL_BUFFER_BYTES, "largest request");

/* Preset value of the status byte: a response that the device never wrote is no success. */
#define RSP_PRESET 0xffu

/* By command. */
static void (*const answers[])(struct virtio_rdma *d, const uint8_t *data) = {
#define CONTROL(nm, name, number, feature, request, response, text) [number] = answer_##name,
#include "emu/facts/controls.def"
#undef CONTROL
};

/* Called before the verbs learn of the refusal; NULL: nothing is to be done. */
static void (*const refusals[ARRAY_LEN(answers)])(struct virtio_rdma *d) = {
    [CMD_CREATE_CQ] = answer_cq_refused,        [CMD_CREATE_QP] = answer_qp_refused,
    [CMD_RESIZE_CQ] = answer_cq_resize_refused, [CMD_RESIZE_QP] = answer_qp_resize_refused,
    [CMD_CREATE_SRQ] = answer_srq_refused,      [CMD_CREATE_CQ_EX] = answer_cq_refused,
};

bool ctrl_take_place(struct virtio_rdma *d, struct virtio_rdma_request *p)
{
    if (!p->request_gpa)
        p->request_gpa = dma_take(d->virtio.pci.dma, CTRL_BUFFER_BYTES);
    if (!p->response_gpa)
        p->response_gpa = dma_take(d->virtio.pci.dma, CTRL_BUFFER_BYTES);
    return p->request_gpa && p->response_gpa;
}

static struct virtio_rdma_request *free_place(struct virtio_rdma_ctrl *c)
{
    for (uint32_t i = 0; i < ARRAY_LEN(c->places); i++) {
        if (!c->places[i].under_way)
            return &c->places[i];
    }
    return NULL;
}

/* Writes both buffers and publishes them in the ring. */
static enum rdl_status put_request(struct virtio_rdma *d, struct virtio_rdma_request *p,
                                   const void *request)
{
    struct ram *ram = d->virtio.pci.ram;
    struct vqd *q = virtio_rdma_vq(d, QUEUE_CTRL);
    const size_t request_bytes = rfc_bytes(rfc_ctrl(p->cmd)->request);
    uint8_t bytes[CTRL_BUFFER_BYTES] = {(uint8_t)p->cmd};
    const uint8_t preset = RSP_PRESET;
    const struct vqd_seg segs[] = {{p->request_gpa, (uint32_t)(1 + request_bytes)},
                                   {p->response_gpa, p->response_bytes}};

    RDL_ASSERT(1 + request_bytes <= CTRL_BUFFER_BYTES && p->response_bytes <= CTRL_BUFFER_BYTES);
    if (request_bytes > 0)
        memcpy(bytes + 1, request, request_bytes);
    if (!ram_write(ram, p->request_gpa, bytes, 1 + request_bytes) ||
        !ram_write(ram, p->response_gpa, &preset, 1))
        return RDL_ERR_NOMEM;
    if (!vqd_add(q, ram, segs, 1, 1, &p->head))
        return d->ctrl.n_under_way > 0 ? RDL_ERR_BUSY
                                       : RDL_ERR_BROKEN; /* raw.c leaves room for one */
    vqd_want_interrupt(q, ram, false);
    vqd_publish(q, ram);
    return RDL_OK;
}

/* Takes a free place, fills it in and queues the request. */
static enum rdl_status place_request(struct virtio_rdma *d, enum ctrl_cmd cmd, const void *request,
                                     uint32_t number, struct virtio_rdma_request **ret)
{
    struct virtio_rdma_request *p = free_place(&d->ctrl);
    const bool is_new = p && !p->response_gpa;
    enum rdl_status st = RDL_OK;

    if (!p)
        return RDL_ERR_BUSY;
    if (!ctrl_take_place(d, p))
        st = RDL_ERR_NOMEM;
    p->cmd = cmd;
    p->object = asked_about(d);
    p->number = number;
    p->response_bytes = (uint32_t)(1 + rfc_bytes(rfc_ctrl(cmd)->response));
    if (st == RDL_OK)
        st = put_request(d, p, request);
    if (st != RDL_OK && is_new) /* the caller's dma_undo() also releases these buffers */
        p->request_gpa = p->response_gpa = 0;
    if (st != RDL_OK)
        return st;
    p->under_way = true;
    d->ctrl.n_under_way++;
    d->ctrl.cmd = cmd;
    *ret = p;
    return RDL_OK;
}

ev_id ctrl_cause(const struct virtio_rdma *d, ev_id request)
{
    return d->ctrl.n_under_way + d->raw.n_under_way > 1 ? request : 0;
}

enum rdl_status ctrl_send(struct virtio_rdma *d, enum ctrl_cmd cmd, const void *request,
                          uint32_t number)
{
    struct virtio_rdma_request *p;
    const enum rdl_status st = place_request(d, cmd, request, number, &p);
    struct trace *t = d->virtio.pci.trace;
    ev_id id, old;

    if (st != RDL_OK)
        return st;
    TRACE_ID(t, id, ctrl_request, .host = d->virtio.pci.host, .cmd = cmd, .number = number);
    p->because = ctrl_cause(d, id);
    old = trace_because(t, id);
    queue_kick(d, QUEUE_CTRL);
    trace_because(t, old);
    ctrl_await(d); /* a device may answer during the notification */
    return RDL_OK;
}

/* The status of the response.  RSP_ERR if the device wrote too little.  [our decision] */
static uint32_t read_response(const struct virtio_rdma *d, const struct virtio_rdma_request *p,
                              uint32_t len, uint8_t out[CTRL_BUFFER_BYTES])
{
    if (len == 0 || !ram_read(d->virtio.pci.ram, p->response_gpa, out, p->response_bytes))
        return RSP_ERR;
    if (out[0] == RSP_OK && len < p->response_bytes)
        return RSP_ERR;
    return out[0];
}

void ctrl_failed(const struct virtio_rdma *d, uint32_t rsp)
{
    verbs_refused(d->verbs, ctrl_rsp_errno(rsp), rsp);
}

static void apply(struct virtio_rdma *d, const uint8_t *data)
{
    const struct virtio_rdma_ctrl *c = &d->ctrl;

    RDL_ASSERT((size_t)c->cmd < ARRAY_LEN(answers));
    if (c->rsp == RSP_OK) {
        answers[c->cmd](d, data);
        return;
    }
    if (refusals[c->cmd])
        refusals[c->cmd](d);
    ctrl_failed(d, c->rsp);
}

/* The request whose chain has @head.  It exists: the ring accepts only heads that the driver added.
 */
static struct virtio_rdma_request *place_of(struct virtio_rdma_ctrl *c, uint16_t head)
{
    size_t i = 0;

    while (i < ARRAY_LEN(c->places) && !(c->places[i].under_way && c->places[i].head == head))
        i++;
    RDL_ASSERT(i < ARRAY_LEN(c->places));
    return &c->places[i];
}

/* Handles the answer, of @len bytes, to the request whose chain has @head. */
static void take_answer(struct virtio_rdma *d, uint16_t head, uint32_t len)
{
    struct virtio_rdma_ctrl *c = &d->ctrl;
    struct virtio_rdma_request *p = place_of(c, head);
    struct trace *t = d->virtio.pci.trace;
    uint8_t response[CTRL_BUFFER_BYTES];
    const ev_id old = t->cause;
    ev_id id;

    p->under_way = false;
    c->n_under_way--;
    c->cmd = p->cmd;
    c->rsp = read_response(d, p, len, response);
    if (c->rsp == RSP_OK && d->verbs->request.kind == VERBS_CREATE)
        p->number = ld_le32(response + 1); /* all of them begin with the object's number */
    if (p->because)
        trace_because(t, p->because);
    TRACE_ID(t, id, ctrl_response, .host = d->virtio.pci.host, .cmd = c->cmd, .rsp = c->rsp,
             .number = p->number);
    trace_because(t, id);
    verbs_answering(d->verbs, p->object);
    apply(d, response + 1);
    trace_because(t, old);
}

/* Takes one answer.  Returns false if there is none. */
static bool take_one(struct virtio_rdma *d)
{
    uint16_t head;
    uint32_t len;

    switch (
        virtqueue_take_used(&d->virtio, virtio_rdma_vq(d, QUEUE_CTRL), QUEUE_CTRL, &head, &len)) {
    case VQD_NONE:
        return false;
    case VQD_BROKEN:
        verbs_broken(d->verbs);
        return false;
    case VQD_GOT:
        break;
    }
    if (!raw_take(d, head, len))
        take_answer(d, head, len);
    return true;
}

void ctrl_poll(struct virtio_rdma *d)
{
    while (take_one(d))
        continue;
}

void ctrl_await(struct virtio_rdma *d)
{
    struct vqd *q = virtio_rdma_vq(d, QUEUE_CTRL);

    ctrl_poll(d);
    while (!d->verbs->broken && (d->ctrl.n_under_way > 0 || d->raw.n_under_way > 0)) {
        vqd_want_interrupt(q, d->virtio.pci.ram, true);
        if (vqd_used_count(q, d->virtio.pci.ram) == 0)
            return;
        ctrl_poll(d); /* arrived before the interrupt was enabled */
    }
}
