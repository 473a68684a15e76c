/* SPDX-License-Identifier: MIT */
/* Texts that say in brackets where they come from: "[IBTA1 9.7.4.1]".
 *
 * Whether somebody has held such a number against the text is a column of facts/citations.def.
 * Whoever learns is told what is so; a number that nobody has verified is for who asks for the
 * source, and marked.
 */
#ifndef PRINT_CITE_H
#define PRINT_CITE_H

#include <stdbool.h>
#include <stdio.h>

#include "emu/base/text.h"

#define CITE_TEXT_BYTES 4096u /* no text of a row is longer */

/* Appends @s; without @source brackets that cite something unverified are left out. */
void cite_add(struct text *t, const char *s, bool source);

/* Prints it as show_wrap_behind() and show_wrap() do. */
void cite_wrap_behind(FILE *out, const char *lead, unsigned indent, const char *s, bool source);
void cite_wrap(FILE *out, unsigned indent, const char *s, bool source);

#endif
