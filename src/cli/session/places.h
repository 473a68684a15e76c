/* SPDX-License-Identifier: MIT */
/* Places of the commands that posted work requests or wrote to memory, for `why`: "a.lab:13".  The
 * last PLACES_MAX are kept.  They are no part of the lab.
 */
#ifndef CLI_SESSION_PLACES_H
#define CLI_SESSION_PLACES_H

#include "cli/session/session.h"

#define PLACES_MAX 4096u

/* Notes that the command at @at has posted or written in the ticks after @from, up to now. */
void places_add(struct session *s, struct span at, uint64_t from);

/* Returns the place of the command that posted or wrote in @tick; "": not known, or it was typed.
 */
const char *places_find(const struct session *s, uint64_t tick);

/* Frees what is kept. */
void places_free(struct session *s);

#endif
