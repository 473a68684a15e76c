/* SPDX-License-Identifier: MIT */
/* Measures one operation of one service between two hosts. */
#ifndef BENCH_BENCH_OPS_H
#define BENCH_BENCH_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "rdmalab/status.h"

/* Places of the two hosts: at the ends of a cable, or guests of one machine. */
enum bench_place { BENCH_CABLE, BENCH_MACHINE, BENCH_SHORTCUT };

/* The operation to measure: h1 posts batches of @depth messages, at most BENCH_DEPTH_MAX. */
struct bench_op {
    uint32_t type;   /* enum qp_type */
    uint32_t opcode; /* enum wr_opcode: a SEND, an RDMA WRITE, an RDMA READ or an atomic */
    uint32_t bytes;  /* length of a message */
    uint32_t depth;  /* messages posted at a time */
    bool record;     /* record events and frames */
};

#define BENCH_DEPTH_MAX 128u

/* The result of a measurement. */
struct bench_figure {
    double seconds;           /* processor time; 0: nothing was measured yet */
    uint64_t messages, ticks; /* messages completed, and ticks of the lab, in this time */
};

/* Measures @op between hosts at @place for at least 0.05 s, and replaces *@best if this try was
 * faster, or if best->seconds is 0.  Other work on the machine makes caches cold, so the best of
 * several tries is the most repeatable.  @now_s returns the processor time in seconds.
 *
 * Errors: those of the public API; RDL_ERR_IDLE if completions are missing; RDL_ERR_INVAL if one is
 * not a success.
 */
RDL_MUST_CHECK enum rdl_status bench_op(const struct bench_op *op, enum bench_place place,
                                        double (*now_s)(void), struct bench_figure *best);

#endif
