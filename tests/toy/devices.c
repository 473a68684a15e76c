/* SPDX-License-Identifier: MIT */
/* The types of devices of a program whose hosts have the toy RNIC unless told otherwise. */
#include "toy/devices.h"

#include "emu/lab/devices.h"

const struct device_parts host_devices[DEVICE_TYPES] = {
    [DEVICE_virtio] = {.name = "toy RNIC", .init = toy_new, .driver = &toy_driver},
};
