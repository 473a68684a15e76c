/* SPDX-License-Identifier: MIT */
/* The descriptors of a virtqueue that are not free, one a line. */
#ifndef CLI_SHOW_VQ_SLOTS_H
#define CLI_SHOW_VQ_SLOTS_H

#include "cli/show/vq_ring.h"

/* A split ring: chain by chain.  A packed one: slot by slot round the ring, from where the driver
 * takes back to where it offers, and the areas of both sides.
 */
void vq_print_slots(FILE *out, const struct vq_ring *q, const struct wqe_reader *r);

/* What descriptor @i says of its buffer, which the device has @written or not. */
struct wqe_buffer vq_buffer_of(const struct vq_ring *q, uint64_t i, bool written);

/* Appends what the flags and the id of a descriptor of a packed ring say: "A1 U0 N id 3", with N
 * for a chain that goes on. */
void vq_add_packed(struct text *t, const struct vq_ring *q, uint64_t i);

/* Appends what was given back at slot @i, or that it is passed over; nothing if it is neither. */
void vq_add_given_back(struct text *t, const struct vq_ring *q, uint64_t i);

/* Appends when a side of a packed ring wants to hear of something, by the area of the driver or of
 * the device.
 */
void vq_add_area(struct text *t, const struct vq_ring *q, bool of_device);

#endif
