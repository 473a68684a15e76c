/* SPDX-License-Identifier: MIT */
/* The types of devices of a program whose hosts have the toy RNIC unless told otherwise. */
#include "toy/devices.h"

#include "emu/device/pvrdma/pvrdma.h"
#include "emu/guest/pvrdma/pvrdma.h"
#include "emu/lab/devices.h"

const struct device_parts host_devices[DEVICE_TYPES] = {
    [DEVICE_virtio] = {.name = "toy RNIC", .init = toy_new, .driver = &toy_driver},
    [DEVICE_pvrdma] = {.name = "PVRDMA", .init = pvrdma_new, .driver = &pvrdma_driver},
};
