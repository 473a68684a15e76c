/* SPDX-License-Identifier: MIT */
/* Creates the RDMA device of a host. */
#ifndef EMU_RNIC_RDMA_DEVICE_INIT_H
#define EMU_RNIC_RDMA_DEVICE_INIT_H

#include "emu/pci/function.h"
#include "emu/rnic/rdma_device.h"
#include "emu/rnic/rnic.h"

struct rdma_device_config {
    struct rnic_config nic; /* the device sets @has_mw */
    struct fn_slot slot;
    /* Of virtio alone; another device ignores them. */
    uint64_t features_off; /* feature bits not to offer */
    uint64_t extensions;   /* extensions to offer, of RDMA_EXTENSIONS, unless in features_off */
    uint32_t ceqs;         /* completion event queues, if CEQ is offered */
    bool packed;           /* offer RING_PACKED */
    bool platform;         /* offer ACCESS_PLATFORM */
    uint32_t queue_size;   /* maximum size of a virtqueue, a power of two; 0: 32768 */
    uint32_t total_vfs;    /* virtual functions that it can have, with SR-IOV; 0: none */
    /* Of PVRDMA alone. */
    struct {
        uint32_t version; /* 17 to 20; 0: the latest */
        uint32_t vectors; /* entries of its MSI-X table, 1 or 3; 0: 3 */
    } pvrdma;
};

/* Allocates a device in env->arena, initializes it as after power-on and registers it at the port.
 * Returns false if the arena is full.
 */
typedef bool rdma_device_init(struct rdma_device *ret, const struct rnic_env *env,
                              const struct rdma_device_config *config);

#endif
