/* SPDX-License-Identifier: MIT */
/* Messages of o2iblnd in the frames of a past: named where events of frames are printed or drawn.
 *
 * A message is found in the recorded bytes of its frame.  No event has it: ordinary traffic would
 * pay for it.  A saved trace has its words instead, see past.lnet.
 */
#ifndef EMU_PAST_PAST_LNET_H
#define EMU_PAST_PAST_LNET_H

#include <stdbool.h>

#include "emu/past/past.h"

struct text;

/* Most bytes of a message in words, with the NUL. */
#define PAST_LNET_BYTES 128u

/* Appends the message in the frame that @e sends, changes, receives or ends, in the words of
 * lnet_gist_add(); @brief: only those before the semicolon.  Returns false, and appends nothing, if
 * it has none, or its bytes are not recorded.
 */
bool past_add_lnet(struct text *t, const struct past *p, const struct ev *e, bool brief);

/* As ev_add_line(), ev_add_text() and ev_add_json(), with the message: ", NOOP credits=4", or as
 * member "lnet".
 */
void past_add_line(struct text *t, const struct past *p, const struct ev *e);
void past_add_text(struct text *t, const struct past *p, const struct ev *e);
void past_add_json(struct text *t, const struct past *p, const struct ev *e);

/* A buffer for past_add_json(). */
#define PAST_JSON_BYTES (EV_JSON_BYTES + PAST_LNET_BYTES + 16u)

#endif
