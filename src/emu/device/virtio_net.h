/* SPDX-License-Identifier: MIT */
/* The virtio-net device: one receive and one transmit queue, no offloads.  [virtio 1.2, 5.1]
 *
 *	driver -> notify -> doorbell -> port's egress, one frame at a time -> net
 *	net -> port -> the next receive buffer in guest memory -> interrupt
 *
 * It offers the common features and MAC, MTU, STATUS and, if configured, MRG_RXBUF.  Without a
 * control queue there is no filter: the port accepts the own MAC and every multicast group.
 *
 * With MRG_RXBUF a frame fills as many receive buffers as it needs, and the driver gets all of them
 * at once.  If there are too few buffers, the device drops the frame and keeps the buffers for the
 * next frame.
 *
 * The device is safe against a hostile guest.  Any content of a ring or a header leads to a frame,
 * a counted drop, or DEVICE_NEEDS_RESET.
 */
#ifndef EMU_DEVICE_VIRTIO_NET_H
#define EMU_DEVICE_VIRTIO_NET_H

#include "emu/mem/ram.h"
#include "emu/rnic/eth_port.h"
#include "emu/virtio/pci.h"

#define VNET_DOORBELL_NS 100u /* from the notification until the device reads the ring */
#define VNET_QUEUE_SIZE  256u
#define VNET_VECTORS     3u /* MSI-X vectors: one for each queue, one for the configuration */

struct vnet_config {
    uint32_t host;
    struct fn_slot slot;
    uint8_t mac[MAC_BYTES];
    uint64_t features_off; /* feature bits not to offer */
    bool packed;           /* offer RING_PACKED */
    bool platform;         /* offer ACCESS_PLATFORM */
    bool mergeable;        /* offer MRG_RXBUF */
};

struct vnet {
    struct vnet_config config;
    struct sim *sim;
    struct trace *trace;
    struct ram *ram;
    struct eth_port *port;
    uint32_t port_user; /* its number at the port */
    struct virtio_dev pci;
    bool doorbell_due; /* a SIM_DOORBELL of the transmit queue is scheduled */
    bool tx_ready;     /* the transmit queue was kicked and is not known to be empty */
    ev_id tx_kick;     /* event of the latest kick of the transmit queue */
    uint64_t tx_frames, rx_frames;
    uint64_t tx_drops[DROPS_MAX]; /* frames of the driver that were dropped, by reason */
    struct vq_chain chain;        /* current chain: too large for the stack */
};

/* Environment of a device: argument of vnet_init().  All pointers must outlive the device. */
struct vnet_env {
    struct arena *arena;
    struct sim *sim;
    struct ram *ram;
    struct eth_port *port;
};

/* Initializes a device as after power-on.  *@v must not move afterwards.  Returns false if the
 * arena is full.
 */
bool vnet_init(struct vnet *v, const struct vnet_env *env, const struct vnet_config *config);

/* Updates the link status in the configuration after the link of the port has come up or gone down,
 * and raises a configuration interrupt.
 */
void vnet_link_changed(struct vnet *v, bool up);

#endif
