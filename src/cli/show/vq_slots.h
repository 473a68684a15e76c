/* SPDX-License-Identifier: MIT */
/* Prints the descriptors of a virtqueue that are not free, one per line. */
#ifndef CLI_SHOW_VQ_SLOTS_H
#define CLI_SHOW_VQ_SLOTS_H

#include "cli/show/vq_ring.h"

/* Prints a split ring chain by chain; @r must be the reader for the host of @q.  Prints a packed
 * ring slot by slot, from the driver's used position to its avail position, followed by the event
 * suppression areas of both sides.
 */
void vq_print_slots(FILE *out, const struct vq_ring *q, const struct wqe_reader *r);

/* Returns the buffer that descriptor @i describes.  @written is a member of the result: the device
 * has written the buffer.
 */
struct wqe_buffer vq_buffer_of(const struct vq_ring *q, uint64_t i, bool written);

/* Appends the flags and the id of a packed descriptor: "A1 U0 N id 3"; N means that the chain
 * continues.
 */
void vq_add_packed(struct text *t, const struct vq_ring *q, uint64_t i);

/* Appends, as text, the used element that the device has written to slot @i of a packed ring.  If
 * the slot belongs to a returned buffer of several descriptors but has no used element of its own,
 * appends a text that it is passed over.  Appends nothing if the device has not returned the
 * buffer.
 */
void vq_add_given_back(struct text *t, const struct vq_ring *q, uint64_t i);

/* Appends which notifications one side of a packed ring requests: the device if @of_device is true,
 * otherwise the driver.  They are read from the event suppression area of that side.
 */
void vq_add_area(struct text *t, const struct vq_ring *q, bool of_device);

#endif
