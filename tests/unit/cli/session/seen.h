/* SPDX-License-Identifier: MIT */
/* What random sessions did, so that one notices when their author stops writing it. */
#ifndef TESTS_UNIT_CLI_SESSION_SEEN_H
#define TESTS_UNIT_CLI_SESSION_SEEN_H

#include "cli/lang/table.h"
#include "cli/session/session.h"

/* How many sessions, or statements, it is true of. */
struct seen {
    unsigned n_sessions;
    unsigned done[N_CMDS];                  /* a command did what it says */
    unsigned event[EV_COUNT];               /* it happened */
    unsigned refused, failed, cut;          /* a command was */
    unsigned to_reset, to_err;              /* modify_qp did that to a queue pair */
    unsigned remade;                        /* an object has the name of one that is gone */
    unsigned forgotten;                     /* the record has forgotten what was recorded */
    unsigned blocks, forks, hits;           /* counted by who makes them */
    unsigned interrupted, limited, stopped; /* statements ended by ^C, patience, a tick */
};

/* Adds what @s has done in its present future. */
void seen_add(struct seen *seen, const struct session *s);

/* Adds all of @more. */
void seen_join(struct seen *seen, const struct seen *more);

/* Fails if any of what they should do was done by none of them.  Of few sessions nothing is asked.
 */
void seen_expect_all(const struct seen *seen, bool with_stops);

/* TRAVEL_SEEDS=FIRST..LAST or =SEED, or TRAVEL_SEED=SEED, in the environment; otherwise 1 .. @n.
 * True: it is one seed, and what is done is to be printed.
 */
bool seeds_chosen(uint64_t n, uint64_t *ret_first, uint64_t *ret_last);

#endif
