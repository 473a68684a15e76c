/* SPDX-License-Identifier: MIT */
/* The virtio-rdma device: presents an RNIC to a driver, by registers and rings.
 *
 *	driver -> registers -> notify -> doorbell -> control queue | RNIC
 *	RNIC -> work request from a ring | CQE, event and interrupt to the driver
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

#include "emu/facts/device.h"
#include "emu/facts/profile.h"
#include "emu/facts/virtio/feature.h"
#include "emu/hca/cq.h"
#include "emu/rnic/rdma_device_init.h"
#include "emu/rnic/rnic.h"
#include "emu/virtio/pci.h"

/* Delays of the device, in ns of virtual time.  Work of the guest's CPU takes no time. */
#define RDMA_DOORBELL_NS 100u  /* from the notification until the device reads the ring */
#define RDMA_CTRL_NS     1000u /* from the notification until the control request is executed */

/* The completion events of a CQ, with the feature CEQ. */
struct rdma_cq_events {
    uint32_t ceq;     /* number of the CEQ that gets its events */
    uint64_t arm_gpa; /* address of its arming, with the feature ARM_MEM; 0: by REQ_NOTIFY_CQ */
    uint32_t seen;    /* number of the latest arming that was found in memory, if has_seen */
    uint32_t fired;   /* number of the arming of the latest event, if has_fired; otherwise 0 */
    bool has_seen, has_fired;
    bool waits;    /* an event waits for a buffer */
    uint32_t next; /* while it waits: the CQN behind it in the FIFO; 0: it is the last one */
    ev_id cause;   /* cause of the event that waits */
};

/* The FIFO of the CQs whose events wait for a buffer of a CEQ; 0: it is empty. */
struct rdma_ceq {
    uint32_t first, last; /* CQNs */
};

struct rdma {
    struct rdma_device_config config;
    struct rnic nic;
    struct virtio_dev pci;
    bool *doorbell_due; /* indexed by queue: a SIM_DOORBELL is scheduled */
    uint32_t n_ceqs;    /* completion event queues; 0: the device does not offer CEQ */
    struct rdma_ceq ceqs[DEVICE_CEQS_MAX];
    struct rdma_cq_events *cq_events; /* indexed by CQN */
    ev_id *kicks;                     /* indexed by queue: event of the latest kick */
    struct vq_chain chain;            /* current WQE or CQE buffer: too large for the stack */
    struct vq_chain ctrl;             /* current control request: its execution may use `chain` */
};

/* Initializes a device as after power-on and registers it at the port.  *@d must not move
 * afterwards.  Returns false if the arena is full.
 */
bool rdma_init(struct rdma *d, const struct rnic_env *env, const struct rdma_device_config *config);

/* The operations of a device as its host has it; @dev is the struct rdma.  limit() updates the
 * device configuration, and raises a configuration interrupt if it has changed.
 */
extern const struct rdma_device_ops virtio_rdma_device_ops;

/* virtio_rdma_new() makes a device as its host has it; rdma_of() returns this device, or NULL if @d
 * is of another type or no device.
 */
rdma_device_init virtio_rdma_new;
struct rdma *rdma_of(const struct rdma_device *d);

/* Returns the features that the device cannot offer because they need a feature in @off, the set of
 * features that are switched off.  RESIZE and ON_DEMAND need RING_RESET: without it a queue cannot
 * get a ring after DRIVER_OK.  ARM_MEM needs CEQ, and REG_IN_WQE needs the
 * regions of MW.
 */
static inline uint64_t rdma_features_lost(uint64_t off)
{
    return (off & VIRTIO_FEATURE(VF_RING_RESET)
                ? VIRTIO_FEATURE(VF_RESIZE) | VIRTIO_FEATURE(VF_ON_DEMAND)
                : 0) |
           (off & VIRTIO_FEATURE(VF_CEQ) ? VIRTIO_FEATURE(VF_ARM_MEM) : 0) |
           (off & VIRTIO_FEATURE(VF_MW) ? VIRTIO_FEATURE(VF_REG_IN_WQE) : 0);
}

/* Returns the features of virtio-rdma that the device offers: of RDMA_FEATURES_OWN, the
 * extensions of its configuration, and SR_IOV if it can have virtual functions.
 */
static inline uint64_t rdma_features(const struct rdma_device_config *c)
{
    const uint64_t off = c->features_off | (RDMA_EXTENSIONS & ~c->extensions);
    uint64_t own = (RDMA_FEATURES_OWN | RDMA_EXTENSIONS) & ~off & ~rdma_features_lost(off);

    if (c->nic.max_srq == 0)
        own &= ~VIRTIO_FEATURE(VF_SRQ);
    if (c->total_vfs > 0 && !(off & VIRTIO_FEATURE(VF_SR_IOV)))
        own |= VIRTIO_FEATURE(VF_SR_IOV);
    return own;
}

static inline bool rdma_offers(const struct rdma_device_config *c, enum feature_number f)
{
    return (rdma_features(c) & VIRTIO_FEATURE(f)) != 0;
}

/* Returns the number of the virtqueue of completion event queue 0.  Those of the others follow, and
 * they are the last queues of the device.
 */
static inline uint32_t rdma_first_ceq(const struct rdma_device_config *c)
{
    return queue_of_srq(c->nic.max_cq, c->nic.max_qp, rdma_offers(c, VF_SRQ) ? c->nic.max_srq : 0) +
           1;
}

/* Returns the number of virtqueues of the device. */
static inline uint32_t rdma_queues(const struct rdma_device_config *c)
{
    if (rdma_offers(c, VF_CEQ))
        return rdma_first_ceq(c) + c->ceqs;
    if (rdma_offers(c, VF_SRQ))
        return queue_of_srq(c->nic.max_cq, c->nic.max_qp, c->nic.max_srq) + 1;
    return queue_count(c->nic.max_cq, c->nic.max_qp) + rdma_offers(c, VF_EVENTQ);
}

/* Return the number of the virtqueue that is the send queue or the receive queue of queue pair
 * @qpn, or the ring of shared receive queue @srqn.
 */
static inline uint32_t rdma_sq(const struct rdma *d, uint32_t qpn)
{
    return queue_of_sends(d->config.nic.max_cq, qpn);
}

static inline uint32_t rdma_rq(const struct rdma *d, uint32_t qpn)
{
    return queue_of_receives(d->config.nic.max_cq, qpn);
}

static inline uint32_t rdma_srq(const struct rdma *d, uint32_t srqn)
{
    return queue_of_srq(d->config.nic.max_cq, d->config.nic.max_qp, srqn);
}

/* Returns the number of the virtqueue of completion event queue @k. */
static inline uint32_t rdma_ceq(const struct rdma *d, uint32_t k)
{
    return rdma_first_ceq(&d->config) + k;
}

/* Returns true if @queue is that of a CEQ, whether or not the driver has accepted the feature. */
bool rdma_is_ceq(const struct rdma *d, uint32_t queue);

/* Returns true if the driver has accepted the feature CEQ. */
bool rdma_has_ceqs(const struct rdma *d);

/* Returns true if an event of the CEQ whose queue is @queue waits for a buffer. */
bool rdma_ceq_waits(const struct rdma *d, uint32_t queue);

/* Returns the first broken invariant of the CEQs as text, or NULL. */
const char *rdma_ceqs_invariant(const struct rdma *d);

/* Returns the completions that fire the event of @cq, as the device would find its arming now. */
enum cq_arm rdma_cq_arm(const struct rdma *d, const struct cq *cq);

/* Returns true if @cqn is armed by a store in memory. */
bool rdma_arms_in_memory(const struct rdma *d, uint32_t cqn);

/* Returns true if DEVICE_NEEDS_RESET is set. */
static inline bool rdma_broken(const struct rdma *d)
{
    return (d->pci.status & VS_DEVICE_NEEDS_RESET) != 0;
}

/* Returns true if queue pairs can be created with CREATE_BLOCK_SELF_MCAST_LB. */
static inline bool rdma_blocks_mcast_lb(const struct rdma_device_config *c)
{
    return rdma_offers(c, VF_MCAST) && profile_has(c->nic.profile, TRAIT_MCAST_BLOCKS_SELF);
}

#endif
