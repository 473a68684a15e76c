/* SPDX-License-Identifier: MIT */
/* The device's side of a split virtqueue: takes chains, gives them back.
 *
 * Nothing that is read from guest RAM is trusted: whatever the driver put there, vq_pop() gives a
 * chain whose buffers are inside RAM, or the queue is broken and says why (enum vq_error).  A
 * broken queue stays so until it is reset.  Descriptors are read once, so that a driver which
 * changes them later changes nothing.
 */
#ifndef EMU_VIRTIO_VQ_DEVICE_H
#define EMU_VIRTIO_VQ_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/facts/enums.h"
#include "emu/mem/ram.h"
#include "emu/virtio/vring.h"

/* More buffers or bytes than any request of this device has. */
#define VQ_SEGS_MAX        256u
#define VQ_CHAIN_BYTES_MAX 65536u

struct vq {
    struct vring ring;
    bool enabled;
    bool event_idx, indirect; /* negotiated */
    enum vq_error broken;
    bool held_kick;       /* heard while memory could not be reached */
    uint16_t vector;      /* MSI-X, or VIRTIO_NO_VECTOR */
    uint16_t last_avail;  /* chains taken */
    uint16_t seen_avail;  /* chains offered, when last looked: at least those that are taken */
    uint16_t used_idx;    /* chains given back */
    uint16_t avail_event; /* as last published */
    uint32_t pushed;      /* given back since vq_wants_interrupt() was last asked */
};

/* One buffer: guest-physical, checked to be RAM. */
struct vq_seg {
    uint64_t gpa;
    uint32_t bytes;
};

/* A taken chain: first the buffers that the device reads, then those that it writes. */
struct vq_chain {
    uint16_t head; /* of the descriptor chain: what vq_push() wants */
    uint32_t n_readable, n_writable;
    uint32_t readable_bytes, writable_bytes;
    struct vq_seg segs[VQ_SEGS_MAX]; /* n_readable + n_writable are filled */
};

enum vq_pop { VQ_EMPTY, VQ_GOT, VQ_BROKEN };

/* Takes the next chain.  When there is none, asks (EVENT_IDX) to be told of the next one.
 * VQ_BROKEN: vq->broken says how; @out is undefined.
 */
enum vq_pop vq_pop(struct vq *vq, struct ram *ram, struct vq_chain *out);

/* How many chains wait; 0 when the queue is broken, which this may find out. */
uint32_t vq_avail_count(struct vq *vq, const struct ram *ram);

/* Copies readable bytes @offset .. @offset + @n - 1, however the driver has cut them into buffers.
 * Returns how many there were.
 */
size_t vq_chain_read(const struct ram *ram, const struct vq_chain *c, size_t offset, void *out,
                     size_t n);

/* The same into the writable bytes.  Returns how many found room (fewer if the arena is full). */
size_t vq_chain_write(struct ram *ram, const struct vq_chain *c, size_t offset, const void *in,
                      size_t n);

/* Gives a chain back, with @len bytes written to it: the used element, then used.idx.  False: the
 * used ring is outside RAM, the queue is broken.
 */
bool vq_push(struct vq *vq, struct ram *ram, uint16_t head, uint32_t len);

/* Must the driver be interrupted for what was pushed since the last question?  By avail.flags, or
 * by used_event with EVENT_IDX.
 */
bool vq_wants_interrupt(struct vq *vq, const struct ram *ram);

/* Asks the driver to notify this queue of the next buffer, however many wait in it: for who wants
 * to know their number, and not only that there are some.
 */
void vq_want_kick(struct vq *vq, struct ram *ram);

/* Asks the driver not to notify this queue (CQs: the device looks for a buffer when it needs one).
 * Without EVENT_IDX by used.flags; with it by leaving avail_event behind, which is no promise: an
 * index passes it once in 2^16 entries.
 */
void vq_refuse_kicks(struct vq *vq, struct ram *ram);

#endif
