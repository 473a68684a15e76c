/* SPDX-License-Identifier: MIT */
#include "cli/explain/explain_asked.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "cli/explain/c_names.h"
#include "cli/explain/c_structs.h"
#include "cli/explain/compare.h"
#include "cli/explain/explain.h"
#include "cli/explain/explain_number.h"
#include "cli/explain/explain_row.h"
#include "cli/explain/meaning.h"
#include "cli/explain/page.h"
#include "cli/explain/spelling.h"
#include "cli/lang/suggest.h"
#include "cli/lang/table.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "emu/facts/enum_table.h"
#include "print/show_text.h"

#define NEAR_WORDS_MAX 6u

/* Distances of similar words.  A word that contains the typed text, or begins with it, is nearer
 * than any typing error; among those, shorter words are nearer.
 */
enum { NEAR_SAME = 0, NEAR_PART = 1, NEAR_BEGIN = 2, NEAR_SLIP = 100 };

struct rows_printed {
    struct answer_page *out;
    bool source;
    unsigned n;
};

/* Prints the summary and the example of a command. */
static bool explain_command(struct answer_page *out, const char *word, const char *ask)
{
    const struct cmd *cmd = cmd_find(word, false);
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (!cmd)
        return false;
    page_thing(out, "%s%s", ask, cmd->name);
    page_line(out, "%s   command of the prompt", cmd->name);
    page_wrap(out, 2, cmd->summary);
    page_example(out, cmd->before, cmd->example);
    text_addf(&t, "help %s", cmd->name);
    page_see(out, buf);
    return true;
}

/* Prints the command @word before everything else that the word means, but not before its plain
 * meaning.
 */
static bool explain_word(struct answer_page *out, const char *word, bool source)
{
    bool known;

    if (!meaning_of(word)) {
        known = explain_command(out, word, "");
        return explain_on_page(out, word, source) || known;
    }
    known = explain_on_page(out, word, source);
    return explain_command(out, word, "help ") || known;
}

static void print_row(void *ctx, const struct enum_table *table, const struct enum_row *row)
{
    struct rows_printed *t = ctx;

    explain_row(t->out, table, row, t->source);
    t->n++;
}

static bool explain_c_name(struct answer_page *out, const char *word, bool source)
{
    struct rows_printed t = {.out = out, .source = source};
    const char *command = c_name_command(word);

    if (command)
        return explain_word(out, command, source);
    c_name_rows(word, print_row, &t);
    return t.n > 0;
}

/* Prints a number or a word of what @subject names. */
static bool explain_of_subject(struct answer_page *out, const char *subject, const char *word,
                               bool source)
{
    struct rows_printed t = {.out = out, .source = source};
    uint64_t number;
    bool known = false;

    if (!quantity_parse(QUANTITY_NUMBER, word, &number))
        return explain_number(out, subject, number, source);
    if (!subject)
        return false;
    for (const struct enum_table *const *e = enum_tables; *e; e++) {
        const struct enum_row *row = explain_is_about(subject, *e) ? enum_by_name(*e, word) : NULL;

        if (row)
            print_row(&t, *e, row);
    }
    if (strcasecmp(subject, "event") == 0)
        known = explain_event(out, word);
    if (strncasecmp(subject, "struct", strlen("struct")) == 0)
        known = explain_structure(out, word) || explain_c_struct(out, word);
    return known || t.n > 0;
}

/* Returns true for a word of a question that carries no meaning. */
static bool says_nothing(const char *word)
{
    static const char *const words[] = {"a",  "an",   "the",  "what",  "is",         "are",    "of",
                                        "do", "does", "mean", "means", "difference", "between"};

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

/* Splits "WORD LAST" at its last blank, if the last word is @last. */
static bool ends_with(const char *asked, const char *last, struct text *ret_word)
{
    const char *blank = strrchr(asked, ' ');

    if (!blank || strcasecmp(blank + 1, last) != 0)
        return false;
    text_addn(ret_word, asked, (size_t)(blank - asked));
    return true;
}

/* Adds to @out what is known of @asked as it is written. */
static bool add_written(struct answer_page *out, const char *asked, bool source)
{
    char subject[EXPLAIN_ASKED_BYTES];
    struct text s = text_on(subject, sizeof(subject));
    const char *blank = strchr(asked, ' ');

    /* Capitals are constants: IBV_QP_CAP is one, ibv_qp_cap a structure. */
    if (isupper((unsigned char)asked[0]) && c_name_begins(asked) &&
        explain_c_name(out, asked, source))
        return true;
    if (explain_word(out, asked, source) || explain_c_name(out, asked, source) ||
        explain_of_subject(out, NULL, asked, source))
        return true;
    if (!blank)
        return false;
    if (ends_with(asked, "values", &s))
        return explain_values(out, subject, source);
    s = text_on(subject, sizeof(subject));
    text_addn(&s, asked, (size_t)(blank - asked));
    return explain_of_subject(out, subject, blank + strspn(blank, " "), source);
}

/* The known words that a comparison is about. */
struct words_compared {
    char v[PAGE_COLUMNS_MAX][EXPLAIN_ASKED_BYTES];
    size_t n;
};

static bool add_known(struct words_compared *c, const char *word)
{
    struct text t = text_on(c->v[c->n], EXPLAIN_ASKED_BYTES);
    const bool known = spelling_find(&t, word);

    c->n += known;
    return known;
}

/* Finds the words that @asked compares: "RC UD", "RC vs UC vs UD".  Returns false if there are
 * none, or not all of them are known.
 */
static bool find_compared(struct words_compared *c, const char *asked)
{
    char a[EXPLAIN_ASKED_BYTES], rest[EXPLAIN_ASKED_BYTES], left[EXPLAIN_ASKED_BYTES];
    struct text l;
    bool said, all_said;

    if (!compare_split(asked, a, rest, &all_said) || !add_known(c, a))
        return false;
    while (!add_known(c, rest)) {
        l = text_on(left, sizeof(left));
        text_add(&l, rest);
        if (c->n + 1 >= PAGE_COLUMNS_MAX || !compare_split(left, a, rest, &said) ||
            !add_known(c, a))
            return false;
        all_said = all_said && said;
    }
    for (size_t i = 1; i < c->n && !all_said; i++) {
        if (!compare_is_of_one_sort(c->v[i - 1], c->v[i]))
            return false;
    }
    return true;
}

/* Adds to @out words side by side, or one behind the other if one has no short meaning. */
static bool add_compared(struct answer_page *out, const char *asked, bool source)
{
    const char *words[PAGE_COLUMNS_MAX] = {NULL};
    struct words_compared c = {.n = 0};
    bool known = true;

    if (!find_compared(&c, asked))
        return false;
    for (size_t i = 0; i < c.n; i++)
        words[i] = c.v[i];
    if (compare_explain(out, words, c.n))
        return true;
    for (size_t i = 0; i < c.n; i++) /* all are words of explain_each() */
        known = explain_word(out, words[i], source) && known;
    return known;
}

/* Adds to @out what is known of @asked, or of its words that carry a meaning. */
static bool add_answer(struct answer_page *out, const char *asked, bool source)
{
    char left[EXPLAIN_ASKED_BYTES], spelled[EXPLAIN_ASKED_BYTES];
    struct text l = text_on(left, sizeof(left)), s = text_on(spelled, sizeof(spelled));

    if (add_written(out, asked, source))
        return true;
    if (spelling_find(&s, asked) && add_written(out, spelled, source))
        return true;
    if (add_compared(out, asked, source))
        return true;
    add_asked(&l, asked);
    return left[0] && strcmp(left, asked) != 0 && add_answer(out, left, source);
}

/* Adds to @out the answer to "WORD more" or "WORD fields".  Returns false if @asked is neither, or
 * nothing is known of the word.
 */
static bool add_rest(struct answer_page *out, const char *asked, bool source,
                     enum page_part *ret_part)
{
    char word[EXPLAIN_ASKED_BYTES];
    struct text w = text_on(word, sizeof(word));

    *ret_part = PAGE_ALL;
    if (ends_with(asked, "fields", &w))
        *ret_part = PAGE_FIELDS;
    else if (!ends_with(asked, "more", &w))
        return false;
    if (!add_answer(out, word, source))
        return false;
    if (!page_has_fields(out))
        *ret_part = PAGE_ALL;
    return true;
}

bool explain_asked(FILE *out, const struct rdl_lab *lab, const char *asked, bool source)
{
    enum page_part part;
    struct answer_page p;
    bool known;

    page_init(&p);
    known = add_rest(&p, asked, source, &part);
    if (!known) {
        part = PAGE_FIRST;
        known = add_answer(&p, asked, source);
    }
    page_print(out, &p, part, lab, true);
    page_done(&p);
    return known;
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
