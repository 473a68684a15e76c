/* SPDX-License-Identifier: MIT */
/* ^C, other signals that ask the program to end, and failed assertions. */
#ifndef PROCESS_SIGNALS_H
#define PROCESS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* ^C sets the flag that signals_interrupted() gives and ends a wait for input or output; a second
 * one before it is cleared ends the program; one that has a prompt only if two seconds have passed.
 * What nobody reads is not written any more.  An abort (a failed assertion) prints the command of
 * signals_replay() and exits with EXIT_BROKEN.
 */
void signals_start(void);

/* From now on SIGTERM and SIGHUP do what ^C does: something is to be saved before the end. */
void signals_catch_endings(void);

/* For a child: its parent, which gets the same signals, decides about it. */
void signals_ignore_endings(void);

/* 0, or the number of the signal. */
const volatile sig_atomic_t *signals_interrupted(void);
void signals_clear_interrupted(void);

/* What a program exits with that such a signal has ended. */
int signals_exit_status(void);

/* ^C ends a command and not the program, which goes on to write: it has a prompt. */
void signals_outlast(void);

/* While a prompt waits for a line, ^C ends nothing, however often it comes.  What comes right
 * behind the line is for what it says, and what comes right before the next one for that.
 */
void signals_at_prompt(bool at);

/* The command that repeats what the program is doing, for the last words. */
void signals_replay(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
