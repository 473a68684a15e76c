/* SPDX-License-Identifier: MIT */
/* The cause of what a run of the fault matrix came to, as `why` explains it. */
#ifndef CLI_APP_FAULT_WHY_H
#define CLI_APP_FAULT_WHY_H

#include "cli/session/session.h"
#include "emu/trace/id.h"

/* Appends the lines of `why` about event @about; 0: about the last packet that the fault @fault
 * hit. Appends nothing if there is no such event, and only whole lines.
 */
void fault_why_add(struct text *t, struct session *s, ev_id about, const char *fault);

#endif
