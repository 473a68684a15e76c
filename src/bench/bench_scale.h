/* SPDX-License-Identifier: MIT */
/* Measures labs with many hosts or many queue pairs. */
#ifndef BENCH_BENCH_SCALE_H
#define BENCH_BENCH_SCALE_H

#include <stdbool.h>
#include <stdint.h>

#include "rdmalab/status.h"

/* The size of a lab.  @hosts are connected to one switch and form pairs.  The two hosts of a pair
 * have @qps queue pairs each, connected with one another.  The first @active queue pairs of each
 * host send, either all at once or, with @in_turn, one after the other.
 */
struct bench_scale {
    uint32_t hosts, qps, active;
    bool in_turn;
};

/* The result of a measurement; times in seconds. */
struct bench_scaled {
    double build_s;    /* processor time until all hosts are up and linked */
    double host_bytes; /* memory of the lab per host, after its drivers have booted */
    double message_s;  /* processor time per SEND of 64 bytes by the active queue pairs */
    double connect_s;  /* processor time per queue pair: to create its objects and connect it */
};

/* Measures one lab.  @now_s returns the processor time in seconds.  Returns the errors of the
 * public API.
 */
RDL_MUST_CHECK enum rdl_status bench_scale(const struct bench_scale *scale, double (*now_s)(void),
                                           struct bench_scaled *ret);

#endif
