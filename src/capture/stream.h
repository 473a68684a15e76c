/* SPDX-License-Identifier: MIT */
/* One direction of an unreliable connection: nothing is answered, and nothing is sent again. */
#ifndef CAPTURE_STREAM_H
#define CAPTURE_STREAM_H

#include "capture/half.h"

/* Judges flow @flow; adds to @found, and to @ret what it shows in numbers. */
void stream_judge(const struct capture_record *r, uint32_t flow, struct found_list *found,
                  struct half_sums *ret);

#endif
