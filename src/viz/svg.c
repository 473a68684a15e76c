/* SPDX-License-Identifier: MIT */
#include "viz/svg.h"

#include <string.h>

#include "emu/base/text.h"

#define PIECE_BYTES 512u

void svg_put(const struct viz_sink *sink, const char *s)
{
    sink->put(sink->ctx, s, strlen(s));
}

void svg_putf(const struct viz_sink *sink, const char *fmt, ...)
{
    char buf[PIECE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    va_list args;

    va_start(args, fmt);
    text_addv(&t, fmt, args);
    va_end(args);
    sink->put(sink->ctx, buf, t.len);
}

void svg_put_escaped(const struct viz_sink *sink, const char *s)
{
    for (; *s; s++) {
        if (*s == '&')
            svg_put(sink, "&amp;");
        else if (*s == '<')
            svg_put(sink, "&lt;");
        else if (*s == '>')
            svg_put(sink, "&gt;");
        else if (*s == '"')
            svg_put(sink, "&quot;");
        else if ((unsigned char)*s >= ' ')
            sink->put(sink->ctx, s, 1);
    }
}
