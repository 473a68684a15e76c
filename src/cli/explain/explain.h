/* SPDX-License-Identifier: MIT */
/* The command `explain`: prints the meaning of a word of RDMA, virtio or this program, and commands
 * that show it.
 */
#ifndef CLI_EXPLAIN_EXPLAIN_H
#define CLI_EXPLAIN_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "emu/base/text.h"

struct enum_row;
struct enum_table;
struct answer_page;
struct row_struct;

/* Prints everything known about @word, compared with explain_same().  Returns false if there is
 * nothing.  @source: also cite sections of specifications that nobody has verified.
 */
bool explain(FILE *out, const char *word, bool source);

/* The same on a page (page.h). */
bool explain_on_page(struct answer_page *out, const char *word, bool source);

/* Returns the word that @word is a synonym of, or @word. */
const char *explain_proper(const char *word);

/* Appends the meaning of @word in one paragraph.  Returns false if it has none. */
bool explain_gist(struct text *t, const char *word);

/* Returns structure @i of the RFC, or NULL behind the last one. */
const struct row_struct *explain_structure_at(size_t i);

/* Parts of it: the words of the enumeration @word, the kind of event, the structure of the RFC or
 * its fields.
 */
bool explain_values(struct answer_page *out, const char *word, bool source);
bool explain_event(struct answer_page *out, const char *word);
bool explain_structure(struct answer_page *out, const char *word);

/* Returns true if @a and @b are the same word.  Case is ignored; a dash, an underscore, a dot and a
 * blank count as the same character.
 */
bool explain_same(const char *a, const char *b);

/* The remedy in the error message if no known word is similar. */
#define EXPLAIN_WORDS                                                                              \
    "words of statuses, states, opcodes, rules, registers are known; \"explain\" alone lists "     \
    "some, "                                                                                       \
    "\"apropos WORD\" searches commands and their parameters, too"

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
