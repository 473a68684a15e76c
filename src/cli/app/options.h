/* SPDX-License-Identifier: MIT */
/* Parser for the options of the program: --name, --name VALUE, --name=VALUE, -x. */
#ifndef CLI_APP_OPTIONS_H
#define CLI_APP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One option; exactly one of @flag, @value and @lines is set. */
struct option {
    const char *name;   /* "--seed", "-j" */
    bool *flag;         /* set to true if the option is given */
    const char **value; /* set to the value; the option may be given once */
    char **lines;       /* all values, one per line; the caller frees the text */
    const char *words;  /* possible values, "text|json"; "": cannot be listed; NULL: a file name */
    bool list;          /* the value is several of @words: "text,json" */
};

/* Option for shell completion.  It must be the first of four arguments: itself, the beginning of
 * the word to complete, the word before that, and a line to print if the word may be an operand.
 * options_take() then only prints the options, or the values of an option, that have this
 * beginning, or that line.
 */
#define OPTIONS_ASKED "--options-that-fit"

/* Removes the options of @rows (@n rows) from @argv[1..].  The operands stay, in order, at
 * @argv[1..*@argc - 1].  All words after "--" are operands.  @argv[0] is the mode, or NULL.  Prints
 * an error and returns false if an option is unknown, lacks its value, or has two.
 */
bool options_take(const struct option *rows, size_t n, int *argc, char **argv);

/* Parses @text, the value of option @name, as a whole number.  Prints an error and returns false if
 * it is none.
 */
bool options_number(const char *name, const char *text, uint64_t *ret);

/* Like options_number(), for a number from @least to @most. */
bool options_number_in(const char *name, const char *text, uint64_t least, uint64_t most,
                       uint64_t *ret);

/* Like options_number(), for a size like "64m": *@ret is in bytes.  0 is an error, too. */
bool options_size(const char *name, const char *text, uint64_t *ret);

#endif
