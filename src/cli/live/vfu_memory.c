/* SPDX-License-Identifier: MIT */
#include "cli/live/vfu_memory.h"

#include <errno.h>
#include <string.h>

#define LOW_BYTES                                                                                  \
    ((size_t)640 * 1024) /* memory that every PC's firmware uses: its interrupt vectors */

_Static_assert(VFU_MAPS_MAX <= RDL_VM_REGIONS_MAX, "a lab has room for every region");
_Static_assert(VFU_FUNCTIONS *VFU_MAPS_MAX < VM_FILES_MAX,
               "each region may be in another file, and one more that replaces one");

void vfu_memory_init(struct vfu_memory *m, struct rdl_lab *lab, rdl_host host)
{
    *m = (struct vfu_memory){.lab = lab, .host = host};
}

/* Unmaps the files of which no region is left. */
static void forget_files(struct vfu_memory *m)
{
    for (size_t i = 0; i < m->files.n_files; i++) {
        struct vm_file *f = &m->files.files[i];
        const uint8_t *begin = f->at;

        f->used = false;
        for (uint32_t k = 0; k < VFU_FUNCTIONS; k++) {
            const struct vfu_maps *maps = &m->functions[k];

            for (uint32_t j = 0; j < maps->n; j++) {
                const uint8_t *at = maps->regions[j].at;

                f->used |= at >= begin && at < begin + f->bytes;
            }
        }
    }
    vm_memory_unmap_unused(&m->files);
}

/* Gives the host its memory.  The lab does not use a file any more when it is unmapped. */
static enum rdl_status apply(struct vfu_memory *m)
{
    const struct vfu_maps *maps = &m->functions[0];
    enum rdl_status st;

    for (uint32_t i = 1; maps->n == 0 && i < VFU_FUNCTIONS; i++)
        maps = &m->functions[i];
    st = rdl_vm_memory(m->lab, m->host, maps->regions, maps->n);
    if (st == RDL_OK)
        forget_files(m);
    return st;
}

void vfu_memory_done(struct vfu_memory *m)
{
    for (uint32_t i = 0; i < VFU_FUNCTIONS; i++)
        m->functions[i].n = 0;
    /* Fails only for a host without a virtual machine, which has no memory. */
    (void)apply(m);
}

/* Returns 0 if the region may be added to @maps, or an errno. */
static int check(const struct vfu_maps *maps, const struct vfu_region_map *map)
{
    if (map->bytes == 0 || map->gpa > RDL_VM_GPA_MAX || map->bytes > RDL_VM_GPA_MAX - map->gpa)
        return EINVAL;
    for (uint32_t i = 0; i < maps->n; i++) {
        const struct rdl_vm_region *r = &maps->regions[i];

        if (map->gpa < r->gpa + r->bytes && r->gpa < map->gpa + map->bytes)
            return EEXIST;
    }
    return maps->n < VFU_MAPS_MAX ? 0 : ENOSPC;
}

int vfu_memory_map(struct vfu_memory *m, uint32_t function, const struct vfu_region_map *map)
{
    struct vfu_maps *maps = &m->functions[function];
    const int error = check(maps, map);
    const struct vm_file *f;

    if (error)
        return error;
    if (map->fd < 0) {
        maps->without = true;
        return 0;
    }
    f = vm_memory_file(&m->files, map->fd);
    if (!f)
        return errno;
    if (map->bytes > f->bytes || map->offset > f->bytes - map->bytes) {
        forget_files(m);
        return EINVAL;
    }
    maps->regions[maps->n++] =
        (struct rdl_vm_region){map->gpa, map->bytes, (uint8_t *)f->at + map->offset, map->writable};
    if (apply(m) == RDL_OK)
        return 0;
    maps->n--;
    forget_files(m);
    return EINVAL;
}

void vfu_memory_unmap(struct vfu_memory *m, uint32_t function, uint64_t gpa, uint64_t bytes)
{
    struct vfu_maps *maps = &m->functions[function];
    uint32_t n = 0;

    for (uint32_t i = 0; i < maps->n; i++) {
        const struct rdl_vm_region *r = &maps->regions[i];

        if (r->gpa < gpa || r->bytes > bytes || r->gpa - gpa > bytes - r->bytes)
            maps->regions[n++] = *r;
    }
    maps->n = n;
    (void)apply(m); /* regions that are sound */
}

void vfu_memory_unmap_all(struct vfu_memory *m, uint32_t function)
{
    m->functions[function] = (struct vfu_maps){.n = 0};
    (void)apply(m);
}

const char *vfu_memory_obstacle(const struct vfu_memory *m, uint32_t function)
{
    static const uint8_t zeros[4096];
    const struct vfu_maps *maps = &m->functions[function];
    const struct rdl_vm_region *low = NULL;

    if (maps->n == 0)
        return maps->without ? "its memory is in no file: QEMU needs -machine memory-backend=mem "
                               "-object memory-backend-memfd,id=mem,size=...,share=on"
                             : "it has no memory";
    for (uint32_t i = 0; i < maps->n && !low; i++)
        low = maps->regions[i].gpa == 0 ? &maps->regions[i] : NULL;
    if (!low || low->bytes < LOW_BYTES)
        return NULL;
    for (size_t at = 0; at < LOW_BYTES; at += sizeof(zeros)) {
        if (memcmp((const uint8_t *)low->at + at, zeros, sizeof(zeros)) != 0)
            return NULL;
    }
    return "its memory is not shared: memory-backend-memfd needs share=on";
}
