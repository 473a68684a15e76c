/* SPDX-License-Identifier: MIT */
/* Virtio devices as PCI functions: their IDs, and the types of their vendor capabilities.
 * Offsets in such a capability are in facts/pci.h.  [virtio 1.2, 4.1.2, 4.1.4]
 */
#ifndef EMU_FACTS_VIRTIO_PCI_H
#define EMU_FACTS_VIRTIO_PCI_H

#define PCI_VENDOR_VIRTIO 0x1af4u
#define PCI_DEVICE_BASE   0x1040u /* PCI device ID minus virtio device ID */
#define VIRTIO_ID_NET     1u
#define VIRTIO_ID_RDMA    42u /* [virtio-rdma RFC, Device ID] */

/* Types of vendor capabilities. */
#define VIRTIO_CAP_COMMON 1u
#define VIRTIO_CAP_NOTIFY 2u
#define VIRTIO_CAP_ISR    3u
#define VIRTIO_CAP_DEVICE 4u
#define VIRTIO_CAP_PCI    5u

/* Bytes of a vendor capability of virtio.  VIRTIO_CAP_NOTIFY and VIRTIO_CAP_PCI have four more. */
#define VIRTIO_CAP_BYTES 16u

#endif
