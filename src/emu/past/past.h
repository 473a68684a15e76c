/* SPDX-License-Identifier: MIT */
/* The past: the recorded events in order, names and frames of a running lab or of a saved trace.
 *
 * Everything that explains, draws or exports the past (show events, why, export, the ladder) reads
 * only this.  So a saved trace gives the same output as the lab that wrote it.  past_index.h
 * connects related events.
 */
#ifndef EMU_PAST_PAST_H
#define EMU_PAST_PAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/trace/filter.h"

/* The run that a past belongs to. */
struct past_about {
    const char *title; /* title of the scenario; NULL or "": none */
    uint64_t seed;
};

/* A call of librdmacm by a program.  It has no number of its own: it comes before all events with
 * later numbers than @id.
 */
struct past_call {
    ev_id id;
    uint64_t at_ns;
    uint32_t call; /* enum cm_call */
    uint32_t host;
    uint32_t cm_id; /* number of the ID that it is about */
    uint32_t event; /* of rdma_get_cm_event: the event, an enum rdma_cm_event */
    int error;      /* the errno with which it was refused; 0: it was not */
};

struct past {
    const void *ctx;           /* first argument of at() and frame() */
    size_t n;                  /* number of recorded events */
    uint64_t forgotten;        /* number of older events that were discarded */
    uint64_t forgotten_frames; /* of them, events that sent a frame, or may have */
    uint64_t frame_bytes_max;  /* limit of the total bytes of recorded frames */
    /* Range of ticks in which recording was off at times.  gap_from is 0 if recording was never
     * off.  gap_to is RDL_NEVER if it is off now.
     */
    uint64_t gap_from, gap_to;
    bool without_frames; /* frames were never recorded, as in a saved trace */
    const struct ev_names *names;
    const struct ev *(*at)(const void *ctx, size_t i); /* event number @i, 0 .. n - 1 */
    /* Returns the bytes that tx event @tx, or a fault event that changed a frame, put on the wire.
     * Returns NULL if they are not recorded.  NULL itself if none are.
     */
    const uint8_t *(*frame)(const void *ctx, ev_id tx, size_t *ret_bytes);
    /* Returns the words of the message of o2iblnd in the frame that event @tx put on the wire, as
     * of lnet_gist_add(); NULL if there is none.  NULL itself if the messages are in the frames.
     */
    const char *(*lnet)(const void *ctx, ev_id tx);
    size_t n_calls; /* number of calls of programs that are remembered */
    struct past_call (*call)(const void *ctx, size_t i); /* call @i, 0 .. n_calls - 1 */
};

/* Adds "recording is off since #12" or "recording was off at times from #12 to #50".  Adds nothing
 * if it never was.
 */
void past_add_gap(struct text *t, const struct past *p);

/* Adds one sentence, in ASCII, about the events from @from to @to (0: the end) that are missing.
 * It names the setting that keeps more.  Adds nothing if none is missing.
 */
void past_add_missing(struct text *t, const struct past *p, ev_id from, ev_id to);

/* Returns true if event @id is older than all recorded events, because events were discarded. */
bool past_is_forgotten(const struct past *p, ev_id id);

/* Adds one of "#12 is forgotten", "#12 was not recorded" and "there is no event #12", for the event
 * @id that is missing.
 */
void past_add_not_there(struct text *t, const struct past *p, ev_id id);

/* Adds the reason why event @id is missing: "the record has the last 1024 events, from #51.3 on".
 * Adds nothing if the event never existed.
 */
void past_add_absence(struct text *t, const struct past *p, ev_id id);

/* Returns true if @e is of a message that took a shortcut, and so was in no frame. */
bool past_is_copied(const struct ev *e);

/* Returns the number of recorded tx and eth_tx events whose frame bytes were discarded. */
uint64_t past_frames_forgotten(const struct past *p);

/* Adds "the bytes of 12 frames are forgotten", with 12 as @n, and the setting that keeps more. */
void past_add_frames_forgotten(struct text *t, const struct past *p, uint64_t n);

/* Returns true if recording may have been off at the tick of @id: the tick is in the range gap_from
 * .. gap_to.
 */
bool past_in_gap(const struct past *p, ev_id id);

/* Returns true if recording may have been off at some time after event @a up to event @b. */
bool past_gap_between(const struct past *p, ev_id a, ev_id b);

static inline const struct ev *past_at(const struct past *p, size_t i)
{
    return p->at(p->ctx, i);
}

static inline const uint8_t *past_frame(const struct past *p, ev_id tx, size_t *ret_bytes)
{
    return p->frame(p->ctx, tx, ret_bytes);
}

/* Returns the index of the first event whose id is at least @id, or n if there is none. */
size_t past_lower_bound(const struct past *p, ev_id id);

/* Like past_lower_bound(), but only among the events before index @near; returns @near if none of
 * them has such an id.  Fast if the event is close to @near.
 */
size_t past_lower_bound_near(const struct past *p, ev_id id, size_t near);

/* Returns the device_fault that lost the last interrupt of the completion queue @cqn of @host.
 * Returns NULL if there was none, or an event of the queue has come since.
 */
const struct ev *past_lost_interrupt(const struct past *p, uint32_t host, uint32_t cqn);

/* Returns event @id, or NULL if it is not recorded.  Row 0 gives the first event of the tick. */
const struct ev *past_find(const struct past *p, ev_id id);

/* Returns the cause of the tx event @tx; if that is a request that a router has passed on, its
 * fetch.  Returns NULL if there is none, or it is not recorded.
 */
const struct ev *past_begun_by(const struct past *p, const struct ev *tx);

/* Returns true if @e is a tx event of an injected packet: a host's port sent it, but no queue pair
 * of a lab did.  Returns false for packets of external ports and of captures, which have no cause.
 */
bool past_is_injected(const struct ev *e);

/* Returns the last device_fault since event @since that still blocks @queue of virtio-rdma of
 * @host: a kick was lost, or the queue is stuck and has not continued.  Returns NULL if there is
 * none.
 */
const struct ev *past_queue_fault(const struct past *p, uint32_t host, uint32_t queue, ev_id since);

/* Returns the number of recorded events that match @f, whose names have been resolved. */
uint64_t past_count(const struct past *p, const struct ev_filter *f);

/* Returns the host number of an event, or EV_HOST_NONE if its kind has no host. */
uint32_t past_host_of(const struct ev *e);

/* Returns the id of the event that sent frame @frame.  A fault that changes a frame gives it a new
 * id and refers to the old one; this function follows the references.  The event may be missing.
 * Returns 0 for 0 (from outside).  @near is the index of an event that refers to the frame, or n:
 * see past_lower_bound_near().
 */
ev_id past_sent(const struct past *p, ev_id frame, size_t near);

/* Returns the tx event that the field tx of an rx, drop, lost, fault, forwarded or flooded event
 * refers to.  Returns NULL if the frame came from outside or the event is not recorded.
 */
const struct ev *past_tx_of(const struct past *p, const struct ev *e);

#endif
