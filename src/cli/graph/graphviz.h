/* SPDX-License-Identifier: MIT */
/* Runs the program `dot` of Graphviz, which lays out a graph.
 *
 * It is a fixed program with fixed arguments, found in the absolute directories of $PATH.  It gets
 * the graph on its standard input and nothing else: no file and no environment.  Its time, memory
 * and output have limits, and it can write no file.  The caller decides whether programs may be
 * started (decision 0051).
 */
#ifndef CLI_GRAPH_GRAPHVIZ_H
#define CLI_GRAPH_GRAPHVIZ_H

#include <stdbool.h>
#include <stddef.h>

#include "emu/base/text.h"
#include "viz/graph.h"

#define GRAPHVIZ_LIMIT_MS 10000

/* Draws @g as SVG with the style of graph_put_style() to @sink.  Returns false before any output,
 * with the reason in @reterr_why, if Graphviz is not there or fails: "there is no dot in $PATH".
 */
bool graphviz_svg(const struct graph *g, const struct viz_sink *sink, struct text *reterr_why);

#endif
