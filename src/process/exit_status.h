/* SPDX-License-Identifier: MIT */
/* The exit statuses of the program. */
#ifndef PROCESS_EXIT_STATUS_H
#define PROCESS_EXIT_STATUS_H

enum exit_status {
    /* Returned by a mode: its usage is printed, and the program exits with EXIT_USAGE. */
    EXIT_ASK = -1,
    EXIT_PASSED = 0,
    EXIT_FAILED = 1,       /* an expectation or a command failed */
    EXIT_USAGE = 2,        /* usage, syntax or schema error; or nothing to run */
    EXIT_SKIPPED = 77,     /* everything was skipped */
    EXIT_BROKEN = 99,      /* an invariant of the emulator broke */
    EXIT_TIMEOUT = 124,    /* wall-clock limit */
    EXIT_SIGNALS = 128,    /* ended by a signal: the status is this plus the signal's number */
    EXIT_INTERRUPTED = 130 /* by ^C */
};

/* Returns the exit status for two results, @a and @b.  If one is that of a signal (EXIT_SIGNALS or
 * more), it is this one.  Otherwise it is the worse one: EXIT_BROKEN, then EXIT_TIMEOUT,
 * EXIT_USAGE, EXIT_FAILED, other values, and EXIT_PASSED.
 */
int exit_worse(int a, int b);

/* Returns the exit status for a file of the command line that could not be opened because of
 * @error, a value of errno.  If memory is short, the command is not wrong.
 */
int exit_unopened(int error);

#endif
