/* SPDX-License-Identifier: MIT */
/* What a lab is like, as far as anybody can see. */
#ifndef TESTS_UNIT_CLI_SESSION_SIGHT_H
#define TESTS_UNIT_CLI_SESSION_SIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "rdmalab/lab.h"

/* Its whole tree, what has happened, what of that is recorded: all of it, or the last event or,
 * where the lab was taken to before what was forgotten, none.
 */
struct sight {
    uint64_t tree, hash, tick, now_ns, recorded_last;
    bool recorded_all;
};

struct sight sight_of(const struct rdl_lab *lab);

/* Fails with what is different, @what that is of. */
void sight_expect(const struct sight *now, const struct sight *then, const char *what);

#endif
