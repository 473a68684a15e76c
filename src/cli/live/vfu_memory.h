/* SPDX-License-Identifier: MIT */
/* The guest memory that vfio-user clients have mapped for the functions of a host.
 *
 * A client maps and unmaps one region at a time, for each function anew.  The lists of all
 * functions of a machine become the same, so the host has the memory of the first function that has
 * any.  The files behind the regions are mapped once (vm_memory.h), however many regions they have.
 *
 * Regions without a descriptor are not in a list: the devices cannot access them.
 */
#ifndef CLI_LIVE_VFU_MEMORY_H
#define CLI_LIVE_VFU_MEMORY_H

#include "cli/live/vm_memory.h"

#define VFU_FUNCTIONS 2u
#define VFU_MAPS_MAX  15u /* regions of a function */

struct vfu_memory {
    struct rdl_lab *lab;
    rdl_host host;
    struct vm_memory files;
    struct vfu_maps {
        struct rdl_vm_region regions[VFU_MAPS_MAX];
        uint32_t n;
        bool without; /* the client has mapped a region without a descriptor */
    } functions[VFU_FUNCTIONS];
};

/* Initializes @m for @host, which has no memory then. */
void vfu_memory_init(struct vfu_memory *m, struct rdl_lab *lab, rdl_host host);

/* Removes the memory of the host. */
void vfu_memory_done(struct vfu_memory *m);

/* A region to map.  @fd is -1 if it has no descriptor; the caller keeps @fd. */
struct vfu_region_map {
    uint64_t gpa, bytes, offset; /* @offset is that in the file */
    int fd;
    bool writable;
};

/* Maps a region for @function.  Returns 0, or an errno, and then nothing has changed: EINVAL if the
 * region is out of range or longer than its file, EEXIST if it overlaps another one, ENOSPC if
 * there are too many, EPERM or EACCES as vm_memory_file() says.
 */
int vfu_memory_map(struct vfu_memory *m, uint32_t function, const struct vfu_region_map *map);

/* Unmaps the regions of @function that are in the given range; others stay. */
void vfu_memory_unmap(struct vfu_memory *m, uint32_t function, uint64_t gpa, uint64_t bytes);
void vfu_memory_unmap_all(struct vfu_memory *m, uint32_t function);

/* Tells, once a guest's firmware has run, why @m is not the guest's memory.  Returns NULL if it is,
 * as far as this can be seen.
 */
const char *vfu_memory_obstacle(const struct vfu_memory *m, uint32_t function);

#endif
