/* SPDX-License-Identifier: MIT */
/* Hosts whose guest is a virtual machine: its memory, register accesses and interrupts. */
#include "rdmalab/vm.h"

#include "emu/device/rdma.h"
#include "emu/device/virtio_net.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/lab/bus.h"
#include "emu/lab/devices.h"
#include "emu/lab/lab_state.h"
#include "emu/lab/outer_net.h"
#include "emu/wire/eth.h"

_Static_assert(RDL_VM_REGIONS_MAX == RAM_REGIONS_MAX, "RAM has room for every region");

/* Finds the host of a handle.  Returns RDL_ERR_STATE if its guest is no virtual machine. */
static enum rdl_status vm_host(const struct rdl_lab *lab, rdl_host host, struct host **ret)
{
    struct host *h = lab_host(lab->state, host.raw);

    if (!h)
        return RDL_ERR_STALE;
    if (!h->is_external)
        return RDL_ERR_STATE;
    *ret = h;
    return RDL_OK;
}

bool rdl_vm_is_guest(const struct rdl_lab *lab, rdl_host host)
{
    const struct host *h = lab_host(lab->state, host.raw);

    return h && h->is_external;
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

enum rdl_status rdl_vm_function(const struct rdl_lab *lab, rdl_host host, uint32_t function,
                                struct rdl_vm_function *ret)
{
    struct host *h;
    const enum rdl_status st = vm_host(lab, host, &h);

    if (st != RDL_OK)
        return st;
    if (!host_function(h, function))
        return RDL_ERR_INVAL;
    *ret =
        (struct rdl_vm_function){.waits_for_writes = function == pci_number_of(FN_RDMA) &&
                                                     host_devices[h->device_type].waits_for_writes};
    return RDL_OK;
}

static bool width_is_sound(const struct rdl_vm_access *a)
{
    return a->bytes == 1 || a->bytes == 2 || a->bytes == 4 || (a->bytes == 8 && !a->config);
}

/* Carries out @a, which is valid, on @h.  Returns the value read, or 0. */
static uint64_t act_on(struct host *h, const struct rdl_vm_access *a)
{
    const uint32_t n = a->function;

    if (a->config && a->addr > UINT32_MAX)
        return UINT64_MAX;
    if (a->config && !a->write)
        return host_bus.config_read(h, n, (uint32_t)a->addr, a->bytes);
    if (a->config)
        host_bus.config_write(h, n, (uint32_t)a->addr, a->bytes, (uint32_t)a->value);
    else if (a->write)
        host_bus.write(h, a->addr, a->bytes, a->value);
    else
        return host_bus.read(h, a->addr, a->bytes);
    return 0;
}

enum rdl_status rdl_vm_access(struct rdl_lab *lab, rdl_host host,
                              const struct rdl_vm_access *access, uint64_t *ret)
{
    struct host *h;
    const enum rdl_status st = vm_host(lab, host, &h);

    if (st != RDL_OK)
        return st;
    if (!host_function(h, access->function) || !width_is_sound(access))
        return RDL_ERR_INVAL;
    lab_act(lab->state);
    *ret = act_on(h, access);
    lab_done(lab->state);
    return RDL_OK;
}

enum rdl_status rdl_vm_reset(struct rdl_lab *lab, rdl_host host, uint32_t function)
{
    struct host *h;
    const enum rdl_status st = vm_host(lab, host, &h);

    if (st != RDL_OK)
        return st;
    if (!host_function(h, function))
        return RDL_ERR_INVAL;
    lab_act(lab->state);
    fn_reset(host_function(h, function));
    lab_done(lab->state);
    return RDL_OK;
}

/* Offers all features but these.  Ring features and device features have separate sets of bits. */
static void offer(struct virtio_dev *d, uint64_t rings_off, uint64_t own_off)
{
    virtio_offer(d, d->possible & ~(rings_off & VIRTIO_FEATURES_COMMON) &
                        ~(own_off & ~VIRTIO_FEATURES_COMMON));
}

enum rdl_status rdl_vm_offer(struct rdl_lab *lab, rdl_host host, uint64_t features_off,
                             uint64_t net_off)
{
    struct host *h;
    const enum rdl_status st = vm_host(lab, host, &h);

    if (st != RDL_OK)
        return st;
    if (!host_virtio(h, FN_NET) && !host_virtio(h, FN_RDMA))
        return RDL_ERR_UNSUPPORTED;
    if (host_virtio(h, FN_NET))
        offer(host_virtio(h, FN_NET), features_off, net_off);
    if (host_virtio(h, FN_RDMA))
        offer(host_virtio(h, FN_RDMA), features_off,
              (features_off & RDMA_EXTENSIONS) | rdma_features_lost(features_off));
    return RDL_OK;
}

/* Returns the entry for the callbacks of @h, or a free one.  NULL: there are RDL_VMS_MAX others. */
static struct vm_listener *listener_of(struct rdl_lab *lab, const struct host *h)
{
    struct vm_listener *free = NULL;

    for (uint32_t i = RDL_VMS_MAX; i-- > 0;) {
        struct vm_listener *l = &lab->vms[i];

        if (!l->interrupt && !l->frame)
            free = l;
        else if (l->host == h->index)
            return l;
    }
    if (free)
        *free = (struct vm_listener){.host = h->index};
    return free;
}

enum rdl_status rdl_vm_listen(struct rdl_lab *lab, rdl_host host, rdl_vm_interrupt *interrupt,
                              void *ctx)
{
    struct vm_listener *l;
    struct host *h;
    const enum rdl_status st = vm_host(lab, host, &h);

    if (st != RDL_OK)
        return st;
    l = listener_of(lab, h);
    if (!l)
        return RDL_ERR_LIMIT;
    l->interrupt = interrupt;
    l->ctx = ctx;
    return RDL_OK;
}

void vm_interrupt(const struct lab_state *w, const struct host *h, const struct fn_message *m,
                  uint32_t function)
{
    for (uint32_t i = 0; i < RDL_VMS_MAX; i++) {
        const struct vm_listener *l = &w->lab->vms[i];

        if (l->interrupt && l->host == h->index)
            l->interrupt(l->ctx, function, m->address, m->data);
    }
}

/* --- The Ethernet function of the machine ----------------------------------------------------- */

/* Finds the host of a handle, whose machine brings its Ethernet function. */
static enum rdl_status outer_host(const struct rdl_lab *lab, rdl_host host, struct host **ret)
{
    struct host *h;
    const enum rdl_status st = vm_host(lab, host, &h);

    if (st != RDL_OK)
        return st;
    if (!h->outer)
        return RDL_ERR_UNSUPPORTED;
    *ret = h;
    return RDL_OK;
}

enum rdl_status rdl_vm_ethernet(struct rdl_lab *lab, rdl_host host, rdl_vm_frame *frame, void *ctx)
{
    struct vm_listener *l;
    struct host *h;
    const enum rdl_status st = outer_host(lab, host, &h);

    if (st != RDL_OK)
        return st;
    l = listener_of(lab, h);
    if (!l)
        return RDL_ERR_LIMIT;
    l->frame = frame;
    l->frame_ctx = ctx;
    return RDL_OK;
}

bool vm_frame(const struct lab_state *w, const struct host *h, const struct frame *f)
{
    for (uint32_t i = 0; i < RDL_VMS_MAX; i++) {
        const struct vm_listener *l = &w->lab->vms[i];

        if (!l->frame || l->host != h->index)
            continue;
        l->frame(l->frame_ctx, f->bytes, f->len);
        return true;
    }
    return false;
}

enum rdl_status rdl_vm_send(struct rdl_lab *lab, rdl_host host, const void *frame, size_t bytes)
{
    struct lab_state *w = lab->state;
    struct frame *f;
    struct glance g;
    struct host *h;
    const enum rdl_status st = outer_host(lab, host, &h);

    if (st != RDL_OK)
        return st;
    if (bytes < ETH_BYTES || bytes > ETH_BYTES + h->port.mtu)
        return RDL_ERR_INVAL;
    if (!outer_net_has_room(h->outer))
        return RDL_ERR_QUEUE_FULL;
    f = lab_frame(w, h->index, frame, bytes, &g);
    if (!f)
        return RDL_ERR_NOMEM;
    lab_act(w);
    outer_net_send(h->outer, f);
    lab_done(w);
    return RDL_OK;
}
