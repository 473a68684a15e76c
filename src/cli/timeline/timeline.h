/* SPDX-License-Identifier: MIT */
/* The timeline: the ladder of a past as one HTML page, in which a reader steps through time, looks
 * into packets and follows causes.
 *
 * The page needs no other file and no network.  Its program and style are the files *.js and
 * timeline.css, which the build puts into timeline.html (page_parts.py).  What happened is one JSON
 * object in it:
 *
 *	ladder_new() of viz/ladder.h   lifelines, stops, arrows, timers: the same as in a ladder
 *	timeline_events.h              the events drawn, and the causes of these
 *	timeline_frames.h              the bytes of packets and their fields, as of `show packet`
 *
 * The same past gives the same bytes.  Names and texts come from strangers: timeline_put.h escapes
 * them, and the page shows them as text only.
 */
#ifndef CLI_TIMELINE_TIMELINE_H
#define CLI_TIMELINE_TIMELINE_H

#include <stdio.h>

#include "emu/past/past.h"
#include "rdmalab/status.h"
#include "viz/picture.h"

/* Number of packets in a timeline, unless fewer are wanted. */
#define TIMELINE_PACKETS_MAX 20000u

struct timeline_options {
    const char *title;  /* NULL: none */
    ev_id from, to;     /* first and last event; as in struct picture_options */
    uint32_t n_packets; /* maximum number of packets; 0: TIMELINE_PACKETS_MAX */
    /* Reason why packets have no bytes.  NULL: the past tells it. */
    const char *no_bytes;
    struct picture_left *ret_left; /* set by timeline_write(); NULL: of no interest */
};

/* Writes the page of @p to @out.  Returns RDL_OK, or RDL_ERR_NOMEM before any output. */
RDL_MUST_CHECK enum rdl_status timeline_write(FILE *out, const struct past *p,
                                              const struct timeline_options *options);

#endif
