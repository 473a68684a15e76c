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

/* The place where the lab is, and the end of the history. */
struct place position_here(const struct session *s);
struct place position_end(const struct session *s);

/* Returns the place at the end of tick @tick, which is in the history. */
struct place position_of_tick(const struct session *s, uint64_t tick);

/* In the past: returns the time that has passed since the last tick, or since the command at this
 * place began if that is later.  `run 1us` may end between two ticks.
 */
uint64_t position_waited_ns(const struct session *s);

/* The same for the command @e, whatever the position is. */
uint64_t position_waited_in(const struct session *s, const struct log_entry *e);

/* Can the session go back?  If not, s->diag says why. */
bool position_can_go_back(struct session *s, struct span at);

/* Checks a command @st that changes the position, or names one: the session can go back, and @st is
 * outside of all blocks and sourced files.  They are replayed as a whole, and a place in the middle
 * of one would not be found again.  If not, s->diag says why.
 */
bool position_may_move(struct session *s, const struct step *st);

/* The lab has come to the end of a command, or of a part of a command that only lets time pass.
 * Takes a snapshot if one is due.
 */
void position_reached(struct session *s);

/* During a replay: tells the search for a place, if there is one, where the lab is. */
void position_notify(struct session *s);

#endif
