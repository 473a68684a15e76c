/* SPDX-License-Identifier: MIT */
/* The lines of a ladder, computed from the positions of its stops: arrows, brackets, and the
 * obstacles for texts.
 */
#include "emu/base/assert.h"
#include "viz/ladder_layout.h"

#define BRACKET      PX(9)
#define BRACKETS_MAX 2      /* side by side */
#define CORNER       PX(46) /* width of the detour of a packet to its own host */
#define STUB         PX(90) /* width assumed for a cut arrow beside the outermost lifeline */
/* height of an arrow to or from outside; its real duration is unknown */
#define OUTSIDE PX(12)

/* The next arrow between the same columns before or after @i (@step is -1 or 1), or NULL. */
static const struct layout_arrow *neighbour(const struct layout *o, uint32_t i, int step)
{
    const struct ladder_arrow *a = &o->l->arrows[i];

    for (int64_t k = (int64_t)i + step; k >= 0 && k < o->l->n_arrows; k += step) {
        const struct ladder_arrow *b = &o->l->arrows[k];

        if (b->from == a->from && b->to == a->to && b->tail != LADDER_NONE && !b->copy && !b->cut &&
            (step < 0 || (b->head != LADDER_NONE && !ladder_ends_on_way(b))))
            return &o->arrows[k];
    }
    return NULL;
}

/* The height at which a packet sent at @tail_y would have arrived: after the usual flight, between
 * the arrivals of its neighbours.
 */
static int32_t aim_y(const struct layout *o, uint32_t i, int32_t tail_y)
{
    const struct layout_arrow *before = neighbour(o, i, -1);
    const struct layout_arrow *after = neighbour(o, i, 1);
    const uint32_t next = after ? (uint32_t)(after - o->arrows) : 0;
    int32_t y = tail_y + LAYOUT_FLIGHT;

    if (before && before->aim_y > tail_y)
        y = i32_max(y, before->aim_y + LAYOUT_STEP_END);
    if (after)
        y = i32_min(y, o->y[o->l->arrows[next].head] - LAYOUT_STEP_END / 2);
    return i32_max(y, tail_y + PX(20));
}

/* Keeps the start of an arrow on the way below the pause before it. */
static int32_t below_band(const struct layout *o, int32_t y, int32_t to_y)
{
    int32_t least = o->top + PX(4);

    for (uint32_t i = 0; i < o->n_bands && o->bands[i].bottom < to_y; i++)
        least = o->bands[i].bottom + PX(2);
    return i32_max(y, least);
}

/* Keeps the end of an arrow on the way above the pause after it. */
static int32_t above_band(const struct layout *o, int32_t from_y, int32_t y)
{
    for (uint32_t i = 0; i < o->n_bands; i++) {
        if (o->bands[i].top > from_y)
            return i32_min(y, o->bands[i].top - PX(8));
    }
    return i32_min(y, o->bottom - PX(8));
}

static struct point percent(struct point a, struct point b, int32_t n)
{
    return (struct point){a.x + (b.x - a.x) * n / 100, a.y + (b.y - a.y) * n / 100};
}

static void shape_corner(struct layout *o, const struct ladder_arrow *a, struct layout_arrow *g)
{
    const bool last = a->from + 1 == o->l->n_columns && o->l->n_columns > 1;
    const int32_t x = o->x[a->from];
    const int32_t out = x + (last ? -CORNER : CORNER);
    const uint32_t first = a->tail != LADDER_NONE ? a->tail : a->head;
    const int32_t y0 = o->y[first];
    const int32_t y1 = ladder_ends_on_way(a) ? y0 + PX(20) : i32_max(o->y[a->head], y0 + PX(8));

    g->seg[0] = (struct segment){{x, y0}, {out, y0}};
    g->seg[1] = (struct segment){{out, y0}, {out, y1}};
    g->seg[2] = (struct segment){{out, y1}, {x, y1}};
    g->n_seg = ladder_ends_on_way(a) ? 2 : 3;
}

/* A cut arrow is short and level, at the height of its visible end. */
static void shape_stub(struct layout *o, uint32_t i)
{
    const struct ladder_arrow *a = &o->l->arrows[i];
    const uint32_t column = ladder_stub_column(a);
    const bool right = ladder_stub_right(o->l, a);
    const int32_t x = o->x[column];
    const int32_t y = o->y[a->cut == CUT_HEAD ? a->tail : a->head];
    int32_t lane = right ? STUB : -STUB; /* distance to the next lifeline */
    struct point near = {x, y}, far = {x, y};

    if (right && column + 1 < o->l->n_columns)
        lane = o->x[column + 1] - x;
    else if (!right && column > 0)
        lane = o->x[column - 1] - x;
    far.x += lane * LAYOUT_ON_WAY / 100;
    if (ladder_floats(a)) {
        near.x += lane / 8;
        o->arrows[i].seg[0] = (struct segment){near, far};
    } else {
        o->arrows[i].seg[0] =
            a->cut == CUT_HEAD ? (struct segment){near, far} : (struct segment){far, near};
    }
    o->arrows[i].n_seg = 1;
    o->arrows[i].aim_y = y;
}

struct point layout_cut(const struct layout *o, uint32_t arrow)
{
    const struct segment *s = &o->arrows[arrow].seg[0];

    return o->l->arrows[arrow].cut == CUT_HEAD ? s->b : s->a;
}

static void shape_arrow(struct layout *o, uint32_t i)
{
    const struct ladder_arrow *a = &o->l->arrows[i];
    struct layout_arrow *g = &o->arrows[i];
    struct point start = {o->x[a->from], 0};
    struct point end = {o->x[a->to], 0};

    if (a->cut) {
        shape_stub(o, i);
        return;
    }
    if (a->from == a->to) {
        shape_corner(o, a, g);
        return;
    }
    if (a->copy_of != LADDER_NONE) {
        const struct segment *original = &o->arrows[a->copy_of].seg[0];

        start = percent(original->a, original->b, 50);
    } else if (a->tail != LADDER_NONE) {
        start.y = o->y[a->tail];
    }
    if (ladder_ends_on_way(a))
        end.y = aim_y(o, i, start.y);
    else
        end.y = a->head != LADDER_NONE ? o->y[a->head] : above_band(o, start.y, start.y + OUTSIDE);
    g->aim_y = end.y;
    if (ladder_ends_on_way(a)) {
        end = percent(start, end, LAYOUT_ON_WAY);
        end.y = above_band(o, start.y, end.y);
    }
    if (a->tail == LADDER_NONE && a->copy_of == LADDER_NONE) /* from outside */
        start.y = below_band(o, end.y - OUTSIDE, end.y);
    g->seg[0] = (struct segment){start, end};
    g->n_seg = 1;
}

/* Draws the brackets of timers that run at the same time side by side. */
static void shape_brackets(struct layout *o)
{
    const struct ladder *l = o->l;

    for (uint32_t i = 0; i < l->n_timers; i++) {
        const uint32_t column = l->stops[l->timers[i].fired].column;
        struct layout_bracket *b = &o->brackets[i];
        int32_t beside = 0;

        *b = (struct layout_bracket){.lifeline_x = o->x[column],
                                     .bottom = o->y[l->timers[i].fired],
                                     .cut = l->timers[i].armed == LADDER_NONE};
        b->top = b->cut ? o->top + LAYOUT_CUT : o->y[l->timers[i].armed];
        for (uint32_t k = 0; k < i; k++)
            beside += o->brackets[k].lifeline_x == b->lifeline_x && o->brackets[k].bottom > b->top;
        beside = i32_min(beside, BRACKETS_MAX - 1) + 1;
        b->x = b->lifeline_x + (layout_notes_left(l, column) ? -beside : beside) * BRACKET;
    }
}

static void add_line(struct layout *o, struct segment s)
{
    RDL_ASSERT(o->n_lines < o->cap_lines);
    o->lines[o->n_lines++] = s;
}

static void add_solid(struct layout *o, struct point p, int32_t half_w, int32_t half_h)
{
    RDL_ASSERT(o->n_solids < o->cap_solids);
    o->solids[o->n_solids++] = quad_box(p.x - half_w, p.y - half_h, p.x + half_w, p.y + half_h);
}

/* A lifeline may be interrupted where the names of the hosts are repeated. */
static void add_lifeline(struct layout *o, int32_t x)
{
    int32_t y = o->top;

    for (uint32_t i = 0; i < o->n_heads; i++) {
        add_line(o, (struct segment){{x, y}, {x, o->heads[i].y - LAYOUT_HEADS / 2}});
        y = o->heads[i].y + LAYOUT_HEADS / 2;
    }
    add_line(o, (struct segment){{x, y}, {x, o->bottom}});
}

/* Collects everything drawn that texts must not touch. */
static void collect_obstacles(struct layout *o)
{
    const struct ladder *l = o->l;

    o->n_lines = o->n_solids = 0;
    for (uint32_t c = 0; c < l->n_columns; c++)
        add_lifeline(o, o->x[c]);
    for (uint32_t i = 0; i < l->n_arrows; i++) {
        const struct layout_arrow *g = &o->arrows[i];

        for (uint32_t k = 0; k < g->n_seg; k++)
            add_line(o, g->seg[k]);
        add_solid(o, g->seg[g->n_seg - 1].b, LAYOUT_CROSS, LAYOUT_CROSS);
        if (l->arrows[i].cut)
            add_solid(o, layout_cut(o, i), LAYOUT_CROSS, LAYOUT_CUT);
        if (l->arrows[i].injected)
            add_solid(o, g->seg[0].a, LAYOUT_ORIGIN, LAYOUT_ORIGIN);
    }
    for (uint32_t i = 0; i < l->n_timers; i++) {
        const struct layout_bracket *b = &o->brackets[i];

        add_line(o, (struct segment){{b->x, b->top}, {b->x, b->bottom}});
        if (b->cut)
            add_solid(o, (struct point){b->x, b->top}, LAYOUT_CUT, LAYOUT_CUT);
        else
            add_line(o, (struct segment){{b->x, b->top}, {b->lifeline_x, b->top}});
        add_line(o, (struct segment){{b->x, b->bottom}, {b->lifeline_x, b->bottom}});
    }
    for (uint32_t i = 0; i < l->n_stops; i++) {
        if (layout_has_mark(&l->stops[i]))
            add_solid(o, (struct point){o->x[l->stops[i].column], o->y[i]}, LAYOUT_MARK,
                      LAYOUT_MARK);
    }
}

void layout_shape(struct layout *o)
{
    for (uint32_t i = 0; i < o->l->n_arrows; i++)
        shape_arrow(o, i);
    shape_brackets(o);
    collect_obstacles(o);
}
