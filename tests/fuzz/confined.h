/* SPDX-License-Identifier: MIT */
/* A session with limits for untrusted commands: little memory, few events, few commands, no files.
 *
 * All limits are counts, so the same commands end at the same point on every machine.  Reaching a
 * limit acts like ^C at a prompt: it ends the current step and all later ones.
 */
#ifndef TESTS_FUZZ_CONFINED_H
#define TESTS_FUZZ_CONFINED_H

#include <signal.h>

#include "cli/session/session.h"

#define CONFINED_COMMANDS      100u
#define CONFINED_EVENTS        4000u
#define CONFINED_BYTES         (UINT64_C(8) << 20)
#define CONFINED_HISTORY_BYTES ((size_t)16 << 20) /* enough to go back in time */

struct confined {
    struct session *s;
    volatile sig_atomic_t interrupted;
    uint64_t commands, events; /* left to execute; left to receive */
    FILE *nowhere;             /* takes its output */
};

/* Opens a session with @times the limits above.  Close it with confined_close(). */
void confined_open(struct confined *c, unsigned times);
void confined_close(struct confined *c);

/* Shows everything in the session, and checks the invariants. */
void confined_look(struct confined *c);

#endif
