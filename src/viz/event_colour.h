/* SPDX-License-Identifier: MIT */
/* The colour of an event in a list: that of the same thing in a ladder. */
#ifndef VIZ_EVENT_COLOUR_H
#define VIZ_EVENT_COLOUR_H

struct ev;
struct ev_names;

/* Returns the ANSI code that begins the colour of @e, or NULL if it has none. */
const char *event_colour(const struct ev *e, const struct ev_names *names);

/* The ANSI code that ends a colour. */
#define EVENT_COLOUR_END "\033[0m"

#endif
