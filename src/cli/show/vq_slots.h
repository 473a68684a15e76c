/* SPDX-License-Identifier: MIT */
/* Prints the descriptors of a virtqueue that are not free, one per line. */
#ifndef CLI_SHOW_VQ_SLOTS_H
#define CLI_SHOW_VQ_SLOTS_H

#include "cli/show/vq_ring.h"

/* Prints a split ring chain by chain.  Prints a packed ring slot by slot, from the driver's used
 * position to its avail position, followed by the event suppression areas of both sides.
 */
void vq_print_slots(FILE *out, const struct vq_ring *q, const struct wqe_reader *r);

/* Returns the buffer of descriptor @i.  @written: the device has written the buffer. */
struct wqe_buffer vq_buffer_of(const struct vq_ring *q, uint64_t i, bool written);

/* Appends the flags and the id of a packed descriptor: "A1 U0 N id 3"; N means that the chain
 * continues.
 */
void vq_add_packed(struct text *t, const struct vq_ring *q, uint64_t i);

/* Appends the used element in slot @i of a packed ring, or a text that the slot is skipped.
 * Appends nothing if neither is the case.
 */
void vq_add_given_back(struct text *t, const struct vq_ring *q, uint64_t i);

/* Appends the notifications that one side of a packed ring requests.  They are in the event
 * suppression area of the device (@of_device) or of the driver.
 */
void vq_add_area(struct text *t, const struct vq_ring *q, bool of_device);

#endif
