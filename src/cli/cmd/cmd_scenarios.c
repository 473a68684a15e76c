/* SPDX-License-Identifier: MIT */
/* scenarios: lists the collection, or runs one of it beside the lab of the session. */
#include <string.h>

#include "cli/cmd/dispatch.h"
#include "cli/course/scenarios.h"
#include "emu/base/text.h"

#define WORD_BYTES 256u

/* Appends the words of the command: of "run first send" those behind run. */
static void add_words(struct text *t, const struct arg *words, size_t from)
{
    for (size_t i = from; i < words->n; i++)
        text_addf(t, i > from ? " %s" : "%s", words->v[i].text);
}

bool run_scenarios(struct session *s, const struct step *st)
{
    const struct arg *words = step_arg(st, "word");
    const bool run = words->n > 1 && strcmp(words->v[0].text, "run") == 0;
    char word[WORD_BYTES];
    struct text t = text_on(word, sizeof(word));
    struct scenarios_error e = {"", ""};
    int status = EXIT_PASSED;
    bool ok;

    add_words(&t, words, run ? 1 : 0);
    if (!run && (!word[0] || !scenarios_has(word)))
        ok = scenarios_list(s->config.out, word[0] ? word : NULL, &e);
    else
        ok = scenarios_run(&s->config, word, step_has(st, "ladder"), &status, &e);
    if (session_interrupted(s, st->at))
        return false;
    if (!ok) {
        session_fail(s, words->n ? words->v[run ? 1 : 0].at : st->at, "%s", e.text);
        return diag_remedy(&s->diag, "%s", e.remedy);
    }
    return status == EXIT_PASSED ||
           session_fail(s, st->at, "this scenario did not go as it should");
}
