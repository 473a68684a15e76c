/* SPDX-License-Identifier: MIT */
/* Things that a scenario makes, and that must have come to something at its end: each fault must
 * have met something, unless it is optional.  In a test, each program of the machine must have
 * ended: one that still runs might fail later, and nobody would see it.
 */
#ifndef CLI_SESSION_UNMET_H
#define CLI_SESSION_UNMET_H

#include "cli/session/session.h"

/* Notes that the command @st has made @fault. */
void unmet_made(struct session *s, const struct step *st, rdl_fault fault);

/* Notes that @fault is about to be removed. */
void unmet_removed(struct session *s, rdl_fault fault);

/* Notes that the step @st of a test has started program @number. */
void unmet_started(struct session *s, const struct step *st, uint32_t number);

/* Returns true if each fault that was made has met something or is optional, and each program that
 * was noted has ended, without a failure that is still to be told.  Otherwise returns false, with
 * the error about the first other one in s->diag.
 */
bool unmet_check(struct session *s);

void unmet_free(struct unmet *u);

#endif
