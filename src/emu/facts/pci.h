/* SPDX-License-Identifier: MIT */
/* The configuration space of a PCI function; its fields are in enum/pci_field.h.
 *
 * The first 64 bytes are the header of every PCI function (type 0).  The capabilities follow them
 * as a list.  Their offsets are the choice of a device: a driver must follow the list from the
 * field CAPABILITIES on.  PCI defines the capabilities of MSI-X and PCI Express, virtio defines its
 * own: virtio/pci.h.
 *
 * The extended capabilities of PCI Express follow as a list of their own from offset 0x100 on. Each
 * begins with a word: ID, version, and offset of the next one.  [PCI Express 5.0, 7.6.3]
 */
#ifndef EMU_FACTS_PCI_H
#define EMU_FACTS_PCI_H

#define PCI_HEADER_BYTES         64u
#define PCI_CONFIG_BYTES         256u
#define PCI_CONFIG_BYTES_EXPRESS 4096u /* of a function with the PCI Express capability */
#define PCI_BARS                 6u

/* Routing ID of function 0 of a host's slot, device 1 of bus 0: bus, device and function number in
 * 8, 5 and 3 bits.  The routing ID of function @n is larger by @n, also of a virtual function,
 * whose number is 8 or more: 00:01.0, 00:01.1, ... 00:02.0.
 */
#define PCI_SLOT_RID          0x08u
#define PCI_RIDS              0x100u /* routing IDs of a bus */
#define PCI_RID_BDF           "%02x:%02x.%u"
#define PCI_RID_BDF_ARGS(rid) (rid) >> 8, (rid) >> 3 & 0x1fu, (rid)&7u

#define PCI_VF_FIRST 8u /* number in the slot of VF 0; those of the others follow */

#define PCI_NO_VENDOR 0xffffu /* vendor ID where no function answers, and of virtual functions */

#define PCI_HEADER_SEVERAL 0x80u /* bit of HEADER_TYPE: the slot has several functions */
#define PCI_BAR_LOW_BITS   0xfu  /* bits of a BAR's register that are not part of the address */

/* Class codes; tools show the second as "Network controller". */
#define PCI_CLASS_ETHERNET      0x020000u
#define PCI_CLASS_NETWORK_OTHER 0x028000u

/* Number of capabilities that fit into configuration space.  A longer list contains a cycle. */
#define PCI_CAPS_MAX 48u

/* The reserved bits of a pointer to a capability, which a driver must mask.  [PCI 3.0, 6.7] */
#define PCI_CAP_POINTER_LOW 3u

/* Offsets of fields in a capability.  The byte at offset 0 is its ID. */
#define PCI_AT_NEXT           1u
#define VIRTIO_AT_LEN         2u
#define VIRTIO_AT_TYPE        3u
#define VIRTIO_AT_BAR         4u
#define VIRTIO_AT_OFFSET      8u
#define VIRTIO_AT_LENGTH      12u
#define VIRTIO_AT_MULTIPLIER  16u /* VIRTIO_CAP_NOTIFY only */
#define VIRTIO_AT_ACCESS_DATA 16u /* VIRTIO_CAP_PCI only */
#define MSIX_AT_CONTROL       2u
#define MSIX_AT_TABLE         4u
#define MSIX_AT_PBA           8u
#define EXPRESS_AT_FLAGS      2u
#define EXPRESS_AT_CAPS       4u
#define EXPRESS_AT_CONTROL    8u
#define EXPRESS_AT_STATUS     10u

/* Capability IDs. */
#define PCI_CAP_ID_VENDOR  0x09u
#define PCI_CAP_ID_EXPRESS 0x10u
#define PCI_CAP_ID_MSIX    0x11u

/* Extended capabilities: the word with which each begins. */
#define PCI_EXT_FIRST       0x100u
#define PCI_EXT_ID_MASK     0xffffu
#define PCI_EXT_VERSION_BIT 16u
#define PCI_EXT_NEXT_BIT    20u
#define PCI_EXT_CAPS_MAX    ((PCI_CONFIG_BYTES_EXPRESS - PCI_EXT_FIRST) / 8) /* fit into the space */
#define PCI_EXT_ID_SRIOV    0x0010u

/* The SR-IOV capability of version 1.  [PCI Express 5.0, 9.3.3] */
#define SRIOV_CAP_BYTES       0x40u
#define SRIOV_VERSION         1u
#define SRIOV_AT_CAPS         0x04u
#define SRIOV_AT_CONTROL      0x08u
#define SRIOV_AT_STATUS       0x0au
#define SRIOV_AT_INITIAL_VFS  0x0cu
#define SRIOV_AT_TOTAL_VFS    0x0eu
#define SRIOV_AT_NUM_VFS      0x10u
#define SRIOV_AT_LINK         0x12u
#define SRIOV_AT_FIRST_OFFSET 0x14u
#define SRIOV_AT_STRIDE       0x16u
#define SRIOV_AT_VF_DEVICE_ID 0x1au
#define SRIOV_AT_PAGES        0x1cu
#define SRIOV_AT_PAGE         0x20u
#define SRIOV_AT_BAR0         0x24u
#define SRIOV_AT_MIGRATION    0x3cu

/* Bit n of SRIOV_PAGES and SRIOV_PAGE is a page of 4 KiB * 2^n.  A function must support these six.
 * [PCI Express 5.0, 9.3.3.12]
 */
#define SRIOV_PAGE_BYTES     4096u
#define SRIOV_PAGES_REQUIRED 0x553u /* 4 KiB, 8 KiB, 64 KiB, 256 KiB, 1 MiB, 4 MiB */

/* Times that software must allow after VF Enable is set before it accesses virtual functions, and
 * after it is cleared before it reads the capability.  [PCI Express 5.0, 9.3.3.3.1]
 */
#define SRIOV_ENABLE_NS  100000000u
#define SRIOV_DISABLE_NS 1000000000u

/* The PCI Express capability of version 2.  [PCI Express 5.0, 7.5.3] */
#define EXPRESS_CAP_BYTES 0x3cu
#define EXPRESS_VERSION   2u
#define EXPRESS_TYPE_BIT  4u
#define EXPRESS_TYPE_MASK 0xfu /* after a shift by EXPRESS_TYPE_BIT */
/* Type of function: an endpoint that is integrated in the root complex.  It has no link. */
#define EXPRESS_INTEGRATED       9u
#define EXPRESS_CAPS_ROLE        (1u << 15) /* role-based error reporting, which is required */
#define EXPRESS_CAPS_RESET       (1u << 28) /* EXPRESS_CONTROL_RESET works */
#define EXPRESS_CONTROL_MASK     0x78ffu    /* bits that keep their value and have no effect */
#define EXPRESS_CONTROL_DEFAULT  0x2810u    /* relaxed ordering, no snoop, reads of 512 bytes */
#define EXPRESS_CONTROL_RELAXED  (1u << 4)
#define EXPRESS_CONTROL_NO_SNOOP (1u << 11)
#define EXPRESS_CONTROL_PAYLOAD  0x00e0u /* the largest payload; a function-level reset keeps it */
#define EXPRESS_CONTROL_RESET    0x8000u /* resets the function; reads as 0 */

/* Message Control of MSI-X.  The low bits are the number of entries in the table minus 1. */
#define MSIX_SIZE_MASK     0x07ffu
#define MSIX_FUNCTION_MASK 0x4000u
#define MSIX_ENABLE        0x8000u

/* Bits of the fields MSIX_TABLE and MSIX_PBA that select the BAR.  The other bits are the offset in
 * the BAR.
 */
#define MSIX_BAR_MASK 7u

#define MSIX_ENTRY_BYTES 16u
#define MSIX_ENTRY_MASK  1u /* bit of an entry's vector control: the vector is masked */

/* Address range for MSI-X messages on a PC: a write to it interrupts a processor.  Bits 12 to 19 of
 * the address select the processor.  The low byte of the data is the vector.
 */
#define MSI_ADDRESS      0xfee00000u
#define MSI_ADDRESS_MASK 0xfff00000u
#define MSI_CPU_SHIFT    12u

#endif
