/* SPDX-License-Identifier: MIT */
/* One end of a reliable connection that was captured at its host: all that it sends and gets is
 * known, and when.  The watcher of random worlds (wire_end.h) follows it then, and asks what
 * somebody in between cannot: whether it has a reason for what it does, and is in time.
 */
#ifndef CAPTURE_EXACT_H
#define CAPTURE_EXACT_H

#include "capture/record.h"

#define EXACT_UNKNOWN UINT32_MAX

/* What is known of the attributes of the queue pairs; EXACT_UNKNOWN: not this one. */
struct exact_limits {
    uint32_t timeout;   /* code, as ibv_modify_qp() takes it; 0: never */
    uint32_t retry_cnt; /* 0 .. 7 */
    uint32_t rnr_retry; /* 0 .. 7; 7: for ever */
    uint32_t max_rd_atomic;
};

/* Judges the end that sends flow @from, whose peer is known; adds to @found.  False: it is not
 * known what it has sent and got, and nothing was judged.
 */
bool exact_judge(const struct capture_record *r, uint32_t from, const struct exact_limits *limits,
                 struct found_list *found);

#endif
