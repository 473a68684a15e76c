/* SPDX-License-Identifier: MIT */
/* Texts with citations in brackets: "[IBTA1 9.7.4.1]".
 *
 * The table facts/citations.def records for each citation whether it was verified against the
 * document.  Without @source only verified citations are printed.  With @source all are printed,
 * and unverified ones are marked.
 */
#ifndef PRINT_CITE_H
#define PRINT_CITE_H

#include <stdbool.h>
#include <stdio.h>

#include "emu/base/text.h"

#define CITE_TEXT_BYTES 4096u /* upper bound of the length of a text with its marks */

/* Appends the text @s.  Without @source, brackets with an unverified citation are left out. */
void cite_add(struct text *t, const char *s, bool source);

/* Print @s as show_wrap_behind() and show_wrap() do, with citations as in cite_add(). */
void cite_wrap_behind(FILE *out, const char *lead, unsigned indent, const char *s, bool source);
void cite_wrap(FILE *out, unsigned indent, const char *s, bool source);

#endif
