/* SPDX-License-Identifier: MIT */
/* The futures of a session: alternative histories with a common beginning.
 *
 * The lab is in one future at a time, the current one.  Its journal is the journal of the session.
 * The journals of the other futures are in a list; a journal is enough to replay its future.  To
 * switch to another future, travel goes to the last common place, exchanges the journals, and
 * replays (travel_to_future()).
 *
 * A command that changes something in the past begins another future without a name.  The future
 * that is left is then called was1, was2, and so on.
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
    bool unnamed; /* its name is was1, was2, ... */
    struct journal journal;
    struct typed_lines typed;
    struct marks marks;
    struct place left; /* the place where the lab left it */
    uint64_t hash;     /* hash of all events up to the end; 0: unknown */
};

struct futures {
    struct future *v; /* all futures but the current one */
    size_t n, room;
    char name[RDL_NAME_BYTES]; /* name of the current future; "": FUTURE_FIRST */
    bool unnamed;              /* the current future has a name was1, was2, ... */
    struct marks marks;        /* places with names in the current future */
    unsigned n_unnamed;        /* number in the last name of the kind was1, was2, ... */

    /* While a command runs in the past that may begin another future: */
    bool undecided;       /* futures_leave() has put the current future into @v; it may return */
    struct place left_at; /* place where the last future of @v was left */
    struct snapshots set_aside; /* snapshots of that future after @left_at */
};

void futures_free(struct futures *all);

/* Returns the name of the current future. */
const char *futures_current(const struct futures *all);

/* Returns the future called @name in the list, or NULL if there is none.  The current future is not
 * in the list.
 */
const struct future *futures_find(const struct futures *all, const char *name);

/* Returns true if a future is called @name, the current one included. */
bool futures_has(const struct futures *all, const char *name);

/* Returns the place called @name, or NULL if there is none. */
const struct place *marks_find(const struct marks *all, const char *name);

/* Gives @place this name.  A place that had the name loses it. */
void marks_put(struct marks *all, const char *name, const struct place *place);

/* Adds @f to the list, which owns its contents from now on. */
void futures_put(struct futures *all, const struct future *f);

/* Removes and frees the future @name, which must be in the list. */
void futures_delete(struct futures *all, const char *name);

/* Renames the current future. */
void futures_rename(struct futures *all, const char *name, bool unnamed);

void future_done(struct future *f);

/* Returns the hash of all events up to the end of the current future; 0 means unknown. */
uint64_t futures_hash_at_end(const struct session *s);

/* Puts the current future into the list as an unnamed one.  The journal of the session becomes its
 * part up to @place.  Call before a command in the past, at @place, that may change the lab.
 * Afterwards call futures_settle() or futures_rejoin().
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

/* Begins another future called @name at the place of the lab.  It becomes the current one. */
void futures_fork(struct session *s, const char *name);

/* Makes the future @name, which must be in the list, the current one.  The lab is at a place that
 * both futures have in common; @place is that place in the future @name, and @here is the place
 * where the other future was left.  *@ret is the list entry of the future @name; its journal, lines
 * and marks belong to the session now.
 */
void futures_exchange(struct session *s, const char *name, const struct place *here,
                      const struct place *place, struct future *ret);

/* The last common place of two futures.  @a and @b are the same place, with the number of commands
 * in each of the two.
 */
struct common {
    struct place a, b;
};
struct common futures_common(const struct journal *a, const struct journal *b);

#endif
