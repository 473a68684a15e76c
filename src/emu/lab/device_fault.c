/* SPDX-License-Identifier: MIT */
/* Faults of devices.  They share numbers, names and list with the faults of the network.  The
 * device model carries them out.  [decision 0036]
 */
#include "emu/device/pvrdma/pvrdma.h"
#include "emu/device/rdma.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/virtio/net.h"
#include "emu/lab/lab_state.h"
#include "emu/rnic/rnic.h"
#include "emu/trace/emit.h"
#include "emu/trace/event.h"
#include "emu/virtio/fault.h"

#define TIME_NS_MAX   ((uint64_t)1 << 50) /* like the delay of a frame */
#define STREAM_FAULTS ((uint64_t)1 << 40) /* PRNG streams behind those of hosts and links */

/* NULL: the host has no RDMA device. */
static const struct rnic_config *config_of(const struct host *h)
{
    return h->rnic ? h->rnic->config : NULL;
}

static bool is_of_cq(const struct host *h, const struct rdl_device_fault_config *c)
{
    return !c->net && c->queue >= 1 && c->queue <= config_of(h)->max_cq;
}

/* Returns true if the device writes to the buffers of the queue. */
static bool is_written(const struct host *h, const struct rdl_device_fault_config *c)
{
    const struct rnic_config *config = config_of(h);

    if (c->queue == RDL_ANY)
        return true;
    if (c->net)
        return c->queue == NET_QUEUE_RX;
    return c->queue == QUEUE_CTRL || is_of_cq(h, c) ||
           c->queue == queue_of_events(config->max_cq, config->max_qp) ||
           (host_rdma(h) && rdma_is_ceq(host_rdma(h), c->queue));
}

/* Returns RDL_OK if a virtio device can have a fault of this kind there. */
static enum rdl_status check_virtio(const struct host *h, const struct rdl_device_fault_config *c)
{
    bool fits = false;

    switch ((enum fault_kind)c->kind) {
    case FLT_LOST_KICK:
    case FLT_LOST_INTERRUPT:
        fits = c->time_ns == 0;
        break;
    case FLT_LATE_DATA:
        fits = c->time_ns > 0 && is_written(h, c);
        break;
    case FLT_STUCK_QUEUE:
        fits = !is_of_cq(h, c);
        break;
    case FLT_SPURIOUS:
        fits = c->time_ns == 0 && (c->id == RDL_ANY || c->id <= UINT16_MAX);
        break;
    case FLT_FALSE_DATA:
        fits = c->time_ns == 0 && c->flip != 0 && !c->net && is_written(h, c);
        break;
    case FLT_FALSE_LENGTH:
        fits = c->time_ns == 0 && c->flip != 0;
        break;
    case FLT_FALSE_READ:
        fits = c->time_ns == 0 && c->flip != 0 && c->queue == RDL_ANY;
        break;
    case FLT_LOST_CQE:
        return RDL_ERR_UNSUPPORTED;
    default:
        break;
    }
    return fits ? RDL_OK : RDL_ERR_INVAL;
}

/* Returns RDL_OK if PVRDMA can have a fault of this kind there.  Its queues have the numbers of
 * facts/pvrdma/ring.h.
 */
static enum rdl_status check_pvrdma(const struct host *h, const struct rdl_device_fault_config *c)
{
    const struct rnic_config *n = config_of(h);
    const bool of_cq = c->queue == RDL_ANY || c->queue > pv_queue_of_cq(n->max_qp, n->max_srq, 0);
    const bool of_work = c->queue == RDL_ANY || c->queue > PV_QUEUE_EVENTS;
    const bool of_commands = c->queue == RDL_ANY || c->queue == PV_QUEUE_COMMANDS;
    bool fits = false;

    switch ((enum fault_kind)c->kind) {
    case FLT_LOST_KICK:
        fits = c->time_ns == 0 && of_work;
        break;
    case FLT_LOST_INTERRUPT:
        fits = c->time_ns == 0 && (of_cq || c->queue <= PV_QUEUE_EVENTS);
        break;
    case FLT_LOST_CQE:
        fits = c->time_ns == 0 && of_cq;
        break;
    case FLT_LATE_DATA:
        fits = c->time_ns > 0 && of_commands;
        break;
    case FLT_STUCK_QUEUE: /* the rings of PVRDMA have no descriptors to hold back or to invent */
    case FLT_SPURIOUS:
    case FLT_FALSE_DATA:
    case FLT_FALSE_LENGTH:
    case FLT_FALSE_READ:
        return RDL_ERR_UNSUPPORTED;
    default:
        break;
    }
    return fits ? RDL_OK : RDL_ERR_INVAL;
}

/* Returns the PVRDMA device of @h.  NULL: it has none, or the fault is of its network device. */
static struct pvrdma *pvrdma_at(const struct host *h, bool net)
{
    return !net && h->rnic ? pvrdma_of(&h->device) : NULL;
}

/* Returns the number of queues of the device that @c is about, or 0 if there is none. */
static uint32_t count_queues(const struct host *h, const struct rdl_device_fault_config *c)
{
    const struct virtio_dev *device = host_virtio(h, c->net ? FN_NET : FN_RDMA);
    const struct rnic_config *n = config_of(h);

    if (pvrdma_at(h, c->net))
        return pv_queue_of_cq(n->max_qp, n->max_srq, n->max_cq) + 1;
    return device ? device->config.num_queues : 0;
}

static enum rdl_status check(const struct lab_state *w, const struct rdl_device_fault_config *c)
{
    const struct host *h = lab_host(w, c->host.raw);
    enum rdl_status st;
    uint32_t n;

    if (!h || !host_is_there(h))
        return RDL_ERR_STALE;
    n = count_queues(h, c);
    if (n == 0)
        return h->rnic ? RDL_ERR_UNSUPPORTED : RDL_ERR_NO_DEVICE;
    if (c->queue != RDL_ANY && c->queue >= n)
        return RDL_ERR_NOT_FOUND;
    if (c->nth == 0 || c->count == 0 || c->chance_ppm > FAULT_PPM || c->time_ns > TIME_NS_MAX)
        return RDL_ERR_INVAL;
    st = pvrdma_at(h, c->net) ? check_pvrdma(h, c) : check_virtio(h, c);
    if (st != RDL_OK)
        return st;
    return c->name && c->name[0] ? lab_check_name(w, c->name) : RDL_OK;
}

/* Fills in the number of the CQ or QP that owns the ring with the number @queue of PVRDMA. */
static void name_owner_of_ring(const struct rnic_config *n, uint32_t queue, struct device_fault *f)
{
    const uint32_t first_cq = pv_queue_of_cq(n->max_qp, n->max_srq, 0);

    if (queue > first_cq)
        f->cqn = queue - first_cq;
    else if (queue <= pv_queue_of_srq(n->max_qp, 0))
        f->qpn = queue / 2;
}

/* Fills in the number of the CQ or QP that owns the queue, if there is one. */
static void name_owner(const struct host *h, const struct rdl_device_fault_config *c,
                       struct device_fault *f)
{
    const struct rnic_config *config = config_of(h);

    if (c->net || c->queue == RDL_ANY)
        return;
    if (pvrdma_at(h, false))
        name_owner_of_ring(config, c->queue, f);
    else if (is_of_cq(h, c))
        f->cqn = c->queue;
    else if (c->queue < queue_of_events(config->max_cq, config->max_qp))
        f->qpn = queue_owner(config->max_cq, c->queue);
}

/* Translates @c into a fault of the device. */
static struct device_fault device_part(const struct lab_state *w, const struct host *h,
                                       const struct rdl_device_fault_config *c)
{
    struct device_fault f = {
        .kind = (enum fault_kind)c->kind,
        .number = w->net.faults_made + 1,
        .queue = c->queue == RDL_ANY ? FAULT_QUEUE_ANY : c->queue,
        .nth = c->nth,
        .every = c->every ? c->every : 1,
        .count = c->count == RDL_ANY ? FAULT_COUNT_ALL : c->count,
        .chance_ppm = c->chance_ppm,
        .rng = prng_stream(w->seed, STREAM_FAULTS + w->net.faults_made),
        .time_ns = c->time_ns,
        .id = c->id == RDL_ANY ? FAULT_ID_BEHIND : c->id,
        .at = c->at == RDL_ANY ? FAULT_DRAWN : c->at,
        .flip = c->flip == RDL_ANY ? FAULT_DRAWN : c->flip,
        .where = c->where,
        .where_ctx = c->where_ctx,
    };

    name_owner(h, c, &f);
    return f;
}

static void say_made(struct lab_state *w, const struct net_fault *made)
{
    const struct device_fault *f = made->device;

    lab_act(w);
    TRACE(&w->trace, fault_made, .fault = made->number, .name = made->name, .by = (uint32_t)f->kind,
          .host = EV_HOST_NONE, .opcode = EV_ANY, .syndrome = EV_ANY, .psn = EV_ANY,
          .dest_qpn = EV_ANY, .skip = f->nth - 1, .count = f->count, .delay = f->time_ns);
    TRACE(&w->trace, fault_queue, .fault = made->number, .name = made->name, .host = made->host,
          .function = made->function, .queue = f->queue, .qpn = f->qpn, .cqn = f->cqn,
          .chance_ppm = f->chance_ppm, .where = f->where != NULL, .desc = f->id);
    lab_done(w);
}

/* Returns true if a fault of @kind can make the driver find something other than what happened. */
static bool misleads(enum fault_kind kind)
{
    switch (kind) {
    case FLT_SPURIOUS:
    case FLT_LOST_CQE:
    case FLT_FALSE_DATA:
    case FLT_FALSE_LENGTH:
    case FLT_FALSE_READ:
        return true;
    default:
        return false;
    }
}

enum rdl_status rdl_device_fault_add(struct rdl_lab *lab,
                                     const struct rdl_device_fault_config *config, rdl_fault *ret)
{
    struct lab_state *w = lab->state;
    const enum pci_function function = config->net ? FN_NET : FN_RDMA;
    struct net_fault f = {.kind = (enum fault_kind)config->kind, .function = (uint32_t)function};
    enum rdl_status st = check(w, config);
    struct host *h;

    if (st != RDL_OK)
        return st;
    h = lab_host(w, config->host.raw);
    f.host = h->index;
    f.device = arena_alloc(w->arena, sizeof(*f.device));
    if (!f.device)
        return RDL_ERR_NOMEM;
    lab_fault_called(w, &f, config->name, config->about);
    *f.device = device_part(w, h, config);
    f.device->name = f.name;
    st = lab_fault_keep(lab, &f, ret);
    if (st != RDL_OK) {
        arena_release(w->arena, f.device, sizeof(*f.device));
        return st;
    }
    if (misleads(f.kind))
        h->has_stranger = true;
    if (pvrdma_at(h, config->net))
        device_fault_add(&pvrdma_at(h, false)->faults, f.device);
    else
        virtio_fault_add(host_virtio(h, function), f.device);
    say_made(w, slots_get(&w->net.faults, ret->raw));
    return RDL_OK;
}

void lab_device_fault_gone(struct lab_state *w, struct net_fault *f)
{
    const struct host *h = f->device ? w->hosts[f->host] : NULL;
    struct pvrdma *pv = h ? pvrdma_at(h, f->function == FN_NET) : NULL;

    if (!h)
        return;
    if (pv)
        device_fault_take_off(&pv->faults, f->device);
    else
        virtio_fault_remove(host_virtio(h, (enum pci_function)f->function), f->device);
    arena_release(w->arena, f->device, sizeof(*f->device));
    f->device = NULL;
}
