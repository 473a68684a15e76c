/* SPDX-License-Identifier: MIT */
/* Pieces of an SVG document on their way to a sink. */
#ifndef VIZ_SVG_H
#define VIZ_SVG_H

#include "viz/picture.h"

void svg_put(const struct viz_sink *sink, const char *s);
void svg_putf(const struct viz_sink *sink, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Text, as it stands between tags or in an attribute. */
void svg_put_escaped(const struct viz_sink *sink, const char *s);

#endif
