/* SPDX-License-Identifier: MIT */
/* The PCI functions of a host's slot, in the hands of whoever likes: 0 is virtio-net, 1
 * virtio-rdma.
 */
#ifndef RDMALAB_PCI_H
#define RDMALAB_PCI_H

#include <stdint.h>

#include "rdmalab/lab.h"

enum rdl_pci_space {
    RDL_PCI_CONFIG, /* configuration space, 256 bytes: enum pci_field of emu/facts/pci.h */
    RDL_PCI_BAR0,   /* the virtio structures: enum reg of emu/facts/regs.h */
    RDL_PCI_BAR1    /* the MSI-X table, 16 bytes an entry; from the middle on its pending bits */
};

struct rdl_pci_place {
    uint32_t number; /* of the function */
    enum rdl_pci_space space;
    uint32_t offset;
    uint32_t width; /* 1, 2, 4; in a BAR also 8; 0: as wide as what is there, if it has a name */
};

/* An access as a driver makes it, in a tick of its own.  A BAR answers where its register says, and
 * only while memory space is on; otherwise reads give all ones, and writes are lost.  Who writes
 * takes the device from its driver, which is not told: see rdl_ram_write().
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL  the function, the space, an offset behind its end, or the width there
 *	   RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_pci_read(struct rdl_lab *lab, rdl_host host,
                                            const struct rdl_pci_place *place, uint64_t *ret);
RDL_MUST_CHECK enum rdl_status rdl_pci_write(struct rdl_lab *lab, rdl_host host,
                                             const struct rdl_pci_place *place, uint64_t value);

/* What configuration space has, without an access; width as above. */
RDL_MUST_CHECK enum rdl_status rdl_pci_peek(const struct rdl_lab *lab, rdl_host host,
                                            const struct rdl_pci_place *place, uint64_t *ret);

#endif
