/* SPDX-License-Identifier: MIT */
/* Prints events while a command (struct step) lets the lab run: those of the kinds in the set
 * ev_set_for(EV_FOR_STORY).  Rounds of equal events are folded (past/fold.h).
 */
#ifndef CLI_SESSION_SHOWN_H
#define CLI_SESSION_SHOWN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/trace/set.h"
#include "rdmalab/lab.h"

struct ev;
struct fold;
struct rdl_listener;

/* The lines that are printed; further events are only counted. */
enum shown_share {
    SHOWN_OF_STEP, /* the first 200 lines of each command */
    SHOWN_OF_ALL   /* the first 200 of all commands together */
};

struct shown {
    struct rdl_lab *lab;
    enum shown_share share;
    struct rdl_listener *listener; /* NULL: no lab was attached */
    struct fold *fold;             /* NULL: no lab was attached */
    /* The last @n_held events, of one tick, which are not printed yet: the bytes of a frame are
     * recorded behind its event.  Owned; NULL: no lab was attached.
     */
    struct ev *held;
    uint32_t n_held;
    FILE *out;
    bool colour;
    uint64_t n_taken; /* number of events so far, printed, folded or left out */
    /* Number of lines printed, and of events left out after them; of the running command, or with
     * SHOWN_OF_ALL of all so far.
     */
    uint64_t n_lines, n_left;
    bool connections; /* print only the kinds of shown_of_connections() */
    bool connects;    /* the same, for the running command */
    bool full;        /* with SHOWN_OF_ALL: the limit was reached, and a message was printed */
};

/* Listens to @lab.  @sh must stay at its address until shown_done().  Prints nothing before
 * shown_begin().
 */
RDL_MUST_CHECK enum rdl_status shown_init(struct shown *sh, struct rdl_lab *lab, FILE *out,
                                          bool colour, enum shown_share share);
void shown_done(struct shown *sh);

/* Returns the kinds of events that show how a connection is made, and whatever prevents it. */
struct ev_set shown_of_connections(void);

/* Prints events from now on.  Call when a step begins. */
void shown_begin(struct shown *sh);

/* Prints the events that are kept because they may be folded, or because their frame was not
 * recorded.  Call before something else is printed.
 */
void shown_flush(struct shown *sh);

/* Stops printing.  If events were left out, prints that there are more.  Call when the step ends.
 */
void shown_end(struct shown *sh);

#endif
