/* SPDX-License-Identifier: MIT */
/* The stops of a session: breakpoints and watchpoints, which end the running line.
 *
 * A breakpoint is hit when its condition begins to hold.  While the condition goes on holding, it
 * is not hit again, unless it is about an occurrence.  `#12`, the end of a tick, is a condition
 * that needs no look before that tick.  A watchpoint is hit when its value changes.
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
    STOP_OF_PROGRAM, /* an option of the program made it: the session ends there */
    STOP_OF_PROMPT   /* a command made it: the line ends there, and the next one continues */
};

struct stop {
    struct stop *next;
    uint32_t id; /* from 1; no two stops of a session have the same */
    enum stop_owner owner;
    bool watches;      /* @when is a value that is watched; false: it is a condition */
    bool momentary;    /* @when is about an occurrence: it does not go on holding */
    struct expr *when; /* attached to the lab, see expr_attach() */
    const char *text;  /* of @when, as it was typed; NULL: nobody typed it */
    const char *host;  /* bare names in it are looked up on this host; "": nowhere */
    bool enabled;
    bool once;       /* it is removed after its first hit */
    uint64_t n_hits; /* number of hits */

    /* The last check: */
    uint64_t tick;     /* was after this tick */
    bool held;         /* did @when hold? */
    struct operand is; /* the value of @when */
    /* Events since the last check: the last one at which the value was the same, and the first one
     * at which it was different; 0: none.
     */
    ev_id stayed, changed;

    /* Of the last hit: */
    ev_id at;                       /* its event; or its tick, with row 0, if no event tells */
    ev_id behind;                   /* of a watchpoint: an event before the change; 0: none */
    char change[STOP_CHANGE_BYTES]; /* of a watchpoint: "5 -> 6" */

    const struct step *steps; /* carried out when it is hit; NULL: none */
    struct source steps_src;  /* their text */
    bool due;                 /* it was hit, and they were not carried out yet */

    struct pool pool; /* of all that it points to */
};

struct stops {
    struct stop *first;
    struct stop *gone;      /* removed by the running line, which may be one of their steps */
    const struct stop *hit; /* the one that has ended the running line; NULL: none has */
    uint32_t n_made;        /* number of stops made so far */
    bool ignored;           /* no stop is hit: during a replay */
    bool in_block;          /* the steps of a stop run: those of another are not carried out */
    struct rdl_listener *listener; /* of the stops that watch a value; NULL: none does */
};

void stops_free(struct stops *list);

/* Adds a breakpoint for the condition @text, which stands at @at.  NULL: it cannot be read, and
 * @reterr says why.
 */
struct stop *stops_add_when(struct stops *list, enum stop_owner owner, const char *text,
                            struct span at, struct diag *reterr);

/* Adds a breakpoint at the end of tick @tick. */
struct stop *stops_add_tick(struct stops *list, enum stop_owner owner, uint64_t tick);

/* Sets the steps of @stop: the list that begins with @first, from @src. */
void stop_put_steps(struct stop *stop, const struct source *src, const struct step *first);

/* Finds the stop with this id; NULL: there is none, or it was removed. */
struct stop *stops_find(const struct stops *list, uint32_t id);

/* Removes the stop with this id.  Its memory stays until stops_forget(). */
void stops_remove(struct stops *list, uint32_t id);

/* Frees the stops that were removed. */
void stops_forget(struct stops *list);

/* Undoes the making of @stop, the last one that was made: the next one gets its id. */
void stops_refuse(struct stops *list, const struct stop *stop);

/* Is any watchpoint enabled? */
bool stops_watch(const struct stops *list);

/* Returns the number of ticks that the lab may run from tick @tick until the next check of the
 * stops.
 */
uint64_t stops_ticks(const struct stops *list, uint64_t tick);

#endif
