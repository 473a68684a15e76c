/* SPDX-License-Identifier: MIT */
/* scenarios: lists the collection, or runs one of it beside the lab of the session. */
#include <string.h>

#include "cli/exec/executing.h"
#include "cli/exec/lesson.h"
#include "emu/base/text.h"

#define WORD_BYTES 256u

/* Appends the words of the command, but for the run before a name. */
static void add_words(struct text *t, const struct step *st, bool run)
{
    const struct arg *more = step_arg(st, "more");

    if (!run && step_has(st, "word"))
        text_add(t, step_text(st, "word"));
    for (size_t i = 0; i < more->n; i++)
        text_addf(t, t->len ? " %s" : "%s", more->v[i].text);
}

bool run_scenarios(struct session *s, const struct step *st)
{
    const bool run = step_has(st, "more") && strcmp(step_text(st, "word"), "run") == 0;
    char word[WORD_BYTES];
    struct text t = text_on(word, sizeof(word));
    const struct lesson_how how = {.ladder = step_has(st, "ladder")};
    struct scenarios_error e = {"", ""};
    int status = EXIT_PASSED;
    bool ok;

    add_words(&t, st, run);
    if (!run && (!word[0] || !scenarios_has(word)))
        ok = scenarios_list(s->config.out, word[0] ? word : NULL, &e);
    else
        ok = lesson_run(&s->config, word, &how, &status, &e);
    if (session_interrupted(s, st->at))
        return false;
    if (!ok) {
        session_fail(s, step_span(st, run ? "more" : "word", 0), "%s", e.text);
        return diag_remedy(&s->diag, "%s", e.remedy);
    }
    return status == EXIT_PASSED ||
           session_fail(s, st->at, "this scenario did not go as it should");
}
