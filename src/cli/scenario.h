/* SPDX-License-Identifier: MIT */
/* A scenario that is run from beginning to end: `run` and `test`. */
#ifndef CLI_SCENARIO_H
#define CLI_SCENARIO_H

#include "cli/session.h"

/* A file that was read and validated as a whole. */
struct scenario {
    struct source src;
    struct script script;
};

/* Complains to @err on failure.  Release with scenario_done(), on failure too. */
bool scenario_load(struct scenario *sc, const char *file, FILE *err);
void scenario_done(struct scenario *sc);

/* Members of its header; NULL if they are not there. */
const char *scenario_title(const struct scenario *sc);
const char *scenario_skip(const struct scenario *sc);
uint64_t scenario_seed(const struct scenario *sc);
bool scenario_has_tag(const struct scenario *sc, const char *tag);

/* Writes what happened in the session to files of their own. */
enum scenario_output { OUTPUT_LADDER, OUTPUT_PCAPNG, OUTPUT_EVENTS, N_OUTPUTS };

/* @name "-" is the standard output, where a ladder is text.  Also of a session that was interrupted.
 * False, and @err says why.
 */
bool scenario_write(struct session *s, enum scenario_output what, const char *name, FILE *err);

#endif
