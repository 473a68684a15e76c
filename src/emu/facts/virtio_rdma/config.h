/* SPDX-License-Identifier: MIT */
/* Descriptions of the device configuration: its fields (config.def), and the bits of its field
 * device_cap_flags (caps.def).
 */
#ifndef EMU_FACTS_VIRTIO_RDMA_CONFIG_H
#define EMU_FACTS_VIRTIO_RDMA_CONFIG_H

#include <stddef.h>
#include <stdint.h>

struct config_row {
    const char *field; /* name of the field: "max_qp" */
    const char *means; /* meaning of the field */
    /* If the field is a limit: the request that exceeds it, and the response to this request.
     * Otherwise the reason why the field limits nothing.
     */
    const char *kept;
};
extern const struct config_row config_rows[];
extern const size_t n_config_rows;

/* The condition under which a bit of device_cap_flags is set: always, never, or if the device has
 * an ability: memory windows, memory management extensions, CREATE_BLOCK_SELF_MCAST_LB.
 */
enum cap_when { CAP_ALWAYS, CAP_NEVER, CAP_MW, CAP_MEM_MGT, CAP_MCAST_LB };

struct cap_row {
    const char *name;
    unsigned bit;
    enum cap_when when;
    const char *means;
};
extern const struct cap_row cap_rows[];
extern const size_t n_cap_rows;

/* Returns device_cap_flags of a device for which the conditions @when hold, a set of
 * 1 << enum cap_when.  CAP_ALWAYS is implied; CAP_NEVER is ignored.
 */
uint64_t cap_flags(unsigned when);

#endif
