/* SPDX-License-Identifier: MIT */
/* Runs the cases of a test suite in several processes, and reports them in their order. */
#ifndef CLI_APP_CREW_H
#define CLI_APP_CREW_H

#include "cli/app/report.h"
#include "cli/app/test_run.h"

#define CREW_MAX 64u /* most cases that run at the same time */

/* Runs all cases of @su, at most @jobs (1 .. CREW_MAX) at a time, each in a process of its own.
 * Reports them in @r; a zeroed @r reports nothing.  Returns the exit status of the program.  After
 * a signal that ends the program, running cases are killed and reported as interrupted; cases that
 * have not begun are only counted in @r->not_run.
 */
int crew_run(struct suite *su, const struct test_options *o, size_t jobs, struct report *r);

#endif
