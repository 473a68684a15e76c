/* SPDX-License-Identifier: MIT */
/* Checks the stops of a session after each tick. */
#ifndef CLI_SESSION_STOP_LOOK_H
#define CLI_SESSION_STOP_LOOK_H

#include "cli/session/session.h"

/* Call when the lab is at another place, or when @stop is new: a condition that holds there already
 * is no hit.  Returns false if it cannot be evaluated there, for example because its object does
 * not exist yet; @reterr says why.
 */
bool stop_arrive(const struct session *s, struct stop *stop, struct diag *reterr);

/* After a tick: is @stop hit?  Then stop->at and stop->change tell by what.  The hit is not
 * counted.
 */
bool stop_look(const struct session *s, struct stop *stop);

/* Appends the subject of @stop: "on h1: qp.state". */
void stop_add_what(struct text *t, const struct stop *stop);

/* Appends the last hit of @stop: "watch 3 at #36.2, h1.qp.state: RTS -> ERR". */
void stop_add_hit(struct text *t, const struct stop *stop);

/* Attaches @stop to the lab of the session.  On failure s->diag says why. */
bool stop_attach(struct session *s, struct stop *stop, struct span at);

/* Attaches all stops to the new lab of the session.  On failure s->diag says that there is no
 * memory.
 */
bool stops_move(struct session *s);

/* Call after stops or the lab have changed.  While there are watchpoints, the session listens to
 * all events, to find the one that changed a value.  On failure s->diag says that there is no
 * memory.
 */
bool stops_listen(struct session *s);

#endif
