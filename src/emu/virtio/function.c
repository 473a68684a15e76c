/* SPDX-License-Identifier: MIT */
/* Configuration space and the accesses of BARs. */
#include "emu/virtio/function.h"

#include "emu/base/assert.h"
#include "emu/base/log2.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/registers.h"
#include "emu/virtio/function_irq.h"
#include "emu/virtio/overlap.h"

#define BAR_BYTES_LEAST 4096u

#define REVISION        1u
#define COMMAND_MASK    (PCI_CMD_MEMORY | PCI_CMD_MASTER | PCI_CMD_INTX_OFF)
#define ALL_ONES(width) ((uint32_t)(UINT64_MAX >> (64 - 8 * (width))))

/* A field of configuration space: a constant, or a register that get() and put() know. */
struct pci_field_place {
    enum pci_field field;
    uint32_t value; /* value of a constant field */
    uint32_t mask;  /* bits that the driver can write */
};

/* The common fields of capability @NAME; @next is the offset of the next capability. */
#define VIRTIO_CAP(NAME, type, len, next, bar, offset)                                             \
    {PCI_##NAME##_CAP, PCI_CAP_ID_VENDOR, 0}, {PCI_##NAME##_NEXT, (next), 0},                      \
        {PCI_##NAME##_LEN, (len), 0}, {PCI_##NAME##_TYPE, (type), 0},                              \
        {PCI_##NAME##_BAR, (bar), 0},                                                              \
    {                                                                                              \
        PCI_##NAME##_OFFSET, (offset), 0                                                           \
    }

static const struct pci_field_place places[] = {
    {PCI_VENDOR_ID, PCI_VENDOR_VIRTIO, 0},
    {PCI_DEVICE_ID, 0, 0},
    {PCI_COMMAND, 0, COMMAND_MASK},
    {PCI_STATUS, 0, 0},
    {PCI_REVISION_ID, REVISION, 0},
    {PCI_CLASS_CODE, 0, 0},
    {PCI_CACHE_LINE_SIZE, 0, 0xff},
    {PCI_HEADER_TYPE, 0, 0},
    {PCI_BAR0, 0, ~PCI_BAR_LOW_BITS}, /* the low bits are 0: memory, 32 bits, not prefetchable */
    {PCI_BAR1, 0, ~PCI_BAR_LOW_BITS},
    {PCI_SUBSYSTEM_VENDOR_ID, PCI_VENDOR_VIRTIO, 0},
    {PCI_SUBSYSTEM_ID, 0, 0},
    {PCI_CAPABILITIES, PCI_COMMON_CAP, 0},
    {PCI_INTERRUPT_LINE, 0, 0xff},
    {PCI_INTERRUPT_PIN, 0, 0},
    VIRTIO_CAP(COMMON, VIRTIO_CAP_COMMON, VIRTIO_CAP_BYTES, PCI_NOTIFY_CAP, FN_BAR_VIRTIO,
               BAR_COMMON),
    {PCI_COMMON_LENGTH, REG_COMMON_BYTES, 0},
    VIRTIO_CAP(NOTIFY, VIRTIO_CAP_NOTIFY, VIRTIO_CAP_BYTES + 4, PCI_ISR_CAP, FN_BAR_VIRTIO,
               BAR_NOTIFY),
    {PCI_NOTIFY_LENGTH, 0, 0},
    {PCI_NOTIFY_MULTIPLIER, NOTIFY_MULTIPLIER, 0},
    VIRTIO_CAP(ISR, VIRTIO_CAP_ISR, VIRTIO_CAP_BYTES, PCI_DEVICE_CAP, FN_BAR_VIRTIO, BAR_ISR),
    {PCI_ISR_LENGTH, 1, 0},
    VIRTIO_CAP(DEVICE, VIRTIO_CAP_DEVICE, VIRTIO_CAP_BYTES, PCI_ACCESS_CAP, FN_BAR_VIRTIO,
               BAR_DEVICE),
    {PCI_DEVICE_LENGTH, 0, 0},
    {PCI_ACCESS_CAP, PCI_CAP_ID_VENDOR, 0},
    {PCI_ACCESS_NEXT, PCI_MSIX_CAP, 0},
    {PCI_ACCESS_LEN, VIRTIO_CAP_BYTES + 4, 0},
    {PCI_ACCESS_TYPE, VIRTIO_CAP_PCI, 0},
    {PCI_ACCESS_BAR, 0, 0xff},
    {PCI_ACCESS_OFFSET, 0, UINT32_MAX},
    {PCI_ACCESS_LENGTH, 0, UINT32_MAX},
    {PCI_ACCESS_DATA, 0, UINT32_MAX},
    {PCI_MSIX_CAP, PCI_CAP_ID_MSIX, 0},
    {PCI_MSIX_NEXT, 0, 0},
    {PCI_MSIX_CONTROL, 0, MSIX_ENABLE | MSIX_FUNCTION_MASK},
    {PCI_MSIX_TABLE, 0, 0},
    {PCI_MSIX_PBA, 0, 0},
};

/* The MSI-X table is in the first half of its BAR, the pending bits are in the second. */
static uint32_t pba_offset(const struct pci_fn *f)
{
    return f->bar_bytes[FN_BAR_MSIX] / 2;
}

static void clear(struct pci_fn *f)
{
    f->command = 0;
    for (uint32_t i = 0; i < FN_BARS; i++)
        f->bar[i] = 0;
    f->interrupt_line = f->cache_line = 0;
    f->window.bar = 0;
    f->window.offset = f->window.length = 0;
    fn_irq_reset(f);
    virtio_set_mastering(f->dev, false);
}

static uint32_t bar_bytes(uint64_t used)
{
    return used < BAR_BYTES_LEAST ? BAR_BYTES_LEAST : (uint32_t)pow2_ceil(used);
}

void fn_init(struct pci_fn *f, struct arena *a, struct virtio_dev *dev,
             const struct fn_config *config)
{
    RDL_ASSERT(config->class_code <= 0xffffffu && config->number <= 1);
    *f = (struct pci_fn){
        .dev = dev,
        .arena = a,
        .config = *config,
        .bar_bytes[FN_BAR_VIRTIO] =
            bar_bytes(BAR_NOTIFY + (uint64_t)dev->config.num_queues * NOTIFY_MULTIPLIER),
        .bar_bytes[FN_BAR_MSIX] = bar_bytes(2 * (uint64_t)dev->config.n_vectors * MSIX_ENTRY_BYTES),
    };
    dev->fn = f;
    clear(f);
}

void fn_forget_pending(struct pci_fn *f)
{
    for (uint32_t i = 0; f->n_pending > 0 && i < f->dev->config.n_vectors; i++)
        f->vectors[i].pending = false;
    f->n_pending = 0;
}

void fn_reset(struct pci_fn *f)
{
    clear(f);
    virtio_reset(f->dev);
}

static uint32_t status_of(const struct pci_fn *f)
{
    const bool interrupts = f->dev->isr != 0 && !f->msix_enabled;

    return PCI_STS_CAP_LIST | (interrupts ? (uint32_t)PCI_STS_INTERRUPT : 0);
}

static uint32_t msix_control_of(const struct pci_fn *f)
{
    return (f->dev->config.n_vectors - 1) | (f->msix_masked ? MSIX_FUNCTION_MASK : 0) |
           (f->msix_enabled ? MSIX_ENABLE : 0);
}

/* Returns true if the window of VIRTIO_CAP_PCI selects valid bytes of a BAR.  [virtio 1.2, 4.1.4.9]
 */
static bool window_is_sound(const struct pci_fn *f)
{
    const uint32_t n = f->window.length;

    return (n == 1 || n == 2 || n == 4) && f->window.offset % n == 0 && f->window.bar < FN_BARS &&
           f->window.offset < f->bar_bytes[f->window.bar];
}

/* The value of a field.  PCI_ACCESS_DATA reads as 0: fn_config_read() handles it. */
static uint32_t get(const struct pci_fn *f, const struct pci_field_place *p)
{
    switch (p->field) {
    case PCI_DEVICE_ID:
        return PCI_DEVICE_BASE + f->config.virtio_id;
    case PCI_COMMAND:
        return f->command;
    case PCI_STATUS:
        return status_of(f);
    case PCI_CLASS_CODE:
        return f->config.class_code;
    case PCI_CACHE_LINE_SIZE:
        return f->cache_line;
    case PCI_HEADER_TYPE:
        return f->config.multifunction ? PCI_HEADER_SEVERAL : 0;
    case PCI_BAR0:
    case PCI_BAR1:
        return f->bar[(p->field - PCI_BAR0) / 4];
    case PCI_SUBSYSTEM_ID:
        return f->config.subsystem;
    case PCI_INTERRUPT_LINE:
        return f->interrupt_line;
    case PCI_INTERRUPT_PIN:
        return f->config.number + 1;
    case PCI_NOTIFY_LENGTH:
        return f->dev->config.num_queues * NOTIFY_MULTIPLIER;
    case PCI_DEVICE_LENGTH:
        return (uint32_t)f->dev->config.config_bytes;
    case PCI_ACCESS_BAR:
        return f->window.bar;
    case PCI_ACCESS_OFFSET:
        return f->window.offset;
    case PCI_ACCESS_LENGTH:
        return f->window.length;
    case PCI_MSIX_CONTROL:
        return msix_control_of(f);
    case PCI_MSIX_TABLE:
        return FN_BAR_MSIX;
    case PCI_MSIX_PBA:
        return pba_offset(f) | FN_BAR_MSIX;
    default:
        return p->value;
    }
}

static void put_command(struct pci_fn *f, uint32_t value)
{
    f->command = (uint16_t)value;
    virtio_set_mastering(f->dev, (value & PCI_CMD_MASTER) != 0);
    fn_irq_settle(f);
}

static void put(struct pci_fn *f, enum pci_field field, uint32_t value)
{
    switch (field) {
    case PCI_COMMAND:
        put_command(f, value);
        break;
    case PCI_CACHE_LINE_SIZE:
        f->cache_line = (uint8_t)value;
        break;
    case PCI_BAR0:
    case PCI_BAR1:
        f->bar[(field - PCI_BAR0) / 4] = value & ~(f->bar_bytes[(field - PCI_BAR0) / 4] - 1);
        break;
    case PCI_INTERRUPT_LINE:
        f->interrupt_line = (uint8_t)value;
        break;
    case PCI_ACCESS_BAR:
        f->window.bar = (uint8_t)value;
        break;
    case PCI_ACCESS_OFFSET:
        f->window.offset = value;
        break;
    case PCI_ACCESS_LENGTH:
        f->window.length = value;
        break;
    case PCI_ACCESS_DATA:
        if (window_is_sound(f))
            fn_bar_write(f, f->window.bar, f->window.offset, f->window.length, value);
        break;
    case PCI_MSIX_CONTROL:
        fn_msix_control(f, (value & MSIX_ENABLE) != 0, (value & MSIX_FUNCTION_MASK) != 0);
        break;
    default:
        RDL_ASSERT(false); /* all other fields are read-only */
    }
}

/* Emits the event of an access.  It names the first field that the access touches, or its offset if
 * it touches none.
 */
static void trace_access(const struct pci_fn *f, bool write, uint32_t offset, uint32_t width,
                         uint32_t value)
{
    const struct virtio_config *c = &f->dev->config;
    struct trace *t = f->dev->sim->trace;
    uint32_t field = offset;

    for (size_t i = ARRAY_LEN(places); i-- > 0;) {
        if (overlap_of((uint32_t)places[i].field, pci_field_bytes(places[i].field), offset, width)
                .mask)
            field = (uint32_t)places[i].field;
    }
    if (write)
        TRACE(t, cfg_write, .host = c->host, .function = c->function, .field = field,
              .offset = offset, .width = width, .value = value);
    else
        TRACE(t, cfg_read, .host = c->host, .function = c->function, .field = field,
              .offset = offset, .width = width, .value = value);
}

static bool is_access(uint32_t offset, uint32_t width)
{
    return (width == 1 || width == 2 || width == 4) && offset % width == 0 &&
           offset < PCI_CONFIG_BYTES;
}

uint32_t fn_config_peek(const struct pci_fn *f, uint32_t offset, uint32_t width)
{
    uint32_t out = 0;

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const struct overlap o =
            overlap_of((uint32_t)places[i].field, pci_field_bytes(places[i].field), offset, width);

        if (o.mask)
            out |= (get(f, &places[i]) >> o.in_reg & (uint32_t)o.mask) << o.in_access;
    }
    return out;
}

uint32_t fn_config_read(struct pci_fn *f, uint32_t offset, uint32_t width)
{
    uint32_t out;

    if (!is_access(offset, width))
        return width >= 1 && width <= 4 ? ALL_ONES(width) : UINT32_MAX;
    if (overlap_of(PCI_ACCESS_DATA, 4, offset, width).mask && window_is_sound(f))
        out = (uint32_t)fn_bar_read(f, f->window.bar, f->window.offset, f->window.length) >>
              8 * (offset - PCI_ACCESS_DATA);
    else
        out = fn_config_peek(f, offset, width);
    out &= ALL_ONES(width);
    trace_access(f, false, offset, width, out);
    return out;
}

void fn_config_write(struct pci_fn *f, uint32_t offset, uint32_t width, uint32_t value)
{
    if (!is_access(offset, width))
        return;
    value &= ALL_ONES(width);
    trace_access(f, true, offset, width, value);
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const struct pci_field_place *p = &places[i];
        const struct overlap o =
            overlap_of((uint32_t)p->field, pci_field_bytes(p->field), offset, width);
        const uint32_t mask = (uint32_t)(o.mask << o.in_reg) & p->mask;

        if (mask)
            put(f, p->field, (get(f, p) & ~mask) | ((value >> o.in_access) << o.in_reg & mask));
    }
}

uint64_t fn_bar_read(struct pci_fn *f, uint32_t bar, uint32_t offset, uint32_t width)
{
    if (bar == FN_BAR_VIRTIO)
        return virtio_read(f->dev, offset, width);
    return bar == FN_BAR_MSIX ? fn_msix_read(f, offset, width) : 0;
}

void fn_bar_write(struct pci_fn *f, uint32_t bar, uint32_t offset, uint32_t width, uint64_t value)
{
    if (bar == FN_BAR_VIRTIO)
        virtio_write(f->dev, offset, width, value);
    else if (bar == FN_BAR_MSIX)
        fn_msix_write(f, offset, width, value);
}
