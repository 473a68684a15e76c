/* SPDX-License-Identifier: MIT */
/* Tallies: how many events fulfilled a filter since the lab began, counted as they happen.
 *
 * They live outside the arena.  They are listed by kind, so that an event touches only the tallies
 * of its kind.  A checkpoint keeps their counts.  What the recorder forgets does not matter to a
 * tally that was there in time; one that comes late starts from the record, if all events of its
 * kind are still in it: the totals by kind, which are always kept, tell.
 */
#ifndef EMU_LAB_TALLY_H
#define EMU_LAB_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/trace/filter.h"
#include "emu/trace/trace.h"

struct rdl_lab;

struct tallies {
    struct rdl_tally *of_kind[EV_COUNT];
    size_t n;
    struct trace_sink sink; /* hears the kinds of all of them */
    bool listens;
};

/* What a checkpoint keeps of one tally. */
struct tally_saved {
    uint64_t count;
    ev_id last;
    bool exact;
};

/* Frees all. */
void tallies_done(struct tallies *all);

/* A part of the lab got the name @name; of a host or an external port @host is its number in
 * events, of others EV_HOST_NONE.
 */
void tallies_meet(struct tallies *all, const char *name, uint32_t host);

/* Looks all names of hosts up again: hosts may have gone. */
void tallies_meet_again(struct rdl_lab *lab);

/* The counts of all tallies, as many as there are; NULL when there are none, or no memory. */
struct tally_saved *tallies_save(const struct tallies *all);

/* Goes back to @saved, of the first @n tallies; those made later are counted anew. */
void tallies_restore(struct rdl_lab *lab, const struct tally_saved *saved, size_t n);

#endif
