/* SPDX-License-Identifier: MIT */
/* Which two flows are the two directions of a reliable connection?
 *
 * No packet tells the queue pair that it is from.  But an answer has the PSN of what it answers:
 * each answer speaks for one flow of the other direction, that has sent this PSN and waits for its
 * answer.  The two flows with the most answers for one another belong together, then those with the
 * most among the rest.  Queue pairs that begin at the same PSN and work at the same time may be
 * confused then: a pair for which others have nearly as many answers is told of.
 */
#ifndef CAPTURE_PAIRS_H
#define CAPTURE_PAIRS_H

#include "capture/record.h"

/* Sets the peer of all flows of reliable connections. */
void pairs_find(struct capture_record *r, struct found_list *found);

#endif
