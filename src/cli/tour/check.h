/* SPDX-License-Identifier: MIT */
/* Checks a lesson of the tour without a person: `rdmalab tour --check`. */
#ifndef CLI_TOUR_CHECK_H
#define CLI_TOUR_CHECK_H

#include <stdbool.h>

#include "cli/session/session.h"
#include "cli/tour/tour.h"

/* Plays @t as readers would: one presses Enter only, the others choose the first, second ... answer
 * of each question.  Checks that
 *
 *	- no command fails unless the lesson says so, and each expectation holds,
 *	- the lab computes each answer, and exactly one choice of a question is right,
 *	- the output between two inputs fits into TOUR_LINES lines of TOUR_COLUMNS columns,
 *	- going to a screen directly leads to the same events as reading up to it.
 *
 * Prints errors to config->err.  Returns true if there is none.
 */
bool tour_check(const struct tour *t, const struct session_config *config);

#endif
