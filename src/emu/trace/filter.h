/* SPDX-License-Identifier: MIT */
/* Which events are meant: those of one kind whose fields fulfil all of some conditions.
 *
 * Conditions compare numbers: the name of a host is turned into its number once, when the host
 * exists, and not for each event.
 */
#ifndef EMU_TRACE_FILTER_H
#define EMU_TRACE_FILTER_H

#include "emu/base/compare.h"
#include "emu/trace/event.h"

struct ev_condition {
    const struct ev_field *field; /* of the filter's kind */
    enum compare op;              /* strings and names: CMP_EQ, CMP_NE */
    /* Of a name (ev_condition_names()): is it known what it means?  No event is of a host that is
     * not known: all that are of one fulfil != with it, and none ==.
     */
    bool known;
    uint64_t number;          /* number, MAC, value of an enumeration; of a host once it is known */
    char text[EV_ADDR_BYTES]; /* string or name; "" for numbers */
};

struct ev_filter {
    enum ev_kind kind;
    size_t n;
    struct ev_condition *conditions; /* owned by whoever made the filter */
};

/* Does the condition name a part of the lab (a host, a port; a fault, a switch), so that a name
 * that nothing has is a mistake?
 */
bool ev_condition_names(const struct ev_condition *c);

/* Looks up the hosts and external ports that @f names in @names.  Returns the first condition whose
 * host is not there, or NULL.
 */
const struct ev_condition *ev_filter_look_up(struct ev_filter *f, const struct ev_names *names);

/* Does @e fulfil it? */
bool ev_filter_holds(const struct ev_filter *f, const struct ev *e);

/* Do both say the same, whatever is known of their names? */
bool ev_filter_equal(const struct ev_filter *a, const struct ev_filter *b);

#endif
