/* SPDX-License-Identifier: MIT */
/* State for writing a ladder to a terminal, shared by ladder_text.c and ladder_text_arrow.c. */
#ifndef VIZ_LADDER_PAGE_H
#define VIZ_LADDER_PAGE_H

#include "viz/cells.h"
#include "viz/ladder_model.h"

/* The characters for drawing, in UTF-8 or ASCII. */
struct page_glyphs {
    const char *life, *pause; /* a lifeline, and its part during a pause */
    /* the points at which an arrow leaves a lifeline to the right or left, and crosses one */
    const char *out_right, *out_left, *over;
    const char *injected_at; /* the point at which an injected packet begins */
    /* the end of an arrow: heads to the right and left, and of a packet that was lost or dropped */
    const char *to_right, *to_left, *cross;
    const char *cut; /* the point at which an arrow is cut */
    /* the body of an arrow: of a packet, of a retransmission, of a copy, of an injected packet */
    const char *line, *again, *copy, *injected;
    const char *left_top, *left_bottom; /* corners of an arrow or bracket on the left side */
    /* the same on the right side; the line of a timer between its corners */
    const char *right_top, *right_bottom, *running;
    const char *marks[TONE_COUNT]; /* marks of notes on a lifeline, by tone */
};

/* A ladder that is being written. */
struct page {
    const struct ladder *l;
    const struct page_glyphs *g;
    struct cells c;
    uint32_t time_width;            /* width of the column of times */
    uint32_t x[LADDER_COLUMNS_MAX]; /* cell of each lifeline */
    bool outside;                   /* notes are outside the lifelines, not between them */
    uint32_t head_row;              /* the row below the last names of the hosts */
    uint64_t shown_ns;              /* the time that was last written at the left edge */
};

/* Returns the style of a stop or arrow of @tone. */
enum shade page_shade(enum ladder_tone tone);

/* Draws the lifelines, the timers and the time of stop @i into an empty row.  The time is omitted
 * if it equals @p->shown_ns.
 */
void page_begin_row(struct page *p, uint32_t i);

/* Writes the rows of arrow @a at stop @i.  This is the stop at which the arrow begins, or at which
 * it ends if it comes from outside the picture.
 */
void page_arrow(struct page *p, uint32_t i, const struct ladder_arrow *a);

/* Writes the row in which the packet of arrow @a arrives, at stop @i: for an arrow that a pause
 * interrupts.
 */
void page_arrival(struct page *p, uint32_t i, const struct ladder_arrow *a);

#endif
