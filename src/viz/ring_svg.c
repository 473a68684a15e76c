/* SPDX-License-Identifier: MIT */
/* Draws a virtqueue.  There is one row per descriptor, shared by all columns.  Of a long ring only
 * some rows are drawn: descriptors that are not free, rows with a marker, rows that an entry refers
 * to, and one row on either side of these.  "..." stands for the others.
 */
#include "viz/ring.h"

#include <stdlib.h>

#include "emu/base/text.h"
#include "viz/metrics.h"
#include "viz/svg.h"

enum {
    ROW_PX = 26,
    TOP_PX = 104, /* of the first row */
    FONT = 13,
    TITLE_FONT = 17, /* wider than the 16 of the style, as it is bold */
    MARGIN_PX = 20,
    SIDE_MIN_PX = 70, /* for the markers of one side */
    SIDE_MAX_PX = 280,
    SIDE_GAP_PX = 10,  /* between them and the rings */
    RING_PX = 74,      /* width of an avail or used ring */
    GAP_PX = 64,       /* for the lines between a ring and the table */
    DESC_MIN_PX = 260, /* width of the table */
    DESC_MAX_PX = 640,
    CHAIN_PX = 26, /* beside the table, for the lines of chains */
    LETTER_PX = 24,
    FLAGS_PX = 130,
    LEGEND_PX = 58,
    ALL_ROWS_MAX = 24 /* a ring of up to this many entries is drawn completely */
};

static const char style[] =
    "<style>"
    ".ring{font-family:\"DejaVu Sans\",sans-serif;font-size:13px}"
    ".ring text{fill:" VIZ_INK "}.ring .title{font-size:16px;font-weight:bold}"
    ".ring .head{font-weight:bold}.ring .dim,.ring .number{fill:" VIZ_DIM "}"
    ".ring .letter{font-weight:bold;text-anchor:middle}.ring .number,.ring .right{text-anchor:end}"
    ".ring .mid{text-anchor:middle}"
    ".ring rect{stroke:" VIZ_DIM ";stroke-width:1}.ring rect.page{fill:" VIZ_PAGE ";stroke:none}"
    ".ring rect.free,.ring rect.cell{fill:" VIZ_PAGE "}.ring rect.posted{fill:#f6d68a}"
    ".ring rect.taken{fill:#9fd0ee}.ring rect.back{fill:#a5dcc6}"
    ".ring path{fill:none;stroke:" VIZ_DIM ";stroke-width:1.4}"
    ".ring path.chain{stroke:#7a4a78;stroke-width:2}.ring path.head{fill:#7a4a78;stroke:none}"
    ".ring path.tip{fill:" VIZ_DIM ";stroke:none}"
    ".ring .driver{fill:#8a4b00}.ring .device{fill:#005a8f}"
    "@media (prefers-color-scheme:dark){"
    ".ring text{fill:" VIZ_DARK_INK "}.ring .dim,.ring .number{fill:" VIZ_DARK_DIM "}"
    ".ring rect{stroke:" VIZ_DARK_DIM "}.ring rect.page{fill:" VIZ_DARK_PAGE ";stroke:none}"
    ".ring rect.free,.ring rect.cell{fill:#161b22}.ring rect.posted{fill:#6b4e00}"
    ".ring rect.taken{fill:#0b4a75}.ring rect.back{fill:#0b5a41}"
    ".ring path{stroke:" VIZ_DARK_DIM "}.ring path.chain{stroke:#d9a5d6}"
    ".ring path.head{fill:#d9a5d6;stroke:none}.ring path.tip{fill:" VIZ_DARK_DIM ";stroke:none}"
    ".ring .driver{fill:#f0b35a}.ring .device{fill:#79c0ff}"
    "}</style>\n";

static const struct {
    const char *letter, *class, *text;
} owners[OWNER_COUNT] = {
    [OWNER_FREE] = {"F", "free", "free: the driver's"},
    [OWNER_POSTED] = {"P", "posted", "posted: the device's, not taken yet"},
    [OWNER_TAKEN] = {"T", "taken", "taken: the device has it"},
    [OWNER_BACK] = {"B", "back", "back: the driver's, who has not looked"},
};

/* Positions of the columns and rows. */
struct ring_page {
    const struct ring_picture *p;
    const struct viz_sink *sink;
    int32_t avail_x, desc_x, used_x, width, height;
    int32_t desc_px; /* width of the table */
    int32_t *rows;   /* row of each descriptor; -1: not drawn */
    int32_t n_rows;  /* including those of "..." */
};

/* Returns true if descriptor or entry @i is worth a row by itself. */
static bool is_live(const struct ring_picture *p, uint32_t i)
{
    return p->size <= ALL_ROWS_MAX || p->slots[i].owner != OWNER_FREE ||
           (!p->packed && (p->avail[i].desc < p->size || p->used[i].desc < p->size));
}

/* Sets the row of each descriptor worth a row to 1, the others to 0. */
static void mark_live(struct ring_page *g)
{
    const struct ring_picture *p = g->p;

    for (uint32_t i = 0; i < p->size; i++)
        g->rows[i] = is_live(p, i) ? 1 : 0;
    for (uint32_t k = 0; k < p->n_markers; k++) {
        if (p->markers[k].at < p->size)
            g->rows[p->markers[k].at] = 1;
    }
    for (uint32_t i = 0; i < p->size && !p->packed; i++) { /* targets of lines */
        if (p->avail[i].desc < p->size)
            g->rows[p->avail[i].desc] = 1;
        if (p->used[i].desc < p->size)
            g->rows[p->used[i].desc] = 1;
    }
}

/* Assigns rows to the descriptors that are drawn, -1 to the others.  Each "..." takes a row. */
static void find_rows(struct ring_page *g)
{
    const struct ring_picture *p = g->p;

    mark_live(g);
    for (uint32_t i = 0, before = 0; i < p->size; i++) { /* one row on either side */
        const int32_t live = g->rows[i];

        if (!live && (before || (i + 1 < p->size && g->rows[i + 1] == 1)))
            g->rows[i] = 2;
        before = live == 1;
    }
    for (uint32_t i = 0; i < p->size; i++) {
        const bool drawn = g->rows[i] != 0, follows = i > 0 && g->rows[i - 1] < 0;

        g->rows[i] = drawn ? g->n_rows : -1;
        g->n_rows += drawn || !follows;
    }
}

static bool is_drawn(const struct ring_page *g, uint32_t i)
{
    return g->rows[i] >= 0;
}

static int32_t top_of(const struct ring_page *g, uint32_t i)
{
    return TOP_PX + g->rows[i] * ROW_PX;
}

static int32_t middle_of(const struct ring_page *g, uint32_t i)
{
    return top_of(g, i) + ROW_PX / 2;
}

static int32_t baseline(const struct ring_page *g, uint32_t i)
{
    return top_of(g, i) + ROW_PX - 8;
}

static void put_text(const struct ring_page *g, const char *class, int32_t x, int32_t y,
                     const char *s)
{
    svg_putf(g->sink, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, x, y);
    svg_put_escaped(g->sink, s);
    svg_put(g->sink, "</text>\n");
}

/* The same, cut to @width pixels. */
static void put_cut(const struct ring_page *g, const char *class, struct point at, int32_t width,
                    const char *s)
{
    char buf[256];
    struct text t = text_on(buf, sizeof(buf));

    text_add(&t, s);
    if (text_width(buf, FONT) > PX(width)) {
        while (t.len > 0 && text_width(buf, FONT) + text_width("...", FONT) > PX(width))
            buf[--t.len] = '\0';
        text_add(&t, "...");
    }
    put_text(g, class, at.x, at.y, buf);
}

static void put_rect(const struct ring_page *g, const char *class, struct point at, int32_t width,
                     int32_t height)
{
    svg_putf(g->sink, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", class,
             at.x, at.y, width, height);
}

static void draw_slot(const struct ring_page *g, uint32_t i)
{
    const struct ring_slot *s = &g->p->slots[i];
    const int32_t y = top_of(g, i), base = baseline(g, i);
    int32_t x = g->desc_x;
    char number[16];
    struct text t = text_on(number, sizeof(number));

    text_addf(&t, "%u", i);
    svg_putf(g->sink, "<g id=\"desc%u\" class=\"desc\"><title>", i);
    svg_put_escaped(g->sink, owners[s->owner].text);
    svg_put(g->sink, "</title>\n");
    put_rect(g, owners[s->owner].class, (struct point){x, y}, g->desc_px, ROW_PX);
    put_text(g, "letter", x + LETTER_PX / 2, base, owners[s->owner].letter);
    put_text(g, "number", x + LETTER_PX + 34, base, number);
    x += LETTER_PX + 44;
    if (s->flags) {
        put_cut(g, "flags", (struct point){x, base}, FLAGS_PX - 8, s->flags);
        x += FLAGS_PX;
    }
    if (s->text)
        put_cut(g, "what", (struct point){x, base}, g->desc_x + g->desc_px - x - 8, s->text);
    svg_put(g->sink, "</g>\n");
}

static void draw_slots(const struct ring_page *g)
{
    int32_t row = 0;

    for (uint32_t i = 0; i < g->p->size; i++) {
        if (is_drawn(g, i)) {
            draw_slot(g, i);
            row = g->rows[i] + 1;
        } else if (i == 0 || is_drawn(g, i - 1)) {
            put_text(g, "dim", g->desc_x + LETTER_PX, TOP_PX + row * ROW_PX + ROW_PX - 8, "...");
        }
    }
}

/* Draws a curve with a tip from @from to @to, level at both ends. */
static void put_line(const struct ring_page *g, struct point from, struct point to)
{
    const int32_t half = (from.x + to.x) / 2, back = to.x > from.x ? -7 : 7;

    svg_putf(g->sink, "<path d=\"M%d %dC%d %d %d %d %d %d\"/>", from.x, from.y, half, from.y, half,
             to.y, to.x, to.y);
    svg_putf(g->sink, "<path class=\"tip\" d=\"M%d %dl%d -4v8z\"/>\n", to.x, to.y, back);
}

/* Draws the avail or the used ring of the split format. */
static void draw_entries(const struct ring_page *g, bool is_used)
{
    const struct ring_entry *v = is_used ? g->p->used : g->p->avail;
    const int32_t x = is_used ? g->used_x : g->avail_x;

    for (uint32_t i = 0; i < g->p->size; i++) {
        const int32_t y = middle_of(g, i);
        char buf[24];
        struct text t = text_on(buf, sizeof(buf));

        if (!is_drawn(g, i))
            continue;
        text_addf(&t, "%u", i);
        put_rect(g, "cell", (struct point){x, top_of(g, i)}, RING_PX, ROW_PX);
        put_text(g, "number", x + 24, baseline(g, i), buf);
        if (v[i].desc >= g->p->size)
            continue;
        t = text_on(buf, sizeof(buf));
        text_addf(&t, "%u", v[i].desc);
        put_text(g, "mid", x + 52, baseline(g, i), buf);
        if (is_used)
            put_line(g, (struct point){x, y},
                     (struct point){g->desc_x + g->desc_px, middle_of(g, v[i].desc)});
        else
            put_line(g, (struct point){x + RING_PX, y},
                     (struct point){g->desc_x, middle_of(g, v[i].desc)});
    }
}

/* Draws the chains beside the table. */
static void draw_chains(const struct ring_page *g)
{
    const int32_t x = g->desc_x + g->desc_px;

    for (uint32_t i = 0; i < g->p->size; i++) {
        const uint32_t next = g->p->slots[i].next;
        int32_t y, to;

        if (next >= g->p->size || !is_drawn(g, next))
            continue;
        y = middle_of(g, i) + 4;
        to = middle_of(g, next) - 4;
        svg_putf(g->sink,
                 "<path class=\"chain\" d=\"M%d %dC%d %d %d %d %d %d\"/>"
                 "<path class=\"head\" d=\"M%d %dl8 -4v8z\"/>\n",
                 x, y, x + CHAIN_PX, y, x + CHAIN_PX, to, x + 6, to, x, to);
    }
}

/* Returns true if the marker is on the right-hand side. */
static bool is_right(const struct ring_marker *m)
{
    return m->column == COLUMN_USED || (m->column == COLUMN_DESC && m->of_device);
}

/* Adds the markers at @i on one side, separated by commas. */
static void add_markers_at(struct text *t, const struct ring_picture *p, uint32_t i, bool right)
{
    for (uint32_t k = 0; k < p->n_markers; k++) {
        if (p->markers[k].at == i && is_right(&p->markers[k]) == right)
            text_addf(t, "%s%s", t->len ? ", " : "", p->markers[k].text);
    }
}

static void draw_markers_at(const struct ring_page *g, uint32_t i, bool right)
{
    const struct ring_picture *p = g->p;
    const int32_t left_x = (p->packed ? g->desc_x : g->avail_x) - SIDE_GAP_PX;
    const int32_t right_x =
        (p->packed ? g->desc_x + g->desc_px + CHAIN_PX : g->used_x + RING_PX) + SIDE_GAP_PX;
    char buf[96];
    struct text t = text_on(buf, sizeof(buf));

    add_markers_at(&t, p, i, right);
    if (t.len && right)
        put_text(g, p->packed ? "device" : "dim", right_x, baseline(g, i), buf);
    else if (t.len)
        put_text(g, p->packed ? "right driver" : "right dim", left_x, baseline(g, i), buf);
}

static void draw_markers(const struct ring_page *g)
{
    for (uint32_t i = 0; i < g->p->size; i++) {
        if (!is_drawn(g, i))
            continue;
        draw_markers_at(g, i, false);
        draw_markers_at(g, i, true);
    }
}

static void draw_heads(const struct ring_page *g)
{
    const int32_t y = TOP_PX - 12;

    put_text(g, "title", MARGIN_PX, 32, g->p->title);
    if (g->p->subtitle)
        put_text(g, "dim", MARGIN_PX, 54, g->p->subtitle);
    put_text(g, "head", g->desc_x, y,
             g->p->head     ? g->p->head
             : g->p->packed ? "descriptor ring"
                            : "descriptor table");
    if (g->p->packed) {
        put_text(g, "head right driver", g->desc_x - 10, y, "driver");
        put_text(g, "head device", g->desc_x + g->desc_px + CHAIN_PX + 10, y, "device");
        return;
    }
    put_text(g, "head", g->avail_x, y, "avail");
    put_text(g, "head", g->used_x, y, "used");
}

/* Returns the width of an entry of the legend. */
static int32_t legend_px(unsigned owner)
{
    return LETTER_PX + 28 + text_width(owners[owner].text, FONT) / 10;
}

static void draw_legend(const struct ring_page *g)
{
    int32_t x = MARGIN_PX;
    const int32_t y = g->height - LEGEND_PX + 16;

    for (unsigned i = 0; i < OWNER_COUNT; i++) {
        put_rect(g, owners[i].class, (struct point){x, y}, LETTER_PX, 20);
        put_text(g, "letter", x + LETTER_PX / 2, y + 15, owners[i].letter);
        put_text(g, "dim", x + LETTER_PX + 6, y + 15, owners[i].text);
        x += legend_px(i);
    }
}

/* Returns the width that the markers of one side need. */
static int32_t side_px(const struct ring_picture *p, bool right)
{
    int32_t px = SIDE_MIN_PX;

    for (uint32_t i = 0; i < p->size; i++) {
        char buf[96];
        struct text t = text_on(buf, sizeof(buf));

        add_markers_at(&t, p, i, right);
        px = i32_max(px, text_width(buf, FONT) / 10 + 2 * SIDE_GAP_PX);
    }
    return i32_min(px, SIDE_MAX_PX);
}

/* Returns the width that the table needs. */
static int32_t table_px(const struct ring_picture *p)
{
    int32_t px = DESC_MIN_PX;

    for (uint32_t i = 0; i < p->size; i++) {
        const struct ring_slot *s = &p->slots[i];
        const int32_t before = LETTER_PX + 44 + (s->flags ? FLAGS_PX : 0);

        if (s->text)
            px = i32_max(px, before + text_width(s->text, FONT) / 10 + 16);
    }
    return i32_min(px, DESC_MAX_PX);
}

/* Returns the width that title and legend need between the margins. */
static int32_t lines_px(const struct ring_picture *p)
{
    int32_t px = 0;

    for (unsigned i = 0; i < OWNER_COUNT; i++)
        px += legend_px(i);
    px = i32_max(px, text_width(p->title, TITLE_FONT) / 10);
    return p->subtitle ? i32_max(px, text_width(p->subtitle, FONT) / 10) : px;
}

static struct ring_page lay_out(const struct ring_picture *p, const struct viz_sink *sink)
{
    struct ring_page g = {.p = p, .sink = sink, .desc_px = table_px(p)};
    int32_t right;

    g.avail_x = MARGIN_PX + side_px(p, false);
    g.desc_x = p->packed ? g.avail_x : g.avail_x + RING_PX + GAP_PX;
    g.used_x = g.desc_x + g.desc_px + CHAIN_PX + GAP_PX;
    right = p->packed ? g.desc_x + g.desc_px + CHAIN_PX : g.used_x + RING_PX;
    g.width = i32_max(right + side_px(p, true), MARGIN_PX + lines_px(p)) + MARGIN_PX;
    return g;
}

enum rdl_status ring_draw(const struct ring_picture *p, const struct viz_sink *sink)
{
    struct ring_page g = lay_out(p, sink);

    g.rows = malloc((p->size + 1) * sizeof(*g.rows));
    if (!g.rows)
        return RDL_ERR_NOMEM;
    find_rows(&g);
    g.height = TOP_PX + g.n_rows * ROW_PX + LEGEND_PX;
    svg_put(sink, VQ_SVG_MARK);
    svg_putf(sink,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ring\" width=\"%d\" height=\"%d\" "
             "viewBox=\"0 0 %d %d\">\n",
             g.width, g.height, g.width, g.height);
    svg_put(sink, style);
    put_rect(&g, "page", (struct point){0, 0}, g.width, g.height);
    draw_heads(&g);
    if (!p->packed) {
        draw_entries(&g, false);
        draw_entries(&g, true);
    }
    draw_slots(&g);
    draw_chains(&g);
    draw_markers(&g);
    draw_legend(&g);
    svg_put(sink, "</svg>\n");
    free(g.rows);
    return RDL_OK;
}
