/* SPDX-License-Identifier: MIT */
/* The device's side of a virtqueue, in either format: takes chains, gives them back.
 *
 * A chain is known by its `head`: in a split ring its first descriptor, in a packed one the id of
 * its buffer, which is any number of 16 bits.  Chains taken and given back are counted alike in
 * both.
 *
 * Nothing that is read from guest RAM is trusted: whatever the driver put there, vq_pop() gives a
 * chain whose buffers are inside RAM, or the queue is broken and says why (enum vq_error).  A
 * broken queue stays so until it is reset.  Descriptors are read once, so that a driver which
 * changes them later changes nothing.
 *
 * A driver whose RAM is foreign (mem/ram.h) runs at the same time.  Where the one side writes, and
 * then reads what the other writes and then reads, stands a fence; an entry is seen before the
 * index that counts it.
 */
#ifndef EMU_VIRTIO_VQ_DEVICE_H
#define EMU_VIRTIO_VQ_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/arena.h"
#include "emu/facts/enums.h"
#include "emu/mem/ram.h"
#include "emu/virtio/vring.h"

/* More buffers or bytes than any request of this device has. */
#define VQ_SEGS_MAX        256u
#define VQ_CHAIN_BYTES_MAX 65536u

struct vq_packed; /* what a packed ring needs beside this: vq_format.h */

struct vq {
    struct vring ring;
    struct vq_packed *packed; /* NULL: a split ring */
    bool enabled;
    bool event_idx, indirect; /* negotiated */
    enum vq_error broken;
    bool held_kick;       /* heard while memory could not be reached */
    uint16_t vector;      /* MSI-X, or VIRTIO_NO_VECTOR */
    uint16_t last_avail;  /* chains taken */
    uint16_t seen_avail;  /* chains offered, when last looked: at least those that are taken */
    uint16_t used_idx;    /* chains given back */
    uint16_t avail_event; /* as last published; split */
    uint32_t pushed;      /* given back since vq_wants_interrupt() was last asked; packed: slots */
    uint32_t turn;        /* low bits of the tick of vq_turn_is_over(), and chains taken since it */
    uint32_t n_taken;
};

/* One buffer: guest-physical, checked to be RAM. */
struct vq_seg {
    uint64_t gpa;
    uint32_t bytes;
};

/* A taken chain: first the buffers that the device reads, then those that it writes. */
struct vq_chain {
    uint16_t head; /* first descriptor, or id of the buffer: what vq_push() wants */
    uint32_t n_readable, n_writable;
    uint32_t readable_bytes, writable_bytes;
    struct vq_seg segs[VQ_SEGS_MAX]; /* n_readable + n_writable are filled */
};

/* A chain that is given back. */
struct vq_used {
    uint16_t head;
    uint32_t len; /* bytes written to it */
};

enum vq_pop { VQ_EMPTY, VQ_GOT, VQ_BROKEN };

/* Takes memory for what the device must know of vq->ring, if that is packed; with the ring as it is
 * when a driver enables it.  False: the arena is full.
 */
bool vq_set_up(struct vq *vq, struct arena *a);

/* A driver has enabled the queue: asks to be told of the first chain.  The zeros of a new ring say
 * just that, but for a packed one with EVENT_IDX: there they ask to be told of each.
 */
void vq_started(struct vq *vq, struct ram *ram);

/* Gives that memory back. */
void vq_done(struct vq *vq, struct arena *a);

/* The driver has begun anew with the same ring: nothing was ever offered or given back. */
void vq_restart(struct vq *vq);

/* Of a packed ring: where the device takes the next chain, where it writes the next that it gives
 * back, and the slots of the chain with the id @id that it has; 0: it has none.
 */
struct vring_pos vq_avail_pos(const struct vq *vq);
struct vring_pos vq_used_pos(const struct vq *vq);
uint32_t vq_slots_of(const struct vq *vq, uint16_t id);

/* Do these and the counts of both formats fit together? */
bool vq_invariant(const struct vq *vq);

/* Has the device taken as many chains in tick number @tick as the ring has entries, and are there
 * more?  Then it shall look again in a later tick.  A driver cannot have offered so many unless it
 * runs meanwhile, or its rings and buffers lie over each other so that what the device gives back
 * reads as something new: without this bound such a driver would keep the device for ever, and all
 * who wait for it.
 */
bool vq_turn_is_over(struct vq *vq, const struct ram *ram, uint64_t tick);

/* Takes the next chain.  When there is none, asks (EVENT_IDX) to be told of the next one.
 * VQ_BROKEN: vq->broken says how; @out is undefined.
 */
enum vq_pop vq_pop(struct vq *vq, struct ram *ram, struct vq_chain *out);

/* Puts back the last @n chains that were taken, whose heads are @used, none of which was given
 * back: they are taken again as if for the first time.
 */
void vq_untake(struct vq *vq, const struct vq_used *used, uint32_t n);

/* How many chains wait; 0 when the queue is broken, which this may find out. */
uint32_t vq_avail_count(struct vq *vq, const struct ram *ram);

/* The same, and the queue does not learn of it. */
uint32_t vq_avail_peek(const struct vq *vq, const struct ram *ram);

/* Copies readable bytes @offset .. @offset + @n - 1, however the driver has cut them into buffers.
 * Returns how many there were.
 */
size_t vq_chain_read(const struct ram *ram, const struct vq_chain *c, size_t offset, void *out,
                     size_t n);

/* The same into the writable bytes.  Returns how many found room (fewer if the arena is full). */
size_t vq_chain_write(struct ram *ram, const struct vq_chain *c, size_t offset, const void *in,
                      size_t n);

/* Where writable byte @offset, less than c->writable_bytes, is. */
uint64_t vq_chain_gpa(const struct vq_chain *c, size_t offset);

/* Gives a chain back, with @len bytes written to it: the used element, then used.idx; in a packed
 * ring a descriptor, whose place is given back with as many behind it as the chain had.  False: the
 * ring is outside RAM, the queue is broken.
 */
bool vq_push(struct vq *vq, struct ram *ram, uint16_t head, uint32_t len);

/* Gives @n chains back, 1 or more, that the driver sees all at once or not yet.  Else as vq_push().
 */
bool vq_push_all(struct vq *vq, struct ram *ram, const struct vq_used *used, uint32_t n);

/* Lets the driver find a chain @id with @len bytes behind those that were given back, though none
 * was: the device itself does not count it, and the next that it gives back takes its place.
 */
void vq_invent(struct vq *vq, struct ram *ram, uint32_t id, uint32_t len);

/* Must the driver be interrupted for what was pushed since the last question?  By avail.flags, or
 * by used_event with EVENT_IDX; in a packed ring by the driver area, which may break the queue.
 */
bool vq_wants_interrupt(struct vq *vq, const struct ram *ram);

/* Asks the driver to notify this queue of the next buffer, however many wait in it: for who wants
 * to know their number, and not only that there are some.
 */
void vq_want_kick(struct vq *vq, struct ram *ram);

/* Asks the driver not to notify this queue (CQs: the device looks for a buffer when it needs one).
 * Without EVENT_IDX by used.flags; with it by leaving avail_event behind, which is no promise: an
 * index passes it once in 2^16 entries.  In a packed ring by the flags of the device area.
 */
void vq_refuse_kicks(struct vq *vq, struct ram *ram);

#endif
