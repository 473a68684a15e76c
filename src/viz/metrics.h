/* SPDX-License-Identifier: MIT */
/* Text widths and geometry, for a layout without collisions.
 *
 * All lengths are integers in tenths of a pixel, so that a picture has the same bytes on every
 * machine.
 */
#ifndef VIZ_METRICS_H
#define VIZ_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/text.h"

#define PX(n) ((int32_t)(n)*10) /* pixels in tenths */

static inline int32_t i32_max(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static inline int32_t i32_min(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

struct point {
    int32_t x, y;
};

struct segment {
    struct point a, b;
};

/* A rectangle, possibly rotated: its corners in order. */
struct quad {
    struct point p[4];
};

/* A direction in thousandths: (1000, 0) points to the right. */
struct unit {
    int32_t x, y;
};

/* Returns the width of one line of @s in DejaVu Sans at @size_px, rounded up. */
int32_t text_width(const char *s, int32_t size_px);

/* Returns the largest r with r * r <= @v. */
uint32_t isqrt(uint64_t v);

/* Returns the direction from @a to @b, or (1000, 0) if they are equal. */
struct unit unit_between(struct point a, struct point b);

/* Returns the point that is @along further than @from in direction @u, and @across to its
 * right-hand side (downwards if @u points to the right).
 */
struct point point_from(struct point from, struct unit u, int32_t along, int32_t across);

/* Returns the rectangle with these edges. */
struct quad quad_box(int32_t left, int32_t top, int32_t right, int32_t bottom);

/* Returns the box of a text of width @w and font size @size_px whose baseline starts at @from in
 * direction @u, enlarged by @margin.
 */
struct quad quad_text(struct point from, struct unit u, int32_t w, int32_t size_px, int32_t margin);

/* quads_overlap() returns true if @a and @b overlap or touch, quad_hits_segment() if @q and @s do.
 */
bool quads_overlap(const struct quad *a, const struct quad *b);
bool quad_hits_segment(const struct quad *q, const struct segment *s);

#endif
