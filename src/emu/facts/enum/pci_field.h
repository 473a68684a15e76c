/* SPDX-License-Identifier: MIT */
/* The fields and bits of the configuration space of a PCI function, and of its MSI-X table. */
#ifndef EMU_FACTS_ENUM_PCI_FIELD_H
#define EMU_FACTS_ENUM_PCI_FIELD_H

#include <stdint.h>

#include "emu/facts/enum_table.h"
#include "emu/facts/pci.h"

/* X(prefix, NAME, bit, text) */
#define ENUM_PCI_COMMAND(X)                                                                        \
    X(PCI_CMD, MEMORY, 1u << 1, "memory space: the BARs answer")                                   \
    X(PCI_CMD, MASTER, 1u << 2, "bus master: the device may reach memory and send messages")       \
    X(PCI_CMD, INTX_OFF, 1u << 10, "INTx disable: the interrupt line stays low")

#define ENUM_PCI_STATUS(X)                                                                         \
    X(PCI_STS, INTERRUPT, 1u << 3, "the function has an interrupt for INTx")                       \
    X(PCI_STS, CAP_LIST, 1u << 4, "there is a list of capabilities")

/* X(prefix, NAME, offset, text): rows for the fields of the virtio capability @NAME at offset @at.
 * @what is the name of the structure that the capability locates, for the texts.
 */
#define PCI_VIRTIO_CAP(X, NAME, at, what)                                                          \
    X(PCI, NAME##_CAP, (at), what ": capability ID 9, of the vendor's own")                        \
    X(PCI, NAME##_NEXT, (at) + PCI_AT_NEXT, what ": where the next capability is")                 \
    X(PCI, NAME##_LEN, (at) + VIRTIO_AT_LEN, what ": bytes of this capability")                    \
    X(PCI, NAME##_TYPE, (at) + VIRTIO_AT_TYPE, what ": what virtio structure it is about")         \
    X(PCI, NAME##_BAR, (at) + VIRTIO_AT_BAR, what ": the BAR that has the structure")              \
    X(PCI, NAME##_OFFSET, (at) + VIRTIO_AT_OFFSET, what ": where in the BAR it begins")            \
    X(PCI, NAME##_LENGTH, (at) + VIRTIO_AT_LENGTH, what ": its bytes")

#define PCI_AT_NOTIFY 0x50
#define PCI_AT_ACCESS 0x84
#define PCI_AT_MSIX   0x98

/* X(prefix, NAME, number, text).  A field of the header has its offset as number.  So have the
 * capabilities of a virtio function; on another function they can be elsewhere.  The numbers of
 * other fields are PCI_FIELD_ELSEWHERE and more.  pci_field_bytes() returns the width.
 */
#define PCI_FIELD_ELSEWHERE 0x1000

#define ENUM_PCI_FIELD(X)                                                                          \
    X(PCI, VENDOR_ID, 0x00, "who made it; virtio: 1af4")                                           \
    X(PCI, DEVICE_ID, 0x02, "which device it is; virtio: 0x1040 and the virtio device ID")         \
    X(PCI, COMMAND, 0x04, "what the function may do")                                              \
    X(PCI, STATUS, 0x06, "what the function has, and whether it interrupts")                       \
    X(PCI, REVISION_ID, 0x08, "its revision; virtio: 1 or more, no legacy interface")              \
    X(PCI, CLASS_CODE, 0x09, "what kind of function it is: class, subclass, interface")            \
    X(PCI, CACHE_LINE_SIZE, 0x0c, "cache line in words; nothing here needs it")                    \
    X(PCI, LATENCY_TIMER, 0x0d, "of a bus that this one is not")                                   \
    X(PCI, HEADER_TYPE, 0x0e, "0: an ordinary function; bit 7: the slot has several")              \
    X(PCI, BIST, 0x0f, "self-test: none")                                                          \
    X(PCI, BAR0, 0x10, "base address of BAR 0; virtio: of its structures")                         \
    X(PCI, BAR1, 0x14, "base address of BAR 1; virtio: of the MSI-X table and pending bits")       \
    X(PCI, BAR2, 0x18, "base address of BAR 2; virtio: none")                                      \
    X(PCI, BAR3, 0x1c, "base address of BAR 3; virtio: none")                                      \
    X(PCI, BAR4, 0x20, "base address of BAR 4; virtio: none")                                      \
    X(PCI, BAR5, 0x24, "base address of BAR 5; virtio: none")                                      \
    X(PCI, CARDBUS_CIS, 0x28, "of CardBus: none")                                                  \
    X(PCI, SUBSYSTEM_VENDOR_ID, 0x2c, "who made the board")                                        \
    X(PCI, SUBSYSTEM_ID, 0x2e, "which board; virtio: 0x40 or more")                                \
    X(PCI, EXPANSION_ROM, 0x30, "base address of a ROM: none")                                     \
    X(PCI, CAPABILITIES, 0x34, "where the list of capabilities begins")                            \
    X(PCI, INTERRUPT_LINE, 0x3c, "a note of the firmware's; the function ignores it")              \
    X(PCI, INTERRUPT_PIN, 0x3d, "which INTx line: 1 is A, 2 is B")                                 \
    X(PCI, MIN_GNT, 0x3e, "of a bus that this one is not")                                         \
    X(PCI, MAX_LAT, 0x3f, "of a bus that this one is not")                                         \
    PCI_VIRTIO_CAP(X, COMMON, 0x40, "common configuration")                                        \
    PCI_VIRTIO_CAP(X, NOTIFY, PCI_AT_NOTIFY, "notifications")                                      \
    X(PCI, NOTIFY_MULTIPLIER, PCI_AT_NOTIFY + VIRTIO_AT_MULTIPLIER,                                \
      "notifications: bytes between those of two queues")                                          \
    PCI_VIRTIO_CAP(X, ISR, 0x64, "ISR status")                                                     \
    PCI_VIRTIO_CAP(X, DEVICE, 0x74, "device configuration")                                        \
    PCI_VIRTIO_CAP(X, ACCESS, PCI_AT_ACCESS, "access from configuration space")                    \
    X(PCI, ACCESS_DATA, PCI_AT_ACCESS + VIRTIO_AT_ACCESS_DATA,                                     \
      "the bytes of the BAR that the three before name")                                           \
    X(PCI, MSIX_CAP, PCI_AT_MSIX, "MSI-X: capability ID 11 (hexadecimal)")                         \
    X(PCI, MSIX_NEXT, PCI_AT_MSIX + PCI_AT_NEXT, "MSI-X: where the next capability is")            \
    X(PCI, MSIX_CONTROL, PCI_AT_MSIX + MSIX_AT_CONTROL, "MSI-X: enable, mask all, entries less 1") \
    X(PCI, MSIX_TABLE, PCI_AT_MSIX + MSIX_AT_TABLE,                                                \
      "MSI-X: BAR (low 3 bits) and offset of the table")                                           \
    X(PCI, MSIX_PBA, PCI_AT_MSIX + MSIX_AT_PBA,                                                    \
      "MSI-X: BAR (low 3 bits) and offset of the pending bits")                                    \
    X(PCI, EXPRESS_CAP, PCI_FIELD_ELSEWHERE, "PCI Express: capability ID 10 (hexadecimal)")        \
    X(PCI, EXPRESS_NEXT, PCI_FIELD_ELSEWHERE + 1, "PCI Express: where the next capability is")     \
    X(PCI, EXPRESS_FLAGS, PCI_FIELD_ELSEWHERE + 2, "PCI Express: version 2, type of function")     \
    X(PCI, EXPRESS_CAPS, PCI_FIELD_ELSEWHERE + 3, "PCI Express: what the function can do")         \
    X(PCI, EXPRESS_CONTROL, PCI_FIELD_ELSEWHERE + 4, "PCI Express: bit 15 resets the function")    \
    X(PCI, EXPRESS_STATUS, PCI_FIELD_ELSEWHERE + 5, "PCI Express: errors of the bus: none")        \
    X(PCI, SRIOV_HEADER, PCI_FIELD_ELSEWHERE + 6,                                                  \
      "SR-IOV: extended capability ID 10 (hexadecimal), version, where the next one is")           \
    X(PCI, SRIOV_CAPS, PCI_FIELD_ELSEWHERE + 7, "SR-IOV: what it can do; bit 0: migrate VFs")      \
    X(PCI, SRIOV_CONTROL, PCI_FIELD_ELSEWHERE + 8,                                                 \
      "SR-IOV: what the driver lets it do; bit 0: the VFs exist")                                  \
    X(PCI, SRIOV_STATUS, PCI_FIELD_ELSEWHERE + 9, "SR-IOV: migration of VFs: none")                \
    X(PCI, SRIOV_INITIAL_VFS, PCI_FIELD_ELSEWHERE + 10,                                            \
      "SR-IOV: VFs that are its own at first; without migration all of TOTAL_VFS")                 \
    X(PCI, SRIOV_TOTAL_VFS, PCI_FIELD_ELSEWHERE + 11, "SR-IOV: how many VFs it can have")          \
    X(PCI, SRIOV_NUM_VFS, PCI_FIELD_ELSEWHERE + 12,                                                \
      "SR-IOV: how many VFs the driver wants; locked while they exist")                            \
    X(PCI, SRIOV_LINK, PCI_FIELD_ELSEWHERE + 13,                                                   \
      "SR-IOV: number of a function that it depends on; its own: none")                            \
    X(PCI, SRIOV_FIRST_OFFSET, PCI_FIELD_ELSEWHERE + 14,                                           \
      "SR-IOV: routing ID of VF 0 less that of this function")                                     \
    X(PCI, SRIOV_STRIDE, PCI_FIELD_ELSEWHERE + 15,                                                 \
      "SR-IOV: from the routing ID of a VF to that of the next")                                   \
    X(PCI, SRIOV_VF_DEVICE_ID, PCI_FIELD_ELSEWHERE + 16,                                           \
      "SR-IOV: device ID of the VFs, which themselves say ffff")                                   \
    X(PCI, SRIOV_PAGES, PCI_FIELD_ELSEWHERE + 17,                                                  \
      "SR-IOV: page sizes that it supports; bit n: 4 KiB times 2 to the n")                        \
    X(PCI, SRIOV_PAGE, PCI_FIELD_ELSEWHERE + 18,                                                   \
      "SR-IOV: page size of the system: VFs share no page of a BAR")                               \
    X(PCI, SRIOV_BAR0, PCI_FIELD_ELSEWHERE + 19, "SR-IOV: base address of BAR 0 of all VFs")       \
    X(PCI, SRIOV_BAR1, PCI_FIELD_ELSEWHERE + 20, "SR-IOV: base address of BAR 1 of all VFs")       \
    X(PCI, SRIOV_BAR2, PCI_FIELD_ELSEWHERE + 21, "SR-IOV: base address of BAR 2 of all VFs")       \
    X(PCI, SRIOV_BAR3, PCI_FIELD_ELSEWHERE + 22, "SR-IOV: base address of BAR 3 of all VFs")       \
    X(PCI, SRIOV_BAR4, PCI_FIELD_ELSEWHERE + 23, "SR-IOV: base address of BAR 4 of all VFs")       \
    X(PCI, SRIOV_BAR5, PCI_FIELD_ELSEWHERE + 24, "SR-IOV: base address of BAR 5 of all VFs")       \
    X(PCI, SRIOV_MIGRATION, PCI_FIELD_ELSEWHERE + 25, "SR-IOV: state of VFs that migrate: none")

/* The bits of SRIOV_CONTROL.  [PCI Express 5.0, 9.3.3.3] */
#define ENUM_SRIOV_CONTROL(X)                                                                      \
    X(SRIOV, ENABLE, 1u << 0, "VF Enable: the VFs exist")                                          \
    X(SRIOV, MIGRATE, 1u << 1, "VF Migration Enable: not here")                                    \
    X(SRIOV, MIGRATE_IRQ, 1u << 2, "VF Migration Interrupt Enable: not here")                      \
    X(SRIOV, MEMORY, 1u << 3, "VF Memory Space Enable: the BARs of the VFs answer")                \
    X(SRIOV, ARI, 1u << 4,                                                                         \
      "ARI Capable Hierarchy: always 0 of a function that is part of the root complex")

/* X(prefix, NAME, offset in an entry of the MSI-X table, text) */
#define ENUM_MSIX_FIELD(X)                                                                         \
    X(MSIX, ADDRESS, 0, "where the message is written")                                            \
    X(MSIX, ADDRESS_HIGH, 4, "the upper half of that")                                             \
    X(MSIX, DATA, 8, "what is written there")                                                      \
    X(MSIX, CONTROL, 12, "bit 0: masked")                                                          \
    X(MSIX, PENDING, 16, "no part of the table: pending bits of 32 entries")

/* The reasons why an MSI-X message is not sent.  The device sets the pending bit of the vector
 * instead.
 */
#define ENUM_HELD(X)                                                                               \
    X(HELD, VECTOR, 0, "the vector is masked in its entry of the MSI-X table")                     \
    X(HELD, FUNCTION, 1, "all vectors are masked by the message control of MSI-X")                 \
    X(HELD, BUS_MASTER, 2, "bus mastering is off: the function may not write its message")

enum pci_command_bit { ENUM_PCI_COMMAND(ENUM_MEMBER) };
enum pci_status_bit { ENUM_PCI_STATUS(ENUM_MEMBER) };
enum pci_field { ENUM_PCI_FIELD(ENUM_MEMBER) };
enum sriov_control_bit { ENUM_SRIOV_CONTROL(ENUM_MEMBER) };
enum msix_field { ENUM_MSIX_FIELD(ENUM_MEMBER) };
enum held { ENUM_HELD(ENUM_MEMBER) };

/* Returns the width in bytes of @field (enum pci_field), or 1 for any other offset. */
uint32_t pci_field_bytes(uint32_t field);

#endif
