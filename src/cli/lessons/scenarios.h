/* SPDX-License-Identifier: MIT */
/* What `scenarios` does, at the prompt and as a mode of the program. */
#ifndef CLI_LESSONS_SCENARIOS_H
#define CLI_LESSONS_SCENARIOS_H

#include "cli/session/session.h"

/* What is wrong, and what can be done. */
struct scenarios_error {
    char text[DIAG_MESSAGE_BYTES], remedy[DIAG_REMEDY_BYTES];
};

/* Prints the course, or with @word the scenarios that are about it.  The word "all" is every
 * scenario.
 */
bool scenarios_list(FILE *out, const char *word, struct scenarios_error *ret_error);

/* apropos(), of the scenarios, too: their names, titles, what they teach, and their notes. */
bool scenarios_apropos(FILE *out, const char *word);

/* Is there a scenario that is called @name?  A name has a dash; a word without one, like "srq", is
 * what scenarios are about.
 */
bool scenarios_has(const char *name);

/* Runs the scenario that is called @name in a lab of its own, whose session is as @config says, and
 * prints its story, with a picture if @ladder.  *@ret_status: what the program exits with.  False:
 * there is none of this name, or no lab.
 */
bool scenarios_run(const struct session_config *config, const char *name, bool ladder,
                   int *ret_status, struct scenarios_error *ret_error);

#endif
