/* SPDX-License-Identifier: MIT */
/* The events of a timeline: those that its ladder draws, and the causes of these.
 *
 * A cause that `why` would skip, and that is not drawn, is left out: its own cause takes its place.
 */
#ifndef CLI_TIMELINE_TIMELINE_EVENTS_H
#define CLI_TIMELINE_TIMELINE_EVENTS_H

#include <stdio.h>

#include "emu/past/past.h"
#include "viz/ladder_model.h"

#define TIMELINE_NO_EVENT UINT32_MAX

struct timeline_qp;

struct timeline_events {
    const struct past *past;
    uint32_t *number; /* for each event of the past its number in the page, or TIMELINE_NO_EVENT */
    uint32_t n;       /* number of events in the page */
    struct timeline_qp *qps; /* queue pairs that they name, in order of appearance */
    size_t n_qps, cap_qps;
};

/* Finds the events of the ladder @l of @p.  Free with timeline_events_done(). */
void timeline_events_init(struct timeline_events *e, const struct past *p, const struct ladder *l);
void timeline_events_done(struct timeline_events *e);

/* Returns the number in the page of the event of @s, or TIMELINE_NO_EVENT.  A call of a program has
 * that of the first event behind it.
 */
uint32_t timeline_event(const struct timeline_events *e, const struct ladder_stop *s);

/* Write the members "kinds" and "events", and the member "qps" after those:
 *
 *	[tick, row, ns, kind, text, cause, qp]
 *
 * @tick and @ns are differences from the event before.  @cause is 0, or the distance back to the
 * cause, or the name of a cause that is not there.  @qp is the number of the queue pair, from 1; 0:
 * none.
 */
void timeline_events_put(FILE *out, struct timeline_events *e);

#endif
