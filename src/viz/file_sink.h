/* SPDX-License-Identifier: MIT */
/* A picture that goes to a file.  The caller checks ferror() of it. */
#ifndef VIZ_FILE_SINK_H
#define VIZ_FILE_SINK_H

#include <stdio.h>

#include "viz/picture.h"

static inline void file_sink_put(void *ctx, const char *bytes, size_t n)
{
    fwrite(bytes, 1, n, ctx);
}

/* Returns a sink that writes to @out. */
static inline struct viz_sink file_sink(FILE *out)
{
    return (struct viz_sink){file_sink_put, out};
}

#endif
