/* SPDX-License-Identifier: MIT */
/* The stops of a session: breakpoints and watchpoints, which end the running line.
 *
 * A breakpoint is hit when its condition begins to hold.  While the condition continues to hold,
 * the breakpoint is not hit again, unless the condition is about an event that happens
 * (EXPR_HAPPENS).  The condition `#12`, the end of tick 12, is not checked before that tick.  A
 * watchpoint is hit when its value changes.
 *
 * Stops are checked after each tick (stop_look.h).  They belong to the session and not to its lab.
 * So they stay when the lab goes to another place in time, and they do not change the numbers of
 * events.
 */
#ifndef CLI_SESSION_STOPS_H
#define CLI_SESSION_STOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/lang/expr.h"
#include "cli/lang/pool.h"
#include "cli/lang/script.h"
#include "cli/session/operand.h"

struct rdl_listener;

#define STOP_CHANGE_BYTES 192u

enum stop_owner {
    STOP_OF_PROGRAM, /* made by an option of the program: a hit ends the session */
    STOP_OF_PROMPT   /* made by a command: a hit ends the line, and the next line continues */
};

struct stop {
    struct stop *next;
    uint32_t id; /* from 1; unique in a session */
    enum stop_owner owner;
    bool watches;      /* watchpoint: @when is a value; false: breakpoint, @when is a condition */
    bool momentary;    /* @when has an EXPR_HAPPENS, which holds for one tick */
    struct expr *when; /* attached to the lab, see expr_attach() */
    const char *text;  /* text of @when as typed; NULL: the stop is that of stops_add_tick() */
    const char *host;  /* host for bare names in @when; "": none */
    bool enabled;
    bool once;       /* it is removed after its first hit */
    uint64_t n_hits; /* number of hits so far */

    /* Of the last check: */
    uint64_t tick;     /* the check was at the end of this tick */
    bool held;         /* breakpoint: @when held */
    struct operand is; /* watchpoint: value of @when */
    /* Events since the last check: the last one after which the value was the same, and the first
     * one after which it differed; 0: none.
     */
    ev_id stayed, changed;

    /* Of the last hit: */
    ev_id at;                       /* event of the hit; the tick with row 0 if no event is known */
    ev_id behind;                   /* watchpoint: last event before the change; 0: none */
    char change[STOP_CHANGE_BYTES]; /* watchpoint: "5 -> 6" */

    const struct step *steps; /* steps to execute at a hit; NULL: none */
    struct source steps_src;  /* text of the steps */
    bool due;                 /* it was hit, and the steps have not been executed yet */

    struct pool pool; /* memory of everything in it */
};

struct stops {
    struct stop *first;
    struct stop *gone;      /* removed stops; a removed stop may own the running steps */
    const struct stop *hit; /* first stop that was hit in the running line; NULL: none */
    uint32_t n_made;        /* number of stops made so far */
    bool ignored;           /* stops are not checked, during a replay */
    bool in_block;          /* the steps of a stop run; stops that they hit do not run theirs */
    struct rdl_listener *listener; /* for watchpoints; NULL: none is enabled */
};

void stops_free(struct stops *list);

/* Adds a breakpoint for the condition @text, which stands at @at.  Returns NULL, with the error in
 * @reterr, if it cannot be parsed.
 */
struct stop *stops_add_when(struct stops *list, enum stop_owner owner, const char *text,
                            struct span at, struct diag *reterr);

/* Adds a breakpoint at the end of tick @tick and returns it. */
struct stop *stops_add_tick(struct stops *list, enum stop_owner owner, uint64_t tick);

/* Copies the list of steps @first, whose text is @src, to @stop.  They are executed at each hit. */
void stop_put_steps(struct stop *stop, const struct source *src, const struct step *first);

/* Returns the stop @id, or NULL if there is none or it was removed. */
struct stop *stops_find(const struct stops *list, uint32_t id);

/* Removes the stop @id.  Its memory stays until stops_forget(). */
void stops_remove(struct stops *list, uint32_t id);

/* Frees the stops that were removed. */
void stops_forget(struct stops *list);

/* Removes @stop, which must be the last one that was made.  The next stop gets its id. */
void stops_refuse(struct stops *list, const struct stop *stop);

/* Returns true if a watchpoint is enabled. */
bool stops_watch(const struct stops *list);

/* Returns the number of ticks that the lab may run from tick @tick until the stops must be checked:
 * 1 if any enabled stop is not a `#TICK`.  UINT64_MAX means never.
 */
uint64_t stops_ticks(const struct stops *list, uint64_t tick);

#endif
