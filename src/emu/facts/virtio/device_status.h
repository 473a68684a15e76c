/* SPDX-License-Identifier: MIT */
/* The bits of the virtio device status.  [virtio 1.2, 2.1] */
#ifndef EMU_FACTS_VIRTIO_DEVICE_STATUS_H
#define EMU_FACTS_VIRTIO_DEVICE_STATUS_H

#include "emu/facts/enum_table.h"

#define ENUM_DEVICE_STATUS(X)                                                                      \
    X(VS, ACKNOWLEDGE, 1u, "the guest has noticed the device")                                     \
    X(VS, DRIVER, 2u, "the guest has a driver for it")                                             \
    X(VS, DRIVER_OK, 4u, "the driver is ready")                                                    \
    X(VS, FEATURES_OK, 8u, "the features are agreed on")                                           \
    X(VS, DEVICE_NEEDS_RESET, 64u, "the device met an error that only a reset mends")              \
    X(VS, FAILED, 128u, "the driver gave up")

enum device_status_bit { ENUM_DEVICE_STATUS(ENUM_MEMBER) };

#endif
