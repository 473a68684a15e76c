/* SPDX-License-Identifier: MIT */
/* Rounds: a lab that repeats itself and never becomes idle.
 *
 * A lab is deterministic.  If nobody acts on it and its state is what it was some ticks ago, it
 * does the same again and again.  These ticks are a *round*.  Example: a SEND without a receive,
 * whose RNR retries have no limit.
 *
 * Two rounds are equal if these are equal, with times relative to the present one:
 *   - the events of each tick, without the fields for which ev_field_repeats() is false: times,
 *     numbers of events, and counts of attempts;
 *   - the scheduled items: nothing waits that is not scheduled anew in each round;
 *   - the random streams of the network and of faults: no number was drawn;
 *   - how often each fault has counted a frame, as long as the fault depends on that;
 *   - a number of the caller, for whatever its own decisions depend on.
 *
 * The counts of attempts that have a limit are at most 7, so they end a series of equal rounds
 * before RDL_ROUNDS_LEAST.
 */
#ifndef RDMALAB_ROUNDS_H
#define RDMALAB_ROUNDS_H

#include "rdmalab/lab.h"

/* RDL_ROUNDS_EQUAL equal rounds in a row are a standstill (rdl_rounds_standstill()), and so are
 * RDL_ROUNDS_LEAST or more that together last at least RDL_ROUNDS_TICKS ticks.  The second rule is
 * for long rounds, for example two endless retries of different lengths.
 */
#define RDL_ROUNDS_EQUAL 1000u
#define RDL_ROUNDS_LEAST 20u
#define RDL_ROUNDS_TICKS 20000u

struct rdl_rounds;

/* The rounds that are equal up to now. */
struct rdl_round {
    uint64_t n;     /* number of equal rounds in a row; 0: none was found */
    uint64_t ticks; /* length of one round */
    uint64_t ns;
};

/* Starts to look for rounds.  *@ret must be freed with rdl_rounds_free(), which accepts NULL,
 * before a checkpoint is restored and before the lab is freed.
 */
RDL_MUST_CHECK enum rdl_status rdl_rounds_new(struct rdl_lab *lab, struct rdl_rounds **ret);
void rdl_rounds_free(struct rdl_rounds *r);

/* Call it after each tick.  @more returns a hash of what the caller's decisions depend on; NULL: of
 * nothing.  It is called with @ctx, but only where a round may end.
 */
void rdl_rounds_look(struct rdl_rounds *r, uint64_t (*more)(void *ctx), void *ctx);

struct rdl_round rdl_rounds_found(const struct rdl_rounds *r);

/* Returns true if the lab repeats itself for ever: enough rounds were equal, and no fault
 * may still act differently, because it has a condition or selects a later transmission.
 */
bool rdl_rounds_standstill(const struct rdl_rounds *r);

#endif
