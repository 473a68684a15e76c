/* SPDX-License-Identifier: MIT */
/* `set changes`: prints what each line changed in the lab. */
#ifndef CLI_SESSION_CHANGES_H
#define CLI_SESSION_CHANGES_H

#include "cli/lang/words.h"
#include "tree/tree_state.h"

struct session;

/* The setting, and the state of the lab when changes were last printed. */
struct changes {
    enum changes_told told;
    bool known; /* @was is valid for this lab */
    struct tree_state was;
};

/* Sets the kind of changes that are printed. */
void changes_set(struct session *s, enum changes_told told);

/* Prints the differences between the lab now and at the last call, and keeps its present state.
 * Call at the end of a line.
 */
void changes_print(struct session *s);

/* Frees the kept state.  Call when the lab was replaced: the next changes_print() has nothing to
 * compare with.
 */
void changes_forget(struct changes *c);

#endif
