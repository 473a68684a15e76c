/* SPDX-License-Identifier: MIT */
/* The executor: executes steps, scripts and lines in a session.
 *
 * A step is one command that was parsed and checked.  For each step the executor finds the function
 * of its command, decides whether events are printed, adds it to the history, and checks the stops.
 * Commands that execute other steps, such as `repeat` and `source`, and commands that replay, such
 * as `back`, are parts of the executor (executing.h).  All others are in the layer below, in
 * cli/cmd: they cannot execute a step.
 */
#ifndef CLI_EXEC_EXEC_H
#define CLI_EXEC_EXEC_H

#include "cli/lang/line.h"
#include "cli/session/session.h"

/* Returns a block for the steps of @src, without a host.  If a step is running, it is inside that
 * step's block and has its limits.
 */
struct block exec_block(const struct session *s, const struct source *src);

/* Returns a block inside the block of the running step, with the same text, host and limits. */
struct block exec_inner_block(const struct session *s);

/* Executes one step in the block @in, and adds it to the history.  Returns false with the error in
 * s->diag, and its text in s->diag_src.
 */
bool exec_step(struct session *s, const struct step *st, const struct block *in);

/* Executes the list of steps that begins with @first, up to a failure, a stop or the end of the
 * session.  Returns false, with the error in s->diag, after a failure.
 */
bool exec_steps(struct session *s, const struct step *first, const struct block *in);

/* Executes a whole script, its header first.  Returns false with the error in s->diag. */
bool exec_script(struct session *s, const struct script *script);

/* Executes a script as a scenario: at its end each fault must have met something, unless a stop has
 * ended it.
 */
bool exec_scenario(struct session *s, const struct script *script);

/* Executes the statements that session_read() has parsed, one by one up to the first failure.  A
 * statement with a syntax error fails after the statements before it were executed.  Returns false
 * with the error in s->diag.
 */
bool exec_statements(struct session *s, const struct lines *l);

/* Parses the statements of @src and executes them.  @abbreviated: as in session_read().  Returns
 * false with the error in s->diag.
 */
bool exec_lines(struct session *s, const struct source *src, bool abbreviated);

/* Executes a file.  A .json file is parsed as a whole first; any other file is executed statement
 * by statement.  Returns false with the error in s->diag.
 */
bool exec_file(struct session *s, const struct source *src);

#endif
