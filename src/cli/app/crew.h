/* SPDX-License-Identifier: MIT */
/* Runs the cases of a suite, several at a time, and reports them in their order. */
#ifndef CLI_APP_CREW_H
#define CLI_APP_CREW_H

#include "cli/app/report.h"
#include "cli/app/test_run.h"

#define CREW_MAX 64u /* processes at a time */

/* Returns what the program exits with.  After a signal that asks the program to end, what runs is
 * killed and reported as interrupted, and what has not begun is not reported: @r says how much that
 * is.  An @r that is zero reports nothing.
 */
int crew_run(struct suite *su, const struct test_options *o, size_t jobs, struct report *r);

#endif
