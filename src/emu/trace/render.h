/* SPDX-License-Identifier: MIT */
/* Events as text and as JSON. */
#ifndef EMU_TRACE_RENDER_H
#define EMU_TRACE_RENDER_H

#include <stdbool.h>

#include "emu/trace/schema.h"

struct ev;
struct ev_field;
struct ev_names;
struct text;

/* Appends the value of one field: "RC_SEND_ONLY", "100", "h1", "0x1a3".  @names gives the names of
 * hosts and objects here and below; NULL: their numbers are printed.
 */
void ev_add_field(struct text *t, const struct ev *e, const struct ev_field *f,
                  const struct ev_names *names);

/* Appends the values that a rule, a drop reason or a refusal compared: ", expected psn=50, found
 * psn=100".  Appends nothing if the event has no such values.  Without @say_psn a PSN that was
 * found is omitted, for a sentence that has already named it.
 */
void ev_add_compared(struct text *t, const struct ev *e, bool say_psn);

/* Appends the event as a sentence, without its id: "h1.qp RESET -> INIT". */
void ev_add_text(struct text *t, const struct ev *e, const struct ev_names *names);

/* Appends the id, the kind in a column, and the sentence: "#34.1 fetch    h1.qp desc 0, ...". */
void ev_add_line(struct text *t, const struct ev *e, const struct ev_names *names);

/* Appends the event as one JSON object, without a newline.  Numbers above 2^53 are strings. */
void ev_add_json(struct text *t, const struct ev *e, const struct ev_names *names);

/* Buffer sizes that hold any result of the functions above. */
#define EV_TEXT_BYTES 512u
#define EV_JSON_BYTES 1024u

#endif
