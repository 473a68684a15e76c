/* SPDX-License-Identifier: MIT */
/* The answer of `why` about an event, with advice about the objects of the event. */
#ifndef CLI_CMD_WHY_EVENT_H
#define CLI_CMD_WHY_EVENT_H

#include "cli/session/session.h"
#include "emu/past/past.h"

/* Prints to @out the chain of causes of event @id, the advice for its objects, and who made the
 * object @target that was asked about; NULL or an event: the queue pair of the event.  Returns
 * false if there is no such event.
 */
bool why_event_print(struct session *s, FILE *out, const struct past *p, ev_id id,
                     const char *target);

/* Returns the last recorded completion with @status (enum wc_status), or 0 if there is none. */
ev_id why_last_with_status(const struct past *past, uint32_t status);

#endif
