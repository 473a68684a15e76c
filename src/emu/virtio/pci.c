/* SPDX-License-Identifier: MIT */
#include "emu/virtio/pci.h"

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/log2.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/virtio/feature.h"
#include "emu/pci/overlap.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/registers.h"
#include "emu/trace/events/rings.h"
#include "emu/virtio/fault.h"
#include "emu/virtio/function.h"

/* The registers of the common configuration.  The value of an enum reg is the offset. */
static const struct reg_place {
    enum reg reg;
    uint8_t bytes;
    bool of_queue; /* belongs to the queue in QUEUE_SELECT */
} places[] = {
    {REG_DEVICE_FEATURE_SELECT, 4, false}, {REG_DEVICE_FEATURE, 4, false},
    {REG_DRIVER_FEATURE_SELECT, 4, false}, {REG_DRIVER_FEATURE, 4, false},
    {REG_CONFIG_MSIX_VECTOR, 2, false},    {REG_NUM_QUEUES, 2, false},
    {REG_DEVICE_STATUS, 1, false},         {REG_CONFIG_GENERATION, 1, false},
    {REG_QUEUE_SELECT, 2, false},          {REG_QUEUE_SIZE, 2, true},
    {REG_QUEUE_MSIX_VECTOR, 2, true},      {REG_QUEUE_ENABLE, 2, true},
    {REG_QUEUE_NOTIFY_OFF, 2, true},       {REG_QUEUE_DESC, 8, true},
    {REG_QUEUE_DRIVER, 8, true},           {REG_QUEUE_DEVICE, 8, true},
    {REG_QUEUE_NOTIFY_DATA, 2, true},      {REG_QUEUE_RESET, 2, true},
};

/* The status bits in the order in which a driver must set them. */
static const enum device_status_bit status_order[] = {VS_ACKNOWLEDGE, VS_DRIVER, VS_FEATURES_OK,
                                                      VS_DRIVER_OK};

static void queue_clear(const struct virtio_dev *d, struct vq *vq)
{
    vq_done(vq, d->arena);
    *vq = (struct vq){
        .ring.size = d->config.queue_size, .vector = VIRTIO_NO_VECTOR, .life = vq->life + 1};
}

/* Resets all state but the device configuration. */
static void clear(struct virtio_dev *d)
{
    d->accepted = 0;
    d->offered = d->offers_next;
    d->device_feature_select = d->driver_feature_select = 0;
    d->status = 0;
    d->isr = 0;
    d->reset_error = VQE_NONE;
    d->reset_queue = 0;
    d->config_vector = VIRTIO_NO_VECTOR;
    d->queue_select = 0;
    virtio_stuck_forget(d, FAULT_QUEUE_ANY);
    for (uint32_t i = 0; i < d->config.num_queues; i++)
        queue_clear(d, &d->queues[i]);
}

/* The features that only some hosts want of their devices. */
static uint64_t wanted(const struct virtio_config *c)
{
    return ((c->packed ? VIRTIO_FEATURE(VF_RING_PACKED) : 0) |
            (c->platform ? VIRTIO_FEATURE(VF_ACCESS_PLATFORM) : 0)) &
           ~c->features_off;
}

bool virtio_init(struct virtio_dev *d, struct arena *a, struct sim *sim,
                 const struct virtio_config *config, const struct virtio_ops *ops, void *ctx)
{
    RDL_ASSERT(config->num_queues >= 1 && config->num_queues <= VIRTIO_QUEUES_MAX);
    RDL_ASSERT(is_pow2(config->queue_size) && config->queue_size <= VRING_SIZE_MAX);
    RDL_ASSERT(config->n_vectors >= 1 && config->n_vectors <= VIRTIO_VECTORS_MAX);
    RDL_ASSERT(config->config_bytes > 0 && config->config_bytes <= BAR_NOTIFY - BAR_DEVICE);

    *d = (struct virtio_dev){
        .arena = a,
        .sim = sim,
        .ops = ops,
        .ctx = ctx,
        .config = *config,
        .possible = VIRTIO_FEATURES_ALL | config->features_own | wanted(config),
        .queues = arena_alloc(a, config->num_queues * sizeof(*d->queues)),
        .device_config = arena_alloc(a, config->config_bytes),
    };
    if (!d->queues || !d->device_config || !virtio_fn_init(d, a))
        return false;
    virtio_offer(d, d->possible & ~(config->features_off & VIRTIO_FEATURES_ALL));
    clear(d);
    return true;
}

void virtio_offer(struct virtio_dev *d, uint64_t features)
{
    d->offers_next = (features & d->possible) | VIRTIO_FEATURE(VF_VERSION_1);
    if (d->status == 0)
        d->offered = d->offers_next;
}

/* The queue in QUEUE_SELECT; NULL if its number is out of range. */
static struct vq *selected(const struct virtio_dev *d)
{
    return d->queue_select < d->config.num_queues ? &d->queues[d->queue_select] : NULL;
}

/* The 32 bits of @features that @select selects. */
static uint32_t feature_half(uint64_t features, uint32_t select)
{
    return select < 2 ? (uint32_t)(features >> (32 * select)) : 0;
}

static uint64_t get_queue(const struct virtio_dev *d, enum reg reg)
{
    const struct vq *vq = selected(d);

    if (!vq) /* mapping its interrupts fails [virtio 1.2, 4.1.5.1.2.1] */
        return reg == REG_QUEUE_MSIX_VECTOR ? VIRTIO_NO_VECTOR : 0;
    switch (reg) {
    case REG_QUEUE_SIZE:
        return vq->ring.size;
    case REG_QUEUE_MSIX_VECTOR:
        return vq->vector;
    case REG_QUEUE_ENABLE:
        return vq->enabled;
    case REG_QUEUE_NOTIFY_OFF:
    case REG_QUEUE_NOTIFY_DATA:
        return d->queue_select;
    case REG_QUEUE_DESC:
        return vq->ring.desc;
    case REG_QUEUE_DRIVER:
        return vq->ring.avail;
    case REG_QUEUE_DEVICE:
        return vq->ring.used;
    default: /* QUEUE_RESET: a reset completes at once */
        return 0;
    }
}

static uint64_t get(const struct virtio_dev *d, enum reg reg)
{
    switch (reg) {
    case REG_DEVICE_FEATURE_SELECT:
        return d->device_feature_select;
    case REG_DEVICE_FEATURE:
        return feature_half(d->offered, d->device_feature_select);
    case REG_DRIVER_FEATURE_SELECT:
        return d->driver_feature_select;
    case REG_DRIVER_FEATURE:
        return feature_half(d->accepted, d->driver_feature_select);
    case REG_CONFIG_MSIX_VECTOR:
        return d->config_vector;
    case REG_NUM_QUEUES:
        return d->config.num_queues;
    case REG_DEVICE_STATUS:
        return d->status;
    case REG_CONFIG_GENERATION:
        return d->config_generation;
    case REG_QUEUE_SELECT:
        return d->queue_select;
    default:
        return get_queue(d, reg);
    }
}

static void put_features(struct virtio_dev *d, uint32_t half)
{
    const uint32_t shift = 32 * d->driver_feature_select;

    if (d->driver_feature_select >= 2 || !(d->status & VS_DRIVER) || (d->status & VS_FEATURES_OK))
        return;
    d->accepted = (d->accepted & ~((uint64_t)UINT32_MAX << shift)) | (uint64_t)half << shift;
}

/* Returns true if the driver can set @bit now.  All status bits before it are set. */
static bool status_bit_allowed(const struct virtio_dev *d, enum device_status_bit bit)
{
    if (bit != VS_FEATURES_OK)
        return true;
    return (d->accepted & ~d->offered) == 0 && virtio_has(d, VF_VERSION_1);
}

static void status_bit_set(struct virtio_dev *d, enum device_status_bit bit)
{
    d->status |= bit;
    if (bit != VS_FEATURES_OK)
        return;
    TRACE(d->sim->trace, features, .host = d->config.host, .function = d->config.function,
          .offered = d->offered, .accepted = d->accepted);
    if (d->ops->negotiated)
        d->ops->negotiated(d->ctx);
}

void virtio_reset(struct virtio_dev *d)
{
    clear(d);
    fn_forget_pending(&d->fn);
    d->ops->reset(d->ctx);
}

static void put_status(struct virtio_dev *d, unsigned value)
{
    if (value == 0) {
        virtio_reset(d);
        return;
    }
    if (value & VS_FAILED)
        d->status |= VS_FAILED;
    for (size_t i = 0; i < ARRAY_LEN(status_order); i++) {
        const enum device_status_bit bit = status_order[i];

        if (d->status & bit)
            continue;
        if (!(value & bit) || !status_bit_allowed(d, bit))
            return;
        status_bit_set(d, bit);
    }
}

/* Replaces a vector that the device does not have by VIRTIO_NO_VECTOR.  [virtio 1.2, 4.1.5.1.2.1]
 */
static uint16_t checked_vector(const struct virtio_dev *d, uint64_t vector)
{
    return vector < d->config.n_vectors ? (uint16_t)vector : VIRTIO_NO_VECTOR;
}

static void queue_enable(struct virtio_dev *d, struct vq *vq)
{
    if ((d->status & VS_DRIVER_OK) && !virtio_has(d, VF_RING_RESET))
        return;
    vq->ring.packed = virtio_has(d, VF_RING_PACKED);
    if (!vring_is_sound(&vq->ring) || !vq_set_up(vq, d->arena))
        return;
    vq->enabled = true;
    vq->event_idx = virtio_has(d, VF_EVENT_IDX);
    vq->indirect = virtio_has(d, VF_INDIRECT_DESC);
    if (d->ops->queue_enabled)
        d->ops->queue_enabled(d->ctx, d->queue_select);
}

static void queue_reset(struct virtio_dev *d, struct vq *vq)
{
    const uint32_t queue = d->queue_select;

    if (!virtio_has(d, VF_RING_RESET) || !vq->enabled)
        return;
    queue_clear(d, vq);
    virtio_stuck_forget(d, queue);
    TRACE(d->sim->trace, queue_reset, .host = d->config.host, .function = d->config.function,
          .queue = queue);
    d->ops->queue_reset(d->ctx, queue);
}

/* Returns true if a queue can have this @size.  Writes of other sizes are ignored.
 * [virtio 1.2, 2.7 and 2.8.10.1]
 */
static bool size_is_known(const struct virtio_dev *d, uint64_t size)
{
    return size >= 1 && size <= d->config.queue_size &&
           (virtio_has(d, VF_RING_PACKED) || is_pow2(size));
}

/* Writes a register that can be written only while the queue is not enabled. */
static void put_queue_setup(struct virtio_dev *d, struct vq *vq, enum reg reg, uint64_t value)
{
    switch (reg) {
    case REG_QUEUE_SIZE:
        if (size_is_known(d, value))
            vq->ring.size = (uint32_t)value;
        break;
    case REG_QUEUE_ENABLE:
        if (value == 1)
            queue_enable(d, vq);
        break;
    case REG_QUEUE_DESC:
        vq->ring.desc = value;
        break;
    case REG_QUEUE_DRIVER:
        vq->ring.avail = value;
        break;
    case REG_QUEUE_DEVICE:
        vq->ring.used = value;
        break;
    default: /* read-only */
        break;
    }
}

static void put_queue(struct virtio_dev *d, enum reg reg, uint64_t value)
{
    struct vq *vq = selected(d);

    if (!vq || !(d->status & VS_FEATURES_OK))
        return;
    if (reg == REG_QUEUE_RESET && value == 1)
        queue_reset(d, vq);
    else if (reg == REG_QUEUE_MSIX_VECTOR)
        vq->vector = checked_vector(d, value); /* also while the queue is enabled */
    else if (!vq->enabled)
        put_queue_setup(d, vq, reg, value);
}

static void put(struct virtio_dev *d, enum reg reg, uint64_t value)
{
    switch (reg) {
    case REG_DEVICE_FEATURE_SELECT:
        d->device_feature_select = (uint32_t)value;
        break;
    case REG_DRIVER_FEATURE_SELECT:
        d->driver_feature_select = (uint32_t)value;
        break;
    case REG_DRIVER_FEATURE:
        put_features(d, (uint32_t)value);
        break;
    case REG_CONFIG_MSIX_VECTOR:
        d->config_vector = checked_vector(d, value);
        break;
    case REG_DEVICE_STATUS:
        put_status(d, (unsigned)value);
        break;
    case REG_QUEUE_SELECT:
        d->queue_select = (uint16_t)value;
        break;
    case REG_DEVICE_FEATURE:
    case REG_NUM_QUEUES:
    case REG_CONFIG_GENERATION:
        break; /* read-only */
    default:
        put_queue(d, reg, value);
    }
}

static void trace_access(const struct virtio_dev *d, bool write, enum reg reg, uint32_t queue,
                         uint64_t value)
{
    struct trace *t = d->sim->trace;

    if (write)
        TRACE(t, reg_write, .host = d->config.host, .function = d->config.function, .reg = reg,
              .queue = queue, .value = value);
    else
        TRACE(t, reg_read, .host = d->config.host, .function = d->config.function, .reg = reg,
              .queue = queue, .value = value);
}

static uint64_t read_common(struct virtio_dev *d, uint32_t offset, uint32_t width)
{
    uint64_t out = 0;

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const struct overlap o =
            overlap_of((uint32_t)places[i].reg, places[i].bytes, offset, width);
        uint64_t part;

        if (o.mask == 0)
            continue;
        part = get(d, places[i].reg) >> o.in_reg & o.mask;
        if (places[i].reg == REG_CONFIG_GENERATION)
            d->config_is_new = false;
        trace_access(d, false, places[i].reg, places[i].of_queue ? d->queue_select : 0, part);
        out |= part << o.in_access;
    }
    return out;
}

static void write_common(struct virtio_dev *d, uint32_t offset, uint32_t width, uint64_t value)
{
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const struct overlap o =
            overlap_of((uint32_t)places[i].reg, places[i].bytes, offset, width);
        const uint64_t part = value >> o.in_access & o.mask;

        if (o.mask == 0)
            continue;
        trace_access(d, true, places[i].reg, places[i].of_queue ? d->queue_select : 0, part);
        put(d, places[i].reg, (get(d, places[i].reg) & ~(o.mask << o.in_reg)) | part << o.in_reg);
    }
}

static uint64_t read_isr(struct virtio_dev *d)
{
    const unsigned isr = d->isr;

    d->isr = 0; /* this also lowers the INTx line */
    trace_access(d, false, REG_ISR, 0, isr);
    return isr;
}

static uint64_t read_device_config(struct virtio_dev *d, uint32_t offset, uint32_t width)
{
    const uint32_t at = offset - BAR_DEVICE;
    uint64_t out = 0;

    for (uint32_t i = 0; i < width && at + i < d->config.config_bytes; i++)
        out |= (uint64_t)d->device_config[at + i] << (8 * i);
    d->config_is_new = false;
    trace_access(d, false, REG_DEVICE_CONFIG, 0, out);
    return out;
}

/* The queue whose notification is at @offset.  Returns false if there is none. */
static bool notified_queue(const struct virtio_dev *d, uint32_t offset, uint32_t *ret)
{
    *ret = (offset - BAR_NOTIFY) / NOTIFY_MULTIPLIER;
    return offset >= BAR_NOTIFY && offset % NOTIFY_MULTIPLIER == 0 && *ret < d->config.num_queues;
}

/* Returns true if kicks of @queue have an effect. */
static bool hears(const struct virtio_dev *d, uint32_t queue)
{
    const struct vq *vq = &d->queues[queue];

    return virtio_is_driven(d) && vq->enabled && vq->broken == VQE_NONE;
}

static void notify(struct virtio_dev *d, uint32_t queue, uint64_t value)
{
    trace_access(d, true, REG_NOTIFY, queue, value);
    if (!hears(d, queue) || (d->is_faulty && virtio_fault_hits(d, FLT_LOST_KICK, queue)))
        return;
    virtio_take_kick(d, queue);
}

void virtio_take_kick(struct virtio_dev *d, uint32_t queue)
{
    if (!hears(d, queue))
        return;
    if (d->bus_master)
        d->ops->notify(d->ctx, queue);
    else
        virtio_hold_kick(d, queue);
}

void virtio_hold_kick(struct virtio_dev *d, uint32_t queue)
{
    d->queues[queue].held_kick = virtio_is_driven(d) && !d->bus_master;
}

void virtio_set_mastering(struct virtio_dev *d, bool on)
{
    d->bus_master = on;
    if (!on)
        return;
    if (d->ops->mastering)
        d->ops->mastering(d->ctx);
    for (uint32_t i = 0; i < d->config.num_queues; i++) {
        struct vq *vq = &d->queues[i];

        if (!vq->held_kick)
            continue;
        vq->held_kick = false;
        virtio_take_kick(d, i);
    }
}

static bool is_width(uint32_t width)
{
    return width <= 8 && is_pow2(width);
}

static bool is_device_config(const struct virtio_dev *d, uint32_t offset)
{
    return offset >= BAR_DEVICE && offset - BAR_DEVICE < d->config.config_bytes;
}

uint32_t virtio_reg_bytes(uint32_t reg)
{
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        if ((uint32_t)places[i].reg == reg)
            return places[i].bytes;
    }
    return reg == REG_ISR ? 1 : reg == REG_DEVICE_CONFIG ? 4 : reg == REG_NOTIFY ? 2 : 0;
}

static uint64_t read_at(struct virtio_dev *d, uint32_t offset, uint32_t width)
{
    uint32_t queue;

    if (offset < REG_COMMON_BYTES)
        return read_common(d, offset, width);
    if (offset == BAR_ISR)
        return read_isr(d);
    if (is_device_config(d, offset))
        return read_device_config(d, offset, width);
    if (notified_queue(d, offset, &queue))
        trace_access(d, false, REG_NOTIFY, queue, 0);
    return 0;
}

uint64_t virtio_read(struct virtio_dev *d, uint32_t offset, uint32_t width)
{
    uint64_t value;

    if (!is_width(width))
        return 0;
    value = read_at(d, offset, width);
    return d->is_faulty ? virtio_false_read(d, offset, width, value) : value;
}

void virtio_write(struct virtio_dev *d, uint32_t offset, uint32_t width, uint64_t value)
{
    uint32_t queue;

    if (!is_width(width))
        return;
    if (width < 8)
        value &= UINT64_MAX >> (64 - 8 * width);
    /* Notifications first, because they are the most frequent. */
    if (notified_queue(d, offset, &queue))
        notify(d, queue, value);
    else if (offset < REG_COMMON_BYTES)
        write_common(d, offset, width, value);
    else if (offset == BAR_ISR)
        trace_access(d, true, REG_ISR, 0, value);
    else if (is_device_config(d, offset))
        trace_access(d, true, REG_DEVICE_CONFIG, 0, value);
}

_Static_assert(VIRTIO_QUEUES_MAX < FN_QUEUES_MAX, "every queue can raise an interrupt");

void virtio_raise(struct virtio_dev *d, uint32_t queue)
{
    RDL_ASSERT(queue < d->config.num_queues);
    if (d->is_faulty && fn_can_raise(&d->fn, d->queues[queue].vector) &&
        virtio_fault_hits(d, FLT_LOST_INTERRUPT, queue))
        return;
    fn_raise(&d->fn, d->queues[queue].vector, queue);
}

static void raise_config(struct virtio_dev *d)
{
    d->isr |= VIRTIO_ISR_CONFIG;
    fn_raise(&d->fn, d->config_vector, VIRTIO_IRQ_CONFIG);
}

void virtio_config_new(struct virtio_dev *d)
{
    if (!d->config_is_new)
        d->config_generation++;
    d->config_is_new = true;
}

void virtio_config_changed(struct virtio_dev *d)
{
    virtio_config_new(d);
    if (d->status & VS_DRIVER_OK)
        raise_config(d);
}

void virtio_queue_broken(struct virtio_dev *d, uint32_t queue)
{
    RDL_ASSERT(queue < d->config.num_queues && d->queues[queue].broken != VQE_NONE);
    TRACE(d->sim->trace, vq_broken, .host = d->config.host, .function = d->config.function,
          .queue = queue, .error = d->queues[queue].broken);
    if (d->status & VS_DEVICE_NEEDS_RESET)
        return;
    d->status |= VS_DEVICE_NEEDS_RESET;
    d->reset_error = d->queues[queue].broken;
    d->reset_queue = queue;
    if (d->status & VS_DRIVER_OK)
        raise_config(d);
}
