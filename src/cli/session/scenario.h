/* SPDX-License-Identifier: MIT */
/* A scenario that is run from beginning to end: `run` and `test`. */
#ifndef CLI_SESSION_SCENARIO_H
#define CLI_SESSION_SCENARIO_H

#include "cli/session/session.h"

/* A file that was read and validated as a whole. */
struct scenario {
    struct source src;
    struct script script;
    size_t wrong_line, wrong_col; /* what scenario_load() complained of; 0: no place in it */
};

/* Returns EXIT_PASSED; otherwise @err says what is wrong, and it is what the program exits with:
 * EXIT_USAGE, or EXIT_FAILED if the file is not to blame.  Release with scenario_done() in any
 * case.
 */
int scenario_load(struct scenario *sc, const char *file, FILE *err);

/* Loads a scenario that is to be run.  One without a step, which would pass whatever the lab did,
 * is wrong too, unless it says that it is to be skipped.
 */
int scenario_load_to_run(struct scenario *sc, const char *file, FILE *err);
void scenario_done(struct scenario *sc);

/* Members of its header; NULL if they are not there. */
const char *scenario_title(const struct scenario *sc);
const char *scenario_skip(const struct scenario *sc);
uint64_t scenario_seed(const struct scenario *sc);
bool scenario_has_tag(const struct scenario *sc, const char *tag);

#endif
