/* SPDX-License-Identifier: MIT */
/* A row of a text picture as an array of cells, one per character: a character outside ASCII takes
 * one cell.
 */
#ifndef VIZ_CELLS_H
#define VIZ_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "viz/ladder.h"

#define CELL_BYTES 5u /* a character in UTF-8 and a NUL */

/* Style of a cell.  It has an effect only if cells.colour is true. */
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

/* Returns the ANSI code that begins @shade. */
const char *shade_code(enum shade shade);

struct cell {
    char s[CELL_BYTES]; /* one character; empty: a blank */
    uint8_t shade;      /* enum shade */
};

/* The row that is being drawn, and where finished rows go. */
struct cells {
    const struct viz_sink *sink;
    uint32_t width;  /* number of cells in a row, at most LADDER_WIDTH_MAX */
    bool colour;     /* write ANSI colours */
    uint32_t n_rows; /* number of finished rows */
    struct cell row[LADDER_WIDTH_MAX];
};

/* Returns the number of cells that @s takes. */
uint32_t cells_of(const char *s);

/* Writes @s into the row from cell @at on.  Characters beyond the row are dropped. */
void cells_draw(struct cells *c, uint32_t at, const char *s, enum shade shade);

/* Writes @s into the cells @from .. @to - 1.  It begins at cell @at, or as near to that as the
 * range permits.  The cells of the range directly before and after it become blank.  A text that is
 * too long is cut and ends with "~".
 */
void cells_draw_within(struct cells *c, uint32_t from, uint32_t to, uint32_t at, const char *s,
                       enum shade shade);

/* Fills each of the cells @from .. @to - 1 with the character @s. */
void cells_fill(struct cells *c, uint32_t from, uint32_t to, const char *s, enum shade shade);

/* Writes the row to the sink without trailing blanks, and starts an empty one. */
void cells_end_row(struct cells *c);

#endif
