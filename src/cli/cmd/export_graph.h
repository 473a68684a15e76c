/* SPDX-License-Identifier: MIT */
/* The graphs of `export`, and the event that `why` and `export why` are about. */
#ifndef CLI_CMD_EXPORT_GRAPH_H
#define CLI_CMD_EXPORT_GRAPH_H

#include <stdbool.h>
#include <stdio.h>

#include "emu/past/past.h"

struct session;
struct step;

/* Writes the map, the states or the causes that the step `export` asks for to @f.  *@ret_n is
 * the number of boxes, or EXPORT_UNCOUNTED of a text.  Returns false with the error in s->diag.
 */
bool export_graph(struct session *s, FILE *f, const struct step *st, bool as_text, uint64_t *ret_n);

/* Finds the event of the parameter "target" of @st: see why_find().  Returns false with the error
 * in s->diag.
 */
bool look_find_event(struct session *s, const struct step *st, const struct past *past, ev_id *ret);

#endif
