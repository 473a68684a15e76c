/* SPDX-License-Identifier: MIT */
/* Wraps texts for the boxes of graphs. */
#ifndef CLI_GRAPH_WRAP_H
#define CLI_GRAPH_WRAP_H

#include "emu/base/text.h"

/* Appends @s as lines of at most @columns bytes, each after a '\n'.  A longer word is not broken.
 * Appends nothing if @s is "".
 */
void wrap_add(struct text *t, size_t columns, const char *s);

#endif
