/* SPDX-License-Identifier: MIT */
/* The recorder: the events of a lab and the bytes of its frames, up to a limit.
 *
 * It lives outside the arena and is only a listener.  When a restored checkpoint takes the lab back
 * it keeps what comes later: that is ahead, and nobody sees it.  If the lab then goes the same way
 * again, event by event, it is seen again; where it goes another way what was ahead is forgotten.
 */
#ifndef EMU_LAB_RECORD_H
#define EMU_LAB_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/trace/event.h"
#include "rdmalab/trace.h"

struct record;

/* NULL when memory is short.  Free with record_free(), which takes NULL too. */
struct record *record_new(size_t events_max, size_t frame_bytes_max);
void record_free(struct record *r);

/* Appends; when the limit is reached (or memory is short) the oldest are forgotten. */
void record_event(struct record *r, const struct ev *e);
void record_frame(struct record *r, ev_id id, const uint8_t *bytes, size_t n);

/* Until record_resume() nothing is recorded.  @tick: the last one; events after it are missing. */
void record_pause(struct record *r, uint64_t tick);
void record_resume(struct record *r, uint64_t tick);

/* As rdl_record_gap(), of a lab that is at the end of @tick. */
struct rdl_record_gap record_gap(const struct record *r, uint64_t tick);
bool record_paused(const struct record *r);

/* Was memory short since the last question, so that something was not recorded? */
bool record_was_short(struct record *r);

/* Other limits from now on; what is beyond them is forgotten. */
void record_bound(struct record *r, size_t events_max, size_t frame_bytes_max);

struct rdl_record_limits record_limits(const struct record *r);

size_t record_count(const struct record *r);
const struct ev *record_at(const struct record *r, size_t i);
uint64_t record_forgotten(const struct record *r);

/* The bytes of the frame called @id, or NULL. */
const uint8_t *record_find_frame(const struct record *r, ev_id id, size_t *ret_bytes);

/* The lab went from the end of tick @from to that of @tick, in either direction, without anything
 * happening on the way; @n_before events had happened there.  What the record does not have in one
 * piece up to there it forgets.
 */
void record_place(struct record *r, uint64_t from, uint64_t tick, uint64_t n_before);

/* Forgets what is ahead of the lab, which is at the end of @tick. */
void record_forget_ahead(struct record *r, uint64_t tick);

#endif
