/* SPDX-License-Identifier: MIT */
/* A graph in a file: DOT, or SVG that Graphviz lays out if it is there and may run, and otherwise
 * rdmalab.
 */
#ifndef CLI_GRAPH_GRAPH_FILE_H
#define CLI_GRAPH_GRAPH_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "viz/graph.h"

struct graph_file {
    const char *name; /* of the file, for messages */
    bool dot;         /* DOT; otherwise SVG */
    bool plain;       /* SVG: never by Graphviz */
    bool may_start;   /* a program may be started */
    FILE *err;        /* receives why Graphviz has not drawn it */
};

/* Writes @g to @f. */
RDL_MUST_CHECK enum rdl_status graph_file_write(FILE *f, const struct graph *g,
                                                const struct graph_file *how);

#endif
