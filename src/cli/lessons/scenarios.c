/* SPDX-License-Identifier: MIT */
#include "cli/lessons/scenarios.h"

#include <stdint.h>
#include <string.h>

#include "cli/explain/apropos.h"
#include "cli/explain/explain_asked.h"
#include "cli/lang/suggest.h"
#include "cli/lessons/collection.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "print/pages.h"
#include "print/show_text.h"
#include "print/utf8.h"

#define TITLE_COLUMN 34u
#define ALL          "all"
#define SCENARIO     "scenario"
#define ABOUT_MOST   15u /* scenarios about a word that are listed without "all" */

bool scenarios_fail(struct scenarios_error *e, const char *text, const char *remedy)
{
    struct text t = text_on(e->text, sizeof(e->text)), r = text_on(e->remedy, sizeof(e->remedy));

    text_add(&t, text);
    text_add(&r, remedy);
    return false;
}

bool scenarios_read(struct collection *c, struct scenarios_error *e)
{
    const char *why = collection_read(c);

    return !why || scenarios_fail(
                       e, why, "set the environment variable RDMALAB_SCENARIOS to its directory");
}

/* Prints a line about @l, unless the reader has ended the list. */
static void print_lesson(struct pager *p, const struct lesson *l)
{
    char lead[COLLECTION_NAME_BYTES + 4], title[512];
    struct text t = text_on(lead, sizeof(lead)), s = text_on(title, sizeof(title));

    text_addf(&t, "  %s ", l->name);
    utf8_add_printable(&s, scenario_title(&l->sc) ? scenario_title(&l->sc) : "", false);
    if (pages_room(p, 1 + (unsigned)s.len / (show_columns(p->out) - TITLE_COLUMN)))
        show_wrap_behind(p->out, lead, TITLE_COLUMN, title);
}

/* Prints the chapters of a course with their scenarios; @name "" is the first course, and @p NULL
 * prints nothing.  Returns the number of scenarios.
 */
static size_t print_course(struct pager *p, const struct collection *c, const char *name)
{
    const char *at = c->lesson_list ? c->lesson_list : "";
    bool is_in = name[0] == '\0';
    struct lesson_line line;
    size_t n = 0;

    while (lesson_next(&at, &line)) {
        const struct lesson *l = collection_lesson(c, &line);

        if (line.kind == LESSON_LINE_COURSE)
            is_in = strcmp(line.text, name) == 0;
        if (!is_in)
            continue;
        if (p && line.kind == LESSON_LINE_CHAPTER && pages_room(p, 1))
            fprintf(p->out, "%s\n", line.text);
        if (p && l)
            print_lesson(p, l);
        n += l != NULL;
    }
    return n;
}

/* Prints the names of the other courses. */
static void print_courses(FILE *out, const struct collection *c)
{
    const char *at = c->lesson_list ? c->lesson_list : "";
    struct lesson_line line;

    while (lesson_next(&at, &line)) {
        if (line.kind == LESSON_LINE_COURSE)
            fprintf(out, "\"scenarios %s\" is a course of its own, with %zu\n", line.text,
                    print_course(NULL, c, line.text));
    }
}

static void print_what_next(FILE *out, const struct collection *c, size_t n_listed)
{
    print_courses(out, c);
    fprintf(out,
            "\"scenarios run first-send\" tells one of them step by step, in a lab of its own\n"
            "%zu more: \"scenarios WORD\" lists those about a word, a tag like ud, srq or mw, or a "
            "status;\n  \"scenarios all\" lists every one\n",
            c->n - n_listed);
}

/* Reports that no scenario is about @word. */
static bool fail_unknown(struct scenarios_error *e, const struct collection *c, const char *word)
{
    struct text t = text_on(e->text, sizeof(e->text)), r = text_on(e->remedy, sizeof(e->remedy));
    struct suggestion near = suggestion_for(word);

    text_addf(&t, "no scenario is about \"%s\"", word);
    for (size_t i = 0; i < c->n; i++) {
        const char *name = c->v[i].name;

        suggest_offer(&near, name + strspn(name, "0123456789-"));
    }
    if (near.best)
        text_addf(&r, "did you mean \"%s\"?", near.best);
    else
        text_add(&r, "\"scenarios\" lists the course, \"scenarios all\" every one");
    return false;
}

/* The scenarios about some words, in the order in which they are listed. */
struct about {
    const struct collection *c;
    const char *words;
    bool apart;  /* see lesson_is_about() */
    size_t most; /* number of scenarios to print */
    size_t n;    /* number of scenarios so far */
};

/* Prints @l if it is about the words, and @named is true for one that has them in its name or tags.
 */
static void print_if_about(struct pager *p, struct about *a, const struct lesson *l, bool named)
{
    if (!lesson_is_about(l, a->words, a->apart) || lesson_is_named(l, a->words) != named)
        return;
    if (a->n++ < a->most)
        print_lesson(p, l);
}

/* Prints those that are @named: first the lessons in their order. */
static void print_rank(struct pager *p, struct about *a, bool named)
{
    const char *at = a->c->lesson_list ? a->c->lesson_list : "";
    struct lesson_line line;

    while (lesson_next(&at, &line)) {
        const struct lesson *l = collection_lesson(a->c, &line);

        if (l)
            print_if_about(p, a, l, named);
    }
    for (size_t i = 0; i < a->c->n; i++) {
        if (!a->c->v[i].is_listed)
            print_if_about(p, a, &a->c->v[i], named);
    }
}

/* Prints at most @most scenarios about @words.  If none contains @words as a phrase, searches for
 * those that contain each word.  Returns the number of all of them.
 */
static size_t print_about(struct pager *p, const struct collection *c, const char *words,
                          size_t most)
{
    struct about a = {.c = c, .words = words, .most = most};

    for (int apart = 0; apart < 2 && a.n == 0; apart++) {
        a.apart = apart == 1;
        print_rank(p, &a, true);
        print_rank(p, &a, false);
    }
    if (a.n > most)
        fprintf(p->out, "%zu more %s about it: scenarios %s " ALL "\n", a.n - most,
                a.n - most == 1 ? "is" : "are", words);
    return a.n;
}

/* Removes the word "all" behind others from @words.  Returns true if it was there. */
static bool take_all(char *words)
{
    const size_t n = strlen(words), end = strlen(" " ALL);
    const bool is_there = n > end && strcmp(words + n - end, " " ALL) == 0;

    if (is_there)
        words[n - end] = '\0';
    return is_there;
}

/* The same, or a course, or all scenarios. */
static size_t print_listed(struct pager *p, const struct collection *c, const char *words)
{
    char some[COLLECTION_NAME_BYTES];
    struct text t = text_on(some, sizeof(some));

    if (words[0] && print_course(NULL, c, words) > 0)
        return print_course(p, c, words);
    if (strcmp(words, ALL) != 0) {
        text_add(&t, words);
        return print_about(p, c, some, take_all(some) ? SIZE_MAX : ABOUT_MOST);
    }
    for (size_t i = 0; i < c->n; i++)
        print_lesson(p, &c->v[i]);
    return c->n;
}

bool scenarios_list(FILE *out, const char *word, struct scenarios_error *ret_error)
{
    struct collection c;
    struct pager p = pages_begin(out);
    bool ok = scenarios_read(&c, ret_error);

    if (ok && !word)
        print_what_next(out, &c, print_course(&p, &c, ""));
    else if (ok && print_listed(&p, &c, word) == 0)
        ok = fail_unknown(ret_error, &c, word);
    else if (ok)
        fprintf(out, "\"scenarios run NAME\" tells one of them, in a lab of its own\n");
    collection_done(&c);
    return ok;
}

/* Offers the notes of @st and of the steps after it.  Depth is bounded by the reader. */
static void offer_notes(const struct lesson *l, const struct step *st, apropos_offer *offer,
                        void *search)
{
    for (; st; st = st->next) {
        if (st->cmd == &cmd_table[CMD_note])
            offer(search, SCENARIO, l->name, step_text(st, "text"));
        offer_notes(l, st->body, offer, search);
        offer_notes(l, st->other, offer, search);
    }
}

static void offer_lessons(const void *ctx, apropos_offer *offer, void *search)
{
    const struct collection *c = ctx;

    for (size_t i = 0; i < c->n; i++) {
        const struct lesson *l = &c->v[i];
        const struct step *header = l->sc.script.header;
        const struct arg *teaches = header ? step_arg(header, "teaches") : NULL;
        const char *title = scenario_title(&l->sc);

        offer(search, SCENARIO, l->name, title ? title : "");
        for (size_t k = 0; teaches && k < teaches->n; k++)
            offer(search, SCENARIO, l->name, teaches->v[k].text);
        offer_notes(l, l->sc.script.first, offer, search);
    }
}

bool scenarios_apropos(FILE *out, const char *word)
{
    struct scenarios_error ignored;
    struct collection c;
    const struct apropos_more more = {offer_lessons, &c};
    bool any;

    any = apropos(out, word, scenarios_read(&c, &ignored) ? &more : NULL);
    collection_done(&c);
    return any;
}

bool scenarios_has(const char *name)
{
    struct scenarios_error ignored;
    struct collection c;
    bool has;

    if (!strchr(name, '-'))
        return false;
    has = scenarios_read(&c, &ignored) && collection_find(&c, name) != NULL;
    collection_done(&c);
    return has;
}

const struct lesson *scenarios_find(const struct collection *c, const char *name,
                                    struct scenarios_error *ret_error)
{
    const struct lesson *l = collection_find_short(c, name);

    if (!l)
        fail_unknown(ret_error, c, name);
    else if (scenario_skip(&l->sc))
        scenarios_fail(ret_error, "this scenario cannot run here", scenario_skip(&l->sc));
    return l && !scenario_skip(&l->sc) ? l : NULL;
}
