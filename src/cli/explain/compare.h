/* SPDX-License-Identifier: MIT */
/* `explain RC vs UD`: two or three words side by side. */
#ifndef CLI_EXPLAIN_COMPARE_H
#define CLI_EXPLAIN_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

struct answer_page;

/* Splits "RC vs UD" and the like at the word between, or "RC UD" at the blank.  @ret_a and @ret_b
 * have EXPLAIN_ASKED_BYTES.  *@ret_said is false if only a blank separates them.  Returns false if
 * there are no two words.
 */
bool compare_split(const char *asked, char *ret_a, char *ret_b, bool *ret_said);

/* Returns true if @a and @b are words of one enumeration, or values of one kind of object.  Other
 * words next to each other are no comparison: "lost packet".
 */
bool compare_is_of_one_sort(const char *a, const char *b);

/* Prints what is known of the @n words, at most PAGE_COLUMNS_MAX, in columns: what the tables of
 * the emulator have for all of them, such as the operations of services.  Returns false if one of
 * them has no short meaning.
 */
bool compare_explain(struct answer_page *out, const char *const *words, size_t n);

#endif
