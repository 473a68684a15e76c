/* SPDX-License-Identifier: MIT */
/* The reasons in the lab why programs of the machine have failed. */
#ifndef CLI_CMD_PROGRAM_CAUSE_H
#define CLI_CMD_PROGRAM_CAUSE_H

#include <stdio.h>

#include "cli/session/session.h"

/* Prints to @out, for each program that has failed or that a failed expectation is about, its
 * completions with an error and its queue pairs that errors moved to ERR, with the answer of `why`;
 * or one line, if nothing went wrong for it in the lab.  After a timeout it does so for each
 * program that still runs, and tells what the lab waits for.  @trace is the name of a file that has
 * the events; "": none has, but the option --events would make one; NULL: none can.
 */
void program_cause_print(struct session *s, FILE *out, bool timed_out, const char *trace);

#endif
