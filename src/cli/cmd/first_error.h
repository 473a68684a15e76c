/* SPDX-License-Identifier: MIT */
/* Errors among the recorded events: failed completions, and queue pairs that an error stopped. */
#ifndef CLI_CMD_FIRST_ERROR_H
#define CLI_CMD_FIRST_ERROR_H

#include "emu/past/past.h"

/* Returns true if @e is an error: a completion that failed and was not only flushed, or a change to
 * ERR or SQE that no program asked for.
 */
bool is_error_event(const struct past *p, const struct ev *e);

/* Returns the first recorded completion that failed, or else the first change of a state by an
 * error; NULL: there is none.  A completion comes first: it tells more.
 */
const struct ev *first_error(const struct past *p);

#endif
