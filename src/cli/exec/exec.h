/* SPDX-License-Identifier: MIT */
/* The executor: carries out steps, scripts and lines in a session.
 *
 * A step is one command that was read and checked.  For each the executor finds the function of its
 * command, decides whether events are printed, writes what was done into the history, and looks
 * whether a stop was hit.  Commands whose work is to carry out other steps, such as `repeat` and
 * `source`, and those that replay, such as `back`, are parts of the executor (executing.h).  All
 * others are below it, in cli/cmd: they cannot carry out a step.
 */
#ifndef CLI_EXEC_EXEC_H
#define CLI_EXEC_EXEC_H

#include "cli/lang/line.h"
#include "cli/session/session.h"

/* Returns the block of steps that come from @src, inside the block of the running step if there is
 * one.
 */
struct block exec_block(const struct session *s, const struct source *src);

/* Returns a block inside the block of the running step, with the same properties. */
struct block exec_inner_block(const struct session *s);

/* Carries out one step in the block @in, and writes it into the history.  On failure s->diag says
 * why, and s->diag_src where.
 */
bool exec_step(struct session *s, const struct step *st, const struct block *in);

/* Carries out the list of steps that begins with @first, up to a failure, a stop or the end of the
 * session.
 */
bool exec_steps(struct session *s, const struct step *first, const struct block *in);

/* Carries out a whole script, its header first. */
bool exec_script(struct session *s, const struct script *script);

/* Carries out the statements that session_read() has read, one by one up to the first failure.  A
 * statement that could not be read fails when its turn comes.
 */
bool exec_statements(struct session *s, const struct lines *l);

/* Reads the statements of @src and carries them out.  @abbreviated: as in session_read(). */
bool exec_lines(struct session *s, const struct source *src, bool abbreviated);

/* Carries out a file: .json as a whole, anything else line by line. */
bool exec_file(struct session *s, const struct source *src);

#endif
