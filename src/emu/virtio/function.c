/* SPDX-License-Identifier: MIT */
#include "emu/virtio/function.h"

#include "emu/base/assert.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/pci/vf.h"

#define REVISION 1u /* no legacy interface [virtio 1.2, 4.1.2.1] */

/* Device and subsystem IDs minus the virtio device ID.  [virtio 1.2, 4.1.2] */
#define SUBSYSTEM_BASE 0x40u

#define AT_EXPRESS (PCI_AT_MSIX + 0xcu) /* behind MSI-X */

/* A constant, a field that cannot be written, and a register of the capability @NAME. */
#define SAYS(NAME, FIELD, value)                                                                   \
    {                                                                                              \
        PCI_##NAME##_##FIELD, PCI_##NAME##_##FIELD, (value), 0, false                              \
    }
#define DEPENDS(NAME, FIELD)                                                                       \
    {                                                                                              \
        PCI_##NAME##_##FIELD, PCI_##NAME##_##FIELD, 0, 0, true                                     \
    }
#define REGISTER(NAME, FIELD, mask)                                                                \
    {                                                                                              \
        PCI_##NAME##_##FIELD, PCI_##NAME##_##FIELD, 0, (mask), true                                \
    }

/* The first fields of capability @NAME; @next is the offset of the next capability. */
#define CAP(NAME, type, len, next)                                                                 \
    SAYS(NAME, CAP, PCI_CAP_ID_VENDOR), SAYS(NAME, NEXT, next), SAYS(NAME, LEN, len),              \
        SAYS(NAME, TYPE, type)

/* The capabilities of every virtio function. */
#define PLACES_VIRTIO                                                                              \
    CAP(COMMON, VIRTIO_CAP_COMMON, VIRTIO_CAP_BYTES, PCI_NOTIFY_CAP),                              \
        SAYS(COMMON, BAR, VIRTIO_BAR), SAYS(COMMON, OFFSET, BAR_COMMON),                           \
        SAYS(COMMON, LENGTH, REG_COMMON_BYTES),                                                    \
        CAP(NOTIFY, VIRTIO_CAP_NOTIFY, VIRTIO_CAP_BYTES + 4, PCI_ISR_CAP),                         \
        SAYS(NOTIFY, BAR, VIRTIO_BAR), SAYS(NOTIFY, OFFSET, BAR_NOTIFY), DEPENDS(NOTIFY, LENGTH),  \
        SAYS(NOTIFY, MULTIPLIER, NOTIFY_MULTIPLIER),                                               \
        CAP(ISR, VIRTIO_CAP_ISR, VIRTIO_CAP_BYTES, PCI_DEVICE_CAP), SAYS(ISR, BAR, VIRTIO_BAR),    \
        SAYS(ISR, OFFSET, BAR_ISR), SAYS(ISR, LENGTH, 1),                                          \
        CAP(DEVICE, VIRTIO_CAP_DEVICE, VIRTIO_CAP_BYTES, PCI_ACCESS_CAP),                          \
        SAYS(DEVICE, BAR, VIRTIO_BAR), SAYS(DEVICE, OFFSET, BAR_DEVICE), DEPENDS(DEVICE, LENGTH),  \
        CAP(ACCESS, VIRTIO_CAP_PCI, VIRTIO_CAP_BYTES + 4, PCI_MSIX_CAP),                           \
        REGISTER(ACCESS, BAR, 0xff), REGISTER(ACCESS, OFFSET, UINT32_MAX),                         \
        REGISTER(ACCESS, LENGTH, UINT32_MAX), REGISTER(ACCESS, DATA, UINT32_MAX)

static const struct pci_place places[] = {
    PLACES_VIRTIO,
    FN_PLACES_MSIX(PCI_AT_MSIX, 0),
};

/* Those of a function that can have virtual functions. */
static const struct pci_place places_sriov[] = {
    PLACES_VIRTIO,
    FN_PLACES_MSIX(PCI_AT_MSIX, AT_EXPRESS),
    FN_PLACES_EXPRESS(AT_EXPRESS, 0),
    FN_PLACES_SRIOV(PCI_EXT_FIRST),
};

/* Returns true if the window of VIRTIO_CAP_PCI selects valid bytes of a BAR.  [virtio 1.2, 4.1.4.9]
 */
static bool window_is_sound(const struct virtio_dev *d)
{
    const uint32_t n = d->window.length;

    return (n == 1 || n == 2 || n == 4) && d->window.offset % n == 0 && d->window.bar < PCI_BARS &&
           d->window.offset < d->fn.bar_bytes[d->window.bar];
}

static uint32_t get(const void *dev, uint32_t field)
{
    const struct virtio_dev *d = dev;

    switch (field) {
    case PCI_NOTIFY_LENGTH:
        return d->config.num_queues * NOTIFY_MULTIPLIER;
    case PCI_DEVICE_LENGTH:
        return (uint32_t)d->config.config_bytes;
    case PCI_ACCESS_BAR:
        return d->window.bar;
    case PCI_ACCESS_OFFSET:
        return d->window.offset;
    case PCI_ACCESS_LENGTH:
        return d->window.length;
    default: /* ACCESS_DATA: only an access reads the BAR */
        return 0;
    }
}

static uint32_t read_field(void *dev, uint32_t field)
{
    struct virtio_dev *d = dev;

    if (field != PCI_ACCESS_DATA || !window_is_sound(d))
        return get(d, field);
    return (uint32_t)fn_bar_read(&d->fn, d->window.bar, d->window.offset, d->window.length);
}

static void put(void *dev, uint32_t field, uint32_t value)
{
    struct virtio_dev *d = dev;

    switch (field) {
    case PCI_ACCESS_BAR:
        d->window.bar = (uint8_t)value;
        break;
    case PCI_ACCESS_OFFSET:
        d->window.offset = value;
        break;
    case PCI_ACCESS_LENGTH:
        d->window.length = value;
        break;
    case PCI_ACCESS_DATA:
        if (window_is_sound(d))
            fn_bar_write(&d->fn, d->window.bar, d->window.offset, d->window.length, value);
        break;
    default:
        RDL_ASSERT(false); /* all other fields are read-only */
    }
}

/* VIRTIO_BAR is the only BAR that is not of MSI-X. */
static uint64_t bar_read(void *dev, uint32_t bar, uint32_t offset, uint32_t width)
{
    (void)bar;
    return virtio_read(dev, offset, width);
}

static void bar_write(void *dev, uint32_t bar, uint32_t offset, uint32_t width, uint64_t value)
{
    (void)bar;
    virtio_write(dev, offset, width, value);
}

static uint32_t reg_bytes(uint32_t bar, uint32_t offset)
{
    (void)bar;
    return virtio_reg_bytes(offset);
}

static void mastering(void *dev, bool on)
{
    virtio_set_mastering(dev, on);
}

static void reset(void *dev)
{
    struct virtio_dev *d = dev;

    d->window = (struct virtio_window){0};
    virtio_reset(d);
}

static void interrupt(void *dev, uint32_t queue)
{
    struct virtio_dev *d = dev;

    d->isr |= queue == VIRTIO_IRQ_CONFIG ? VIRTIO_ISR_CONFIG : VIRTIO_ISR_QUEUE;
}

static bool has_reason(const void *dev)
{
    const struct virtio_dev *d = dev;

    return d->isr != 0;
}

static void doorbell(void *dev, uint32_t queue)
{
    const struct virtio_dev *d = dev;

    d->ops->doorbell(d->ctx, queue);
}

static const struct pci_fn_ops ops = {
    .bar_read = bar_read,
    .bar_write = bar_write,
    .reg_bytes = reg_bytes,
    .get = get,
    .read = read_field,
    .put = put,
    .mastering = mastering,
    .reset = reset,
    .interrupt = interrupt,
    .has_reason = has_reason,
    .doorbell = doorbell,
};

bool virtio_fn_init(struct virtio_dev *d, struct arena *a)
{
    const struct virtio_config *c = &d->config;
    const bool has_vfs = c->total_vfs > 0;
    const struct fn_config fn = {
        .host = c->host,
        .function = c->function,
        .slot = c->slot,
        .vendor = PCI_VENDOR_VIRTIO,
        .device = (uint16_t)(PCI_DEVICE_BASE + c->virtio_id),
        .subsystem_vendor = PCI_VENDOR_VIRTIO,
        .subsystem = (uint16_t)(SUBSYSTEM_BASE + c->virtio_id),
        .revision = REVISION,
        .class_code = c->class_code,
        .config_bytes = has_vfs ? PCI_CONFIG_BYTES_EXPRESS : PCI_CONFIG_BYTES,
        .bar_bytes[VIRTIO_BAR] = BAR_NOTIFY + c->num_queues * NOTIFY_MULTIPLIER,
        .msix_bar = VIRTIO_BAR_MSIX,
        .n_vectors = c->n_vectors,
        .places = has_vfs ? places_sriov : places,
        .n_places = has_vfs ? ARRAY_LEN(places_sriov) : ARRAY_LEN(places),
    };

    fn_init(&d->fn, a, d->sim, &fn, &ops, d);
    return !has_vfs || vf_init(&d->fn, c->total_vfs, fn.device);
}
