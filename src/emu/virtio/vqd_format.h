/* SPDX-License-Identifier: MIT */
/* The driver side of split and packed rings: the functions that vq_driver.h dispatches to, and
 * helpers that both formats use.
 */
#ifndef EMU_VIRTIO_VQD_FORMAT_H
#define EMU_VIRTIO_VQD_FORMAT_H

#include "emu/base/cold.h"
#include "emu/base/cursor.h"
#include "emu/virtio/vq_driver.h"

/* Write a chain of the @n buffers @segs to the ring.  All descriptors get @flags.  Those of buffer
 * number @first_writable and of the buffers after it also get the flag WRITE.  The caller has
 * checked that enough descriptors are free.
 */
void splitd_add(struct vqd *q, struct ram *ram, const struct vqd_seg *segs, uint32_t n,
                uint32_t first_writable, unsigned flags);
RDL_APART void packedd_add(struct vqd *q, struct ram *ram, const struct vqd_seg *segs, uint32_t n,
                           uint32_t first_writable, unsigned flags);

/* Like splitd_add() for one buffer, whose descriptor has exactly @flags: the frequent case. */
void splitd_add_one(struct vqd *q, struct ram *ram, const struct vqd_seg *seg, unsigned flags);

/* The functions of vq_driver.h for each ring format, for a queue that is not broken.  On VQD_BROKEN
 * the caller marks the queue broken.
 */
void splitd_publish(struct vqd *q, struct ram *ram);
bool splitd_needs_kick(const struct vqd *q, const struct ram *ram, uint32_t added);
enum vqd_used splitd_take_used(struct vqd *q, const struct ram *ram, uint16_t *ret_head,
                               uint32_t *ret_len);
uint32_t splitd_next_used(const struct vqd *q, const struct ram *ram);
uint32_t splitd_used_count(const struct vqd *q, const struct ram *ram);
uint32_t splitd_peek_used(const struct vqd *q, const struct ram *ram, uint32_t skip, uint32_t max,
                          uint16_t *ret_heads);
void splitd_want_interrupt(struct vqd *q, struct ram *ram, bool wanted);

RDL_APART void packedd_publish(struct vqd *q, struct ram *ram);
RDL_APART bool packedd_needs_kick(const struct vqd *q, const struct ram *ram, uint32_t added);
RDL_APART enum vqd_used packedd_take_used(struct vqd *q, const struct ram *ram, uint16_t *ret_head,
                                          uint32_t *ret_len);
RDL_APART uint32_t packedd_next_used(const struct vqd *q, const struct ram *ram);
RDL_APART uint32_t packedd_used_count(const struct vqd *q, const struct ram *ram);
RDL_APART uint32_t packedd_peek_used(const struct vqd *q, const struct ram *ram, uint32_t skip,
                                     uint32_t max, uint16_t *ret_heads);
RDL_APART void packedd_want_interrupt(struct vqd *q, struct ram *ram, bool wanted);

/* Reads a 16-bit word at @gpa.  Returns 0 if the read fails.  vqd_init() has checked that the ring
 * is in RAM, so a read fails only if the arena is full.
 */
static inline uint16_t vqd_read_le16(const struct ram *ram, uint64_t gpa)
{
    uint8_t b[2] = {0, 0};

    (void)ram_read(ram, gpa, b, sizeof(b));
    return ld_le16(b);
}

/* Writes @n bytes at @gpa.  Marks the queue broken if the write fails. */
static inline void vqd_write_bytes(struct vqd *q, struct ram *ram, uint64_t gpa, const void *bytes,
                                   size_t n)
{
    if (!ram_write(ram, gpa, bytes, n))
        q->broken = true;
}

static inline void vqd_write_le16(struct vqd *q, struct ram *ram, uint64_t gpa, uint16_t v)
{
    uint8_t b[2];

    st_le16(b, v);
    vqd_write_bytes(q, ram, gpa, b, sizeof(b));
}

/* A descriptor as stored in RAM.  The words are flags and next (split), or id and flags (packed).
 */
struct vqd_raw {
    struct vqd_seg seg;
    uint16_t word[2];
};

static inline void vqd_write_desc(struct vqd *q, struct ram *ram, uint64_t gpa,
                                  const struct vqd_raw *d)
{
    uint8_t b[VRING_DESC_BYTES];

    st_le64(b, d->seg.gpa);
    st_le32(b + 8, d->seg.bytes);
    st_le16(b + 12, d->word[0]);
    st_le16(b + 14, d->word[1]);
    vqd_write_bytes(q, ram, gpa, b, sizeof(b));
}

/* Returns the flag WRITE if buffer @k of a chain is device-writable, otherwise 0. */
static inline unsigned vqd_writable(uint32_t k, uint32_t first_writable)
{
    return k >= first_writable ? VRING_WRITE : 0;
}

/* Frees the chain @head: prepends its descriptors, from @head to @tail, to the free list. */
static inline void vqd_free(struct vqd *q, uint16_t head, uint16_t tail)
{
    q->n_free += q->descs[head].chain;
    q->descs[tail].next = q->free_head;
    q->descs[head].chain = 0;
    q->free_head = head;
}

#endif
