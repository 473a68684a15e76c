/* SPDX-License-Identifier: MIT */
/* Configuration space and the accesses of BARs. */
#include "emu/pci/function.h"

#include "emu/base/assert.h"
#include "emu/base/log2.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/enum_table.h"
#include "emu/pci/interrupt.h"
#include "emu/pci/overlap.h"
#include "emu/pci/vf.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/registers.h"

#define BAR_BYTES_LEAST 4096u
#define BAR_BYTES_MOST  (1ull << 31)

#define COMMAND_MASK (PCI_CMD_MEMORY | PCI_CMD_MASTER | PCI_CMD_INTX_OFF)

#define INTERRUPT_PINS 4u

/* In an event, instead of the field of an access that touches none: no field has this number. */
#define NO_FIELD 0xffffu

#define BAR_PLACE(i)                                                                               \
    {                                                                                              \
        PCI_BAR0 + 4 * (i), PCI_BAR0 + 4 * (i), 0, ~PCI_BAR_LOW_BITS, false                        \
    }

/* The header, which every function has.  The low bits of a BAR are 0: memory, 32 bits, not
 * prefetchable.
 */
static const struct pci_place header[] = {
    {PCI_VENDOR_ID, PCI_VENDOR_ID, 0, 0, false},
    {PCI_DEVICE_ID, PCI_DEVICE_ID, 0, 0, false},
    {PCI_COMMAND, PCI_COMMAND, 0, COMMAND_MASK, false},
    {PCI_STATUS, PCI_STATUS, 0, 0, false},
    {PCI_REVISION_ID, PCI_REVISION_ID, 0, 0, false},
    {PCI_CLASS_CODE, PCI_CLASS_CODE, 0, 0, false},
    {PCI_CACHE_LINE_SIZE, PCI_CACHE_LINE_SIZE, 0, 0xff, false},
    {PCI_HEADER_TYPE, PCI_HEADER_TYPE, 0, 0, false},
    BAR_PLACE(0),
    BAR_PLACE(1),
    BAR_PLACE(2),
    BAR_PLACE(3),
    BAR_PLACE(4),
    BAR_PLACE(5),
    {PCI_SUBSYSTEM_VENDOR_ID, PCI_SUBSYSTEM_VENDOR_ID, 0, 0, false},
    {PCI_SUBSYSTEM_ID, PCI_SUBSYSTEM_ID, 0, 0, false},
    {PCI_CAPABILITIES, PCI_CAPABILITIES, 0, 0, false},
    {PCI_INTERRUPT_LINE, PCI_INTERRUPT_LINE, 0, 0xff, false},
    {PCI_INTERRUPT_PIN, PCI_INTERRUPT_PIN, 0, 0, false},
};

/* The fields of a function are those of the header, then those of its capabilities. */
static size_t n_places(const struct pci_fn *f)
{
    return ARRAY_LEN(header) + f->config.n_places;
}

static const struct pci_place *place(const struct pci_fn *f, size_t i)
{
    return i < ARRAY_LEN(header) ? &header[i] : &f->config.places[i - ARRAY_LEN(header)];
}

/* The overlap of @p with an access.  A BAR that the function does not have is no field. */
static struct overlap overlap_with(const struct pci_fn *f, const struct pci_place *p,
                                   uint32_t offset, uint32_t width)
{
    if (p->field >= PCI_BAR0 && p->field <= PCI_BAR5 && !f->bar_bytes[(p->field - PCI_BAR0) / 4])
        return (struct overlap){0, 0, 0};
    return overlap_of(p->at, pci_field_bytes(p->field), offset, width);
}

/* The MSI-X table is in the first half of its BAR, the pending bits are in the second. */
uint32_t fn_pba_offset(const struct pci_fn *f)
{
    return f->bar_bytes[f->config.msix_bar] / 2;
}

static void clear(struct pci_fn *f)
{
    f->command = 0;
    for (uint32_t i = 0; i < PCI_BARS; i++)
        f->bar[i] = 0;
    f->interrupt_line = f->cache_line = 0;
    f->express_control = EXPRESS_CONTROL_DEFAULT;
    fn_irq_reset(f);
    if (f->sriov)
        vf_reset_all(f);
}

static uint32_t bar_bytes(uint64_t used)
{
    RDL_ASSERT(used <= BAR_BYTES_MOST);
    return used < BAR_BYTES_LEAST ? BAR_BYTES_LEAST : (uint32_t)pow2_ceil(used);
}

/* The fields of the capabilities are behind the header, in order, and do not overlap. */
static void check_places(const struct fn_config *config)
{
    uint32_t end = PCI_HEADER_BYTES;

    RDL_ASSERT(config->config_bytes == PCI_CONFIG_BYTES ||
               config->config_bytes == PCI_CONFIG_BYTES_EXPRESS);
    RDL_ASSERT(config->n_places > 0);
    for (size_t i = 0; i < config->n_places; i++) {
        RDL_ASSERT(config->places[i].at >= end);
        end = config->places[i].at + pci_field_bytes(config->places[i].field);
    }
    RDL_ASSERT(end <= config->config_bytes);
}

void fn_init(struct pci_fn *f, struct arena *a, struct sim *sim, const struct fn_config *config,
             const struct pci_fn_ops *ops, void *dev)
{
    RDL_ASSERT(config->class_code <= 0xffffffu && config->slot.number < FN_NUMBERS);
    RDL_ASSERT(config->n_vectors >= 1 && config->n_vectors <= FN_VECTORS_MAX);
    check_places(config);
    RDL_ASSERT(config->msix_bar < PCI_BARS && config->bar_bytes[config->msix_bar] == 0);
    *f = (struct pci_fn){.ops = ops, .dev = dev, .arena = a, .sim = sim, .config = *config};
    for (uint32_t i = 0; i < PCI_BARS; i++) {
        if (config->bar_bytes[i])
            f->bar_bytes[i] = bar_bytes(config->bar_bytes[i]);
    }
    f->bar_bytes[config->msix_bar] = bar_bytes(2 * (uint64_t)config->n_vectors * MSIX_ENTRY_BYTES);
    clear(f);
}

void fn_forget_pending(struct pci_fn *f)
{
    for (uint32_t i = 0; f->n_pending > 0 && i < f->config.n_vectors; i++)
        f->vectors[i].pending = false;
    f->n_pending = 0;
}

void fn_reset(struct pci_fn *f)
{
    clear(f);
    f->ops->mastering(f->dev, false);
    f->ops->reset(f->dev);
}

static uint32_t status_of(const struct pci_fn *f)
{
    const bool interrupts = !f->msix_enabled && f->ops->has_reason(f->dev);

    return PCI_STS_CAP_LIST | (interrupts ? (uint32_t)PCI_STS_INTERRUPT : 0);
}

uint32_t fn_msix_control_of(const struct pci_fn *f)
{
    return (f->config.n_vectors - 1) | (f->msix_masked ? MSIX_FUNCTION_MASK : 0) |
           (f->msix_enabled ? MSIX_ENABLE : 0);
}

/* The value of a field that is not the device's own. */
static uint32_t get_ours(const struct pci_fn *f, const struct pci_place *p)
{
    const struct fn_config *c = &f->config;

    if (f->sriov && sriov_has(p->field))
        return sriov_get(f->sriov, p->field);
    switch (p->field) {
    case PCI_VENDOR_ID:
        return c->vendor;
    case PCI_DEVICE_ID:
        return c->device;
    case PCI_COMMAND:
        return f->command;
    case PCI_STATUS:
        return status_of(f);
    case PCI_REVISION_ID:
        return c->revision;
    case PCI_CLASS_CODE:
        return c->class_code;
    case PCI_CACHE_LINE_SIZE:
        return f->cache_line;
    case PCI_HEADER_TYPE:
        return c->slot.multifunction ? PCI_HEADER_SEVERAL : 0;
    case PCI_BAR0:
    case PCI_BAR1:
    case PCI_BAR2:
    case PCI_BAR3:
    case PCI_BAR4:
    case PCI_BAR5:
        return f->bar[(p->field - PCI_BAR0) / 4];
    case PCI_SUBSYSTEM_VENDOR_ID:
        return c->subsystem_vendor;
    case PCI_SUBSYSTEM_ID:
        return c->subsystem;
    case PCI_CAPABILITIES:
        return c->places[0].at;
    case PCI_INTERRUPT_LINE:
        return f->interrupt_line;
    case PCI_INTERRUPT_PIN:
        return c->slot.number % INTERRUPT_PINS + 1;
    case PCI_MSIX_CONTROL:
        return fn_msix_control_of(f);
    case PCI_MSIX_TABLE:
        return c->msix_bar;
    case PCI_MSIX_PBA:
        return fn_pba_offset(f) | c->msix_bar;
    case PCI_EXPRESS_CONTROL:
        return f->express_control;
    default:
        return p->value;
    }
}

static uint32_t get(const struct pci_fn *f, const struct pci_place *p)
{
    return p->own ? f->ops->get(f->dev, p->field) : get_ours(f, p);
}

bool fn_is_master(const struct pci_fn *f)
{
    return (f->command & PCI_CMD_MASTER) != 0;
}

static void put_command(struct pci_fn *f, uint32_t value)
{
    const bool was_master = fn_is_master(f);

    f->command = (uint16_t)value;
    if (fn_is_master(f) != was_master)
        f->ops->mastering(f->dev, fn_is_master(f));
    fn_irq_settle(f);
}

void fn_set_master(struct pci_fn *f, bool on)
{
    put_command(f, (f->command & ~(uint32_t)PCI_CMD_MASTER) | (on ? (uint32_t)PCI_CMD_MASTER : 0));
}

/* A function-level reset keeps the size of payloads, on which both sides of the bus have agreed.
 * [PCI Express 5.0, 6.6.2]
 */
static void put_express_control(struct pci_fn *f, uint32_t value)
{
    f->express_control = (uint16_t)(value & EXPRESS_CONTROL_MASK);
    if (value & EXPRESS_CONTROL_RESET) {
        fn_reset(f);
        f->express_control = (uint16_t)((f->express_control & ~EXPRESS_CONTROL_PAYLOAD) |
                                        (value & EXPRESS_CONTROL_PAYLOAD));
    }
}

static void put(struct pci_fn *f, uint32_t field, uint32_t value)
{
    if (f->sriov && sriov_has(field)) {
        vf_put_sriov(f, field, value);
        return;
    }
    switch (field) {
    case PCI_COMMAND:
        put_command(f, value);
        break;
    case PCI_CACHE_LINE_SIZE:
        f->cache_line = (uint8_t)value;
        break;
    case PCI_BAR0:
    case PCI_BAR1:
    case PCI_BAR2:
    case PCI_BAR3:
    case PCI_BAR4:
    case PCI_BAR5:
        f->bar[(field - PCI_BAR0) / 4] = value & ~(f->bar_bytes[(field - PCI_BAR0) / 4] - 1);
        break;
    case PCI_INTERRUPT_LINE:
        f->interrupt_line = (uint8_t)value;
        break;
    case PCI_MSIX_CONTROL:
        fn_msix_control(f, (value & MSIX_ENABLE) != 0, (value & MSIX_FUNCTION_MASK) != 0);
        break;
    case PCI_EXPRESS_CONTROL:
        put_express_control(f, value);
        break;
    default:
        RDL_ASSERT(false); /* all other fields are read-only */
    }
}

/* Emits the event of an access.  It names the first field that the access touches.  If it touches
 * none it has the offset instead, or NO_FIELD where that is the number of a field.
 */
static void trace_access(const struct pci_fn *f, bool write, uint32_t offset, uint32_t width,
                         uint32_t value)
{
    const struct fn_config *c = &f->config;
    struct trace *t = f->sim->trace;
    uint32_t field = offset;

    if (offset >= PCI_HEADER_BYTES && enum_by_value(&enum_pci_field, offset))
        field = NO_FIELD;
    for (size_t i = n_places(f); i-- > 0;) {
        if (overlap_with(f, place(f, i), offset, width).mask)
            field = (uint32_t)place(f, i)->field;
    }
    if (write)
        TRACE(t, cfg_write, .host = c->host, .function = c->function, .field = field,
              .offset = offset, .width = width, .value = value);
    else
        TRACE(t, cfg_read, .host = c->host, .function = c->function, .field = field,
              .offset = offset, .width = width, .value = value);
}

/* @value, that of @p, at its place in an access that overlaps it by @o. */
static uint32_t part(uint32_t value, struct overlap o)
{
    return (value >> o.in_reg & (uint32_t)o.mask) << o.in_access;
}

uint32_t fn_config_peek(const struct pci_fn *f, uint32_t offset, uint32_t width)
{
    uint32_t out = 0;

    for (size_t i = 0; i < n_places(f); i++) {
        const struct overlap o = overlap_with(f, place(f, i), offset, width);

        if (o.mask)
            out |= part(get(f, place(f, i)), o);
    }
    return out;
}

uint32_t fn_config_read(struct pci_fn *f, uint32_t offset, uint32_t width)
{
    uint32_t out = 0;

    if (!is_config_access(f->config.config_bytes, offset, width))
        return all_ones(width);
    for (size_t i = 0; i < n_places(f); i++) {
        const struct pci_place *p = place(f, i);
        const struct overlap o = overlap_with(f, p, offset, width);

        if (o.mask)
            out |= part(p->own ? f->ops->read(f->dev, p->field) : get_ours(f, p), o);
    }
    trace_access(f, false, offset, width, out);
    return out;
}

void fn_config_write(struct pci_fn *f, uint32_t offset, uint32_t width, uint32_t value)
{
    if (!is_config_access(f->config.config_bytes, offset, width))
        return;
    value &= all_ones(width);
    trace_access(f, true, offset, width, value);
    for (size_t i = 0; i < n_places(f); i++) {
        const struct pci_place *p = place(f, i);
        const struct overlap o = overlap_with(f, p, offset, width);
        const uint32_t mask = (uint32_t)(o.mask << o.in_reg) & p->mask;
        uint32_t all;

        if (!mask)
            continue;
        all = (get(f, p) & ~mask) | ((value >> o.in_access) << o.in_reg & mask);
        if (p->own)
            f->ops->put(f->dev, p->field, all);
        else
            put(f, p->field, all);
    }
}

bool fn_find_field(const struct pci_fn *f, uint32_t field, uint32_t *ret_offset)
{
    if (field < PCI_HEADER_BYTES) {
        *ret_offset = field; /* in the header, fields are numbered by their offsets */
        return true;
    }
    for (size_t i = 0; i < f->config.n_places; i++) {
        if (f->config.places[i].field != field)
            continue;
        *ret_offset = f->config.places[i].at;
        return true;
    }
    return false;
}

uint32_t fn_field_bytes(const struct pci_fn *f, uint32_t offset)
{
    if (offset < PCI_HEADER_BYTES)
        return pci_field_bytes(offset);
    for (size_t i = 0; i < f->config.n_places; i++) {
        if (f->config.places[i].at == offset)
            return pci_field_bytes(f->config.places[i].field);
    }
    return 1;
}

uint32_t fn_reg_bytes(const struct pci_fn *f, uint32_t bar, uint32_t offset)
{
    return bar == f->config.msix_bar || !f->ops->reg_bytes ? 4 : f->ops->reg_bytes(bar, offset);
}

uint64_t fn_bar_read(struct pci_fn *f, uint32_t bar, uint32_t offset, uint32_t width)
{
    if (bar == f->config.msix_bar)
        return fn_msix_read(f, offset, width);
    return bar < PCI_BARS && f->bar_bytes[bar] ? f->ops->bar_read(f->dev, bar, offset, width) : 0;
}

void fn_bar_write(struct pci_fn *f, uint32_t bar, uint32_t offset, uint32_t width, uint64_t value)
{
    if (bar == f->config.msix_bar)
        fn_msix_write(f, offset, width, value);
    else if (bar < PCI_BARS && f->bar_bytes[bar])
        f->ops->bar_write(f->dev, bar, offset, width, value);
}

bool fn_decode(const struct pci_fn *f, uint64_t gpa, uint32_t *ret_bar, uint32_t *ret_offset)
{
    if (!(f->command & PCI_CMD_MEMORY))
        return false;
    for (uint32_t i = 0; i < PCI_BARS; i++) {
        const uint64_t at = gpa - f->bar[i];

        if (gpa >= f->bar[i] && at < f->bar_bytes[i] && f->bar[i] != 0) {
            *ret_bar = i;
            *ret_offset = (uint32_t)at;
            return true;
        }
    }
    return false;
}

void fn_ring_doorbell(const struct pci_fn *f, uint32_t queue, uint64_t delay_ns)
{
    sim_enqueue(f->sim, sim_now(f->sim) + delay_ns, SIM_DOORBELL, f->config.host,
                fn_queue_arg(f, queue));
}
