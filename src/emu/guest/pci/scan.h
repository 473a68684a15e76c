/* SPDX-License-Identifier: MIT */
/* The PCI slot of a guest: its functions and the addresses of their BARs. */
#ifndef EMU_GUEST_SCAN_H
#define EMU_GUEST_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "emu/facts/pci.h"
#include "emu/guest/pci/bus.h"

#define PCI_FUNCTIONS_MAX 8u

/* First address for BARs: above the RAM of an ordinary guest, below the addresses of MSI-X
 * messages.
 */
#define PCI_MEMORY_FIRST 0xfd000000u

/* The IDs by which a driver recognises its functions, as one word of configuration space. */
#define PCI_IDS(vendor, device) ((uint32_t)(device) << 16 | (vendor))

struct pci_slot_function {
    uint32_t number;              /* function number in the slot */
    uint32_t ids;                 /* PCI_IDS() of the function */
    uint64_t bar[PCI_BARS];       /* guest-physical addresses */
    uint32_t bar_bytes[PCI_BARS]; /* sizes in bytes; 0: no such BAR */
};

struct pci_bus {
    const struct guest_bus *bus;
    void *ctx;
    uint64_t next; /* first free address for BARs */
    uint32_t n_functions;
    struct pci_slot_function functions[PCI_FUNCTIONS_MAX];
};

/* Finds all functions on the bus b->bus, and assigns addresses to their BARs.  Enables neither
 * memory access nor bus mastering.
 */
void pci_scan(struct pci_bus *b);

/* Returns the first function with @ids, a PCI_IDS(), or NULL if there is none. */
const struct pci_slot_function *pci_find(const struct pci_bus *b, uint32_t ids);

#endif
