/* SPDX-License-Identifier: MIT */
/* Filters: select events of one kind whose fields fulfil all conditions.
 *
 * Conditions compare numbers.  The name of a host is resolved to its number once, when the host
 * exists, and not for each event.
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
    /* For a name (ev_condition_names()): true once the name is resolved.  While a host is unknown,
     * no event fulfils == with it, and every event with a host fulfils !=.
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

/* Returns true if the condition names a part of the lab (host, port, fault, switch).  A name that
 * does not exist is then an error.
 */
bool ev_condition_names(const struct ev_condition *c);

/* Resolves the names of hosts and external ports in @f.  Returns the first condition whose host
 * does not exist, or NULL.
 */
const struct ev_condition *ev_filter_look_up(struct ev_filter *f, const struct ev_names *names);

/* Returns true if @e is of the filter's kind and fulfils all conditions. */
bool ev_filter_holds(const struct ev_filter *f, const struct ev *e);

/* Returns true if both filters have the same conditions; resolved numbers do not matter. */
bool ev_filter_equal(const struct ev_filter *a, const struct ev_filter *b);

#endif
