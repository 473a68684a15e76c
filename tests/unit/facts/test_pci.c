/* SPDX-License-Identifier: MIT */
/* Our names and values for PCI, compared with Linux's headers. */
#include "testing.h"

#include "emu/facts/enum/pci_field.h"
#include "emu/facts/regs.h"
#include "emu/facts/virtio/pci.h"

/* Before Linux takes the same names for itself. */
static const uint32_t ours[] = {
    PCI_VENDOR_ID,
    PCI_COMMAND,
    PCI_STATUS,
    PCI_REVISION_ID,
    PCI_CLASS_CODE,
    PCI_HEADER_TYPE,
    PCI_BAR0,
    PCI_BAR5,
    PCI_CARDBUS_CIS,
    PCI_EXPANSION_ROM,
    PCI_CAPABILITIES,
    PCI_SUBSYSTEM_VENDOR_ID,
    PCI_INTERRUPT_LINE,
    PCI_INTERRUPT_PIN,
    PCI_CMD_MEMORY,
    PCI_CMD_MASTER,
    PCI_CMD_INTX_OFF,
    PCI_STS_INTERRUPT,
    PCI_STS_CAP_LIST,
    PCI_CAP_ID_VENDOR,
    PCI_CAP_ID_MSIX,
    MSIX_SIZE_MASK,
    MSIX_FUNCTION_MASK,
    MSIX_ENABLE,
    MSIX_ENTRY_BYTES,
    MSIX_ADDRESS,
    MSIX_ADDRESS_HIGH,
    MSIX_DATA,
    MSIX_CONTROL,
    MSIX_ENTRY_MASK,
    VIRTIO_CAP_COMMON,
    VIRTIO_CAP_NOTIFY,
    VIRTIO_CAP_ISR,
    VIRTIO_CAP_DEVICE,
    VIRTIO_CAP_PCI,
    REG_DEVICE_FEATURE_SELECT,
    REG_DEVICE_FEATURE,
    REG_CONFIG_MSIX_VECTOR,
    REG_NUM_QUEUES,
    REG_DEVICE_STATUS,
    REG_CONFIG_GENERATION,
    REG_QUEUE_SELECT,
    REG_QUEUE_SIZE,
    REG_QUEUE_MSIX_VECTOR,
    REG_QUEUE_ENABLE,
    REG_QUEUE_NOTIFY_OFF,
    REG_QUEUE_DESC,
    REG_QUEUE_DRIVER,
    REG_QUEUE_DEVICE,
    VIRTIO_CAP_BYTES,
};

#undef PCI_CAP_ID_MSIX
#include <linux/pci_regs.h>
#include <linux/virtio_pci.h>

static const uint32_t theirs[] = {
    PCI_VENDOR_ID,
    PCI_COMMAND,
    PCI_STATUS,
    PCI_REVISION_ID,
    PCI_CLASS_PROG,
    PCI_HEADER_TYPE,
    PCI_BASE_ADDRESS_0,
    PCI_BASE_ADDRESS_5,
    PCI_CARDBUS_CIS,
    PCI_ROM_ADDRESS,
    PCI_CAPABILITY_LIST,
    PCI_SUBSYSTEM_VENDOR_ID,
    PCI_INTERRUPT_LINE,
    PCI_INTERRUPT_PIN,
    PCI_COMMAND_MEMORY,
    PCI_COMMAND_MASTER,
    PCI_COMMAND_INTX_DISABLE,
    PCI_STATUS_INTERRUPT,
    PCI_STATUS_CAP_LIST,
    PCI_CAP_ID_VNDR,
    PCI_CAP_ID_MSIX,
    PCI_MSIX_FLAGS_QSIZE,
    PCI_MSIX_FLAGS_MASKALL,
    PCI_MSIX_FLAGS_ENABLE,
    PCI_MSIX_ENTRY_SIZE,
    PCI_MSIX_ENTRY_LOWER_ADDR,
    PCI_MSIX_ENTRY_UPPER_ADDR,
    PCI_MSIX_ENTRY_DATA,
    PCI_MSIX_ENTRY_VECTOR_CTRL,
    PCI_MSIX_ENTRY_CTRL_MASKBIT,
    VIRTIO_PCI_CAP_COMMON_CFG,
    VIRTIO_PCI_CAP_NOTIFY_CFG,
    VIRTIO_PCI_CAP_ISR_CFG,
    VIRTIO_PCI_CAP_DEVICE_CFG,
    VIRTIO_PCI_CAP_PCI_CFG,
    VIRTIO_PCI_COMMON_DFSELECT,
    VIRTIO_PCI_COMMON_DF,
    VIRTIO_PCI_COMMON_MSIX,
    VIRTIO_PCI_COMMON_NUMQ,
    VIRTIO_PCI_COMMON_STATUS,
    VIRTIO_PCI_COMMON_CFGGENERATION,
    VIRTIO_PCI_COMMON_Q_SELECT,
    VIRTIO_PCI_COMMON_Q_SIZE,
    VIRTIO_PCI_COMMON_Q_MSIX,
    VIRTIO_PCI_COMMON_Q_ENABLE,
    VIRTIO_PCI_COMMON_Q_NOFF,
    VIRTIO_PCI_COMMON_Q_DESCLO,
    VIRTIO_PCI_COMMON_Q_AVAILLO,
    VIRTIO_PCI_COMMON_Q_USEDLO,
    sizeof(struct virtio_pci_cap),
};

static void numbers_are_those_of_linux(void **state)
{
    (void)state;
    assert_int_equal(ARRAY_LEN(ours), ARRAY_LEN(theirs));
    for (size_t i = 0; i < ARRAY_LEN(ours); i++) {
        if (ours[i] != theirs[i])
            fail_msg("row %zu: %x, and Linux has %x", i, ours[i], theirs[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_are_those_of_linux)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
