/* SPDX-License-Identifier: MIT */
/* The device side of a virtqueue, split or packed: takes chains and completes them.
 *
 * A chain is identified by its `head`.  In a split ring that is its first descriptor, in a packed
 * ring the buffer id, which can be any 16-bit number.  The counts of chains taken and completed
 * work the same way in both formats.
 *
 * Nothing that is read from guest RAM is trusted.  vq_pop() either returns a chain whose buffers
 * are inside RAM, or the queue is broken and vq->broken (enum vq_error) is the reason.  A broken
 * queue stays broken until it is reset.  Each descriptor is read once, so a driver that changes it
 * later has no effect.
 *
 * A driver whose RAM is foreign (mem/ram.h) runs concurrently.  Then two accesses are ordered by a
 * fence: writing an event index before reading the other side's index, and writing entries before
 * writing the index that counts the entries.
 */
#ifndef EMU_VIRTIO_VQ_DEVICE_H
#define EMU_VIRTIO_VQ_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/arena.h"
#include "emu/facts/virtio/vq_error.h"
#include "emu/mem/ram.h"
#include "emu/virtio/vring.h"

/* Limits of a chain: larger than any request of this device.  A longer chain breaks the queue. */
#define VQ_SEGS_MAX        256u
#define VQ_CHAIN_BYTES_MAX 65536u

struct vq_packed; /* state of a packed ring: vq_format.h */

struct vq {
    struct vring ring;
    struct vq_packed *packed; /* NULL for a split ring */
    bool enabled;
    bool event_idx, indirect; /* negotiated features EVENT_IDX and INDIRECT_DESC */
    enum vq_error broken;     /* VQE_NONE: the queue works */
    bool held_kick;           /* a kick arrived while bus mastering was off */
    uint16_t vector;          /* MSI-X vector, or VIRTIO_NO_VECTOR */
    uint16_t last_avail;      /* number of chains taken, modulo 2^16 */
    uint16_t seen_avail;      /* last_avail + number of available chains counted so far */
    uint16_t used_idx;        /* number of chains completed, modulo 2^16 */
    uint16_t avail_event;     /* split ring: avail_event as last written */
    uint32_t pushed;          /* chains (packed: slots) completed since vq_wants_interrupt() */
    uint32_t turn;            /* low 32 bits of the tick of n_taken */
    uint32_t n_taken;         /* number of chains taken in tick @turn: vq_turn_is_over() */
    uint32_t life;            /* how often it was reset, with its device or alone */
};

/* A buffer at guest-physical @gpa, checked to be inside RAM. */
struct vq_seg {
    uint64_t gpa;
    uint32_t bytes;
};

/* A chain taken from the ring: device-readable buffers, then device-writable ones. */
struct vq_chain {
    uint16_t head; /* first descriptor, or buffer id; argument of vq_push() */
    uint32_t n_readable, n_writable;
    uint32_t readable_bytes, writable_bytes;
    struct vq_seg segs[VQ_SEGS_MAX]; /* n_readable + n_writable entries are valid */
};

/* A completed chain. */
struct vq_used {
    uint16_t head;
    uint32_t len; /* number of bytes written to the chain */
};

enum vq_pop { VQ_EMPTY, VQ_GOT, VQ_BROKEN };

/* Initializes the indexes and counts for vq->ring when a driver enables the queue.  A packed ring
 * needs memory: free it with vq_done().  Returns false if the arena is full.
 */
bool vq_set_up(struct vq *vq, struct arena *a);

/* Requests a notification of the first chain of a queue that the driver has enabled.  RAM must be
 * accessible.  A new split ring needs no write: its zeros already are this request.  The zeros of a
 * new packed ring request a notification of every chain.  With EVENT_IDX the function therefore
 * writes the device area.
 */
void vq_started(struct vq *vq, struct ram *ram);

/* Frees the memory of vq_set_up(). */
void vq_done(struct vq *vq, struct arena *a);

/* Resets indexes and counts to those of a new ring.  Called when the driver starts over with the
 * same ring.
 */
void vq_restart(struct vq *vq);

/* For packed rings only: return the position of the next available chain, the position of the next
 * used descriptor, and the number of slots of the outstanding chain @id (0 if @id is not
 * outstanding).
 */
struct vring_pos vq_avail_pos(const struct vq *vq);
struct vring_pos vq_used_pos(const struct vq *vq);
uint32_t vq_slots_of(const struct vq *vq, uint16_t id);

/* Returns true if positions and counts of a packed ring are consistent.  Always true for a split
 * ring.
 */
bool vq_invariant(const struct vq *vq);

/* Limits the work of one tick.  Returns true if the device has taken as many chains in tick number
 * @tick as the ring has entries and more are available: the device should continue in a later tick.
 * Only a driver that runs concurrently can offer so many, or one whose rings and buffers overlap,
 * so that completions look like new chains.  Without this limit such a driver would block the lab.
 */
bool vq_turn_is_over(struct vq *vq, const struct ram *ram, uint64_t tick);

/* Takes the next chain into @out.  If there is none, requests a notification of the next one with
 * EVENT_IDX.
 *
 * Return: VQ_GOT     *@out is the chain
 *	   VQ_EMPTY   no chain is available
 *	   VQ_BROKEN  vq->broken is the reason; *@out is undefined
 */
enum vq_pop vq_pop(struct vq *vq, struct ram *ram, struct vq_chain *out);

/* Undoes the last @n calls of vq_pop() that returned a chain.  @used contains the heads of these
 * chains, none of which was completed; the len of its entries is ignored.  The next vq_pop() takes
 * the first of these chains again.
 */
void vq_untake(struct vq *vq, const struct vq_used *used, uint32_t n);

/* Returns the number of available chains.  Returns 0 if the queue is broken; an invalid ring breaks
 * it in this call.
 */
uint32_t vq_avail_count(struct vq *vq, const struct ram *ram);

/* Like vq_avail_count(), but does not change the queue. */
uint32_t vq_avail_peek(const struct vq *vq, const struct ram *ram);

/* Copies device-readable bytes @offset .. @offset + @n - 1 of the chain to @out, across buffers.
 * Returns the number of bytes copied, fewer than @n if the chain is shorter.
 */
size_t vq_chain_read(const struct ram *ram, const struct vq_chain *c, size_t offset, void *out,
                     size_t n);

/* Copies @n bytes to the device-writable bytes from @offset on.  Returns the number of bytes
 * written, fewer than @n if the chain is shorter or the arena is full.
 */
size_t vq_chain_write(struct ram *ram, const struct vq_chain *c, size_t offset, const void *in,
                      size_t n);

/* Returns the guest-physical address of device-writable byte @offset, which must be less than
 * c->writable_bytes.
 */
uint64_t vq_chain_gpa(const struct vq_chain *c, size_t offset);

/* Completes the chain @head, with @len bytes written to it.  Split: writes the used element, then
 * used.idx.  Packed: writes one used descriptor and advances by the slots of the chain.  Returns
 * false if the queue is broken.  A ring outside RAM breaks it.
 */
bool vq_push(struct vq *vq, struct ram *ram, uint16_t head, uint32_t len);

/* Like vq_push(), for the @n >= 1 chains in @used.  The driver sees all of them at once. */
bool vq_push_all(struct vq *vq, struct ram *ram, const struct vq_used *used, uint32_t n);

/* Writes a used entry (@id, @len) after those of the completed chains, though no such chain was
 * completed.  The device does not count the entry, and its next completion overwrites it.  For
 * injected faults.
 */
void vq_invent(struct vq *vq, struct ram *ram, uint32_t id, uint32_t len);

/* Returns true if the driver must be interrupted for the chains completed since the last call.  For
 * a split ring avail.flags decides, or with EVENT_IDX used_event.  For a packed ring the driver
 * area decides.  An invalid area, or one outside RAM, breaks the queue.
 */
bool vq_wants_interrupt(struct vq *vq, const struct ram *ram);

/* Requests a notification of the next chain that the driver adds, even if chains are available now.
 * For a device that needs the number of available chains.
 */
void vq_want_kick(struct vq *vq, struct ram *ram);

/* Asks the driver not to notify this queue.  Used for CQs, where the device takes a buffer when it
 * needs one.  Split without EVENT_IDX: sets used.flags.  Split with EVENT_IDX: leaves avail_event
 * behind, so the driver still notifies once in 2^16 entries.  Packed: sets the flags of the device
 * area.
 */
void vq_refuse_kicks(struct vq *vq, struct ram *ram);

#endif
