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
    const struct guest_bus *bus;        /* of its slot */
    void *bus_ctx;
    bool use_line;               /* interrupts by INTx, as if there were no MSI-X */
    bool tables;                 /* control requests have their descriptors in tables */
    bool on_demand;              /* virtio-rdma's queues are set up when an object needs them */
    uint32_t rx_buffer;          /* bytes of a receive buffer of virtio-net; 0: a whole frame */
    struct sim *sim;             /* for the timers of the IP stack */
    struct directory *directory; /* who needs not be asked for; NULL: everybody is */
    struct trace *trace;
    struct ram *ram;
};

struct guest {
    struct guest_config config;
    struct pci_bus slot;
    bool line_is_off; /* INTx is masked: it was high, and no driver knew why */
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

/* No guest: its addresses are known, nothing else, and nothing may be asked of it. */
void guest_init_absent(struct guest *g, struct arena *a, const struct guest_config *config);

/* Finds the functions of the slot, brings them up, then sends the RDMA driver's requests of boot.
 * g->verbs.up says whether they are all answered.  Errors as virtio_rdma_boot() and
 * virtio_rdma_start().
 */
RDL_MUST_CHECK enum rdl_status guest_boot(struct guest *g);

/* A message of MSI-X arrived: @data was written to @address. */
void guest_message(struct guest *g, uint64_t address, uint32_t data);

/* The line of INTx, which both functions share, is high, and not masked.  If no driver knows why it
 * is masked for good, so that it does not interrupt for ever: false.
 */
bool guest_line(struct guest *g);

/* The driver's side of a virtqueue. */
static inline struct vqd *guest_vq(const struct guest *g, uint32_t queue)
{
    return virtio_rdma_vq(&g->rdma, queue);
}

#endif
