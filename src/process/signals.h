/* SPDX-License-Identifier: MIT */
/* Handling of ^C, of other signals that ask the program to end, and of failed assertions. */
#ifndef PROCESS_SIGNALS_H
#define PROCESS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Installs the handlers.  ^C sets *signals_interrupted(), called the flag here, and interrupts a
 * wait for input or output.  A second ^C before the flag is cleared ends the program.  After
 * signals_outlast() it does so only two seconds after the first one.  Output that nobody reads is
 * discarded after ^C.  An abort (a failed assertion) prints the command of signals_replay() and
 * exits with EXIT_BROKEN.  Other signals that end the program remove its temporary files first
 * (leftovers.h).  A file that reaches a limit of its size is a write error, and no signal.
 */
void signals_start(void);

/* Makes SIGTERM and SIGHUP do what ^C does, so that the program can save data before it ends. */
void signals_catch_endings(void);

/* Makes SIGPIPE, which comes when nobody reads the output any more, do so too.  For a program that
 * has child processes to end.
 */
void signals_catch_pipe(void);

/* Holds all signals back until the caller sets the signal mask *@ret_before again. */
void signals_block(sigset_t *ret_before);

/* fork().  The child ignores SIGINT and SIGHUP, which the terminal sends to the parent, too: the
 * parent decides, and ends the child by SIGTERM, at any time after the return.
 */
pid_t signals_fork(void);

/* Returns a pointer to the flag: 0, or the number of the signal that was received since the last
 * signals_clear_interrupted().
 */
const volatile sig_atomic_t *signals_interrupted(void);
void signals_clear_interrupted(void);

/* Sets the flag to SIGALRM after @s seconds of real time, unless a signal has set it before; 0: not
 * any more.  ^C then is still the first one.
 */
void signals_alarm_after(uint64_t s);

/* Returns the exit status of a program that the signal in the flag has ended. */
int signals_exit_status(void);

/* Makes ^C end a command and not the program, and keeps output after ^C.  For a program with a
 * prompt.
 */
void signals_outlast(void);

/* Call it with true when a prompt begins to wait for a line, and with false afterwards.  During the
 * wait ^C never ends the program.  The flag is not cleared here: a ^C right after the line
 * interrupts its command, and one right before the prompt applies to the next line.
 */
void signals_at_prompt(bool at);

/* While @on, a change of the window's size interrupts a wait for input, and does nothing else. */
void signals_wake_on_resize(bool on);

/* Sets the command that repeats the present action.  It is printed after an abort. */
void signals_replay(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
