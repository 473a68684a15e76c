/* SPDX-License-Identifier: MIT */
#include "viz/metrics.h"

/* Advance widths of ' ' .. '~' in DejaVu Sans, in thousandths of the font size, rounded up.  DejaVu
 * Sans is wider than the fonts that viewers are likely to substitute.
 */
static const uint16_t advances[] = {
    318,  401, 460, 838, 637, 951, 780, 275, 391, 391, 500, 838, 318, 361, 318, 337, /* ' ' */
    637,  637, 637, 637, 637, 637, 637, 637, 637, 637, 337, 337, 838, 838, 838, 531, /* '0' */
    1000, 685, 687, 699, 771, 632, 576, 775, 752, 295, 295, 656, 558, 863, 749, 788, /* '@' */
    604,  788, 695, 635, 611, 732, 685, 989, 686, 611, 686, 391, 337, 391, 838, 500, /* 'P' */
    500,  613, 635, 550, 635, 616, 353, 635, 634, 278, 278, 580, 278, 975, 634, 612, /* '`' */
    635,  635, 412, 521, 393, 634, 592, 818, 592, 592, 525, 637, 337, 637, 838,      /* 'p' */
};

#define ADVANCE_OTHER 1000u /* for a character outside ASCII */
#define ASCENT        800   /* of capitals and brackets, in thousandths of the font size */
#define DESCENT       245   /* of brackets and underscores, in thousandths of the font size */

int32_t text_width(const char *s, int32_t size_px)
{
    uint32_t sum = 0;

    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;

        if (c >= ' ' && c <= '~')
            sum += advances[c - ' '];
        else if ((c & 0xc0u) != 0x80u) /* not a continuation byte of UTF-8 */
            sum += ADVANCE_OTHER;
    }
    return (int32_t)((sum * (uint32_t)size_px + 99) / 100);
}

uint32_t isqrt(uint64_t v)
{
    uint64_t r = 0;

    for (uint64_t bit = (uint64_t)1 << 31; bit; bit >>= 1) {
        if ((r + bit) * (r + bit) <= v)
            r += bit;
    }
    return (uint32_t)r;
}

struct unit unit_between(struct point a, struct point b)
{
    const int64_t dx = b.x - a.x;
    const int64_t dy = b.y - a.y;
    const int64_t len = isqrt((uint64_t)(dx * dx + dy * dy));

    if (len == 0)
        return (struct unit){1000, 0};
    return (struct unit){(int32_t)(dx * 1000 / len), (int32_t)(dy * 1000 / len)};
}

struct point point_from(struct point from, struct unit u, int32_t along, int32_t across)
{
    return (struct point){from.x + (along * u.x - across * u.y) / 1000,
                          from.y + (along * u.y + across * u.x) / 1000};
}

struct quad quad_box(int32_t left, int32_t top, int32_t right, int32_t bottom)
{
    return (struct quad){{{left, top}, {right, top}, {right, bottom}, {left, bottom}}};
}

struct quad quad_text(struct point from, struct unit u, int32_t w, int32_t size_px, int32_t margin)
{
    const int32_t up = size_px * ASCENT / 100 + margin;
    const int32_t down = size_px * DESCENT / 100 + margin;

    return (struct quad){{
        point_from(from, u, -margin, -up),
        point_from(from, u, w + margin, -up),
        point_from(from, u, w + margin, down),
        point_from(from, u, -margin, down),
    }};
}

struct shadow {
    int64_t low, high;
};

/* The projection of @n points on the direction (@dx, @dy). */
static struct shadow shadow(const struct point *p, size_t n, int64_t dx, int64_t dy)
{
    struct shadow s = {INT64_MAX, INT64_MIN};

    for (size_t i = 0; i < n; i++) {
        const int64_t at = p[i].x * dx + p[i].y * dy;

        if (at < s.low)
            s.low = at;
        if (at > s.high)
            s.high = at;
    }
    return s;
}

/* Returns true if a line parallel to the edge @a -> @b of one convex shape separates the two. */
static bool edge_parts(struct point a, struct point b, const struct point *p, size_t n,
                       const struct point *q, size_t m)
{
    const int64_t nx = (int64_t)b.y - a.y;
    const int64_t ny = (int64_t)a.x - b.x;
    const struct shadow s = shadow(p, n, nx, ny);
    const struct shadow t = shadow(q, m, nx, ny);

    return s.high < t.low || t.high < s.low;
}

/* Convex shapes overlap if no edge of either separates them.  [separating axis theorem] */
static bool shapes_overlap(const struct point *p, size_t n, const struct point *q, size_t m)
{
    for (size_t i = 0; i < n; i++) {
        if (edge_parts(p[i], p[(i + 1) % n], p, n, q, m))
            return false;
    }
    for (size_t i = 0; i < m; i++) {
        if (edge_parts(q[i], q[(i + 1) % m], p, n, q, m))
            return false;
    }
    return true;
}

bool quads_overlap(const struct quad *a, const struct quad *b)
{
    return shapes_overlap(a->p, 4, b->p, 4);
}

bool quad_hits_segment(const struct quad *q, const struct segment *s)
{
    const struct point ends[2] = {s->a, s->b};

    return shapes_overlap(q->p, 4, ends, 2);
}
