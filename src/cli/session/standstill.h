/* SPDX-License-Identifier: MIT */
/* Recognises a run of the lab that would never end.
 *
 * There are two ways to know.  A run whose rounds are equal (rdmalab/rounds.h) never ends: that is
 * certain, and holds everywhere.  At a prompt it is also enough that nothing was completed for
 * session_limits.standstill_ticks: that may be wrong, but the user can let the lab go on.
 *
 * Looking for rounds costs time.  So it begins only after STANDSTILL_FIRST_TICKS, takes an eighth
 * of the run, and is repeated each time that the run has become twice as long.  A stop that may
 * still be hit, because it depends on a time, a tick or a count, prevents it.
 */
#ifndef CLI_SESSION_STANDSTILL_H
#define CLI_SESSION_STANDSTILL_H

#include "cli/session/session.h"
#include "rdmalab/rounds.h"

#define STANDSTILL_FIRST_TICKS 4096u

struct standstill {
    bool wanted;   /* the run has no end of its own */
    bool endless;  /* it is a `run` without a time: idleness alone would end it */
    uint64_t from; /* tick at which the run began */
    /* achieved: number of occurrences that programs wait for.  since: tick from which on it has
     * been so.
     */
    uint64_t achieved, since;
    uint64_t next;             /* tick at which rounds are looked for again */
    uint64_t enough;           /* tick at which that ends, if none was found */
    struct rdl_rounds *rounds; /* NULL: they are not looked for now */
};

/* Starts to watch a run of the lab.  It must be ended with standstill_end(). */
struct standstill standstill_start(const struct session *s, bool wanted, bool endless);
void standstill_end(struct standstill *still);

/* Looks at the lab after it has run.  Returns true if the run never ends: then s->diag says so. */
bool standstill_look(struct session *s, struct standstill *still, struct span at);

/* Returns the number of ticks that the lab may run until the next look. */
uint64_t standstill_ticks(const struct session *s, const struct standstill *still);

#endif
