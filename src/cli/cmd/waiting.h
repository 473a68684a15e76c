/* SPDX-License-Identifier: MIT */
/* Runs the lab until a condition holds, which is checked after each tick. */
#ifndef CLI_CMD_WAITING_H
#define CLI_CMD_WAITING_H

#include "cli/session/session.h"

/* The condition, and how waiting for it ended. */
struct waiting {
    /* *@ret tells whether it holds now.  Returns false if that cannot be told; s->diag says why.
     */
    bool (*look)(struct waiting *w, struct session *s, bool *ret);
    void *ctx;
    uint64_t since; /* what is looked for happened behind this tick */
    bool held;
    bool stopped; /* by a stop, or because the session is over */
    bool idle;    /* nothing is scheduled any more; otherwise the time was over */
};

/* Runs the lab until the condition of @w holds, for at most the timeout= of @st.  If it fails,
 * s->diag says why.
 */
bool waiting_go_on(struct session *s, const struct step *st, struct waiting *w);

/* Adds notes to s->diag after a wait without success: the objects that wait for something, and how
 * to reproduce it.
 */
void waiting_note(struct session *s);

/* Adds the note how to reproduce it. */
void waiting_note_replay(struct session *s);

#endif
