/* SPDX-License-Identifier: MIT */
/* Traces written by hand, in the order in which a lab would emit them, for tests of pictures. */
#ifndef TESTS_UNIT_VIZ_TRACES_H
#define TESTS_UNIT_VIZ_TRACES_H

#include "collected.h"
#include "emu/past/past.h"
#include "emu/trace/event.h"
#include "viz/ladder.h"

#define TRACE_EVENTS_MAX 2048u

struct trace_of {
    struct ev e[TRACE_EVENTS_MAX];
    size_t n;
    uint64_t gap_from, gap_to; /* ticks in which recording was off at times */
};

struct trace_case {
    const char *name;
    void (*build)(struct trace_of *t);
};

extern const struct trace_case trace_cases[];
extern const size_t n_trace_cases;

/* Builds the case called @name and numbers its events. */
void trace_build(struct trace_of *t, const char *name);

/* A ladder of @t without its first @forgotten events, whose names stay known.  Free it with
 * ladder_free().
 */
struct ladder *trace_draw(const struct trace_of *t, size_t forgotten,
                          const struct picture_options *options);

/* A ladder of the case @name.  Free it with ladder_free(). */
struct ladder *trace_ladder(const char *name, const struct picture_options *options);

#endif
