/* SPDX-License-Identifier: MIT */
/* The bus of a host: dispatches accesses to its PCI functions, and delivers their interrupts. */
#ifndef EMU_LAB_BUS_H
#define EMU_LAB_BUS_H

#include "emu/guest/pci/bus.h"
#include "emu/lab/lab_state.h"

/* The bus for a guest; its context is the struct host. */
extern const struct guest_bus host_bus;

/* Returns function @number of the host's slot, or NULL if there is none. */
struct pci_fn *host_function(struct host *h, uint32_t number);

/* Finds the virtual function that has @number in the host's slot, 8 or more.  Returns true with its
 * physical function and its number among the VFs, or false if it does not exist now.
 */
bool host_vf(const struct host *h, uint32_t number, struct pci_fn **ret_pf, uint32_t *ret_vf);

/* Delivers the interrupt @irq of host @h, with event irq or intx, to its guest or virtual machine.
 */
void host_interrupt(struct lab_state *w, struct host *h, struct fn_irq irq);

/* Passes the message interrupt @m of @function to the listener of the virtual machine that drives
 * @h.  Does nothing if there is no listener.
 */
void vm_interrupt(const struct lab_state *w, const struct host *h, const struct fn_message *m,
                  uint32_t function);

/* Passes the frame @f to the listener for the Ethernet function that the virtual machine of @h has.
 * Returns false if there is none.
 */
bool vm_frame(const struct lab_state *w, const struct host *h, const struct frame *f);

#endif
