/* SPDX-License-Identifier: MIT */
/* Runs a scenario of the collection as a lesson: `scenarios run`. */
#ifndef CLI_EXEC_LESSON_H
#define CLI_EXEC_LESSON_H

#include "cli/lessons/scenarios.h"
#include "cli/session/session.h"

/* Runs the scenario that @name means in a lab of its own, with a session of @config.  Prints its
 * story, with a ladder if @ladder.  *@ret_status is what the program exits with.  False: there is
 * no such scenario, or no memory for its lab.
 */
bool lesson_run(const struct session_config *config, const char *name, bool ladder, int *ret_status,
                struct scenarios_error *ret_error);

#endif
