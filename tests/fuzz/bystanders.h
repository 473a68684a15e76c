/* SPDX-License-Identifier: MIT */
/* The hosts h2 and h3 of a lab with a hostile driver, which send each other messages. */
#ifndef TESTS_FUZZ_BYSTANDERS_H
#define TESTS_FUZZ_BYSTANDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "fuzz.h"
#include "testbed/testbed.h"

#define BYSTANDER_TICKS 400000u /* more than their messages need */

static inline void must(enum rdl_status st)
{
    FUZZ_CHECK(st == RDL_OK);
}

/* Has h2 and h3, the @sides of @lab, get done with @messages each way.  However busy h1 keeps its
 * device, they succeed within the time that they need.  @tick advances @h, the lab of the target,
 * by one tick; it returns false if nothing is due until @until_ns.
 */
void bystanders_finish(struct rdl_lab *lab, const struct testbed_side sides[2], uint32_t messages,
                       bool (*tick)(const void *h, uint64_t until_ns), const void *h);

#endif
