/* SPDX-License-Identifier: MIT */
/* Lists the collection of scenarios, and finds one of them: for `scenarios`, at the prompt and as a
 * mode of the program.  cli/exec/lesson.h runs one.
 */
#ifndef CLI_LESSONS_SCENARIOS_H
#define CLI_LESSONS_SCENARIOS_H

#include "cli/lessons/collection.h"

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

/* Fails: fills @e and returns false. */
bool scenarios_fail(struct scenarios_error *e, const char *text, const char *remedy);

/* Reads the collection.  Release with collection_done() in any case. */
bool scenarios_read(struct collection *ret, struct scenarios_error *ret_error);

/* Returns the scenario of the collection that @name means and that can run here.  NULL: there is
 * none, and @ret_error says why.
 */
const struct lesson *scenarios_find(const struct collection *c, const char *name,
                                    struct scenarios_error *ret_error);

#endif
