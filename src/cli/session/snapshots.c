/* SPDX-License-Identifier: MIT */
#include "cli/session/snapshots.h"

#include <stdlib.h>
#include <string.h>

#include "process/must.h"
#include "rdmalab/trace.h"

#define UNITS_OF_COMMAND 3u
#define GAP_UNITS        65536u            /* done again in less than a tenth of a second */
#define GAP_BYTES        ((size_t)8 << 20) /* of a lab that is copied that often */

void snapshots_init(struct snapshots *all, size_t bytes_max)
{
    *all = (struct snapshots){.bytes_max = bytes_max, .gap = GAP_UNITS};
}

static void drop(struct snapshots *all, struct snapshot *s)
{
    all->bytes -= s->bytes;
    rdl_checkpoint_free(s->checkpoint);
}

void snapshots_done(struct snapshots *all)
{
    for (size_t i = 0; i < all->n; i++)
        drop(all, &all->v[i]);
    free(all->v);
    snapshots_init(all, all->bytes_max);
}

uint64_t place_units(const struct place *p)
{
    return p->at.tick + UNITS_OF_COMMAND * p->n_entries;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

int place_compare(const struct place *a, const struct place *b)
{
    const int entries = compare(a->n_entries, b->n_entries);
    const int ticks = compare(a->at.tick, b->at.tick);

    return entries ? entries : ticks ? ticks : compare(a->at.ns, b->at.ns);
}

size_t snapshots_until(const struct snapshots *all, const struct place *p)
{
    size_t low = 0, high = all->n;

    while (low < high) {
        const size_t mid = low + (high - low) / 2;

        if (place_compare(&all->v[mid].place, p) <= 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Frees every second snapshot, but not the first one, the beginning. */
static void thin(struct snapshots *all)
{
    size_t n = 0;

    for (size_t i = 0; i < all->n; i++) {
        if (i % 2 == 1)
            drop(all, &all->v[i]);
        else
            all->v[n++] = all->v[i];
    }
    all->n = n;
    all->gap *= 2;
}

static void fit(struct snapshots *all)
{
    while (all->bytes > all->bytes_max && all->n > 2)
        thin(all);
}

void snapshots_limit(struct snapshots *all, size_t bytes_max)
{
    all->bytes_max = bytes_max;
    fit(all);
}

/* Returns the number of units from @a to @b, which is not before @a. */
static uint64_t distance(const struct place *a, const struct place *b)
{
    return place_units(b) - place_units(a);
}

/* Returns true if a snapshot is due at @p, before which there are @i snapshots. */
static bool is_due(const struct snapshots *all, const struct rdl_lab *lab, const struct place *p,
                   size_t i)
{
    const uint64_t large = rdl_used_bytes(lab) / GAP_BYTES, gap = all->gap * (large ? large : 1);

    return (i == 0 || distance(&all->v[i - 1].place, p) >= gap) &&
           (i == all->n || distance(p, &all->v[i].place) >= gap);
}

void snapshots_pass(struct snapshots *all, const struct rdl_lab *lab, const struct place *p,
                    bool must)
{
    const size_t i = snapshots_until(all, p);
    struct snapshot new = {.place = *p, .hash = rdl_hash(lab)};

    if (all->bytes_max == 0 || (i > 0 && place_compare(&all->v[i - 1].place, p) == 0) ||
        !(must || is_due(all, lab, p, i)))
        return;
    if (rdl_checkpoint_save(lab, &new.checkpoint) != RDL_OK)
        return;
    new.bytes = rdl_checkpoint_bytes(new.checkpoint);
    new.paused = rdl_record_gap(lab).to == RDL_NEVER;
    all->v = must_grow(all->v, all->n, &all->room, sizeof(*all->v));
    memmove(&all->v[i + 1], &all->v[i], (all->n - i) * sizeof(*all->v));
    all->v[i] = new;
    all->n++;
    all->bytes += new.bytes;
    fit(all);
}

const struct snapshot *snapshots_before(const struct snapshots *all, const struct place *p)
{
    const size_t n = snapshots_until(all, p);

    return n ? &all->v[n - 1] : NULL;
}

void snapshots_forget_after(struct snapshots *all, const struct place *p)
{
    const size_t n = snapshots_until(all, p);

    while (all->n > n)
        drop(all, &all->v[--all->n]);
}

static void append(struct snapshots *all, const struct snapshot *s)
{
    all->v = must_grow(all->v, all->n, &all->room, sizeof(*all->v));
    all->v[all->n++] = *s;
    all->bytes += s->bytes;
}

struct snapshots snapshots_take_after(struct snapshots *all, const struct place *p)
{
    const size_t n = snapshots_until(all, p);
    struct snapshots taken;

    snapshots_init(&taken, all->bytes_max);
    for (size_t i = n; i < all->n; i++) {
        append(&taken, &all->v[i]);
        all->bytes -= all->v[i].bytes;
    }
    all->n = n;
    return taken;
}

void snapshots_put_back(struct snapshots *all, struct snapshots *taken, const struct place *p)
{
    snapshots_forget_after(all, p);
    for (size_t i = 0; i < taken->n; i++)
        append(all, &taken->v[i]);
    taken->n = 0;
    snapshots_done(taken);
    fit(all);
}
