/* SPDX-License-Identifier: MIT */
#include "cli/tour/answer.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/session/expr_count.h"
#include "cli/session/expr_eval.h"
#include "cli/session/operand.h"
#include "emu/base/assert.h"

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

void answer_add_found(const struct session *s, const struct tour_expr *e, struct text *t)
{
    const struct scope in = session_outer_scope(s);
    struct expr_terms terms;

    expr_decide(&in, e->e, false, &terms);
    expr_leave_out_plain(&terms);
    expr_add_terms(&in, &terms, e->text, t);
}

/* Appends what the lab has in place of each choice. */
static void add_all_found(const struct session *s, const struct tour_screen *sc, struct text *t)
{
    for (size_t i = 0; i < sc->n_choices; i++) {
        text_addf(t, "%s%c: %s: ", i ? "; " : "", answer_letter(i), sc->choices[i].holds.text);
        answer_add_found(s, &sc->choices[i].holds, t);
    }
}

static bool find_choice(const struct session *s, const struct tour_screen *sc,
                        struct tour_answer *ret, struct diag *reterr)
{
    char found[DIAG_MESSAGE_BYTES];
    struct text f = text_on(found, sizeof(found));
    size_t n_right = 0;

    for (size_t i = 0; i < sc->n_choices; i++) {
        bool holds = false;

        if (!answer_holds(s, &sc->choices[i].holds, &holds, reterr))
            return false;
        if (holds && n_right++ > 0) {
            const size_t later =
                sc->choices[i].at.at > sc->choices[ret->choice].at.at ? i : ret->choice;

            diag_set(reterr, DIAG_EXPECT, sc->choices[later].holds.at,
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
    add_all_found(s, sc, &f);
    return diag_remedy(reterr, "%s", found);
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

/* --- Reading -----------------------------------------------------------------------------------
 */

/* The words for small numbers. */
static const struct {
    const char *word, *number;
} number_words[] = {
    {"none", "0"}, {"no", "0"},    {"nothing", "0"}, {"never", "0"}, {"zero", "0"}, {"one", "1"},
    {"once", "1"}, {"two", "2"},   {"twice", "2"},   {"three", "3"}, {"four", "4"}, {"five", "5"},
    {"six", "6"},  {"seven", "7"}, {"eight", "8"},   {"nine", "9"},  {"ten", "10"},
};

/* Copies the next word of *@s to @ret, without the signs around it, and goes behind it.  Returns
 * false if there is none, or it is too long.
 */
static bool take_word(const char **s, char ret[ANSWER_BYTES])
{
    static const char around[] = " \t\n()\"'.,;:!?";
    struct text t = text_on(ret, ANSWER_BYTES);
    const char *begin = *s + strspn(*s, around);
    size_t n = strcspn(begin, " \t\n");

    *s = begin + n;
    while (n > 0 && strchr(around, begin[n - 1]))
        n--;
    text_addn(&t, begin, n);
    return n > 0 && !t.cut;
}

/* Returns the number of the word, "two", as digits; any other word as it is. */
static const char *as_number(const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(number_words); i++) {
        if (strcasecmp(word, number_words[i].word) == 0)
            return number_words[i].number;
    }
    return word;
}

static bool is_unit_of_time(const char *word)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};

    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (strcmp(word, units[i]) == 0)
            return true;
    }
    return false;
}

/* Reads "2", "two", "2 packets", "65.5 us". */
static bool read_number(const char *typed, struct text *ret)
{
    char word[ANSWER_BYTES];
    const char *number;

    if (!take_word(&typed, word))
        return false;
    number = as_number(word);
    for (size_t i = 0; number[i]; i++) {
        if (!isalnum((unsigned char)number[i]) && number[i] != '.')
            return false;
    }
    if (!isdigit((unsigned char)number[0]))
        return false;
    text_add(ret, number);
    if (take_word(&typed, word) && is_unit_of_time(word))
        text_add(ret, word);
    return true;
}

/* Returns true if @typed is the beginning of @choice in whole words, or its number: "none", "2" for
 * "two: REQ and REP".
 */
static bool begins_choice(const char *typed, const char *choice)
{
    char a[ANSWER_BYTES], b[ANSWER_BYTES];
    size_t n = 0;

    while (take_word(&typed, a)) {
        if (!take_word(&choice, b) || strcasecmp(as_number(a), as_number(b)) != 0)
            return false;
        n++;
    }
    return n > 0;
}

static bool read_choice(const struct tour_screen *sc, const char *typed, struct text *ret)
{
    const char *rest = typed;
    char word[ANSWER_BYTES];
    size_t n = 0, found = 0;

    if (take_word(&rest, word) && strlen(word) == 1 && isalpha((unsigned char)word[0])) {
        const char *behind = typed + strspn(typed, " \t(");

        found = (size_t)(tolower((unsigned char)word[0]) - 'a');
        if (found < sc->n_choices && (!take_word(&rest, word) || behind[1] == ')')) {
            text_addf(ret, "%c", answer_letter(found));
            return true;
        }
    }
    for (size_t i = 0; i < sc->n_choices; i++) {
        if (begins_choice(typed, sc->choices[i].text)) {
            found = i;
            n++;
        }
    }
    if (n == 1)
        text_addf(ret, "%c", answer_letter(found));
    return n == 1;
}

bool answer_read(const struct tour_screen *sc, const char *typed, struct text *ret)
{
    char word[ANSWER_BYTES];

    if (sc->is_word) {
        if (!take_word(&typed, word) || strspn(word, word_characters) != strlen(word))
            return false;
        text_add(ret, word);
        return !take_word(&typed, word) && !ret->cut;
    }
    return (sc->number.text ? read_number(typed, ret) : read_choice(sc, typed, ret)) && !ret->cut;
}

size_t answer_choice(const char *said)
{
    return (size_t)(said[0] - 'a');
}

void answer_add_form(const struct tour_screen *sc, struct text *t)
{
    if (sc->is_word || sc->number.text) {
        text_add(t, sc->is_word ? "a word" : "a number");
        return;
    }
    for (size_t i = 0; i < sc->n_choices; i++) {
        const char *before = i == 0 ? "" : i + 1 == sc->n_choices ? " or " : ", ";

        text_addf(t, "%s%c", before, answer_letter(i));
    }
}

/* --- Judging -----------------------------------------------------------------------------------
 */

bool answer_is_right(const struct session *s, const struct tour_screen *sc, const char *said,
                     const struct tour_answer *right, bool *ret, struct diag *reterr)
{
    char both[2 * ANSWER_BYTES];
    struct text t = text_on(both, sizeof(both));
    struct pool pool = {NULL};
    struct tour_expr e = {.text = both, .at = sc->number.at};
    bool ok;

    if (!sc->number.text) {
        *ret = answer_choice(said) == right->choice;
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

/* The kinds of events that are counted in words: "3 packets sent by h1". */
static const struct {
    const char *kind, *one, *many, *by;
} counted[] = {
    {"tx", "packet sent", "packets sent", "by"},
    {"rx", "packet received", "packets received", "by"},
    {"lost", "packet lost", "packets lost", "by"},
    {"cqe", "completion", "completions", "at"},
    {"qp_state", "change of state", "changes of state", "at"},
    {"cm_sent", "message of the connection manager", "messages of the connection manager", "of"},
};

/* Appends a sentence about a count, @text, without other conditions than the host.  Returns false
 * if it is none.
 */
static bool add_counted(const char *text, const char *value, struct text *t)
{
    char kind[32], host[32] = "";
    int n = 0;

    if (sscanf(text, "count(%31[a-z_])%n", kind, &n) != 1 || n == 0) {
        if (sscanf(text, "count(%31[a-z_], host==%31[A-Za-z0-9_])%n", kind, host, &n) != 2)
            return false;
    }
    for (size_t i = 0; i < ARRAY_LEN(counted); i++) {
        if (n == 0 || text[n] || strcmp(kind, counted[i].kind) != 0)
            continue;
        text_addf(t, "the lab counts %s %s", value,
                  strcmp(value, "1") == 0 ? counted[i].one : counted[i].many);
        if (host[0])
            text_addf(t, " %s %s", counted[i].by, host);
        text_addf(t, ": %s", text);
        return true;
    }
    return false;
}

/* Appends a comparison that holds, with the value that the lab has: "h1.qp.state is ERR". */
static void add_compared(const struct scope *in, const struct expr *e, const char *text, bool alone,
                         struct text *t)
{
    struct diag ignored = {.kind = DIAG_NONE};
    const struct question q = {in, {0, 0}, &ignored};
    char left[ANSWER_BYTES], value[ANSWER_BYTES];
    struct text l = text_on(left, sizeof(left)), v = text_on(value, sizeof(value));
    struct operand o = {0};

    text_addn(&l, text + e->a->at.at, e->a->at.len);
    if (operand_read(&q, e->a, NULL, &o))
        operand_add(&v, &o);
    operand_done(&o);
    if (alone && add_counted(left, value, t))
        return;
    text_addf(t, "%s%s is %s", alone ? "the lab: " : "", left, value);
    if (e->op == CMP_NE)
        text_addf(t, ", not %.*s", (int)e->b->at.len, text + e->b->at.at);
}

void answer_add_facts(const struct session *s, const struct tour_screen *sc,
                      const struct tour_answer *right, struct text *t)
{
    const struct scope in = session_outer_scope(s);
    const struct tour_expr *e = &sc->choices[right->choice].holds;
    struct expr_terms terms;

    if (sc->number.text) {
        if (!add_counted(sc->number.text, right->value, t))
            text_addf(t, "the lab: %s is %s", sc->number.text, right->value);
        return;
    }
    expr_decide(&in, e->e, true, &terms);
    for (size_t i = 0; i < terms.n; i++) {
        const struct expr *one = terms.v[i].e;

        text_add(t, i ? "; " : terms.n > 1 ? "the lab: " : "");
        if (terms.v[i].holds && one->kind == EXPR_COMPARE)
            add_compared(&in, one, e->text, terms.n == 1, t);
        else
            text_addf(t, "%s%.*s %s", terms.n > 1 ? "" : "the lab: ", (int)one->at.len,
                      e->text + one->at.at, terms.v[i].holds ? "holds" : "does not hold");
    }
}
