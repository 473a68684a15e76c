/* SPDX-License-Identifier: MIT */
/* The content of a ladder in the order of events, without positions.
 *
 * A stop is a point on a lifeline: a packet is sent or arrives, a note, or a timer starts or fires.
 * Arrows, copies and timers connect stops.
 */
#ifndef VIZ_LADDER_MODEL_H
#define VIZ_LADDER_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/past/fate.h"
#include "emu/trace/render.h"
#include "viz/ladder.h"

#define LADDER_NOTE_BYTES    112u
#define LADDER_LABEL_BYTES   152u
#define LADDER_CUT_BYTES     80u
#define LADDER_TITLE_BYTES   160u
#define LADDER_MISSING_BYTES 640u
#define LADDER_NONE          UINT32_MAX /* no column, no stop, no arrow */

/* A lifeline: a host, or everything outside the lab. */
struct ladder_column {
    uint32_t host; /* number of the host; EV_HOST_NONE: everything outside the lab */
    uint32_t qpn;  /* QPN of the first event with one; 0: none yet */
    bool many_qps; /* the host has events of several QPs, so notes name the QP */
    bool has_cm;   /* its kernel has a connection manager: QPN 1 is the kernel's own */
    char name[EV_NAME_BYTES];
    char addr[EV_NAME_BYTES]; /* IP address; may be empty */
};

/* Kind of a stop or an arrow: selects colour and glyph. */
enum ladder_tone {
#define TONE(NAME, word, label) TONE_##NAME,
#include "viz/ladder_tones.def"
#undef TONE
    TONE_COUNT
};

struct ladder_stop {
    ev_id id; /* of its event, or the place of its call among the events */
    uint64_t at_ns;
    /* Time since the previous stop, if that is at least four times ladder.usual_ns: it is then
     * drawn as a band.  Otherwise 0, and idle and unsure have no meaning.
     */
    uint64_t gap_ns;
    bool idle;                    /* no event and no packet in flight since the previous stop */
    uint64_t rounds;              /* rounds left out since the previous stop: it is a band, too */
    bool unsure;                  /* recording may have been off since the previous stop */
    uint32_t column;              /* index of its lifeline in ladder.columns */
    uint32_t arrow;               /* index of the arrow that begins or ends here, or LADDER_NONE */
    bool on_wire;                 /* the stop is between lifelines: a packet was lost there */
    enum ladder_tone tone;        /* tone of the note */
    bool is_call;                 /* a program's call, and no event */
    uint32_t kind;                /* enum ev_kind: kind of the event; of a call without meaning */
    char note[LADDER_NOTE_BYTES]; /* text beside the lifeline; may be empty */
    char title[EV_TEXT_BYTES];    /* the event's line in the trace */
};

/* The end of an arrow that is outside the picture: the sender's (tail), or the receiver's (head).
 */
enum ladder_cut { CUT_NONE, CUT_TAIL, CUT_HEAD };

struct ladder_arrow {
    /* id: the event that sent the packet.  also: the event in which a fault changed its bytes; 0:
     * none.
     */
    ev_id id, also;
    uint32_t from, to; /* indexes of the columns of sender and receiver */
    /* Indexes of the stops at its ends; LADDER_NONE: the end is outside the picture or the lab. */
    uint32_t tail, head;
    bool copy; /* a copy that a fault of the network made */
    /* Copy: index of the original arrow; LADDER_NONE: not a copy, or the original was not sent in
     * the picture.
     */
    uint32_t copy_of;
    uint32_t label_stop;  /* stop beside which the label stands if it has no room along the arrow */
    enum frame_fate fate; /* fate of the packet, up to the end of the picture */
    enum ladder_tone tone;
    enum ladder_cut cut;
    bool again;                     /* a retransmission */
    bool injected;                  /* injected at the host @from, not sent by a queue pair */
    char label[LADDER_LABEL_BYTES]; /* text along the arrow: "SEND_ONLY psn=100 ackreq" */
    char copied_by[EV_NAME_BYTES];  /* name of the fault that duplicated the packet; may be empty */
    char end[LADDER_LABEL_BYTES];   /* text where an arrow ends between lifelines: "lost: f1" */
    char beyond[LADDER_CUT_BYTES];  /* text at the cut: "sent in #5.1, before this picture" */
};

/* A timer that fired in the picture. */
struct ladder_timer {
    uint32_t armed; /* index of the stop at which it was armed; LADDER_NONE: before the picture */
    uint32_t fired; /* index of the stop at which it fired */
};

struct ladder {
    struct picture_options options; /* its member title must not be used: the text may be gone */
    char title[LADDER_TITLE_BYTES]; /* copy of that title; may be empty */
    char missing[LADDER_MISSING_BYTES]; /* what failed, and which events are missing; may be "" */
    struct ladder_column columns[LADDER_COLUMNS_MAX];
    struct ladder_stop *stops;
    struct ladder_arrow *arrows;
    struct ladder_timer *timers;
    uint32_t n_columns, n_stops, n_arrows, n_timers;
    uint32_t cap_stops, cap_arrows, cap_timers;
    uint64_t usual_ns;        /* median time of flight of a packet; not 0 */
    struct picture_left left; /* hosts: some have no lifeline because of LADDER_COLUMNS_MAX */
};

/* Returns true if the arrow ends between lifelines: the packet was lost, or its end is not known.
 */
static inline bool ladder_ends_on_way(const struct ladder_arrow *a)
{
    return a->fate == FATE_LOST || a->fate == FATE_UNKNOWN;
}

/* Returns true if neither end of the arrow is on a lifeline of the picture: the packet was sent
 * before the picture, and lost within it.
 */
static inline bool ladder_floats(const struct ladder_arrow *a)
{
    return a->cut == CUT_TAIL && a->fate == FATE_LOST;
}

/* A cut arrow is drawn as a stub on one side of a lifeline.  ladder_stub_column() returns the
 * column of this lifeline, ladder_stub_right() true if the stub is on its right side.
 */
uint32_t ladder_stub_column(const struct ladder_arrow *a);
bool ladder_stub_right(const struct ladder *l, const struct ladder_arrow *a);

/* Adds the simulated time @at_ns in us, without rounding: "20.087". */
void ladder_add_time(struct text *t, uint64_t at_ns);

/* Adds the label of the pause before stop @s: "65.4us idle". */
void ladder_add_gap(struct text *t, const struct ladder_stop *s);

/* Returns the length of the longest beginning of @s that has at most @most characters and ends
 * between words.  If the first word is longer, returns @most.  @s is ASCII.
 */
size_t ladder_line(const char *s, size_t most);

/* Adds the text below a picture that is empty or omits something.  Returns false if there is no
 * such text.
 */
bool ladder_add_rest(struct text *t, const struct ladder *l);

#endif
