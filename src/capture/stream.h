/* SPDX-License-Identifier: MIT */
/* Judges one direction of an unreliable connection, which has no responses and no retransmissions.
 */
#ifndef CAPTURE_STREAM_H
#define CAPTURE_STREAM_H

#include "capture/half.h"

/* Judges the flow with index @flow.  Adds findings to @found and sets the statistics @ret. */
void stream_judge(const struct capture_record *r, uint32_t flow, struct found_list *found,
                  struct half_sums *ret);

#endif
