/* SPDX-License-Identifier: MIT */
#include "emu/guest/pci/iov.h"

#include "emu/facts/enum/pci_field.h"

#define PAGE_BYTES 4096u /* of this kernel */

static uint32_t config(const struct guest_iov *v, uint32_t offset, uint32_t width)
{
    return v->bus->config_read(v->ctx, v->number, offset, width);
}

static uint32_t get(const struct guest_iov *v, uint32_t offset, uint32_t width)
{
    return config(v, v->at + offset, width);
}

static void put(const struct guest_iov *v, uint32_t offset, uint32_t width, uint32_t value)
{
    v->bus->config_write(v->ctx, v->number, v->at + offset, width, value);
}

/* Only a function with PCI Express has extended configuration space. */
static bool has_express(const struct guest_iov *v)
{
    uint32_t at = config(v, PCI_CAPABILITIES, 1) & ~PCI_CAP_POINTER_LOW;

    for (uint32_t n = 0; at != 0 && n < PCI_CAPS_MAX; n++) {
        if (config(v, at, 1) == PCI_CAP_ID_EXPRESS)
            return true;
        at = config(v, at + PCI_AT_NEXT, 1) & ~PCI_CAP_POINTER_LOW;
    }
    return false;
}

/* Offset of the extended capability @id, or 0 if there is none. */
static uint32_t find_extended(const struct guest_iov *v, uint32_t id)
{
    uint32_t at = PCI_EXT_FIRST;

    for (uint32_t n = 0; at >= PCI_EXT_FIRST && n < PCI_EXT_CAPS_MAX; n++) {
        const uint32_t header = config(v, at, 4);

        if (header == 0 || header == UINT32_MAX)
            return 0;
        if ((header & PCI_EXT_ID_MASK) == id)
            return at;
        at = header >> PCI_EXT_NEXT_BIT & ~PCI_CAP_POINTER_LOW;
    }
    return 0;
}

/* The smallest supported page that is not smaller than the kernel's; 0: none. */
static uint32_t choose_page(uint32_t supported)
{
    uint32_t page = PAGE_BYTES / SRIOV_PAGE_BYTES;

    while (page != 0 && !(supported & page))
        page <<= 1;
    return page;
}

/* Finds the size of VF BAR @i, and reserves it for each VF. */
static void place_bar(struct guest_iov *v, struct pci_bus *b, uint32_t i)
{
    const uint32_t field = SRIOV_AT_BAR0 + 4 * i;
    uint32_t ones, bytes;
    uint64_t at;

    put(v, field, 4, UINT32_MAX);
    ones = get(v, field, 4) & ~PCI_BAR_LOW_BITS;
    put(v, field, 4, 0);
    if (ones == 0)
        return;
    bytes = ~ones + 1;
    at = (b->next + bytes - 1) & ~(uint64_t)(bytes - 1);
    v->bar_bytes[i] = bytes;
    if (at + (uint64_t)bytes * v->total_vfs > MSI_ADDRESS)
        return; /* not enough memory: the VFs cannot be enabled */
    v->bar[i] = at;
    put(v, field, 4, (uint32_t)at);
    b->next = at + (uint64_t)bytes * v->total_vfs;
}

bool iov_probe(struct guest_iov *v, struct pci_bus *b, uint32_t number)
{
    uint32_t page;

    *v = (struct guest_iov){.bus = b->bus, .ctx = b->ctx, .number = number};
    v->at = has_express(v) ? find_extended(v, PCI_EXT_ID_SRIOV) : 0;
    if (v->at == 0)
        return false;
    put(v, SRIOV_AT_CONTROL, 2, 0);
    v->total_vfs = get(v, SRIOV_AT_TOTAL_VFS, 2);
    page = choose_page(get(v, SRIOV_AT_PAGES, 4));
    if (v->total_vfs == 0 || page == 0) {
        v->at = 0;
        return false;
    }
    put(v, SRIOV_AT_PAGE, 4, page);
    for (uint32_t i = 0; i < PCI_BARS; i++)
        place_bar(v, b, i);
    return true;
}

/* Number in the slot of VF @vf. */
static uint32_t number_of(const struct guest_iov *v, uint32_t vf)
{
    return v->number + get(v, SRIOV_AT_FIRST_OFFSET, 2) + vf * get(v, SRIOV_AT_STRIDE, 2);
}

enum rdl_status iov_enable(struct guest_iov *v, uint32_t n)
{
    if (get(v, SRIOV_AT_INITIAL_VFS, 2) != v->total_vfs)
        return RDL_ERR_DEVICE;
    for (uint32_t i = 0; i < PCI_BARS; i++) {
        if (v->bar_bytes[i] && !v->bar[i])
            return RDL_ERR_NOMEM;
    }
    put(v, SRIOV_AT_NUM_VFS, 2, n);
    if (PCI_SLOT_RID + number_of(v, n - 1) >= PCI_RIDS) { /* depends on NumVFs */
        put(v, SRIOV_AT_NUM_VFS, 2, 0);
        return RDL_ERR_NOMEM;
    }
    put(v, SRIOV_AT_CONTROL, 2, SRIOV_ENABLE | SRIOV_MEMORY);
    v->n_vfs = n;
    return RDL_OK;
}

uint32_t iov_add(const struct guest_iov *v)
{
    const uint32_t first = number_of(v, 0), stride = get(v, SRIOV_AT_STRIDE, 2);
    uint32_t there = 0;

    for (uint32_t i = 0; i < v->n_vfs; i++)
        there += v->bus->config_read(v->ctx, first + i * stride, PCI_REVISION_ID, 4) != UINT32_MAX;
    return there;
}

void iov_disable(struct guest_iov *v)
{
    put(v, SRIOV_AT_CONTROL, 2, 0);
    v->n_vfs = 0;
}

void iov_removed(const struct guest_iov *v)
{
    put(v, SRIOV_AT_NUM_VFS, 2, 0);
}
