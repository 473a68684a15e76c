/* SPDX-License-Identifier: MIT */
/* The testbed of tests that do not depend on its sizes. */
#ifndef TESTS_UNIT_LAB_PLAIN_BED_H
#define TESTS_UNIT_LAB_PLAIN_BED_H

#include "emu/facts/enum/mtu.h"
#include "testbed/testbed.h"

/* Both devices offer @extensions, a set of 1 << enum extension. */
static inline struct testbed_config plain_bed(uint64_t extensions)
{
    return (struct testbed_config){.seed = 3,
                                   .check_invariants = true,
                                   .extensions = extensions,
                                   .mr_bytes = 4096,
                                   .max_wr = 16,
                                   .path_mtu = MTU_1024,
                                   .timeout = 8,
                                   .retry_cnt = 7,
                                   .rnr_retry = 7,
                                   .min_rnr_timer = 1,
                                   .latency_ns = 1000,
                                   .rate_bps = UINT64_C(100000000000)};
}

#endif
