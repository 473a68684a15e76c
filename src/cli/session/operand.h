/* SPDX-License-Identifier: MIT */
/* One side of a comparison: a value of the lab, or what is compared with it. */
#ifndef CLI_SESSION_OPERAND_H
#define CLI_SESSION_OPERAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/lang/expr.h"
#include "cli/session/resolve.h"
#include "emu/base/text.h"
#include "rdmalab/inspect.h"

/* What an expression is asked of, and where it is said why there is no answer. */
struct question {
    const struct scope *in; /* the lab, and where names are looked up */
    struct span at;         /* where the whole expression stands, for the caret */
    struct diag *reterr;    /* NULL: nobody reads it */
};

enum operand_kind {
    OPERAND_NUMBER, /* with the type that says how to print it */
    OPERAND_WORD,   /* of an enumeration, with its number; or any text */
    OPERAND_BARE,   /* a word that names nothing in the lab */
    OPERAND_BYTES,
    OPERAND_ABSENT /* an element of a list that is not there */
};

struct operand {
    enum operand_kind kind;
    struct rdl_value v; /* number, word, text */
    uint8_t *bytes;     /* owned */
    size_t n_bytes;
};

/* Reads what @e stands for; a number takes its type from @neighbour, the other side, which may be
 * NULL.  Release with operand_done() also on failure.
 */
bool operand_read(const struct question *q, const struct expr *e, const struct operand *neighbour,
                  struct operand *ret);
void operand_done(struct operand *o);

/* Fails: nothing in the lab is called as the OPERAND_BARE @e says, or nothing that has a value. */
bool operand_unknown(const struct question *q, const struct expr *e);

/* Do they have the same value? */
bool operand_equal(const struct operand *a, const struct operand *b);

/* Appends it as people read it. */
void operand_add(struct text *t, const struct operand *o);

#endif
