/* SPDX-License-Identifier: MIT */
/* The position of the lab in the history of its session.
 *
 * Normally the lab is at the end of the history.  `back` and `goto` take it to an earlier place:
 * then it is in the past.  These functions read and check the position; cli/exec/travel.h changes
 * it.
 */
#ifndef CLI_SESSION_POSITION_H
#define CLI_SESSION_POSITION_H

#include "cli/session/session.h"

/* position_here() returns the place of the lab.  position_end() returns the end of the history. */
struct place position_here(const struct session *s);
struct place position_end(const struct session *s);

/* Returns the place at the end of tick @tick.  Returns the beginning of the history if @tick is 0,
 * or if no command of the history ran this tick.
 */
struct place position_of_tick(const struct session *s, uint64_t tick);

/* Returns the simulated time that has passed since the last tick, or since the command at this
 * place began if that was later.  It is not 0 if, for example, the place is where `run 1us` ended
 * between two ticks.  Call only in the past.
 */
uint64_t position_waited_ns(const struct session *s);

/* Like position_waited_ns(), but for the command of the log entry @e in place of the one at this
 * place.
 */
uint64_t position_waited_in(const struct session *s, const struct log_entry *e);

/* Returns true if the session can go back in time.  Otherwise returns false, with the error in
 * s->diag.
 */
bool position_can_go_back(struct session *s, struct span at);

/* Checks a command @st that changes the position or names a place.  Returns false, with the error
 * in s->diag, if the session cannot go back, or if @st stands in a block or a sourced file.  Blocks
 * and files are replayed as a whole, so a place in the middle of one could not be found again.
 */
bool position_may_move(struct session *s, const struct step *st);

/* Takes a snapshot if one is due, unless the lab is in the past or a replay runs.  Call at the end
 * of a command, and during a command that only lets time pass.
 */
void position_reached(struct session *s);

/* Calls replay.look with the place of the lab, if a replay with a search is running. */
void position_notify(struct session *s);

#endif
