/* SPDX-License-Identifier: MIT */
/* Probing: finds the structures named by the capabilities, writes the command register and sets up
 * interrupts.  [virtio 1.2, 4.1.4 and 4.1.5]
 */
#include "emu/facts/pci.h"
#include "emu/guest/pci/pci.h"

/* The part up to and including QUEUE_DEVICE; later registers belong to features of virtio 1.2. */
#define COMMON_BYTES_LEAST 56u

static uint32_t get(const struct guest_pci *p, uint32_t offset, uint32_t width)
{
    return p->bus->config_read(p->bus_ctx, p->found.number, offset, width);
}

static void put(const struct guest_pci *p, uint32_t offset, uint32_t width, uint32_t value)
{
    p->bus->config_write(p->bus_ctx, p->found.number, offset, width, value);
}

/* Address of [@offset, @offset + @bytes) of BAR @bar; 0 if it exceeds the BAR. */
static uint64_t in_bar(const struct guest_pci *p, uint32_t bar, uint32_t offset, uint32_t bytes)
{
    if (bar >= PCI_BARS || offset > p->found.bar_bytes[bar] ||
        bytes > p->found.bar_bytes[bar] - offset)
        return 0;
    return p->found.bar[bar] + offset;
}

/* Records a structure.  Of each type the first capability counts.  [virtio 1.2, 4.1.4.1] */
static void take_structure(struct guest_pci *p, uint32_t at)
{
    const uint32_t type = get(p, at + VIRTIO_AT_TYPE, 1);
    struct guest_structure *s;
    uint32_t bar, offset;

    if (type < VIRTIO_CAP_COMMON || type > VIRTIO_CAP_DEVICE)
        return; /* ignores the PCI configuration access capability and unknown types */
    s = &p->structures[type];
    if (s->gpa)
        return;
    bar = get(p, at + VIRTIO_AT_BAR, 1);
    offset = get(p, at + VIRTIO_AT_OFFSET, 4);
    s->bytes = get(p, at + VIRTIO_AT_LENGTH, 4);
    s->gpa = in_bar(p, bar, offset, s->bytes);
    if (type == VIRTIO_CAP_NOTIFY)
        p->notify_multiplier = get(p, at + VIRTIO_AT_MULTIPLIER, 4);
}

static void take_msix(struct guest_pci *p, uint32_t at)
{
    const uint32_t n = (get(p, at + MSIX_AT_CONTROL, 2) & MSIX_SIZE_MASK) + 1;
    const uint32_t table = get(p, at + MSIX_AT_TABLE, 4);
    const uint64_t gpa =
        in_bar(p, table & MSIX_BAR_MASK, table & ~MSIX_BAR_MASK, n * MSIX_ENTRY_BYTES);

    if (gpa == 0)
        return;
    p->msix_at = at;
    p->msix_gpa = gpa;
    p->n_vectors = n;
}

static void walk_capabilities(struct guest_pci *p)
{
    uint32_t at;

    if (!(get(p, PCI_STATUS, 2) & PCI_STS_CAP_LIST))
        return;
    at = get(p, PCI_CAPABILITIES, 1);
    for (uint32_t n = 0; at != 0 && n < PCI_CAPS_MAX; n++) {
        const uint32_t id = get(p, at, 1);

        if (id == PCI_CAP_ID_VENDOR)
            take_structure(p, at);
        else if (id == PCI_CAP_ID_MSIX)
            take_msix(p, at);
        at = get(p, at + PCI_AT_NEXT, 1);
    }
}

static bool has_structures(const struct guest_pci *p)
{
    return p->structures[VIRTIO_CAP_COMMON].gpa &&
           p->structures[VIRTIO_CAP_COMMON].bytes >= COMMON_BYTES_LEAST &&
           p->structures[VIRTIO_CAP_NOTIFY].gpa && p->structures[VIRTIO_CAP_ISR].gpa &&
           p->structures[VIRTIO_CAP_DEVICE].gpa;
}

static void write_entry(const struct guest_pci *p, uint32_t vector)
{
    const uint64_t at = p->msix_gpa + (uint64_t)vector * MSIX_ENTRY_BYTES;

    p->bus->write(p->bus_ctx, at + MSIX_ADDRESS, 4, MSI_ADDRESS | p->found.number << MSI_CPU_SHIFT);
    p->bus->write(p->bus_ctx, at + MSIX_ADDRESS_HIGH, 4, 0);
    p->bus->write(p->bus_ctx, at + MSIX_DATA, 4, vector);
    p->bus->write(p->bus_ctx, at + MSIX_CONTROL, 4, 0);
}

/* Sets up all vectors, masked by the function mask until every entry is written. */
static void set_up_msix(const struct guest_pci *p)
{
    put(p, p->msix_at + MSIX_AT_CONTROL, 2, MSIX_ENABLE | MSIX_FUNCTION_MASK);
    for (uint32_t i = 0; i < p->n_vectors; i++)
        write_entry(p, i);
    put(p, p->msix_at + MSIX_AT_CONTROL, 2, MSIX_ENABLE);
}

enum rdl_status pci_probe(struct guest_pci *p, uint32_t virtio_id)
{
    const struct pci_slot_function *found = pci_find(p->slot, virtio_id);

    if (!found)
        return RDL_ERR_UNSUPPORTED;
    p->found = *found;
    put(p, PCI_COMMAND, 2, get(p, PCI_COMMAND, 2) | PCI_CMD_MEMORY);
    walk_capabilities(p);
    if (!has_structures(p))
        return RDL_ERR_UNSUPPORTED;
    put(p, PCI_COMMAND, 2, get(p, PCI_COMMAND, 2) | PCI_CMD_MASTER);
    if (p->use_line || p->n_vectors == 0) {
        p->use_line = true;
        p->n_vectors = 1; /* INTx acts as one vector that all sources share */
    } else {
        set_up_msix(p);
    }
    return RDL_OK;
}
