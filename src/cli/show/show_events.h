/* SPDX-License-Identifier: MIT */
/* `show events`: prints recorded events, one per line or as a JSON object each. */
#ifndef CLI_SHOW_SHOW_EVENTS_H
#define CLI_SHOW_SHOW_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/lang/words.h"
#include "emu/past/past.h"

/* The events to print: those that pass all members. */
struct event_filter {
    ev_id from, to; /* first and last event; 0: no limit; @to with row 0 means the whole tick */
    size_t last;    /* print only this many events, the last ones; 0: all */
    uint32_t host;  /* EV_HOST_NONE: all */
    struct ev_set kinds; /* only events of these kinds */
    bool story;          /* only events that event_is_story() accepts */
};

/* Output options. */
struct event_look {
    enum show_form form;
    bool colour;
    const char *again;  /* arguments that repeat the request, " kinds=tx host=h1"; NULL: none */
    const char *from;   /* value of `from=` in the request, for @again; NULL: not given */
    bool folds;         /* SHOW_TEXT: rounds of equal events are folded (past/fold.h) */
    unsigned lines_max; /* most lines, those of the screen; of SHOW_TEXT only; 0: no limit */
};

/* Returns a filter that accepts all events. */
struct event_filter event_filter_all(void);

/* Parses a range: "#3..#9", "#3..", "..#9" or "#34.1".  Returns false if @s is none. */
bool event_filter_range(struct event_filter *f, const char *s);

/* Parses a list of event kinds, "tx,rx".  Returns false if a kind does not exist; *@reterr_at is
 * its offset.
 */
bool event_filter_kinds(struct event_filter *f, const char *s, size_t *reterr_at);

/* Returns true if the event belongs to the story of a lab: posting, sending, receiving, completing,
 * errors and changes.  Other events are routine: registers, control commands, rings and interrupts.
 */
bool event_is_story(const struct ev *e);

/* Prints the events that pass @f.  If they do not fit into look->lines_max, the last line has the
 * command that shows the rest.
 */
void show_events_as(FILE *out, const struct past *p, const struct event_filter *f,
                    const struct event_look *look);

/* Prints all events that pass @f as text or as a JSON array. */
void show_events(FILE *out, const struct past *p, const struct event_filter *f, bool json,
                 bool colour);

#endif
