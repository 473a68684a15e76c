/* SPDX-License-Identifier: MIT */
/* The hardware of a host in the hands of whoever likes: its RAM and its registers.
 *
 * Both belong to the drivers of its guest.  Somebody else who writes there may leave anything
 * behind, so from then on the host is not held to invariants that are about its rings.
 */
#include "emu/lab/bus.h"

enum rdl_status rdl_ram_read(const struct rdl_lab *lab, rdl_host host, uint64_t gpa, void *out,
                             size_t bytes)
{
    const struct host *h = world_host(lab->world, host.raw);

    if (!h)
        return RDL_ERR_STALE;
    return ram_read(&h->ram, gpa, out, bytes) ? RDL_OK : RDL_ERR_FAULT;
}

enum rdl_status rdl_ram_write(struct rdl_lab *lab, rdl_host host, uint64_t gpa, const void *in,
                              size_t bytes)
{
    struct host *h = world_host(lab->world, host.raw);

    if (!h)
        return RDL_ERR_STALE;
    h->has_stranger = true;
    return ram_write(&h->ram, gpa, in, bytes) ? RDL_OK : RDL_ERR_FAULT;
}

/* @function, or NULL: there is no such function, or not this width. */
static struct pci_fn *function_of(struct host *h, uint32_t function, uint32_t width)
{
    if (width != 1 && width != 2 && width != 4 && width != 8)
        return NULL;
    return function < HOST_FUNCTIONS ? &h->functions[function] : NULL;
}

/* Where @offset of the function's BAR 0 is. */
static uint64_t bar_gpa(const struct pci_fn *f, uint32_t offset)
{
    return f->bar[FN_BAR_VIRTIO] + (uint64_t)offset;
}

enum rdl_status rdl_reg_read(struct rdl_lab *lab, rdl_host host, uint32_t function, uint32_t offset,
                             uint32_t width, uint64_t *ret)
{
    struct host *h = world_host(lab->world, host.raw);
    const struct pci_fn *f;

    if (!h)
        return RDL_ERR_STALE;
    f = function_of(h, function, width);
    if (!f)
        return RDL_ERR_INVAL;
    world_act(lab->world);
    *ret = host_bus.read(h, bar_gpa(f, offset), width);
    world_done(lab->world);
    return RDL_OK;
}

enum rdl_status rdl_reg_write(struct rdl_lab *lab, rdl_host host, uint32_t function,
                              uint32_t offset, uint32_t width, uint64_t value)
{
    struct host *h = world_host(lab->world, host.raw);
    const struct pci_fn *f;

    if (!h)
        return RDL_ERR_STALE;
    f = function_of(h, function, width);
    if (!f)
        return RDL_ERR_INVAL;
    h->has_stranger = true;
    world_act(lab->world);
    host_bus.write(h, bar_gpa(f, offset), width, value);
    world_done(lab->world);
    return RDL_OK;
}
