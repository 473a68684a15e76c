/* SPDX-License-Identifier: MIT */
/* A host's bus: its functions by their numbers, and whose BAR answers where. */
#ifndef EMU_LAB_BUS_H
#define EMU_LAB_BUS_H

#include "emu/guest/pci/bus.h"
#include "emu/lab/world.h"

/* For a guest; the context is its struct host. */
extern const struct guest_bus host_bus;

/* Function @number of the host's slot; NULL: there is none. */
struct pci_fn *host_function(struct host *h, uint32_t number);

/* An interrupt of the host arrives: event irq or intx, and whoever runs there is told. */
void host_interrupt(struct world *w, struct host *h, struct virtio_irq irq);

/* Tells who runs the guest of @h, which is a virtual machine, of a message of @function. */
void vm_interrupt(const struct world *w, const struct host *h, const struct fn_message *m,
                  uint32_t function);

#endif
