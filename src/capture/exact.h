/* SPDX-License-Identifier: MIT */
/* Judges one end of a reliable connection that was captured at its own host.  All packets that it
 * sent and received are known there, and their times.  The wire watcher (watcher/wire_end.h)
 * therefore can check whether the end had a reason for each action and was in time.  An observer in
 * the middle of the network cannot.
 */
#ifndef CAPTURE_EXACT_H
#define CAPTURE_EXACT_H

#include "capture/record.h"

#define EXACT_UNKNOWN UINT32_MAX

/* Known attributes of the queue pairs; EXACT_UNKNOWN: not known. */
struct exact_limits {
    uint32_t timeout;   /* code as in ibv_modify_qp(); 0: never */
    uint32_t retry_cnt; /* 0 .. 7 */
    uint32_t rnr_retry; /* 0 .. 7; 7: endless */
    uint32_t max_rd_atomic;
};

/* Judges the end that sends the flow with index @from; the peer flow must be known (flow.peer).
 * Adds findings to @found.  Returns false, without judging, if the capture lacks its sent or
 * received packets.
 *
 * Requesters differ in two things, and a capture does not tell what an end does.  A response behind
 * a missing one of the same READ is a reason to ask again; rxe waits for its timer.  An acknowledge
 * is no answer to a READ or an atomic; to rxe it is one.  The end may be of either kind.
 */
bool exact_judge(const struct capture_record *r, uint32_t from, const struct exact_limits *limits,
                 struct found_list *found);

#endif
