/* SPDX-License-Identifier: MIT */
#include "cli/explain/explain_asked.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "cli/explain/c_names.h"
#include "cli/explain/explain.h"
#include "cli/explain/explain_number.h"
#include "cli/explain/explain_row.h"
#include "cli/help/help.h"
#include "cli/lang/suggest.h"
#include "cli/lang/table.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "emu/facts/enum_table.h"

#define NEAR_WORDS_MAX 6u

/* Distances of similar words.  A word that contains the typed text, or begins with it, is nearer
 * than any typing error; among those, shorter words are nearer.
 */
enum { NEAR_SAME = 0, NEAR_PART = 1, NEAR_BEGIN = 2, NEAR_SLIP = 100 };

struct suggestion_list {
    FILE *out;
    bool source;
    unsigned n;
};

static bool explain_word(FILE *out, const char *word, bool source)
{
    const bool is_command = help_topic(out, word);

    return explain(out, word, source) || is_command;
}

static void print_row(void *ctx, const struct enum_table *table, const struct enum_row *row)
{
    struct suggestion_list *t = ctx;

    explain_row(t->out, table, row, t->source);
    t->n++;
}

static bool explain_c_name(FILE *out, const char *word, bool source)
{
    struct suggestion_list t = {.out = out, .source = source};
    const char *command = c_name_command(word);

    if (command)
        return explain_word(out, command, source);
    c_name_rows(word, print_row, &t);
    return t.n > 0;
}

/* Prints a number or a word of the enumerations that @subject names. */
static bool explain_of_subject(FILE *out, const char *subject, const char *word, bool source)
{
    struct suggestion_list t = {.out = out, .source = source};
    uint64_t number;

    if (!quantity_parse(QUANTITY_NUMBER, word, &number))
        return explain_number(out, subject, number, source);
    for (const struct enum_table *const *e = enum_tables; subject && *e; e++) {
        const struct enum_row *row = explain_is_about(subject, *e) ? enum_by_name(*e, word) : NULL;

        if (row)
            print_row(&t, *e, row);
    }
    return t.n > 0;
}

/* Returns true for a word of a question that carries no meaning. */
static bool says_nothing(const char *word)
{
    static const char *const words[] = {"a",  "an", "the",  "what", "is",   "are",
                                        "of", "do", "does", "mean", "means"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcasecmp(words[i], word) == 0)
            return true;
    }
    return false;
}

/* Appends @asked without such words: "slot" for "what is a slot?". */
static void add_asked(struct text *t, const char *asked)
{
    while (*asked) {
        const size_t n = strcspn(asked, " ?");
        char word[EXPLAIN_ASKED_BYTES];
        struct text w = text_on(word, sizeof(word));

        text_addn(&w, asked, n);
        if (n > 0 && !says_nothing(word))
            text_addf(t, t->len ? " %s" : "%s", word);
        asked += n + (asked[n] != '\0');
    }
}

bool explain_asked(FILE *out, const char *asked, bool source)
{
    char subject[EXPLAIN_ASKED_BYTES], left[EXPLAIN_ASKED_BYTES];
    struct text s = text_on(subject, sizeof(subject)), l = text_on(left, sizeof(left));
    const char *blank = strchr(asked, ' ');

    if (explain_word(out, asked, source) || explain_c_name(out, asked, source) ||
        explain_of_subject(out, NULL, asked, source))
        return true;
    if (blank) {
        text_addn(&s, asked, (size_t)(blank - asked));
        if (explain_of_subject(out, subject, blank + strspn(blank, " "), source))
            return true;
    }
    add_asked(&l, asked);
    return left[0] && strcmp(left, asked) != 0 && explain_asked(out, left, source);
}

/* The nearest words so far, nearest first. */
struct near_words {
    const char *typed;
    char word[NEAR_WORDS_MAX][SUGGEST_WORD_BYTES];
    size_t distance[NEAR_WORDS_MAX];
    size_t n;
};

static bool how_near(const char *typed, const char *word, size_t *ret)
{
    struct suggestion s = suggestion_for(typed);

    if (suggest_is_part(typed, word)) {
        *ret = explain_same(typed, word) ? NEAR_SAME : NEAR_PART;
        return true;
    }
    if (strlen(typed) > 2 && strncasecmp(typed, word, strlen(typed)) == 0) {
        *ret = NEAR_BEGIN + strlen(word) - strlen(typed);
        return true;
    }
    suggest_offer(&s, word);
    *ret = NEAR_SLIP + s.distance;
    return s.best != NULL;
}

static void offer_near(void *ctx, const char *word)
{
    struct near_words *near = ctx;
    size_t distance, at = 0;
    struct text kept;

    if (!how_near(near->typed, word, &distance))
        return;
    for (size_t i = 0; i < near->n; i++) {
        if (explain_same(near->word[i], word))
            return;
    }
    while (at < near->n && near->distance[at] <= distance)
        at++;
    if (at == NEAR_WORDS_MAX)
        return;
    if (near->n < NEAR_WORDS_MAX)
        near->n++;
    for (size_t i = near->n - 1; i > at; i--) {
        memcpy(near->word[i], near->word[i - 1], sizeof(near->word[i]));
        near->distance[i] = near->distance[i - 1];
    }
    kept = text_on(near->word[at], sizeof(near->word[at]));
    text_add(&kept, word);
    near->distance[at] = distance;
}

/* Number of words to suggest.  Typing errors count only if nothing else is near, and then only the
 * nearest of them.
 */
static size_t n_suggested(const struct near_words *near)
{
    const size_t most =
        near->n && near->distance[0] >= NEAR_SLIP ? near->distance[0] + 1 : NEAR_SLIP - 1;
    size_t n = 0;

    while (n < near->n && near->distance[n] <= most)
        n++;
    return n;
}

void explain_near(struct text *t, const char *asked)
{
    struct near_words near = {.typed = asked};
    char word[EXPLAIN_ASKED_BYTES];

    explain_each(offer_near, &near);
    if (c_name_begins(asked))
        c_name_each(offer_near, &near);
    for (size_t i = 0; i < N_CMDS; i++)
        offer_near(&near, cmd_table[i].name);
    /* Look up each of several words. */
    for (const char *at = asked; strchr(asked, ' ') && *at; at += strspn(at, " ?")) {
        struct text w = text_on(word, sizeof(word));

        text_addn(&w, at, strcspn(at, " ?"));
        at += w.len;
        near.typed = word;
        if (strlen(word) > 2 && !isdigit((unsigned char)word[0]) && !says_nothing(word))
            explain_each(offer_near, &near);
    }
    near.n = n_suggested(&near);
    if (near.n == 1)
        text_addf(t, "did you mean \"%s\"?", near.word[0]);
    else if (near.n == 0)
        text_add(t, EXPLAIN_WORDS);
    for (size_t i = 0; i < near.n && near.n > 1; i++)
        text_addf(t, i ? ", %s" : "near it: %s", near.word[i]);
}
