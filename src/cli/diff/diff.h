/* SPDX-License-Identifier: MIT */
/* Internal interface of `diff`, which compares two futures.
 *
 * The lab is in only one future at a time.  So the data that the comparison needs is stored for one
 * future, then for the other.  The *common place* is the last place that both have in common.
 * Events are compared only where both records are complete.  If recording was off or events were
 * forgotten, only the states are compared.
 */
#ifndef CLI_DIFF_DIFF_H
#define CLI_DIFF_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/session/journal.h"
#include "emu/trace/id.h"
#include "tree/tree_memory.h"
#include "tree/tree_state.h"

struct session;

/* The frame of an event.  FRAME_NONE: it has none.  FRAME_GONE: its bytes are not recorded (any
 * more).  FRAME_KEPT: its bytes are recorded.
 */
enum diff_frame { FRAME_NONE, FRAME_GONE, FRAME_KEPT };

/* One of the two futures. */
struct diff_side {
    const char *name;
    struct happened {
        ev_id id;
        uint64_t hash;       /* of the event */
        uint64_t frame_hash; /* of its frame, if @frame is FRAME_KEPT */
        enum diff_frame frame;
    } * v; /* events after the common place */
    size_t n;
    uint64_t common; /* the last tick before the common place */
    /* All events up to the end of this tick are recorded; RDL_NEVER: all events. */
    uint64_t sure_until;
    char missing[512]; /* reason why events may be missing; may be empty */
    ev_id parts;       /* the first event that the other future does not have; 0: none */
    char event[512];   /* text of that event */
    struct moment end; /* end of the future */
    uint8_t *frame;    /* this side's bytes of the first frame that differs; NULL: none; owned */
    size_t frame_bytes;
    /* The place where @state and @memory were read: the end of the tick of @parts, or the end of
     * the future if @parts is 0.
     */
    struct moment there;
    struct tree_state state;
    struct tree_memory memory;
    char *ladder;      /* ladder from the event @parts on, as text; NULL: nothing to draw; owned */
    bool is_cut;       /* the ladder has no room for all events to the end */
    struct place left; /* where the lab last left this future; of the current one: where it is */
};

/* The comparison. */
struct diff {
    struct diff_side a, b;
    bool all;          /* print all differences, not only the first ones */
    bool side_by_side; /* print the ladders side by side */
    unsigned width;    /* columns of each ladder */
    bool is_sure;      /* no event is missing before the first difference */
    size_t n_same;     /* number of equal events before the first difference */
    size_t n_frames;   /* number of frames of these events that were compared */
    size_t n_gone;     /* number of their frames not compared, since one future lacks the bytes */
    size_t n_differ;   /* number of compared frames that differ */
    size_t first;      /* index in a.v and b.v of the first frame that differs, if @n_differ > 0 */
};

/* Minimum columns of each ladder to print them side by side. */
#define DIFF_SIDE_COLUMNS_MIN 58u
#define DIFF_BETWEEN_COLUMNS  4u /* columns between the ladders */

/* Stores the recorded events after tick @common in @side.  The lab must be at the end of that
 * future.
 */
void diff_take_events(struct session *s, uint64_t common, struct diff_side *side);

/* Finds the first event that differs, and compares the frames of the events before it.  Call it
 * after diff_take_events() of both sides.
 */
void diff_find_parting(struct diff *d);

/* Stores the first different event and frame in @side, and draws the ladder from that event on.
 * The lab must be at the end of that future.
 */
void diff_take_end(struct session *s, const struct diff *d, struct diff_side *side);

/* Stores the state and the memory of the lab in @side.  The lab must be at the place to compare. */
void diff_take_state(struct session *s, struct diff_side *side);

void diff_side_done(struct diff_side *side);

/* Prints the whole comparison. */
void diff_print(struct session *s, const struct diff *d);

#endif
