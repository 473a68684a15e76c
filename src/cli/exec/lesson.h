/* SPDX-License-Identifier: MIT */
/* Runs a scenario of the collection as a lesson: `scenarios run`. */
#ifndef CLI_EXEC_LESSON_H
#define CLI_EXEC_LESSON_H

#include "cli/lessons/scenarios.h"
#include "cli/session/session.h"

struct lesson_how {
    bool ladder;     /* print only the ladder diagram */
    bool from_shell; /* the commands that are named at the end are those of a shell */
};

/* Runs the scenario that collection_find_short() finds for @name in a new lab, in a session
 * configured by @config.  Prints its steps and events, or with @how->ladder only its ladder
 * diagram, and its result.  *@ret_status is the result as an exit status (enum exit_status).
 * Returns false, with the error in @ret_error, if there is no such scenario or no memory for its
 * lab.
 */
bool lesson_run(const struct session_config *config, const char *name, const struct lesson_how *how,
                int *ret_status, struct scenarios_error *ret_error);

#endif
