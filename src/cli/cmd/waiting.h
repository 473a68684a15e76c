/* SPDX-License-Identifier: MIT */
/* Letting the lab go on until something is there that is looked for behind each tick. */
#ifndef CLI_CMD_WAITING_H
#define CLI_CMD_WAITING_H

#include "cli/session/session.h"

/* What is waited for, and how waiting ended. */
struct waiting {
    /* Is it there now?  False: s->diag says why nobody can tell. */
    bool (*look)(struct waiting *w, struct session *s, bool *ret);
    void *ctx;
    uint64_t since; /* what is looked for happened behind this tick */
    bool held;
    bool stopped; /* by a stop, or because the session is over */
    bool idle;    /* nothing is scheduled any more; otherwise the time was over */
};

/* Lets the lab go on until what @w waits for is there, as long as timeout= of @st says at most.
 * False: s->diag says what failed.
 */
bool waiting_go_on(struct session *s, const struct step *st, struct waiting *w);

/* It did not come: adds to the notes of s->diag who waits for what, and how to see it again. */
void waiting_note(struct session *s);

/* How to see it again alone. */
void waiting_note_replay(struct session *s);

#endif
