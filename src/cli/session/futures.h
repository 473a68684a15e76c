/* SPDX-License-Identifier: MIT */
/* The futures of a session: alternative histories that begin in common and part at some place.
 *
 * The lab is in one future at a time, whose journal is that of the session.  Of every other future
 * the journal is kept in a list, which is enough to replay it.  To switch to one, travel goes to
 * the last common place, exchanges the journals, and replays (travel_to_future()).
 *
 * Whoever does something else in the past begins another future without naming it.  The one that is
 * left is called was1, was2, and so on.
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

#define FUTURES_UNNAMED_MAX 4u /* unnamed futures that are kept; older ones are forgotten */
#define FUTURE_FIRST        "main"

/* A place with a name, which `checkpoint` gave it. */
struct mark {
    char name[RDL_NAME_BYTES];
    struct place place;
};

struct marks {
    struct mark *v;
    size_t n, room;
};

struct future {
    char name[RDL_NAME_BYTES];
    bool unnamed; /* its name was made up when it was left */
    struct journal journal;
    struct typed_lines typed;
    struct marks marks;
    struct place left; /* the place where the lab left it */
    uint64_t hash;     /* of all events up to its end; 0: unknown */
};

struct futures {
    struct future *v; /* all but the current one, in which the lab is */
    size_t n, room;
    char name[RDL_NAME_BYTES]; /* of the current one; "": FUTURE_FIRST */
    bool unnamed;              /* as in struct future, of the current one */
    struct marks marks;        /* of the current one */
    unsigned n_unnamed;        /* number of the last name that was made up */

    /* While a command runs in the past that may begin another future: */
    bool undecided;             /* the last one of @v may turn out not to be a future */
    struct place left_at;       /* where it was left */
    struct snapshots set_aside; /* its snapshots behind that place */
};

void futures_free(struct futures *all);

/* Returns the name of the current future. */
const char *futures_current(const struct futures *all);

/* Finds a future in the list; NULL: none there has this name. */
const struct future *futures_find(const struct futures *all, const char *name);

/* Is @name that of any future, the current one included? */
bool futures_has(const struct futures *all, const char *name);

/* Finds the place called @name; NULL: there is none. */
const struct place *marks_find(const struct marks *all, const char *name);

/* Gives @place this name.  A place that had the name loses it. */
void marks_put(struct marks *all, const char *name, const struct place *place);

/* Adds @f to the list, which owns its contents from now on. */
void futures_put(struct futures *all, const struct future *f);

/* Forgets the future called @name, which is in the list. */
void futures_delete(struct futures *all, const char *name);

/* Renames the current future. */
void futures_rename(struct futures *all, const char *name, bool unnamed);

void future_done(struct future *f);

/* Returns the hash at the end of the current future; 0: unknown. */
uint64_t futures_hash_at_end(const struct session *s);

/* Call before a command in the past, at @place, that may do something else than was done there.
 * Keeps the current future in the list as an unnamed one.  The part of it up to @place becomes the
 * journal of the session.  futures_settle() or futures_rejoin() has to follow.
 */
void futures_leave(struct session *s, const struct place *place);

/* The command did something else: the future that was left stays in the list, and older unnamed
 * ones beyond FUTURES_UNNAMED_MAX are forgotten.  Returns its name, valid until futures change.
 */
const char *futures_settle(struct session *s);

/* The command did nothing: the future that was left is again that of the session, and the lab is in
 * the past of it.
 */
void futures_rejoin(struct session *s);

/* Begins another future called @name where the lab is, which becomes the current one. */
void futures_fork(struct session *s, const char *name);

/* Makes the future called @name, which there is, the one that the lab is in; the other one was left
 * at @here.  The lab is at a place that both have in common; @name counts it as @place.  *@ret is
 * what the future was in the list: its journal, lines and marks are the session's now.
 */
void futures_exchange(struct session *s, const char *name, const struct place *here,
                      const struct place *place, struct future *ret);

/* The last common place of two futures, as each of them counts its commands. */
struct common {
    struct place a, b;
};
struct common futures_common(const struct journal *a, const struct journal *b);

#endif
