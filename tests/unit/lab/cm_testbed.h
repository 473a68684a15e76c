/* SPDX-License-Identifier: MIT */
/* The testbed for tests of connections by rdma_cm. */
#ifndef TESTS_UNIT_LAB_CM_TESTBED_H
#define TESTS_UNIT_LAB_CM_TESTBED_H

#include "emu/facts/enum/mtu.h"
#include "testbed/testbed.h"

static const struct testbed_config cm_testbed = {.seed = 4,
                                                 .check_invariants = true,
                                                 .mr_bytes = 4096,
                                                 .max_wr = 16,
                                                 .path_mtu = MTU_1024,
                                                 .latency_ns = 1000};

#endif
