/* SPDX-License-Identifier: MIT */
/* The prompt: reads lines and executes them. */
#ifndef CLI_APP_REPL_H
#define CLI_APP_REPL_H

#include <stdbool.h>

#include "cli/session/session.h"

/* Runs until the end of input or `quit`.  Returns the exit status.
 *
 * On a terminal, or with @prompt, errors do not end it, commands may be abbreviated, and an empty
 * line repeats the last command if that is a CMD_AGAIN command.  With @prompt, prompts and the
 * lines that were read are printed even if the input is not a terminal.  Otherwise the input is a
 * script: it ends at the first error.  With @first, which needs @prompt, this line is executed
 * before the first one is read.
 */
int repl_run(struct session *s, bool prompt, const char *first);

#endif
