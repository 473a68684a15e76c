/* SPDX-License-Identifier: MIT */
/* The device configuration explained: its fields (config.def), and the bits of its capabilities
 * (caps.def).
 */
#ifndef EMU_FACTS_VIRTIO_RDMA_CONFIG_H
#define EMU_FACTS_VIRTIO_RDMA_CONFIG_H

#include <stddef.h>
#include <stdint.h>

struct config_row {
    const char *field;
    const char *means;
    const char *kept; /* who keeps to it, and how */
};
extern const struct config_row config_rows[];
extern const size_t n_config_rows;

/* When a bit of device_cap_flags is set. */
enum cap_when { CAP_ALWAYS, CAP_NEVER, CAP_MW, CAP_MEM_MGT, CAP_MCAST_LB };

struct cap_row {
    const char *name;
    unsigned bit;
    enum cap_when when;
    const char *means;
};
extern const struct cap_row cap_rows[];
extern const size_t n_cap_rows;

/* The bits that are set when all of @when, a set of 1 << enum cap_when, hold; CAP_ALWAYS does. */
uint64_t cap_flags(unsigned when);

#endif
