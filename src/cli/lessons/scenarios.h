/* SPDX-License-Identifier: MIT */
/* Lists the collection of scenarios, and finds one of them: for `scenarios`, at the prompt and as a
 * mode of the program.  cli/exec/lesson.h runs one.
 */
#ifndef CLI_LESSONS_SCENARIOS_H
#define CLI_LESSONS_SCENARIOS_H

#include "cli/lessons/collection.h"

/* An error message and a remedy. */
struct scenarios_error {
    char text[DIAG_MESSAGE_BYTES], remedy[DIAG_REMEDY_BYTES];
};

/* Prints the first course if @word is NULL, the course called @word, all scenarios if it is "all",
 * otherwise the scenarios that are about it (lesson_is_about()): the first ones, those with it in
 * their name or tags in front, or each of them if the word "all" is behind it.  Returns false, with
 * the error in @ret_error, if there is no collection or no such scenario.
 */
bool scenarios_list(FILE *out, const char *word, struct scenarios_error *ret_error);

/* Searches for @word like apropos(), also in the names, titles, lessons and notes of scenarios.
 * Returns false if nothing is found.
 */
bool scenarios_apropos(FILE *out, const char *word);

/* Returns true if there is a scenario called @name.  Returns false for a word without a dash: "srq"
 * is a topic.
 */
bool scenarios_has(const char *name);

/* Fills @e with the error @text and its remedy.  Returns false. */
bool scenarios_fail(struct scenarios_error *e, const char *text, const char *remedy);

/* Reads the collection.  Returns false with the error in @ret_error.  Call collection_done() in any
 * case.
 */
bool scenarios_read(struct collection *ret, struct scenarios_error *ret_error);

/* Returns the scenario that collection_find_short() finds for @name.  Returns NULL, with an error
 * in @ret_error, if there is none or it cannot run here.
 */
const struct lesson *scenarios_find(const struct collection *c, const char *name,
                                    struct scenarios_error *ret_error);

#endif
