/* SPDX-License-Identifier: MIT */
/* Hosts whose guest is a virtual machine: its memory, its accesses, its interrupts. */
#include "rdmalab/vm.h"

#include "emu/lab/world.h"

_Static_assert(RDL_VM_REGIONS_MAX == RAM_REGIONS_MAX, "RAM has room for every region");

/* The host of a handle, if a virtual machine is its guest. */
static enum rdl_status vm_host(const struct rdl_lab *lab, rdl_host host, struct host **ret)
{
    struct host *h = world_host(lab->world, host.raw);

    if (!h)
        return RDL_ERR_STALE;
    if (!h->is_external)
        return RDL_ERR_STATE;
    *ret = h;
    return RDL_OK;
}

static bool overlap(const struct rdl_vm_region *a, const struct rdl_vm_region *b)
{
    return a->gpa < b->gpa + b->bytes && b->gpa < a->gpa + a->bytes;
}

static bool regions_are_sound(const struct rdl_vm_region *r, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (r[i].gpa > RDL_VM_GPA_MAX || r[i].bytes > RDL_VM_GPA_MAX - r[i].gpa ||
            (r[i].bytes && !r[i].at))
            return false;
        for (uint32_t j = 0; j < i; j++) {
            if (overlap(&r[i], &r[j]))
                return false;
        }
    }
    return true;
}

enum rdl_status rdl_vm_memory(struct rdl_lab *lab, rdl_host host,
                              const struct rdl_vm_region *regions, uint32_t n)
{
    struct ram_region all[RAM_REGIONS_MAX];
    struct host *h;
    const enum rdl_status st = vm_host(lab, host, &h);

    if (st != RDL_OK)
        return st;
    if (n > RAM_REGIONS_MAX || !regions_are_sound(regions, n))
        return RDL_ERR_INVAL;
    for (uint32_t i = 0; i < n; i++) {
        const struct rdl_vm_region *r = &regions[i];

        all[i] = (struct ram_region){r->gpa, r->bytes, r->at, r->writable};
    }
    ram_map(&h->ram, all, n);
    return RDL_OK;
}
