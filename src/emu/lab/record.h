/* SPDX-License-Identifier: MIT */
/* The record: the events of a lab and the bytes of its frames, up to a limit.
 *
 * It is allocated outside the arena and only listens.  When a checkpoint is restored, the record
 * keeps the later events as *ahead*; readers do not see them.  If the lab then replays the same
 * events, they become visible again.  At the first different event those ahead are discarded.  If
 * the lab goes back to before the oldest recorded event, those recorded are kept as *later* ones,
 * which are ahead when the lab comes to them.  The limit is one for all.
 */
#ifndef EMU_LAB_RECORD_H
#define EMU_LAB_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/trace/id.h"
#include "rdmalab/trace.h"

struct record;

/* record_new() creates a record with limits for the number of events and the bytes of frames.
 * Returns NULL if memory is short.  record_free() accepts NULL.
 */
struct record *record_new(size_t events_max, size_t frame_bytes_max);
void record_free(struct record *r);

/* record_event() appends an event.  record_frame() appends the frame that event @id sent.  At the
 * limit, or if memory is short, the oldest events or frames are discarded.  A frame larger than the
 * limit is not recorded.
 */
void record_event(struct record *r, const struct ev *e);
void record_frame(struct record *r, ev_id id, const uint8_t *bytes, size_t n);

/* record_pause() stops recording, and record_resume() restarts it.  @tick is the last tick of the
 * lab, which is complete.  The ticks without recording are the gap.
 */
void record_pause(struct record *r, uint64_t tick);
void record_resume(struct record *r, uint64_t tick);

/* record_gap() implements rdl_record_gap() for a lab at the end of @tick.  record_paused() returns
 * true while recording is stopped.
 */
struct rdl_record_gap record_gap(const struct record *r, uint64_t tick);
bool record_paused(const struct record *r);

/* Returns true if an event or frame was lost for lack of memory since the last call. */
bool record_was_short(struct record *r);

/* Sets new limits, and discards the oldest entries beyond them and all events ahead of the lab. */
void record_bound(struct record *r, size_t events_max, size_t frame_bytes_max);

/* Returns the current limits. */
struct rdl_record_limits record_limits(const struct record *r);

/* record_count() returns the number of events up to the lab's position, without those ahead.
 * record_at() returns event number @i, 0 for the oldest, or NULL if there are fewer.
 * record_forgotten() returns the number of older events that were discarded.
 */
size_t record_count(const struct record *r);
const struct ev *record_at(const struct record *r, size_t i);
uint64_t record_forgotten(const struct record *r);

/* Returns how many of them sent a frame.  Those of which that is not known are counted, too. */
uint64_t record_forgotten_frames(const struct record *r);

/* Returns the bytes of the frame that event @id sent, and their number in *@ret_bytes.  Returns
 * NULL if they are not recorded.  The result is valid until the record changes.
 */
const uint8_t *record_find_frame(const struct record *r, ev_id id, size_t *ret_bytes);

/* Follows the lab after it jumped, forward or backward, from the end of tick @from to the end of
 * @tick without events.  @n_before is the number of events that had happened at the end of @tick.
 * Discards everything if the record has no continuous history up to @tick.
 */
void record_place(struct record *r, uint64_t from, uint64_t tick, uint64_t n_before);

/* Discards the events ahead of the lab, which is at the end of @tick. */
void record_forget_ahead(struct record *r, uint64_t tick);

#endif
