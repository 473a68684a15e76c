/* SPDX-License-Identifier: MIT */
/* Tallies: each counts the events that match a filter, from the start of the lab on.
 *
 * Tallies are allocated outside the arena and listed by event kind, so an event touches only the
 * tallies of its kind.  Checkpoints save their counts.  An existing tally does not depend on the
 * record.  A new tally counts the events in the record first.  It is exact only if the record still
 * has all events of its kind; the trace's totals by kind show whether it does.
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
    struct rdl_tally *of_kind[EV_KINDS_MAX]; /* lists by event kind; NULL: empty */
    size_t n;                                /* number of tallies */
    struct trace_sink sink;                  /* receives the event kinds of all tallies */
    bool listens;                            /* @sink was added to the trace */
};

/* The state of one tally in a checkpoint. */
struct tally_saved {
    uint64_t count; /* number of matching events */
    ev_id last;     /* the last of them; 0: none */
    bool exact;     /* no matching event is missing */
};

/* Frees all tallies. */
void tallies_done(struct tallies *all);

/* Resolves the name @name in the tallies' filters.  Called when a part of the lab got this name.
 * @host is the number of a host or external port in events, and EV_HOST_NONE for other parts.
 */
void tallies_meet(struct tallies *all, const char *name, uint32_t host);

/* Resolves all names in the tallies' filters again.  Called when hosts may have been removed. */
void tallies_meet_again(struct rdl_lab *lab);

/* Returns the state of all tallies: all->n entries, which the caller frees with free().  Returns
 * NULL if there are no tallies or memory is short.
 */
struct tally_saved *tallies_save(const struct tallies *all);

/* Restores the state of the first @n tallies from @saved; later tallies are counted again from the
 * record.
 */
void tallies_restore(struct rdl_lab *lab, const struct tally_saved *saved, size_t n);

#endif
