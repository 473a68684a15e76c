/* SPDX-License-Identifier: MIT */
/* A function as a kernel hands it to a driver, for tests of the device behind it. */
#ifndef TESTS_UNIT_VIRTIO_FUNCTION_UP_H
#define TESTS_UNIT_VIRTIO_FUNCTION_UP_H

#include "emu/facts/enum/pci_field.h"
#include "emu/virtio/function.h"

/* Enables memory access, bus mastering, and MSI-X with all vectors unmasked. */
static inline void function_up(struct pci_fn *f)
{
    fn_config_write(f, PCI_COMMAND, 2, PCI_CMD_MEMORY | PCI_CMD_MASTER);
    fn_config_write(f, PCI_MSIX_CONTROL, 2, MSIX_ENABLE);
    for (uint32_t i = 0; i < f->config.n_vectors; i++)
        fn_bar_write(f, VIRTIO_BAR_MSIX, i * MSIX_ENTRY_BYTES + MSIX_CONTROL, 4, 0);
}

#endif
