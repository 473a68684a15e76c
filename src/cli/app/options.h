/* SPDX-License-Identifier: MIT */
/* Parser for the options of the program: --name, --name VALUE, --name=VALUE, -x. */
#ifndef CLI_APP_OPTIONS_H
#define CLI_APP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The place to which an option sends its output. */
enum option_output {
    OPTION_NO_OUTPUT,
    OPTION_PRINTS,     /* a flag: on the standard output */
    OPTION_WRITES,     /* its value is a file; "-" is the standard output */
    OPTION_WRITES_FILE /* its value is a file, and "-" is refused */
};

/* One option; exactly one of @flag, @value and @lines is set. */
struct option {
    const char *name;   /* "--seed", "-j" */
    bool *flag;         /* set to true if the option is given */
    const char **value; /* set to the value; the option may be given once */
    char **lines;       /* all values, one per line; the caller frees the text */
    const char *words;  /* possible values, "text|json"; "": cannot be listed; NULL: a file name */
    bool list;          /* the value is several of @words: "text,json" */
    enum option_output output;
    /* Returns what the name of the file must end in, ".svg or .txt"; NULL if @name does.  NULL: any
     * name will do.
     */
    const char *(*wants_suffix)(const char *name);
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

/* Returns the row of the option that @word begins: "--seed", "--seed=1", "-j2".  NULL: none. */
const struct option *options_find(const struct option *rows, size_t n, const char *word);

/* Judges the outputs that the options of @rows ask for, before anything runs.  Prints an error and
 * returns false if two of them would be mixed on the standard output, if two are one file, if one
 * would overwrite @input, has the wrong suffix, or cannot be written.  @input may be NULL.
 */
bool options_judge_outputs(const struct option *rows, size_t n, const char *input);

/* Returns true if one of the options takes the standard output, which then contains nothing else.
 */
bool options_take_stdout(const struct option *rows, size_t n);

/* Parses @text, the value of option @name, as a whole number.  Prints an error and returns false if
 * it is none.
 */
bool options_number(const char *name, const char *text, uint64_t *ret);

/* Like options_number(), for a number from @least to @most. */
bool options_number_in(const char *name, const char *text, uint64_t least, uint64_t most,
                       uint64_t *ret);

/* Like options_number(), for a range like "1..100" of at most @most numbers. */
bool options_range(const char *name, const char *text, uint64_t most, uint64_t *ret_first,
                   uint64_t *ret_last);

/* Like options_number(), for a size like "64m": *@ret is in bytes.  0 is an error, too. */
bool options_size(const char *name, const char *text, uint64_t *ret);

#endif
