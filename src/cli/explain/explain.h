/* SPDX-License-Identifier: MIT */
/* The command `explain`: prints the meaning of a word of RDMA, virtio or this program, and commands
 * that show it.
 */
#ifndef CLI_EXPLAIN_EXPLAIN_H
#define CLI_EXPLAIN_EXPLAIN_H

#include <stdbool.h>
#include <stdio.h>

struct enum_row;
struct enum_table;

/* Prints everything known about @word, compared with explain_same().  Returns false if there is
 * nothing.  @source: also cite sections of specifications that nobody has verified.
 */
bool explain(FILE *out, const char *word, bool source);

/* Returns true if @a and @b are the same word.  Case is ignored; a dash, an underscore, a dot and a
 * blank count as the same character.
 */
bool explain_same(const char *a, const char *b);

/* The remedy in the error message if no known word is similar. */
#define EXPLAIN_WORDS                                                                              \
    "words of statuses, states, opcodes, rules, registers are known; \"explain\" alone lists some"

/* Returns true if "scenarios ROW" finds a scenario for @row of @table: a failed completion or an
 * asynchronous event, unless the emulator never produces it.
 */
bool explain_has_scenario(const struct enum_table *table, const struct enum_row *row);

/* Prints words to begin with, grouped by subject. */
void explain_subjects(FILE *out);

/* Calls @each for every known word, in the order of the tables.  Some words come twice. */
void explain_each(void (*each)(void *ctx, const char *word), void *ctx);

/* Calls @each for every known word that has a text, with the word's kind and the text. */
typedef void explain_text(void *ctx, const char *kind, const char *word, const char *text);
void explain_each_text(explain_text *each, void *ctx);

#endif
