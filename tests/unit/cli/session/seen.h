/* SPDX-License-Identifier: MIT */
/* Statistics of random sessions.  A test fails if their author no longer writes some kind of
 * statement.
 */
#ifndef TESTS_UNIT_CLI_SESSION_SEEN_H
#define TESTS_UNIT_CLI_SESSION_SEEN_H

#include "cli/lang/table.h"
#include "cli/session/session.h"
#include "emu/trace/kind.h"

/* Numbers of sessions or statements. */
struct seen {
    unsigned n_sessions;
    unsigned done[N_CMDS];    /* sessions in which the command succeeded */
    unsigned event[EV_COUNT]; /* sessions in which the event occurred */
    /* Sessions with a command that was refused, failed or cut short. */
    unsigned refused, failed, cut;
    unsigned to_reset, to_err; /* sessions in which modify_qp moved a queue pair to that state */
    unsigned remade;    /* sessions in which a name was used again after its object was destroyed */
    unsigned forgotten; /* sessions in which the recorder dropped events */
    unsigned blocks, forks, hits;           /* counted by the callers */
    unsigned interrupted, limited, stopped; /* statements that ended by ^C, a limit, a tick */
};

/* Adds the statistics of the present future of @s. */
void seen_add(struct seen *seen, const struct session *s);

/* Adds @more to @seen. */
void seen_join(struct seen *seen, const struct seen *more);

/* Fails if something that random sessions must do did not happen in any of them.  Does not check
 * when there are few sessions.
 */
void seen_expect_all(const struct seen *seen, bool with_stops);

/* Reads the seeds from the environment: TRAVEL_SEEDS=FIRST..LAST or =SEED, or TRAVEL_SEED=SEED;
 * otherwise 1 .. @n.  Returns true if it is a single seed, whose session is to be printed.
 */
bool seeds_chosen(uint64_t n, uint64_t *ret_first, uint64_t *ret_last);

#endif
