/* SPDX-License-Identifier: MIT */
/* One guest put together: its memory, verbs with the driver of its RDMA device, and its IP stack.
 *
 * The driver's view is kept apart from the device's: everything here is what a kernel would know,
 * learnt from registers, rings, responses and frames.  What a guest can do is said by its rooms:
 * guest/verbs/verbs.h, guest/ip/net.h.
 */
#ifndef EMU_GUEST_GUEST_H
#define EMU_GUEST_GUEST_H

#include "emu/base/prng.h"
#include "emu/guest/ip/net.h"
#include "emu/guest/verbs/verbs.h"
#include "emu/guest/virtio_rdma/virtio_rdma.h"

struct guest_config {
    uint32_t host; /* named in events */
    uint8_t mac[MAC_BYTES];
    uint8_t gid[GUEST_GIDS][GID_BYTES]; /* entries 0 and 1 of the GID table */
    uint32_t n_vectors;                 /* MSI-X vectors of virtio-rdma, from 1 */
    const struct guest_bus *bus;        /* of both functions */
    void *bus_ctx;                      /* of virtio-rdma */
    void *net_ctx;                      /* of virtio-net; NULL: there is none */
    uint32_t net_vectors;               /* of virtio-net */
    struct sim *sim;                    /* for the timers of the IP stack; needed with net_ctx */
    struct directory *directory;        /* who needs not be asked for; NULL: everybody is */
    struct trace *trace;
    struct ram *ram;
};

struct guest {
    struct guest_config config;
    struct space space;
    struct dma_pool dma;
    struct verbs verbs;
    struct virtio_rdma rdma; /* what drives them */
    struct guest_net net;    /* the other function, and what speaks IP over it */
};

/* A guest that is not booted, at its place for good.  @rng scatters its pages.  False when the
 * arena is full.
 */
bool guest_init(struct guest *g, struct arena *a, const struct guest_config *config,
                struct prng *rng);

/* Brings both functions up, then sends the RDMA driver's requests of boot.  g->verbs.up says
 * whether they are all answered.  Errors as virtio_rdma_boot() and virtio_rdma_start().
 */
RDL_MUST_CHECK enum rdl_status guest_boot(struct guest *g);

/* An interrupt of @function was delivered. */
void guest_interrupt(struct guest *g, enum pci_function function, uint32_t vector);

/* The driver's side of a virtqueue. */
static inline struct vqd *guest_vq(const struct guest *g, uint32_t queue)
{
    return virtio_rdma_vq(&g->rdma, queue);
}

#endif
