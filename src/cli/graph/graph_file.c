/* SPDX-License-Identifier: MIT */
#include "cli/graph/graph_file.h"

#include "cli/graph/graphviz.h"
#include "print/utf8.h"
#include "viz/file_sink.h"

enum rdl_status graph_file_write(FILE *f, const struct graph *g, const struct graph_file *how)
{
    const struct viz_sink sink = file_sink(f);
    char why[160];
    struct text t = text_on(why, sizeof(why));

    if (how->dot)
        return graph_dot(g, &sink);
    if (!how->plain && how->may_start && graphviz_svg(g, &sink, &t))
        return RDL_OK;
    if (!how->may_start)
        text_add(&t, "a script starts no program without --allow programs");
    if (!how->plain)
        fprintf(how->err, "%s: drawn by rdmalab itself, without Graphviz: %s\n",
                SHOWN_NAME(how->name), why);
    return graph_svg(g, &sink);
}
