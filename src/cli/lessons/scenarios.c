/* SPDX-License-Identifier: MIT */
#include "cli/lessons/scenarios.h"

#include <string.h>

#include "cli/explain/apropos.h"
#include "cli/explain/explain_asked.h"
#include "cli/lang/suggest.h"
#include "cli/lessons/collection.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "print/show_text.h"
#include "print/utf8.h"

#define TITLE_COLUMN 34u
#define ALL          "all"
#define SCENARIO     "scenario"

static bool fail(struct scenarios_error *e, const char *text, const char *remedy)
{
    struct text t = text_on(e->text, sizeof(e->text)), r = text_on(e->remedy, sizeof(e->remedy));

    text_add(&t, text);
    text_add(&r, remedy);
    return false;
}

static bool read(struct collection *c, struct scenarios_error *e)
{
    const char *why = collection_read(c);

    return !why || fail(e, why, "set the environment variable RDMALAB_SCENARIOS to its directory");
}

static void print_lesson(FILE *out, const struct lesson *l)
{
    char lead[COLLECTION_NAME_BYTES + 4], title[512];
    struct text t = text_on(lead, sizeof(lead)), s = text_on(title, sizeof(title));

    text_addf(&t, "  %s ", l->name);
    utf8_add_printable(&s, scenario_title(&l->sc) ? scenario_title(&l->sc) : "", false);
    show_wrap_behind(out, lead, TITLE_COLUMN, title);
}

/* Prints the chapters with their scenarios.  Returns the number of scenarios. */
static size_t print_course(FILE *out, const struct collection *c)
{
    const char *at = c->course ? c->course : "";
    struct course_line line;
    size_t n = 0;

    while (course_next(&at, &line)) {
        const struct lesson *l = line.is_chapter ? NULL : collection_find(c, line.text);

        if (line.is_chapter)
            fprintf(out, "%s\n", line.text);
        else if (l)
            print_lesson(out, l);
        n += l != NULL;
    }
    return n;
}

static void print_what_next(FILE *out, const struct collection *c, size_t n_course)
{
    fprintf(out,
            "\"scenarios run first-send\" tells one of them step by step, in a lab of its own\n"
            "%zu more: \"scenarios WORD\" lists those about a word, a tag like ud, srq or mw, or a "
            "status;\n  \"scenarios all\" lists every one\n",
            c->n - n_course);
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

/* Prints the scenarios about @words, first those of the course in its order.  Returns their number.
 */
static size_t print_about(FILE *out, const struct collection *c, const char *words, bool apart)
{
    const char *at = c->course ? c->course : "";
    struct course_line line;
    size_t n = 0;

    while (course_next(&at, &line)) {
        const struct lesson *l = line.is_chapter ? NULL : collection_find(c, line.text);

        if (!l || !lesson_is_about(l, words, apart))
            continue;
        print_lesson(out, l);
        n++;
    }
    for (size_t i = 0; i < c->n; i++) {
        if (c->v[i].in_course || !lesson_is_about(&c->v[i], words, apart))
            continue;
        print_lesson(out, &c->v[i]);
        n++;
    }
    return n;
}

/* The same, or all scenarios.  If none contains @words as a phrase, searches for those that contain
 * each word.
 */
static size_t print_listed(FILE *out, const struct collection *c, const char *words)
{
    size_t n;

    if (strcmp(words, ALL) != 0) {
        n = print_about(out, c, words, false);
        return n > 0 ? n : print_about(out, c, words, true);
    }
    for (size_t i = 0; i < c->n; i++)
        print_lesson(out, &c->v[i]);
    return c->n;
}

bool scenarios_list(FILE *out, const char *word, struct scenarios_error *ret_error)
{
    struct collection c;
    bool ok = read(&c, ret_error);

    if (ok && !word)
        print_what_next(out, &c, print_course(out, &c));
    else if (ok && print_listed(out, &c, word) == 0)
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

    any = apropos(out, word, read(&c, &ignored) ? &more : NULL);
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
    has = read(&c, &ignored) && collection_find(&c, name) != NULL;
    collection_done(&c);
    return has;
}

static void print_title(FILE *out, const struct lesson *l)
{
    const struct arg *teaches =
        l->sc.script.header ? step_arg(l->sc.script.header, "teaches") : NULL;
    char shown[1024];
    struct text t = text_on(shown, sizeof(shown));

    utf8_add_printable(&t, scenario_title(&l->sc) ? scenario_title(&l->sc) : l->name, false);
    fprintf(out, "%s\n", shown);
    for (size_t i = 0; teaches && i < teaches->n; i++) {
        t = text_on(shown, sizeof(shown));
        utf8_add_printable(&t, teaches->v[i].text, false);
        show_wrap_behind(out, "  - ", 4, shown);
    }
}

/* Returns the lesson after @l in the course.  Returns NULL if there is none, or @l is not part of
 * it.
 */
static const struct lesson *next_lesson(const struct collection *c, const struct lesson *l)
{
    const char *at = c->course ? c->course : "";
    bool here = false;
    struct course_line line;

    while (course_next(&at, &line)) {
        const struct lesson *of = line.is_chapter ? NULL : collection_find(c, line.text);

        if (here && of)
            return of;
        here = here || of == l;
    }
    return NULL;
}

static void print_end(FILE *out, const struct session *s, int status, const struct collection *c,
                      const struct lesson *l, const char *path)
{
    const struct lesson *next = next_lesson(c, l);
    char when[32];
    struct text t = text_on(when, sizeof(when));
    const unsigned long long n = s->history.n_expected;

    quantity_add_time_short(&t, rdl_now_ns(s->lab));
    if (status == EXIT_PASSED)
        fprintf(out, "all of it held: %llu expectation%s, t=%s\n", n, n == 1 ? "" : "s", when);
    fprintf(out,
            "its picture: scenarios run %s ladder\n"
            "to look around in it, at a new prompt: source %s\n",
            l->name, path);
    if (next)
        fprintf(out, "the next lesson: scenarios run %s\n", next->name);
}

static bool run_lesson(const struct session_config *config, const struct collection *c,
                       const struct lesson *l, bool ladder, int *ret_status)
{
    char path[COLLECTION_PATH_BYTES + COLLECTION_NAME_BYTES];
    struct text t = text_on(path, sizeof(path));
    struct session_config own = *config;
    struct session *s = NULL;

    collection_add_path(&t, c, l);
    own.seed = scenario_seed(&l->sc);
    own.seed_given = false;
    own.steps_told = !ladder;
    own.share = SHOWN_OF_ALL;
    own.memory_bytes = 0;
    own.history_bytes = 0;
    own.ear = (struct session_ear){NULL, NULL, NULL};
    own.verbose = !ladder;
    if (session_new(&own, &s) != RDL_OK)
        return false;
    print_title(own.out, l);
    *ret_status = EXIT_PASSED;
    if (!session_script(s, &l->sc.script)) {
        session_complain(s, own.err);
        *ret_status = session_exit_status(s);
    }
    if (ladder && !scenario_write(s, OUTPUT_LADDER, "-", own.err))
        *ret_status = exit_worse(*ret_status, EXIT_FAILED);
    print_end(own.out, s, *ret_status, c, l, path);
    session_free(s);
    return true;
}

bool scenarios_run(const struct session_config *config, const char *name, bool ladder,
                   int *ret_status, struct scenarios_error *ret_error)
{
    const struct lesson *l = NULL;
    struct collection c;
    bool ok = read(&c, ret_error);

    if (ok)
        l = collection_find_short(&c, name);
    if (ok && !l)
        ok = fail_unknown(ret_error, &c, name);
    if (ok && scenario_skip(&l->sc))
        ok = fail(ret_error, "this scenario cannot run here", scenario_skip(&l->sc));
    else if (ok && !run_lesson(config, &c, l, ladder, ret_status))
        ok = fail(ret_error, "no lab can be made for it", "close something that takes memory");
    collection_done(&c);
    return ok;
}
