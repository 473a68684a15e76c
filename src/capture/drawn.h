/* SPDX-License-Identifier: MIT */
/* Turns a capture into a history of events, so that it can be drawn like that of a lab.  Frame 12
 * becomes tick 12, in which it is sent and received.  A capture has only one time per frame, so the
 * arrow is horizontal.
 */
#ifndef CAPTURE_DRAWN_H
#define CAPTURE_DRAWN_H

#include "capture/record.h"
#include "emu/past/past.h"

/* The events. */
struct drawn {
    struct ev *v;           /* owned */
    size_t n;               /* number of events */
    struct ev_names *names; /* owned */
};

/* Creates the events of the flows @i of @r for which @is_drawn[i] is true; NULL: of all packets.
 * drawn_done() frees them.
 */
void drawn_init(struct drawn *d, const struct capture_record *r, const bool *is_drawn);
void drawn_done(struct drawn *d);

/* Returns the history.  It is valid as long as @d. */
struct past drawn_past(const struct drawn *d);

#endif
