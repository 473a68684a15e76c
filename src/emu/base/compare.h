/* SPDX-License-Identifier: MIT */
/* Comparison operators on two numbers, for expressions and for conditions on events. */
#ifndef EMU_BASE_COMPARE_H
#define EMU_BASE_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

enum compare { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE };

/* Returns true if "@a @op @b" holds.  Returns false if @op is not in enum compare. */
static inline bool compare_holds(enum compare op, uint64_t a, uint64_t b)
{
    switch (op) {
    case CMP_EQ:
        return a == b;
    case CMP_NE:
        return a != b;
    case CMP_LT:
        return a < b;
    case CMP_LE:
        return a <= b;
    case CMP_GT:
        return a > b;
    case CMP_GE:
        return a >= b;
    }
    return false;
}

#endif
