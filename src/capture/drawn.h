/* SPDX-License-Identifier: MIT */
/* A capture as a past, so that it is drawn as a lab is: frame 12 is the tick 12, in which its
 * sender sends it and its receiver gets it.  A capture knows one time of a frame, so that its arrow
 * is level.
 */
#ifndef CAPTURE_DRAWN_H
#define CAPTURE_DRAWN_H

#include "capture/record.h"
#include "emu/past/past.h"

struct drawn {
    struct ev *v; /* owned */
    size_t n;
    struct ev_names *names; /* owned */
};

/* Makes the events of @r; drawn_done() releases them. */
void drawn_init(struct drawn *d, const struct capture_record *r);
void drawn_done(struct drawn *d);

/* Valid as long as @d. */
struct past drawn_past(const struct drawn *d);

#endif
