/* SPDX-License-Identifier: MIT */
/* The futures of a session: what it did, and what it did in their place before it went back.
 *
 * A lab has one state, so that one of the futures is the one that it is in; the others are what was
 * done in them, which is enough to do it again.  A future has the beginning in common with every
 * other one, up to a place; to switch is to go there, to take the other journal, and to do again
 * what it says.
 */
#ifndef CLI_SESSION_FUTURES_H
#define CLI_SESSION_FUTURES_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/session/journal.h"
#include "cli/session/snapshots.h"
#include "cli/session/typed_lines.h"
#include "rdmalab/lab.h"

struct session;

#define FUTURES_WAS_MAX                                                                            \
    4u /* futures that nobody named, which are kept when one goes another way                      \
        */
#define FUTURE_FIRST "main"

/* A place that has a name. */
struct mark {
    char name[RDL_NAME_BYTES];
    struct place place;
};

struct marks {
    struct mark *v;
    size_t n, room;
};

/* What makes a future. */
struct future {
    char name[RDL_NAME_BYTES];
    bool was; /* it was left by doing something else, and nobody named it */
    struct journal journal;
    struct typed_lines typed;
    struct marks marks;
    struct place left; /* where the lab was in it */
    uint64_t hash;     /* of all that had happened at its end; 0: not known */
};

struct futures {
    struct future *v; /* but the one that the lab is in */
    size_t n, room;
    char name[RDL_NAME_BYTES]; /* of that one; "": FUTURE_FIRST */
    bool was;                  /* as in struct future, of that one, */
    struct marks marks;        /* and so is this */
    unsigned n_was;            /* that were kept so far */
    struct place parted;       /* where the last of these was left, */
    bool parting;              /* it is not known yet whether that is a future at all */
    struct snapshots aside;    /* and those behind there, until it is known whether it stays left */
};

void futures_free(struct futures *all);

/* The name of the future that the lab is in. */
const char *futures_current(const struct futures *all);

/* One of the others; NULL: none has this name. */
const struct future *futures_find(const struct futures *all, const char *name);

/* Has any this name, the one that the lab is in too? */
bool futures_has(const struct futures *all, const char *name);

/* The place called @name in the future that the lab is in; NULL: there is none. */
const struct place *marks_find(const struct marks *all, const char *name);

/* Gives @place this name, which another one may have had. */
void marks_put(struct marks *all, const char *name, const struct place *place);

/* Takes over @f, which is another one than that of the lab. */
void futures_put(struct futures *all, const struct future *f);

/* Forgets the future called @name, which there is, and which is another one than that of the lab.
 */
void futures_delete(struct futures *all, const char *name);

/* The session is in a future called @name from now on; @was as in struct future. */
void futures_rename(struct futures *all, const char *name, bool was);

void future_done(struct future *f);

/* The hash at the end of what the session did, if it is known; 0: it is not. */
uint64_t futures_hash_at_end(const struct session *s);

/* The session is about to do something else at @place, before the end of what it did: keeps that as
 * a future called was1, was2, ...  What the session did up to @place becomes its journal.
 */
void futures_leave(struct session *s, const struct place *place);

/* It did: of the futures that nobody named the last FUTURES_WAS_MAX stay.  Returns the name of the
 * one that was left, which is valid until futures change.
 */
const char *futures_settle(struct session *s);

/* It did nothing: the future that was left is again that of the session, which is in the past. */
void futures_rejoin(struct session *s);

/* Another future called @name begins where the lab is, which the lab is in from now on. */
void futures_fork(struct session *s, const char *name);

/* Makes the future called @name, which there is, the one that the lab is in; the other one was left
 * at @here.  The lab is at a place that both have in common; @name counts it as @place.  *@ret is
 * what the future was in the list: its journal, lines and marks are the session's now.
 */
void futures_exchange(struct session *s, const char *name, const struct place *here,
                      const struct place *place, struct future *ret);

/* The last place that two futures have in common, as each of them counts what was done. */
struct common {
    struct place a, b;
};
struct common futures_common(const struct journal *a, const struct journal *b);

#endif
