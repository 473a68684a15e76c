/* SPDX-License-Identifier: MIT */
/* Columns, rows and the loop of the layout; see ladder_layout.h. */
#include "viz/ladder_layout.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"

#define STEP_MAX      PX(90) /* for a pause without a band */
#define STEP_STOP     PX(15) /* between any stops on one lifeline */
#define STEP_NOTE     PX(18)
#define STEP_TIME     PX(15)
#define STEP_CUT      PX(36) /* between cut arrows, whose texts are below them */
#define STEP_LOST     PX(42) /* room below the start of an arrow that ends on the way */
#define MISSING_LINE  PX(18)
#define MISSING_MAX   8 /* lines */
#define BAND          PX(28)
#define BAND_MARGIN   PX(14)
#define NOTE_DISTANCE PX(24) /* from the lifeline; leaves room for brackets */
#define LANE_MAX      PX(640)
#define HEADS_EVERY   PX(900) /* distance between two rows of names of the hosts, at least */
#define HEADS_STOPS   8u      /* ... and number of stops between them, and below them, at least */
#define HEADS_MARGIN  PX(16)
#define ROUNDS_MAX    6 /* layouts tried before all labels become notes */

/* Distances between lifelines to try.  In a wider lane arrows are flatter and more labels fit. */
static const int32_t lanes[] = {PX(300), PX(430), PX(560)};

int32_t layout_font_px(enum layout_text_kind kind)
{
    switch (kind) {
    case TEXT_TITLE:
        return LAYOUT_TITLE_FONT_PX;
    case TEXT_NAME:
        return LAYOUT_NAME_FONT_PX;
    case TEXT_ADDR:
    case TEXT_TIME:
        return LAYOUT_TIME_FONT_PX;
    default:
        return LAYOUT_FONT_PX;
    }
}

bool layout_notes_left(const struct ladder *l, uint32_t column)
{
    return 2 * column < l->n_columns && (l->n_columns == 1 || column + 1 < l->n_columns);
}

bool layout_has_mark(const struct ladder_stop *s)
{
    return s->note[0] && s->arrow == LADDER_NONE && s->tone != TONE_TIMER;
}

static const char *glyph(enum ladder_tone tone)
{
    return tone == TONE_DONE ? "✓ " : tone == TONE_BAD ? "✗ " : "";
}

/* The label without room along its arrow that belongs to stop @i, or NULL. */
static const struct ladder_arrow *label_beside(const struct layout *o, uint32_t i)
{
    for (uint32_t k = 0; k < o->l->n_arrows; k++) {
        if (o->label_out[k] && o->l->arrows[k].label_stop == i)
            return &o->l->arrows[k];
    }
    return NULL;
}

/* Adds the text beside the lifeline at stop @i, if any.  Returns its tone. */
static enum ladder_tone add_beside(struct text *t, const struct layout *o, uint32_t i)
{
    const struct ladder *l = o->l;
    const struct ladder_stop *s = &l->stops[i];
    const struct ladder_arrow *a = s->note[0] ? NULL : label_beside(o, i);
    const bool end = s->on_wire && o->end_out[s->arrow];
    const bool inner = s->column > 0 && s->column + 1 < l->n_columns;

    if (inner && (s->note[0] || a || end))
        text_addf(t, "%s: ", l->columns[s->column].name);
    if (s->note[0])
        text_addf(t, "%s%s", glyph(s->tone), s->note);
    else if (a)
        text_addf(t, a->from <= a->to ? "%s →" : "← %s", a->label);
    if (a && a->beyond[0] && o->cut_out[a - l->arrows])
        text_addf(t, ", %s", a->beyond);
    if (s->note[0] || a)
        return s->note[0] ? s->tone : a->tone;
    if (end)
        text_add(t, l->arrows[s->arrow].end);
    return TONE_BAD;
}

/* Computes the columns from left to right: times, notes, lifelines, notes. */
static void lay_out_columns(struct layout *o)
{
    const struct ladder *l = o->l;
    int32_t notes[2] = {PX(40), PX(40)};
    int32_t times = text_width("t/us", LAYOUT_TIME_FONT_PX);
    int32_t lane = o->lane_min;
    int32_t x;

    for (uint32_t i = 0; i < l->n_stops; i++) {
        char buf[LAYOUT_TEXT_BYTES];
        struct text t = text_on(buf, sizeof(buf));
        int32_t *side = &notes[layout_notes_left(l, l->stops[i].column)];

        add_beside(&t, o, i);
        *side = i32_max(*side, text_width(buf, LAYOUT_FONT_PX));
        t = text_on(buf, sizeof(buf));
        ladder_add_time(&t, l->stops[i].at_ns);
        times = i32_max(times, text_width(buf, LAYOUT_TIME_FONT_PX));
        if (l->stops[i].gap_ns) {
            t = text_on(buf, sizeof(buf));
            ladder_add_gap(&t, &l->stops[i]);
            times = i32_max(times, text_width(buf, LAYOUT_FONT_PX));
        }
    }
    for (uint32_t i = 0; i < l->n_arrows; i++) {
        const int32_t need = text_width(l->arrows[i].label, LAYOUT_FONT_PX) + PX(40);
        const bool whole = !l->arrows[i].cut && !ladder_ends_on_way(&l->arrows[i]);

        lane = i32_max(lane, whole ? need + PX(40) : need * 100 / LAYOUT_ON_WAY);
    }
    o->time_x = LAYOUT_EDGE + times;
    o->left_x = o->time_x + PX(18) + notes[1];
    x = o->left_x + NOTE_DISTANCE;
    for (uint32_t c = 0; c < l->n_columns; c++) {
        o->x[c] = x;
        x += c + 1 < l->n_columns ? i32_min(lane, LANE_MAX) : 0;
    }
    o->right_x = x + NOTE_DISTANCE;
    o->width = o->right_x + notes[0] + LAYOUT_EDGE;
}

/* The lowest things so far, which the next rows must not touch. */
struct row_heights {
    int32_t life_y[LADDER_COLUMNS_MAX];    /* of the last stop on each lifeline */
    uint32_t life_end[LADDER_COLUMNS_MAX]; /* the arrow of that stop, or LADDER_NONE */
    int32_t note_y[2];                     /* of the last note on each side */
    int32_t low;                           /* lower end of lost packets and cut arrows */
    int32_t cut_y;                         /* of the last cut arrow */
    int32_t head_y;                        /* of the last names of the hosts */
    uint32_t head_stop;                    /* the stop after them */
    int32_t time_y;                        /* of the last time shown */
    uint64_t time_ns;
};

static bool same_way(const struct ladder *l, uint32_t a, uint32_t b)
{
    return a != LADDER_NONE && b != LADDER_NONE &&
           (l->arrows[a].from == l->arrows[b].from || l->arrows[a].to == l->arrows[b].to);
}

/* The smallest y for stop @i that keeps its distance from everything above. */
static int32_t lowest_allowed(const struct layout *o, const struct row_heights *r, uint32_t i,
                              bool says)
{
    const struct ladder_stop *s = &o->l->stops[i];
    const int32_t side = layout_notes_left(o->l, s->column);
    int32_t y = o->top;

    if (s->arrow != LADDER_NONE || says)
        y = i32_max(y, r->life_y[s->column] + (same_way(o->l, s->arrow, r->life_end[s->column])
                                                   ? LAYOUT_STEP_END
                                                   : STEP_STOP));
    if (s->arrow != LADDER_NONE && o->l->arrows[s->arrow].cut)
        y = i32_max(y, r->cut_y + STEP_CUT);
    if (says)
        y = i32_max(y, r->note_y[side] + STEP_NOTE);
    if (says && s->at_ns != r->time_ns) /* a note shows its time */
        y = i32_max(y, r->time_y + STEP_TIME);
    return y;
}

/* Returns true if the time of stop @i is shown at @y: where it changes and there is room. */
static bool shows_time(const struct layout *o, struct row_heights *r, uint32_t i, int32_t y)
{
    const struct ladder_stop *s = &o->l->stops[i];
    const bool untimed = s->on_wire && !ladder_floats(&o->l->arrows[s->arrow]);

    if ((s->arrow == LADDER_NONE && !s->note[0]) || untimed || s->at_ns == r->time_ns ||
        y < r->time_y + STEP_TIME)
        return false;
    r->time_ns = s->at_ns;
    r->time_y = y;
    return true;
}

/* Repeats the names of the hosts between @y and stop @i, if the last ones are far above.  Returns
 * the y that is free after that.
 */
static int32_t lay_out_heads(struct layout *o, struct row_heights *r, uint32_t i, int32_t y)
{
    if (y - r->head_y < HEADS_EVERY || i - r->head_stop < HEADS_STOPS ||
        o->l->n_stops - i < HEADS_STOPS)
        return y;
    r->head_stop = i;
    r->head_y = i32_max(y, r->low) + HEADS_MARGIN + LAYOUT_HEADS / 2;
    o->heads[o->n_heads++] = (struct layout_head){.y = r->head_y};
    return r->head_y + LAYOUT_HEADS / 2 + HEADS_MARGIN;
}

static void lay_out_rows(struct layout *o)
{
    const struct ladder *l = o->l;
    struct row_heights r = {
        .cut_y = -STEP_CUT, .time_y = -STEP_TIME, .time_ns = UINT64_MAX, .head_y = o->top};
    int32_t y = o->top + PX(20);

    o->n_bands = o->n_heads = 0;
    for (uint32_t c = 0; c < LADDER_COLUMNS_MAX; c++)
        r.life_end[c] = LADDER_NONE;
    for (uint32_t i = 0; i < l->n_stops; i++) {
        const struct ladder_stop *s = &l->stops[i];
        char buf[LAYOUT_TEXT_BYTES];
        struct text beside = text_on(buf, sizeof(buf));

        add_beside(&beside, o, i);
        y = lay_out_heads(o, &r, i, y);
        if (s->gap_ns) {
            const int32_t top = i32_max(y, r.low) + BAND_MARGIN;

            o->bands[o->n_bands++] = (struct layout_band){top, top + BAND, i};
            y = top + BAND + BAND_MARGIN;
        } else if (i > 0) {
            const uint64_t pause = s->at_ns - l->stops[i - 1].at_ns;

            y += i32_min((int32_t)(pause * (uint64_t)LAYOUT_FLIGHT / l->usual_ns), STEP_MAX);
        }
        y = i32_max(y, lowest_allowed(o, &r, i, beside.len > 0));
        o->y[i] = y;
        shows_time(o, &r, i, y);
        if (beside.len > 0)
            r.note_y[layout_notes_left(l, s->column)] = y;
        if (s->arrow != LADDER_NONE && l->arrows[s->arrow].cut) {
            r.cut_y = y;
            r.low = i32_max(r.low, y + STEP_CUT / 2);
        }
        if (s->on_wire || (s->arrow == LADDER_NONE && beside.len == 0))
            continue;
        r.life_y[s->column] = y;
        r.life_end[s->column] = s->arrow;
        if (s->arrow != LADDER_NONE && !l->arrows[s->arrow].cut &&
            ladder_ends_on_way(&l->arrows[s->arrow]))
            r.low = i32_max(r.low, y + STEP_LOST);
    }
    o->bottom = i32_max(y, r.low) + PX(24);
    o->height = o->bottom + LAYOUT_EDGE;
}

static struct layout_text text_at(enum layout_text_kind kind, enum layout_anchor anchor, int32_t x,
                                  int32_t y)
{
    return (struct layout_text){.kind = kind,
                                .anchor = anchor,
                                .stop = LADDER_NONE,
                                .arrow = LADDER_NONE,
                                .at = {x, y},
                                .u = {1000, 0}};
}

static void add_words(struct layout *o, struct layout_text t, const char *words)
{
    struct text s = text_on(t.s, sizeof(t.s));

    text_add(&s, words);
    layout_add_text(o, t);
}

static uint32_t missing_lines(const struct ladder *l)
{
    uint32_t n = 0;

    for (const char *s = l->missing; *s; s += *s == ' ') {
        s += ladder_line(s, LAYOUT_LINE);
        n++;
    }
    return n;
}

/* Adds the sentence about what the trace lacks, below the title. */
static void add_missing(struct layout *o)
{
    int32_t y = LAYOUT_EDGE + (o->l->title[0] ? PX(38) : PX(12));

    for (const char *s = o->l->missing; *s; s += *s == ' ') {
        const size_t n = ladder_line(s, LAYOUT_LINE);
        struct layout_text t = text_at(TEXT_REST, ANCHOR_START, LAYOUT_EDGE, y);
        struct text words = text_on(t.s, sizeof(t.s));

        text_addn(&words, s, n);
        layout_add_text(o, t);
        y += MISSING_LINE;
        s += n;
    }
}

static void add_frame_texts(struct layout *o)
{
    const struct ladder *l = o->l;
    char buf[LAYOUT_TEXT_BYTES];
    struct text rest = text_on(buf, sizeof(buf));

    if (l->title[0])
        add_words(o, text_at(TEXT_TITLE, ANCHOR_START, LAYOUT_EDGE, LAYOUT_EDGE + PX(14)),
                  l->title);
    add_missing(o);
    if (l->n_columns)
        add_words(o, text_at(TEXT_TIME, ANCHOR_END, o->time_x, o->top - PX(10)), "t/us");
    for (uint32_t c = 0; c < l->n_columns; c++) {
        const bool addr = l->columns[c].addr[0] != '\0';

        add_words(o, text_at(TEXT_NAME, ANCHOR_MIDDLE, o->x[c], o->top - (addr ? PX(24) : PX(10))),
                  l->columns[c].name);
        if (addr)
            add_words(o, text_at(TEXT_ADDR, ANCHOR_MIDDLE, o->x[c], o->top - PX(8)),
                      l->columns[c].addr);
    }
    if (ladder_add_rest(&rest, l)) {
        add_words(o, text_at(TEXT_REST, ANCHOR_START, LAYOUT_EDGE, o->bottom + PX(22)), buf);
        o->height += PX(22);
    }
}

static void add_notes(struct layout *o)
{
    const struct ladder *l = o->l;

    for (uint32_t i = 0; i < l->n_stops; i++) {
        const bool left = layout_notes_left(l, l->stops[i].column);
        struct layout_text t = text_at(TEXT_NOTE, left ? ANCHOR_END : ANCHOR_START,
                                       left ? o->left_x : o->right_x, o->y[i] + LAYOUT_BELOW);
        struct text s = text_on(t.s, sizeof(t.s));

        t.stop = i;
        t.tone = add_beside(&s, o, i);
        if (s.len)
            layout_add_text(o, t);
    }
}

static void add_times(struct layout *o)
{
    const struct ladder *l = o->l;
    struct row_heights r = {.time_y = -STEP_TIME, .time_ns = UINT64_MAX};

    for (uint32_t i = 0; i < l->n_stops; i++) {
        struct layout_text t = text_at(TEXT_TIME, ANCHOR_END, o->time_x, o->y[i] + LAYOUT_BELOW);
        struct text words = text_on(t.s, sizeof(t.s));

        if (!shows_time(o, &r, i, o->y[i]))
            continue;
        ladder_add_time(&words, l->stops[i].at_ns);
        t.stop = i;
        layout_add_text(o, t);
    }
}

/* One round of layout.  Texts marked in label_out, end_out and cut_out become notes.  Returns the
 * number of texts newly marked.
 */
static uint32_t lay_out(struct layout *o)
{
    const struct ladder *l = o->l;

    o->n_texts = 0;
    o->top = LAYOUT_EDGE + (l->title[0] ? PX(30) : 0) + (int32_t)missing_lines(l) * MISSING_LINE +
             PX(46);
    lay_out_columns(o);
    lay_out_rows(o);
    layout_shape(o);
    add_frame_texts(o);
    add_notes(o);
    add_times(o);
    return layout_place(o);
}

static void set_all_out(struct layout *o, bool out)
{
    for (uint32_t i = 0; i < o->l->n_arrows; i++)
        o->label_out[i] = o->end_out[i] = o->cut_out[i] = out;
}

/* Of the distances with the fewest labels without room, the narrowest. */
static int32_t best_lane(struct layout *o)
{
    uint32_t fewest = UINT32_MAX;
    int32_t best = lanes[0];

    for (size_t i = 0; i < ARRAY_LEN(lanes) && fewest > 0; i++) {
        uint32_t n_out;

        set_all_out(o, false);
        o->lane_min = lanes[i];
        n_out = lay_out(o);
        if (n_out < fewest) {
            fewest = n_out;
            best = lanes[i];
        }
    }
    set_all_out(o, false);
    return best;
}

static bool layout_alloc(struct layout *o)
{
    const struct ladder *l = o->l;

    o->cap_texts = 3 * l->n_stops + 3 * l->n_arrows +
                   l->n_columns * (l->n_stops / HEADS_STOPS + 3u) + MISSING_MAX + 4;
    o->cap_lines = 2 * l->n_columns * (l->n_stops / HEADS_STOPS + 2u) +
                   LAYOUT_SEGMENTS_MAX * l->n_arrows + 3 * l->n_timers;
    o->cap_solids = l->n_stops + 3 * l->n_arrows + l->n_timers + 1;
    o->y = calloc(l->n_stops + 1u, sizeof(*o->y));
    o->label_out = calloc(l->n_arrows + 1u, sizeof(*o->label_out));
    o->end_out = calloc(l->n_arrows + 1u, sizeof(*o->end_out));
    o->cut_out = calloc(l->n_arrows + 1u, sizeof(*o->cut_out));
    o->arrows = calloc(l->n_arrows + 1u, sizeof(*o->arrows));
    o->brackets = calloc(l->n_timers + 1u, sizeof(*o->brackets));
    o->bands = calloc(l->n_stops + 1u, sizeof(*o->bands));
    o->heads = calloc(l->n_stops + 1u, sizeof(*o->heads));
    o->texts = calloc(o->cap_texts, sizeof(*o->texts));
    o->lines = calloc(o->cap_lines, sizeof(*o->lines));
    o->solids = calloc(o->cap_solids, sizeof(*o->solids));
    return o->y && o->label_out && o->end_out && o->cut_out && o->arrows && o->brackets &&
           o->bands && o->heads && o->texts && o->lines && o->solids;
}

enum rdl_status layout_init(struct layout *ret, const struct ladder *l)
{
    struct layout o = {.l = l};

    if (!layout_alloc(&o)) {
        layout_done(&o);
        return RDL_ERR_NOMEM;
    }
    o.lane_min = best_lane(&o);
    for (int round = 0; lay_out(&o) > 0; round++) {
        if (round == ROUNDS_MAX)
            set_all_out(&o, true); /* ends: notes always have room */
    }
    *ret = o;
    return RDL_OK;
}

void layout_done(struct layout *o)
{
    free(o->y);
    free(o->label_out);
    free(o->end_out);
    free(o->cut_out);
    free(o->arrows);
    free(o->brackets);
    free(o->bands);
    free(o->heads);
    free(o->texts);
    free(o->lines);
    free(o->solids);
}
