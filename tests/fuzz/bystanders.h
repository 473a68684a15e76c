/* SPDX-License-Identifier: MIT */
/* The hosts h2 and h3 of a lab with a hostile driver, which send each other messages. */
#ifndef TESTS_FUZZ_BYSTANDERS_H
#define TESTS_FUZZ_BYSTANDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "fuzz.h"
#include "testbed/testbed.h"

#define BYSTANDER_TICKS 400000u /* more than their messages need */
#define BYSTANDER_HOSTS 3u      /* with h1 */

/* Adds h1, which is as @h1 says, h2 and h3, each with a link to a switch.  @ret gets the hosts. */
void bystanders_add_hosts(struct rdl_lab *lab, const struct rdl_host_config *h1,
                          rdl_host ret[BYSTANDER_HOSTS]);

/* Has h2 and h3, the @sides of @lab, get done with @messages each way.  However busy h1 keeps its
 * device, they succeed within the time that they need.  @tick advances @h, the lab of the target,
 * by one tick; it returns false if nothing is due until @until_ns.
 */
void bystanders_finish(struct rdl_lab *lab, const struct testbed_side sides[2], uint32_t messages,
                       bool (*tick)(const void *h, uint64_t until_ns), const void *h);

#endif
