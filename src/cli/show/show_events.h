/* SPDX-License-Identifier: MIT */
/* `show events`: a part of what was recorded, a line or a JSON object each. */
#ifndef CLI_SHOW_SHOW_EVENTS_H
#define CLI_SHOW_SHOW_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/past/past.h"

struct event_filter {
    ev_id from, to; /* 0: no limit; row 0 means the whole tick */
    size_t last;    /* only so many at the end; 0: all */
    uint32_t host;  /* EV_HOST_NONE: all */
    struct ev_set kinds;
};

/* All events. */
struct event_filter event_filter_all(void);

/* Reads "#3..#9", "#3..", "..#9" or "#34.1"; false if @s is no such range. */
bool event_filter_range(struct event_filter *f, const char *s);

/* Keeps only the kinds in @s, "tx,rx".  False if one of them does not exist: *@reterr_at is its
 * offset.
 */
bool event_filter_kinds(struct event_filter *f, const char *s, size_t *reterr_at);

void show_events(FILE *out, const struct past *p, const struct event_filter *f, bool json,
                 bool colour);

#endif
