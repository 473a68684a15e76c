/* SPDX-License-Identifier: MIT */
/* A driver of PCI functions, as the machine of a guest calls it.
 *
 * When the guest boots, it binds each loaded driver to the function that has the driver's IDs:
 *
 *	boot() -> start() -> interrupt() or line(), as often as the function interrupts
 *
 * A driver whose function is not in the slot is not called.  @driver is the state of the driver.
 */
#ifndef EMU_GUEST_PCI_DRIVER_H
#define EMU_GUEST_PCI_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/guest/pci/scan.h"
#include "rdmalab/status.h"

struct pci_driver {
    uint32_t ids; /* PCI_IDS() of the functions that it drives */

    /* Initialises the function @found.
     *
     * Return: RDL_OK               start() may be called
     *	       RDL_ERR_UNSUPPORTED  the function lacks something that the driver needs
     *	       RDL_ERR_NOMEM        guest RAM or the arena is full
     *	       RDL_ERR_BROKEN       the device contradicts itself
     */
    enum rdl_status (*boot)(void *driver, const struct pci_slot_function *found);

    /* Sends the first requests.  Called when all functions of the guest are initialised.  NULL: the
     * driver sends none.  Returns RDL_OK, RDL_ERR_NOMEM, RDL_ERR_BROKEN, or RDL_ERR_DEVICE if the
     * device refused a request.
     */
    enum rdl_status (*start)(void *driver);

    /* Handles the MSI-X message of @vector.  Ignores unknown vectors. */
    void (*interrupt)(void *driver, uint32_t vector);

    /* Handles INTx, which the functions of a slot share.  Returns true if the function had
     * interrupted, false if it had not or does not use INTx.
     */
    bool (*line)(void *driver);

    /* Returns true if virtual functions of the function may be enabled now.  NULL: never. */
    bool (*may_have_vfs)(const void *driver);

    /* Returns the number of interrupts that the driver has handled. */
    uint64_t (*irqs)(const void *driver);
};

#endif
