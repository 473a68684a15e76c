/* SPDX-License-Identifier: MIT */
/* `set changes`: prints what each line changed in the lab. */
#ifndef CLI_SESSION_CHANGES_H
#define CLI_SESSION_CHANGES_H

#include "cli/lang/words.h"
#include "tree/tree_state.h"

struct session;

/* The state of `set changes`. */
struct changes {
    enum changes_told told; /* the changes that are printed: none, the usual ones, all */
    bool known;             /* @was is valid */
    struct tree_state was;  /* state of the lab at the last changes_print() */
};

/* Sets which changes are printed from now on.  Nothing is compared with an earlier state: calls
 * changes_forget().
 */
void changes_set(struct session *s, enum changes_told told);

/* Prints the differences between the present state of the lab and the stored one, then stores the
 * present state.  Call at the end of a line.  Without a stored state it prints nothing.  It does
 * nothing if changes are off or the session is not verbose.
 */
void changes_print(struct session *s);

/* Frees the stored state: the next changes_print() has nothing to compare with.  Call when the lab
 * was replaced.
 */
void changes_forget(struct changes *c);

#endif
