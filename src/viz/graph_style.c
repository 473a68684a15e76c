/* SPDX-License-Identifier: MIT */
/* The colours of graphs.  SVG of Graphviz has the same elements and classes as ours: a group of the
 * class "node", "edge" or "cluster" with shapes and texts.  A style has precedence over the colours
 * that Graphviz writes at each element.
 */
#include "viz/graph.h"
#include "viz/svg.h"

/* Names of tones with the colour of their boxes in the light and the dark theme. */
#define TONES(TONE)                                                                                \
    TONE(PLAIN, "plain", "#f6f8fa", "#161b22")                                                     \
    TONE(HOST, "host", "#e3e7ec", "#2a313a")                                                       \
    TONE(MEMORY, "memory", "#f6e3b4", "#5a4405")                                                   \
    TONE(QUEUE, "queue", "#cfe7f7", "#0b4063")                                                     \
    TONE(PAIR, "pair", "#c4e8da", "#0b4d38")                                                       \
    TONE(CM, "cm", "#e7d6ee", "#4a2f57")                                                           \
    TONE(BAD, "bad", "#ffd3cc", "#6b1f17")                                                         \
    TONE(NOW, "now", "#9fd0ee", "#0b5a8f")

#define COLOUR_RULES(ink, dim, page)                                                               \
    ".graph polygon,.graph path,.graph rect{stroke:" dim "}"                                       \
    ".graph text{fill:" ink "}.graph .edge text,.graph .cluster text{fill:" dim "}"                \
    ".graph .edge polygon,.graph .edge .tip{fill:" dim "}"                                         \
    ".graph rect.page{fill:" page ";stroke:none}.graph .halo{stroke:" page "}"

#define NODE_RULE(name, colour)                                                                    \
    ".graph ." name " polygon,.graph ." name " path,.graph ." name " rect{fill:" colour "}"
#define LIGHT(NAME, name, light, dark) NODE_RULE(name, light)
#define DARK(NAME, name, light, dark)  NODE_RULE(name, dark)

/* The rules of both themes come first. */
static const char style[] =
    "<style>"
    ".graph text{font-family:\"DejaVu Sans\",sans-serif;font-size:12px}"
    ".graph .name{font-weight:bold}.graph .title{font-size:16px;font-weight:bold}"
    ".graph .halo{fill:none;stroke-width:4px;stroke-linejoin:round}"
    ".graph .edge path,.graph .cluster path,.graph .cluster polygon,.graph .cluster rect"
    "{fill:none}"
    ".graph .thick path{stroke-width:2.4px}.graph .dashed path{stroke-dasharray:5 3}"
    ".graph .faint path{stroke-dasharray:1 3}" COLOUR_RULES(VIZ_INK, VIZ_DIM, VIZ_PAGE)
        TONES(LIGHT) "@media (prefers-color-scheme:dark){" COLOUR_RULES(
            VIZ_DARK_INK, VIZ_DARK_DIM, VIZ_DARK_PAGE) TONES(DARK) "}</style>\n";

void graph_put_style(const struct viz_sink *sink)
{
    svg_put(sink, style);
}

#define ROW(NAME, name, light, dark) [GRAPH_##NAME] = {name, light},
static const struct {
    const char *class, *fill;
} tones[GRAPH_TONES] = {TONES(ROW)};

const char *graph_tone_class(enum graph_tone tone)
{
    return tones[tone].class;
}

const char *graph_tone_fill(enum graph_tone tone)
{
    return tones[tone].fill;
}

const char *graph_line_class(enum graph_line line)
{
    static const char *const classes[GRAPH_LINES] = {
        [GRAPH_SOLID] = "solid",
        [GRAPH_DASHED] = "dashed",
        [GRAPH_THICK] = "thick",
        [GRAPH_FAINT] = "faint",
    };

    return classes[line];
}
