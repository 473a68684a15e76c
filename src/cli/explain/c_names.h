/* SPDX-License-Identifier: MIT */
/* Names of libibverbs for the rows of enumerations, such as IBV_WC_RETRY_EXC_ERR for the completion
 * status RETRY_EXC_ERR.
 */
#ifndef CLI_EXPLAIN_C_NAMES_H
#define CLI_EXPLAIN_C_NAMES_H

#include <stdbool.h>

#include "emu/base/text.h"

struct enum_row;
struct enum_table;

/* Appends the C name of @row.  If the row has none, appends nothing and returns false. */
bool c_name_add(struct text *t, const struct enum_table *table, const struct enum_row *row);

/* Calls @each for every row with the C name @word.  The kernel's prefix IB_ is accepted for IBV_.
 */
void c_name_rows(const char *word,
                 void (*each)(void *ctx, const struct enum_table *table,
                              const struct enum_row *row),
                 void *ctx);

/* Returns true if @word begins like a C name: "IB", in either case. */
bool c_name_begins(const char *word);

/* Calls @each with every C name.  A name lives only during the call. */
void c_name_each(void (*each)(void *ctx, const char *word), void *ctx);

/* Returns the command for the libibverbs function @word: "post_send" for "ibv_post_send".  Returns
 * NULL if there is none.
 */
const char *c_name_command(const char *word);

#endif
