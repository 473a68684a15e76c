/* SPDX-License-Identifier: MIT */
/* Checkpoints of the lab of a session, taken on its way so that it can go back.
 *
 * They are in the order of their places.  One is taken whenever so much has been done since the one
 * before that to do it again takes a while: a tick is a unit of that, a command three.  Where a lab
 * is large they are farther apart, so that copying stays a small part of the work.  When they have
 * grown over the memory that they may use every second one goes, and from then on they are taken
 * half as often.
 */
#ifndef CLI_SESSION_SNAPSHOTS_H
#define CLI_SESSION_SNAPSHOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/session/log.h"
#include "rdmalab/lab.h"

#define SNAPSHOTS_BYTES_MAX ((size_t)256 << 20) /* unless the session says otherwise */

struct snapshot {
    struct place place;
    uint64_t hash; /* of all that had happened */
    bool paused;   /* nothing was recorded */
    size_t bytes;
    struct rdl_checkpoint *checkpoint;
};

struct snapshots {
    struct snapshot *v;
    size_t n, room;
    size_t bytes, bytes_max; /* @bytes_max 0: none are taken */
    uint64_t gap;            /* units that lie between two at least */
};

void snapshots_init(struct snapshots *all, size_t bytes_max);

/* They may take @bytes_max from now on, which is not 0: those that are too many go. */
void snapshots_limit(struct snapshots *all, size_t bytes_max);

/* Forgets all of them. */
void snapshots_done(struct snapshots *all);

/* How much is done on the way to @p. */
uint64_t place_units(const struct place *p);

/* < 0: @a is before @b; 0: they are the same place. */
int place_compare(const struct place *a, const struct place *b);

/* The lab has come to @p: takes a snapshot if one is due there, or if it @must.  There is none
 * where memory is short.
 */
void snapshots_pass(struct snapshots *all, const struct rdl_lab *lab, const struct place *p,
                    bool must);

/* The last one that is not behind @p; NULL: there is none. */
const struct snapshot *snapshots_before(const struct snapshots *all, const struct place *p);

/* How many are not behind @p. */
size_t snapshots_until(const struct snapshots *all, const struct place *p);

/* Takes those behind @p out of the list, and puts them back behind what is there not behind @p. */
struct snapshots snapshots_take_after(struct snapshots *all, const struct place *p);
void snapshots_put_back(struct snapshots *all, struct snapshots *taken, const struct place *p);

/* Forgets those behind @p. */
void snapshots_forget_after(struct snapshots *all, const struct place *p);

#endif
