/* SPDX-License-Identifier: MIT */
/* Sets of kinds of events. */
#ifndef EMU_TRACE_SET_H
#define EMU_TRACE_SET_H

#include <stdbool.h>
#include <stdint.h>

#define EV_SET_WORDS 3u
#define EV_KINDS_MAX (64u * EV_SET_WORDS) /* bits of a set, at least EV_COUNT */

struct ev_set {
    uint64_t w[EV_SET_WORDS];
};

extern const struct ev_set ev_set_none, ev_set_all;

/* Returns true if @s contains @kind (enum ev_kind). */
static inline bool ev_set_has(const struct ev_set *s, uint32_t kind)
{
    return (s->w[kind / 64u] >> kind % 64u & 1u) != 0;
}

/* Adds @kind (enum ev_kind) to @s. */
static inline void ev_set_add(struct ev_set *s, uint32_t kind)
{
    s->w[kind / 64u] |= (uint64_t)1 << kind % 64u;
}

#endif
