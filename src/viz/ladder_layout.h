/* SPDX-License-Identifier: MIT */
/* The layout of a ladder's SVG.  Lengths are tenths of a pixel; y runs downwards.
 *
 * Time is not to scale.  Each stop is below the previous one, far enough that notes on one side of
 * the picture and the ends of arrows on one lifeline do not touch.  A long pause becomes a band.
 * Labels are placed where there is room along their arrow (ladder_place.c).  A label without room
 * becomes a note beside the lifeline, and the layout is repeated with a row for it.  Far below the
 * names of the hosts they are repeated.
 */
#ifndef VIZ_LADDER_LAYOUT_H
#define VIZ_LADDER_LAYOUT_H

#include "viz/ladder_model.h"
#include "viz/metrics.h"

#define LAYOUT_FONT_PX       12 /* font sizes in pixels; this one: labels and notes */
#define LAYOUT_TIME_FONT_PX  11
#define LAYOUT_NAME_FONT_PX  15
#define LAYOUT_TITLE_FONT_PX 17
#define LAYOUT_TEXT_BYTES    192u
#define LAYOUT_LINE          110u /* most characters in one line of a TEXT_REST */
#define LAYOUT_SEGMENTS_MAX  3u   /* segments of one arrow; a packet to its own host takes three */

#define LAYOUT_EDGE     PX(16) /* margin around the picture */
#define LAYOUT_FLIGHT   PX(64) /* height for ladder.usual_ns, the usual time of flight */
#define LAYOUT_STEP_END PX(22) /* least distance between ends of arrows on one lifeline */
#define LAYOUT_ON_WAY   60     /* percent of its way that the arrow of a lost packet covers */

#define LAYOUT_BELOW  PX(4)  /* from the middle of a line of text to its baseline */
#define LAYOUT_CROSS  PX(5)  /* half the width of a cross */
#define LAYOUT_MARK   PX(4)  /* half the width of a mark on a lifeline */
#define LAYOUT_ORIGIN PX(6)  /* half the width of the diamond where an injected packet begins */
#define LAYOUT_HEAD   PX(10) /* length of an arrow's head */
#define LAYOUT_HEADS  PX(26) /* height of the names of the hosts where they are repeated */
#define LAYOUT_CUT    PX(6)  /* half the height of the strokes where an arrow is cut */

enum layout_text_kind {
    TEXT_TITLE,
    TEXT_NAME,  /* name of a host, above its lifeline */
    TEXT_ADDR,  /* its address */
    TEXT_TIME,  /* time of a stop, at the left edge */
    TEXT_NOTE,  /* note of a stop, beside the lifelines */
    TEXT_LABEL, /* along an arrow */
    TEXT_END,   /* at the end of an arrow that ends on the way */
    TEXT_CUT,   /* at an arrow that leaves the picture: says where its other end is */
    TEXT_GAP,   /* in the band of a pause: its length */
    TEXT_REST   /* sentences about missing events and omitted packets */
};

/* The part of a text that is at layout_text.at. */
enum layout_anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END };

struct layout_text {
    enum layout_text_kind kind;
    enum layout_anchor anchor;
    enum ladder_tone tone;
    uint32_t stop, arrow; /* indexes of the stop and the arrow it is about; LADDER_NONE: none */
    struct point at;      /* the point of the baseline that @anchor names */
    struct unit u;        /* direction of reading */
    struct quad box;      /* area that it covers */
    char s[LAYOUT_TEXT_BYTES];
};

struct layout_arrow {
    struct segment seg[LAYOUT_SEGMENTS_MAX]; /* from tail to head */
    uint32_t n_seg;
    int32_t aim_y; /* y at which the packet arrives, or would have arrived */
};

/* The band that stands for a long pause, across the whole picture. */
struct layout_band {
    int32_t top, bottom; /* y */
    uint32_t stop;       /* the stop after the pause */
};

/* A row that repeats the names of the hosts. */
struct layout_head {
    int32_t y;        /* of its middle */
    unsigned on_line; /* set of columns whose name interrupts the lifeline */
};

/* The line beside a lifeline that connects the arming of a timer with its firing. */
struct layout_bracket {
    int32_t x, lifeline_x; /* x of the line, and of the lifeline */
    int32_t top, bottom;   /* y of its ends */
    bool cut;              /* the timer was armed before the picture */
};

struct layout {
    const struct ladder *l;
    int32_t width, height;
    int32_t lane_min;              /* least distance between two lifelines */
    int32_t top, bottom;           /* y of the ends of the lifelines */
    int32_t time_x;                /* right edge of the times */
    int32_t left_x, right_x;       /* right edge of the left notes, left edge of the right notes */
    int32_t x[LADDER_COLUMNS_MAX]; /* of each lifeline */
    int32_t *y;                    /* of each stop */
    /* For each arrow: its label, its TEXT_END, its TEXT_CUT has no room along the arrow and becomes
     * a note.
     */
    bool *label_out, *end_out, *cut_out;
    struct layout_arrow *arrows;
    struct layout_bracket *brackets; /* one per element of ladder.timers */
    struct layout_band *bands;
    struct layout_head *heads;
    struct layout_text *texts;
    struct segment *lines; /* obstacles for texts: lines */
    struct quad *solids;   /* obstacles for texts: areas */
    uint32_t n_bands, n_heads, n_texts, n_lines, n_solids;
    uint32_t cap_texts, cap_lines, cap_solids;
};

/* Computes the layout of @l, which must outlive it.  Free it with layout_done().  Returns RDL_OK or
 * RDL_ERR_NOMEM.
 */
RDL_MUST_CHECK enum rdl_status layout_init(struct layout *ret, const struct ladder *l);
void layout_done(struct layout *o);

/* Returns true if the notes of this lifeline are on the left of the picture. */
bool layout_notes_left(const struct ladder *l, uint32_t column);

/* Returns the point where arrow number @arrow, which must be cut, is cut. */
struct point layout_cut(const struct layout *o, uint32_t arrow);

/* Returns true if a mark is drawn on the lifeline at the stop. */
bool layout_has_mark(const struct ladder_stop *s);

/* The functions below are shared by ladder_layout.c, ladder_shape.c and ladder_place.c. */

/* Computes the lines of arrows and brackets from the positions of the stops, and collects the
 * obstacles for texts.
 */
void layout_shape(struct layout *o);

/* layout_add_text() adds a text, computes its box and widens the picture if necessary.
 * layout_font_px() returns the font size of a kind of text in pixels.
 */
void layout_add_text(struct layout *o, struct layout_text text);
int32_t layout_font_px(enum layout_text_kind kind);

/* Places the labels of bands and arrows where there is room.  Returns the number of arrow texts
 * without room, which it marks in label_out, end_out and cut_out.
 */
uint32_t layout_place(struct layout *o);

#endif
