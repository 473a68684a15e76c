/* SPDX-License-Identifier: MIT */
/* The snapshots of a session: checkpoints of its lab, from which travel replays.
 *
 * They are ordered by place.  A snapshot is due when replaying from the one before takes a while: a
 * tick counts one unit, a command three.  For a large lab snapshots are farther apart, so that
 * copying stays a small part of the work.  When they exceed their memory, every second one is
 * freed, and new ones are taken half as often.
 */
#ifndef CLI_SESSION_SNAPSHOTS_H
#define CLI_SESSION_SNAPSHOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/session/log.h"
#include "rdmalab/lab.h"

#define SNAPSHOTS_BYTES_MAX ((size_t)256 << 20) /* the default */

struct snapshot {
    struct place place;
    uint64_t hash; /* hash of all events up to @place */
    bool paused;   /* recording was off at @place */
    size_t bytes;
    struct rdl_checkpoint *checkpoint;
};

struct snapshots {
    struct snapshot *v;
    size_t n, room;
    size_t bytes, bytes_max; /* @bytes_max 0: none are taken */
    uint64_t gap;            /* minimum number of units between two snapshots */
};

void snapshots_init(struct snapshots *all, size_t bytes_max);

/* Sets the limit of their memory to @bytes_max, which must not be 0.  Frees snapshots beyond it. */
void snapshots_limit(struct snapshots *all, size_t bytes_max);

/* Frees all of them. */
void snapshots_done(struct snapshots *all);

/* Returns the number of units from the beginning to @p. */
uint64_t place_units(const struct place *p);

/* Returns a number < 0 if @a is before @b, 0 if both are the same place, and > 0 otherwise. */
int place_compare(const struct place *a, const struct place *b);

/* Takes a snapshot of @lab, which is at @p, if one is due or if @must.  Takes none if there is one
 * at @p already, if bytes_max is 0, or if there is no memory.
 */
void snapshots_pass(struct snapshots *all, const struct rdl_lab *lab, const struct place *p,
                    bool must);

/* Returns the last snapshot at @p or before it, or NULL if there is none. */
const struct snapshot *snapshots_before(const struct snapshots *all, const struct place *p);

/* Returns the number of snapshots at @p or before it. */
size_t snapshots_until(const struct snapshots *all, const struct place *p);

/* snapshots_take_after() removes the snapshots after @p from @all and returns them.
 * snapshots_put_back() frees the present ones after @p, and adds @taken again.
 */
struct snapshots snapshots_take_after(struct snapshots *all, const struct place *p);
void snapshots_put_back(struct snapshots *all, struct snapshots *taken, const struct place *p);

/* Frees the snapshots after @p. */
void snapshots_forget_after(struct snapshots *all, const struct place *p);

#endif
