/* SPDX-License-Identifier: MIT */
/* Looking at the stops of a session, behind each tick. */
#ifndef CLI_SESSION_STOP_LOOK_H
#define CLI_SESSION_STOP_LOOK_H

#include "cli/session/session.h"

/* The lab is at another place, or @stop is new: what holds there begins to hold nowhere behind it.
 * False: @reterr says why nobody can tell yet, as what it speaks of is not there.
 */
bool stop_arrive(const struct session *s, struct stop *stop, struct diag *reterr);

/* Behind a tick: is @stop hit?  Then stop->at and stop->change say by what.  It is not counted. */
bool stop_look(const struct session *s, struct stop *stop);

/* What @stop is about: "on h1: qp.state". */
void stop_add_what(struct text *t, const struct stop *stop);

/* What @stop has been hit by: "watch 3 at #36.2, h1.qp.state: RTS -> ERR". */
void stop_add_hit(struct text *t, const struct stop *stop);

/* Makes @stop belong to the lab of the session.  False: s->diag says why not. */
bool stop_attach(struct session *s, struct stop *stop, struct span at);

/* The lab of the session is another one.  False: s->diag says that there is no memory. */
bool stops_move(struct session *s);

/* After stops have come, gone or changed, or the lab is another one: hears of all events while
 * there are stops that watch, which tells by which of them a value changed.  False: s->diag says
 * that there is no memory.
 */
bool stops_listen(struct session *s);

#endif
