/* SPDX-License-Identifier: MIT */
/* The virtio-rdma device: where registers and rings meet objects, transport and network.
 *
 *	driver -> registers -> notify -> doorbell -> control queue | transport
 *	transport -> port's egress, one frame at a time -> net
 *	net -> port -> parse -> transport -> guest memory, CQE, interrupt
 *
 * Which virtqueue is whose: facts/device.h.
 *
 * The device is safe against a hostile guest: whatever a ring, a request or a WQE says leads to an
 * error response, an error completion, or DEVICE_NEEDS_RESET.
 */
#ifndef EMU_DEVICE_RDMA_H
#define EMU_DEVICE_RDMA_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/device/eth_port.h"
#include "emu/facts/device.h"
#include "emu/facts/profile.h"
#include "emu/hca/hca.h"
#include "emu/mem/ram.h"
#include "emu/virtio/pci.h"
#include "emu/xport/xport.h"
#include "rdmalab/limits.h"

/* Delays of the device; work of the guest's CPU takes no time. */
#define RDMA_DOORBELL_NS 100u  /* from the notification to the first look at the ring */
#define RDMA_CTRL_NS     1000u /* from the notification to the answer of a control request */

#define RDMA_EVENTS_MAX 64u /* that wait for a buffer of the event queue */

struct rdma_config {
    uint32_t host;
    uint8_t mac[MAC_BYTES];
    uint32_t max_cq, max_qp;
    uint32_t first_qpn;
    enum mtu max_mtu; /* the largest path MTU that the device knows */
    uint64_t features_off;
    enum profile profile;
    uint64_t seed;                   /* of the keys */
    uint32_t max_srq;                /* shared receive queues; 0: SRQ is not offered */
    bool packed;                     /* RING_PACKED is offered */
    struct hca_pkeys pkeys;          /* its partitions; n 0: the default one */
    struct rdl_device_limits limits; /* 0 in any of them: the default */
};

/* Queue pairs with something to send, first in first out: each sends one frame in its turn. */
struct rdma_ready {
    uint32_t *ring;  /* QPNs, max_qp + 1 entries */
    bool *is_queued; /* by QPN */
    uint32_t first, len;
};

struct rdma_event {
    enum async_event type;
    uint32_t number;
};

/* Asynchronous events.  Those that wait for a buffer of the event queue are in a ring. */
struct rdma_events {
    struct rdma_event ring[RDMA_EVENTS_MAX];
    uint32_t first, len;
    uint64_t raised, lost;
    bool untold; /* some were lost, and the driver does not know */
};

struct rdma {
    struct rdma_config config;
    struct rdl_device_limits limits; /* as they are now; at most those of config */
    struct arena *arena;
    struct sim *sim;
    struct trace *trace;
    struct ram *ram;
    struct eth_port *port;
    struct progress *progress;
    uint32_t (*peer_of)(void *world, const uint8_t gid[GID_BYTES]);
    void *world;

    struct virtio_dev pci;
    struct hca hca;
    struct xport xport;
    struct rdma_ready ready;
    struct rdma_events events;
    bool booting;         /* control requests are executed at once, without interrupts */
    bool *doorbell_due;   /* by queue: a SIM_DOORBELL is scheduled */
    ev_id *kicks;         /* by queue: the event that last rang the doorbell */
    uint32_t *failed_cqs; /* CQs that overflowed and whose QPs must still learn of it */
    uint32_t n_failed_cqs;
    uint32_t bad_pkeys, bad_qkeys; /* packets dropped for that, since the reset */
    struct vq_chain chain;         /* the WQE or CQE buffer being read: too large for the stack */
    struct vq_chain ctrl; /* the control request: executing it may read others into chain */
};

/* What a device stands on; everything outlives it. */
struct rdma_env {
    struct arena *arena;
    struct sim *sim;
    struct ram *ram;
    struct eth_port *port;
    struct progress *progress;
    uint32_t (*peer_of)(void *world, const uint8_t gid[GID_BYTES]); /* for traces */
    void *world;
};

/* A device after power-on, a user of the port.  @d is at its place for good.  False: the arena is
 * full. */
bool rdma_init(struct rdma *d, const struct rdma_env *env, const struct rdma_config *config);

/* Features of its own that cannot be without some of those that are @off: without RING_RESET a
 * queue could not be given another ring, or one after DRIVER_OK.
 */
static inline uint64_t rdma_features_lost(uint64_t off)
{
    return off & VIRTIO_FEATURE(VF_RING_RESET)
               ? VIRTIO_FEATURE(VF_RESIZE) | VIRTIO_FEATURE(VF_ON_DEMAND)
               : 0;
}

/* The features of its own that it offers. */
static inline uint64_t rdma_features(const struct rdma_config *c)
{
    uint64_t own = RDMA_FEATURES_OWN & ~c->features_off & ~rdma_features_lost(c->features_off);

    if (c->max_srq == 0)
        own &= ~VIRTIO_FEATURE(VF_SRQ);
    return own;
}

static inline bool rdma_offers(const struct rdma_config *c, enum feature_number f)
{
    return (rdma_features(c) & VIRTIO_FEATURE(f)) != 0;
}

static inline uint32_t rdma_queues(const struct rdma_config *c)
{
    if (rdma_offers(c, VF_SRQ))
        return queue_of_srq(c->max_cq, c->max_qp, c->max_srq) + 1;
    return queue_count(c->max_cq, c->max_qp) + rdma_offers(c, VF_EVENTQ);
}

static inline uint32_t rdma_sq(const struct rdma *d, uint32_t qpn)
{
    return queue_of_sends(d->config.max_cq, qpn);
}

static inline uint32_t rdma_rq(const struct rdma *d, uint32_t qpn)
{
    return queue_of_receives(d->config.max_cq, qpn);
}

static inline uint32_t rdma_srq(const struct rdma *d, uint32_t srqn)
{
    return queue_of_srq(d->config.max_cq, d->config.max_qp, srqn);
}

/* The largest path MTU of a queue pair: one that the device knows, and that the Ethernet carries.
 */
enum mtu rdma_active_mtu(const struct rdma *d);

/* Are the memory management extensions offered: fast regions, LOCAL_INV, SEND_WITH_INV? */
static inline bool rdma_has_mem_mgt(const struct rdma *d)
{
    return d->hca.limits.max_fast_pages > 0;
}

/* Does the device need a reset? */
static inline bool rdma_broken(const struct rdma *d)
{
    return (d->pci.status & VS_DEVICE_NEEDS_RESET) != 0;
}

/* Changes limits: rdl_host_limit().  False: one is larger than at power-on; nothing has changed. */
bool rdma_limit(struct rdma *d, const struct rdl_device_limits *to);

/* The link of the port came up, or went down. */
void rdma_link_changed(struct rdma *d, bool up);

/* Can queue pairs that are in a multicast group do without copies of what they send to it? */
static inline bool rdma_blocks_mcast_lb(const struct rdma_config *c)
{
    return rdma_offers(c, VF_MCAST) && profile_has(c->profile, TRAIT_MCAST_BLOCKS_SELF);
}

/* Handlers of SIM_DOORBELL and SIM_QP_TIMER. */
void rdma_doorbell(struct rdma *d, uint32_t queue);
void rdma_timer(struct rdma *d, uint64_t arg);

#endif
