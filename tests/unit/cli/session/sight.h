/* SPDX-License-Identifier: MIT */
/* The visible state of a lab, to be compared with another moment. */
#ifndef TESTS_UNIT_CLI_SESSION_SIGHT_H
#define TESTS_UNIT_CLI_SESSION_SIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "rdmalab/lab.h"

/* Hashes of the inspect tree and of all events, the time, and how much is recorded.  @recorded_last
 * is the last recorded event, if there is one.
 */
struct sight {
    uint64_t tree, hash, tick, now_ns, recorded_last;
    bool recorded_all;
};

struct sight sight_of(const struct rdl_lab *lab);

/* Fails with what is different between two states.  @what is printed in the message. */
void sight_expect(const struct sight *now, const struct sight *then, const char *what);

#endif
