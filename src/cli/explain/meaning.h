/* SPDX-License-Identifier: MIT */
/* The plain meaning of a word, with an example that works in an empty lab: rows of meanings.def. */
#ifndef CLI_EXPLAIN_MEANING_H
#define CLI_EXPLAIN_MEANING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/explain/explain.h"

struct answer_page;

struct meaning_row {
    const char *word;
    const char *what; /* what it stands for, or what it is: a few words */
    const char *text;
    uint32_t before; /* enum before: the lab that the example needs */
    const char *example;
};

/* Returns row @i, or NULL behind the last one. */
const struct meaning_row *meaning_row_at(size_t i);

/* Returns the row whose @word or @what is @word ("qp", "queue pair"), or NULL. */
const struct meaning_row *meaning_of(const char *word);

/* Prints the row of @word.  Returns false if there is none. */
bool explain_meaning(struct answer_page *out, const char *word);

/* As explain_each() and explain_each_text(). */
void explain_meaning_each(void (*each)(void *ctx, const char *word), void *ctx);
void explain_meaning_each_text(explain_text *each, void *ctx);

#endif
