/* SPDX-License-Identifier: MIT */
/* The driver of an RDMA device, as a guest loads it.
 *
 * It drives a PCI function for the machine (pci/driver.h), and implements the operations of the
 * verbs for programs (verbs/driver.h).  All of them get the same state of @bytes bytes, which the
 * guest allocates.
 */
#ifndef EMU_GUEST_RDMA_DRIVER_H
#define EMU_GUEST_RDMA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/guest/pci/driver.h"
#include "rdmalab/control.h"

struct arena;
struct guest_pci;
struct verbs;
struct verbs_driver_ops;

/* Control requests whose bytes the program supplies: rdl_control_send(), rdl_control_answer() and
 * rdl_control_under_way() for one guest.
 */
struct rdma_control_ops {
    enum rdl_status (*send)(void *driver, const struct rdl_control *request, bool kick,
                            uint32_t *ret_id);
    enum rdl_status (*answer)(const void *driver, uint32_t id, struct rdl_control_answer *ret);
    uint32_t (*under_way)(const void *driver);
};

struct rdma_driver {
    struct pci_driver pci;
    const struct verbs_driver_ops *verbs;
    size_t bytes; /* size of the driver's state */

    /* Initialises the state @driver, which is zeroed, for a function that is not booted.  Copies
     * @pci.  Returns false if the DMA area is full.
     */
    bool (*init)(void *driver, struct verbs *verbs, struct arena *a, const struct guest_pci *pci);

    const struct rdma_control_ops *control; /* NULL: the device has no such requests */
};

#endif
