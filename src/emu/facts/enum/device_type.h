/* SPDX-License-Identifier: MIT */
/* The types of RDMA devices that a host can have. */
#ifndef EMU_FACTS_ENUM_DEVICE_TYPE_H
#define EMU_FACTS_ENUM_DEVICE_TYPE_H

#include "emu/facts/enum_table.h"

#define ENUM_DEVICE_TYPE(X)                                                                        \
    X(DEVICE, virtio, 0, "virtio-rdma, the device of the RFC")                                     \
    X(DEVICE, none, 1, "no RDMA device: an ordinary host on the Ethernet, with virtio-net alone")  \
    X(DEVICE, pvrdma, 2,                                                                           \
      "PVRDMA, the paravirtual adapter of VMware, which Linux's vmw_pvrdma drives")

enum device_type { ENUM_DEVICE_TYPE(ENUM_MEMBER) };

#endif
