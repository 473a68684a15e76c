/* SPDX-License-Identifier: MIT */
/* The futures of a session: alternative histories with a common beginning.
 *
 * The lab is in one future at a time, the current one.  Its journal is the journal of the session.
 * The journals of the other futures are in a list; a journal is enough to replay its future.  To
 * switch to another future, travel goes to the last common place, exchanges the journals, and
 * replays (travel_to_future()).
 *
 * A command that changes something in the past begins another future, which takes over the name of
 * the current one.  The future that is left is called was1, was2, and so on: it counts as unnamed.
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
    bool unnamed;           /* its name is was1, was2, ... */
    struct journal journal; /* its history */
    struct typed_lines typed;
    struct marks marks; /* its places with names */
    struct place left;  /* place of the lab when it left this future */
    uint64_t hash;      /* hash of all events up to the end of this future; 0: unknown */
};

struct futures {
    struct future *v; /* all futures but the current one */
    size_t n, room;
    char name[RDL_NAME_BYTES]; /* name of the current future; "": FUTURE_FIRST */
    bool unnamed;              /* the current future has a name was1, was2, ... */
    struct marks marks;        /* places with names in the current future */
    unsigned n_unnamed;        /* number in the last name was1, was2, ...; 0: none was given yet */

    /* While a command runs in the past that may begin another future: */
    bool undecided; /* after futures_leave(): the last future of @v may become current again */
    struct place left_at;       /* place where the last future of @v was left */
    struct snapshots set_aside; /* snapshots of the last future of @v, after @left_at */
};

void futures_free(struct futures *all);

/* Returns the name of the current future, valid until it is renamed. */
const char *futures_current(const struct futures *all);

/* Returns the future called @name in the list, or NULL if there is none.  The current future is not
 * in the list.  The pointer is valid until the list changes.
 */
const struct future *futures_find(const struct futures *all, const char *name);

/* Returns true if a future is called @name, the current one included. */
bool futures_has(const struct futures *all, const char *name);

/* Returns the place called @name, or NULL if there is none.  It is valid until @all changes. */
const struct place *marks_find(const struct marks *all, const char *name);

/* Gives @place the name @name.  A place that had the name loses it. */
void marks_put(struct marks *all, const char *name, const struct place *place);

/* Adds a copy of @f to the list.  The list owns what @f points to from now on. */
void futures_put(struct futures *all, const struct future *f);

/* Removes and frees the future @name, which must be in the list. */
void futures_delete(struct futures *all, const char *name);

/* Renames the current future.  @unnamed: @name is was1, was2, ... */
void futures_rename(struct futures *all, const char *name, bool unnamed);

void future_done(struct future *f);

/* Returns the hash of all events up to the end of the current future; 0 means unknown. */
uint64_t futures_hash_at_end(const struct session *s);

/* Moves the current future to the list, with the name was1, was2, ....  The session goes on in a
 * new future with the old name, whose history is a copy of that up to @place.  Call before a
 * command at @place, in the past, that may change the lab.  After the command, call
 * futures_settle() or futures_rejoin().
 */
void futures_leave(struct session *s, const struct place *place);

/* Ends futures_leave() if the command changed something: the future that was left stays in the
 * list.  Unnamed futures beyond FUTURES_UNNAMED_MAX are freed, the oldest first.  Returns the name
 * of the future that was left, valid until the list changes.
 */
const char *futures_settle(struct session *s);

/* Ends futures_leave() if the command changed nothing: the future that was left is the current one
 * again, and the lab is in its past.
 */
void futures_rejoin(struct session *s);

/* Begins another future called @name at the place of the lab.  The new future becomes the current
 * one; the old one is in the list, with its name.
 */
void futures_fork(struct session *s, const char *name);

/* Makes the future @name, which must be in the list, the current one.  The old current future takes
 * its entry in the list, with @here as the place where it was left.  The lab must be at a place
 * that both futures have in common; @place is that place in the future @name.  *@ret is a copy of
 * the former entry; its journal, lines and marks belong to the session now.
 */
void futures_exchange(struct session *s, const char *name, const struct place *here,
                      const struct place *place, struct future *ret);

/* The last place that two futures have in common.  @a and @b have the same tick and time; n_entries
 * counts the commands of the first future in @a, and of the second in @b.
 */
struct common {
    struct place a, b;
};
struct common futures_common(const struct journal *a, const struct journal *b);

#endif
