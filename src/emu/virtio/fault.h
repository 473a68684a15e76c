/* SPDX-License-Identifier: MIT */
/* Faults of a device, at the boundary to its driver: between what the one does and what the other
 * finds there something is lost, late, or never was.  [decision 0036]
 *
 *   LOST_KICK       a notification of the driver is not heard
 *   LOST_INTERRUPT  an interrupt for a queue is not sent
 *   LATE_DATA       a buffer is given back before the device's bytes are in it
 *   STUCK_QUEUE     the device takes nothing out of a queue, for a time or until the fault is gone
 *   SPURIOUS        behind a chain that is given back the driver finds another that it did not give
 *
 * A fault is about one queue of a device, or all.  Each kind has its occasions: what would be hit
 * if it were to act.  It lets some pass, acts on the n-th, and as often as it is told to, by chance
 * out of a stream of its own, or where a condition holds.  Whoever comes to an occasion asks
 * virtio_fault_hits(), while d->is_faulty; the other functions here are what follows.
 *
 * Invariants: d->is_faulty if a fault is at work or a queue is stuck; a queue is in d->stuck once.
 */
#ifndef EMU_VIRTIO_FAULT_H
#define EMU_VIRTIO_FAULT_H

#include "emu/base/cold.h"
#include "emu/base/prng.h"
#include "emu/trace/trace.h"
#include "emu/virtio/pci.h"

#define VIRTIO_QUEUE_ANY UINT32_MAX
#define VIRTIO_COUNT_ALL UINT32_MAX /* of occasions that are hit */
#define VIRTIO_ID_BEHIND UINT32_MAX /* SPURIOUS: the number behind the last one that there is */
#define VIRTIO_PPM       1000000u

struct virtio_fault {
    enum fault_kind kind;
    uint32_t number; /* among all faults of the lab, in which order they are tried */
    struct ev_str name;
    uint32_t queue;      /* or VIRTIO_QUEUE_ANY */
    uint32_t qpn, cqn;   /* whose that is, for events; 0: nobody's that has a number */
    uint32_t nth;        /* occasions to let pass, plus 1 */
    uint32_t count;      /* how many are still hit after that, or VIRTIO_COUNT_ALL */
    uint32_t chance_ppm; /* of those; 0: certainly */
    struct prng rng;
    uint64_t time_ns; /* LATE_DATA: how much later; STUCK_QUEUE: how long, 0: until it is gone */
    uint32_t id;      /* SPURIOUS: which chain, or VIRTIO_ID_BEHIND */
    bool (*where)(void *ctx, const struct ev *hit); /* NULL: in any case */
    void *where_ctx;
    uint32_t seen, hits;       /* occasions while it was at work; those that it hit */
    ev_id hit;                 /* the last of them */
    struct virtio_fault *next; /* at work at the same device, by number */
};

/* A queue that is stuck. */
struct virtio_stuck {
    uint32_t queue;
    const struct virtio_fault *by;
    sim_ticket ticket; /* with by->time_ns: when it goes on */
    struct virtio_stuck *next;
};

/* Bytes that the device writes to a chain of @queue, from @offset of what is writable there. */
struct virtio_write {
    uint32_t queue;
    struct ram *ram;
    const struct vq_chain *chain;
    size_t offset;
    const void *in;
    size_t n;
};

/* What is late. */
struct virtio_late;

/* @f is at work from now on, behind those that are, and stays where it is until it is removed. */
void virtio_fault_add(struct virtio_dev *d, struct virtio_fault *f);

/* It is not at work any more, and what it has stopped goes on. */
void virtio_fault_remove(struct virtio_dev *d, struct virtio_fault *f);

/* Does a fault hit what is about to happen with @queue?  Counts it, and emits device_fault.  NULL:
 * none does.
 */
RDL_COLD struct virtio_fault *virtio_fault_hits(struct virtio_dev *d, enum fault_kind kind,
                                                uint32_t queue);

/* May the device take nothing out of @queue?  An empty queue is no occasion. */
RDL_COLD bool virtio_is_stuck(struct virtio_dev *d, uint32_t queue, const struct ram *ram);

/* Handler of SIM_GO_ON: @queue, which is stuck, is so no more. */
void virtio_go_on(struct virtio_dev *d, uint32_t queue);

/* The driver begins anew with @queue, or all: nothing is stuck. */
void virtio_stuck_forget(struct virtio_dev *d, uint32_t queue);

/* Writes late what @fault has hit; if the arena is full, not at all. */
RDL_COLD void virtio_write_late(struct virtio_dev *d, const struct virtio_fault *fault,
                                const struct virtio_write *w);

/* Handler of SIM_LATE_DATA.  Where the queue is not enabled then, what is late is lost; where the
 * driver has enabled it again, it reaches the buffers that were there before.
 */
void virtio_late_arrives(struct virtio_late *late);

/* Writes, as vq_chain_write() does, what goes into a chain that is given back then; or it is late.
 * Returns how many bytes the driver is to think that there are.
 */
static inline size_t virtio_chain_write(struct virtio_dev *d, const struct virtio_write *w)
{
    const struct virtio_fault *late =
        d->is_faulty ? virtio_fault_hits(d, FLT_LATE_DATA, w->queue) : NULL;
    const size_t room = w->chain->writable_bytes;

    if (!late)
        return vq_chain_write(w->ram, w->chain, w->offset, w->in, w->n);
    virtio_write_late(d, late, w);
    return w->n < room ? w->n : room;
}

/* A chain of @queue was given back, with @len bytes: the driver may find another behind it. */
RDL_COLD void virtio_may_invent(struct virtio_dev *d, uint32_t queue, struct ram *ram,
                                uint32_t len);

#endif
