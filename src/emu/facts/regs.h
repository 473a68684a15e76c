/* SPDX-License-Identifier: MIT */
/* The registers of a virtio-pci device in BAR 0.
 *
 * A driver finds the structures of virtio through PCI capabilities.  In this device they are at
 * fixed offsets of BAR 0.  The common configuration is virtio 1.2, 4.1.4.3 (struct
 * virtio_pci_common_cfg).
 */
#ifndef EMU_FACTS_REGS_H
#define EMU_FACTS_REGS_H

#define BAR_COMMON        0x0000u  /* common configuration, 4.1.4.3: enum reg */
#define BAR_ISR           0x0100u  /* ISR status, 4.1.4.5: reading clears it */
#define BAR_DEVICE        0x1000u  /* device configuration of the device type, 4.1.4.6 */
#define BAR_NOTIFY        0x10000u /* notifications, 4.1.4.4: queue q at q x NOTIFY_MULTIPLIER */
#define NOTIFY_MULTIPLIER 4u

#define VIRTIO_NO_VECTOR 0xffffu

/* X(prefix, NAME, offset in the common configuration, text).  virtio_reg_bytes() in virtio/pci.c
 * returns the width of a register.  ISR, DEVICE_CONFIG and NOTIFY are not registers of the common
 * configuration: each stands for a whole structure, and its number is the offset in the BAR.
 */
#define ENUM_REG(X)                                                                                \
    X(REG, DEVICE_FEATURE_SELECT, 0, "which 32 device feature bits are shown")                     \
    X(REG, DEVICE_FEATURE, 4, "device feature bits")                                               \
    X(REG, DRIVER_FEATURE_SELECT, 8, "which 32 driver feature bits are written")                   \
    X(REG, DRIVER_FEATURE, 12, "driver feature bits")                                              \
    X(REG, CONFIG_MSIX_VECTOR, 16, "vector of configuration changes")                              \
    X(REG, NUM_QUEUES, 18, "number of virtqueues")                                                 \
    X(REG, DEVICE_STATUS, 20, "device status; writing 0 resets the device")                        \
    X(REG, CONFIG_GENERATION, 21, "changes when the device configuration does")                    \
    X(REG, QUEUE_SELECT, 22, "which queue the following registers are of")                         \
    X(REG, QUEUE_SIZE, 24, "entries of the queue; the driver may lower it")                        \
    X(REG, QUEUE_MSIX_VECTOR, 26, "vector of the queue's interrupts")                              \
    X(REG, QUEUE_ENABLE, 28, "1: the device may use the queue")                                    \
    X(REG, QUEUE_NOTIFY_OFF, 30, "where the queue is notified")                                    \
    X(REG, QUEUE_DESC, 32, "guest-physical address of the descriptor table")                       \
    X(REG, QUEUE_DRIVER, 40, "guest-physical address of the avail ring")                           \
    X(REG, QUEUE_DEVICE, 48, "guest-physical address of the used ring")                            \
    X(REG, QUEUE_NOTIFY_DATA, 56, "value to notify with")                                          \
    X(REG, QUEUE_RESET, 58, "1: reset this queue (RING_RESET)")                                    \
    X(REG, ISR, 0x100, "interrupt status: bit 0 queue, bit 1 configuration")                       \
    X(REG, DEVICE_CONFIG, 0x1000, "device configuration")                                          \
    X(REG, NOTIFY, 0x10000, "notification of a queue")

#define REG_COMMON_BYTES 60u

#define REG_MEMBER(prefix, name, value, text) prefix##_##name = (value),
enum reg { ENUM_REG(REG_MEMBER) };

#endif
