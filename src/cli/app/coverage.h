/* SPDX-License-Identifier: MIT */
/* Coverage: records which rules, opcodes, queue pair transitions and so on a scenario exercises.
 *
 * Each class has rows, taken from the tables in emu/facts and emu/trace, so a new row must be
 * covered at once.  Coverage is computed from events, and from the rules that refuse a post, since
 * a refused post causes no event.
 *
 * Coverage records what the hosts of a scenario do.  Sending an injected packet, or one that comes
 * from outside the lab, is nothing that a host does, so it covers no row.  Receiving such a packet
 * is: its opcode, its syndrome, the verdict, the drop and the rule count, and so does the answer.
 *
 * Traits of a profile are not covered, since no event tells whether a trait made a difference.
 */
#ifndef CLI_APP_COVERAGE_H
#define CLI_APP_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rdmalab/lab.h"

struct ev;

enum cover_class {
#define COVER(name, what, table, places) COVER_##name,
#include "cli/app/coverage.def"
#undef COVER
    COVER_moves,  /* state changes of queue pairs: type, old and new state */
    COVER_keys,   /* effects of work requests on keys */
    COVER_events, /* kinds of events */
    COVER_CLASSES
};

#define COVER_WORDS    3u                       /* 64-bit words of a set of rows */
#define COVER_ROWS_MAX (64u * COVER_WORDS - 1u) /* most rows of a class */
#define COVER_STRANGER COVER_ROWS_MAX           /* this bit: a value without a row occurred */

/* A set of rows for each class: bit @row % 64 of w[class][row / 64].  It has no pointers, since it
 * is sent through a pipe.
 */
struct coverage {
    uint64_t w[COVER_CLASSES][COVER_WORDS];
};

static inline bool coverage_has(const struct coverage *c, enum cover_class class, size_t row)
{
    return (c->w[class][row / 64u] >> row % 64u & 1u) != 0;
}

static inline void coverage_add(struct coverage *c, enum cover_class class, size_t row)
{
    c->w[class][row / 64u] |= (uint64_t)1 << row % 64u;
}

/* Adds the rows of @from to @into. */
void coverage_merge(struct coverage *into, const struct coverage *from);

/* --- Classes and rows --- */

const char *cover_class_name(enum cover_class class); /* "rules" */
const char *cover_class_what(enum cover_class class); /* "reasons to drop a frame" */

/* Returns the number of rows of @class, including those that need not be covered. */
size_t cover_rows(enum cover_class class);

#define COVER_NAME_BYTES 64u

struct cover_row {
    char name[COVER_NAME_BYTES];
    const char *text;     /* meaning of the row */
    bool nothing;         /* the row stands for "none" and need not be covered */
    const char *excluded; /* reason why no scenario can cover it; NULL: one can */
};

/* Describes row number @row of @class, from 0 to cover_rows(@class) - 1. */
void cover_row(enum cover_class class, size_t row, struct cover_row *ret);

/* Returns the number, from 0, of the row called @name, or cover_rows(@class) if there is none. */
size_t cover_row_find(enum cover_class class, const char *name);

/* A row of coverage_except.def: a row of a class that no scenario can cover. */
struct cover_exception {
    enum cover_class class;
    const char *name; /* cover_row.name */
    const char *why;  /* the reason */
};
extern const struct cover_exception cover_exceptions[];
extern const size_t n_cover_exceptions;

/* --- Recording --- */

/* Adds the rows that event @e covers.  @lab is the lab in which it has just happened; NULL:
 * transitions of queue pairs are not recorded.
 */
void coverage_event(struct coverage *c, const struct rdl_lab *lab, const struct ev *e);

/* Adds a transition of a queue pair of @type (enum qp_type) from state @from to @to (enum
 * qp_state).
 */
void coverage_move(struct coverage *c, uint32_t type, uint32_t from, uint32_t to);

/* Adds the rule (enum rule) that refused a post. */
void coverage_refused(struct coverage *c, uint32_t rule);

/* --- Figures --- */

struct cover_figures {
    size_t covered, of; /* rows to cover: number that is covered, and number of all */
    size_t impossible;  /* number of excluded rows that are covered nevertheless */
    bool stranger;      /* a value without a row occurred */
};

/* Returns the figures of one class. */
struct cover_figures coverage_figures(const struct coverage *c, enum cover_class class);

/* Returns the figures of all classes together. */
struct cover_figures coverage_total(const struct coverage *c);

/* Returns the covered share in percent, rounded down: 100 means that every row is covered. */
unsigned cover_percent(const struct cover_figures *f);

#endif
