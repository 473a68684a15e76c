/* SPDX-License-Identifier: MIT */
/* The half of a function that interrupts: what the other half tells it. */
#ifndef EMU_VIRTIO_FUNCTION_IRQ_H
#define EMU_VIRTIO_FUNCTION_IRQ_H

#include "emu/virtio/function.h"

/* As after power-on: MSI-X off, every vector masked, nothing pending. */
void fn_irq_reset(struct pci_fn *f);

/* The command register or MSI-X's mask has changed: what was held may be sent, the line may rise.
 */
void fn_irq_settle(struct pci_fn *f);

/* The message control of MSI-X was written. */
void fn_msix_control(struct pci_fn *f, bool enabled, bool masked);

/* Accesses of FN_BAR_MSIX, by width 4 or 8 at multiples of 4. */
uint64_t fn_msix_read(struct pci_fn *f, uint32_t offset, uint32_t width);
void fn_msix_write(struct pci_fn *f, uint32_t offset, uint32_t width, uint64_t value);

#endif
