/* SPDX-License-Identifier: MIT */
/* Congestion over time: packets, ECN marks, CNPs and PFC frames of a capture, counted in steps of
 * equal length.
 */
#ifndef CAPTURE_AXIS_H
#define CAPTURE_AXIS_H

#include "capture/record.h"

#define AXIS_STEPS 50u

enum axis_kind {
    AXIS_PACKETS, /* RoCEv2 packets other than CNPs */
    AXIS_CE,      /* those with the mark "congestion experienced" */
    AXIS_CNP,
    AXIS_STOP,  /* PFC frames that stop a priority */
    AXIS_START, /* PFC frames that only start priorities again */
    AXIS_KINDS
};

/* A row for each kind.  Step i is from_ns + i * step_ns up to the next one. */
struct axis {
    uint64_t from_ns, step_ns;
    uint32_t n_steps; /* 0: there are no frames */
    uint64_t v[AXIS_KINDS][AXIS_STEPS];
    uint64_t sum[AXIS_KINDS], most[AXIS_KINDS]; /* of all steps; in the fullest step */
    uint8_t priorities;                         /* those that were stopped, one bit each */
};

/* Counts all frames of @r. */
void axis_init(struct axis *a, const struct capture_record *r);

/* Returns true if any frame shows congestion. */
bool axis_is_congested(const struct axis *a);

#endif
