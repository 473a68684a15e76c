/* SPDX-License-Identifier: MIT */
/* Command lines that a reader can paste into a shell. */
#ifndef PRINT_SHELL_H
#define PRINT_SHELL_H

#include <stdint.h>

#include "emu/base/text.h"

/* Longest command line that is offered.  One that is longer is cut, and must not be shown. */
#define SHELL_LINE_BYTES 16384u

/* Appends @word as the next word of a command line of sh, on one line and printable: "a b.lab"
 * becomes 'a b.lab'.
 */
void shell_add(struct text *t, const char *word);

/* Appends the name of a file, as an operand.  A name that looks like an option becomes "./-x". */
void shell_add_file(struct text *t, const char *name);

/* Append an option and its value.  shell_add_option() appends nothing if @value is NULL. */
void shell_add_option(struct text *t, const char *name, const char *value);
void shell_add_number(struct text *t, const char *name, uint64_t value);

#endif
