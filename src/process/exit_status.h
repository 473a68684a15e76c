/* SPDX-License-Identifier: MIT */
/* The exit statuses of the program. */
#ifndef PROCESS_EXIT_STATUS_H
#define PROCESS_EXIT_STATUS_H

#include <stddef.h>

#include "emu/base/assert.h"

enum exit_status {
    /* Returned by a mode: its usage is printed, and the program exits with EXIT_USAGE. */
    EXIT_ASK = -1,
    EXIT_PASSED = 0,
    EXIT_FAILED = 1,       /* an expectation or a command failed */
    EXIT_USAGE = 2,        /* usage, syntax or schema error; or nothing to run */
    EXIT_SKIPPED = 77,     /* everything was skipped */
    EXIT_BROKEN = 99,      /* an invariant of the emulator broke */
    EXIT_TIMEOUT = 124,    /* wall-clock limit */
    EXIT_SIGNALS = 128,    /* plus the number of the signal that ended it */
    EXIT_INTERRUPTED = 130 /* by ^C */
};

/* Returns the exit status for two results: the one of a signal if there is one, otherwise the worse
 * one.
 */
static inline int exit_worse(int a, int b)
{
    static const int worst_first[] = {EXIT_BROKEN, EXIT_TIMEOUT, EXIT_USAGE, EXIT_FAILED};

    if (a >= EXIT_SIGNALS || b >= EXIT_SIGNALS)
        return a >= EXIT_SIGNALS ? a : b;
    for (size_t i = 0; i < ARRAY_LEN(worst_first); i++) {
        if (a == worst_first[i] || b == worst_first[i])
            return worst_first[i];
    }
    return a ? a : b;
}

#endif
