/* SPDX-License-Identifier: MIT */
/* Places the texts inside a ladder: labels along arrows, texts at ends and cuts, labels of bands.
 *
 * Each text has an ordered list of candidate positions.  The first position is taken where its box
 * touches no line, no solid and no other text.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "viz/ladder_layout.h"

#define MARGIN       15     /* around a label, in tenths of a pixel */
#define ABOVE        (-50)  /* from an arrow to the baseline of a label above it */
#define ABOVE_DOUBLE (-65)  /* the same above the double line of an injected packet */
#define BELOW        PX(13) /* from an arrow to the baseline of a label below it */
#define STEP         PX(8)  /* between two candidate positions */
#define TAIL_SPACE   PX(10)
#define HEAD_SPACE   PX(14)
#define NAME_SPACE   PX(6) /* between a lifeline and a name beside it */

static struct quad box_of(const struct layout_text *t, int32_t margin)
{
    const int32_t size = layout_font_px(t->kind);
    const int32_t w = text_width(t->s, size);
    const int32_t before = t->anchor == ANCHOR_START ? 0 : t->anchor == ANCHOR_END ? w : w / 2;

    return quad_text(point_from(t->at, t->u, -before, 0), t->u, w, size, margin);
}

void layout_add_text(struct layout *o, struct layout_text text)
{
    RDL_ASSERT(o->n_texts < o->cap_texts);
    text.box = box_of(&text, 0);
    for (size_t i = 0; i < 4; i++)
        o->width = i32_max(o->width, text.box.p[i].x + LAYOUT_EDGE);
    o->texts[o->n_texts++] = text;
}

/* The vertical extent of an object. */
struct point_extent {
    int32_t top, bottom;
};

static struct point_extent extent_of(const struct point *p, size_t n)
{
    struct point_extent e = {p[0].y, p[0].y};

    for (size_t i = 1; i < n; i++) {
        e.top = i32_min(e.top, p[i].y);
        e.bottom = i32_max(e.bottom, p[i].y);
    }
    return e;
}

static bool apart(struct point_extent a, struct point_extent b)
{
    return a.bottom < b.top || b.bottom < a.top;
}

/* Compares the vertical extents first: most objects are far above or below. */
static bool quad_is_clear(const struct quad *box, struct point_extent e, const struct quad *other)
{
    return apart(e, extent_of(other->p, 4)) || !quads_overlap(box, other);
}

static bool is_free(const struct layout *o, const struct layout_text *t)
{
    const struct quad box = box_of(t, MARGIN);
    const struct point_extent e = extent_of(box.p, 4);

    for (uint32_t i = 0; i < o->n_lines; i++) {
        const struct segment *s = &o->lines[i];
        const struct point_extent line = {i32_min(s->a.y, s->b.y), i32_max(s->a.y, s->b.y)};

        if (!apart(e, line) && quad_hits_segment(&box, s))
            return false;
    }
    for (uint32_t i = 0; i < o->n_texts; i++) {
        if (!quad_is_clear(&box, e, &o->texts[i].box))
            return false;
    }
    for (uint32_t i = 0; i < o->n_solids; i++) {
        if (!quad_is_clear(&box, e, &o->solids[i]))
            return false;
    }
    return true;
}

static bool put_if_free(struct layout *o, const struct layout_text *t)
{
    if (!is_free(o, t))
        return false;
    layout_add_text(o, *t);
    return true;
}

/* Tries positions along the line from @left to @right: above it from the middle outwards, then
 * below it.
 */
static bool place_along(struct layout *o, struct layout_text *t, struct point left,
                        struct point right, bool head_is_right)
{
    const int32_t dx = right.x - left.x;
    const int32_t dy = right.y - left.y;
    const int32_t len = (int32_t)isqrt((uint64_t)((int64_t)dx * dx + (int64_t)dy * dy));
    const int32_t half = text_width(t->s, LAYOUT_FONT_PX) / 2;
    const int32_t first = half + (head_is_right ? TAIL_SPACE : HEAD_SPACE);
    const int32_t last = len - half - (head_is_right ? HEAD_SPACE : TAIL_SPACE);
    const int32_t above = o->l->arrows[t->arrow].injected ? ABOVE_DOUBLE : ABOVE;

    t->anchor = ANCHOR_MIDDLE;
    t->u = unit_between(left, right);
    for (int across = 0; across < 2; across++) {
        for (int32_t off = 0; off <= len / 2; off += STEP) {
            for (int sign = -1; sign <= 1; sign += 2) {
                const int32_t at = len / 2 + sign * off;

                if (at < first || at > last)
                    continue;
                t->at = point_from(left, t->u, at, across ? BELOW : above);
                if (put_if_free(o, t))
                    return true;
            }
        }
    }
    return false;
}

/* Tries the position beside the corner of a packet to its own host. */
static bool place_beside(struct layout *o, struct layout_text *t, const struct segment *s)
{
    const bool right = s->a.x < o->width / 2 || o->l->n_columns == 1;

    t->anchor = right ? ANCHOR_START : ANCHOR_END;
    t->u = (struct unit){1000, 0};
    t->at =
        (struct point){s->a.x + (right ? PX(10) : -PX(10)), (s->a.y + s->b.y) / 2 + LAYOUT_BELOW};
    return put_if_free(o, t);
}

static bool place_label(struct layout *o, uint32_t i)
{
    const struct ladder_arrow *a = &o->l->arrows[i];
    const struct layout_arrow *g = &o->arrows[i];
    struct layout_text t = {.kind = TEXT_LABEL, .tone = a->tone, .stop = a->label_stop, .arrow = i};
    const struct segment *s = &g->seg[0];

    memcpy(t.s, a->label, sizeof(a->label));
    if (g->n_seg > 1)
        return place_beside(o, &t, &g->seg[1]);
    if (s->a.x <= s->b.x)
        return place_along(o, &t, s->a, s->b, true);
    return place_along(o, &t, s->b, s->a, false);
}

/* Tries positions around the end @end of a line: first beyond it in direction @side (1: to the
 * right, -1: to the left).
 */
static bool place_around(struct layout *o, struct layout_text *t, struct point end, int32_t side)
{
    static const struct {
        int8_t dx; /* 1: beyond the end, 0: centred, -1: before it */
        int8_t dy; /* in pixels */
    } tries[] = {{1, 0},   {1, 7},  {1, -7},  {1, 14},  {1, -14}, {0, 15},
                 {0, -15}, {0, 20}, {0, -20}, {-1, 15}, {-1, 22}};

    t->u = (struct unit){1000, 0};
    for (size_t k = 0; k < ARRAY_LEN(tries); k++) {
        const int32_t dx = tries[k].dx * side;

        t->anchor = dx > 0 ? ANCHOR_START : dx < 0 ? ANCHOR_END : ANCHOR_MIDDLE;
        t->at = (struct point){end.x + dx * (LAYOUT_CROSS + PX(5)),
                               end.y + PX(tries[k].dy) + LAYOUT_BELOW};
        if (put_if_free(o, t))
            return true;
    }
    return false;
}

/* Places "lost: f1": on the continuation of the arrow, else around the cross. */
static bool place_end(struct layout *o, uint32_t i)
{
    const struct layout_arrow *g = &o->arrows[i];
    const struct segment *last = &g->seg[g->n_seg - 1];
    const int32_t side = last->b.x >= last->a.x ? 1 : -1;
    struct layout_text t = {
        .kind = TEXT_END, .tone = TONE_BAD, .stop = o->l->arrows[i].head, .arrow = i};

    memcpy(t.s, o->l->arrows[i].end, sizeof(o->l->arrows[i].end));
    t.anchor = side > 0 ? ANCHOR_START : ANCHOR_END;
    t.u = side > 0 ? unit_between(last->a, last->b) : unit_between(last->b, last->a);
    t.at = point_from(last->b, t.u, side * (LAYOUT_CROSS + PX(5)), LAYOUT_BELOW);
    if (last->a.x != last->b.x && put_if_free(o, &t))
        return true;
    return place_around(o, &t, last->b, side);
}

/* Places "sent in #5.1, before this picture": below the stub, else around the cut. */
static bool place_cut(struct layout *o, uint32_t i)
{
    const struct ladder_arrow *a = &o->l->arrows[i];
    const struct segment *s = &o->arrows[i].seg[0];
    const struct point cut = layout_cut(o, i);
    const int32_t left = i32_min(s->a.x, s->b.x) + PX(8);
    struct layout_text t = {.kind = TEXT_CUT,
                            .stop = a->label_stop,
                            .arrow = i,
                            .anchor = ANCHOR_START,
                            .u = {1000, 0}};

    memcpy(t.s, a->beyond, sizeof(a->beyond));
    t.at = (struct point){left, cut.y + BELOW};
    if (put_if_free(o, &t))
        return true;
    t.anchor = ANCHOR_END;
    t.at.x = i32_max(s->a.x, s->b.x) - PX(8);
    if (put_if_free(o, &t))
        return true;
    return place_around(o, &t, cut,
                        (cut.x > s->a.x || cut.x > s->b.x) != ladder_floats(a) ? 1 : -1);
}

/* Places the label of a band: between two lifelines near the middle, else in the column of the
 * times.
 */
static void place_gap(struct layout *o, const struct layout_band *b)
{
    const struct ladder *l = o->l;
    struct layout_text t = {.kind = TEXT_GAP,
                            .stop = b->stop,
                            .arrow = LADDER_NONE,
                            .anchor = ANCHOR_MIDDLE,
                            .u = {1000, 0}};
    struct text s = text_on(t.s, sizeof(t.s));

    ladder_add_gap(&s, &l->stops[b->stop]);
    t.at.y = (b->top + b->bottom) / 2 + LAYOUT_BELOW;
    for (uint32_t c = 0; c + 1 < l->n_columns; c++) {
        const int32_t lane = o->x[c + 1] - o->x[c];

        for (int32_t off = 0; off < lane / 2; off += STEP) {
            t.at.x = o->x[c] + lane / 2 + off;
            if (put_if_free(o, &t))
                return;
            t.at.x = o->x[c] + lane / 2 - off;
            if (put_if_free(o, &t))
                return;
        }
    }
    t.anchor = ANCHOR_END;
    t.at.x = o->time_x;
    layout_add_text(o, t);
}

/* Places the name of a host in a row that repeats the names: on its lifeline, or beside it if a
 * timer or a packet is in the way.  Without room it is omitted.
 */
static void place_name(struct layout *o, struct layout_head *h, uint32_t column)
{
    static const int32_t down[] = {0, PX(8), -PX(8), PX(16), -PX(16)};
    const struct point middle = {o->x[column], h->y + LAYOUT_BELOW + PX(1)};
    struct layout_text t = {.kind = TEXT_NAME,
                            .anchor = ANCHOR_MIDDLE,
                            .stop = LADDER_NONE,
                            .arrow = LADDER_NONE,
                            .at = middle,
                            .u = {1000, 0}};
    struct text s = text_on(t.s, sizeof(t.s));

    text_add(&s, o->l->columns[column].name);
    if (put_if_free(o, &t)) {
        h->on_line |= 1u << column;
        return;
    }
    RDL_ASSERT(o->n_lines < o->cap_lines);
    o->lines[o->n_lines++] =
        (struct segment){{middle.x, h->y - LAYOUT_HEADS / 2}, {middle.x, h->y + LAYOUT_HEADS / 2}};
    for (size_t i = 0; i < 2 * ARRAY_LEN(down); i++) {
        const bool right = (i & 1u) == 0;

        t.anchor = right ? ANCHOR_START : ANCHOR_END;
        t.at =
            (struct point){middle.x + (right ? NAME_SPACE : -NAME_SPACE), middle.y + down[i / 2]};
        if (put_if_free(o, &t))
            return;
    }
}

uint32_t layout_place(struct layout *o)
{
    uint32_t n_without = 0;

    for (uint32_t i = 0; i < o->n_heads; i++) {
        for (uint32_t c = 0; c < o->l->n_columns; c++)
            place_name(o, &o->heads[i], c);
    }
    for (uint32_t i = 0; i < o->n_bands; i++)
        place_gap(o, &o->bands[i]);
    for (uint32_t i = 0; i < o->l->n_arrows; i++) {
        if (!o->label_out[i] && !place_label(o, i)) {
            o->label_out[i] = true;
            n_without++;
        }
        if (o->l->arrows[i].end[0] && !o->end_out[i] && !place_end(o, i)) {
            o->end_out[i] = true;
            n_without++;
        }
        if (o->l->arrows[i].cut && !o->cut_out[i] && !place_cut(o, i)) {
            o->cut_out[i] = o->label_out[i] = true; /* both texts become one note */
            n_without++;
        }
    }
    return n_without;
}
