/* SPDX-License-Identifier: MIT */
/* Runs the lab until a condition holds, which is checked after each tick. */
#ifndef CLI_CMD_WAITING_H
#define CLI_CMD_WAITING_H

#include "cli/session/session.h"

/* A condition, and how waiting for it ended.  The members from @held on are results. */
struct waiting {
    /* Evaluates the condition; *@ret is the result.  Returns false, with the error in s->diag, if
     * that is not possible.
     */
    bool (*look)(struct waiting *w, struct session *s, bool *ret);
    void *ctx;
    uint64_t since; /* an event counts only if it happened in a later tick than this one */
    bool held;      /* the condition held */
    bool stopped;   /* a stop was hit, or the session is over */
    bool idle;      /* nothing is scheduled any more */
    /* All three are false: the time `timeout=` has passed. */
};

/* Runs the lab until the condition of @w holds, a stop is hit, the session is over, nothing is
 * scheduled, or the timeout= of @st has passed.  Returns true in all of these cases; the members of
 * @w tell which.  The condition is also checked before the first tick.  Returns false, with the
 * error in s->diag, if the condition cannot be evaluated or the lab failed.
 */
bool waiting_go_on(struct session *s, const struct step *st, struct waiting *w);

#endif
