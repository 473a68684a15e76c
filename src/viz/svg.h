/* SPDX-License-Identifier: MIT */
/* Writes pieces of an SVG document to a sink. */
#ifndef VIZ_SVG_H
#define VIZ_SVG_H

#include "viz/picture.h"

/* Each picture begins with a mark, which tells that rdmalab has drawn it, and what it is.  A file
 * that begins so may be replaced by a script (cli/export/export_mark.h).
 */
#define SVG_MARK(form)  "<!-- rdmalab export " form " -->\n"
#define LADDER_SVG_MARK SVG_MARK("ladder")
#define VQ_SVG_MARK     SVG_MARK("vq")

/* The marks of graphs: as SVG, and as DOT, where a comment begins with two slashes.  The format has
 * a place for the form.
 */
#define SVG_MARK_FORMAT SVG_MARK("%s")
#define DOT_MARK(form)  "// rdmalab export " form "\n"
#define DOT_MARK_FORMAT DOT_MARK("%s")

/* Colours of all pictures, on a light page and on a dark one: of texts, of quieter texts and lines,
 * and of the page.
 */
#define VIZ_INK       "#1b1f24"
#define VIZ_DIM       "#57606a"
#define VIZ_PAGE      "#ffffff"
#define VIZ_DARK_INK  "#e6edf3"
#define VIZ_DARK_DIM  "#9aa4af"
#define VIZ_DARK_PAGE "#0d1117"

/* svg_put() writes @s, svg_putf() formatted text, as it is: the caller has escaped what needs it.
 */
void svg_put(const struct viz_sink *sink, const char *s);
void svg_putf(const struct viz_sink *sink, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes @s with escapes, so that it is valid in element content and in an attribute value in
 * double quotes.  Drops control characters.
 */
void svg_put_escaped(const struct viz_sink *sink, const char *s);

#endif
