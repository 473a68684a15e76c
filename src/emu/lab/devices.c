/* SPDX-License-Identifier: MIT */
#include "emu/lab/devices.h"

#include "emu/device/pvrdma/pvrdma.h"
#include "emu/device/rdma.h"
#include "emu/guest/pvrdma/pvrdma.h"
#include "emu/guest/virtio_rdma/virtio_rdma.h"

const struct device_parts host_devices[DEVICE_TYPES] = {
    [DEVICE_virtio] = {.name = "virtio-rdma",
                       .init = virtio_rdma_new,
                       .driver = &virtio_rdma_driver},
    [DEVICE_pvrdma] = {.name = "PVRDMA",
                       .init = pvrdma_new,
                       .driver = &pvrdma_driver,
                       .needs_outer_net = true,
                       .waits_for_writes = true},
};
