/* SPDX-License-Identifier: MIT */
/* One guest: its memory, its verbs with the driver of the RDMA device, and its IP stack.
 *
 * Like a real kernel, the guest knows only what it reads from registers, rings, responses and
 * frames.  It shares no state with the device models.  guest/verbs/verbs.h and guest/ip/net.h
 * declare what a guest can do.
 */
#ifndef EMU_GUEST_GUEST_H
#define EMU_GUEST_GUEST_H

#include "emu/base/prng.h"
#include "emu/guest/ip/net.h"
#include "emu/guest/verbs/verbs.h"
#include "emu/guest/virtio_rdma/virtio_rdma.h"

struct guest_config {
    uint32_t host;    /* host number for events */
    uint32_t profile; /* enum profile */
    uint8_t mac[MAC_BYTES];
    uint8_t gid[GUEST_GIDS][GID_BYTES]; /* entries 0 and 1 of the GID table */
    const struct guest_bus *bus;        /* the bus of the guest's PCI slot */
    void *bus_ctx;
    bool use_line;  /* use INTx even if the device has MSI-X */
    bool tables;    /* control requests use indirect descriptor tables */
    bool on_demand; /* accept ON_DEMAND: set up queues when an object needs them */
    /* Bytes of each of virtio-net's receive buffers; 0: each holds a whole frame. */
    uint32_t rx_buffer;
    struct sim *sim;             /* schedules the timers of the IP stack */
    struct directory *directory; /* addresses that are never resolved over the link; NULL: none */
    struct trace *trace;
    struct ram *ram;
};

struct guest {
    struct guest_config config;
    struct pci_bus slot;
    bool line_is_off; /* INTx is masked: it was asserted and no driver claimed it */
    struct space space;
    struct dma_pool dma;
    struct verbs verbs;
    struct virtio_rdma rdma; /* driver of the RDMA function */
    struct guest_net net;    /* driver of virtio-net, and the IP stack */
};

/* Initialises a guest that is not booted.  @g must not move afterwards.  @rng scatters its pages in
 * RAM.  Returns false when the arena is full.
 */
bool guest_init(struct guest *g, struct arena *a, const struct guest_config *config,
                struct prng *rng);

/* Initialises a host without a guest: only its addresses are valid, and no other function may be
 * called on it.
 */
void guest_init_absent(struct guest *g, struct arena *a, const struct guest_config *config);

/* Finds the functions of the slot, initialises them, then sends the RDMA driver's boot requests.
 * g->verbs.up is set when all of them are answered.  Returns RDL_OK, or an error of
 * virtio_rdma_boot(), guest_net_boot() or virtio_rdma_start().
 */
RDL_MUST_CHECK enum rdl_status guest_boot(struct guest *g);

/* Handles an MSI-X message, with which the device wrote @data to @address: calls the interrupt
 * handler of the driver.
 */
void guest_message(struct guest *g, uint64_t address, uint32_t data);

/* Handles INTx, which both functions share and which is asserted and not masked: calls the
 * interrupt handlers of the functions that raised it.  If no driver claims the interrupt, masks
 * INTx for good so that it does not interrupt for ever, and returns false.
 */
bool guest_line(struct guest *g);

/* Returns the driver's side of virtqueue @queue of the RDMA function. */
static inline struct vqd *guest_vq(const struct guest *g, uint32_t queue)
{
    return virtio_rdma_vq(&g->rdma, queue);
}

#endif
