/* SPDX-License-Identifier: MIT */
/* Draws the arrows of a ladder for a terminal. */
#include "viz/ladder_page.h"

#define BODY_MIN 8u  /* of a cut arrow */
#define ON_WAY   60u /* percent of the distance at which a lost packet ends, if its label fits */

/* The position of an arrow in a row. */
struct arrow_line {
    uint32_t near, end; /* occupies the cells near .. end - 1 */
    bool right;         /* points to the right */
    const char *body;
    enum shade shade;
};

static const char *body_of(const struct page *p, const struct ladder_arrow *a)
{
    if (a->copy)
        return p->g->copy;
    if (a->injected)
        return p->g->injected;
    return a->again ? p->g->again : p->g->line;
}

/* The point of a lifeline at which arrow @a leaves it. */
static const char *tail_of(const struct page *p, const struct ladder_arrow *a, bool right)
{
    if (a->injected)
        return p->g->injected_at;
    return right ? p->g->out_right : p->g->out_left;
}

static struct arrow_line line_of(const struct page *p, const struct ladder_arrow *a)
{
    const uint32_t from = p->x[a->from];
    const uint32_t to = p->x[a->to];
    const uint32_t words = cells_of(a->label) + cells_of(a->end) + 8;
    struct arrow_line n = {.body = body_of(p, a), .shade = page_shade(a->tone)};

    if (a->from == a->to) { /* to its own host and back */
        n.right = a->from == 0 || a->from + 1 < p->l->n_columns;
        n.near = n.right ? from + 1 : from > words ? from - words : 0;
        n.end = n.right ? from + 1 + words : from;
        if (n.end > p->c.width)
            n.end = p->c.width;
    } else {
        n.right = from < to;
        n.near = (n.right ? from : to) + 1;
        n.end = n.right ? to : from;
    }
    return n;
}

static const char *tip_of(const struct page *p, const struct ladder_arrow *a, bool right)
{
    if (a->fate == FATE_DROPPED)
        return p->g->cross;
    return right ? p->g->to_right : p->g->to_left;
}

static void draw_crossed_lifelines(struct page *p, const struct ladder_arrow *a)
{
    const uint32_t left = a->from < a->to ? a->from : a->to;
    const uint32_t right = a->from < a->to ? a->to : a->from;

    for (uint32_t c = left + 1; c < right; c++)
        cells_draw(&p->c, p->x[c], p->g->over, SHADE_DIM);
}

/* Draws a packet that ends on the way: "├── SEND_ONLY psn=100 ───✗ lost: f1". */
static void draw_on_way(struct page *p, const struct ladder_arrow *a, const struct arrow_line *n)
{
    const uint32_t room = n->end - n->near;
    const uint32_t words = cells_of(a->label);
    const uint32_t end = cells_of(a->end);
    const uint32_t most = room > end + 2 ? room - end - 2 : room;
    uint32_t len = room * ON_WAY / 100;
    uint32_t cross;

    if (len < words + 6)
        len = words + 6;
    if (len > most)
        len = most;
    cross = n->right ? n->near + len - 1 : n->end - len;
    if (n->right) {
        cells_fill(&p->c, n->near, cross, n->body, n->shade);
        cells_draw_within(&p->c, n->near + 2, cross, n->near + 3, a->label, n->shade);
        cells_draw_within(&p->c, cross + 2, n->end, cross + 2, a->end, SHADE_BAD);
    } else {
        cells_fill(&p->c, cross + 1, n->end, n->body, n->shade);
        cells_draw_within(&p->c, cross + 1, n->end - 2, n->end - 3 - words, a->label, n->shade);
        cells_draw_within(&p->c, n->near, cross, cross - 1 - end, a->end, SHADE_BAD);
    }
    if (a->fate == FATE_LOST)
        cells_draw(&p->c, cross, p->g->cross, SHADE_BAD);
}

/* Draws a whole arrow: "├───── SEND_ONLY psn=100 ackreq ───── 21.087 ▶│". */
static void draw_whole(struct page *p, const struct ladder_arrow *a, struct arrow_line n,
                       bool with_time)
{
    const uint32_t tip = n.right ? n.end - 1 : n.near;
    const uint32_t words = cells_of(a->label);
    uint32_t time_words, start, time_at;
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));

    if (a->copy) { /* a copy begins in the middle */
        *(n.right ? &n.near : &n.end) = (n.near + n.end) / 2;
        with_time = false;
    }
    if (a->head != LADDER_NONE && with_time)
        ladder_add_time(&t, p->l->stops[a->head].at_ns);
    time_words = cells_of(buf);
    start = n.near + (n.end - n.near > words ? (n.end - n.near - words) / 2 : 0);
    time_at = n.right ? tip - 1 - time_words : tip + 2;

    cells_fill(&p->c, n.near, n.end, n.body, n.shade);
    draw_crossed_lifelines(p, a);
    if (time_words && (n.right ? start + words + 2 < time_at : time_at + time_words + 2 < start))
        cells_draw_within(&p->c, n.near + 1, n.end - 1, time_at, buf, SHADE_DIM);
    cells_draw_within(&p->c, n.near + 1, n.end - 1, start, a->label, n.shade);
    cells_draw(&p->c, tip, tip_of(p, a, n.right), a->fate == FATE_DROPPED ? SHADE_BAD : n.shade);
}

/* The room for a cut arrow: from its lifeline to the next one on its side. */
static struct arrow_line stub_line(const struct page *p, const struct ladder_arrow *a)
{
    const uint32_t column = ladder_stub_column(a);
    struct arrow_line n = {
        .right = ladder_stub_right(p->l, a), .body = body_of(p, a), .shade = page_shade(a->tone)};

    if (n.right) {
        n.near = p->x[column] + 1;
        n.end = column + 1 < p->l->n_columns ? p->x[column + 1] : p->c.width;
    } else {
        n.near = column > 0 ? p->x[column - 1] + 1 : p->time_width + 1;
        n.end = p->x[column];
    }
    return n;
}

/* Draws a mark @at cells from the beginning of a line. */
static void draw_mark(struct page *p, const struct arrow_line *n, uint32_t at, const char *s,
                      enum shade shade)
{
    const uint32_t len = cells_of(s);

    if (n->near + at + len <= n->end)
        cells_draw(&p->c, n->right ? n->near + at : n->end - at - len, s, shade);
}

/* Draws words with a blank on either side, cut to the cells between @from and @to. */
static void draw_words(struct page *p, const struct arrow_line *n, uint32_t from, uint32_t to,
                       const char *s, enum shade shade)
{
    const uint32_t len = cells_of(s);

    if (n->right)
        cells_draw_within(&p->c, n->near + from, n->near + to, n->near + from + 1, s, shade);
    else
        cells_draw_within(&p->c, n->end - to, n->end - from, n->end - from - 1 - len, s, shade);
}

static void fill_away(struct page *p, const struct arrow_line *n, uint32_t from, uint32_t to)
{
    if (n->right)
        cells_fill(&p->c, n->near + from, n->near + to, n->body, n->shade);
    else
        cells_fill(&p->c, n->end - to, n->end - from, n->body, n->shade);
}

/* Draws a cut arrow: "├── SEND_ONLY psn=100 ──╱╱" or "│◀─ ACK psn=100 ──╱╱".  The text about the
 * other end follows the cut or takes a row of its own.  A packet sent before the picture and lost
 * in it has both a cut and a cross: "│ ╱╱── SEND_ONLY psn=100 ──✗ lost: f1".
 */
static void draw_cut(struct page *p, uint32_t i, const struct ladder_arrow *a)
{
    const struct arrow_line n = stub_line(p, a);
    const bool floats = ladder_floats(a);
    const uint32_t room = n.end - n.near;
    const uint32_t cut = cells_of(p->g->cut);
    const uint32_t behind = floats ? 2 + cells_of(a->end) : cut;
    const bool tight = (floats ? 2 + cut : 0) + cells_of(a->label) + 6 + behind > room;
    const uint32_t lead = floats && !tight ? 2 : 0;
    const uint32_t first = floats ? lead + cut : 0; /* where the body begins */
    const uint32_t dashes = tight ? 1 : 2;          /* on either side of the label */
    uint32_t len = cells_of(a->label) + 2 * dashes + 2;

    if (first + len + behind > room)
        len = room > first + behind + BODY_MIN ? room - first - behind : BODY_MIN;
    fill_away(p, &n, first, first + len);
    draw_words(p, &n, first + dashes, first + len - dashes, a->label, n.shade);
    draw_mark(p, &n, floats ? lead : len, p->g->cut, n.shade);
    if (floats) {
        draw_mark(p, &n, first + len, p->g->cross, SHADE_BAD);
        draw_words(p, &n, first + len + 1, room, a->end, SHADE_BAD);
    } else if (a->cut == CUT_TAIL) {
        draw_mark(p, &n, 0, tip_of(p, a, !n.right), a->fate == FATE_DROPPED ? SHADE_BAD : n.shade);
    }
    if (!floats && len + cut + 1 + cells_of(a->beyond) < room) {
        draw_words(p, &n, len + cut, room, a->beyond, SHADE_DIM);
        return;
    }
    cells_end_row(&p->c);
    page_begin_row(p, i);
    draw_words(p, &n, lead ? lead - 1 : 0, room, a->beyond, SHADE_DIM);
}

/* Draws a packet to its own host: it goes out, and comes back in the next row. */
static void draw_corner(struct page *p, uint32_t i, const struct ladder_arrow *a,
                        const struct arrow_line *n)
{
    const uint32_t corner = n->right ? n->end - 1 : n->near;

    cells_fill(&p->c, n->near, n->end, n->body, n->shade);
    cells_draw_within(&p->c, n->near + 1, n->end - 1, n->near + 4, a->label, n->shade);
    cells_draw(&p->c, corner, n->right ? p->g->right_top : p->g->left_top, n->shade);
    cells_end_row(&p->c);
    page_begin_row(p, i);
    cells_fill(&p->c, n->near, n->end, n->body, n->shade);
    cells_draw(&p->c, corner, n->right ? p->g->right_bottom : p->g->left_bottom, n->shade);
    cells_draw(&p->c, n->right ? n->near : n->end - 1, tip_of(p, a, !n->right), n->shade);
}

void page_arrow(struct page *p, uint32_t i, const struct ladder_arrow *a)
{
    struct arrow_line n = line_of(p, a);

    if (a->cut)
        n.right = ladder_stub_right(p->l, a);
    page_begin_row(p, i);
    if (a->tail != LADDER_NONE)
        cells_draw(&p->c, p->x[a->from], tail_of(p, a, n.right), n.shade);
    if (a->cut)
        draw_cut(p, i, a);
    else if (ladder_ends_on_way(a))
        draw_on_way(p, a, &n);
    else if (a->from == a->to)
        draw_corner(p, i, a, &n);
    else
        draw_whole(p, a, n, true);
    cells_end_row(&p->c);
}

void page_arrival(struct page *p, uint32_t i, const struct ladder_arrow *a)
{
    struct arrow_line n = line_of(p, a);

    n.body = p->g->copy;
    page_begin_row(p, i);
    if (a->from == a->to)
        cells_draw(&p->c, n.right ? n.near : n.end - 1, tip_of(p, a, !n.right), n.shade);
    else
        draw_whole(p, a, n, false);
    cells_end_row(&p->c);
}
