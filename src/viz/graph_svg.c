/* SPDX-License-Identifier: MIT */
/* A plain layout for graphs.  Each cluster is a column, and its boxes are below each other in the
 * order in which they were added.  A box with a parent is indented below it.  An arrow within a
 * column leads straight down or up if nothing is in between; otherwise it takes a lane to the right
 * of the column.  Arrows between columns are curves.  Boxes without a cluster are a row above the
 * columns, or the last column if there is an order of all boxes, or no cluster.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/base/text.h"
#include "viz/graph.h"
#include "viz/metrics.h"
#include "viz/svg.h"

enum {
    FONT = 12,
    LINE_PX = 16,
    PAD_X = 9,
    PAD_Y = 5,
    GAP_PX = 14,       /* between two boxes */
    GAP_LABEL_PX = 34, /* the same, where arrows lead down */
    INDENT_PX = 24,
    MARGIN_PX = 20,
    TITLE_PX = 36,
    FRAME_PX = 12, /* from a column's boxes to its frame */
    HEAD_PX = 26,  /* the name of a cluster in its frame */
    LANE_PX = 18,
    LANE_LABEL_PX = 10,
    BETWEEN_PX = 60,   /* between two frames, without lanes */
    ROW_PX = 90,       /* from the row above the columns to their frames */
    BELOW_ROW_PX = 40, /* least distance from a box of that row */
    ARCH_PX = 40,      /* height of the arrows between the tops of distant columns */
    CORNER_PX = 6,
    PORT_PX = 5, /* arrows leave a box above the middle, and reach it below */
    LOOP_PX = 8, /* below the middle, where an arrow back to its own box leaves */
    LINE_BYTES = 256
};

struct box {
    int32_t x, y, w, h;
    uint32_t column, depth;
    uint32_t above; /* the box above it in its column, or GRAPH_NONE */
};

/* An arrow in a lane. */
struct lane_user {
    uint32_t lane; /* GRAPH_NONE: the edge takes no lane */
    int32_t top, bottom;
    int32_t x;          /* of the lane, to the right of the boxes of its column */
    struct point label; /* where the label of the arrow begins, also without a lane */
};

struct column {
    int32_t x, w; /* of its boxes */
    int32_t lanes_w;
    int32_t y;     /* below the last box */
    uint32_t last; /* the last box, or GRAPH_NONE */
};

struct graph_page {
    const struct graph *g;
    const struct viz_sink *sink;
    struct box *boxes;
    struct lane_user *lanes; /* one per edge */
    struct column *columns;
    uint32_t n_columns;
    bool has_row;   /* boxes without a cluster are a row above the columns */
    int32_t row_px; /* from the top of that row to the frames of the columns */
    int32_t top, width, height;
};

/* Copies line number @i, from 0, of @s.  Returns false if it has fewer lines. */
static bool line_of(const char *s, uint32_t i, char ret[LINE_BYTES])
{
    struct text t = text_on(ret, LINE_BYTES);

    for (; i > 0; i--) {
        s = strchr(s, '\n');
        if (!s)
            return false;
        s++;
    }
    text_addn(&t, s, strcspn(s, "\n"));
    return true;
}

static int32_t width_of(const char *s)
{
    return (text_width(s, FONT) + 9) / 10;
}

/* The height of a box with the text @label. */
static int32_t height_of(const char *label)
{
    int32_t lines = 1;

    for (const char *s = strchr(label, '\n'); s; s = strchr(s + 1, '\n'))
        lines++;
    return lines * LINE_PX + 2 * PAD_Y;
}

static void measure(struct graph_page *p, uint32_t i)
{
    const struct graph_node *n = &p->g->nodes[i];
    struct box *b = &p->boxes[i];
    char line[LINE_BYTES];

    for (uint32_t k = 0; line_of(n->label, k, line); k++)
        b->w = i32_max(b->w, width_of(line) * (k ? 10 : 12) / 10); /* a name is bold */
    b->w += 2 * PAD_X;
    b->h = height_of(n->label);
    b->column = n->cluster == GRAPH_NONE ? p->g->n_clusters : n->cluster;
    if (n->parent < i && p->boxes[n->parent].column == b->column)
        b->depth = p->boxes[n->parent].depth + 1;
}

/* Returns true if the box is in the row above the columns. */
static bool is_in_row(const struct graph_page *p, const struct box *b)
{
    return p->has_row && b->column == p->g->n_clusters;
}

static void place_boxes(struct graph_page *p)
{
    const int32_t gap = p->g->downwards ? GAP_LABEL_PX : GAP_PX;
    int32_t below = p->top;

    for (uint32_t i = 0; i < p->g->n_nodes; i++) {
        struct box *b = &p->boxes[i];
        struct column *c;

        measure(p, i);
        if (is_in_row(p, b))
            continue;
        c = &p->columns[b->column];
        b->above = c->last;
        b->y = p->g->in_order ? below : c->y;
        if (p->g->nodes[i].beside < i)
            b->y = i32_max(b->y, p->boxes[p->g->nodes[i].beside].y);
        c->last = i;
        c->w = i32_max(c->w, (int32_t)b->depth * INDENT_PX + b->w);
        if (b->column < p->g->n_clusters)
            c->w = i32_max(c->w, width_of(p->g->clusters[b->column].label) * 12 / 10);
        c->y = below = b->y + b->h + gap;
        p->height = i32_max(p->height, b->y + b->h);
    }
}

/* --- Lanes ------------------------------------------------------------------------------------ */

static int32_t middle(const struct box *b)
{
    return b->y + b->h / 2;
}

/* Returns true if the arrow leads straight up or down. */
static bool is_straight(const struct graph_page *p, const struct graph_edge *e)
{
    return p->g->downwards &&
           (p->boxes[e->from].above == e->to || p->boxes[e->to].above == e->from);
}

/* Returns true if the arrow is drawn as an indentation. */
static bool is_home(const struct graph_page *p, const struct graph_edge *e)
{
    const struct graph_node *v = p->g->nodes;

    return e->to_home && (v[e->from].parent == e->to || v[e->to].parent == e->from);
}

/* Returns true if the arrow leads over the tops of columns: between the first boxes of two that are
 * not next to each other, or to a box in the row above.
 */
static bool is_over(const struct graph_page *p, const struct graph_edge *e)
{
    const struct box *a = &p->boxes[e->from], *b = &p->boxes[e->to];

    if (is_in_row(p, a) || is_in_row(p, b))
        return true;
    return !p->g->in_order && a->above == GRAPH_NONE && b->above == GRAPH_NONE &&
           (a->column > b->column + 1 || b->column > a->column + 1);
}

static bool needs_lane(const struct graph_page *p, const struct graph_edge *e)
{
    return p->boxes[e->from].column == p->boxes[e->to].column && !is_home(p, e) &&
           !is_straight(p, e) && !is_over(p, e);
}

/* The heights at which an arrow in a lane leaves its box and reaches the other one.  An arrow back
 * to its own box does both below all others.
 */
static int32_t leaves_at(const struct graph_page *p, const struct graph_edge *e)
{
    return middle(&p->boxes[e->from]) + (e->from == e->to ? LOOP_PX : -PORT_PX);
}

static int32_t reaches_at(const struct graph_page *p, const struct graph_edge *e)
{
    return middle(&p->boxes[e->to]) + (e->from == e->to ? LOOP_PX + 2 * PORT_PX : PORT_PX);
}

static bool is_lane_free(const struct graph_page *p, uint32_t edge, uint32_t lane)
{
    const struct lane_user *me = &p->lanes[edge];
    const uint32_t column = p->boxes[p->g->edges[edge].from].column;

    for (uint32_t i = 0; i < p->g->n_edges; i++) {
        const struct lane_user *u = &p->lanes[i];

        if (u->lane == lane && p->boxes[p->g->edges[i].from].column == column &&
            u->top <= me->bottom + LINE_PX && me->top <= u->bottom + LINE_PX)
            return false;
    }
    return true;
}

/* Returns the shortest arrow of @column that needs a lane and has none, or GRAPH_NONE. */
static uint32_t next_for_lane(const struct graph_page *p, uint32_t column)
{
    uint32_t best = GRAPH_NONE;

    for (uint32_t i = 0; i < p->g->n_edges; i++) {
        const struct graph_edge *e = &p->g->edges[i];
        const struct lane_user *u = &p->lanes[i];

        if (u->lane != GRAPH_NONE || p->boxes[e->from].column != column || !needs_lane(p, e))
            continue;
        if (best == GRAPH_NONE || u->bottom - u->top < p->lanes[best].bottom - p->lanes[best].top)
            best = i;
    }
    return best;
}

/* Gives each arrow of @column that needs one a lane, the short ones next to the boxes. */
static void choose_lanes(struct graph_page *p, uint32_t column)
{
    uint32_t edge;

    while ((edge = next_for_lane(p, column)) != GRAPH_NONE) {
        uint32_t lane = 0;

        while (!is_lane_free(p, edge, lane))
            lane++;
        p->lanes[edge].lane = lane;
    }
}

/* Finds the places of the lanes of @column.  A lane is as wide as its widest label. */
static void place_lanes(struct graph_page *p, uint32_t column)
{
    struct column *c = &p->columns[column];

    for (uint32_t lane = 0;; lane++) {
        int32_t label = -1;

        for (uint32_t i = 0; i < p->g->n_edges; i++) {
            if (p->lanes[i].lane != lane || p->boxes[p->g->edges[i].from].column != column)
                continue;
            label = i32_max(label, width_of(p->g->edges[i].label));
            p->lanes[i].x = c->lanes_w + LANE_PX;
        }
        if (label < 0)
            return;
        c->lanes_w += LANE_PX + (label ? label + LANE_LABEL_PX : 0);
    }
}

static void find_lanes(struct graph_page *p)
{
    for (uint32_t i = 0; i < p->g->n_edges; i++) {
        const struct graph_edge *e = &p->g->edges[i];
        const int32_t from = leaves_at(p, e), to = reaches_at(p, e);

        p->lanes[i] = (struct lane_user){
            .lane = GRAPH_NONE, .top = i32_min(from, to), .bottom = i32_max(from, to)};
    }
    for (uint32_t c = 0; c < p->n_columns; c++)
        choose_lanes(p, c);
}

/* --- Drawing ---------------------------------------------------------------------------------- */

static void put_text(const struct graph_page *p, const char *class, int32_t x, int32_t y,
                     const char *s)
{
    svg_putf(p->sink, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, x, y);
    svg_put_escaped(p->sink, s);
    svg_put(p->sink, "</text>\n");
}

/* Writes the label of an arrow over a line in the colour of the page, so that no arrow strikes it
 * through.
 */
static void put_label(const struct graph_page *p, uint32_t i)
{
    const char *s = p->g->edges[i].label;

    if (!s[0])
        return;
    put_text(p, "halo", p->lanes[i].label.x, p->lanes[i].label.y, s);
    put_text(p, "label", p->lanes[i].label.x, p->lanes[i].label.y, s);
}

/* Draws the head of an arrow at (@x, @y) that points to (@dx, @dy): one of the four directions. */
static void put_tip(const struct graph_page *p, const struct graph_edge *e, struct point at,
                    int32_t dx, int32_t dy)
{
    if (e->mutual)
        return;
    svg_putf(p->sink,
             "<path class=\"tip\" style=\"stroke-dasharray:none\" d=\"M%d %dl%d %dl%d %dz\"/>\n",
             at.x, at.y, dx ? -8 * dx : -4, dx ? -4 : -8 * dy, dx ? 0 : 8, dx ? 8 : 0);
}

static void draw_home(const struct graph_page *p, const struct graph_edge *e)
{
    const bool below = p->g->nodes[e->from].parent == e->to;
    const struct box *parent = &p->boxes[below ? e->to : e->from];
    const struct box *child = &p->boxes[below ? e->from : e->to];
    const int32_t x = parent->x + INDENT_PX / 2;

    svg_putf(p->sink, "<path d=\"M%d %dH%dV%d\"/>\n", child->x, middle(child), x,
             parent->y + parent->h);
}

static void draw_straight(const struct graph_page *p, uint32_t i)
{
    const struct graph_edge *e = &p->g->edges[i];
    const struct box *from = &p->boxes[e->from], *to = &p->boxes[e->to];
    const bool down = to->y > from->y;
    const int32_t x = i32_max(from->x, to->x) + 20 + (down ? 0 : 2 * PORT_PX);
    const int32_t y = down ? from->y + from->h : from->y, end = down ? to->y : to->y + to->h;

    svg_putf(p->sink, "<path d=\"M%d %dV%d\"/>", x, y, end);
    put_tip(p, e, (struct point){x, end}, 0, down ? 1 : -1);
    p->lanes[i].label = (struct point){x + 8, (y + end) / 2 + 4};
}

/* Returns true if an arrow in a lane farther out passes over a label of arrow @i at height @y. */
static bool is_passed(const struct graph_page *p, uint32_t i, int32_t y)
{
    const uint32_t column = p->boxes[p->g->edges[i].from].column;

    for (uint32_t k = 0; k < p->g->n_edges; k++) {
        const struct lane_user *u = &p->lanes[k];

        if (u->lane != GRAPH_NONE && u->lane > p->lanes[i].lane &&
            p->boxes[p->g->edges[k].from].column == column &&
            (abs(u->top - y) < LINE_PX / 2 + 2 || abs(u->bottom - y) < LINE_PX / 2 + 2))
            return true;
    }
    return false;
}

/* Returns the height of the label of arrow @i, which is in a lane: in the middle, or above it. */
static int32_t label_height(const struct graph_page *p, uint32_t i)
{
    const struct lane_user *u = &p->lanes[i];
    int32_t y = (u->top + u->bottom) / 2;

    while (is_passed(p, i, y) && y - LINE_PX > u->top)
        y -= LINE_PX / 2;
    return y;
}

static void draw_in_lane(const struct graph_page *p, uint32_t i)
{
    const struct graph_edge *e = &p->g->edges[i];
    const struct box *from = &p->boxes[e->from], *to = &p->boxes[e->to];
    const struct column *c = &p->columns[from->column];
    const int32_t x = c->x + c->w + p->lanes[i].x;
    const int32_t y = leaves_at(p, e), end = reaches_at(p, e);
    const int32_t r = i32_min(CORNER_PX, abs(end - y) / 2), turn = end > y ? r : -r;

    svg_putf(p->sink, "<path d=\"M%d %dH%dQ%d %d %d %dV%dQ%d %d %d %dH%d\"/>", from->x + from->w, y,
             x - r, x, y, x, y + turn, end - turn, x, end, x - r, end, to->x + to->w);
    put_tip(p, e, (struct point){to->x + to->w, end}, -1, 0);
    p->lanes[i].label = (struct point){x + 5, label_height(p, i) + 4};
}

static void draw_across(const struct graph_page *p, uint32_t i)
{
    const struct graph_edge *e = &p->g->edges[i];
    const struct box *from = &p->boxes[e->from], *to = &p->boxes[e->to];
    const bool right = to->column > from->column;
    const struct point a = {right ? from->x + from->w : from->x, middle(from)};
    const struct point b = {right ? to->x : to->x + to->w, middle(to)};
    const int32_t half = (a.x + b.x) / 2;

    svg_putf(p->sink, "<path d=\"M%d %dC%d %d %d %d %d %d\"/>", a.x, a.y, half, a.y, half, b.y, b.x,
             b.y);
    put_tip(p, e, b, right ? 1 : -1, 0);
    p->lanes[i].label = (struct point){half - width_of(e->label) / 2, (a.y + b.y) / 2 - 5};
}

static void draw_over(const struct graph_page *p, uint32_t i)
{
    const struct graph_edge *e = &p->g->edges[i];
    const struct box *from = &p->boxes[e->from], *to = &p->boxes[e->to];
    const bool row = is_in_row(p, from), end_row = is_in_row(p, to);
    const struct point a = {from->x + from->w / 2, row ? from->y + from->h : from->y};
    const struct point b = {to->x + to->w / 2, end_row ? to->y + to->h : to->y};
    const int32_t bow = row == end_row ? ARCH_PX + HEAD_PX : i32_max(abs(a.y - b.y) / 2, 1);
    const int32_t cy = row ? a.y + bow : a.y - bow, cend = end_row ? b.y + bow : b.y - bow;

    svg_putf(p->sink, "<path d=\"M%d %dC%d %d %d %d %d %d\"/>", a.x, a.y, a.x, cy, b.x, cend, b.x,
             b.y);
    put_tip(p, e, b, 0, end_row ? -1 : 1);
    p->lanes[i].label = (struct point){(a.x + b.x) / 2 - width_of(e->label) / 2,
                                       (a.y + b.y + 3 * (cy + cend)) / 8 - 5};
}

static void draw_edge(const struct graph_page *p, uint32_t i)
{
    const struct graph_edge *e = &p->g->edges[i];

    svg_putf(p->sink, "<g class=\"edge %s\">\n", graph_line_class(e->line));
    if (is_home(p, e))
        draw_home(p, e);
    else if (is_over(p, e))
        draw_over(p, i);
    else if (p->lanes[i].lane != GRAPH_NONE)
        draw_in_lane(p, i);
    else if (p->boxes[e->from].column == p->boxes[e->to].column)
        draw_straight(p, i);
    else
        draw_across(p, i);
    svg_put(p->sink, "</g>\n");
}

static void draw_node(const struct graph_page *p, uint32_t i)
{
    const struct graph_node *n = &p->g->nodes[i];
    const struct box *b = &p->boxes[i];
    char line[LINE_BYTES];

    svg_putf(p->sink, "<g class=\"node %s\"><title>", graph_tone_class(n->tone));
    svg_put_escaped(p->sink, n->id);
    svg_putf(p->sink, "</title>\n<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/>\n",
             b->x, b->y, b->w, b->h);
    for (uint32_t k = 0; line_of(n->label, k, line); k++)
        put_text(p, k ? "about" : "name", b->x + PAD_X,
                 b->y + PAD_Y + (int32_t)k * LINE_PX + LINE_PX - 4, line);
    svg_put(p->sink, "</g>\n");
}

static void draw_frame(const struct graph_page *p, uint32_t i)
{
    const struct column *c = &p->columns[i];
    const int32_t y = p->top - HEAD_PX;

    if (i == p->g->n_clusters || c->last == GRAPH_NONE)
        return; /* boxes without a cluster have no frame */
    svg_putf(p->sink,
             "<g class=\"cluster\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n",
             c->x - FRAME_PX, y - FRAME_PX / 2, c->w + c->lanes_w + 2 * FRAME_PX,
             p->height - y + FRAME_PX + FRAME_PX / 2);
    put_text(p, "name", c->x, y + 14, p->g->clusters[i].label);
    svg_put(p->sink, "</g>\n");
}

/* Places the boxes of the row above the columns, in the middle. */
static void place_row(struct graph_page *p)
{
    int32_t x = 0, shift;

    for (uint32_t i = 0; i < p->g->n_nodes; i++) {
        struct box *b = &p->boxes[i];

        if (!is_in_row(p, b))
            continue;
        b->x = x;
        b->y = p->top - HEAD_PX - p->row_px;
        x += b->w + BETWEEN_PX;
    }
    p->width = i32_max(p->width, x - BETWEEN_PX + 2 * MARGIN_PX);
    shift = (p->width - x + BETWEEN_PX) / 2;
    for (uint32_t i = 0; i < p->g->n_nodes; i++) {
        if (is_in_row(p, &p->boxes[i]))
            p->boxes[i].x += shift;
    }
}

/* Returns the end of box @b, counted from the beginning of its column. */
static int32_t end_in_column(const struct box *b)
{
    return (int32_t)b->depth * INDENT_PX + b->w;
}

/* Returns the distance of the frames of columns @a and @b, with no other column in between, at
 * which there is room for the labels of the arrows between them.
 */
static int32_t distance(const struct graph_page *p, uint32_t a, uint32_t b)
{
    const struct column *c = &p->columns[a];
    int32_t px = BETWEEN_PX;

    for (uint32_t i = 0; i < p->g->n_edges; i++) {
        const struct graph_edge *e = &p->g->edges[i];
        const struct box *left = &p->boxes[e->from], *right = &p->boxes[e->to];
        int32_t room;

        if (left->column > right->column) {
            left = &p->boxes[e->to];
            right = &p->boxes[e->from];
        }
        if (left->column != a || right->column != b || is_over(p, e))
            continue;
        room = c->w + c->lanes_w - end_in_column(left) + 2 * FRAME_PX +
               (int32_t)right->depth * INDENT_PX;
        px = i32_max(px, width_of(e->label) + LANE_LABEL_PX - room);
    }
    return px;
}

static void place_columns(struct graph_page *p)
{
    int32_t x = MARGIN_PX + FRAME_PX;
    uint32_t before = GRAPH_NONE;

    for (uint32_t i = 0; i < p->n_columns; i++) {
        struct column *c = &p->columns[i];

        if (c->last == GRAPH_NONE)
            continue;
        if (before != GRAPH_NONE && !(p->has_row && i == p->g->n_clusters))
            x += distance(p, before, i);
        before = i;
        place_lanes(p, i);
        c->x = x;
        p->width = x + c->w + c->lanes_w + FRAME_PX + MARGIN_PX;
        x += c->w + c->lanes_w + 2 * FRAME_PX;
    }
    p->width = i32_max(p->width, width_of(p->g->title) * 3 / 2 + 2 * MARGIN_PX);
    place_row(p);
    for (uint32_t i = 0; i < p->g->n_nodes; i++) {
        struct box *b = &p->boxes[i];

        if (!is_in_row(p, b))
            b->x = p->columns[b->column].x + (int32_t)b->depth * INDENT_PX;
    }
}

static void draw(struct graph_page *p)
{
    const int32_t height = p->height + FRAME_PX + MARGIN_PX;

    svg_putf(p->sink, SVG_MARK_FORMAT, p->g->form);
    svg_putf(p->sink,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"graph\" width=\"%d\" height=\"%d\" "
             "viewBox=\"0 0 %d %d\">\n",
             p->width, height, p->width, height);
    graph_put_style(p->sink);
    svg_putf(p->sink, "<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", p->width, height);
    put_text(p, "title", MARGIN_PX, MARGIN_PX + 12, p->g->title);
    for (uint32_t i = 0; i < p->n_columns; i++)
        draw_frame(p, i);
    for (uint32_t i = 0; i < p->g->n_edges; i++)
        draw_edge(p, i);
    svg_put(p->sink, "<g class=\"edge\">\n");
    for (uint32_t i = 0; i < p->g->n_edges; i++)
        put_label(p, i);
    svg_put(p->sink, "</g>\n");
    for (uint32_t i = 0; i < p->g->n_nodes; i++)
        draw_node(p, i);
    svg_put(p->sink, "</svg>\n");
}

/* Finds where the columns begin. */
static void find_top(struct graph_page *p)
{
    const struct graph *g = p->g;
    bool has_arch = false;

    p->row_px = ROW_PX;
    for (uint32_t i = 0; i < g->n_nodes && g->n_clusters > 0 && !g->in_order; i++) {
        if (g->nodes[i].cluster != GRAPH_NONE)
            continue;
        p->has_row = true;
        p->row_px = i32_max(p->row_px, height_of(g->nodes[i].label) + BELOW_ROW_PX);
    }
    for (uint32_t i = 0; i < g->n_edges; i++) {
        const uint32_t a = g->nodes[g->edges[i].from].cluster, b = g->nodes[g->edges[i].to].cluster;

        has_arch = has_arch || a > b + 1 || b > a + 1;
    }
    p->top = MARGIN_PX + (g->title[0] ? TITLE_PX : 0) + HEAD_PX + (p->has_row ? 40 + p->row_px : 0);
    if (has_arch && !p->has_row && !g->in_order && g->n_clusters > 0)
        p->top += ARCH_PX;
    p->height = p->top;
}

enum rdl_status graph_svg(const struct graph *g, const struct viz_sink *sink)
{
    struct graph_page p = {.g = g, .sink = sink, .n_columns = g->n_clusters + 1};
    bool ok;

    if (g->failed)
        return RDL_ERR_NOMEM;
    p.boxes = calloc(g->n_nodes + 1u, sizeof(*p.boxes));
    p.lanes = calloc(g->n_edges + 1u, sizeof(*p.lanes));
    p.columns = calloc(p.n_columns, sizeof(*p.columns));
    ok = p.boxes && p.lanes && p.columns;
    if (ok) {
        find_top(&p);
        for (uint32_t i = 0; i < p.n_columns; i++)
            p.columns[i] = (struct column){.y = p.top, .last = GRAPH_NONE};
        place_boxes(&p);
        find_lanes(&p);
        place_columns(&p);
        draw(&p);
    }
    free(p.boxes);
    free(p.lanes);
    free(p.columns);
    return ok ? RDL_OK : RDL_ERR_NOMEM;
}
