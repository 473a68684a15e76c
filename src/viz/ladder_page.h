/* SPDX-License-Identifier: MIT */
/* A ladder that is being written for a terminal: shared by its rows and its arrows. */
#ifndef VIZ_LADDER_PAGE_H
#define VIZ_LADDER_PAGE_H

#include "viz/cells.h"
#include "viz/ladder_model.h"

/* The characters of lines, as UTF-8 or ASCII. */
struct page_glyphs {
    const char *life, *pause;                       /* lifelines */
    const char *out_right, *out_left, *over;        /* an arrow leaves or crosses one */
    const char *to_right, *to_left, *cross;         /* and ends */
    const char *cut;                                /* or is cut */
    const char *line, *again, *copy;                /* how it is drawn */
    const char *left_top, *left_bottom;             /* corners */
    const char *right_top, *right_bottom, *running; /* running: a timer, between its corners */
    const char *marks[TONE_COUNT];                  /* of notes, on a lifeline */
};

struct page {
    const struct ladder *l;
    const struct page_glyphs *g;
    struct cells c;
    uint32_t time_width;
    uint32_t x[LADDER_COLUMNS_MAX];
    bool outside; /* notes stand outside of the lifelines */
    uint64_t shown_ns;
};

enum shade page_shade(enum ladder_tone tone);

/* Lifelines, timers and the time at stop @i, in an empty row. */
void page_begin_row(struct page *p, uint32_t i);

/* The rows of arrow @a where it leaves, at stop @i. */
void page_arrow(struct page *p, uint32_t i, const struct ladder_arrow *a);

/* The row where a packet arrives that was sent before a pause. */
void page_arrival(struct page *p, uint32_t i, const struct ladder_arrow *a);

#endif
