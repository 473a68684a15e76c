/* SPDX-License-Identifier: MIT */
/* Where everything in a ladder's SVG is.  Lengths are tenths of a pixel, y runs downwards.
 *
 * Time is not to scale: every stop lies below the one before, far enough that notes on one side of
 * the picture, and the ends of arrows on one lifeline, do not touch; long pauses become a band.
 * So notes and times cannot collide.  The labels of arrows are put where there is room along
 * their arrow (ladder_place.c); a label that finds none becomes a note beside the lifeline, and
 * everything is laid out again with a row for it.
 */
#ifndef VIZ_LADDER_LAYOUT_H
#define VIZ_LADDER_LAYOUT_H

#include "viz/ladder_model.h"
#include "viz/metrics.h"

#define LAYOUT_FONT_PX       12 /* labels and notes */
#define LAYOUT_TIME_FONT_PX  11
#define LAYOUT_NAME_FONT_PX  15
#define LAYOUT_TITLE_FONT_PX 17
#define LAYOUT_TEXT_BYTES    192u
#define LAYOUT_LINE          110u /* characters of a sentence in one line */
#define LAYOUT_SEGMENTS_MAX  3u   /* of one arrow: a packet to its own host goes around a corner */

#define LAYOUT_EDGE     PX(16) /* around the picture */
#define LAYOUT_FLIGHT   PX(64) /* height of a packet's usual flight */
#define LAYOUT_STEP_END PX(22) /* between ends of arrows on one lifeline */
#define LAYOUT_ON_WAY   60     /* percent of the way where a lost packet ends */

#define LAYOUT_BELOW PX(4)  /* from the middle of a line of text to its baseline */
#define LAYOUT_CROSS PX(5)  /* half of a cross */
#define LAYOUT_MARK  PX(4)  /* half of a mark on a lifeline */
#define LAYOUT_HEAD  PX(10) /* length of an arrow's head */
#define LAYOUT_CUT   PX(6)  /* half of the height of the strokes where an arrow is cut */

enum layout_text_kind {
    TEXT_TITLE,
    TEXT_NAME,
    TEXT_ADDR,
    TEXT_TIME,
    TEXT_NOTE,
    TEXT_LABEL, /* along an arrow */
    TEXT_END,   /* where an arrow ends on the way */
    TEXT_CUT,   /* where it is cut */
    TEXT_GAP,
    TEXT_REST /* what was left out */
};

enum layout_anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END };

struct layout_text {
    enum layout_text_kind kind;
    enum layout_anchor anchor;
    enum ladder_tone tone;
    uint32_t stop, arrow; /* whose text it is, or LADDER_NONE */
    struct point at;      /* of the anchor, on the baseline */
    struct unit u;        /* direction of reading */
    struct quad box;      /* what it covers */
    char s[LAYOUT_TEXT_BYTES];
};

struct layout_arrow {
    struct segment seg[LAYOUT_SEGMENTS_MAX]; /* from tail to head */
    uint32_t n_seg;
    int32_t aim_y; /* where it arrives, or would have */
};

/* A pause. */
struct layout_band {
    int32_t top, bottom;
    uint32_t stop; /* the one behind it */
};

struct layout_bracket {
    int32_t x, lifeline_x, top, bottom;
    bool cut; /* it began before the picture */
};

struct layout {
    const struct ladder *l;
    int32_t width, height;
    int32_t lane_min;        /* least distance of two lifelines */
    int32_t top, bottom;     /* of the lifelines */
    int32_t time_x;          /* right end of the times */
    int32_t left_x, right_x; /* where notes end on the left and start on the right */
    int32_t x[LADDER_COLUMNS_MAX];
    int32_t *y;                          /* of each stop */
    bool *label_out, *end_out, *cut_out; /* per arrow: its texts have no room inside */
    struct layout_arrow *arrows;
    struct layout_bracket *brackets; /* one for each timer */
    struct layout_band *bands;
    struct layout_text *texts;
    struct segment *lines; /* everything that no text may touch */
    struct quad *solids;
    uint32_t n_bands, n_texts, n_lines, n_solids;
    uint32_t cap_texts, cap_lines, cap_solids;
};

/* RDL_OK, RDL_ERR_NOMEM.  @ret refers to @l; give its memory back with layout_done(). */
RDL_MUST_CHECK enum rdl_status layout_init(struct layout *ret, const struct ladder *l);
void layout_done(struct layout *o);

/* Are the notes of this lifeline on the left of the picture? */
bool layout_notes_left(const struct ladder *l, uint32_t column);

/* Where an arrow is cut. */
struct point layout_cut(const struct layout *o, uint32_t arrow);

/* Has this stop a mark on its lifeline? */
bool layout_has_mark(const struct ladder_stop *s);

/* The rest is shared by ladder_layout.c, ladder_shape.c and ladder_place.c. */

/* Shapes arrows and brackets from the places of their stops, and collects what is in the way. */
void layout_shape(struct layout *o);

/* Adds a text; its box follows from the rest.  The picture becomes as wide as it needs. */
void layout_add_text(struct layout *o, struct layout_text text);
int32_t layout_font_px(enum layout_text_kind kind);

/* Puts the labels of bands and arrows where there is room.  Returns how many found none: they are
 * marked in label_out, end_out and cut_out.
 */
uint32_t layout_place(struct layout *o);

#endif
