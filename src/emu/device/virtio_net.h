/* SPDX-License-Identifier: MIT */
/* The virtio-net device: one receive and one transmit queue, no offloads.  [virtio 1.2, 5.1]
 *
 *	driver -> notify -> doorbell -> port's egress, one frame at a time -> net
 *	net -> port -> the next receive buffer in guest memory -> interrupt
 *
 * Offered beside the common features are MAC, MTU and STATUS.  Without a control queue there is no
 * filter: the port takes the own MAC and every group.
 *
 * Where MRG_RXBUF is agreed on, a frame fills as many receive buffers as it needs, which the driver
 * gets all at once; if there are too few of them they stay the device's, and the frame is dropped.
 *
 * The device is safe against a hostile guest: whatever a ring or a header says leads to a frame, a
 * counted drop, or DEVICE_NEEDS_RESET.
 */
#ifndef EMU_DEVICE_VIRTIO_NET_H
#define EMU_DEVICE_VIRTIO_NET_H

#include "emu/device/eth_port.h"
#include "emu/mem/ram.h"
#include "emu/virtio/pci.h"

#define VNET_DOORBELL_NS 100u /* from the notification to the first look at the ring */
#define VNET_QUEUE_SIZE  256u
#define VNET_VECTORS     3u

struct vnet_config {
    uint32_t host;
    uint8_t mac[MAC_BYTES];
    uint64_t features_off;
    bool packed;    /* RING_PACKED is offered */
    bool mergeable; /* offers MRG_RXBUF */
};

struct vnet {
    struct vnet_config config;
    struct sim *sim;
    struct trace *trace;
    struct ram *ram;
    struct eth_port *port;
    struct virtio_dev pci;
    bool doorbell_due; /* of the transmit queue: a SIM_DOORBELL is scheduled */
    bool tx_ready;     /* the transmit queue was kicked and not found empty since */
    ev_id tx_kick;     /* the event that last rang its doorbell */
    uint64_t tx_frames, rx_frames;
    uint64_t tx_drops[DROP_COUNT]; /* of what the driver wanted to send */
    struct vq_chain chain;         /* the one being read: too large for the stack */
};

/* What a device stands on; everything outlives it. */
struct vnet_env {
    struct arena *arena;
    struct sim *sim;
    struct ram *ram;
    struct eth_port *port;
};

/* A device after power-on.  @v is at its place for good.  False: the arena is full. */
bool vnet_init(struct vnet *v, const struct vnet_env *env, const struct vnet_config *config);

/* The port's link came up, or went down: the configuration says so. */
void vnet_link_changed(struct vnet *v, bool up);

/* Handler of SIM_DOORBELL. */
void vnet_doorbell(struct vnet *v, uint32_t queue);

#endif
