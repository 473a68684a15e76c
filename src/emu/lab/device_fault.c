/* SPDX-License-Identifier: MIT */
/* Faults of devices.  They share numbers, names and list with the faults of the network.  The
 * device model carries them out.  [decision 0036]
 */
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
           c->queue == queue_of_events(config->max_cq, config->max_qp);
}

static bool check_kind(const struct host *h, const struct rdl_device_fault_config *c)
{
    switch ((enum fault_kind)c->kind) {
    case FLT_LOST_KICK:
    case FLT_LOST_INTERRUPT:
        return c->time_ns == 0;
    case FLT_LATE_DATA:
        return c->time_ns > 0 && is_written(h, c);
    case FLT_STUCK_QUEUE:
        return !is_of_cq(h, c);
    case FLT_SPURIOUS:
        return c->time_ns == 0 && (c->id == RDL_ANY || c->id <= UINT16_MAX);
    default:
        return false;
    }
}

static enum rdl_status check(const struct lab_state *w, const struct rdl_device_fault_config *c)
{
    const struct host *h = lab_host(w, c->host.raw);
    const struct virtio_dev *device;

    if (!h || !host_is_there(h))
        return RDL_ERR_STALE;
    device = host_virtio(h, c->net ? FN_NET : FN_RDMA);
    if (!device)
        return h->rnic ? RDL_ERR_UNSUPPORTED : RDL_ERR_NO_DEVICE;
    if (c->queue != RDL_ANY && c->queue >= device->config.num_queues)
        return RDL_ERR_NOT_FOUND;
    if (c->nth == 0 || c->count == 0 || c->chance_ppm > VIRTIO_PPM || c->time_ns > TIME_NS_MAX ||
        !check_kind(h, c))
        return RDL_ERR_INVAL;
    return c->name && c->name[0] ? lab_check_name(w, c->name) : RDL_OK;
}

/* Fills in the number of the CQ or QP that owns the queue, if there is one. */
static void name_owner(const struct host *h, const struct rdl_device_fault_config *c,
                       struct virtio_fault *f)
{
    const struct rnic_config *config = config_of(h);

    if (c->net || c->queue == RDL_ANY)
        return;
    if (is_of_cq(h, c))
        f->cqn = c->queue;
    else if (c->queue < queue_of_events(config->max_cq, config->max_qp))
        f->qpn = queue_owner(config->max_cq, c->queue);
}

/* Translates @c into a fault of the device. */
static struct virtio_fault device_part(const struct lab_state *w, const struct host *h,
                                       const struct rdl_device_fault_config *c)
{
    struct virtio_fault f = {
        .kind = (enum fault_kind)c->kind,
        .number = w->net.faults_made + 1,
        .queue = c->queue == RDL_ANY ? VIRTIO_QUEUE_ANY : c->queue,
        .nth = c->nth,
        .every = c->every ? c->every : 1,
        .count = c->count == RDL_ANY ? VIRTIO_COUNT_ALL : c->count,
        .chance_ppm = c->chance_ppm,
        .rng = prng_stream(w->seed, STREAM_FAULTS + w->net.faults_made),
        .time_ns = c->time_ns,
        .id = c->id == RDL_ANY ? VIRTIO_ID_BEHIND : c->id,
        .where = c->where,
        .where_ctx = c->where_ctx,
    };

    name_owner(h, c, &f);
    return f;
}

static void say_made(struct lab_state *w, const struct net_fault *made)
{
    const struct virtio_fault *f = made->device;

    lab_act(w);
    TRACE(&w->trace, fault_made, .fault = made->number, .name = made->name, .by = (uint32_t)f->kind,
          .host = EV_HOST_NONE, .opcode = EV_ANY, .syndrome = EV_ANY, .psn = EV_ANY,
          .dest_qpn = EV_ANY, .skip = f->nth - 1, .count = f->count, .delay = f->time_ns);
    TRACE(&w->trace, fault_queue, .fault = made->number, .name = made->name, .host = made->host,
          .function = made->function, .queue = f->queue, .qpn = f->qpn, .cqn = f->cqn,
          .chance_ppm = f->chance_ppm, .where = f->where != NULL, .desc = f->id);
    lab_done(w);
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
    if (f.kind == FLT_SPURIOUS)
        h->has_stranger = true; /* an invented used entry may break the driver's ring */
    virtio_fault_add(host_virtio(h, function), f.device);
    say_made(w, slots_get(&w->net.faults, ret->raw));
    return RDL_OK;
}

void lab_device_fault_gone(struct lab_state *w, struct net_fault *f)
{
    if (!f->device)
        return;
    virtio_fault_remove(host_virtio(w->hosts[f->host], (enum pci_function)f->function), f->device);
    arena_release(w->arena, f->device, sizeof(*f->device));
    f->device = NULL;
}
