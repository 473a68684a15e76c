/* SPDX-License-Identifier: MIT */
/* The snapshots of a session: checkpoints of its lab, from which travel replays.
 *
 * Snapshots are ordered by place.  Their distance is counted in units: a tick is one unit, a
 * command three.  A snapshot is due when it is at least @gap units from its neighbours; for a lab
 * of 16 MiB or more, @gap for every 8 MiB, so that copying stays a small part of the work.  When
 * the snapshots exceed their limit of memory, every second one is freed, and @gap is doubled.
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
    size_t bytes;  /* memory that it takes */
    struct rdl_checkpoint *checkpoint;
};

struct snapshots {
    struct snapshot *v;
    size_t n, room;
    size_t bytes, bytes_max; /* memory of all, and its limit; @bytes_max 0: none are taken */
    uint64_t gap;            /* minimum number of units between two snapshots; 65536 at first */
};

void snapshots_init(struct snapshots *all, size_t bytes_max);

/* Sets the limit of the snapshots' memory to @bytes_max, which must not be 0.  Frees snapshots
 * until the limit is met, or only two are left.
 */
void snapshots_limit(struct snapshots *all, size_t bytes_max);

/* Frees all snapshots.  @all stays usable, with the same limit. */
void snapshots_done(struct snapshots *all);

/* Returns the number of units from the beginning of the history to @p. */
uint64_t place_units(const struct place *p);

/* Returns a number < 0 if @a is before @b, 0 if both are the same place, and > 0 otherwise. */
int place_compare(const struct place *a, const struct place *b);

/* Takes a snapshot of @lab, which is at @p, if one is due (see above) or if @must.  Takes none if
 * there is one at @p already, if bytes_max is 0, or if there is no memory.
 */
void snapshots_pass(struct snapshots *all, const struct rdl_lab *lab, const struct place *p,
                    bool must);

/* Returns the last snapshot at @p or before it, or NULL if there is none.  It is valid until @all
 * changes.
 */
const struct snapshot *snapshots_before(const struct snapshots *all, const struct place *p);

/* Returns the number of snapshots at @p or before it. */
size_t snapshots_until(const struct snapshots *all, const struct place *p);

/* snapshots_take_after() removes the snapshots after @p from @all and returns them.
 * snapshots_put_back() frees the present snapshots after @p, and moves those of @taken back to
 * @all.
 */
struct snapshots snapshots_take_after(struct snapshots *all, const struct place *p);
void snapshots_put_back(struct snapshots *all, struct snapshots *taken, const struct place *p);

/* Frees the snapshots after @p. */
void snapshots_forget_after(struct snapshots *all, const struct place *p);

#endif
