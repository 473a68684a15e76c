/* SPDX-License-Identifier: MIT */
#include "cli/explain/apropos.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/explain/explain.h"
#include "cli/lang/suggest.h"
#include "cli/lang/table.h"
#include "emu/base/text.h"
#include "print/show_text.h"
#include "print/utf8.h"
#include "process/must.h"

#define HITS_TOLD_MAX 40u
#define NAME_BYTES    64u
#define LEAD_COLUMNS  38u
#define SAID_BYTES    512u

/* Quality of a match, worst first. */
enum fit {
    FIT_NOT,
    FIT_TEXT,      /* inside a word of its text */
    FIT_TEXT_WORD, /* a whole word of its text */
    FIT_IN_NAME,
    FIT_NAME_PART, /* one of the words of its name */
    FIT_NAME_BEGIN,
    FIT_NAME
};

struct apropos_hit {
    enum fit fit;
    size_t order; /* equal matches stay in this order */
    char name[NAME_BYTES];
    const char *kind, *text;
};

struct apropos_search {
    const char *word;
    struct apropos_hit *v;
    size_t n, room;
};

static bool is_word_end(char c)
{
    return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'));
}

/* Returns the first occurrence of @word in @text, ignoring case.  Returns NULL if there is none. */
static const char *find(const char *text, const char *word)
{
    for (; *text; text++) {
        if (strncasecmp(text, word, strlen(word)) == 0)
            return text;
    }
    return NULL;
}

static enum fit fit_of(const char *word, const char *name, const char *text)
{
    enum fit fit = FIT_NOT;

    if (explain_same(name, word))
        return FIT_NAME;
    if (strncasecmp(name, word, strlen(word)) == 0)
        return FIT_NAME_BEGIN;
    if (suggest_is_part(word, name))
        return FIT_NAME_PART;
    if (find(name, word))
        return FIT_IN_NAME;
    for (const char *at = find(text, word); at; at = find(at + 1, word)) {
        if ((at == text || is_word_end(at[-1])) && is_word_end(at[strlen(word)]))
            return FIT_TEXT_WORD;
        fit = FIT_TEXT;
    }
    return fit;
}

static void add(struct apropos_search *s, enum fit fit, const char *kind, const char *name,
                const char *text)
{
    struct text t;

    if (fit == FIT_NOT)
        return;
    s->v = must_grow(s->v, s->n, &s->room, sizeof(*s->v));
    s->v[s->n] = (struct apropos_hit){.fit = fit, .order = s->n, .kind = kind, .text = text};
    t = text_on(s->v[s->n].name, NAME_BYTES);
    text_add(&t, name);
    s->n++;
}

static void look_at_word(void *ctx, const char *kind, const char *word, const char *text)
{
    struct apropos_search *s = ctx;

    add(s, fit_of(s->word, word, text), kind, word, text);
}

/* The same for an item that may have been offered just before with another text. */
static void look_at_more(void *ctx, const char *kind, const char *name, const char *text)
{
    struct apropos_search *s = ctx;
    struct apropos_hit *last = s->n > 0 ? &s->v[s->n - 1] : NULL;
    const enum fit fit = fit_of(s->word, name, text);

    if (!last || strcmp(last->kind, kind) != 0 || strncmp(last->name, name, NAME_BYTES - 1) != 0) {
        add(s, fit, kind, name, text);
    } else if (fit > last->fit) {
        last->fit = fit;
        last->text = text;
    }
}

static void look_at_commands(struct apropos_search *s)
{
    for (size_t i = 0; i < N_CMDS; i++) {
        const struct cmd *cmd = &cmd_table[i];

        add(s, fit_of(s->word, cmd->name, cmd->summary), "command", cmd->name, cmd->summary);
        for (size_t k = 0; k < cmd->n_params; k++) {
            const struct param *p = &cmd->params[k];
            enum fit fit = fit_of(s->word, p->name, p->help);
            char name[NAME_BYTES];

            snprintf(name, sizeof(name), "%s %s", cmd->name, p->name);
            add(s, fit, "parameter", name, p->help);
        }
    }
}

static int compare(const void *a, const void *b)
{
    const struct apropos_hit *x = a, *y = b;

    if (x->fit != y->fit)
        return x->fit > y->fit ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Appends the first sentence of @text. */
static void add_sentence(struct text *t, const char *text)
{
    const char *end = strstr(text, ". ");
    const size_t line = strcspn(text, "\n"), n = end ? (size_t)(end - text) + 1 : line;

    text_addn(t, text, n < line ? n : line);
}

bool apropos(FILE *out, const char *word, const struct apropos_more *more)
{
    struct apropos_search s = {.word = word};
    const bool any = word[0] != '\0';

    if (any) {
        look_at_commands(&s);
        explain_each_text(look_at_word, &s);
        if (more)
            more->each(more->ctx, look_at_more, &s);
    }
    if (s.n > 0)
        qsort(s.v, s.n, sizeof(*s.v), compare);
    for (size_t i = 0; i < s.n && i < HITS_TOLD_MAX; i++) {
        char lead[LEAD_COLUMNS + NAME_BYTES], said[SAID_BYTES], shown[SAID_BYTES];
        struct text t = text_on(said, sizeof(said)), p = text_on(shown, sizeof(shown));

        snprintf(lead, sizeof(lead), "%-22s %-14s ", s.v[i].name, s.v[i].kind);
        add_sentence(&t, s.v[i].text);
        utf8_add_printable(&p, said, false);
        show_wrap_behind(out, lead, LEAD_COLUMNS, shown);
    }
    if (s.n > HITS_TOLD_MAX)
        fprintf(out, "%zu more fit less well: a longer word finds fewer\n", s.n - HITS_TOLD_MAX);
    if (s.n > 0)
        fputs("\"help COMMAND\" and \"explain WORD\" tell more\n", out);
    free(s.v);
    return s.n > 0;
}
