/* SPDX-License-Identifier: MIT */
/* A scenario file, for `run` and `test`. */
#ifndef CLI_SESSION_SCENARIO_H
#define CLI_SESSION_SCENARIO_H

#include "cli/session/session.h"

/* A file that was read and validated as a whole. */
struct scenario {
    struct source src;
    struct script script;
    size_t wrong_line, wrong_col; /* line and column of the error, from 1; 0: there is none */
};

/* Reads and checks @file.  An error message goes to @err.  Call scenario_done() in any case.
 *
 * Return: EXIT_PASSED
 *	   EXIT_USAGE     the file cannot be read, or has an error
 *	   EXIT_FAILED    there is no memory
 */
int scenario_load(struct scenario *sc, const char *file, FILE *err);

/* Reads and checks a scenario that will be run.  Like scenario_load(), but a file without a step is
 * an error, too, unless its header has `skip`.
 */
int scenario_load_to_run(struct scenario *sc, const char *file, FILE *err);

/* The same with the text of @src, which is then owned by @sc, and no longer by @src. */
int scenario_take_to_run(struct scenario *sc, struct source *src, FILE *err);

/* Frees what @sc contains. */
void scenario_done(struct scenario *sc);

/* Return parameters of the line `scenario`.  scenario_title() returns the title, and
 * scenario_skip() the reason to skip the scenario; both return NULL if it was not given.
 * scenario_seed() returns SCENARIO_SEED if no seed was given.  scenario_has_tag() returns true if
 * @tag is one of the tags.
 */
const char *scenario_title(const struct scenario *sc);
const char *scenario_skip(const struct scenario *sc);
uint64_t scenario_seed(const struct scenario *sc);
bool scenario_has_tag(const struct scenario *sc, const char *tag);

#endif
