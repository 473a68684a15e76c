/* SPDX-License-Identifier: MIT */
/* A scenario file, for `run` and `test`. */
#ifndef CLI_SESSION_SCENARIO_H
#define CLI_SESSION_SCENARIO_H

#include "cli/session/session.h"

/* A file that was read and validated as a whole. */
struct scenario {
    struct source src;
    struct script script;
    size_t wrong_line, wrong_col; /* the place of the error that scenario_load() found; 0: none */
};

/* Reads and checks @file.  Returns EXIT_PASSED, or the exit status of the program: EXIT_USAGE if
 * the file is wrong, EXIT_FAILED otherwise; then @err has the message.  Release with
 * scenario_done() in any case.
 */
int scenario_load(struct scenario *sc, const char *file, FILE *err);

/* The same for a scenario that is to be run: it must have a step, unless it is to be skipped. */
int scenario_load_to_run(struct scenario *sc, const char *file, FILE *err);
void scenario_done(struct scenario *sc);

/* Parameters of its header; NULL: not given. */
const char *scenario_title(const struct scenario *sc);
const char *scenario_skip(const struct scenario *sc);
uint64_t scenario_seed(const struct scenario *sc);
bool scenario_has_tag(const struct scenario *sc, const char *tag);

#endif
