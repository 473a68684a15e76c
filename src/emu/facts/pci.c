/* SPDX-License-Identifier: MIT */
#include "emu/facts/enum/pci_field.h"

#include <stddef.h>

#include "emu/base/assert.h"

uint32_t pci_field_bytes(uint32_t field)
{
    static const struct {
        enum pci_field field;
        uint32_t bytes;
    } wide[] = {
        {PCI_VENDOR_ID, 2},
        {PCI_DEVICE_ID, 2},
        {PCI_COMMAND, 2},
        {PCI_STATUS, 2},
        {PCI_CLASS_CODE, 3},
        {PCI_BAR0, 4},
        {PCI_BAR1, 4},
        {PCI_BAR2, 4},
        {PCI_BAR3, 4},
        {PCI_BAR4, 4},
        {PCI_BAR5, 4},
        {PCI_CARDBUS_CIS, 4},
        {PCI_EXPANSION_ROM, 4},
        {PCI_SUBSYSTEM_VENDOR_ID, 2},
        {PCI_SUBSYSTEM_ID, 2},
        {PCI_COMMON_OFFSET, 4},
        {PCI_COMMON_LENGTH, 4},
        {PCI_NOTIFY_OFFSET, 4},
        {PCI_NOTIFY_LENGTH, 4},
        {PCI_NOTIFY_MULTIPLIER, 4},
        {PCI_ISR_OFFSET, 4},
        {PCI_ISR_LENGTH, 4},
        {PCI_DEVICE_OFFSET, 4},
        {PCI_DEVICE_LENGTH, 4},
        {PCI_ACCESS_OFFSET, 4},
        {PCI_ACCESS_LENGTH, 4},
        {PCI_ACCESS_DATA, 4},
        {PCI_MSIX_CONTROL, 2},
        {PCI_MSIX_TABLE, 4},
        {PCI_MSIX_PBA, 4},
        {PCI_EXPRESS_FLAGS, 2},
        {PCI_EXPRESS_CAPS, 4},
        {PCI_EXPRESS_CONTROL, 2},
        {PCI_EXPRESS_STATUS, 2},
        {PCI_SRIOV_HEADER, 4},
        {PCI_SRIOV_CAPS, 4},
        {PCI_SRIOV_CONTROL, 2},
        {PCI_SRIOV_STATUS, 2},
        {PCI_SRIOV_INITIAL_VFS, 2},
        {PCI_SRIOV_TOTAL_VFS, 2},
        {PCI_SRIOV_NUM_VFS, 2},
        {PCI_SRIOV_FIRST_OFFSET, 2},
        {PCI_SRIOV_STRIDE, 2},
        {PCI_SRIOV_VF_DEVICE_ID, 2},
        {PCI_SRIOV_PAGES, 4},
        {PCI_SRIOV_PAGE, 4},
        {PCI_SRIOV_BAR0, 4},
        {PCI_SRIOV_BAR1, 4},
        {PCI_SRIOV_BAR2, 4},
        {PCI_SRIOV_BAR3, 4},
        {PCI_SRIOV_BAR4, 4},
        {PCI_SRIOV_BAR5, 4},
        {PCI_SRIOV_MIGRATION, 4},
    };

    for (size_t i = 0; i < ARRAY_LEN(wide); i++) {
        if ((uint32_t)wide[i].field == field)
            return wide[i].bytes;
    }
    return 1;
}
