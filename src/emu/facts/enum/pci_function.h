/* SPDX-License-Identifier: MIT */
/* The PCI functions of a host's slot. */
#ifndef EMU_FACTS_ENUM_PCI_FUNCTION_H
#define EMU_FACTS_ENUM_PCI_FUNCTION_H

#include <stdint.h>

#include "emu/facts/enum_table.h"

#define ENUM_FUNCTION(X)                                                                           \
    X(FN, RDMA, 0, "the RDMA device, function 1 of the slot")                                      \
    X(FN, NET, 1, "virtio-net, function 0 of the slot: owner of the MAC and the addresses")

enum pci_function { ENUM_FUNCTION(ENUM_MEMBER) };

#define HOST_FUNCTIONS 2u /* size of arrays indexed by enum pci_function */

/* Returns the number of @function in the slot of its host: 0 for virtio-net, 1 for the RDMA
 * device.
 */
static inline uint32_t pci_number_of(enum pci_function function)
{
    return function == FN_NET ? 0 : 1;
}

#endif
