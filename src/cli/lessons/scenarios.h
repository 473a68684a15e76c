/* SPDX-License-Identifier: MIT */
/* The command `scenarios`, for the prompt and as a mode of the program. */
#ifndef CLI_LESSONS_SCENARIOS_H
#define CLI_LESSONS_SCENARIOS_H

#include "cli/session/session.h"

/* An error, and what the user can do. */
struct scenarios_error {
    char text[DIAG_MESSAGE_BYTES], remedy[DIAG_REMEDY_BYTES];
};

/* Prints the course, or the scenarios that are about @word; "all" prints all scenarios. */
bool scenarios_list(FILE *out, const char *word, struct scenarios_error *ret_error);

/* apropos() extended to scenarios: their names, titles, what they teach, and their notes. */
bool scenarios_apropos(FILE *out, const char *word);

/* Returns true if there is a scenario called @name.  A name has a dash; a word without one, like
 * "srq", is a topic.
 */
bool scenarios_has(const char *name);

/* Runs the scenario called @name in a lab of its own, with the session settings @config, and prints
 * its story; with @ladder also a picture.  *@ret_status is the exit status of the program.  Returns
 * false if there is no such scenario, or no lab.
 */
bool scenarios_run(const struct session_config *config, const char *name, bool ladder,
                   int *ret_status, struct scenarios_error *ret_error);

#endif
