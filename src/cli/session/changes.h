/* SPDX-License-Identifier: MIT */
/* `set changes`: prints the changes that each line made in the lab. */
#ifndef CLI_SESSION_CHANGES_H
#define CLI_SESSION_CHANGES_H

#include "cli/lang/words.h"
#include "tree/tree_state.h"

struct session;

/* The setting, and the state of the lab at the last report. */
struct changes {
    enum changes_told told;
    bool known; /* @was is valid for this lab */
    struct tree_state was;
};

/* Sets the kind of changes that are printed. */
void changes_set(struct session *s, enum changes_told told);

/* Call at the end of a line: prints the differences since the last call. */
void changes_tell(struct session *s);

/* Call when the lab was replaced: there is nothing to compare with. */
void changes_forget(struct changes *c);

#endif
