/* SPDX-License-Identifier: MIT */
/* `explain ibv_sge`: the structures of libibverbs and librdmacm, rows of c_structs.def. */
#ifndef CLI_EXPLAIN_C_STRUCTS_H
#define CLI_EXPLAIN_C_STRUCTS_H

#include <stdbool.h>

struct answer_page;

/* Prints the structure @word, or the field of "ibv_sge.lkey".  Returns false if there is none. */
bool explain_c_struct(struct answer_page *out, const char *word);

/* Prints each structure's field called @word.  Returns false if there is none. */
bool explain_c_member(struct answer_page *out, const char *word);

/* Calls @each for each structure, and for each field without the name of its group. */
void explain_c_struct_each(void (*each)(void *ctx, const char *word), void *ctx);

#endif
