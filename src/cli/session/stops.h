/* SPDX-License-Identifier: MIT */
/* Where a lab that goes on is stopped: the list of stops of a session.
 *
 * A stop is hit when its condition begins to hold: one that goes on holding is not hit again,
 * unless it is about what happens.  Or it is hit when a value is another one than it was.  That a
 * tick is over, `#12`, is a condition that is a place: nobody has to look before it is reached.
 *
 * Stops are looked at behind each tick (stop_look.h).  They belong to the session and not to its
 * lab, so that they stay when the lab goes to another place in time, and no event is numbered
 * otherwise because of them.
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
    STOP_OF_PROGRAM, /* an option of the program asked for it: the session ends there */
    STOP_OF_PROMPT   /* a person did: the line ends there, and the next one goes on */
};

struct stop {
    struct stop *next;
    uint32_t id; /* from 1; no two stops of a session have the same */
    enum stop_owner owner;
    bool watches;      /* that @when, a value, changes; false: that @when, a condition, holds */
    bool momentary;    /* @when is about what happens: it does not go on holding */
    struct expr *when; /* it has a lab to be asked of */
    const char *text;  /* of @when, as it was typed; NULL: nobody typed it */
    const char *host;  /* where bare names in it are looked up; "": nowhere */
    bool enabled;
    bool once;       /* it is gone after its first hit */
    uint64_t n_hits; /* how often it stopped the lab */

    /* When it was last looked at: */
    uint64_t tick;     /* that was behind this tick; */
    bool held;         /* @when held; */
    struct operand is; /* that was the value of @when */
    /* The last event since then at which it was that yet, and the first one at which it was another
     * one; 0: there was none.
     */
    ev_id stayed, changed;

    /* Of the last hit: */
    ev_id at;                       /* an event, or a tick, row 0, where none of its rows tells */
    ev_id behind;                   /* of one that watches: an event before the change; 0: none */
    char change[STOP_CHANGE_BYTES]; /* "5 -> 6", of one that watches */

    const struct step *steps; /* what is done when it is hit; NULL: nothing */
    struct source steps_src;  /* where they come from */
    bool due;                 /* it was hit, and they were not done yet */

    struct pool pool; /* of all that it points to */
};

struct stops {
    struct stop *first;
    struct stop *gone;      /* removed by the line that runs, which may be in the steps of one */
    const struct stop *hit; /* the first that has ended what ran; NULL: none has */
    uint32_t n_made;        /* also those that are gone */
    bool ignored;           /* no stop is hit: during a replay */
    bool in_block;          /* the steps of a stop run: those of another are not carried out */
    struct rdl_listener *listener; /* of the stops that watch a value; NULL: none does */
};

void stops_free(struct stops *list);

/* Adds a stop where the condition @text, which came from @at, begins to hold; `#12` is a place.
 * NULL: it cannot be read, and @reterr says why.
 */
struct stop *stops_add_when(struct stops *list, enum stop_owner owner, const char *text,
                            struct span at, struct diag *reterr);

/* Adds a stop at the end of tick @tick. */
struct stop *stops_add_tick(struct stops *list, enum stop_owner owner, uint64_t tick);

/* When @stop is hit, @first and what follows it in @src is done. */
void stop_put_steps(struct stop *stop, const struct source *src, const struct step *first);

/* The stop with this id; NULL if there is none (any more). */
struct stop *stops_find(const struct stops *list, uint32_t id);

/* What the stop with this id points to stays until stops_forget(). */
void stops_remove(struct stops *list, uint32_t id);

/* Frees the stops that were removed. */
void stops_forget(struct stops *list);

/* @stop, the last one that was made, is no stop after all: the next one has its id. */
void stops_refuse(struct stops *list, const struct stop *stop);

/* Is there one that watches a value, and that is enabled? */
bool stops_watch(const struct stops *list);

/* How many ticks the lab may go on from tick @tick before somebody has to look at the stops. */
uint64_t stops_ticks(const struct stops *list, uint64_t tick);

#endif
