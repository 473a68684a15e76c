/* SPDX-License-Identifier: MIT */
/* The causes of an event: what `why` walks along, and what a graph of causes draws. */
#ifndef CLI_WHY_CAUSES_H
#define CLI_WHY_CAUSES_H

#include <stddef.h>

#include "emu/past/past_index.h"

#define WHY_CAUSES_MAX 4u /* causes of one event */

/* The way from a cause to the event. */
enum why_link {
    WHY_CAUSED,
    WHY_PACKET, /* the cause sent the frame that the event is about */
    WHY_POSTED, /* the cause posted the work request that was fetched */
    WHY_MISSING /* the cause ended a packet, and the event tells that it was missed */
};

struct why_cause {
    const struct ev *e;
    enum why_link link;
};

/* Finds the recorded causes of @e.  Events of routine kinds are not among them: their own causes
 * take their place.  Returns their number; 0: the event has no cause that is recorded.
 */
size_t why_causes(const struct past_index *x, const struct ev *e,
                  struct why_cause ret[WHY_CAUSES_MAX]);

/* Returns the event that armed the timer of @timeout; NULL if it is forgotten.  Sets *@ret_extended
 * to the number of its extensions: a timer is extended while the lab is late (xport/retry.c).
 */
const struct ev *why_armed_by(const struct past *p, const struct ev *timeout,
                              unsigned *ret_extended);

/* A request that the device refuses completes only after the earlier ones.  The cause of its
 * completion @cqe is then the fetch that refused it, not the ACK that completed the earlier ones.
 * Returns NULL if the device did not refuse it.
 */
const struct ev *why_refused_fetch(const struct past_index *x, const struct ev *cqe);

/* If the queue pair stopped in @state, a qp_state event, at a request that the device refused, the
 * cause is the completion of that request.  Returns NULL otherwise.
 */
const struct ev *why_stopped_by(const struct past_index *x, const struct ev *state);

/* Returns the qp_state event that made the device flush the request of @cqe.  Returns NULL if it
 * was not flushed, or the event is not recorded.
 */
const struct ev *why_flushed_by(const struct past_index *x, const struct ev *cqe);

/* Returns the centre_rule event that forbids what the centre_lookup event @e asks for.  Returns
 * NULL if it is allowed, or if there never was a rule.
 */
const struct ev *why_forbidden_by(const struct past *p, const struct ev *e);

/* A message that is forbidden is repeated, and asks the centre again.  Returns the first of the
 * centre_lookup events that led to @e, which is one, in this way.  Sets *@ret_n to the number of
 * those before @e.
 */
const struct ev *why_asked_first(const struct past *p, const struct ev *e, unsigned *ret_n);

/* A run of events of one sort, from its last event back to its first one, which `why` tells in one
 * line.
 */
struct why_run {
    unsigned n;             /* control requests, or rejects */
    const struct ev *first; /* NULL if @n is 0 */
    const struct ev *next;  /* where the chain goes on; NULL: nowhere */
};

/* Returns the control requests of a driver that led to @e, each of which waited for the answer to
 * the one before, and their kicks.
 */
struct why_run why_controls(const struct past *p, const struct ev *e);

/* Returns the rejects that led to @e, a lnet_reject event.  A node asks again because its previous
 * request was rejected.
 */
struct why_run why_rejects(const struct past *p, const struct ev *e);

/* Returns the lnet_state event with which a node of LNet began to make the connection for which it
 * sent the REQ or REP @sent.  What follows it is a row of control requests.  Returns NULL if @sent
 * is another event, or of a program.
 */
const struct ev *why_attempt_of(const struct past *p, const struct ev *sent);

#endif
