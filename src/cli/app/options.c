/* SPDX-License-Identifier: MIT */
#include "cli/app/options.h"

#include <stdio.h>
#include <string.h>

#include "cli/lang/suggest.h"
#include "cli/session/files.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "emu/base/text.h"
#include "print/utf8.h"
#include "process/must.h"
#include "process/out_file.h"

#define OPTIONS_MAX 64u /* of a mode */

/* Returns true for an option of one letter, which its value may follow directly: -j2. */
static bool is_letter(const char *word, size_t len)
{
    return len == 2 && word[1] != '-';
}

const struct option *options_find(const struct option *rows, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++) {
        const size_t len = strlen(rows[i].name);

        if (strncmp(rows[i].name, word, len) != 0)
            continue;
        if (word[len] == '\0' || (!rows[i].flag && (word[len] == '=' || is_letter(word, len))))
            return &rows[i];
    }
    return NULL;
}

static bool unknown(const struct option *rows, size_t n, const char *mode, const char *word)
{
    struct suggestion near = suggestion_for(word);

    for (size_t i = 0; i < n; i++)
        suggest_offer(&near, rows[i].name);
    fprintf(stderr, "rdmalab: unknown option %s", SHOWN_NAME(word));
    if (near.best)
        fprintf(stderr, "; did you mean %s?", near.best);
    fprintf(stderr, "\n  \"rdmalab %s%s--help\" lists them\n", mode ? mode : "", mode ? " " : "");
    return false;
}

/* Appends @line to *@text, which is NULL at first. */
static void add_line(char **text, const char *line)
{
    const size_t old = *text ? strlen(*text) : 0, cap = old + strlen(line) + sizeof("\n");
    char *more = must_realloc(*text, cap);
    struct text t = {more, old, cap, false};

    more[old] = '\0';
    text_add(&t, old ? "\n" : "");
    text_add(&t, line);
    *text = more;
}

/* Values that were taken, of options that can be given once. */
struct taken {
    const char **v[OPTIONS_MAX];
    size_t n;
};

static bool take_value(const struct option *o, char *value, struct taken *taken)
{
    if (o->lines) {
        add_line(o->lines, value);
        return true;
    }
    for (size_t i = 0; i < taken->n; i++) {
        if (taken->v[i] == o->value) {
            fprintf(stderr, "rdmalab: %s is given twice, as %s and as %s\n", o->name,
                    SHOWN_NAME(*o->value), SHOWN_NAME(value));
            return false;
        }
    }
    RDL_ASSERT(taken->n < OPTIONS_MAX);
    taken->v[taken->n++] = o->value;
    *o->value = value;
    return true;
}

/* Returns true if the list "a,b," contains the word @word of @n bytes. */
static bool has_word(const char *list, size_t list_len, const char *word, size_t n)
{
    for (size_t at = 0; at < list_len; at += strcspn(list + at, ",") + 1) {
        if (strcspn(list + at, ",") == n && strncmp(list + at, word, n) == 0)
            return true;
    }
    return false;
}

/* Prints the values of @o that begin with @begin; ":files" if the value is a file.  Of a list
 * @begin may have complete words before its last one.
 */
static void print_values(const struct option *o, const char *begin)
{
    const char *words = o->words, *comma = o->list ? strrchr(begin, ',') : NULL;
    const size_t before = comma ? (size_t)(comma - begin) + 1 : 0;
    const char *last = begin + before;

    if (!words) {
        puts(":files");
        return;
    }
    for (size_t n; *words; words += n + (words[n] == '|')) {
        n = strcspn(words, "|");
        if (strncmp(words, last, strlen(last)) == 0 && !has_word(begin, before, words, n))
            printf("%.*s%.*s\n", (int)before, begin, (int)n, words);
    }
}

/* Prints the possible next words; see OPTIONS_ASKED. */
static void print_asked(const struct option *rows, size_t n, char **asked)
{
    const char *begin = asked[0], *before = asked[1];
    const struct option *o = before[0] == '-' ? options_find(rows, n, before) : NULL;

    if (o && !o->flag) {
        print_values(o, begin);
        return;
    }
    for (size_t i = 0; i < n && begin[0] == '-'; i++) {
        if (strncmp(rows[i].name, begin, strlen(begin)) == 0)
            puts(rows[i].name);
    }
    if (begin[0] != '-' && asked[2][0])
        puts(asked[2]);
}

bool options_take(const struct option *rows, size_t n, int *argc, char **argv)
{
    struct taken taken = {.n = 0};
    int kept = 1;
    bool only_operands = false;

    if (*argc == 5 && strcmp(argv[1], OPTIONS_ASKED) == 0) {
        print_asked(rows, n, argv + 2);
        return false;
    }

    for (int i = 1; i < *argc; i++) {
        char *word = argv[i];
        const struct option *o;

        /* A lone - is a file. */
        if (only_operands || word[0] != '-' || word[1] == '\0') {
            argv[kept++] = word;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            only_operands = true;
            continue;
        }
        o = options_find(rows, n, word);
        if (!o)
            return unknown(rows, n, argv[0], word);
        if (o->flag) {
            *o->flag = true;
        } else if (word[strlen(o->name)]) {
            word += strlen(o->name);
            if (!take_value(o, word + (word[0] == '='), &taken))
                return false;
        } else if (i + 1 < *argc) {
            if (!take_value(o, argv[++i], &taken))
                return false;
        } else {
            fprintf(stderr, "rdmalab: %s needs a value\n", word);
            return false;
        }
    }
    argv[kept] = NULL;
    *argc = kept;
    return true;
}

/* --- Outputs ---------------------------------------------------------------------------------- */

/* Returns the name of the file that @o asks for, or NULL. */
static const char *file_of(const struct option *o)
{
    return o->output == OPTION_WRITES || o->output == OPTION_WRITES_FILE ? *o->value : NULL;
}

static bool is_on_stdout(const struct option *o)
{
    const char *file = file_of(o);

    return o->output == OPTION_PRINTS ? *o->flag : file && strcmp(file, "-") == 0;
}

bool options_take_stdout(const struct option *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (rows[i].output == OPTION_WRITES && is_on_stdout(&rows[i]))
            return true;
    }
    return false;
}

/* Returns why the output of @o cannot be written, or NULL. */
static const char *why_unwritable(const struct option *o, const char *input)
{
    const char *file = file_of(o);

    if (!file)
        return NULL;
    if (is_on_stdout(o))
        return o->output == OPTION_WRITES_FILE
                   ? "it needs the name of a file: the standard output has something else"
                   : NULL;
    if (input && files_same(file, input))
        return "this file is read, and would be overwritten";
    return out_file_judge(file);
}

/* Returns why the outputs of @a and @b do not go together, or NULL. */
static const char *why_apart(const struct option *a, const struct option *b)
{
    const char *x = file_of(a), *y = file_of(b);

    if (is_on_stdout(a) && is_on_stdout(b))
        return "both would be on the standard output";
    return x && y && files_same(x, y) ? "both would be the same file" : NULL;
}

/* Prints an error and returns false if the file that @o asks for has the wrong suffix. */
static bool suffix_fits(const struct option *o)
{
    const char *file = file_of(o);
    const char *suffix = file && o->wants_suffix && !is_on_stdout(o) ? o->wants_suffix(file) : NULL;

    if (suffix)
        fprintf(stderr, "rdmalab: %s %s: the name must end in %s\n", o->name, SHOWN_NAME(file),
                suffix);
    return !suffix;
}

bool options_judge_outputs(const struct option *rows, size_t n, const char *input)
{
    const char *why = NULL;

    for (size_t i = 0; i < n; i++) {
        why = why_unwritable(&rows[i], input);
        if (why) {
            fprintf(stderr, "rdmalab: %s %s: %s\n", rows[i].name, SHOWN_NAME(file_of(&rows[i])),
                    why);
            return false;
        }
        for (size_t k = 0; k < i && !why; k++) {
            why = why_apart(&rows[k], &rows[i]);
            if (why)
                fprintf(stderr, "rdmalab: %s and %s: %s; give one of them another file\n",
                        rows[k].name, rows[i].name, why);
        }
        if (why)
            return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (!suffix_fits(&rows[i]))
            return false;
    }
    return true;
}

/* --- Values ----------------------------------------------------------------------------------- */

static bool quantity(const char *name, const char *text, enum quantity kind, uint64_t *ret)
{
    const char *why = quantity_parse(kind, text, ret);

    if (why)
        fprintf(stderr, "rdmalab: %s %s: %s\n", name, SHOWN_NAME(text), why);
    return !why;
}

bool options_number(const char *name, const char *text, uint64_t *ret)
{
    return quantity(name, text, QUANTITY_NUMBER, ret);
}

bool options_size(const char *name, const char *text, uint64_t *ret)
{
    if (!quantity(name, text, QUANTITY_SIZE, ret))
        return false;
    if (*ret == 0)
        fprintf(stderr, "rdmalab: %s %s: it must be at least 1\n", name, text);
    return *ret > 0;
}

bool options_number_in(const char *name, const char *text, uint64_t least, uint64_t most,
                       uint64_t *ret)
{
    uint64_t v;

    if (!options_number(name, text, &v))
        return false;
    if (v < least || v > most) {
        fprintf(stderr, "rdmalab: %s %s: it must be from %llu to %llu\n", name, text,
                (unsigned long long)least, (unsigned long long)most);
        return false;
    }
    *ret = v;
    return true;
}

bool options_range(const char *name, const char *text, uint64_t most, uint64_t *ret_first,
                   uint64_t *ret_last)
{
    uint64_t first = 0, last = 0;
    const char *why = quantity_parse_range(text, &first, &last);

    if (why) {
        fprintf(stderr, "rdmalab: %s %s: %s\n", name, SHOWN_NAME(text), why);
        return false;
    }
    if (last < first || last - first >= most) {
        fprintf(stderr, "rdmalab: %s %s: from the smaller to the larger, at most %llu of them\n",
                name, SHOWN_NAME(text), (unsigned long long)most);
        return false;
    }
    *ret_first = first;
    *ret_last = last;
    return true;
}
