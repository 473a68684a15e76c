/* SPDX-License-Identifier: MIT */
/* What two futures are held against each other by, and what was found: inside `diff`.
 *
 * A lab has one state, so the two are never there at once: of each is kept what the other one is
 * compared with.  Only events that are surely recorded are paired.  Where recording was off, or the
 * record has forgotten something, nothing is said of what happened; states are compared anyway.
 */
#ifndef CLI_DIFF_DIFF_H
#define CLI_DIFF_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/session/journal.h"
#include "emu/trace/event.h"
#include "tree/tree_memory.h"
#include "tree/tree_state.h"

struct session;

/* Has an event put a frame on the wire, and are its bytes there? */
enum diff_frame { FRAME_NONE, FRAME_GONE, FRAME_KEPT };

/* One of the two, and what was seen in it. */
struct diff_side {
    const char *name;
    struct happened {
        ev_id id;
        uint64_t hash, frame_hash;
        enum diff_frame frame;
    } * v; /* behind the place that they have in common */
    size_t n;
    uint64_t common;     /* the tick of that place */
    uint64_t sure_until; /* up to this tick no event is missing; RDL_NEVER: none is at all */
    char missing[512];   /* why one may be; "": none is */
    ev_id parts;         /* the first event that the other one has not; 0: there is none */
    char event[512];     /* that one */
    struct moment end;   /* of the future */
    uint8_t *frame;      /* the first one that differs; NULL: none does */
    size_t frame_bytes;
    struct moment there;       /* where it parts, or its end: of that moment are */
    struct tree_state state;   /* these */
    struct tree_memory memory; /* two */
    char *ladder;              /* NULL: there is nothing to draw */
    bool is_cut;               /* the ladder shows not all */
    struct place left;         /* where the lab was left in it */
};

struct diff {
    struct diff_side a, b;
    bool all;          /* is to be told, and not only the first of it */
    bool side_by_side; /* stand the ladders, */
    unsigned width;    /* each of so many columns */
    bool is_sure;      /* no event is missing up to where they part */
    size_t n_same;     /* events that are the same in both */
    size_t n_frames;   /* of them: frames that were compared, */
    size_t n_gone;     /* those of which one has no bytes any more, */
    size_t n_differ;   /* those that differ, */
    size_t first;      /* and the index of the event of the first of these */
};

/* Two ladders stand side by side where each has so many columns. */
#define DIFF_SIDE_COLUMNS_MIN 58u
#define DIFF_BETWEEN_COLUMNS  4u /* between the two */

/* The lab is at the end of @side: takes the events behind tick @common, as far as they are there.
 */
void diff_take_events(struct session *s, uint64_t common, struct diff_side *side);

/* Both have their events: finds where these are not the same any more, and compares the frames
 * before that.
 */
void diff_find_parting(struct diff *d);

/* The lab is at the end of @side: draws what came, and keeps what is to be told of its events. */
void diff_take_end(struct session *s, const struct diff *d, struct diff_side *side);

/* The lab is where @side is to be compared. */
void diff_take_state(struct session *s, struct diff_side *side);

void diff_side_done(struct diff_side *side);

/* Prints all of it. */
void diff_tell(struct session *s, const struct diff *d);

#endif
