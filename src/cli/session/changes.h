/* SPDX-License-Identifier: MIT */
/* What each command has changed in the lab: `set changes`. */
#ifndef CLI_SESSION_CHANGES_H
#define CLI_SESSION_CHANGES_H

#include "cli/lang/words.h"
#include "tree/tree_state.h"

struct session;

/* Of a session: what it tells of, and what the lab was like when it told that last. */
struct changes {
    enum changes_told told;
    bool known; /* what @was says is what this lab was */
    struct tree_state was;
};

/* From now on tells of @told. */
void changes_set(struct session *s, enum changes_told told);

/* A line that was carried out is over: prints what is different from before it. */
void changes_tell(struct session *s);

/* The lab is another one, of which nothing is to be told. */
void changes_forget(struct changes *c);

#endif
