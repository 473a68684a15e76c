/* SPDX-License-Identifier: MIT */
/* One side of a comparison: a value of the lab, or a constant. */
#ifndef CLI_SESSION_OPERAND_H
#define CLI_SESSION_OPERAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/lang/expr.h"
#include "cli/session/resolve.h"
#include "emu/base/text.h"
#include "rdmalab/inspect.h"

struct enum_table;

/* The surroundings of an expression that is evaluated: its scope, and the destination of errors. */
struct question {
    const struct scope *in; /* the lab, and the host for bare names */
    struct span at;         /* place of the whole expression in its line, for the caret */
    struct diag *reterr;    /* receives the error; may be NULL */
};

enum operand_kind {
    OPERAND_NUMBER, /* a number; v.type determines how it is printed */
    OPERAND_WORD,   /* a value that is a word of an enumeration, or a text */
    OPERAND_BARE,   /* a word that is no path; it may be a word of the other side's enumeration */
    OPERAND_BYTES,  /* the content of memory, or a "STRING" */
    OPERAND_ABSENT  /* a list element or status that does not exist; v.text says why, or is "" */
};

/* The value of one side of a comparison. */
struct operand {
    enum operand_kind kind;
    struct rdl_value v; /* of OPERAND_NUMBER, OPERAND_WORD and OPERAND_BARE */
    /* OPERAND_WORD: its enumeration, or NULL for a text. */
    const struct enum_table *words;
    bool has_number; /* OPERAND_WORD: v.number is its number, which it may be compared with, too */
    uint8_t *bytes;  /* content of OPERAND_BYTES, owned; otherwise NULL */
    size_t n_bytes;
};

/* Reads the value of @e in the present state of the lab.  A number written in @e has the type of
 * @neighbour, the value of the other side: only if that is a time may it have a unit of time.
 * NULL: it is a plain number.  Returns false, with the error in q->reterr, if there is no such
 * value.  Call operand_done() in both cases.
 */
bool operand_read(const struct question *q, const struct expr *e, const struct operand *neighbour,
                  struct operand *ret);
void operand_done(struct operand *o);

/* Fills q->reterr with an error about @e, an OPERAND_BARE: no object has this name, or the object
 * is no value.  Returns false.
 */
bool operand_unknown(const struct question *q, const struct expr *e);

/* Returns true if @a and @b have the same kind and value. */
bool operand_equal(const struct operand *a, const struct operand *b);

/* Appends the value as text: "1.5us", "RTS", "0x1000". */
void operand_add(struct text *t, const struct operand *o);

#endif
