/* SPDX-License-Identifier: MIT */
/* Whoever starts rdmalab for the first time is told what to try. */
#ifndef CLI_APP_FIRST_TIME_H
#define CLI_APP_FIRST_TIME_H

#include <stdbool.h>

/* Was rdmalab never at a prompt before, as far as its files of this person tell?  From now on it
 * was: that is kept as a file "greeted" in XDG_STATE_HOME, or ~/.local/state.  Where none can be
 * written, nobody is new.
 */
bool first_time(void);

/* What to try, as lines. */
extern const char first_time_text[];

#endif
