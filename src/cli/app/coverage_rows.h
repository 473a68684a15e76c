/* SPDX-License-Identifier: MIT */
/* Rows of coverage classes that are not rows of an enumeration. */
#ifndef CLI_APP_COVERAGE_ROWS_H
#define CLI_APP_COVERAGE_ROWS_H

#include "cli/app/coverage.h"

struct enum_table;

/* Effects of work requests, and of SENDs of a peer, on keys: X(NAME, text). */
#define COVER_KEYS(X)                                                                              \
    X(BOUND, "a window is bound to a part of a region")                                            \
    X(UNBOUND, "a window of type 1 is bound to nothing")                                           \
    X(BIND_REFUSED, "a rule refuses to bind a window")                                             \
    X(REGISTERED, "a fast region is registered")                                                   \
    X(REGISTER_REFUSED, "a rule refuses to register a fast region")                                \
    X(INVALIDATED, "a fast region or a window of type 2 is made invalid")                          \
    X(INVALIDATE_REFUSED, "a rule refuses to make a key invalid")

enum cover_key {
#define COVER_KEY(name, text) COVER_KEY_##name,
    COVER_KEYS(COVER_KEY)
#undef COVER_KEY
        COVER_KEY_COUNT
};

/* Returns the enumeration whose rows are the rows of @class.  Returns NULL if they are not those of
 * an enumeration.
 */
const struct enum_table *cover_table(enum cover_class class);

/* Returns the row number of the transition of a queue pair of @type (enum qp_type) from state @from
 * to @to, or cover_rows(COVER_moves) if there is no such row.
 */
size_t cover_move_find(uint32_t type, uint32_t from, uint32_t to);

#endif
