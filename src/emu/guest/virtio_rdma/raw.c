/* SPDX-License-Identifier: MIT */
/* Control requests whose bytes the program supplies: see raw.h. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "emu/guest/virtio_rdma/internal.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/verbs.h"

#define KEPT_FOR_VERBS 2u /* descriptors left free for the verbs' requests */
#define SEGS_MAX       (2 * (RDL_CONTROL_CUTS_MAX + 1))

struct segs {
    struct vqd_seg v[SEGS_MAX];
    uint32_t n;
};

/* Appends the @bytes bytes at @gpa to @s, split into buffers of the lengths @cuts.  Returns false
 * if a length is 0 or the lengths do not fit.
 */
static bool cut(struct segs *s, uint64_t gpa, uint32_t bytes, const uint32_t *cuts, uint32_t n)
{
    if (n > RDL_CONTROL_CUTS_MAX)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (cuts[i] == 0 || cuts[i] >= bytes)
            return false;
        s->v[s->n++] = (struct vqd_seg){gpa, cuts[i]};
        gpa += cuts[i];
        bytes -= cuts[i];
    }
    if (bytes > 0)
        s->v[s->n++] = (struct vqd_seg){gpa, bytes};
    return true;
}

/* The place that is not under way and whose request is oldest; NULL if there is none. */
static struct raw_place *free_place(struct raw_requests *r)
{
    struct raw_place *oldest = NULL;

    for (uint32_t i = 0; i < RAW_PLACES; i++) {
        struct raw_place *p = &r->places[i];

        if (!p->under_way && (!oldest || p->id < oldest->id))
            oldest = p;
    }
    return oldest;
}

static bool make_places(struct virtio_rdma *d)
{
    if (!d->raw.places)
        d->raw.places = arena_alloc(d->arena, RAW_PLACES * sizeof(*d->raw.places));
    return d->raw.places != NULL;
}

/* Writes the request and presets the response, as a driver should. */
static bool write_bytes(struct virtio_rdma *d, const struct raw_place *p,
                        const struct rdl_control *request)
{
    uint8_t bytes[2 * RDL_CONTROL_BYTES_MAX];

    bytes[0] = request->command;
    if (request->bytes > 0 && !request->is_empty)
        memcpy(bytes + 1, request->data, request->bytes);
    memset(bytes + p->bytes, 0xff, p->room);
    return ram_write(d->virtio.pci.ram, p->gpa, bytes, p->bytes + p->room);
}

/* Returns the event of the request. */
static ev_id publish(struct virtio_rdma *d, const struct rdl_control *request, bool kick)
{
    struct vqd *q = virtio_rdma_vq(d, QUEUE_CTRL);
    struct trace *t = d->virtio.pci.trace;
    ev_id id, old;

    vqd_want_interrupt(q, d->virtio.pci.ram, true);
    vqd_publish(q, d->virtio.pci.ram);
    TRACE_ID(t, id, ctrl_request, .host = d->virtio.pci.host, .cmd = request->command);
    if (!kick)
        return id;
    old = trace_because(t, id);
    queue_kick(d, QUEUE_CTRL);
    trace_because(t, old);
    return id;
}

/* Finds a place for a request and allocates its memory.  Returns RDL_OK, RDL_ERR_NOMEM or
 * RDL_ERR_QUEUE_FULL.
 */
static enum rdl_status take_place(struct virtio_rdma *d, struct raw_place **ret)
{
    struct raw_place *p;

    if (!make_places(d))
        return RDL_ERR_NOMEM;
    p = free_place(&d->raw);
    if (!p)
        return RDL_ERR_QUEUE_FULL;
    if (!p->gpa)
        p->gpa = dma_take(d->virtio.pci.dma, 2 * (uint64_t)RDL_CONTROL_BYTES_MAX);
    *ret = p;
    return p->gpa ? RDL_OK : RDL_ERR_NOMEM;
}

/* Divides the memory of @p into the buffers of request and response.  The first @ret_n_readable
 * buffers are the request.  Returns false if the lengths do not fit or there is no buffer.
 */
static bool lay_out(struct raw_place *p, const struct rdl_control *request, struct segs *ret,
                    uint32_t *ret_n_readable)
{
    p->bytes = request->is_empty ? 0 : 1 + request->bytes;
    p->room = request->room;
    RDL_ASSERT(p->bytes <= RDL_CONTROL_BYTES_MAX);
    ret->n = 0;
    if (!cut(ret, p->gpa, p->bytes, request->cuts, request->n_cuts))
        return false;
    *ret_n_readable = ret->n;
    return cut(ret, p->gpa + p->bytes, p->room, request->room_cuts, request->n_room_cuts) &&
           ret->n > 0;
}

/* @arms: the CQ that the request arms; NULL: it is a program's. */
static enum rdl_status send_for(struct virtio_rdma *d, const struct rdl_control *request, bool kick,
                                struct guest_cq *arms, uint32_t *ret_id)
{
    enum rdl_status st;
    struct raw_place *p;
    struct segs segs;
    struct vqd *q;
    uint32_t n_readable;

    if (d->verbs->broken || !d->queues)
        return RDL_ERR_BROKEN;
    if (request->bytes >= RDL_CONTROL_BYTES_MAX || request->room > RDL_CONTROL_BYTES_MAX)
        return RDL_ERR_INVAL;
    st = take_place(d, &p);
    if (st != RDL_OK)
        return st;
    if (!lay_out(p, request, &segs, &n_readable))
        return RDL_ERR_INVAL;
    q = virtio_rdma_vq(d, QUEUE_CTRL);
    if (segs.n + KEPT_FOR_VERBS > q->n_free)
        return RDL_ERR_QUEUE_FULL;
    if (!write_bytes(d, p, request))
        return RDL_ERR_NOMEM;
    if (!vqd_add(q, d->virtio.pci.ram, segs.v, n_readable, segs.n - n_readable, &p->head))
        return RDL_ERR_BROKEN;
    p->id = *ret_id = ++d->raw.last_id;
    p->under_way = true;
    p->arms = arms;
    p->answer = (struct rdl_control_answer){.command = request->command};
    d->raw.n_under_way++;
    p->because = ctrl_cause(d, publish(d, request, kick));
    return RDL_OK;
}

static enum rdl_status send(void *driver, const struct rdl_control *request, bool kick,
                            uint32_t *ret_id)
{
    return send_for(driver, request, kick, NULL, ret_id);
}

enum rdl_status raw_rearm_cq(struct guest_cq *cq)
{
    struct virtio_rdma *d = driver_of(&cq->o);
    const struct rfc_req_notify cmd = {.cqn = cq->cqn, .flags = NOTIFY_NEXT_COMPLETION};
    struct raw_req_notify raw;
    const struct rdl_control request = {.command = CMD_REQ_NOTIFY_CQ,
                                        .data = (const uint8_t *)&raw,
                                        .bytes = sizeof(raw),
                                        .room = 1};
    uint32_t id;

    if (arms_in_memory(d)) {
        const enum rdl_status st = ceq_arm(d, (struct virtio_rdma_cq *)cq, false);

        if (st == RDL_OK)
            verbs_rearmed(cq, true);
        return st;
    }
    rfc_req_notify_put(&raw, &cmd);
    if (!has_ceqs(d))
        vqd_want_interrupt(virtio_rdma_vq(d, cq->cqn), d->virtio.pci.ram, true);
    return send_for(d, &request, true, cq, &id);
}

bool raw_take(struct virtio_rdma *d, uint16_t head, uint32_t len)
{
    for (uint32_t i = 0; d->raw.n_under_way > 0 && i < RAW_PLACES; i++) {
        struct raw_place *p = &d->raw.places[i];
        const ev_id old = d->virtio.pci.trace->cause;
        uint32_t rsp;
        ev_id id;

        if (!p->under_way || p->head != head)
            continue;
        p->under_way = false;
        d->raw.n_under_way--;
        p->answer.written = len < p->room ? len : p->room;
        if (!ram_read(d->virtio.pci.ram, p->gpa + p->bytes, p->answer.response, p->room))
            p->answer.written = 0;
        rsp = p->answer.written > 0 ? p->answer.response[0] : (uint32_t)RSP_ERR;
        if (p->because)
            trace_because(d->virtio.pci.trace, p->because);
        TRACE_ID(d->virtio.pci.trace, id, ctrl_response, .host = d->virtio.pci.host,
                 .cmd = p->answer.command, .rsp = rsp);
        trace_because(d->virtio.pci.trace, id);
        if (p->arms)
            verbs_rearmed(p->arms, rsp == RSP_OK);
        trace_because(d->virtio.pci.trace, old);
        return true;
    }
    return false;
}

static enum rdl_status answer(const void *driver, uint32_t id, struct rdl_control_answer *ret)
{
    const struct virtio_rdma *d = driver;

    for (uint32_t i = 0; d->raw.places && id > 0 && i < RAW_PLACES; i++) {
        const struct raw_place *p = &d->raw.places[i];

        if (p->id != id)
            continue;
        if (p->under_way)
            return RDL_ERR_BUSY;
        *ret = p->answer;
        return RDL_OK;
    }
    return RDL_ERR_NOT_FOUND;
}

static uint32_t under_way(const void *driver)
{
    return ((const struct virtio_rdma *)driver)->raw.n_under_way;
}

const struct rdma_control_ops raw_ops = {send, answer, under_way};
