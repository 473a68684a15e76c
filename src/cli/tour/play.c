/* SPDX-License-Identifier: MIT */
#include "cli/tour/play.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/exec/exec.h"
#include "cli/tour/answer.h"
#include "cli/tour/play_print.h"
#include "print/plain.h"
#include "process/must.h"

#define TYPED "> " /* before a command, as if it was typed */

/* --- The lab -----------------------------------------------------------------------------------
 */

/* Prints an error of the lesson itself, with the place in its file. */
static bool complain(struct play *p, const struct source *src, const struct diag *d)
{
    p->failed = true;
    fflush(p->config.out);
    diag_print(p->config.err, src, d);
    return false;
}

/* Returns true if the command, which has failed, was expected to fail with this message. */
static bool is_refusal(const struct play *p, const char *refused)
{
    return refused && !p->s->run.step.interrupted && strstr(p->s->diag.message, refused);
}

/* Prints the error of an expected failure as if the reader had typed the command. */
static void print_refusal(struct play *p)
{
    struct source src = p->s->diag_src;

    src.name = NULL;
    src.lines_before = 0;
    if (p->s->config.verbose)
        diag_print(p->config.out, &src, &p->s->diag);
}

/* Executes @src, which is a command of the lesson and not of the reader: it cannot leave the
 * lesson.
 */
static bool run_lines(struct play *p, const struct source *src)
{
    const struct session_tour *tour = p->s->prompt.tour;
    struct span at;
    bool ok;

    p->s->prompt.tour = NULL;
    ok = exec_lines(p->s, src, false);
    p->s->prompt.tour = tour;
    if (!ok || !p->s->run.quit)
        return ok;
    p->s->run.quit = false;
    p->s->diag_src = *src;
    at = (struct span){strspn(src->text, " "), 0};
    return diag_set(&p->s->diag, DIAG_FAILED, at, "a lesson cannot quit");
}

/* Executes a command of the lesson.  @refused: part of the message with which it must fail.
 * Returns false if it did not go as the lesson says; the error was printed.
 */
static bool execute(struct play *p, const struct tour_command *c, const char *refused)
{
    const struct source src = tour_command_source(p->tour, c);
    struct diag d = {.kind = DIAG_NONE};

    if (run_lines(p, &src)) {
        if (!refused)
            return true;
        diag_set(&d, DIAG_EXPECT, c->at, "this command was not refused");
        diag_remedy(&d, "the lesson says that it is: \"%s\"", refused);
        return complain(p, &p->tour->src, &d);
    }
    if (is_refusal(p, refused)) {
        print_refusal(p);
        return true;
    }
    p->failed = !p->s->run.step.interrupted;
    session_complain(p->s, p->config.err);
    return false;
}

/* Executes command @i of @screen. */
static bool execute_nth(struct play *p, size_t screen, size_t i)
{
    const struct tour_screen *sc = &p->tour->screens[screen];

    return execute(p, &sc->commands[i], i + 1 == sc->n_commands ? sc->refused : NULL);
}

/* Executes the commands of the lesson up to its present place. */
static bool execute_until_here(struct play *p)
{
    for (size_t i = 0; i < p->tour->n_lab; i++) {
        if (!execute(p, &p->tour->lab[i], NULL))
            return false;
    }
    for (size_t screen = 0; screen <= p->screen; screen++) {
        const size_t n = screen == p->screen ? p->n_done : p->tour->screens[screen].n_commands;

        for (size_t i = 0; i < n; i++) {
            if (!execute_nth(p, screen, i))
                return false;
        }
    }
    return true;
}

/* Makes a new session with the lab of the present place. */
static bool make_lab(struct play *p)
{
    struct session_config config = p->config;
    FILE *nowhere = fopen("/dev/null", "w");
    enum rdl_status st;
    bool ok;

    session_free(p->s);
    p->s = NULL;
    p->strayed = p->changed = false;
    config.verbose = false;
    st = nowhere ? session_new(&config, &p->s) : RDL_ERR_NOMEM;
    if (st != RDL_OK) {
        if (nowhere)
            fclose(nowhere);
        session_no_lab(p->config.err, &config, st);
        return false;
    }
    p->s->config.out = nowhere;
    ok = execute_until_here(p);
    fclose(nowhere);
    p->s->config.out = p->config.out;
    p->s->config.verbose = p->config.verbose;
    if (p->opened)
        p->opened(p->ctx, p->s);
    return ok;
}

bool play_restore(struct play *p)
{
    if (!p->strayed)
        return true;
    if (p->changed)
        fputs("(Your own commands are undone; the lesson goes on where you left it.)\n",
              p->config.out);
    return make_lab(p);
}

static void enter_screen(struct play *p, size_t screen)
{
    p->screen = screen;
    p->n_done = 0;
    p->said[0] = '\0';
    p->is_right = false;
    p->stage = play_screen(p)->ask ? PLAY_ASK : play_screen(p)->n_commands ? PLAY_DO : PLAY_OVER;
}

bool play_go(struct play *p, size_t screen)
{
    enter_screen(p, screen);
    return make_lab(p);
}

bool play_begin(struct play *p, const struct tour *tour, const struct session_config *config,
                size_t screen)
{
    p->tour = tour;
    p->config = *config;
    p->s = NULL;
    p->failed = false;
    return play_go(p, screen);
}

void play_done(struct play *p)
{
    session_free(p->s);
    p->s = NULL;
}

/* --- Answers -----------------------------------------------------------------------------------
 */

/* Prints the right answer behind @lead, and the facts of the lab that make it right. */
static void print_right(const struct play *p, const struct tour_answer *right, const char *lead)
{
    const struct tour_screen *sc = play_screen(p);
    char line[2 * ANSWER_BYTES + DIAG_MESSAGE_BYTES];
    struct text t = text_on(line, sizeof(line));

    if (sc->number.text)
        text_add(&t, right->value);
    else
        text_addf(&t, "%c) %s", answer_letter(right->choice), sc->choices[right->choice].text);
    play_print_wrapped(p, lead, 2, line);
    t = text_on(line, sizeof(line));
    text_add(&t, "[");
    answer_add_facts(p->s, sc, right, &t);
    text_add(&t, "]");
    play_print_wrapped(p, "  ", 2, line);
}

/* Prints the reason of the answer.  A reader who has chosen another one, @said, is told what is
 * wrong with that, if the lesson says it.  @said is "" for a reader without a wrong answer.
 */
static void print_reason(const struct play *p, const struct tour_answer *right, const char *said)
{
    const struct tour_screen *sc = play_screen(p);
    tour_text reason = sc->number.text ? sc->reason : sc->choices[right->choice].text_below;

    if (!sc->number.text && said[0] && sc->choices[answer_choice(said)].text_below[0])
        reason = sc->choices[answer_choice(said)].text_below;
    play_print_text(p, reason);
}

/* Compares the reader's answer with that of the lab. */
static bool judge_answer(struct play *p)
{
    const struct tour_screen *sc = play_screen(p);
    char lead[PLAY_ANSWER_BYTES + 64];
    struct text l = text_on(lead, sizeof(lead));
    struct tour_answer right;
    struct diag d = {.kind = DIAG_NONE};
    bool is_right = false, can_compare;

    if (!answer_find(p->s, sc, &right, &d))
        return complain(p, &p->tour->src, &d);
    can_compare = p->said[0] && answer_is_right(p->s, sc, p->said, &right, &is_right, &d);
    p->is_right = can_compare && is_right;
    if (!can_compare)
        text_add(&l, "> The answer: ");
    else if (is_right)
        text_add(&l, p->tour->is_problem ? "> Right: " : "> As you expected: ");
    else
        text_addf(
            &l, p->tour->is_problem ? "> Not %s. It is: " : "> You expected %s. It is: ", p->said);
    print_right(p, &right, lead);
    print_reason(p, &right, can_compare && !is_right ? p->said : "");
    return true;
}

static bool check_expectations(struct play *p)
{
    const struct tour_screen *sc = play_screen(p);

    for (size_t i = 0; i < sc->n_expects; i++) {
        char found[DIAG_MESSAGE_BYTES];
        struct text f = text_on(found, sizeof(found));
        struct diag d = {.kind = DIAG_NONE};
        bool holds = false;

        if (!answer_holds(p->s, &sc->expects[i], &holds, &d))
            return complain(p, &p->tour->src, &d);
        if (!holds) {
            answer_add_found(p->s, &sc->expects[i], &f);
            diag_set(&d, DIAG_EXPECT, sc->expects[i].at, "%s does not hold%s%s",
                     sc->expects[i].text, found[0] ? ": " : "", found);
            return complain(p, &p->tour->src, &d);
        }
    }
    return true;
}

/* Ends the screen: all of its commands were executed. */
static enum play_result finish_screen(struct play *p)
{
    p->stage = PLAY_OVER;
    if (!check_expectations(p) || (play_screen(p)->ask && !judge_answer(p)))
        return PLAY_BROKEN;
    play_print_text(p, play_screen(p)->then);
    play_print_end(p);
    return PLAY_TAKEN;
}

/* Returns true if the command only looks: a problem prints its output as a reason. */
static bool looks(const struct play *p, const struct tour_command *c)
{
    const struct source src = tour_command_source(p->tour, c);
    struct lines l;
    bool only_looks = true;

    session_read(p->s, &src, NULL, false, &l);
    for (const struct step *st = l.script.first; st; st = st->next)
        only_looks = only_looks && (step_flags(st) & CMD_LOOKS);
    script_done(&l.script);
    return only_looks;
}

/* Executes the commands of a problem.  Those that change the lab print nothing. */
static bool execute_problem(struct play *p)
{
    const struct tour_screen *sc = play_screen(p);
    FILE *nowhere = fopen("/dev/null", "w");
    bool ok = nowhere != NULL;

    for (; ok && p->n_done < sc->n_commands; p->n_done += ok) {
        const bool shown = looks(p, &sc->commands[p->n_done]);

        p->s->config.out = shown ? p->config.out : nowhere;
        p->s->config.verbose = shown && p->config.verbose;
        if (shown)
            play_print_behind(p, TYPED, sc->commands[p->n_done].text);
        ok = execute_nth(p, p->screen, p->n_done);
    }
    p->s->config.out = p->config.out;
    p->s->config.verbose = p->config.verbose;
    if (nowhere)
        fclose(nowhere);
    return ok;
}

/* Ends a problem of a quiz: the reader has answered it, or wants to see. */
static enum play_result finish_problem(struct play *p)
{
    if (!play_restore(p))
        return PLAY_BROKEN;
    return execute_problem(p) ? finish_screen(p) : PLAY_BROKEN;
}

/* Appends the expectation that shows the answer: a command for the prompt. */
static void add_expectation(const struct tour_screen *sc, const struct tour_answer *right,
                            struct text *t)
{
    if (sc->number.text)
        text_addf(t, "expect %s == %s", sc->number.text, right->value);
    else
        text_addf(t, "expect %s", sc->choices[right->choice].holds.text);
}

bool play_solve(struct play *p)
{
    const struct tour_screen *sc = play_screen(p);
    char line[2 * ANSWER_BYTES + DIAG_MESSAGE_BYTES];
    struct text t = text_on(line, sizeof(line));
    struct diag d = {.kind = DIAG_NONE};
    struct tour_answer right;
    struct source src;

    play_print_screen(p);
    play_print_ask(p);
    fputc('\n', p->config.out);
    for (size_t i = 0; i < p->tour->n_lab; i++)
        play_print_behind(p, TYPED, p->tour->lab[i].text);
    for (; p->n_done < sc->n_commands; p->n_done++) {
        play_print_behind(p, TYPED, sc->commands[p->n_done].text);
        if (!execute_nth(p, p->screen, p->n_done))
            return false;
    }
    if (!check_expectations(p))
        return false;
    if (!answer_find(p->s, sc, &right, &d))
        return complain(p, &p->tour->src, &d);
    add_expectation(sc, &right, &t);
    play_print_behind(p, TYPED, line);
    src = source_of(p->tour->src.name, line);
    src.of_lesson = true;
    if (!run_lines(p, &src)) {
        session_complain(p->s, p->config.err);
        return false;
    }
    print_right(p, &right, "The answer: ");
    print_reason(p, &right, "");
    return true;
}

bool play_find(struct play *p, struct tour_answer *ret)
{
    const struct tour_screen *sc = play_screen(p);
    struct diag d = {.kind = DIAG_NONE};
    FILE *nowhere = fopen("/dev/null", "w");
    bool ok = nowhere != NULL;

    p->s->config.out = nowhere;
    p->s->config.verbose = false;
    for (; ok && p->n_done < sc->n_commands; p->n_done += ok)
        ok = execute_nth(p, p->screen, p->n_done);
    ok = ok && check_expectations(p);
    p->s->config.out = p->config.out;
    p->s->config.verbose = p->config.verbose;
    if (nowhere)
        fclose(nowhere);
    return ok && (answer_find(p->s, sc, ret, &d) || complain(p, &p->tour->src, &d));
}

static enum play_result after_question(struct play *p)
{
    if (p->tour->is_problem)
        return finish_problem(p);
    if (play_screen(p)->n_commands == 0)
        return play_restore(p) ? finish_screen(p) : PLAY_BROKEN;
    p->stage = PLAY_DO;
    play_print_command(p);
    return PLAY_TAKEN;
}

/* Prints that the open question has got no answer. */
static enum play_result refuse_answer(struct play *p)
{
    char line[64];
    struct text t = text_on(line, sizeof(line));

    play_add_inputs(p, &t);
    print_line(p->config.out, line);
    return PLAY_ASKS;
}

/* Returns true if @text is made of plain words: no path, no parameter and no expression. */
static bool is_prose(const char *text)
{
    for (size_t i = 0; text[i]; i++) {
        const bool ends = text[i + 1] == '\0' || strchr(" \t\n", text[i + 1]);

        if (!isalnum((unsigned char)text[i]) && !strchr(" \t\n,;:!?'()-", text[i]) &&
            (text[i] != '.' || !ends))
            return false;
    }
    return true;
}

/* Returns true if the first word of @text is one letter, or begins with a digit. */
static bool is_short(const char *text)
{
    const size_t n = strcspn(text, " \t\n");

    return n == 1 || isdigit((unsigned char)text[0]);
}

/* Returns the screen with the last question, which may be an earlier one.  NULL: there was none. */
static const struct tour_screen *last_asked(const struct play *p)
{
    for (size_t i = p->screen + 1; i > 0; i--) {
        if (p->tour->screens[i - 1].ask)
            return &p->tour->screens[i - 1];
    }
    return NULL;
}

enum play_result play_answer(struct play *p, const char *text, bool is_command)
{
    const struct tour_screen *sc = last_asked(p);
    char said[PLAY_ANSWER_BYTES];
    struct text t = text_on(said, sizeof(said));
    bool is_answer;

    text += strspn(text, " \t\n");
    if (!sc || ((is_command || sc != play_screen(p)) && !is_short(text)))
        return PLAY_NOT;
    is_answer = answer_read(sc, text, &t);
    if (p->stage != PLAY_ASK) {
        if (!is_answer || sc->is_word)
            return PLAY_NOT;
        print_line(p->config.out, p->tour->is_problem
                                      ? "the question is over"
                                      : "the question is over; \"tour\" shows the screen again");
        return PLAY_TAKEN;
    }
    if (!is_answer)
        return is_prose(text) ? refuse_answer(p) : PLAY_NOT;
    memcpy(p->said, said, sizeof(p->said));
    return after_question(p);
}

/* --- Commands ----------------------------------------------------------------------------------
 */

/* Executes the next command of the lesson; @typed: the reader has typed it. */
static enum play_result do_next(struct play *p, bool typed)
{
    const struct tour_screen *sc = play_screen(p);

    if (!play_restore(p))
        return PLAY_BROKEN;
    p->stage = PLAY_DO;
    if (!typed)
        play_print_behind(p, TYPED, sc->commands[p->n_done].text);
    if (!execute_nth(p, p->screen, p->n_done)) {
        p->strayed = p->changed = true;
        return p->failed ? PLAY_BROKEN : PLAY_TAKEN; /* not failed: ^C */
    }
    if (++p->n_done == sc->n_commands)
        return finish_screen(p);
    play_print_command(p);
    return PLAY_TAKEN;
}

enum play_result play_enter(struct play *p)
{
    switch (p->stage) {
    case PLAY_ASK:
        return after_question(p);
    case PLAY_DO:
        return do_next(p, false);
    case PLAY_OVER:
        break;
    }
    if (p->screen + 1 == p->tour->n_screens)
        return PLAY_LEAVES;
    if (!play_restore(p))
        return PLAY_BROKEN;
    enter_screen(p, p->screen + 1);
    play_show(p);
    return PLAY_TAKEN;
}

/* Returns the statements in canonical form.  The caller frees the text. */
static char *canonical(const struct lines *l)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = must_memstream(&text, &n);

    for (const struct step *st = l->script.first; st; st = st->next)
        line_write_step(f, st, "");
    must_memstream_end(f, &text);
    return text;
}

enum play_result play_typed(struct play *p, const struct lines *l)
{
    const struct tour_screen *sc = play_screen(p);
    struct source src;
    struct lines own;
    char *a, *b;
    bool same;

    if (p->stage == PLAY_OVER || sc->n_commands == 0 || p->tour->is_problem || !l->whole)
        return PLAY_NOT;
    src = tour_command_source(p->tour, &sc->commands[p->n_done]);
    session_read(p->s, &src, NULL, false, &own);
    a = canonical(l);
    b = canonical(&own);
    same = own.whole && strcmp(a, b) == 0;
    free(a);
    free(b);
    script_done(&own.script);
    return same ? do_next(p, true) : PLAY_NOT;
}

void play_stray(struct play *p, const struct lines *l)
{
    for (const struct step *st = l->script.first; st; st = st->next)
        p->changed = p->changed || !(step_flags(st) & CMD_LOOKS);
    p->strayed = true;
    if (p->stage == PLAY_DO && !p->s->run.quit)
        play_print_reminder(p);
}
