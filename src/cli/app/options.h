/* SPDX-License-Identifier: MIT */
/* Parser for the options of the program: --name, --name VALUE, --name=VALUE, -x. */
#ifndef CLI_APP_OPTIONS_H
#define CLI_APP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One option; exactly one of @flag, @value and @lines is set. */
struct option {
    const char *name; /* "--seed", "-j" */
    bool *flag;
    const char **value; /* the option may be given once */
    char **lines;       /* all values, one per line; the caller frees the text */
    const char *words;  /* possible values, "text|json"; "": cannot be listed; NULL: a file name */
};

/* Option for shell completion.  It must be the first of four arguments.  The second is the
 * beginning of a word, the third the word before that, the fourth a line to print where an operand
 * is possible.  options_take() then only prints the options, or the values of an option, that begin
 * with the second argument.
 */
#define OPTIONS_ASKED "--options-that-fit"

/* Removes the options from @argv[1..].  The operands stay, in order, at @argv[1..*@argc - 1].  All
 * words after "--" are operands.  @argv[0] is the mode, or NULL.  Prints an error and returns false
 * if an option is unknown, lacks its value, or has two.
 */
bool options_take(const struct option *rows, size_t n, int *argc, char **argv);

/* Parses a whole number.  Prints an error and returns false if @text is none. */
bool options_number(const char *name, const char *text, uint64_t *ret);

/* Parses a whole number from @least to @most.  Prints an error and returns false if @text is none.
 */
bool options_number_in(const char *name, const char *text, uint64_t least, uint64_t most,
                       uint64_t *ret);

/* Parses a size in bytes: "64m".  Prints an error and returns false if @text is none, or 0. */
bool options_size(const char *name, const char *text, uint64_t *ret);

#endif
