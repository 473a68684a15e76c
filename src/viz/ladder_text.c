/* SPDX-License-Identifier: MIT */
/* Writes a ladder as lines for a terminal.
 *
 * A packet takes one line at its time of sending; its time of arrival is in front of the arrow's
 * head.  A note takes one line: outside the outer lifelines if the terminal is wide enough, else
 * between them.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "viz/ladder_page.h"

#define LANE_MAX    76u /* characters between two lifelines */
#define LANE_MIN    16u
#define HEADS_STOPS 8u  /* stops below the names of the hosts where they are repeated, at least */
#define HEADS_EVERY 50u /* rows between two rows with the names of the hosts */

static const struct page_glyphs utf8 = {
    .life = "│",
    .pause = "┊",
    .out_right = "├",
    .out_left = "┤",
    .over = "┼",
    .injected_at = "◇",
    .to_right = "▶",
    .to_left = "◀",
    .cross = "✗",
    .cut = "╱╱",
    .line = "─",
    .again = "╌",
    .copy = "┈",
    .injected = "═",
    .left_top = "╭",
    .left_bottom = "╰",
    .right_top = "╮",
    .right_bottom = "╯",
    .running = "│",
    .marks = {[TONE_PLAIN] = "•",
              [TONE_CALL] = "□",
              [TONE_POST] = "○",
              [TONE_STATE] = "◆",
              [TONE_DONE] = "●",
              [TONE_BAD] = "✗",
              [TONE_TIMER] = "┤"},
};

static const struct page_glyphs ascii = {
    .life = "|",
    .pause = ":",
    .out_right = "|",
    .out_left = "|",
    .over = "-",
    .injected_at = "@",
    .to_right = ">",
    .to_left = "<",
    .cross = "X",
    .cut = "//",
    .line = "-",
    .again = "=",
    .copy = ".",
    .injected = "+",
    .left_top = ",",
    .left_bottom = "'",
    .right_top = ".",
    .right_bottom = "'",
    .running = "|",
    .marks = {[TONE_PLAIN] = "*",
              [TONE_CALL] = "$",
              [TONE_POST] = "o",
              [TONE_STATE] = "#",
              [TONE_DONE] = "*",
              [TONE_BAD] = "!",
              [TONE_TIMER] = "+"},
};

enum shade page_shade(enum ladder_tone tone)
{
    static const enum shade shades[TONE_COUNT] = {
        [TONE_CALL] = SHADE_BOLD,       [TONE_STATE] = SHADE_STATE,  [TONE_DONE] = SHADE_ANSWER,
        [TONE_BAD] = SHADE_BAD,         [TONE_TIMER] = SHADE_TIMER,  [TONE_NAK] = SHADE_BAD,
        [TONE_REQUEST] = SHADE_REQUEST, [TONE_ANSWER] = SHADE_ANSWER};

    return shades[tone];
}

static bool is_last(const struct page *p, uint32_t column)
{
    return column > 0 && column + 1 == p->l->n_columns;
}

static bool pauses_between(const struct ladder *l, uint32_t tail, uint32_t head)
{
    for (uint32_t i = tail + 1; i <= head; i++) {
        if (l->stops[i].gap_ns)
            return true;
    }
    return false;
}

/* The stop in whose row a bracket begins.  If the timer is armed by an arrival, that is the row of
 * the whole arrow.
 */
static uint32_t bracket_top(const struct ladder *l, const struct ladder_timer *t)
{
    uint32_t k, tail;

    if (t->armed == LADDER_NONE)
        return 0;
    k = l->stops[t->armed].arrow;
    tail = k == LADDER_NONE ? LADDER_NONE : l->arrows[k].tail;
    return tail < t->armed && !pauses_between(l, tail, t->armed) ? tail : t->armed;
}

/* Draws a part of a bracket on the outer side of its lifeline. */
static void draw_timer(struct page *p, const struct ladder_timer *t, uint32_t stop, bool in_pause)
{
    const uint32_t column = p->l->stops[t->fired].column;
    const bool left = !is_last(p, column);
    const uint32_t top = bracket_top(p->l, t);
    const bool opens = stop == top && t->armed != LADDER_NONE;
    const char *s = p->g->running;

    if (stop < top || stop > t->fired || (in_pause && stop == top))
        return;
    if (opens)
        s = left ? p->g->left_top : p->g->right_top;
    else if (stop == t->fired && !in_pause)
        s = left ? p->g->left_bottom : p->g->right_bottom;
    cells_draw(&p->c, left ? p->x[column] - 1 : p->x[column] + 1, s, SHADE_TIMER);
}

void page_begin_row(struct page *p, uint32_t i)
{
    const struct ladder_stop *s = &p->l->stops[i];
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));

    for (uint32_t c = 0; c < p->l->n_columns; c++)
        cells_draw(&p->c, p->x[c], p->g->life, SHADE_DIM);
    for (uint32_t k = 0; k < p->l->n_timers; k++)
        draw_timer(p, &p->l->timers[k], i, false);
    if (s->at_ns == p->shown_ns)
        return;
    p->shown_ns = s->at_ns;
    ladder_add_time(&t, s->at_ns);
    cells_draw(&p->c, p->time_width - cells_of(buf), buf, SHADE_NONE);
}

/* Draws what goes on between two stops, in a row before stop @i. */
static void draw_between(struct page *p, uint32_t i, const char *life)
{
    for (uint32_t c = 0; c < p->l->n_columns; c++)
        cells_draw(&p->c, p->x[c], life, SHADE_DIM);
    for (uint32_t k = 0; k < p->l->n_timers; k++)
        draw_timer(p, &p->l->timers[k], i, true);
}

/* Writes the row of the pause before stop @i. */
static void pause_row(struct page *p, uint32_t i)
{
    char buf[64];
    struct text t = text_on(buf, sizeof(buf));
    const uint32_t from = p->x[0] + 1;
    const uint32_t to = p->l->n_columns > 1 ? p->x[1] : p->c.width;
    uint32_t words;

    draw_between(p, i, p->g->pause);
    ladder_add_gap(&t, &p->l->stops[i]);
    words = cells_of(buf);
    cells_draw_within(&p->c, from, to,
                      p->l->n_columns > 1 && to - from > words ? (from + to - words) / 2 : from + 1,
                      buf, SHADE_DIM);
    cells_end_row(&p->c);
}

static void note_row(struct page *p, uint32_t i)
{
    const struct ladder_stop *s = &p->l->stops[i];
    const uint32_t x = p->x[s->column];
    const uint32_t n = cells_of(s->note);
    const bool last = is_last(p, s->column);
    const enum shade shade = page_shade(s->tone);

    page_begin_row(p, i);
    cells_draw(&p->c, x, p->g->marks[s->tone], shade);
    if (p->outside && s->column == 0) /* left of the lifeline, beyond a bracket */
        cells_draw(&p->c, x - 2 - n, s->note, shade);
    else if (p->outside && last)
        cells_draw(&p->c, x + 3, s->note, shade);
    else if (last)
        cells_draw_within(&p->c, p->time_width + 2, x, x > n + 1 ? x - 1 - n : 0, s->note, shade);
    else
        cells_draw_within(&p->c, x + 1, p->c.width, x + 2, s->note, shade);
    cells_end_row(&p->c);
}

static uint32_t max(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* The width between lifelines that labels and notes need, within LANE_MIN .. LANE_MAX. */
static uint32_t lane_wanted(const struct page *p, bool with_notes)
{
    const struct ladder *l = p->l;
    uint32_t w = LANE_MIN;

    for (uint32_t i = 0; i < l->n_arrows; i++) {
        const struct ladder_arrow *a = &l->arrows[i];
        const uint32_t extra = a->cut      ? cells_of(a->end) + 14
                               : a->end[0] ? cells_of(a->end) + 8
                                           : 2 * p->time_width + 10;

        w = max(w, cells_of(a->label) + extra);
    }
    for (uint32_t i = 0; i < l->n_stops && with_notes; i++)
        w = max(w, cells_of(l->stops[i].note) + 4);
    return w < LANE_MAX ? w : LANE_MAX;
}

/* Computes the columns.  Notes go outside the lifelines if there is room. */
static void lay_out(struct page *p)
{
    const struct ladder *l = p->l;
    const uint32_t n_lanes = l->n_columns > 1 ? l->n_columns - 1 : 1;
    uint32_t notes[2] = {0, 0}; /* widest note on the left, on the right */
    uint32_t lane, fixed;

    p->time_width = 8;
    for (uint32_t i = 0; i < l->n_stops; i++) {
        const struct ladder_stop *s = &l->stops[i];
        char buf[32];
        struct text t = text_on(buf, sizeof(buf));
        uint32_t *side = &notes[is_last(p, s->column)];

        ladder_add_time(&t, s->at_ns);
        p->time_width = max(p->time_width, cells_of(buf) + 1);
        if (s->column == 0 || is_last(p, s->column))
            *side = max(*side, cells_of(s->note));
    }
    lane = lane_wanted(p, l->n_columns > 2);
    fixed = p->time_width + 3 + notes[0] + 3 + notes[1] + 3;
    p->outside = fixed + n_lanes * (lane + 1) <= p->c.width;
    if (!p->outside) {
        fixed = p->time_width + 6;
        if (l->n_columns)
            fixed += cells_of(l->columns[l->n_columns - 1].addr) / 2;
        lane = lane_wanted(p, true);
    }
    if (fixed + n_lanes * (lane + 1) > p->c.width)
        lane = p->c.width > fixed + n_lanes * (LANE_MIN + 1) ? (p->c.width - fixed) / n_lanes - 1
                                                             : LANE_MIN;
    /* Rather exceeds the terminal's width than omits a host. */
    p->c.width = max(p->c.width, fixed + n_lanes * (lane + 1));
    if (p->c.width > LADDER_WIDTH_MAX)
        p->c.width = LADDER_WIDTH_MAX;
    p->x[0] = p->time_width + 3 + (p->outside ? notes[0] + 1 : 0);
    for (uint32_t c = 1; c < l->n_columns; c++)
        p->x[c] = p->x[c - 1] + lane + 1;
}

static void draw_centred(struct page *p, uint32_t column, const char *s, enum shade shade)
{
    const uint32_t half = cells_of(s) / 2;

    cells_draw(&p->c, p->x[column] > half ? p->x[column] - half : 0, s, shade);
}

/* Writes a sentence about the picture in as many rows as it needs. */
static void sentence_rows(struct page *p, const char *s)
{
    while (*s) {
        const size_t n = ladder_line(s, p->c.width);
        char row[LADDER_MISSING_BYTES];

        RDL_ASSERT(n < sizeof(row));
        memcpy(row, s, n);
        row[n] = '\0';
        cells_draw(&p->c, 0, row, SHADE_DIM);
        cells_end_row(&p->c);
        s += n;
        s += *s == ' ';
    }
}

static void draw_names(struct page *p)
{
    cells_draw(&p->c, p->time_width - 4, "t/us", SHADE_DIM);
    for (uint32_t c = 0; c < p->l->n_columns; c++)
        draw_centred(p, c, p->l->columns[c].name, SHADE_BOLD);
}

/* Repeats the names of the hosts before stop @i, if the last ones are far above. */
static void repeat_names(struct page *p, uint32_t i)
{
    if (p->c.n_rows - p->head_row < HEADS_EVERY || p->l->n_stops - i < HEADS_STOPS)
        return;
    draw_between(p, i, p->g->life);
    draw_names(p);
    cells_end_row(&p->c);
    p->head_row = p->c.n_rows;
}

static void head_rows(struct page *p)
{
    const struct ladder *l = p->l;
    bool addresses = false;

    if (l->title[0]) {
        cells_draw(&p->c, 0, l->title, SHADE_BOLD);
        cells_end_row(&p->c);
    }
    sentence_rows(p, l->missing);
    if (l->n_stops == 0)
        return;
    draw_names(p);
    cells_end_row(&p->c);
    p->head_row = p->c.n_rows;
    for (uint32_t c = 0; c < l->n_columns; c++) {
        draw_centred(p, c, l->columns[c].addr, SHADE_DIM);
        addresses = addresses || l->columns[c].addr[0];
    }
    if (addresses)
        cells_end_row(&p->c);
}

static void foot_rows(struct page *p)
{
    char buf[LADDER_TITLE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (ladder_add_rest(&t, p->l))
        sentence_rows(p, buf);
}

static void stop_rows(struct page *p, uint32_t i)
{
    const struct ladder_stop *s = &p->l->stops[i];
    const struct ladder_arrow *a = s->arrow != LADDER_NONE ? &p->l->arrows[s->arrow] : NULL;

    if (s->gap_ns || s->note[0] || (a && a->tail == i))
        repeat_names(p, i);
    if (s->gap_ns)
        pause_row(p, i);
    if (a && (a->tail == i || a->tail == LADDER_NONE))
        page_arrow(p, i, a);
    else if (a && a->fate != FATE_LOST && pauses_between(p->l, a->tail, i))
        page_arrival(p, i, a);
    if (s->note[0])
        note_row(p, i);
}

enum rdl_status ladder_text(const struct ladder *l, const struct viz_sink *sink)
{
    struct page *p = calloc(1, sizeof(*p));
    const uint32_t width = l->options.width ? l->options.width : LADDER_WIDTH_DEFAULT;

    if (!p)
        return RDL_ERR_NOMEM;
    p->l = l;
    p->g = l->options.ascii ? &ascii : &utf8;
    p->c.sink = sink;
    p->c.colour = l->options.colour;
    p->c.width = max(width, LADDER_WIDTH_MIN);
    if (p->c.width > LADDER_WIDTH_MAX)
        p->c.width = LADDER_WIDTH_MAX;
    p->shown_ns = UINT64_MAX;
    lay_out(p);
    head_rows(p);
    for (uint32_t i = 0; i < l->n_stops; i++)
        stop_rows(p, i);
    foot_rows(p);
    free(p);
    return RDL_OK;
}
