/* SPDX-License-Identifier: MIT */
/* The errors of a driver in a virtqueue.  After any error except NONE the device sets the status
 * bit DEVICE_NEEDS_RESET.
 */
#ifndef EMU_FACTS_VIRTIO_VQ_ERROR_H
#define EMU_FACTS_VIRTIO_VQ_ERROR_H

#include "emu/facts/enum_table.h"

#define ENUM_VQ_ERROR(X)                                                                           \
    X(VQE, NONE, 0, "sound")                                                                       \
    X(VQE, AVAIL_RUNS_AWAY, 1, "avail.idx is further ahead than the queue is long")                \
    X(VQE, BAD_HEAD, 2, "an avail entry names a descriptor outside the table")                     \
    X(VQE, BAD_NEXT, 3, "a descriptor's next is outside the table")                                \
    X(VQE, LOOP, 4, "the chain is longer than the queue: it loops")                                \
    X(VQE, BAD_ADDRESS, 5, "a buffer or ring is outside guest RAM")                                \
    X(VQE, BAD_ORDER, 6, "a device-readable descriptor follows a writable one")                    \
    X(VQE, BAD_INDIRECT, 7, "an indirect table is nested, chained, or of a wrong length")          \
    X(VQE, ZERO_LENGTH, 8, "a descriptor of length 0")                                             \
    X(VQE, TOO_LONG, 9, "a chain of more bytes than any request has")                              \
    X(VQE, WRONG_DIRECTION, 10,                                                                    \
      "a network buffer is readable where writable is needed, or vice versa")                      \
    X(VQE, LONGER_THAN_RING, 11, "a chain of more descriptors than the packed ring has")           \
    X(VQE, BREAKS_OFF, 12, "a chain goes on in a descriptor that is not available")                \
    X(VQE, NOT_GIVEN_BACK, 13, "a descriptor is available that the device has not given back")     \
    X(VQE, ID_IN_USE, 14, "two buffers that the device has not given back have one id")            \
    X(VQE, BAD_EVENT, 15, "the driver area asks for interrupts in a way that there is not")

enum vq_error { ENUM_VQ_ERROR(ENUM_MEMBER) };

#endif
