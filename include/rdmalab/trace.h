/* SPDX-License-Identifier: MIT */
/* Listening to a lab, its recorder, and the hash of all that happened.
 *
 * Nothing here changes the lab: event numbers and times are the same whether or not anybody
 * listens.  struct ev is declared in emu/trace/event.h, with functions that print it.
 */
#ifndef RDMALAB_TRACE_H
#define RDMALAB_TRACE_H

#include "rdmalab/lab.h"

struct ev;
struct ev_set;
struct ev_names;

struct rdl_listener;

/* Calls @event for every event from now on (but see rdl_hear()).  Undo with rdl_unlisten(). */
RDL_MUST_CHECK enum rdl_status rdl_listen(struct rdl_lab *lab,
                                          void (*event)(void *ctx, const struct ev *e), void *ctx,
                                          struct rdl_listener **ret);
void rdl_unlisten(struct rdl_lab *lab, struct rdl_listener *listener);

/* From now on @listener hears only @kinds.  Events that nobody hears cost next to nothing. */
void rdl_hear(struct rdl_lab *lab, struct rdl_listener *listener, const struct ev_set *kinds);

/* Records events and the bytes of sent frames; when a limit is reached the oldest are forgotten.
 * To be called once, before the first host.  0: the default (1 Mi events, 256 MiB of frames).
 */
RDL_MUST_CHECK enum rdl_status rdl_record(struct rdl_lab *lab, size_t events_max,
                                          size_t frame_bytes_max);

/* Limits that can be asked for: events, of 104 bytes each, and bytes of frames. */
#define RDL_RECORD_EVENTS_MIN ((uint64_t)2 << 10)
#define RDL_RECORD_EVENTS_MAX ((uint64_t)64 << 20)
#define RDL_RECORD_FRAMES_MAX ((uint64_t)1 << 40)

/* Other limits from now on, in the place of those of rdl_record(); what is beyond them is
 * forgotten. Events are kept in blocks of 1024, of which there is at least one.
 */
void rdl_record_bound(struct rdl_lab *lab, size_t events_max, size_t frame_bytes_max);

/* How many events and bytes of frames are kept at most. */
struct rdl_record_limits {
    size_t events, frame_bytes; /* both 0: nothing is recorded */
    bool changed;               /* rdl_record_bound() has set them */
};

struct rdl_record_limits rdl_record_limits(const struct rdl_lab *lab);

/* Stops recording and goes on with it.  While it is off neither events nor frames are copied, and
 * what happens is missing for ever.
 */
void rdl_record_pause(struct rdl_lab *lab);
void rdl_record_resume(struct rdl_lab *lab);

/* The ticks in which recorded events may be missing: recording was off at times between them.  @to
 * is RDL_NEVER while it is; both are 0 if nothing is missing.
 */
struct rdl_record_gap {
    uint64_t from, to;
};

struct rdl_record_gap rdl_record_gap(const struct rdl_lab *lab);

/* Recorded events, oldest first; pointers are valid until the lab advances. */
size_t rdl_record_count(const struct rdl_lab *lab);
const struct ev *rdl_record_at(const struct rdl_lab *lab, size_t i);

/* How many were forgotten at the old end. */
uint64_t rdl_record_forgotten(const struct rdl_lab *lab);

/* What a lab has recorded stays when rdl_checkpoint_restore() takes it back: events that are then
 * ahead of it are not to be seen, and are seen again when it has gone the same way again.  Where it
 * goes another way they are forgotten, or by this call.
 */
void rdl_record_forget_ahead(struct rdl_lab *lab);

/* The bytes of the frame that tx event @tx sent, or NULL. */
const uint8_t *rdl_record_frame(const struct rdl_lab *lab, uint64_t tx, size_t *ret_bytes);

/* How many events of a kind (enum ev_kind) there were since the lab began, recorded or not. */
uint64_t rdl_total(const struct rdl_lab *lab, unsigned kind);

struct ev_condition;
struct ev_filter;
struct rdl_tally;

/* Counts the events that fulfil @filter (emu/trace/filter.h) since the lab began, whatever the
 * recorder forgets later.  Counting starts with the first call; what was before is taken from the
 * record.  @filter is copied; equal filters share a tally, which lives as long as its lab.
 *
 * Return: RDL_OK
 *	   RDL_ERR_FORGOTTEN  the call comes too late: @reterr_forgotten events of that kind are not
 *			      recorded (any more)
 *	   RDL_ERR_NOMEM
 *
 * With @reterr_forgotten NULL it is never too late: who asks wants to know of the last event
 * (rdl_tally_last()), and not how many there were.
 */
RDL_MUST_CHECK enum rdl_status rdl_tally(struct rdl_lab *lab, const struct ev_filter *filter,
                                         struct rdl_tally **ret, uint64_t *reterr_forgotten);

/* How many events @tally has counted.
 *
 * Return: RDL_OK
 *	   RDL_ERR_NOT_FOUND  nothing in the lab has the name that *@reterr_unknown asks for; it is
 *			      valid as long as the tally
 *	   RDL_ERR_FORGOTTEN  a checkpoint was restored that is older than the tally, and the record
 *			      does not go back far enough
 */
RDL_MUST_CHECK enum rdl_status rdl_tally_count(const struct rdl_tally *tally, uint64_t *ret,
                                               const struct ev_condition **reterr_unknown);

/* The number of the last event that @tally knows of; 0: it knows of none.
 *
 * Return: RDL_OK
 *	   RDL_ERR_NOT_FOUND  as above
 */
RDL_MUST_CHECK enum rdl_status rdl_tally_last(const struct rdl_tally *tally, uint64_t *ret,
                                              const struct ev_condition **reterr_unknown);

/* Its filter, with the numbers of the hosts that it names. */
const struct ev_filter *rdl_tally_filter(const struct rdl_tally *tally);

/* Names for printing events; owned by the lab. */
const struct ev_names *rdl_names(const struct rdl_lab *lab);

/* Hashes every event from now on; call it before the first host.  rdl_hash() is 0 before that. */
RDL_MUST_CHECK enum rdl_status rdl_hash_start(struct rdl_lab *lab);
uint64_t rdl_hash(const struct rdl_lab *lab);

/* Ends what looks at every event and tells nothing about a lab that follows a clock of the outside:
 * the hash (rdl_hash() is 0 from now on), and the search for broken invariants of the emulator.
 */
void rdl_hash_stop(struct rdl_lab *lab);
void rdl_check_stop(struct rdl_lab *lab);

#endif
