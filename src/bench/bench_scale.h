/* SPDX-License-Identifier: MIT */
/* What hosts and queue pairs cost when there are many of them. */
#ifndef BENCH_BENCH_SCALE_H
#define BENCH_BENCH_SCALE_H

#include <stdbool.h>
#include <stdint.h>

#include "rdmalab/status.h"

/* @hosts on one switch, in pairs; the two of a pair have @qps queue pairs each, connected.
 * The first @active of each host send: all together, or each pair alone, one after the other.
 */
struct bench_scale {
    uint32_t hosts, qps, active;
    bool in_turn;
};

struct bench_scaled {
    double build_s;    /* processor time until the hosts are up and linked */
    double host_bytes; /* of the lab's memory for each host, as its drivers leave it after boot */
    double message_s;  /* processor time for a 64-byte SEND of those that are active */
    double connect_s;  /* for a queue pair: its objects made and connected */
};

/* Errors of any call of the public API. */
RDL_MUST_CHECK enum rdl_status bench_scale(const struct bench_scale *scale, double (*now_s)(void),
                                           struct bench_scaled *ret);

#endif
