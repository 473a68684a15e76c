/* SPDX-License-Identifier: MIT */
/* Filters: select events of one kind whose fields fulfil all conditions.
 *
 * A condition compares a number or a string.  The name of a host or external port is resolved to
 * its number once, when it exists, and not for each event.
 */
#ifndef EMU_TRACE_FILTER_H
#define EMU_TRACE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/compare.h"
#include "emu/trace/id.h"
#include "emu/trace/schema.h"

struct ev;
struct ev_field;
struct ev_names;

struct ev_condition {
    const struct ev_field *field; /* a field of the filter's kind */
    enum compare op;              /* only CMP_EQ and CMP_NE for strings and names */
    /* For a field with a host: true once ev_filter_look_up() has found the host.  Before that, no
     * event fulfils == with its name, and every event with a host fulfils !=.
     */
    bool known;
    /* Value to compare with: number, MAC, enumerator, or number of a resolved host. */
    uint64_t number;
    char text[EV_ADDR_BYTES]; /* string or name; "" for numbers */
};

struct ev_filter {
    uint32_t kind; /* enum ev_kind */
    size_t n;
    struct ev_condition *conditions; /* owned by the creator of the filter */
};

/* Returns true if the value of condition @c is the name of a host, external port, fault or switch.
 * Callers report an error if no such part of the lab exists.
 */
bool ev_condition_names(const struct ev_condition *c);

/* Resolves the names of hosts and external ports in the conditions of @f to numbers.  At the first
 * name that is unknown it stops and returns that condition.  Returns NULL if all are resolved.  The
 * name "none" is always known: it means that the event has no host.
 */
const struct ev_condition *ev_filter_look_up(struct ev_filter *f, const struct ev_names *names);

/* Returns true if @e is of the filter's kind and fulfils all conditions. */
bool ev_filter_holds(const struct ev_filter *f, const struct ev *e);

/* Returns true if both filters have the same kind and the same conditions in the same order.  The
 * numbers of resolved names are not compared.
 */
bool ev_filter_equal(const struct ev_filter *a, const struct ev_filter *b);

#endif
