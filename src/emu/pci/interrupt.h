/* SPDX-License-Identifier: MIT */
/* Interrupts of a PCI function: the interface between function.c and interrupt.c. */
#ifndef EMU_PCI_INTERRUPT_H
#define EMU_PCI_INTERRUPT_H

#include "emu/pci/function.h"

/* Resets the interrupts to the state after power-on: MSI-X disabled, every vector masked, no
 * pending bits.
 */
void fn_irq_reset(struct pci_fn *f);

/* Sends pending messages that can now be sent, and updates the INTx line.  Call it after a change
 * of the command register or the MSI-X function mask.
 */
void fn_irq_settle(struct pci_fn *f);

/* Carries out a write of MSI-X Message Control: sets MSI-X Enable and Function Mask, then sends the
 * messages that are no longer masked (fn_irq_settle()).  If the arena has no memory for the MSI-X
 * table, MSI-X stays disabled.
 */
void fn_msix_control(struct pci_fn *f, bool enabled, bool masked);

/* Read and write the BAR of MSI-X, @width 4 or 8 bytes at multiples of 4.  Other accesses read as 0
 * and write nothing.  Only the entries of the table can be written.  A write that unmasks an entry
 * sends its pending message.
 */
uint64_t fn_msix_read(struct pci_fn *f, uint32_t offset, uint32_t width);
void fn_msix_write(struct pci_fn *f, uint32_t offset, uint32_t width, uint64_t value);

#endif
