/* SPDX-License-Identifier: MIT */
/* SR-IOV from the side of a kernel: finds the capability of a function, and enables and disables
 * its virtual functions (VFs).
 *
 *	iov_probe()                          once, behind pci_scan()
 *	iov_enable(), 100 ms, iov_add()      VFs are enabled, and then may be accessed
 *	iov_disable(), 1 s, iov_removed()    VFs are disabled, and then the capability may be read
 *
 * The caller waits: this file knows no time.  The order of the accesses is that of Linux,
 * drivers/pci/iov.c.
 */
#ifndef EMU_GUEST_IOV_H
#define EMU_GUEST_IOV_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/guest/pci/scan.h"
#include "rdmalab/status.h"

struct guest_iov {
    const struct guest_bus *bus;
    void *ctx;
    uint32_t number;              /* of the function in the slot */
    uint32_t at;                  /* offset of the capability; 0: none was found */
    uint32_t total_vfs;           /* VFs that the function can have */
    uint32_t n_vfs;               /* VFs that are enabled */
    uint32_t bar_bytes[PCI_BARS]; /* size of a VF BAR for one VF; 0: no such BAR */
    uint64_t bar[PCI_BARS];       /* guest-physical addresses for all VFs; 0: there was no room */
};

/* Looks for the capability in function @number of @b.  Disables VFs that somebody has enabled, sets
 * the page size, and reserves memory for the BARs of all possible VFs behind that of the other
 * functions.  Returns false if the function has no such capability, or no VFs.
 */
bool iov_probe(struct guest_iov *v, struct pci_bus *b, uint32_t number);

/* Enables @n VFs, 1 .. total_vfs, while none is enabled.
 *
 * Return: RDL_OK
 *	   RDL_ERR_DEVICE  the capability contradicts itself
 *	   RDL_ERR_NOMEM   there is no room for the BARs of the VFs, or for their routing IDs
 */
enum rdl_status iov_enable(struct guest_iov *v, uint32_t n);

/* Reads the header of each enabled VF, which the kernel adds to its bus.  Returns the number of VFs
 * that answered.
 */
uint32_t iov_add(const struct guest_iov *v);

/* Disables all VFs. */
void iov_disable(struct guest_iov *v);

/* Sets the number of VFs to 0, when the function has completed iov_disable(). */
void iov_removed(const struct guest_iov *v);

#endif
