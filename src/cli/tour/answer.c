/* SPDX-License-Identifier: MIT */
#include "cli/tour/answer.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "cli/session/expr_count.h"
#include "cli/session/expr_eval.h"
#include "cli/session/operand.h"

static const char word_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789_";

char answer_letter(size_t i)
{
    return (char)('a' + (int)i);
}

bool answer_holds(const struct session *s, const struct tour_expr *e, bool *ret,
                  struct diag *reterr)
{
    const struct scope in = session_outer_scope(s);

    return expr_attach(s->lab, e->e, e->at, reterr) && expr_holds(&in, e->e, e->at, ret, reterr);
}

static bool find_choice(const struct session *s, const struct tour_screen *sc,
                        struct tour_answer *ret, struct diag *reterr)
{
    size_t n_right = 0;

    for (size_t i = 0; i < sc->n_choices; i++) {
        bool holds = false;

        if (!answer_holds(s, &sc->choices[i].holds, &holds, reterr))
            return false;
        if (holds && n_right++ > 0) {
            diag_set(reterr, DIAG_EXPECT, sc->choices[i].holds.at,
                     "two choices are right: %c and %c", answer_letter(ret->choice),
                     answer_letter(i));
            return diag_remedy(reterr, "exactly one condition must hold");
        }
        if (holds)
            ret->choice = i;
    }
    if (n_right == 1)
        return true;
    diag_set(reterr, DIAG_EXPECT, sc->ask_at, "no choice is right");
    return diag_remedy(reterr, "exactly one condition must hold");
}

bool answer_find(const struct session *s, const struct tour_screen *sc, struct tour_answer *ret,
                 struct diag *reterr)
{
    const struct scope in = session_outer_scope(s);
    const struct question q = {.in = &in, .at = sc->number.at, .reterr = reterr};
    struct text t = text_on(ret->value, sizeof(ret->value));
    struct operand o = {0};
    bool ok;

    ret->choice = 0;
    if (!sc->number.text)
        return find_choice(s, sc, ret, reterr);
    ok = expr_attach(s->lab, sc->number.e, sc->number.at, reterr) &&
         operand_read(&q, sc->number.e, NULL, &o);
    if (ok && sc->is_word && o.kind != OPERAND_WORD) {
        ok = diag_set(reterr, DIAG_EXPECT, sc->number.at, "this is no word");
        diag_remedy(reterr, "\"number\" asks for a number");
    } else if (ok && !sc->is_word && o.kind != OPERAND_NUMBER) {
        ok = diag_set(reterr, DIAG_EXPECT, sc->number.at, "this is no number");
        diag_remedy(reterr, "a question about a word needs choices, or \"word\"");
    }
    if (ok)
        operand_add(&t, &o);
    operand_done(&o);
    return ok;
}

bool answer_read(const struct tour_screen *sc, const char *said, size_t *ret_choice)
{
    *ret_choice = 0;
    if (sc->is_word)
        return said[0] && strspn(said, word_characters) == strlen(said);
    if (sc->number.text) {
        for (size_t i = 0; said[i]; i++) {
            if (!isalnum((unsigned char)said[i]) && said[i] != '.')
                return false;
        }
        return isdigit((unsigned char)said[0]);
    }
    *ret_choice = (size_t)(tolower((unsigned char)said[0]) - 'a');
    return strlen(said) == 1 && *ret_choice < sc->n_choices;
}

bool answer_is_right(const struct session *s, const struct tour_screen *sc, const char *said,
                     const struct tour_answer *right, bool *ret, struct diag *reterr)
{
    char both[2 * ANSWER_BYTES];
    struct text t = text_on(both, sizeof(both));
    struct pool pool = {NULL};
    struct tour_expr e = {.text = both, .at = sc->number.at};
    size_t choice;
    bool ok;

    if (!sc->number.text) {
        answer_read(sc, said, &choice);
        *ret = choice == right->choice;
        return true;
    }
    if (sc->is_word) {
        *ret = strcasecmp(said, right->value) == 0;
        return true;
    }
    text_addf(&t, "%s == %s", sc->number.text, said);
    e.e = t.cut ? NULL : expr_parse(&pool, both, e.at, reterr);
    ok = e.e && answer_holds(s, &e, ret, reterr);
    pool_free(&pool);
    return ok;
}

void answer_add_facts(const struct session *s, const struct tour_screen *sc,
                      const struct tour_answer *right, struct text *t)
{
    const struct scope in = session_outer_scope(s);
    const struct tour_expr *e = &sc->choices[right->choice].holds;
    struct expr_terms terms;
    char found[DIAG_MESSAGE_BYTES];
    struct text f = text_on(found, sizeof(found));

    if (sc->number.text) {
        text_addf(t, "%s is %s", sc->number.text, right->value);
        return;
    }
    expr_decide(&in, e->e, true, &terms);
    expr_leave_out_plain(&terms);
    expr_add_terms(&in, &terms, e->text, &f);
    text_addf(t, "%s%s%s", e->text, found[0] ? ": " : "", found);
}
