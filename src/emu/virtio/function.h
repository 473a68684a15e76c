/* SPDX-License-Identifier: MIT */
/* The PCI function of a virtio device: where its structures are, and the capabilities that say so.
 *
 *   BAR 0   the virtio structures, at the offsets of facts/regs.h
 *   BAR 1   MSI-X
 *
 * A function that can have virtual functions has PCI Express, and SR-IOV at offset 0x100.
 *
 * Without MSI-X the reason of an interrupt is the ISR status.  The capability VIRTIO_CAP_PCI is a
 * window: three registers in configuration space select bytes of a BAR, the fourth is these bytes.
 */
#ifndef EMU_VIRTIO_FUNCTION_H
#define EMU_VIRTIO_FUNCTION_H

#include "emu/virtio/pci.h"

/* BAR numbers. */
#define VIRTIO_BAR      0u
#define VIRTIO_BAR_MSIX 1u

/* Initializes d->fn for the device @d, whose configuration is valid.  Returns false if the arena is
 * full.
 */
bool virtio_fn_init(struct virtio_dev *d, struct arena *a);

#endif
