/* SPDX-License-Identifier: MIT */
/* Direct access to the PCI functions of a host.  Function 0 is virtio-net, function 1 is
 * the RDMA device, if the host has one.  Functions 8 and up are its virtual functions, while they
 * exist: VF 0, VF 1 and so on.  They have configuration space only.
 */
#ifndef RDMALAB_PCI_H
#define RDMALAB_PCI_H

#include <stdint.h>

#include "rdmalab/lab.h"

enum rdl_pci_space {
    RDL_PCI_CONFIG, /* configuration space, 256 or 4,096 bytes */
    /* Of a virtio function: the virtio structures, enum reg of emu/facts/regs.h. */
    RDL_PCI_BAR0,
    /* Of a virtio function: the MSI-X table, 16 bytes per entry, then the pending-bit array from
     * the middle of the BAR.
     */
    RDL_PCI_BAR1,
    RDL_PCI_BAR2,
    RDL_PCI_BAR3,
    RDL_PCI_BAR4,
    RDL_PCI_BAR5
};

struct rdl_pci_place {
    uint32_t number; /* number of the function */
    enum rdl_pci_space space;
    uint32_t offset;
    /* Bytes to access: 1, 2, 4, or in a BAR 8.  0: the width of the register or field that begins
     * at @offset.
     */
    uint32_t width;
};

/* Accesses a PCI function as a driver would.  Each access is a tick of its own.
 *
 * A register in a BAR answers only while memory space is enabled in the command register.
 * Otherwise reads return all ones and writes are discarded.  A write interferes with the host's own
 * driver, which is not informed: see rdl_ram_write().
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL  no such function or space, @offset behind the end of the space, an
 *			  invalid width, or in configuration space an unaligned @offset
 *	   RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_pci_read(struct rdl_lab *lab, rdl_host host,
                                            const struct rdl_pci_place *place, uint64_t *ret);
RDL_MUST_CHECK enum rdl_status rdl_pci_write(struct rdl_lab *lab, rdl_host host,
                                             const struct rdl_pci_place *place, uint64_t value);

/* Finds @field (enum pci_field of emu/facts/enum/pci_field.h) in the configuration space of
 * function @number.
 *
 * Return: RDL_OK	      *@ret is its place, with @width 0
 *	   RDL_ERR_INVAL      the function does not have the field
 *	   RDL_ERR_NO_DEVICE  the host has no such function
 *	   RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_pci_field(const struct rdl_lab *lab, rdl_host host,
                                             uint32_t number, uint32_t field,
                                             struct rdl_pci_place *ret);

/* Reads configuration space without an access by a driver: there is no tick and no event.
 * @place->space must be RDL_PCI_CONFIG.  Errors as rdl_pci_read().
 */
RDL_MUST_CHECK enum rdl_status rdl_pci_peek(const struct rdl_lab *lab, rdl_host host,
                                            const struct rdl_pci_place *place, uint64_t *ret);

/* Lets the guest of @host set the number of virtual functions of its RDMA device, as a write of
 * sriov_numvfs in Linux: one tick.  They exist at once.  The guest adds them to its bus 100 ms
 * later. With 0 it disables them, and has completed that 1 s later.  Meanwhile it refuses other
 * numbers.  Each error is followed by the errno of Linux.
 *
 * Return: RDL_OK               also if there are @n already
 *	   RDL_ERR_UNSUPPORTED  the device has no SR-IOV, or SR_IOV was not negotiated
 *	   RDL_ERR_LIMIT        @n exceeds rdl_host_config.vfs (ERANGE)
 *	   RDL_ERR_BUSY         there are virtual functions, and @n is not 0 (EBUSY)
 *	   RDL_ERR_BUSY         a guest has one of them; or the guest of the machine waits (EBUSY)
 *	   RDL_ERR_NOMEM        there is no room for their BARs (ENOMEM)
 *	   RDL_ERR_DEVICE       somebody has changed the registers of the function (EIO)
 *	   RDL_ERR_NO_GUEST, RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_vfs_set(struct rdl_lab *lab, rdl_host host, uint32_t n);

#endif
