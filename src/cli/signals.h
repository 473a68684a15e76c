/* SPDX-License-Identifier: MIT */
/* ^C and failed assertions. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* ^C sets the flag that signals_interrupted() gives and ends a wait for input; a second one before
 * it is cleared ends the program.  An abort (a failed assertion) prints the command of
 * signals_replay() and exits with EXIT_BROKEN.
 */
void signals_start(void);

const volatile sig_atomic_t *signals_interrupted(void);
void signals_clear_interrupted(void);

/* While a prompt waits for a line, ^C ends nothing, however often it comes; what came then is
 * forgotten when the wait is over.
 */
void signals_at_prompt(bool at);

/* The command that repeats what the program is doing, for the last words. */
void signals_replay(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
