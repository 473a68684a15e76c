/* SPDX-License-Identifier: MIT */
/* The slot of a guest's devices: which functions are there, and where their BARs were put. */
#ifndef EMU_GUEST_SCAN_H
#define EMU_GUEST_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "emu/facts/pci.h"
#include "emu/guest/pci/bus.h"

#define PCI_FUNCTIONS_MAX 8u

/* Where BARs are put: above all RAM of an ordinary guest, below what interrupts processors. */
#define PCI_MEMORY_FIRST 0xfd000000u

struct pci_slot_function {
    uint32_t number;
    uint32_t ids; /* device ID << 16 | vendor ID */
    uint64_t bar[PCI_BARS];
    uint32_t bar_bytes[PCI_BARS]; /* 0: none */
};

struct pci_bus {
    const struct guest_bus *bus;
    void *ctx;
    uint64_t next; /* where the next BAR can begin */
    uint32_t n_functions;
    struct pci_slot_function functions[PCI_FUNCTIONS_MAX];
};

/* Looks for all functions, and gives their BARs addresses; nothing is enabled.  @b names the bus.
 */
void pci_scan(struct pci_bus *b);

/* The virtio function of device @virtio_id; NULL: there is none. */
const struct pci_slot_function *pci_find(const struct pci_bus *b, uint32_t virtio_id);

#endif
