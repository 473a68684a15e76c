/* SPDX-License-Identifier: MIT */
/* Listeners, the recorder, tallies, and the hash of all events.
 *
 * Nothing here changes the lab: event numbers and times are the same with and without listeners.
 * emu/trace/event.h declares struct ev, and functions that print it.
 */
#ifndef RDMALAB_TRACE_H
#define RDMALAB_TRACE_H

#include "rdmalab/lab.h"

struct ev;
struct ev_set;
struct ev_names;

struct rdl_listener;

/* Calls @event for every event from now on, or for those that rdl_hear() selects.  @e is valid only
 * during the call.  rdl_listen() returns RDL_OK or RDL_ERR_NOMEM.  rdl_unlisten() removes the
 * listener and frees it; it accepts NULL.
 */
RDL_MUST_CHECK enum rdl_status rdl_listen(struct rdl_lab *lab,
                                          void (*event)(void *ctx, const struct ev *e), void *ctx,
                                          struct rdl_listener **ret);
void rdl_unlisten(struct rdl_lab *lab, struct rdl_listener *listener);

/* Restricts @listener to @kinds from now on.  Events without a listener cost next to nothing. */
void rdl_hear(struct rdl_lab *lab, struct rdl_listener *listener, const struct ev_set *kinds);

/* Starts recording events and the bytes of sent frames.  When a limit is reached, the oldest events
 * or frames are forgotten.  A limit of 0 selects the default: 1 Mi events, 256 MiB of frames.  Call
 * it once, before the first host is added.  Returns RDL_OK, RDL_ERR_NOMEM, or RDL_ERR_EXISTS if it
 * was called before.
 */
RDL_MUST_CHECK enum rdl_status rdl_record(struct rdl_lab *lab, size_t events_max,
                                          size_t frame_bytes_max);

/* Bounds of the limits of rdl_record(): number of events (104 bytes each), and bytes of frames. */
#define RDL_RECORD_EVENTS_MIN ((uint64_t)2 << 10)
#define RDL_RECORD_EVENTS_MAX ((uint64_t)64 << 20)
#define RDL_RECORD_FRAMES_MAX ((uint64_t)1 << 40)

/* Replaces the limits of rdl_record().  The oldest events and frames that exceed them are
 * forgotten.  Events are kept in blocks of 1024, at least one block.  Does nothing if rdl_record()
 * was not called.
 */
void rdl_record_bound(struct rdl_lab *lab, size_t events_max, size_t frame_bytes_max);

/* The limits of the recorder. */
struct rdl_record_limits {
    size_t events, frame_bytes; /* both 0: rdl_record() was not called */
    bool changed;               /* rdl_record_bound() has replaced the limits of rdl_record() */
};

struct rdl_record_limits rdl_record_limits(const struct rdl_lab *lab);

/* Stop and resume recording.  Events and frames of the time in between are never in the record. */
void rdl_record_pause(struct rdl_lab *lab);
void rdl_record_resume(struct rdl_lab *lab);

/* The range of ticks in which recorded events may be missing because recording was stopped.  @to is
 * RDL_NEVER while recording is stopped.  @from and @to are 0 if nothing is missing.
 */
struct rdl_record_gap {
    uint64_t from, to;
};

struct rdl_record_gap rdl_record_gap(const struct rdl_lab *lab);

/* rdl_record_count() returns the number of recorded events.  rdl_record_at() returns event number
 * @i, where 0 is the oldest, or NULL if there are fewer.  The event is valid until the lab
 * advances.
 */
size_t rdl_record_count(const struct rdl_lab *lab);
const struct ev *rdl_record_at(const struct rdl_lab *lab, size_t i);

/* Returns the number of events before the oldest recorded one that were forgotten, or that were not
 * recorded because memory ran short.
 */
uint64_t rdl_record_forgotten(const struct rdl_lab *lab);

/* Returns the number of those events that sent a frame.  Events of which that is not known are
 * counted, too.
 */
uint64_t rdl_record_forgotten_frames(const struct rdl_lab *lab);

/* Forgets the recorded events that are ahead of the lab.
 *
 * rdl_checkpoint_restore() keeps the events after the checkpoint, but hides them.  If the lab
 * repeats the same events, they become visible again.  The first different event forgets them, and
 * so does this call.
 */
void rdl_record_forget_ahead(struct rdl_lab *lab);

/* Returns the bytes that tx event @tx put on the wire, and their number in *@ret_bytes.  A fault
 * event that changed a frame has bytes, too.  Returns NULL if they are not recorded or were
 * forgotten.  The result is valid until the lab advances or the record is changed.
 */
const uint8_t *rdl_record_frame(const struct rdl_lab *lab, uint64_t tx, size_t *ret_bytes);

/* Returns the number of events of a kind (enum ev_kind) since the lab began, recorded or not.
 * Returns 0 for a number that is no kind.
 */
uint64_t rdl_total(const struct rdl_lab *lab, unsigned kind);

struct ev_condition;
struct ev_filter;
struct rdl_tally;

/* Counts the events that match @filter (emu/trace/filter.h) since the lab began, whatever the
 * recorder forgets later.  The first call starts the counting, from the events in the record.
 * @filter is copied.  Equal filters share a tally, which lives as long as its lab.
 *
 * Return: RDL_OK
 *	   RDL_ERR_FORGOTTEN  called too late: *@reterr_forgotten events of that kind are missing
 *			      in the record
 *	   RDL_ERR_NOMEM
 *
 * If @reterr_forgotten is NULL, the call never returns RDL_ERR_FORGOTTEN: for callers that need
 * only the last event (rdl_tally_last()), not the count.
 */
RDL_MUST_CHECK enum rdl_status rdl_tally(struct rdl_lab *lab, const struct ev_filter *filter,
                                         struct rdl_tally **ret, uint64_t *reterr_forgotten);

/* Sets *@ret to the number of events that @tally has counted.
 *
 * Return: RDL_OK
 *	   RDL_ERR_NOT_FOUND  the condition *@reterr_unknown names a part of the lab that does not
 *			      exist; the condition is valid as long as the tally
 *	   RDL_ERR_FORGOTTEN  events before the tally are missing in the record; or a checkpoint
 *			      older than the tally was restored, and the record is incomplete
 */
RDL_MUST_CHECK enum rdl_status rdl_tally_count(const struct rdl_tally *tally, uint64_t *ret,
                                               const struct ev_condition **reterr_unknown);

/* Sets *@ret to the id of the last event that @tally has counted, or to 0 if there is none.
 *
 * Return: RDL_OK
 *	   RDL_ERR_NOT_FOUND  as rdl_tally_count()
 */
RDL_MUST_CHECK enum rdl_status rdl_tally_last(const struct rdl_tally *tally, uint64_t *ret,
                                              const struct ev_condition **reterr_unknown);

/* Returns the filter of @tally, with host names resolved to numbers. */
const struct ev_filter *rdl_tally_filter(const struct rdl_tally *tally);

/* Returns the names of the lab's hosts, ports and objects, for printing events.  The lab owns them.
 * Returns NULL before the first call of rdl_listen(), rdl_record() or rdl_hash_start().
 */
const struct ev_names *rdl_names(const struct rdl_lab *lab);

/* Starts hashing every event.  Call it before the first host is added.  rdl_hash_start() returns
 * RDL_OK, RDL_ERR_NOMEM, or RDL_ERR_EXISTS if hashing is on.  rdl_hash() returns the hash of all
 * events so far, or 0 if hashing is off.
 */
RDL_MUST_CHECK enum rdl_status rdl_hash_start(struct rdl_lab *lab);
uint64_t rdl_hash(const struct rdl_lab *lab);

/* rdl_hash_stop() stops the hashing of events; rdl_hash() then returns 0.  rdl_check_stop() stops
 * the checks of the emulator's invariants.  Hashing and checks cost time for every event, and are
 * of no use in a lab that follows an outside clock.
 */
void rdl_hash_stop(struct rdl_lab *lab);
void rdl_check_stop(struct rdl_lab *lab);

#endif
