/* SPDX-License-Identifier: MIT */
/* Finds the two flows that are the two directions of a reliable connection.
 *
 * A packet does not name the queue pair that sent it.  But a response has the PSN of its request:
 * it is a vote for a flow of the opposite direction that has sent this PSN and waits for the
 * response.  The two flows with the most votes for each other are paired first, then the best pair
 * among the others.  Queue pairs that start at the same PSN and are active at the same time may be
 * confused.  A pair with a close rival is reported.
 *
 * Nothing is guessed where messages of the connection manager name the queue pairs (handshake.h).
 */
#ifndef CAPTURE_PAIRS_H
#define CAPTURE_PAIRS_H

#include "capture/record.h"

/* Sets @peer of all flows of reliable connections.  It stays SEEN_NONE if no flow matches.  Adds
 * findings to @found.
 */
void pairs_find(struct capture_record *r, struct found_list *found);

#endif
