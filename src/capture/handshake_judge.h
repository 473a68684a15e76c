/* SPDX-License-Identifier: MIT */
/* Judges the messages of the connection manager, and the traffic before and after a connection. */
#ifndef CAPTURE_HANDSHAKE_JUDGE_H
#define CAPTURE_HANDSHAKE_JUDGE_H

#include "capture/record.h"

/* Adds findings to @found. */
void handshakes_judge(const struct capture_record *r, struct found_list *found);

#endif
