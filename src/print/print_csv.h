/* SPDX-License-Identifier: MIT */
/* Texts in CSV. */
#ifndef PRINT_PRINT_CSV_H
#define PRINT_PRINT_CSV_H

#include <stdio.h>

/* Prints a text in quotes.  A spreadsheet would compute a text that begins like a formula, so such
 * a one gets an apostrophe, which spreadsheets hide.
 */
void print_csv_text(FILE *out, const char *s);

#endif
