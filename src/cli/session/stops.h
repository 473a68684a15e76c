/* SPDX-License-Identifier: MIT */
/* Where a lab that goes on is stopped: the list of stops of a session.
 *
 * A stop is hit when its condition begins to hold: one that goes on holding is not hit again.  That
 * a tick is over, `#12`, is a condition that is a place: nobody has to look before it is reached.
 */
#ifndef CLI_SESSION_STOPS_H
#define CLI_SESSION_STOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/lang/expr.h"
#include "cli/lang/pool.h"

enum stop_owner {
    STOP_OF_PROGRAM, /* an option of the program asked for it: the session ends there */
    STOP_OF_PROMPT   /* a person did: the line ends there, and the next one goes on */
};

struct stop {
    struct stop *next;
    uint32_t id; /* from 1; no two stops of a session have the same */
    enum stop_owner owner;
    struct expr *when; /* the condition, which has a lab to be asked of */
    bool enabled;
    bool held;        /* it held when it was last looked at */
    uint64_t n_hits;  /* how often it stopped the lab */
    struct pool pool; /* of @when */
};

struct stops {
    struct stop *first;
    const struct stop *hit; /* the one that has ended what ran; NULL: none has */
    uint32_t n_made;        /* also those that are gone */
};

void stops_free(struct stops *list);

/* Adds a stop where the condition @text, which came from @at, begins to hold; `#12` is a place.
 * NULL: it cannot be read, and @reterr says why.
 */
struct stop *stops_add_when(struct stops *list, enum stop_owner owner, const char *text,
                            struct span at, struct diag *reterr);

/* Adds a stop at the end of tick @tick. */
struct stop *stops_add_tick(struct stops *list, enum stop_owner owner, uint64_t tick);

/* The stop with this id; NULL if there is none (any more). */
struct stop *stops_find(const struct stops *list, uint32_t id);

void stops_remove(struct stops *list, uint32_t id);

/* How many ticks the lab may go on from tick @tick before somebody has to look at the stops. */
uint64_t stops_ticks(const struct stops *list, uint64_t tick);

/* The lab was looked at, and @stop @holds: is that a hit?  Then it is counted. */
bool stop_is_hit(struct stop *stop, bool holds);

#endif
