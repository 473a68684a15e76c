/* SPDX-License-Identifier: MIT */
/* A PCI function from its driver's side: the part that does not depend on the device.
 *
 *	pci_scan()    finds the functions of the slot and places their BARs (scan.h)
 *	pci_probe()   lets the function decode its BARs, and reads its capabilities
 *	pci_enable()  lets the function access memory and send interrupts
 *
 * Before pci_probe() @found is NULL, and the driver may not access the function.  After
 * pci_enable() the function interrupts in one of two ways.  With MSI-X it sends the message of a
 * vector: the processor of the message is the function's number in the slot, the data is the
 * number of the vector.  With INTx it asserts a line that all functions of the slot share.
 */
#ifndef EMU_GUEST_PCI_H
#define EMU_GUEST_PCI_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/guest/pci/bus.h"
#include "emu/guest/pci/dma.h"
#include "emu/guest/pci/scan.h"

struct trace;

struct guest_pci {
    uint32_t function; /* enum pci_function, for events */
    uint32_t host;     /* host number, for events */
    const struct guest_bus *bus;
    void *bus_ctx;
    struct trace *trace;
    struct ram *ram;
    struct dma_pool *dma; /* allocates in @ram */
    bool use_line;        /* use INTx, by request or because there is no MSI-X */
    /* Filled in by pci_probe() and pci_enable(). */
    const struct pci_slot_function *found;
    uint32_t msix_at;   /* offset of the MSI-X capability in configuration space */
    uint64_t msix_gpa;  /* guest-physical address of the MSI-X table */
    uint32_t n_vectors; /* MSI-X vectors; 1 if INTx is used */
};

/* Makes @found the function of @p and enables its memory.  Reads its list of capabilities: records
 * the MSI-X table, and calls @vendor for each vendor-specific capability in the order of the list.
 * @at is the offset of the capability in configuration space.  @vendor may be NULL.
 */
void pci_probe(struct guest_pci *p, const struct pci_slot_function *found,
               void (*vendor)(void *ctx, uint32_t at), void *ctx);

/* Enables bus mastering and interrupts: all vectors of MSI-X, or INTx.  Call it after pci_probe().
 */
void pci_enable(struct guest_pci *p);

/* Reads and returns @width (1, 2, 4) bytes at @offset of the function's configuration space. */
uint32_t pci_config_read(const struct guest_pci *p, uint32_t offset, uint32_t width);

/* Returns the guest-physical address of [@offset, @offset + @bytes) of BAR @bar, or 0 if the
 * function has no such BAR or the range exceeds it.
 */
uint64_t pci_bar_place(const struct guest_pci *p, uint32_t bar, uint32_t offset, uint32_t bytes);

/* Read and write @width (1, 2, 4, 8) bytes at the guest-physical address @gpa in a BAR. */
static inline uint64_t pci_read(const struct guest_pci *p, uint64_t gpa, uint32_t width)
{
    return p->bus->read(p->bus_ctx, gpa, width);
}

static inline void pci_write(const struct guest_pci *p, uint64_t gpa, uint32_t width,
                             uint64_t value)
{
    p->bus->write(p->bus_ctx, gpa, width, value);
}

/* Returns true if the function interrupts with INTx, false if it uses MSI-X or is not probed. */
static inline bool pci_uses_line(const struct guest_pci *p)
{
    return p->use_line && p->n_vectors > 0;
}

#endif
