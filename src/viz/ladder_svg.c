/* SPDX-License-Identifier: MIT */
/* Writes a laid-out ladder as SVG.
 *
 * Every event drawn is a group with the event's name as id ("e34.1"), its kind as class and its
 * line of the trace as tooltip, so that scripts and readers can find it.  The colours are those of
 * Okabe and Ito, which colour-blind people can distinguish.  No information is given by colour
 * alone.
 */
#include <string.h>

#include "emu/base/assert.h"
#include "viz/ladder_layout.h"
#include "viz/svg.h"

/* The rules of the colours: a selector with its declarations on a light page and on a dark one.
 * DARK is a rule for the dark page alone.  A viewer that knows no media queries shows the light
 * page: the picture has a ground of its own.
 */
#define COLOURS(BOTH, DARK)                                                                        \
    BOTH(".ladder", "fill:" VIZ_INK, "fill:" VIZ_DARK_INK)                                         \
    BOTH(".ladder path", "stroke:" VIZ_INK, "stroke:" VIZ_DARK_INK)                                \
    DARK(".ladder rect.page", "fill:" VIZ_DARK_PAGE)                                               \
    BOTH(".ladder .addr,.ladder .time,.ladder .gap,.ladder .rest,.ladder .cut", "fill:" VIZ_DIM,   \
         "fill:" VIZ_DARK_DIM)                                                                     \
    BOTH(".ladder path.life,.ladder path.pause", "stroke:#8b949e", "stroke:#6e7681")               \
    BOTH(".ladder .band", "fill:#eef0f3", "fill:#1c222b")                                          \
    BOTH(".ladder text.tone-post", "fill:" VIZ_DIM, "fill:" VIZ_DARK_DIM)                          \
    BOTH(".ladder text.tone-state", "fill:#7a4a78", "fill:#e0a8dc")                                \
    BOTH(".ladder text.tone-done,.ladder text.tone-answer", "fill:#00664c", "fill:#4fd1a5")        \
    BOTH(".ladder text.tone-bad,.ladder text.tone-nak", "fill:#a83a00", "fill:#ff9f6b")            \
    BOTH(".ladder text.tone-timer", "fill:#8a5a00", "fill:#f0b35a")                                \
    BOTH(".ladder text.tone-request", "fill:#005a8f", "fill:#79c0ff")                              \
    BOTH(".ladder path.tone-request", "stroke:#0072b2", "stroke:#56a8e8")                          \
    BOTH(".ladder path.tone-answer", "stroke:#009e73", "stroke:#2fc496")                           \
    BOTH(".ladder path.tone-nak", "stroke:#d55e00", "stroke:#f58a4b")                              \
    BOTH(".ladder path.tone-timer", "stroke:#b87800", "stroke:#e0a33a")                            \
    BOTH(".ladder path.tone-state", "stroke:#7a4a78", "stroke:#e0a8dc")                            \
    BOTH(".ladder path.tone-done", "stroke:#00664c", "stroke:#4fd1a5")                             \
    BOTH(".ladder path.tone-bad", "stroke:#a83a00", "stroke:#ff9f6b")                              \
    BOTH(".ladder path.head.tone-request", "fill:#0072b2", "fill:#56a8e8")                         \
    BOTH(".ladder path.head.tone-answer", "fill:#009e73", "fill:#2fc496")                          \
    BOTH(".ladder path.head.tone-nak", "fill:#d55e00", "fill:#f58a4b")                             \
    BOTH(".ladder path.mark.tone-call", "fill:" VIZ_INK, "fill:" VIZ_DARK_INK)                     \
    BOTH(".ladder path.mark.tone-post", "fill:#fff;stroke:" VIZ_DIM,                               \
         "fill:" VIZ_DARK_PAGE ";stroke:" VIZ_DARK_DIM)                                            \
    BOTH(".ladder path.mark.tone-state", "fill:#cc79a7", "fill:#a05c86")                           \
    BOTH(".ladder path.mark.tone-done", "fill:#009e73", "fill:#009e73")                            \
    BOTH(".ladder path.mark.tone-bad", "fill:#d55e00", "fill:#d55e00")                             \
    BOTH(".ladder path.mark.tone-timer", "fill:#e69f00", "fill:#e69f00")                           \
    BOTH(".ladder path.head", "stroke:none", "stroke:none")

#define RULE(selector, declarations)      selector "{" declarations "}"
#define LIGHT_RULE(selector, light, dark) RULE(selector, light)
#define DARK_RULE(selector, light, dark)  RULE(selector, dark)
#define NO_RULE(selector, dark)

static const char light[] = COLOURS(LIGHT_RULE, NO_RULE);
static const char dark[] = "@media (prefers-color-scheme:dark){" COLOURS(DARK_RULE, RULE) "}";

/* For either page. */
static const char shapes[] =
    ".ladder .gap{font-style:italic}"
    ".ladder path{fill:none;stroke-width:1.4;stroke-linecap:round;stroke-linejoin:round}"
    ".ladder path.pause{stroke-dasharray:1 4}.ladder path.again{stroke-dasharray:7 4}"
    ".ladder path.copy{stroke-dasharray:2 4}.ladder path.tone-bad{stroke-width:2}";

/* Only pictures with injected packets have it. */
static const char style_injected[] =
    "<style>.ladder path.injected{stroke-width:5;stroke-linecap:butt}"
    ".ladder path.inside{stroke:#fff;stroke-width:2.2;stroke-linecap:butt}"
    ".ladder path.origin{fill:#fff}"
    "@media (prefers-color-scheme:dark){"
    ".ladder path.inside{stroke:" VIZ_DARK_PAGE "}.ladder path.origin{fill:" VIZ_DARK_PAGE
    "}}</style>\n";

static const char *const tone_names[] = {
#define TONE(NAME, word, label) [TONE_##NAME] = #word,
#include "viz/ladder_tones.def"
#undef TONE
};

static const char *const text_classes[] = {
    [TEXT_TITLE] = "title", [TEXT_NAME] = "name",   [TEXT_ADDR] = "addr", [TEXT_TIME] = "time",
    [TEXT_NOTE] = "note",   [TEXT_LABEL] = "label", [TEXT_END] = "end",   [TEXT_CUT] = "cut",
    [TEXT_GAP] = "gap",     [TEXT_REST] = "rest",
};

/* A decimal number in SVG syntax. */
struct decimal {
    char s[16];
};

static struct decimal decimal(int32_t v, int32_t one)
{
    struct decimal d = {""};
    struct text t = text_on(d.s, sizeof(d.s));
    const int32_t abs = v < 0 ? -v : v;

    text_addf(&t, "%s%d", v < 0 ? "-" : "", abs / one);
    if (abs % one)
        text_addf(&t, one == 10 ? ".%d" : ".%03d", abs % one);
    return d;
}

static struct decimal px(int32_t tenths)
{
    return decimal(tenths, 10);
}

/* Writes "M1 2" or "L1 2". */
static void put_to(const struct viz_sink *sink, char command, struct point p)
{
    svg_putf(sink, "%c%s %s", command, px(p.x).s, px(p.y).s);
}

/* Opens the group of an event or a call.  @end: the stop where an arrow arrives, or NULL. */
static void open_group(const struct viz_sink *sink, const struct ladder_stop *s, const char *prefix,
                       const struct ladder_stop *end)
{
    if (s->is_call)
        svg_put(sink, "<g class=\"call\"");
    else
        svg_putf(sink, "<g id=\"%s%llu.%u\" class=\"%s\"", prefix,
                 (unsigned long long)ev_tick(s->id), ev_row(s->id), ev_schema(s->kind)->name);
    if (end)
        svg_putf(sink, " data-end=\"e%llu.%u\"", (unsigned long long)ev_tick(end->id),
                 ev_row(end->id));
    svg_put(sink, "><title>");
    svg_put_escaped(sink, s->title);
    svg_put(sink, "</title>");
}

static void put_band(const struct viz_sink *sink, const struct layout *o,
                     const struct layout_band *b)
{
    const int32_t left = o->x[0] - LAYOUT_MARK;
    const int32_t right = o->x[o->l->n_columns - 1] + LAYOUT_MARK;

    svg_putf(sink, "<rect class=\"band\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/>\n",
             px(left).s, px(b->top).s, px(right - left).s, px(b->bottom - b->top).s);
}

/* Draws a solid line that is dotted in pauses, and interrupted by the name of the host. */
static void put_lifeline(const struct viz_sink *sink, const struct layout *o, uint32_t column)
{
    const int32_t x = o->x[column];
    int32_t y = o->top;

    svg_put(sink, "<path class=\"life\" d=\"");
    for (uint32_t band = 0, head = 0; band < o->n_bands || head < o->n_heads;) {
        const bool pauses =
            head == o->n_heads || (band < o->n_bands && o->bands[band].top < o->heads[head].y);
        const int32_t top = pauses ? o->bands[band].top : o->heads[head].y - LAYOUT_HEADS / 2;

        if (pauses || (o->heads[head].on_line & 1u << column)) {
            put_to(sink, 'M', (struct point){x, y});
            put_to(sink, 'L', (struct point){x, top});
            y = pauses ? o->bands[band].bottom : top + LAYOUT_HEADS;
        }
        band += pauses;
        head += !pauses;
    }
    put_to(sink, 'M', (struct point){x, y});
    put_to(sink, 'L', (struct point){x, o->bottom});
    svg_put(sink, "\"/>\n");
    for (uint32_t i = 0; i < o->n_bands; i++) {
        svg_put(sink, "<path class=\"pause\" d=\"");
        put_to(sink, 'M', (struct point){x, o->bands[i].top});
        put_to(sink, 'L', (struct point){x, o->bands[i].bottom});
        svg_put(sink, "\"/>\n");
    }
}

/* Draws two strokes across the cut end of a line. */
static void put_cut(const struct viz_sink *sink, struct point p, bool upright, const char *tone)
{
    const int32_t dx = upright ? LAYOUT_CUT : PX(2), dy = upright ? PX(2) : LAYOUT_CUT;
    const int32_t apart_x = upright ? 0 : PX(2), apart_y = upright ? PX(2) : 0;

    svg_putf(sink, "<path class=\"cut tone-%s\" d=\"", tone);
    for (int32_t k = -1; k <= 1; k += 2) {
        const struct point at = {p.x + k * apart_x, p.y + k * apart_y};

        put_to(sink, 'M', (struct point){at.x - dx, at.y + dy});
        put_to(sink, 'L', (struct point){at.x + dx, at.y - dy});
    }
    svg_put(sink, "\"/>");
}

static void put_bracket(const struct viz_sink *sink, const struct layout *o, uint32_t i)
{
    const struct layout_bracket *b = &o->brackets[i];

    open_group(sink, &o->l->stops[o->l->timers[i].fired], "timer", NULL);
    svg_put(sink, "<path class=\"tone-timer\" d=\"");
    if (!b->cut)
        put_to(sink, 'M', (struct point){b->lifeline_x, b->top});
    put_to(sink, b->cut ? 'M' : 'L', (struct point){b->x, b->top});
    put_to(sink, 'L', (struct point){b->x, b->bottom});
    put_to(sink, 'L', (struct point){b->lifeline_x, b->bottom});
    svg_put(sink, "\"/>");
    if (b->cut)
        put_cut(sink, (struct point){b->x, b->top}, true, "timer");
    svg_put(sink, "</g>\n");
}

static void put_cross(const struct viz_sink *sink, struct point p)
{
    svg_put(sink, "<path class=\"cross tone-bad\" d=\"");
    put_to(sink, 'M', (struct point){p.x - LAYOUT_CROSS, p.y - LAYOUT_CROSS});
    put_to(sink, 'L', (struct point){p.x + LAYOUT_CROSS, p.y + LAYOUT_CROSS});
    put_to(sink, 'M', (struct point){p.x - LAYOUT_CROSS, p.y + LAYOUT_CROSS});
    put_to(sink, 'L', (struct point){p.x + LAYOUT_CROSS, p.y - LAYOUT_CROSS});
    svg_put(sink, "\"/>");
}

static void put_head(const struct viz_sink *sink, const struct segment *s, const char *tone)
{
    const struct unit u = unit_between(s->a, s->b);

    svg_putf(sink, "<path class=\"head tone-%s\" d=\"", tone);
    put_to(sink, 'M', s->b);
    put_to(sink, 'L', point_from(s->b, u, -LAYOUT_HEAD, LAYOUT_HEAD * 2 / 5));
    put_to(sink, 'L', point_from(s->b, u, -LAYOUT_HEAD, -LAYOUT_HEAD * 2 / 5));
    svg_put(sink, "Z\"/>");
}

static void put_text(const struct viz_sink *sink, const struct layout_text *t)
{
    static const char *const anchors[] = {[ANCHOR_START] = "",
                                          [ANCHOR_MIDDLE] = " text-anchor=\"middle\"",
                                          [ANCHOR_END] = " text-anchor=\"end\""};

    svg_putf(sink, "<text class=\"%s tone-%s\"%s", text_classes[t->kind], tone_names[t->tone],
             anchors[t->anchor]);
    if (t->u.y == 0)
        svg_putf(sink, " x=\"%s\" y=\"%s\">", px(t->at.x).s, px(t->at.y).s);
    else
        svg_putf(sink, " transform=\"matrix(%s %s %s %s %s %s)\">", decimal(t->u.x, 1000).s,
                 decimal(t->u.y, 1000).s, decimal(-t->u.y, 1000).s, decimal(t->u.x, 1000).s,
                 px(t->at.x).s, px(t->at.y).s);
    svg_put_escaped(sink, t->s);
    svg_put(sink, "</text>");
}

static void put_texts_of_arrow(const struct viz_sink *sink, const struct layout *o, uint32_t arrow)
{
    for (uint32_t i = 0; i < o->n_texts; i++) {
        if (o->texts[i].arrow == arrow)
            put_text(sink, &o->texts[i]);
    }
}

/* Writes the points of arrow @g, up to @back before its end. */
static void put_points(const struct viz_sink *sink, const struct layout_arrow *g, int32_t back)
{
    const struct segment *last = &g->seg[g->n_seg - 1];

    put_to(sink, 'M', g->seg[0].a);
    for (uint32_t k = 0; k + 1 < g->n_seg; k++)
        put_to(sink, 'L', g->seg[k].b);
    put_to(sink, 'L', point_from(last->b, unit_between(last->a, last->b), -back, 0));
    svg_put(sink, "\"/>");
}

static void put_diamond(const struct viz_sink *sink, struct point p, const char *tone)
{
    svg_putf(sink, "<path class=\"origin tone-%s\" d=\"", tone);
    put_to(sink, 'M', (struct point){p.x, p.y - LAYOUT_ORIGIN});
    put_to(sink, 'L', (struct point){p.x + LAYOUT_ORIGIN, p.y});
    put_to(sink, 'L', (struct point){p.x, p.y + LAYOUT_ORIGIN});
    put_to(sink, 'L', (struct point){p.x - LAYOUT_ORIGIN, p.y});
    svg_put(sink, "Z\"/>");
}

/* Draws the line of an arrow: double for an injected packet, with a diamond where it begins. */
static void put_line(const struct viz_sink *sink, const struct layout *o, uint32_t i)
{
    const struct ladder_arrow *a = &o->l->arrows[i];
    const struct layout_arrow *g = &o->arrows[i];
    const bool is_double = a->injected && !a->copy;
    const int32_t back = is_double && a->fate == FATE_ARRIVED ? LAYOUT_HEAD : 0;

    svg_putf(sink, "<path class=\"tone-%s%s%s%s\" d=\"", tone_names[a->tone],
             a->again ? " again" : "", a->copy ? " copy" : "", is_double ? " injected" : "");
    put_points(sink, g, back);
    if (!is_double)
        return;
    svg_put(sink, "<path class=\"inside\" d=\"");
    put_points(sink, g, back);
    if (a->tail != LADDER_NONE)
        put_diamond(sink, g->seg[0].a, tone_names[a->tone]);
}

static void put_arrow(const struct viz_sink *sink, const struct layout *o, uint32_t i)
{
    const struct ladder_arrow *a = &o->l->arrows[i];
    const struct layout_arrow *g = &o->arrows[i];
    const struct segment *last = &g->seg[g->n_seg - 1];
    const uint32_t shown = a->tail != LADDER_NONE ? a->tail : a->head;

    open_group(sink, &o->l->stops[shown], "e",
               a->head != LADDER_NONE ? &o->l->stops[a->head] : NULL);
    put_line(sink, o, i);
    if (a->fate == FATE_ARRIVED)
        put_head(sink, last, tone_names[a->tone]);
    else if (a->fate != FATE_UNKNOWN)
        put_cross(sink, last->b);
    if (a->cut)
        put_cut(sink, layout_cut(o, i), false, tone_names[a->tone]);
    put_texts_of_arrow(sink, o, i);
    svg_put(sink, "</g>\n");
}

/* Draws a mark: an octagon for posts and completions, a diamond for states, a square for failures
 * and calls.
 */
static void put_mark(const struct viz_sink *sink, const struct layout *o, uint32_t i)
{
    static const struct {
        int8_t x, y;
    } diamond[] = {{0, -5}, {5, 0}, {0, 5}, {-5, 0}},
      square[] = {{-4, -4}, {4, -4}, {4, 4}, {-4, 4}},
      octagon[] = {{-2, -4}, {2, -4}, {4, -2}, {4, 2}, {2, 4}, {-2, 4}, {-4, 2}, {-4, -2}};
    const struct ladder_stop *s = &o->l->stops[i];
    const bool is_state = s->tone == TONE_STATE;
    const bool is_square = s->tone == TONE_BAD || s->tone == TONE_CALL;
    const size_t n = is_state || is_square ? ARRAY_LEN(square) : ARRAY_LEN(octagon);

    svg_putf(sink, "<path class=\"mark tone-%s\" d=\"", tone_names[s->tone]);
    for (size_t k = 0; k < n; k++) {
        const int32_t dx = is_state ? diamond[k].x : is_square ? square[k].x : octagon[k].x;
        const int32_t dy = is_state ? diamond[k].y : is_square ? square[k].y : octagon[k].y;

        put_to(sink, k ? 'L' : 'M', (struct point){o->x[s->column] + PX(dx), o->y[i] + PX(dy)});
    }
    svg_put(sink, "Z\"/>");
}

/* Draws the mark and the note of a stop. */
static void put_stop(const struct viz_sink *sink, const struct layout *o, uint32_t i)
{
    const struct ladder_stop *s = &o->l->stops[i];
    bool open = false;

    if (layout_has_mark(s)) {
        open_group(sink, s, "e", NULL);
        open = true;
        put_mark(sink, o, i);
    }
    for (uint32_t k = 0; k < o->n_texts; k++) {
        const struct layout_text *t = &o->texts[k];

        if (t->kind != TEXT_NOTE || t->stop != i)
            continue;
        if (!open)
            open_group(sink, s, s->note[0] ? "n" : "label", NULL);
        open = true;
        put_text(sink, t);
    }
    if (open)
        svg_put(sink, "</g>\n");
}

static void put_style(const struct viz_sink *sink)
{
    svg_put(sink, "<style>");
    svg_putf(sink,
             ".ladder{font-family:\"DejaVu Sans\",sans-serif;font-size:%dpx}"
             ".ladder .title{font-size:%dpx;font-weight:bold}"
             ".ladder .name{font-size:%dpx;font-weight:bold}"
             ".ladder .addr,.ladder .time{font-size:%dpx}",
             LAYOUT_FONT_PX, LAYOUT_TITLE_FONT_PX, LAYOUT_NAME_FONT_PX, LAYOUT_TIME_FONT_PX);
    svg_put(sink, shapes);
    svg_put(sink, light);
    svg_put(sink, dark);
    svg_put(sink, "</style>\n");
}

static bool has_injected(const struct ladder *l)
{
    for (uint32_t i = 0; i < l->n_arrows; i++) {
        if (l->arrows[i].injected)
            return true;
    }
    return false;
}

static void put_picture(const struct viz_sink *sink, const struct layout *o)
{
    const struct ladder *l = o->l;

    svg_put(sink, LADDER_SVG_MARK);
    svg_putf(
        sink,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ladder\" width=\"%s\" height=\"%s\" "
        "viewBox=\"0 0 %s %s\">\n<title>",
        px(o->width).s, px(o->height).s, px(o->width).s, px(o->height).s);
    svg_put_escaped(sink, l->title[0] ? l->title : "ladder");
    svg_put(sink, "</title>\n");
    put_style(sink);
    if (has_injected(l))
        svg_put(sink, style_injected);
    svg_put(sink, "<rect class=\"page\" width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
    for (uint32_t i = 0; i < o->n_bands && l->n_columns; i++)
        put_band(sink, o, &o->bands[i]);
    for (uint32_t c = 0; c < l->n_columns; c++)
        put_lifeline(sink, o, c);
    for (uint32_t i = 0; i < l->n_timers; i++)
        put_bracket(sink, o, i);
    for (uint32_t i = 0; i < l->n_arrows; i++)
        put_arrow(sink, o, i);
    for (uint32_t i = 0; i < l->n_stops; i++)
        put_stop(sink, o, i);
    for (uint32_t i = 0; i < o->n_texts; i++) {
        if (o->texts[i].arrow != LADDER_NONE || o->texts[i].kind == TEXT_NOTE)
            continue;
        put_text(sink, &o->texts[i]);
        svg_put(sink, "\n");
    }
    svg_put(sink, "</svg>\n");
}

enum rdl_status ladder_svg(const struct ladder *l, const struct viz_sink *sink)
{
    struct layout o;
    const enum rdl_status st = layout_init(&o, l);

    if (st != RDL_OK)
        return st;
    put_picture(sink, &o);
    layout_done(&o);
    return RDL_OK;
}
