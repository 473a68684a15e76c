/* SPDX-License-Identifier: MIT */
/* Direct access to a host's RAM and registers for users and scripts.
 *
 * Both belong to the drivers of the guest.  After someone else writes to them, the invariants of
 * the host's rings are no longer checked.
 */
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/lab/bus.h"
#include "emu/lab/machine.h"
#include "emu/pci/vf.h"
#include "rdmalab/pci.h"

enum rdl_status rdl_ram_read(const struct rdl_lab *lab, rdl_host host, uint64_t gpa, void *out,
                             size_t bytes)
{
    const struct host *h = lab_host(lab->state, host.raw);

    if (!h)
        return RDL_ERR_STALE;
    return ram_read(&h->ram, gpa, out, bytes) ? RDL_OK : RDL_ERR_FAULT;
}

enum rdl_status rdl_ram_write(struct rdl_lab *lab, rdl_host host, uint64_t gpa, const void *in,
                              size_t bytes)
{
    struct host *h = lab_host(lab->state, host.raw);

    if (!h)
        return RDL_ERR_STALE;
    h->has_stranger = true;
    return ram_write(&h->ram, gpa, in, bytes) ? RDL_OK : RDL_ERR_FAULT;
}

static bool is_width(uint32_t width)
{
    return width == 1 || width == 2 || width == 4 || width == 8;
}

/* A function of a slot: @fn itself, or virtual function @vf of it. */
struct slot_target {
    struct pci_fn *fn;
    bool is_vf;
    uint32_t vf;
};

/* Finds function @number of the slot.  Returns false if there is none. */
static bool find_target(struct host *h, uint32_t number, struct slot_target *ret)
{
    *ret = (struct slot_target){.fn = host_function(h, number)};
    if (!ret->fn)
        ret->is_vf = host_vf(h, number, &ret->fn, &ret->vf);
    return ret->fn != NULL;
}

/* Reads at a valid place of @t. */
static uint64_t get(struct host *h, const struct slot_target *t, const struct rdl_pci_place *p)
{
    if (p->space == RDL_PCI_CONFIG)
        return host_bus.config_read(h, p->number, p->offset, p->width);
    return host_bus.read(h, t->fn->bar[p->space - RDL_PCI_BAR0] + (uint64_t)p->offset, p->width);
}

static void put(struct host *h, const struct slot_target *t, const struct rdl_pci_place *p,
                uint64_t value)
{
    if (p->space == RDL_PCI_CONFIG)
        host_bus.config_write(h, p->number, p->offset, p->width, (uint32_t)value);
    else
        host_bus.write(h, t->fn->bar[p->space - RDL_PCI_BAR0] + (uint64_t)p->offset, p->width,
                       value);
}

/* The width in bytes of the register or field at @p. */
static uint32_t natural_width(const struct slot_target *t, const struct rdl_pci_place *p)
{
    if (p->space != RDL_PCI_CONFIG)
        return fn_reg_bytes(t->fn, p->space - RDL_PCI_BAR0, p->offset);
    return t->is_vf ? vf_field_bytes(p->offset) : fn_field_bytes(t->fn, p->offset);
}

/* A virtual function has PCI Express, and no BARs of its own. */
static bool is_in_space(const struct slot_target *t, const struct rdl_pci_place *p)
{
    if (p->space == RDL_PCI_CONFIG)
        return p->offset < (t->is_vf ? PCI_CONFIG_BYTES_EXPRESS : t->fn->config.config_bytes);
    return !t->is_vf && p->offset < t->fn->bar_bytes[p->space - RDL_PCI_BAR0];
}

/* Finds the function at @place.  Returns false if the place cannot be accessed.  Fills in the width
 * if it is 0.
 */
static bool find_place(struct host *h, struct rdl_pci_place *place, struct slot_target *ret)
{
    if (!find_target(h, place->number, ret) || (uint32_t)place->space > RDL_PCI_BAR5 ||
        !is_in_space(ret, place))
        return false;
    if (place->width == 0)
        place->width = natural_width(ret, place);
    return is_width(place->width) && (place->space != RDL_PCI_CONFIG ||
                                      (place->width != 8 && place->offset % place->width == 0));
}

/* Returns true for a class code without a width: its 3 bytes are no valid access width. */
static bool is_class(const struct rdl_pci_place *p)
{
    return p->space == RDL_PCI_CONFIG && p->offset == PCI_CLASS_CODE && p->width == 0;
}

/* The same for a read.  A class code is read together with the revision before it; the lowest
 * *@ret_shift bits of the value read must be dropped.
 */
static bool find_to_read(struct host *h, struct rdl_pci_place *place, struct slot_target *ret,
                         unsigned *ret_shift)
{
    *ret_shift = 0;
    if (is_class(place)) {
        place->offset = PCI_REVISION_ID;
        place->width = 4;
        *ret_shift = 8;
    }
    return find_place(h, place, ret);
}

enum rdl_status rdl_pci_read(struct rdl_lab *lab, rdl_host host, const struct rdl_pci_place *place,
                             uint64_t *ret)
{
    struct host *h = lab_host(lab->state, host.raw);
    struct rdl_pci_place at = *place;
    struct slot_target t;
    unsigned shift;

    if (!h)
        return RDL_ERR_STALE;
    if (!find_to_read(h, &at, &t, &shift))
        return RDL_ERR_INVAL;
    lab_act(lab->state);
    *ret = get(h, &t, &at) >> shift;
    lab_done(lab->state);
    return RDL_OK;
}

/* Marks the hosts whose functions are the VFs of @f: a write to @f may have changed them. */
static void disturb_guests(const struct lab_state *w, const struct pci_fn *f)
{
    for (uint32_t i = 0; f->sriov && i < f->sriov->config.total_vfs; i++) {
        const struct pci_fn *device = f->sriov->vfs[i].device;

        if (device)
            w->hosts[device->config.host]->has_stranger = true;
    }
}

enum rdl_status rdl_pci_write(struct rdl_lab *lab, rdl_host host, const struct rdl_pci_place *place,
                              uint64_t value)
{
    struct host *h = lab_host(lab->state, host.raw);
    struct rdl_pci_place at = *place;
    struct slot_target t;

    if (!h)
        return RDL_ERR_STALE;
    if (is_class(place))
        at.width = 1; /* it is read-only, whatever is written */
    if (!find_place(h, &at, &t))
        return RDL_ERR_INVAL;
    h->has_stranger = true;
    disturb_guests(lab->state, t.fn);
    lab_act(lab->state);
    put(h, &t, &at, value);
    lab_done(lab->state);
    return RDL_OK;
}

enum rdl_status rdl_pci_peek(const struct rdl_lab *lab, rdl_host host,
                             const struct rdl_pci_place *place, uint64_t *ret)
{
    struct host *h = lab_host(lab->state, host.raw);
    struct rdl_pci_place at = *place;
    struct slot_target t;
    unsigned shift;

    if (!h)
        return RDL_ERR_STALE;
    if (!find_to_read(h, &at, &t, &shift) || at.space != RDL_PCI_CONFIG)
        return RDL_ERR_INVAL;
    *ret = (t.is_vf ? vf_config_peek(t.fn, t.vf, at.offset, at.width)
                    : fn_config_peek(t.fn, at.offset, at.width)) >>
           shift;
    return RDL_OK;
}

enum rdl_status rdl_pci_field(const struct rdl_lab *lab, rdl_host host, uint32_t number,
                              uint32_t field, struct rdl_pci_place *ret)
{
    struct host *h = lab_host(lab->state, host.raw);
    struct slot_target t;
    uint32_t offset;

    if (!h)
        return RDL_ERR_STALE;
    if (!find_target(h, number, &t))
        return RDL_ERR_NO_DEVICE;
    if (!(t.is_vf ? vf_find_field(field, &offset) : fn_find_field(t.fn, field, &offset)))
        return RDL_ERR_INVAL;
    *ret = (struct rdl_pci_place){.number = number, .space = RDL_PCI_CONFIG, .offset = offset};
    return RDL_OK;
}

/* Finds the place of a register of virtio at @function of @host. */
static enum rdl_status place_of_reg(const struct rdl_lab *lab, rdl_host host, uint32_t function,
                                    uint32_t offset, uint32_t width, struct rdl_pci_place *ret)
{
    struct host *h = lab_host(lab->state, host.raw);
    uint32_t number;

    if (!h)
        return RDL_ERR_STALE;
    if (function >= HOST_FUNCTIONS || !is_width(width))
        return RDL_ERR_INVAL;
    number = pci_number_of((enum pci_function)function);
    if (!host_function(h, number))
        return RDL_ERR_NO_DEVICE;
    if (!host_virtio(h, (enum pci_function)function))
        return RDL_ERR_UNSUPPORTED;
    *ret = (struct rdl_pci_place){number, RDL_PCI_BAR0, offset, width};
    return RDL_OK;
}

enum rdl_status rdl_reg_read(struct rdl_lab *lab, rdl_host host, uint32_t function, uint32_t offset,
                             uint32_t width, uint64_t *ret)
{
    struct rdl_pci_place place;
    const enum rdl_status st = place_of_reg(lab, host, function, offset, width, &place);

    return st == RDL_OK ? rdl_pci_read(lab, host, &place, ret) : st;
}

enum rdl_status rdl_reg_write(struct rdl_lab *lab, rdl_host host, uint32_t function,
                              uint32_t offset, uint32_t width, uint64_t value)
{
    struct rdl_pci_place place;
    const enum rdl_status st = place_of_reg(lab, host, function, offset, width, &place);

    return st == RDL_OK ? rdl_pci_write(lab, host, &place, value) : st;
}

enum rdl_status rdl_vfs_set(struct rdl_lab *lab, rdl_host host, uint32_t n)
{
    struct host *h = lab_host(lab->state, host.raw);
    enum rdl_status st;

    if (!h)
        return RDL_ERR_STALE;
    if (h->is_external)
        return RDL_ERR_NO_GUEST;
    if (host_is_machine(h) && machine_has_guests(h))
        return RDL_ERR_BUSY;
    lab_act(lab->state);
    st = guest_iov_set(&h->guest, n, true);
    lab_done(lab->state);
    return st;
}
