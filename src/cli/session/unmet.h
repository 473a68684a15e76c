/* SPDX-License-Identifier: MIT */
/* Faults that a scenario makes: at its end each must have met something, unless it is optional. */
#ifndef CLI_SESSION_UNMET_H
#define CLI_SESSION_UNMET_H

#include "cli/session/session.h"

/* Notes that the command @st has made @fault. */
void unmet_made(struct session *s, const struct step *st, rdl_fault fault);

/* Notes that @fault is about to be removed. */
void unmet_removed(struct session *s, rdl_fault fault);

/* Returns true if each fault that was made has met something or is optional.  Otherwise returns
 * false, with the error about the first other one in s->diag.
 */
bool unmet_check(struct session *s);

void unmet_free(struct unmet *u);

#endif
