/* SPDX-License-Identifier: MIT */
#include "emu/pci/vf.h"

#include "emu/base/assert.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/pci/interrupt.h"
#include "emu/pci/overlap.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/registers.h"

#define AT_EXPRESS PCI_HEADER_BYTES
#define AT_MSIX    (AT_EXPRESS + EXPRESS_CAP_BYTES)

/* In an event, the field of an access that touches none.  In the header each offset is one. */
#define NO_FIELD 0xffffu

/* The fields of a VF.  In its Device Control only the bit that resets can be written: the others
 * are the PF's.  [PCI Express 5.0, 9.3.5.4]
 */
static const struct pci_place places[] = {
    {PCI_VENDOR_ID, PCI_VENDOR_ID, PCI_NO_VENDOR, 0, false},
    {PCI_DEVICE_ID, PCI_DEVICE_ID, PCI_NO_VENDOR, 0, false},
    {PCI_COMMAND, PCI_COMMAND, 0, PCI_CMD_MASTER, false},
    {PCI_STATUS, PCI_STATUS, PCI_STS_CAP_LIST, 0, false},
    {PCI_REVISION_ID, PCI_REVISION_ID, 0, 0, false},
    {PCI_CLASS_CODE, PCI_CLASS_CODE, 0, 0, false},
    {PCI_SUBSYSTEM_VENDOR_ID, PCI_SUBSYSTEM_VENDOR_ID, 0, 0, false},
    {PCI_SUBSYSTEM_ID, PCI_SUBSYSTEM_ID, 0, 0, false},
    {PCI_CAPABILITIES, PCI_CAPABILITIES, AT_EXPRESS, 0, false},
    FN_PLACES_EXPRESS(AT_EXPRESS, AT_MSIX),
    FN_PLACES_MSIX(AT_MSIX, 0),
};

bool vf_init(struct pci_fn *f, uint32_t total_vfs, uint16_t vf_device)
{
    struct sriov *s = arena_alloc(f->arena, sizeof(*s));

    RDL_ASSERT(total_vfs >= 1 && total_vfs <= SRIOV_VFS_MAX);
    if (!s)
        return false;
    s->config = (struct sriov_config){
        .total_vfs = total_vfs, .number = f->config.slot.number, .vf_device = vf_device};
    for (uint32_t i = 0; i < PCI_BARS; i++)
        s->config.bar_bytes[i] = f->bar_bytes[i];
    s->vfs = arena_alloc(f->arena, total_vfs * sizeof(*s->vfs));
    sriov_reset(s);
    f->sriov = s;
    return s->vfs != NULL;
}

void vf_attach(struct pci_fn *f, uint32_t vf, struct pci_fn *device)
{
    RDL_ASSERT(vf < f->sriov->config.total_vfs);
    f->sriov->vfs[vf].device = device;
}

/* Resets a VF: its device, or the state that stands for one. */
static void reset(struct sriov_vf *v)
{
    struct pci_fn *device = v->device;

    *v = (struct sriov_vf){.device = device};
    if (device)
        fn_reset(device);
}

/* Tells the adapter that the @n VFs from @first on were reset. */
static void changed(const struct pci_fn *f, uint32_t first, uint32_t n)
{
    const struct sriov *s = f->sriov;

    if (s->changed)
        s->changed(s->ctx, f->config.host, first, n);
}

/* Completes a change of the capability.  Before it there were @before VFs. */
static void settle(struct pci_fn *f, uint32_t before)
{
    const uint32_t now = sriov_count(f->sriov);
    struct trace *t = f->sim->trace;
    ev_id id, old;

    if (now == before)
        return;
    for (uint32_t i = 0; i < before; i++)
        reset(&f->sriov->vfs[i]);
    TRACE_ID(t, id, vfs, .host = f->config.host, .vfs = now);
    old = trace_because(t, id);
    changed(f, 0, before);
    trace_because(t, old);
}

void vf_reset_all(struct pci_fn *f)
{
    const uint32_t before = sriov_count(f->sriov);

    sriov_reset(f->sriov);
    settle(f, before);
}

void vf_put_sriov(struct pci_fn *f, uint32_t field, uint32_t value)
{
    const uint32_t before = sriov_count(f->sriov);

    sriov_put(f->sriov, field, value);
    settle(f, before);
}

bool vf_is_master(const struct pci_fn *f, uint32_t vf)
{
    const struct sriov_vf *v = &f->sriov->vfs[vf];

    return v->device ? fn_is_master(v->device) : v->master;
}

uint32_t vf_msix_control(const struct pci_fn *f, uint32_t vf)
{
    const struct sriov_vf *v = &f->sriov->vfs[vf];

    if (v->device)
        return fn_msix_control_of(v->device);
    return (f->config.n_vectors - 1) | (v->msix_masked ? MSIX_FUNCTION_MASK : 0) |
           (v->msix_enabled ? MSIX_ENABLE : 0);
}

/* The fields that are not constant.  The MSI-X structures of a VF with a guest are in the BAR where
 * the guest's device has them: a guest may have a device of another type than its machine.
 */
static uint32_t get(const struct pci_fn *f, uint32_t vf, const struct pci_place *p)
{
    const struct sriov_vf *v = &f->sriov->vfs[vf];
    const struct pci_fn *device = v->device ? v->device : f;

    switch (p->field) {
    case PCI_COMMAND:
        return vf_is_master(f, vf) ? PCI_CMD_MASTER : 0;
    case PCI_REVISION_ID:
        return f->config.revision;
    case PCI_CLASS_CODE:
        return f->config.class_code;
    case PCI_SUBSYSTEM_VENDOR_ID:
        return f->config.subsystem_vendor;
    case PCI_SUBSYSTEM_ID:
        return f->config.subsystem;
    case PCI_MSIX_CONTROL:
        return vf_msix_control(f, vf);
    case PCI_MSIX_TABLE:
        return device->config.msix_bar;
    case PCI_MSIX_PBA:
        return fn_pba_offset(device) | device->config.msix_bar;
    default:
        return p->value;
    }
}

static void put_msix_control(struct sriov_vf *v, uint32_t value)
{
    const bool enabled = (value & MSIX_ENABLE) != 0, masked = (value & MSIX_FUNCTION_MASK) != 0;

    if (v->device) {
        fn_msix_control(v->device, enabled, masked);
        return;
    }
    v->msix_enabled = enabled;
    v->msix_masked = masked;
}

static void put(const struct pci_fn *f, uint32_t vf, uint32_t field, uint32_t value)
{
    struct sriov_vf *v = &f->sriov->vfs[vf];

    switch (field) {
    case PCI_COMMAND:
        if (v->device)
            fn_set_master(v->device, (value & PCI_CMD_MASTER) != 0);
        else
            v->master = (value & PCI_CMD_MASTER) != 0;
        break;
    case PCI_MSIX_CONTROL:
        put_msix_control(v, value);
        break;
    default: /* Device Control: the only other field with bits that can be written */
        RDL_ASSERT(field == PCI_EXPRESS_CONTROL);
        if (value & EXPRESS_CONTROL_RESET) {
            reset(v);
            changed(f, vf, 1);
        }
    }
}

static struct overlap overlap_with(const struct pci_place *p, uint32_t offset, uint32_t width)
{
    return overlap_of(p->at, pci_field_bytes(p->field), offset, width);
}

static uint32_t field_at(uint32_t offset, uint32_t width)
{
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        if (overlap_with(&places[i], offset, width).mask)
            return places[i].field;
    }
    return offset < PCI_HEADER_BYTES ? offset : NO_FIELD;
}

uint32_t vf_config_peek(const struct pci_fn *f, uint32_t vf, uint32_t offset, uint32_t width)
{
    uint32_t out = 0;

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const struct overlap o = overlap_with(&places[i], offset, width);

        if (o.mask)
            out |= (get(f, vf, &places[i]) >> o.in_reg & (uint32_t)o.mask) << o.in_access;
    }
    return out;
}

uint32_t vf_config_read(struct pci_fn *f, uint32_t vf, uint32_t offset, uint32_t width)
{
    uint32_t out;

    if (!is_config_access(PCI_CONFIG_BYTES_EXPRESS, offset, width))
        return all_ones(width);
    out = vf_config_peek(f, vf, offset, width);
    TRACE(f->sim->trace, vf_read, .host = f->config.host, .vf = vf,
          .field = field_at(offset, width), .offset = offset, .width = width, .value = out);
    return out;
}

void vf_config_write(struct pci_fn *f, uint32_t vf, uint32_t offset, uint32_t width, uint32_t value)
{
    if (!is_config_access(PCI_CONFIG_BYTES_EXPRESS, offset, width))
        return;
    value &= all_ones(width);
    TRACE(f->sim->trace, vf_write, .host = f->config.host, .vf = vf,
          .field = field_at(offset, width), .offset = offset, .width = width, .value = value);
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const struct pci_place *p = &places[i];
        const struct overlap o = overlap_with(p, offset, width);
        const uint32_t given = (uint32_t)(o.mask << o.in_reg) & p->mask;

        if (given)
            put(f, vf, p->field,
                (get(f, vf, p) & ~given) | ((value >> o.in_access) << o.in_reg & given));
    }
}

bool vf_find_field(uint32_t field, uint32_t *ret_offset)
{
    if (field < PCI_HEADER_BYTES) {
        *ret_offset = field;
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        if (places[i].field != field)
            continue;
        *ret_offset = places[i].at;
        return true;
    }
    return false;
}

uint32_t vf_field_bytes(uint32_t offset)
{
    if (offset < PCI_HEADER_BYTES)
        return pci_field_bytes(offset);
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        if (places[i].at == offset)
            return pci_field_bytes(places[i].field);
    }
    return 1;
}
