/* SPDX-License-Identifier: MIT */
/* The prompt itself: complete, history, tour, quiz, display. */
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/complete/complete.h"
#include "cli/lang/recall.h"

static void print_offer(void *ctx, const struct offer *o)
{
    FILE *out = ctx;

    if (o->barred)
        fprintf(out, "%s  (%s)\n", o->word, o->meaning);
    else if (o->meaning[0])
        fprintf(out, "%s  %s\n", o->word, o->meaning);
    else
        fprintf(out, "%s\n", o->word);
}

bool run_complete(struct session *s, const struct step *st)
{
    if (complete_line(s, step_text(st, "line"), print_offer, s->config.out))
        fputs("FILE  the name of a file\n", s->config.out);
    return true;
}

/* One text; its further lines below its first one. */
static void print_recalled(FILE *out, size_t number, const struct recalled *one)
{
    fprintf(out, "%5zu %c ", number, one->failed ? 'x' : ' ');
    for (const char *s = one->text; *s; s++) {
        fputc(*s, out);
        if (*s == '\n')
            fputs("        ", out);
    }
    fputc('\n', out);
}

bool run_history(struct session *s, const struct step *st)
{
    const uint64_t most = step_number(st, "count");
    const bool failed = step_has(st, "failed");
    size_t n = 0, i;

    if (!s->prompt.recall) {
        session_say(s, "nothing is typed here: the prompt of rdmalab keeps a history\n");
        return true;
    }
    for (i = s->prompt.recall->n; i > 0 && n < most; i--)
        n += !failed || s->prompt.recall->v[i - 1].failed;
    for (; i < s->prompt.recall->n; i++) {
        if (!failed || s->prompt.recall->v[i].failed)
            print_recalled(s->config.out, i + 1, &s->prompt.recall->v[i]);
    }
    return true;
}

/* Returns true if @where is the name of a file, and not that of a lesson. */
static bool is_file(const char *where)
{
    const size_t n = strlen(where);

    return strchr(where, '/') || (n > 5 && strcmp(where + n - 5, ".tour") == 0);
}

bool run_quiz(struct session *s, const struct step *st)
{
    const struct session_tour *tour = s->prompt.tour;
    const uint64_t seed = step_number_or(st, "seed", 0);

    if (s->run.block->outer) {
        session_fail(s, st->at, "quiz does not work in a block or a sourced file");
        return diag_remedy(&s->diag, "make it a line of its own");
    }
    if (!tour) {
        session_say(s, "this command is for the prompt; otherwise: rdmalab quiz\n");
        return true;
    }
    return tour->quiz(tour->ctx, step_text(st, "topic"), step_has(st, "seed") ? &seed : NULL,
                      step_span(st, "topic", 0), &s->diag);
}

bool run_tour(struct session *s, const struct step *st)
{
    const char *where = step_text(st, "lesson");
    const uint64_t number = step_number_or(st, "screen", 0);
    const uint64_t *screen = step_has(st, "screen") ? &number : NULL;
    const struct session_tour *tour = s->prompt.tour;
    struct source file = {0};

    if (s->run.block->outer) {
        session_fail(s, st->at, "tour does not work in a block or a sourced file");
        return diag_remedy(&s->diag, "make it a line of its own");
    }
    if (!tour) {
        session_say(s, "the tour is at the prompt: rdmalab tour\n");
        return true;
    }
    if (!where || !is_file(where))
        return tour->ask(tour->ctx, where, NULL, screen, step_span(st, "lesson", 0), &s->diag);
    return gate_source(s, st, "lesson", &file) &&
           tour->ask(tour->ctx, where, &file, screen, step_span(st, "lesson", 0), &s->diag);
}

bool run_display(struct session *s, const struct step *st)
{
    const struct scope in = session_scope(s);
    struct displays *d = &s->display.displays;
    const bool off = step_has(st, "off"), one = step_has(st, "value");
    char path[SESSION_PATH_BYTES];
    struct rdl_value v;
    size_t bad;

    if (one)
        resolve_path(&in, step_text(st, "value"), path);
    if (off && displays_remove(d, one ? path : NULL))
        return true;
    if (off) {
        session_fail(s, step_span(st, "value", 0), "%s is not displayed", path);
        return diag_remedy(&s->diag, "\"display\" lists what is");
    }
    if (one && rdl_inspect(s->lab, path, &v, &bad) != RDL_OK)
        return resolve_unknown(&in, step_span(st, "value", 0), path, "nothing", &s->diag);
    if (one && v.type == RDL_NODE) {
        session_fail(s, step_span(st, "value", 0), "%s is no value", path);
        return diag_remedy(&s->diag, "\"show %s\" prints all that it has", path);
    }
    if (one && !displays_add(d, path)) {
        session_fail(s, st->at, "%u values are displayed already", DISPLAYS_MAX);
        return diag_remedy(&s->diag, "\"display %s off\" ends one of them", d->path[0]);
    }
    displays_print(s);
    return true;
}
