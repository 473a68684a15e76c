/* SPDX-License-Identifier: MIT */
/* Options of the program: --name, --name VALUE, --name=VALUE, -x. */
#ifndef CLI_APP_OPTIONS_H
#define CLI_APP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One option; one of @flag, @value and @lines is set. */
struct option {
    const char *name; /* "--seed", "-j" */
    bool *flag;
    const char **value; /* of several the last */
    char **lines;       /* all of them, each a line of a text, which is to be freed */
    const char *words;  /* that a value can be, "text|json"; "": nobody knows; NULL: a file */
};

/* In place of all options, before a word, the word before it, and what is to be printed where an
 * operand may stand: the options, or values of one, that the word can become are printed.  So a
 * shell can ask each mode for what it takes.
 */
#define OPTIONS_ASKED "--options-that-fit"

/* Takes the options out of @argv[1..]; the rest stays, in order, at @argv[1..*@argc - 1].  Behind
 * "--" everything is an operand.  @argv[0] is the mode, or NULL.  False: an option is unknown or
 * lacks its value, and the standard error says so.
 */
bool options_take(const struct option *rows, size_t n, int *argc, char **argv);

/* Reads a whole number; false, and the standard error says why, if @text is none. */
bool options_number(const char *name, const char *text, uint64_t *ret);

/* Reads a whole number that must be from @least to @most. */
bool options_number_in(const char *name, const char *text, uint64_t least, uint64_t most,
                       uint64_t *ret);

/* Reads a size in bytes, "64m". */
bool options_size(const char *name, const char *text, uint64_t *ret);

#endif
