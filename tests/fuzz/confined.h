/* SPDX-License-Identifier: MIT */
/* A session for the commands of a stranger: little memory, few events, few commands, and no files.
 *
 * All limits are counts, so that the same commands end in the same place on every machine.  ^C is
 * what ends them: as at a prompt it ends the step that runs, and every one behind it.
 */
#ifndef TESTS_FUZZ_CONFINED_H
#define TESTS_FUZZ_CONFINED_H

#include <signal.h>

#include "cli/session/session.h"

#define CONFINED_COMMANDS      100u
#define CONFINED_EVENTS        4000u
#define CONFINED_BYTES         (UINT64_C(8) << 20)
#define CONFINED_HISTORY_BYTES ((size_t)16 << 20) /* so that it can go back */

struct confined {
    struct session *s;
    volatile sig_atomic_t interrupted;
    uint64_t commands, events; /* that it may still carry out, and hear of */
    FILE *nowhere;             /* what it prints */
};

/* @times as much as the limits above.  Close it with confined_close(). */
void confined_open(struct confined *c, unsigned times);
void confined_close(struct confined *c);

/* Whatever it has shows itself, and the invariants hold. */
void confined_look(struct confined *c);

#endif
