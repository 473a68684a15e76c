/* SPDX-License-Identifier: MIT */
/* The names of hosts, external ports and objects, learnt from events. */
#ifndef EMU_TRACE_NAMES_H
#define EMU_TRACE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/text.h"
#include "emu/trace/id.h"

struct ev;
struct text;

/* Names of hosts, external ports and objects, collected from the events host_up, port_up and named.
 * The events of a trace file are therefore printed with the same names as those of a running lab.
 * The number of a destroyed object keeps its name until another object gets the number.  After
 * ev_names_place() names that objects got later do not count.  They count again when the lab comes
 * to them: by another ev_names_place(), or because it replays the same events.
 *
 * ev_names_new() returns NULL if memory is short.  ev_names_free() frees the result; it accepts
 * NULL.  ev_names_learn() adds the name in @e, and ignores events of other kinds.
 */
struct ev_names;
struct ev_names *ev_names_new(void);
void ev_names_free(struct ev_names *n);
void ev_names_learn(struct ev_names *n, const struct ev *e);

/* ev_names_place(): the lab has jumped to the end of event @last.  ev_names_forget_ahead() forgets
 * the names that objects got later.
 */
void ev_names_place(struct ev_names *n, ev_id last);
void ev_names_forget_ahead(struct ev_names *n);

/* Returns true if ev_names_learn() ran out of memory since the last call of this function.  Some
 * numbers are then printed instead of names.
 */
bool ev_names_were_short(struct ev_names *n);

/* Append the name of a host ("h1") or of an object ("h1.qp").  @object is an enum object_kind.  If
 * the name is unknown or @n is NULL they append a text with the number: "host5", "h1.qpn7".  For
 * EV_HOST_NONE they append "none".
 */
void ev_names_host(const struct ev_names *n, struct text *t, uint32_t host);
void ev_names_object(const struct ev_names *n, struct text *t, uint32_t host, uint32_t object,
                     uint32_t number);

/* Returns the number of the host or external port with the name @name, or EV_HOST_NONE. */
uint32_t ev_names_find_host(const struct ev_names *n, const char *name);

/* Iterates over the names: hosts, ports, objects.  Sets *@ret to an event from which
 * ev_names_learn() would learn the name; its id and time are 0.  *@at must be 0 before the first
 * call.  Returns false after the last name.
 */
bool ev_names_next(const struct ev_names *n, size_t *at, struct ev *ret);

#endif
