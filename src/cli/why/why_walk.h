/* SPDX-License-Identifier: MIT */
/* The walk along a chain of causes, for the files that print its lines: why.c has the walk and most
 * kinds of events, why_arrival.c packets that arrived, why_timeout.c timers that ran out.
 */
#ifndef CLI_WHY_WHY_WALK_H
#define CLI_WHY_WHY_WALK_H

#include <stdio.h>

#include "cli/why/why.h"
#include "emu/base/text.h"

struct ev;
struct past_index;

#define WHY_INDENT_NOTE 10u
#define WHY_HOPS_MAX    100000u /* causes followed, printed or skipped */

struct why_walk {
    FILE *out;
    const struct past *p;
    const struct past_index *index;  /* of @p */
    const struct ev *asked;          /* event to explain */
    const struct why_places *places; /* NULL: none */
    unsigned timeouts;               /* consecutive ones printed */
    unsigned rnr_rounds;             /* consecutive ones printed */
    unsigned controls;               /* consecutive control requests printed */
    unsigned rejects;                /* of LNet that are printed with how they came about */
    const struct ev *missed;         /* last transmission reported as missing */
};

/* Prints "  because of #12.3, which was not recorded". */
void why_print_unknown(const struct why_walk *w, const char *what, ev_id id);

/* Returns the cause of @e.  Returns NULL at the end of the chain. */
const struct ev *why_cause_of(const struct why_walk *w, const struct ev *e);

/* Prints "  because #39.1 ACK psn=100 arrived   (note)".  A long note gets lines of its own. */
void why_say(const struct why_walk *w, const struct ev *e, const char *what, const char *note);

/* Appends the name of a queue pair. */
void why_add_qp(const struct why_walk *w, struct text *t, uint32_t host, uint32_t qpn);

/* Print the lines about an arrival of a packet, or about a timer that ran out.  Return the next
 * event of the chain.
 */
const struct ev *why_print_rx(struct why_walk *w, const struct ev *e);
const struct ev *why_print_timeout(struct why_walk *w, const struct ev *e);

#endif
