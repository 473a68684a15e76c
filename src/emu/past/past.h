/* SPDX-License-Identifier: MIT */
/* What was recorded, of a running lab or of a saved trace: events oldest first, names, and frames.
 *
 * Everything that explains, draws or exports the past (show events, why, export, the ladder) reads
 * this and nothing else, so that a saved trace answers and draws the same as the lab that wrote it.
 * What belongs together in it is found by past_index.h.
 */
#ifndef EMU_PAST_PAST_H
#define EMU_PAST_PAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/trace/filter.h"

/* Of which run a past is. */
struct past_about {
    const char *title; /* of the scenario; NULL or "": none */
    uint64_t seed;
};

struct past {
    const void *ctx;
    size_t n;
    uint64_t forgotten;        /* events that were older and are gone */
    uint64_t frame_bytes_max;  /* how many bytes of frames are kept at most */
    uint64_t gap_from, gap_to; /* ticks between which recording was off; 0: it never was */
    bool without_frames;       /* the bytes of frames were never in it: a saved trace */
    const struct ev_names *names;
    const struct ev *(*at)(const void *ctx, size_t i);
    /* The bytes that the tx (or corrupting fault) event @tx put on the wire; NULL: not kept. */
    const uint8_t *(*frame)(const void *ctx, ev_id tx, size_t *ret_bytes);
};

/* "recording is off since #12", "recording was off from #12 to #50", or nothing: it never was. */
void past_add_gap(struct text *t, const struct past *p);

/* What is not among the events between @from and @to (0: all), and how to keep more; nothing if all
 * of them are there.  One sentence, in ASCII.
 */
void past_add_missing(struct text *t, const struct past *p, ev_id from, ev_id to);

/* Is @id older than all that is kept? */
bool past_is_forgotten(const struct past *p, ev_id id);

/* Event @id is not there: "#12 is forgotten", "#12 was not recorded", "there is no event #12". */
void past_add_not_there(struct text *t, const struct past *p, ev_id id);

/* Why there is no event @id: "the record has the last 1024 events, from #51.3 on"; nothing if there
 * never was one.
 */
void past_add_absence(struct text *t, const struct past *p, ev_id id);

/* Frames of events that are there, whose bytes are forgotten. */
uint64_t past_frames_forgotten(const struct past *p);

/* "the bytes of 12 frames are forgotten", and how to keep more. */
void past_add_frames_forgotten(struct text *t, const struct past *p, uint64_t n);

/* Was recording off when @id happened? */
bool past_in_gap(const struct past *p, ev_id id);

/* Was recording off at some time after event @a and not after event @b? */
bool past_gap_between(const struct past *p, ev_id a, ev_id b);

static inline const struct ev *past_at(const struct past *p, size_t i)
{
    return p->at(p->ctx, i);
}

static inline const uint8_t *past_frame(const struct past *p, ev_id tx, size_t *ret_bytes)
{
    return p->frame(p->ctx, tx, ret_bytes);
}

/* The index of the first event whose id is at least @id; n if there is none. */
size_t past_lower_bound(const struct past *p, ev_id id);

/* The same for an event that is older than the one with index @near (n: than all), and likely not
 * far from it.
 */
size_t past_lower_bound_near(const struct past *p, ev_id id, size_t near);

/* The event @id; NULL if it is not there (any more).  Row 0 gives the first event of the tick. */
const struct ev *past_find(const struct past *p, ev_id id);

/* What a fault of the device did to @queue of virtio-rdma of @host, not before event @since: the
 * last device_fault by which a kick was lost, or the queue stands still and has not gone on; or
 * NULL.
 */
const struct ev *past_queue_fault(const struct past *p, uint32_t host, uint32_t queue, ev_id since);

/* How many of the events fulfil @f, whose names have been looked up. */
uint64_t past_count(const struct past *p, const struct ev_filter *f);

/* The host whose event this is, or EV_HOST_NONE. */
uint32_t past_host_of(const struct ev *e);

/* What sent the frame that events call @frame: a fault that changes a frame gives it its own id,
 * and names the frame as it was.  The event may not be there; of 0, a frame from outside, it is 0.
 * @near: as for past_lower_bound_near(), of an event that names the frame, or n.
 */
ev_id past_sent(const struct past *p, ev_id frame, size_t near);

/* The tx event behind the field tx of an rx, drop, lost, fault, forwarded or flooded event.  NULL:
 * from outside, or forgotten.
 */
const struct ev *past_tx_of(const struct past *p, const struct ev *e);

#endif
