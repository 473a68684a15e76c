/* SPDX-License-Identifier: MIT */
/* Checks the stops of a session after each tick. */
#ifndef CLI_SESSION_STOP_LOOK_H
#define CLI_SESSION_STOP_LOOK_H

#include "cli/session/session.h"

/* Evaluates @stop at the present place of the lab, but counts no hit.  A condition that already
 * holds can be hit only after it has stopped holding.  Call for a new stop, and after the lab went
 * to another place in time.  Returns false, with the error in @reterr (not NULL), if @stop cannot
 * be evaluated, for example because its object does not exist yet.
 */
bool stop_arrive(const struct session *s, struct stop *stop, struct diag *reterr);

/* Checks @stop after a tick.  Returns true if it is hit: then stop->at is the event of the hit, and
 * stop->change the change of a watched value.  Does not count the hit.
 */
bool stop_look(const struct session *s, struct stop *stop);

/* Returns true if @stop may be hit in a lab that repeats itself, because it depends on the time, a
 * tick or a count.
 */
bool stop_depends_on_time(const struct session *s, const struct stop *stop);

/* Adds the values of the lab on which @stop depends to *@hash. */
void stop_add_hash(const struct session *s, const struct stop *stop, uint64_t *hash);

/* Appends the condition or value that @stop is about, after its host for bare names, if it has one:
 * "on h1: qp.state".
 */
void stop_add_what(struct text *t, const struct stop *stop);

/* Appends the last hit of @stop: "watch 3 at #36.2, h1.qp.state: RTS -> ERR". */
void stop_add_hit(struct text *t, const struct stop *stop);

/* Attaches the expression of @stop to the lab of the session (expr_attach()).  Returns false, with
 * the error in s->diag, if that is not possible.
 */
bool stop_attach(struct session *s, struct stop *stop, struct span at);

/* Attaches all stops to the new lab of the session, and calls stops_listen().  Returns false with
 * the error in s->diag.
 */
bool stops_move(struct session *s);

/* If a watchpoint is enabled, listens to all events of the lab, to find the event that changes the
 * value; otherwise stops listening.  Call it after a stop was added, changed or removed, and after
 * the lab was replaced.  Returns false, with the error in s->diag, if there is no memory.
 */
bool stops_listen(struct session *s);

#endif
