/* SPDX-License-Identifier: MIT */
/* A ladder as lines for a terminal.
 *
 * Each packet is one line, at the time when it was sent; the time when it arrived stands before the
 * arrow's head.  Each note is a line: beside the outer lifelines if the terminal is wide enough,
 * else between them.  A line is built in cells, so that a character outside ASCII counts as one.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "viz/ladder_model.h"

#define CELL_BYTES 5u
#define LANE_MAX   76u /* columns between two lifelines */
#define LANE_MIN   16u
#define ON_WAY     60u /* percent of the way where a lost packet ends, if its label fits */

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

static const char *const shade_codes[] = {
    [SHADE_NONE] = "0",   [SHADE_BOLD] = "0;1",    [SHADE_DIM] = "0;90",    [SHADE_REQUEST] = "0;36",
    [SHADE_ANSWER] = "0;32", [SHADE_BAD] = "0;31", [SHADE_TIMER] = "0;33", [SHADE_STATE] = "0;35",
};

static const enum shade tone_shades[] = {
    [TONE_PLAIN] = SHADE_NONE,   [TONE_POST] = SHADE_NONE,       [TONE_STATE] = SHADE_STATE,
    [TONE_DONE] = SHADE_ANSWER,  [TONE_BAD] = SHADE_BAD,         [TONE_TIMER] = SHADE_TIMER,
    [TONE_NAK] = SHADE_BAD,      [TONE_REQUEST] = SHADE_REQUEST, [TONE_ANSWER] = SHADE_ANSWER,
};

/* The characters of lines, as UTF-8 or ASCII. */
struct glyphs {
    const char *life, *pause, *out_right, *out_left, *over, *to_right, *to_left, *cross;
    const char *line, *again, *copy; /* how arrows are drawn */
    const char *from_top, *running, *to_bottom; /* brackets of timers, left of a lifeline */
    const char *from_top_r, *to_bottom_r;       /* and right of one; corners of arrows too */
    const char *marks[TONE_NAK + 1];
};

static const struct glyphs utf8 = {
    "│", "┊", "├", "┤", "┼", "▶", "◀", "✗", "─", "╌", "┈", "╭", "│", "╰", "╮", "╯",
    {[TONE_PLAIN] = "•", [TONE_POST] = "○", [TONE_STATE] = "◆", [TONE_DONE] = "●",
     [TONE_BAD] = "✗", [TONE_TIMER] = "┤"}};

static const struct glyphs ascii = {
    "|", ":", "|", "|", "-", ">", "<", "X", "-", "=", ".", ",", "|", "'", ".", "'",
    {[TONE_PLAIN] = "*", [TONE_POST] = "o", [TONE_STATE] = "#", [TONE_DONE] = "*",
     [TONE_BAD] = "!", [TONE_TIMER] = "+"}};

struct cell {
    char s[CELL_BYTES];
    uint8_t shade;
};

struct page {
    const struct ladder *l;
    const struct viz_sink *sink;
    const struct glyphs *g;
    struct cell row[LADDER_WIDTH_MAX];
    uint32_t width;
    uint32_t time_width;
    uint32_t x[LADDER_COLUMNS_MAX];
    bool outside; /* notes stand outside of the lifelines */
    uint64_t shown_ns;
};

static void put(const struct page *p, const char *s)
{
    p->sink->put(p->sink->ctx, s, strlen(s));
}

static uint32_t cells_of(const char *s)
{
    uint32_t n = 0;

    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0u) != 0x80u;
    return n;
}

/* Writes @s into the row from cell @at on; what does not fit is cut. */
static void draw(struct page *p, uint32_t at, const char *s, enum shade shade)
{
    while (*s && at < p->width) {
        size_t n = 1;

        while (((unsigned char)s[n] & 0xc0u) == 0x80u && n < CELL_BYTES - 1)
            n++;
        memcpy(p->row[at].s, s, n);
        p->row[at].s[n] = '\0';
        p->row[at].shade = (uint8_t)shade;
        s += n;
        at++;
    }
}

static void draw_span(struct page *p, uint32_t from, uint32_t to, const char *s, enum shade shade)
{
    for (uint32_t at = from; at < to; at++)
        draw(p, at, s, shade);
}

static void clear(struct page *p)
{
    memset(p->row, 0, sizeof(p->row));
}

/* Hands out the row, without blanks at its end. */
static void end_row(struct page *p)
{
    uint32_t n = p->width;
    uint8_t shade = SHADE_NONE;

    while (n > 0 && (p->row[n - 1].s[0] == '\0' || p->row[n - 1].s[0] == ' '))
        n--;
    for (uint32_t i = 0; i < n; i++) {
        const struct cell *c = &p->row[i];
        const uint8_t wanted = c->s[0] ? c->shade : (uint8_t)SHADE_NONE;

        if (p->l->options.colour && wanted != shade) {
            put(p, "\033[");
            put(p, shade_codes[wanted]);
            put(p, "m");
            shade = wanted;
        }
        put(p, c->s[0] ? c->s : " ");
    }
    put(p, shade == SHADE_NONE ? "\n" : "\033[0m\n");
    clear(p);
}

static bool is_left(const struct page *p, uint32_t column)
{
    return column + 1 < p->l->n_columns || column == 0;
}

/* Part of a bracket beside a lifeline, on its outer side. */
static void draw_bracket(struct page *p, uint32_t timer, uint32_t stop)
{
    const struct ladder_timer *t = &p->l->timers[timer];
    const uint32_t column = p->l->stops[t->fired].column;
    const bool left = is_left(p, column);
    const uint32_t at = left ? p->x[column] - 1 : p->x[column] + 1;
    const char *s = p->g->running;

    if (stop < t->armed || stop > t->fired)
        return;
    if (stop == t->armed)
        s = left ? p->g->from_top : p->g->from_top_r;
    else if (stop == t->fired)
        s = left ? p->g->to_bottom : p->g->to_bottom_r;
    draw(p, at, s, SHADE_TIMER);
}

/* A fresh row with time, lifelines and brackets as they are at stop @i. */
static void begin_row(struct page *p, uint32_t i)
{
    const struct ladder_stop *s = &p->l->stops[i];
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));

    clear(p);
    for (uint32_t c = 0; c < p->l->n_columns; c++)
        draw(p, p->x[c], p->g->life, SHADE_DIM);
    for (uint32_t k = 0; k < p->l->n_timers; k++)
        draw_bracket(p, k, i);
    if (s->at_ns == p->shown_ns)
        return;
    p->shown_ns = s->at_ns;
    ladder_add_time(&t, s->at_ns);
    draw(p, p->time_width - cells_of(buf), buf, SHADE_NONE);
}

static void gap_row(struct page *p, uint32_t i)
{
    char buf[64];
    struct text t = text_on(buf, sizeof(buf));
    const uint32_t last = p->x[p->l->n_columns - 1];

    begin_row(p, i);
    p->shown_ns = UINT64_MAX;
    draw_span(p, 0, p->time_width, " ", SHADE_NONE);
    for (uint32_t c = 0; c < p->l->n_columns; c++)
        draw(p, p->x[c], p->g->pause, SHADE_DIM);
    for (uint32_t k = 0; k < p->l->n_timers; k++) {
        if (p->l->timers[k].armed < i && p->l->timers[k].fired >= i)
            draw_bracket(p, k, p->l->timers[k].armed + 1 < p->l->timers[k].fired
                                   ? p->l->timers[k].armed + 1
                                   : i);
    }
    ladder_add_gap(&t, &p->l->stops[i]);
    draw(p, (p->x[0] + (p->l->n_columns > 1 ? p->x[1] : last + 40) - cells_of(buf)) / 2, buf,
         SHADE_DIM);
    end_row(p);
}

static void note_row(struct page *p, uint32_t i)
{
    const struct ladder_stop *s = &p->l->stops[i];
    const uint32_t x = p->x[s->column];
    const uint32_t n = cells_of(s->note);
    const enum shade shade = tone_shades[s->tone];
    const bool first = s->column == 0;
    const bool last = s->column + 1 == p->l->n_columns && !first;

    begin_row(p, i);
    draw(p, x, p->g->marks[s->tone], shade);
    if (p->outside && first)
        draw(p, x - 2 - n, s->note, shade);
    else if (last && !p->outside)
        draw(p, x > n + 2 + p->time_width ? x - 1 - n : p->time_width + 1, s->note, shade);
    else
        draw(p, x + (last ? 3 : 2), s->note, shade);
    end_row(p);
}

/* Where in the row things of one arrow are; @near and @far are the cells between its lifelines. */
struct line {
    uint32_t near, far; /* first and last cell, from the left */
    bool right;         /* towards the right */
    const char *body;
    enum shade shade;
};

static struct line line_of(const struct page *p, const struct ladder_arrow *a)
{
    const bool right = a->from < a->to || (a->from == a->to && a->from + 1 < p->l->n_columns);
    const uint32_t from = p->x[a->from];
    const uint32_t to = p->x[a->to];
    struct line n = {.near = right ? from + 1 : to + 1,
                     .far = right ? to - 1 : from - 1,
                     .right = right,
                     .body = a->copy_of != LADDER_NONE ? p->g->copy
                             : a->again                ? p->g->again
                                                       : p->g->line,
                     .shade = tone_shades[a->tone]};

    if (a->from == a->to) { /* out and back */
        const uint32_t room = cells_of(a->label) + 8;

        n.near = right ? from + 1 : (from > room ? from - room : 0);
        n.far = right ? from + room : from - 1;
    }
    return n;
}

/* A packet that ends on the way: "├── SEND_ONLY psn=100 ───✗ lost: f1". */
static void draw_lost(struct page *p, const struct ladder_arrow *a, const struct line *n)
{
    const uint32_t room = n->far - n->near + 1;
    const uint32_t words = cells_of(a->label);
    const uint32_t wanted = words + 6 > room * ON_WAY / 100 ? words + 6 : room * ON_WAY / 100;
    const uint32_t len = wanted < room ? wanted : room;
    const uint32_t end = cells_of(a->end);
    const uint32_t cross = n->right ? n->near + len - 1 : n->far + 1 - len;
    const char *tip = a->fate == FATE_UNKNOWN ? n->body : p->g->cross;

    draw_span(p, n->right ? n->near : cross, n->right ? cross : n->far + 1, n->body, n->shade);
    draw(p, cross, tip, a->fate == FATE_UNKNOWN ? n->shade : SHADE_BAD);
    if (n->right) {
        draw(p, cross + 2, a->end, SHADE_BAD);
        draw(p, n->near + 2, " ", n->shade);
        draw(p, n->near + 3, a->label, n->shade);
        draw(p, n->near + 3 + words, " ", n->shade);
    } else {
        draw(p, cross > end + 1 ? cross - 1 - end : 0, a->end, SHADE_BAD);
        draw(p, n->far - 3 - words, " ", n->shade);
        draw(p, n->far - 2 - words, a->label, n->shade);
        draw(p, n->far - 2, " ", n->shade);
    }
}

static void draw_crossed_lifelines(struct page *p, const struct ladder_arrow *a)
{
    const uint32_t left = a->from < a->to ? a->from : a->to;
    const uint32_t right = a->from < a->to ? a->to : a->from;

    for (uint32_t c = left + 1; c < right; c++)
        draw(p, p->x[c], p->g->over, SHADE_DIM);
}

static const char *tip_of(const struct page *p, const struct ladder_arrow *a, bool right)
{
    if (a->fate == FATE_DROPPED)
        return p->g->cross;
    return right ? p->g->to_right : p->g->to_left;
}

/* "├───── SEND_ONLY psn=100 ackreq ───── 21.087 ▶│" */
static void draw_whole(struct page *p, const struct ladder_arrow *a, const struct line *n,
                       bool with_time)
{
    const uint32_t room = n->far - n->near + 1;
    const uint32_t words = cells_of(a->label);
    const bool copy = a->copy_of != LADDER_NONE;
    const uint32_t middle = (n->near + n->far + 1) / 2;
    uint32_t start = n->near + (room > words ? (room - words) / 2 : 0);
    uint32_t time_at, time_words;
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));

    ladder_add_time(&t, p->l->stops[a->head].at_ns);
    time_words = cells_of(buf);
    draw_span(p, copy && n->right ? middle : n->near, copy && !n->right ? middle : n->far + 1,
              n->body, n->shade);
    draw_crossed_lifelines(p, a);
    if (copy)
        start = n->right ? middle + 2 : middle - 2 - words;
    draw(p, n->right ? n->far : n->near, tip_of(p, a, n->right),
         a->fate == FATE_DROPPED ? SHADE_BAD : n->shade);
    time_at = n->right ? n->far - 1 - time_words : n->near + 2;
    if (with_time && !copy &&
        (n->right ? start + words + 2 < time_at : time_at + time_words + 2 < start)) {
        draw(p, time_at - 1, " ", n->shade);
        draw(p, time_at, buf, SHADE_DIM);
        draw(p, time_at + time_words, " ", n->shade);
    }
    if (start > n->near)
        draw(p, start - 1, " ", n->shade);
    draw(p, start, a->label, n->shade);
    draw(p, start + words, " ", n->shade);
}

/* A packet to its own host goes out and comes back in the next row. */
static void corner_rows(struct page *p, uint32_t i, const struct ladder_arrow *a,
                        const struct line *n)
{
    const uint32_t corner = n->right ? n->far : n->near;

    draw_span(p, n->near, n->far + 1, n->body, n->shade);
    draw(p, n->near + 3, " ", n->shade);
    draw(p, n->near + 4, a->label, n->shade);
    draw(p, n->near + 4 + cells_of(a->label), " ", n->shade);
    draw(p, corner, n->right ? p->g->from_top_r : p->g->from_top, n->shade);
    end_row(p);
    begin_row(p, i);
    draw_span(p, n->near, n->far + 1, n->body, n->shade);
    draw(p, corner, n->right ? p->g->to_bottom_r : p->g->to_bottom, n->shade);
    draw(p, n->right ? n->near : n->far, tip_of(p, a, !n->right), n->shade);
}

static void arrow_row(struct page *p, uint32_t i, const struct ladder_arrow *a)
{
    const struct line n = line_of(p, a);

    begin_row(p, i);
    if (a->tail != LADDER_NONE)
        draw(p, p->x[a->from], n.right ? p->g->out_right : p->g->out_left, n.shade);
    if (a->head == LADDER_NONE || a->fate == FATE_LOST)
        draw_lost(p, a, &n);
    else if (a->from == a->to)
        corner_rows(p, i, a, &n);
    else
        draw_whole(p, a, &n, true);
    end_row(p);
}

/* Where a packet arrives that was sent before a pause. */
static void arrival_row(struct page *p, uint32_t i, const struct ladder_arrow *a)
{
    struct line n = line_of(p, a);

    n.body = p->g->copy;
    begin_row(p, i);
    draw_whole(p, a, &n, false);
    end_row(p);
}

static bool pauses_between(const struct ladder *l, uint32_t tail, uint32_t head)
{
    for (uint32_t i = tail + 1; i <= head; i++) {
        if (l->stops[i].gap_ns)
            return true;
    }
    return false;
}

/* Between the lifelines, as wide as what is said there needs. */
static uint32_t lane_wanted(const struct ladder *l, uint32_t time_width, bool with_notes)
{
    uint32_t w = LANE_MIN;

    for (uint32_t i = 0; i < l->n_arrows; i++) {
        const struct ladder_arrow *a = &l->arrows[i];
        const uint32_t extra = a->end[0] ? cells_of(a->end) + 8 : 2 * time_width + 10;
        const uint32_t need = cells_of(a->label) + extra;

        w = need > w ? need : w;
    }
    for (uint32_t i = 0; i < l->n_stops && with_notes; i++) {
        const uint32_t need = cells_of(l->stops[i].note) + 4;

        w = need > w ? need : w;
    }
    return w < LANE_MAX ? w : LANE_MAX;
}

static void lay_out(struct page *p)
{
    const struct ladder *l = p->l;
    const uint32_t lanes = l->n_columns > 1 ? l->n_columns - 1 : 1;
    uint32_t notes[2] = {0, 0}; /* left, right */
    uint32_t lane, fixed;

    p->time_width = 8;
    for (uint32_t i = 0; i < l->n_stops; i++) {
        const struct ladder_stop *s = &l->stops[i];
        char buf[32];
        struct text t = text_on(buf, sizeof(buf));
        const uint32_t n = cells_of(s->note);
        const bool right = s->column > 0 && s->column + 1 == l->n_columns;

        ladder_add_time(&t, s->at_ns);
        p->time_width = cells_of(buf) + 1 > p->time_width ? cells_of(buf) + 1 : p->time_width;
        if ((s->column == 0 || right) && n > notes[right])
            notes[right] = n;
    }
    lane = lane_wanted(l, p->time_width, l->n_columns > 2);
    fixed = p->time_width + 3 + notes[0] + 3 + notes[1] + 3;
    p->outside = fixed + lanes * (lane + 1) <= p->width;
    if (!p->outside) {
        fixed = p->time_width + 6 + cells_of(l->n_columns ? l->columns[l->n_columns - 1].addr : "") / 2;
        lane = lane_wanted(l, p->time_width, true);
    }
    if (fixed + lanes * (lane + 1) > p->width)
        lane = p->width > fixed + lanes * (LANE_MIN + 1) ? (p->width - fixed) / lanes - 1 : LANE_MIN;
    p->x[0] = p->time_width + 3 + (p->outside ? notes[0] + 1 : 0);
    for (uint32_t c = 1; c < l->n_columns; c++)
        p->x[c] = p->x[c - 1] + lane + 1;
}

static void head_rows(struct page *p)
{
    const struct ladder *l = p->l;
    bool addresses = false;

    if (l->title[0]) {
        draw(p, 0, l->title, SHADE_BOLD);
        end_row(p);
    }
    draw(p, p->time_width - 4, "t/us", SHADE_DIM);
    for (uint32_t c = 0; c < l->n_columns; c++) {
        const uint32_t half = cells_of(l->columns[c].name) / 2;

        draw(p, p->x[c] > half ? p->x[c] - half : 0, l->columns[c].name, SHADE_BOLD);
        addresses = addresses || l->columns[c].addr[0];
    }
    end_row(p);
    for (uint32_t c = 0; c < l->n_columns; c++) {
        const uint32_t half = cells_of(l->columns[c].addr) / 2;

        draw(p, p->x[c] > half ? p->x[c] - half : 0, l->columns[c].addr, SHADE_DIM);
    }
    if (addresses)
        end_row(p);
}

static void foot_rows(struct page *p)
{
    char buf[LADDER_TITLE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    clear(p);
    if (ladder_add_rest(&t, p->l)) {
        draw(p, 0, buf, SHADE_DIM);
        end_row(p);
    }
}

static void stop_rows(struct page *p, uint32_t i)
{
    const struct ladder_stop *s = &p->l->stops[i];
    const struct ladder_arrow *a = s->arrow != LADDER_NONE ? &p->l->arrows[s->arrow] : NULL;

    if (s->gap_ns)
        gap_row(p, i);
    if (a && (a->tail != LADDER_NONE ? a->tail == i : a->head == i))
        arrow_row(p, i, a);
    else if (a && a->fate != FATE_LOST && pauses_between(p->l, a->tail, i))
        arrival_row(p, i, a);
    if (s->note[0])
        note_row(p, i);
}

enum rdl_status ladder_text(const struct ladder *l, const struct viz_sink *sink)
{
    struct page *p = calloc(1, sizeof(*p));
    const uint32_t wanted = l->options.width ? l->options.width : LADDER_WIDTH_DEFAULT;

    if (!p)
        return RDL_ERR_NOMEM;
    p->l = l;
    p->sink = sink;
    p->g = l->options.ascii ? &ascii : &utf8;
    p->width = wanted < LADDER_WIDTH_MIN ? LADDER_WIDTH_MIN : wanted;
    p->width = p->width > LADDER_WIDTH_MAX ? LADDER_WIDTH_MAX : p->width;
    p->shown_ns = UINT64_MAX;
    lay_out(p);
    head_rows(p);
    for (uint32_t i = 0; i < l->n_stops; i++)
        stop_rows(p, i);
    foot_rows(p);
    free(p);
    return RDL_OK;
}
