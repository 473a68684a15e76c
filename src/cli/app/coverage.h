/* SPDX-License-Identifier: MIT */
/* Which of the things that can happen have happened: coverage by rule.
 *
 * There are classes (rules, opcodes, QP transitions, ...), each with rows, which are those of the
 * tables in emu/facts and emu/trace: a new row is asked for at once.  What happened is read from
 * events alone, and from the rules by which a post is refused, which leaves no event.
 *
 * Left out: which traits of a profile made a difference; no event says that.
 */
#ifndef CLI_APP_COVERAGE_H
#define CLI_APP_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/trace/event.h"
#include "rdmalab/lab.h"

enum cover_class {
#define COVER(name, what, table, places) COVER_##name,
#include "cli/app/coverage.def"
#undef COVER
    COVER_moves,  /* of the state graph of queue pairs */
    COVER_keys,   /* what work requests do to keys */
    COVER_events, /* kinds of events */
    COVER_CLASSES
};

#define COVER_WORDS    3u
#define COVER_ROWS_MAX (64u * COVER_WORDS - 1u) /* of a class */
#define COVER_STRANGER COVER_ROWS_MAX           /* the bit of what has no row */

/* Sets of rows, plain bytes: they go through a pipe. */
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

void coverage_merge(struct coverage *into, const struct coverage *from);

/* --- What there is --- */

const char *cover_class_name(enum cover_class class); /* "rules" */
const char *cover_class_what(enum cover_class class); /* "reasons to drop a frame" */

/* How many rows it has, those that are not asked for too. */
size_t cover_rows(enum cover_class class);

#define COVER_NAME_BYTES 64u

struct cover_row {
    char name[COVER_NAME_BYTES];
    const char *text;     /* the sentence of the row */
    bool nothing;         /* it is a word for nothing */
    const char *excluded; /* why no scenario can show it; NULL: one can */
};

/* Row @row < cover_rows(@class). */
void cover_row(enum cover_class class, size_t row, struct cover_row *ret);

/* The row called @name, or cover_rows(@class). */
size_t cover_row_find(enum cover_class class, const char *name);

/* The rows of coverage_except.def. */
struct cover_exception {
    enum cover_class class;
    const char *name, *why;
};
extern const struct cover_exception cover_exceptions[];
extern const size_t n_cover_exceptions;

/* --- What happened --- */

/* Adds what @e shows, which has just happened in @lab; NULL: moves of queue pairs are left out. */
void coverage_event(struct coverage *c, const struct rdl_lab *lab, const struct ev *e);

/* Adds a move of a queue pair of @type (enum qp_type). */
void coverage_move(struct coverage *c, uint32_t type, uint32_t from, uint32_t to);

/* Adds what a post was refused by (enum rule). */
void coverage_refused(struct coverage *c, uint32_t rule);

/* --- Figures --- */

struct cover_figures {
    size_t covered, of; /* rows that are asked for */
    size_t impossible;  /* that are excluded, and happened */
    bool stranger;      /* something happened that has no row */
};

struct cover_figures coverage_figures(const struct coverage *c, enum cover_class class);

/* Of all classes together. */
struct cover_figures coverage_total(const struct coverage *c);

/* Rounded down: 100 is everything. */
unsigned cover_percent(const struct cover_figures *f);

#endif
