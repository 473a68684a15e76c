/* SPDX-License-Identifier: MIT */
/* What a ladder shows, in the order of events and without any position.
 *
 * A stop is a point on a lifeline: a packet leaves or arrives, something is to be said there, a
 * timer starts or runs out.  Arrows, copies and timers connect stops.
 */
#ifndef VIZ_LADDER_MODEL_H
#define VIZ_LADDER_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/facts/enums.h"
#include "emu/past/fate.h"
#include "emu/trace/event.h"
#include "viz/ladder.h"

#define LADDER_COLUMNS_MAX   12u
#define LADDER_NOTE_BYTES    112u
#define LADDER_LABEL_BYTES   152u
#define LADDER_CUT_BYTES     80u
#define LADDER_TITLE_BYTES   160u
#define LADDER_MISSING_BYTES 320u
#define LADDER_NONE          UINT32_MAX /* no column, no stop */

struct ladder_column {
    uint32_t host; /* EV_HOST_NONE: what is outside of the lab */
    uint32_t qpn;  /* the first QP that is spoken of; 0: none yet */
    bool many_qps; /* notes must say which */
    char name[EV_NAME_BYTES];
    char addr[EV_NAME_BYTES];
};

/* What sort of thing a stop or an arrow is: decides colour and glyph. */
enum ladder_tone {
    TONE_PLAIN,
    TONE_POST,  /* a guest posted something */
    TONE_STATE, /* a QP changed its state */
    TONE_DONE,  /* a completion with SUCCESS */
    TONE_BAD,   /* any other completion; a refusal */
    TONE_TIMER,
    TONE_REQUEST,
    TONE_ANSWER,
    TONE_NAK,
    TONE_COUNT
};

struct ladder_stop {
    ev_id id;
    uint64_t at_ns;
    uint64_t gap_ns;              /* time since the stop before, if it is long enough for a band */
    bool idle;                    /* nothing at all happened in that time */
    bool unsure;                  /* nobody knows: what happened then may not be recorded */
    uint32_t column;              /* of the lifeline */
    uint32_t arrow;               /* whose end this is, or LADDER_NONE */
    bool on_wire;                 /* between lifelines: where a packet was lost */
    enum ladder_tone tone;        /* of the note */
    enum ev_kind kind;            /* of the event */
    char note[LADDER_NOTE_BYTES]; /* said beside the lifeline; may be empty */
    char title[EV_TEXT_BYTES];    /* the event's line of the trace */
};

/* The end of an arrow that is not in the picture. */
enum ladder_cut { CUT_NONE, CUT_TAIL, CUT_HEAD };

struct ladder_arrow {
    ev_id id, also;       /* the tx event; the fault that changed its bytes, or 0 */
    uint32_t from, to;    /* columns */
    uint32_t tail, head;  /* stops; LADDER_NONE: outside of the picture or of the lab */
    bool copy;            /* the network made it */
    uint32_t copy_of;     /* of this arrow; LADDER_NONE if that does not leave in the picture */
    uint32_t label_stop;  /* where the label is said if it has no room along the arrow */
    enum frame_fate fate; /* as far as the picture goes */
    enum ladder_tone tone;
    enum ladder_cut cut;
    bool again;                     /* not the first transmission of this packet */
    char label[LADDER_LABEL_BYTES]; /* "SEND_ONLY psn=100 ackreq" */
    char copied_by[EV_NAME_BYTES];  /* the fault that made a copy of it */
    char end[LADDER_LABEL_BYTES];   /* said where it ends on the way: "lost: f1" */
    char beyond[LADDER_CUT_BYTES];  /* said where it is cut: "sent in #5.1, before this picture" */
};

/* A timer that ran out: from the stop where it was armed, or LADDER_NONE: before the picture. */
struct ladder_timer {
    uint32_t armed, fired;
};

struct ladder {
    struct picture_options options; /* title is not valid */
    char title[LADDER_TITLE_BYTES];
    char missing[LADDER_MISSING_BYTES]; /* what the trace lacks; may be empty */
    struct ladder_column columns[LADDER_COLUMNS_MAX];
    struct ladder_stop *stops;
    struct ladder_arrow *arrows;
    struct ladder_timer *timers;
    uint32_t n_columns, n_stops, n_arrows, n_timers;
    uint32_t cap_stops, cap_arrows, cap_timers;
    uint64_t usual_ns;     /* how long a packet usually takes; not 0 */
    bool hosts_left;       /* some hosts have no lifeline, for want of room */
    uint64_t packets_left; /* packets that are not drawn, for want of room */
    ev_id left_from;       /* the first of what is not drawn, or 0 */
};

/* Does it end between the lifelines? */
static inline bool ladder_ends_on_way(const struct ladder_arrow *a)
{
    return a->fate == FATE_LOST || a->fate == FATE_UNKNOWN;
}

/* Is neither end of it on a lifeline of the picture?  Sent before it, lost within it. */
static inline bool ladder_floats(const struct ladder_arrow *a)
{
    return a->cut == CUT_TAIL && a->fate == FATE_LOST;
}

/* What is left of a cut arrow lies on one side of a lifeline: of which, and is it the right one? */
uint32_t ladder_stub_column(const struct ladder_arrow *a);
bool ladder_stub_right(const struct ladder *l, const struct ladder_arrow *a);

/* "20.087": simulated time in us, exact. */
void ladder_add_time(struct text *t, uint64_t at_ns);

/* The label of a gap: "65.4us idle". */
void ladder_add_gap(struct text *t, const struct ladder_stop *s);

/* How much of the sentence @s, which is ASCII, fits a line of @most characters: ends between words.
 */
size_t ladder_line(const char *s, size_t most);

/* The words at the lower end of a picture that leaves something out; false if none does. */
bool ladder_add_rest(struct text *t, const struct ladder *l);

#endif
