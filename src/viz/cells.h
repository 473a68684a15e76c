/* SPDX-License-Identifier: MIT */
/* Text pictures are built row by row in cells, so that a character outside ASCII counts as one. */
#ifndef VIZ_CELLS_H
#define VIZ_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "viz/ladder.h"

#define CELL_BYTES 5u /* a character of UTF-8 and its NUL */

/* What a character means; its colour, if there are colours. */
enum shade {
    SHADE_NONE,
    SHADE_BOLD,
    SHADE_DIM,
    SHADE_REQUEST,
    SHADE_ANSWER,
    SHADE_BAD,
    SHADE_TIMER,
    SHADE_STATE
};

struct cell {
    char s[CELL_BYTES]; /* empty: a blank */
    uint8_t shade;
};

struct cells {
    const struct viz_sink *sink;
    uint32_t width; /* at most LADDER_WIDTH_MAX */
    bool colour;
    struct cell row[LADDER_WIDTH_MAX];
};

/* How many cells @s takes. */
uint32_t cells_of(const char *s);

/* Writes @s into the row from cell @at on; what is beyond the row is left out. */
void cells_draw(struct cells *c, uint32_t at, const char *s, enum shade shade);

/* Writes @s between @from and @to, beginning at @at if it fits so, with a blank on either side.  A
 * text that is too long is cut, and says so with a "~".
 */
void cells_draw_within(struct cells *c, uint32_t from, uint32_t to, uint32_t at, const char *s,
                       enum shade shade);

/* Fills the cells @from .. @to - 1. */
void cells_fill(struct cells *c, uint32_t from, uint32_t to, const char *s, enum shade shade);

/* Hands out the row without blanks at its end, and begins an empty one. */
void cells_end_row(struct cells *c);

#endif
