/* SPDX-License-Identifier: MIT */
/* The virtio-rdma device: connects registers and rings with objects, transport and network.
 *
 *	driver -> registers -> notify -> doorbell -> control queue | transport
 *	transport -> port's egress, one frame at a time -> net
 *	net -> port -> parse -> transport -> guest memory, CQE, interrupt
 *
 * The assignment of virtqueues is in facts/device.h.
 *
 * The device is safe against a hostile guest.  Any content of a ring, a request or a WQE leads to
 * an error response, an error completion, or DEVICE_NEEDS_RESET.
 */
#ifndef EMU_DEVICE_RDMA_H
#define EMU_DEVICE_RDMA_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/device/eth_port.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/profile.h"
#include "emu/facts/virtio/feature.h"
#include "emu/hca/hca.h"
#include "emu/mem/ram.h"
#include "emu/virtio/pci.h"
#include "emu/xport/xport.h"
#include "rdmalab/limits.h"

/* Delays of the device, in ns of virtual time.  Work of the guest's CPU takes no time. */
#define RDMA_DOORBELL_NS 100u  /* from the notification until the device reads the ring */
#define RDMA_CTRL_NS     1000u /* from the notification until the control request is executed */

#define RDMA_EVENTS_MAX 64u /* maximum number of pending events */

struct rdma_config {
    uint32_t host;
    uint8_t mac[MAC_BYTES];
    uint32_t max_cq, max_qp;
    uint32_t first_qpn;
    enum mtu max_mtu;                /* maximum path MTU of the device */
    uint64_t features_off;           /* feature bits not to offer */
    uint32_t profile;                /* enum profile */
    uint64_t seed;                   /* seed of the memory keys */
    uint32_t max_srq;                /* largest SRQN; 0: the feature SRQ is not offered */
    bool packed;                     /* offer RING_PACKED */
    struct hca_pkeys pkeys;          /* P_Key table; n 0: only the default partition */
    struct rdl_device_limits limits; /* 0 in a field means the default limit */
};

/* FIFO of the queue pairs with something to send.  The first one sends one frame and, if it has
 * more to send, goes to the end.
 */
struct rdma_ready {
    uint32_t *ring;  /* max_qp + 1 entries: QPNs */
    bool *is_queued; /* indexed by QPN */
    uint32_t first, len;
};

struct rdma_event {
    enum async_event type;
    uint32_t number; /* number of the object: CQN, QPN, SRQN or port */
};

/* Asynchronous events.  The ring holds those that wait for a buffer of the event queue. */
struct rdma_events {
    struct rdma_event ring[RDMA_EVENTS_MAX];
    uint32_t first, len;
    uint64_t raised, lost; /* numbers of events since the last reset */
    bool untold; /* events were lost, and the driver has not received ASYNC_EVENTS_MISSED yet */
};

struct rdma {
    struct rdma_config config;
    struct rdl_device_limits limits; /* current limits, at most those of config */
    struct arena *arena;
    struct sim *sim;
    struct trace *trace;
    struct ram *ram;
    struct eth_port *port;
    struct progress *progress;
    uint32_t (*peer_of)(void *world, const uint8_t gid[GID_BYTES]); /* see struct rdma_env */
    void *world;

    struct virtio_dev pci;
    struct hca hca;
    struct xport xport;
    struct rdma_ready ready;
    struct rdma_events events;
    bool booting;         /* a kick of the control queue executes its requests at once */
    bool *doorbell_due;   /* indexed by queue: a SIM_DOORBELL is scheduled */
    ev_id *kicks;         /* indexed by queue: event of the latest kick */
    uint32_t *failed_cqs; /* overflowed CQs whose QPs are not in ERR yet */
    uint32_t n_failed_cqs;
    /* Numbers of packets dropped for a wrong P_Key or Q_Key since the last reset. */
    uint32_t bad_pkeys, bad_qkeys;
    struct vq_chain chain; /* current WQE or CQE buffer: too large for the stack */
    struct vq_chain ctrl;  /* current control request: its execution may use `chain` */
};

/* Environment of a device: argument of rdma_init().  All pointers must outlive the device. */
struct rdma_env {
    struct arena *arena;
    struct sim *sim;
    struct ram *ram;
    struct eth_port *port;
    struct progress *progress;
    /* Returns the host with the address @gid, or EV_HOST_NONE if there is none.  For events. */
    uint32_t (*peer_of)(void *world, const uint8_t gid[GID_BYTES]);
    void *world; /* argument of peer_of() */
};

/* Initializes a device as after power-on and registers it at the port.  *@d must not move
 * afterwards.  Returns false if the arena is full.
 */
bool rdma_init(struct rdma *d, const struct rdma_env *env, const struct rdma_config *config);

/* Returns the features that the device cannot offer because they need a feature in @off, the set of
 * features that are switched off.  RESIZE and ON_DEMAND need RING_RESET: without it a queue cannot
 * get a ring after DRIVER_OK.
 */
static inline uint64_t rdma_features_lost(uint64_t off)
{
    return off & VIRTIO_FEATURE(VF_RING_RESET)
               ? VIRTIO_FEATURE(VF_RESIZE) | VIRTIO_FEATURE(VF_ON_DEMAND)
               : 0;
}

/* Returns the features of virtio-rdma that the device offers, a part of RDMA_FEATURES_OWN. */
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

/* Returns the number of virtqueues of the device. */
static inline uint32_t rdma_queues(const struct rdma_config *c)
{
    if (rdma_offers(c, VF_SRQ))
        return queue_of_srq(c->max_cq, c->max_qp, c->max_srq) + 1;
    return queue_count(c->max_cq, c->max_qp) + rdma_offers(c, VF_EVENTQ);
}

/* Return the number of the virtqueue that is the send queue or the receive queue of queue pair
 * @qpn, or the ring of shared receive queue @srqn.
 */
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

/* Returns the maximum path MTU of queue pairs: the largest one that the device supports and that
 * fits in the Ethernet MTU.
 */
enum mtu rdma_active_mtu(const struct rdma *d);

/* Returns true if the memory management extensions are offered: fast regions (REG_MR), LOCAL_INV,
 * SEND_WITH_INV and READ_WITH_INV.
 */
static inline bool rdma_has_mem_mgt(const struct rdma *d)
{
    return d->hca.limits.max_fast_pages > 0;
}

/* Returns true if DEVICE_NEEDS_RESET is set. */
static inline bool rdma_broken(const struct rdma *d)
{
    return (d->pci.status & VS_DEVICE_NEEDS_RESET) != 0;
}

/* Implements rdl_host_limit(): changes the limits to those of @to that are not 0.  Updates the
 * device configuration, and raises a configuration interrupt if it has changed.  Returns false
 * without a change if a limit of @to is larger than at power-on.
 */
bool rdma_limit(struct rdma *d, const struct rdl_device_limits *to);

/* Raises PORT_ACTIVE or PORT_ERR after the link of the port has come up or gone down. */
void rdma_link_changed(struct rdma *d, bool up);

/* Returns true if queue pairs can be created with CREATE_BLOCK_SELF_MCAST_LB. */
static inline bool rdma_blocks_mcast_lb(const struct rdma_config *c)
{
    return rdma_offers(c, VF_MCAST) && profile_has(c->profile, TRAIT_MCAST_BLOCKS_SELF);
}

/* rdma_doorbell() is the handler of SIM_DOORBELL: processes the work that was posted to @queue, or
 * remembers the kick while bus mastering is off.  rdma_timer() is the handler of SIM_QP_TIMER; @arg
 * is the argument of xport_timer().
 */
void rdma_doorbell(struct rdma *d, uint32_t queue);
void rdma_timer(struct rdma *d, uint64_t arg);

#endif
