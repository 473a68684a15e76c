/* SPDX-License-Identifier: MIT */
#include "emu/guest/pci/pci.h"

#include "emu/facts/enum/pci_field.h"

uint32_t pci_config_read(const struct guest_pci *p, uint32_t offset, uint32_t width)
{
    return p->bus->config_read(p->bus_ctx, p->found->number, offset, width);
}

static void put(const struct guest_pci *p, uint32_t offset, uint32_t width, uint32_t value)
{
    p->bus->config_write(p->bus_ctx, p->found->number, offset, width, value);
}

static void allow(const struct guest_pci *p, enum pci_command_bit bit)
{
    put(p, PCI_COMMAND, 2, pci_config_read(p, PCI_COMMAND, 2) | bit);
}

uint64_t pci_bar_place(const struct guest_pci *p, uint32_t bar, uint32_t offset, uint32_t bytes)
{
    if (bar >= PCI_BARS || offset > p->found->bar_bytes[bar] ||
        bytes > p->found->bar_bytes[bar] - offset)
        return 0;
    return p->found->bar[bar] + offset;
}

static void take_msix(struct guest_pci *p, uint32_t at)
{
    const uint32_t n = (pci_config_read(p, at + MSIX_AT_CONTROL, 2) & MSIX_SIZE_MASK) + 1;
    const uint32_t table = pci_config_read(p, at + MSIX_AT_TABLE, 4);
    const uint64_t gpa =
        pci_bar_place(p, table & MSIX_BAR_MASK, table & ~MSIX_BAR_MASK, n * MSIX_ENTRY_BYTES);

    if (gpa == 0)
        return;
    p->msix_at = at;
    p->msix_gpa = gpa;
    p->n_vectors = n;
}

/* Reads the pointer to a capability at @offset. */
static uint32_t capability_at(const struct guest_pci *p, uint32_t offset)
{
    return pci_config_read(p, offset, 1) & ~PCI_CAP_POINTER_LOW;
}

void pci_probe(struct guest_pci *p, const struct pci_slot_function *found,
               void (*vendor)(void *ctx, uint32_t at), void *ctx)
{
    uint32_t at;

    p->found = found;
    allow(p, PCI_CMD_MEMORY);
    if (!(pci_config_read(p, PCI_STATUS, 2) & PCI_STS_CAP_LIST))
        return;
    at = capability_at(p, PCI_CAPABILITIES);
    for (uint32_t n = 0; at != 0 && n < PCI_CAPS_MAX; n++) {
        const uint32_t id = pci_config_read(p, at, 1);

        if (id == PCI_CAP_ID_VENDOR && vendor)
            vendor(ctx, at);
        else if (id == PCI_CAP_ID_MSIX)
            take_msix(p, at);
        at = capability_at(p, at + PCI_AT_NEXT);
    }
}

static void write_entry(const struct guest_pci *p, uint32_t vector)
{
    const uint64_t at = p->msix_gpa + (uint64_t)vector * MSIX_ENTRY_BYTES;

    pci_write(p, at + MSIX_ADDRESS, 4, MSI_ADDRESS | p->found->number << MSI_CPU_SHIFT);
    pci_write(p, at + MSIX_ADDRESS_HIGH, 4, 0);
    pci_write(p, at + MSIX_DATA, 4, vector);
    pci_write(p, at + MSIX_CONTROL, 4, 0);
}

/* Sets up all vectors, masked by the function mask until every entry is written. */
static void set_up_msix(const struct guest_pci *p)
{
    put(p, p->msix_at + MSIX_AT_CONTROL, 2, MSIX_ENABLE | MSIX_FUNCTION_MASK);
    for (uint32_t i = 0; i < p->n_vectors; i++)
        write_entry(p, i);
    put(p, p->msix_at + MSIX_AT_CONTROL, 2, MSIX_ENABLE);
}

void pci_enable(struct guest_pci *p)
{
    allow(p, PCI_CMD_MASTER);
    if (p->use_line || p->n_vectors == 0) {
        p->use_line = true;
        p->n_vectors = 1; /* INTx acts as one vector that all sources share */
    } else {
        set_up_msix(p);
    }
}
