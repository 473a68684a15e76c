/* SPDX-License-Identifier: MIT */
/* The names that C programs have for the rows of the facts tables: IBV_WC_RETRY_EXC_ERR. */
#ifndef CLI_EXPLAIN_C_NAMES_H
#define CLI_EXPLAIN_C_NAMES_H

#include <stdbool.h>

#include "emu/base/text.h"
#include "emu/facts/enums.h"

/* Appends the name of @row; false, and nothing is appended, if C has none for it. */
bool c_name_add(struct text *t, const struct enum_table *table, const struct enum_row *row);

/* Calls @each for every row that is called @word in C.  The kernel's IB_ stands for IBV_, too. */
void c_name_rows(const char *word,
                 void (*each)(void *ctx, const struct enum_table *table,
                              const struct enum_row *row),
                 void *ctx);

/* Does @word begin as the names of C do: "IB", in either case? */
bool c_name_begins(const char *word);

/* Calls @each with every name that C has for a row; a name lives only during the call. */
void c_name_each(void (*each)(void *ctx, const char *word), void *ctx);

/* The command that carries out the function @word of libibverbs: "post_send" for "ibv_post_send";
 * NULL if there is none.
 */
const char *c_name_command(const char *word);

#endif
