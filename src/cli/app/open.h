/* SPDX-License-Identifier: MIT */
/* The parts of `rdmalab open`, which starts the prompt in a saved session or in a scenario. */
#ifndef CLI_APP_OPEN_H
#define CLI_APP_OPEN_H

#include "cli/app/allow.h"
#include "cli/app/fault_matrix.h"
#include "cli/session/session.h"

struct open_options {
    const char *file;
    char *lines; /* executed in place of the prompt; NULL: none */
    bool prompt; /* see repl_run() */
    bool is_virtual;
    const char *seed_text; /* NULL: not given, and @seed is not valid */
    uint64_t seed;
    const char *device_text, *extensions_text, *guests_text; /* NULL: not given */
    struct session_devices devices;
    const char *fault_text;     /* NULL: no fault, and @choice is not valid */
    struct fault_choice choice; /* a run of the fault matrix */
    struct allow allow;
    unsigned allowed; /* set of enum permit */
};

/* Runs the scenario @src, whose text it takes, up to its end or its first failure, which is
 * printed, and then the prompt: there one can go back, and look at what was before.  Returns the
 * exit status: that of the prompt.
 */
int open_scenario(struct source *src, const struct open_options *o);

/* Returns a new session with @config, for which the user is asked what its text may do.  From then
 * on a report of a bug has the command line of @o.  Prints an error and returns NULL if there is no
 * lab.
 */
struct session *open_session(struct session_config *config, const struct open_options *o);

/* Executes the lines of @o, or else runs the prompt.  Returns the exit status. */
int open_prompt(struct session *s, const struct open_options *o);

#endif
