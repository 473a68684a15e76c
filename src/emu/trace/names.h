/* SPDX-License-Identifier: MIT */
/* The names of hosts, external ports and objects, learnt from events. */
#ifndef EMU_TRACE_NAMES_H
#define EMU_TRACE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/text.h"

struct ev;
struct text;

/* Names of hosts, external ports and objects, collected from the events host_up, port_up and named.
 * With them a trace file prints like a running lab.  A number keeps the name of a destroyed object
 * until another object takes the number.  Free with ev_names_free().
 */
struct ev_names;
struct ev_names *ev_names_new(void);
void ev_names_free(struct ev_names *n);
void ev_names_learn(struct ev_names *n, const struct ev *e);

/* Returns true if memory ran short since the last call, so that numbers are printed instead of
 * names.
 */
bool ev_names_were_short(struct ev_names *n);

/* Append "h1" or, without a name, "host5"; "h1.qp" or "h1.qpn7".  @object is an
 * enum object_kind.  @n may be NULL.
 */
void ev_names_host(const struct ev_names *n, struct text *t, uint32_t host);
void ev_names_object(const struct ev_names *n, struct text *t, uint32_t host, uint32_t object,
                     uint32_t number);

/* Returns the number of the host called @name, or EV_HOST_NONE. */
uint32_t ev_names_find_host(const struct ev_names *n, const char *name);

/* Iterates over the names: hosts, ports, objects.  *@ret is an event that would teach the name (its
 * id and time are 0).  *@at is 0 before the first call.  Returns false at the end.
 */
bool ev_names_next(const struct ev_names *n, size_t *at, struct ev *ret);

#endif
