/* SPDX-License-Identifier: MIT */
/* Facts of the lab that often explain why a program failed or hangs.  The last call that was
 * refused is another one: exec_refused.h.  A program that is not known as one of the session has no
 * account, and no hints.
 */
#ifndef CLI_LIVE_EXEC_HINT_H
#define CLI_LIVE_EXEC_HINT_H

#include "cli/live/exec_client.h"
#include "emu/base/text.h"
#include "rdmalab/cm.h"

/* Notes that @q has overflowed, and tells the user, once for each queue. */
void exec_hint_overflow(struct exec_client *c, struct exec_cq *q);

/* Notes the event @e that the program takes.  Only the last one is kept, and only if a connection
 * has failed in it.
 */
void exec_hint_cm_event(const struct exec_client *c, const struct rdl_cm_event *e);

/* Notes the IDs without a device that a program has at its end.  librdmacm has NULL in their
 * pointers.
 */
void exec_hint_ids(const struct exec_client *c);

/* Appends what explains that the program of @a was ended by @signal, or failed (0): "the lab had
 * refused ...; its last event ...".  Appends nothing if nothing is known.
 */
void exec_hint_add(struct text *t, const struct exec_account *a, int signal);

#endif
