/* SPDX-License-Identifier: MIT */
/* Writes pieces of an SVG document to a sink. */
#ifndef VIZ_SVG_H
#define VIZ_SVG_H

#include "viz/picture.h"

/* Write @s, or formatted text, without escapes. */
void svg_put(const struct viz_sink *sink, const char *s);
void svg_putf(const struct viz_sink *sink, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes text with escapes for element content or attribute values.  Drops control characters. */
void svg_put_escaped(const struct viz_sink *sink, const char *s);

#endif
