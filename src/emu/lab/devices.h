/* SPDX-License-Identifier: MIT */
/* The types of RDMA devices that hosts can have: each is a device and the driver of our guests. */
#ifndef EMU_LAB_DEVICES_H
#define EMU_LAB_DEVICES_H

#include "emu/facts/enum/device_type.h"
#include "emu/guest/machine/rdma_driver.h"
#include "emu/rnic/rdma_device_init.h"

/* Size of arrays indexed by enum device_type. */
#define DEVICE_TYPE_ONE(...) +1u
#define DEVICE_TYPES         (0u ENUM_DEVICE_TYPE(DEVICE_TYPE_ONE))

struct device_parts {
    const char *name;                 /* what people call it; NULL: no device */
    rdma_device_init *init;           /* NULL: no device */
    const struct rdma_driver *driver; /* NULL: only a virtual machine can drive it */
    bool needs_outer_net;  /* Linux's driver wants an Ethernet function that is no virtio-net */
    bool waits_for_writes; /* a write of a register must take effect before it returns */
};

/* Indexed by enum device_type.  The only symbol of its file, so that a program with other types can
 * be linked: one that defines the table itself does not take ours from the library.
 */
extern const struct device_parts host_devices[DEVICE_TYPES];

#endif
