/* SPDX-License-Identifier: MIT */
/* `show events`: a part of what was recorded, a line or a JSON object each. */
#ifndef CLI_SHOW_SHOW_EVENTS_H
#define CLI_SHOW_SHOW_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/lang/words.h"
#include "emu/past/past.h"

struct event_filter {
    ev_id from, to; /* 0: no limit; row 0 means the whole tick */
    size_t last;    /* only so many at the end; 0: all */
    uint32_t host;  /* EV_HOST_NONE: all */
    struct ev_set kinds;
    bool story; /* without what is only the driver's and the device's routine */
};

/* How they are shown. */
struct event_look {
    enum show_form form;
    bool colour;
    const char *again;  /* what is to be asked again: " kinds=tx host=h1"; NULL: nothing */
    const char *from;   /* as it was asked for; NULL: it was not */
    unsigned lines_max; /* of a screen, for people; 0: all are shown */
};

/* All events. */
struct event_filter event_filter_all(void);

/* Reads "#3..#9", "#3..", "..#9" or "#34.1"; false if @s is no such range. */
bool event_filter_range(struct event_filter *f, const char *s);

/* Keeps only the kinds in @s, "tx,rx".  False if one of them does not exist: *@reterr_at is its
 * offset.
 */
bool event_filter_kinds(struct event_filter *f, const char *s, size_t *reterr_at);

/* Is the event part of the story: what is posted, sent, received, completed, goes wrong or is
 * changed?  The rest is registers, control commands, rings and interrupts.
 */
bool event_is_story(const struct ev *e);

/* Where the screen is full, the last line says how to go on. */
void show_events_as(FILE *out, const struct past *p, const struct event_filter *f,
                    const struct event_look *look);

/* All that pass, as text or as a JSON array. */
void show_events(FILE *out, const struct past *p, const struct event_filter *f, bool json,
                 bool colour);

#endif
