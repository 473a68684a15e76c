/* SPDX-License-Identifier: MIT */
/* `why not`: why something did not happen.
 *
 * What is told is read from the record (what was posted, sent, lost) and from the inspect tree (who
 * waits, which timer is due when), and nothing is guessed: where the record has forgotten what it
 * takes, that is said.  Each answer ends with what would make it happen, if there is anything.
 */
#ifndef CLI_WHY_WHY_NOT_H
#define CLI_WHY_WHY_NOT_H

#include <stdio.h>

#include "emu/facts/enums.h"
#include "emu/past/past.h"
#include "rdmalab/status.h"

struct rdl_lab;
struct why_not;

/* An answer to @out.  @lab may be NULL: of a saved trace only why_not_packet() tells something.
 * When there is no memory this says so and exits.  why_not_end() ends it with what can be done.
 */
struct why_not *why_not_begin(FILE *out, const struct rdl_lab *lab, const struct past *p);
void why_not_end(struct why_not *w);

/* Ends it without. */
void why_not_drop(struct why_not *w);

/* Something else is told first. */
void why_not_say(struct why_not *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* It did happen: nothing is waited for. */
void why_not_is_so(struct why_not *w);

/* What somebody may do about it, a line at the end of the answer. */
void why_not_try(struct why_not *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Completion @n of @cq, "h1.cq". */
void why_not_completion(struct why_not *w, const char *cq, uint64_t n);

/* What the queue pair @path, "h1.qp", has not done yet. */
void why_not_qp(struct why_not *w, const char *path);

/* Event @id, of which there is a past: a packet that is not answered.  RDL_ERR_NOT_FOUND: it is not
 * there.
 */
RDL_MUST_CHECK enum rdl_status why_not_packet(struct why_not *w, ev_id id);

/* An event as @f says, whose names this looks up. */
void why_not_event(struct why_not *w, struct ev_filter *f);

/* A frame for @fault, its path, to hit. */
void why_not_fault(struct why_not *w, const char *fault);

/* State @to of the queue pair @path. */
void why_not_state(struct why_not *w, const char *path, enum qp_state to);

/* Who waits for what, and what is due next.  @host: only there; "": everywhere. */
void why_not_waits(struct why_not *w, const char *host);

/* Nothing is named: what is waited for, or else what can be asked. */
void why_not_anything(struct why_not *w);

#endif
