/* SPDX-License-Identifier: MIT */
/* Turns a capture into a history of events, so that it can be drawn like that of a lab.  Frame 12
 * becomes tick 12, in which it is sent and received.  A capture has only one time per frame, so the
 * arrow is horizontal.
 */
#ifndef CAPTURE_DRAWN_H
#define CAPTURE_DRAWN_H

#include <stdio.h>

#include "capture/record.h"
#include "emu/past/past.h"

/* The events. */
struct drawn {
    struct ev *v;           /* owned */
    size_t n;               /* number of events */
    struct ev_names *names; /* owned */
    /* Bytes of frames, in their order, of those that drawn_keep() has kept; owned. */
    struct drawn_frame *frames;
    size_t n_frames, cap_frames;
    /* Messages of o2iblnd, by the event that sends the first packet; owned. */
    struct drawn_lnet *lnet;
    size_t n_lnet, cap_lnet;
};

#define DRAWN_BYTES_MAX ((size_t)256 * 1024 * 1024) /* most bytes of all frames that are kept */

/* Creates the events of the flows @i of @r for which @is_drawn[i] is true; NULL: of all packets.
 * drawn_done() frees them.
 */
void drawn_init(struct drawn *d, const struct capture_record *r, const bool *is_drawn);
void drawn_done(struct drawn *d);

/* Reads the capture again from its beginning, and keeps the bytes of packets: from event @from to
 * event @to (0: the end), @most packets and DRAWN_BYTES_MAX at most.  Only frames of Ethernet are
 * kept.  A packet that cannot be read again has no bytes.
 */
void drawn_keep(struct drawn *d, FILE *f, ev_id from, ev_id to, size_t most);

/* Returns the history.  It is valid as long as @d. */
struct past drawn_past(const struct drawn *d);

#endif
