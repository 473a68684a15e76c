/* SPDX-License-Identifier: MIT */
#include "cli/app/tour_prompt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/complete/expand.h"
#include "cli/lang/expand.h"
#include "cli/lang/suggest.h"
#include "cli/lang/table.h"
#include "cli/tour/draw.h"
#include "emu/base/assert.h"
#include "print/utf8.h"

#define TITLE_COLUMN   17u
#define MINUTES_COLUMN 54u

/* --- Lessons -----------------------------------------------------------------------------------
 */

static void load_builtin(struct tour_loaded *l, size_t i)
{
    struct text t;

    *l = (struct tour_loaded){.builtin = i};
    tour_read_builtin(&l->t, i);
    t = text_on(l->name, sizeof(l->name));
    text_add(&t, l->t.name);
}

static void unload(struct tour_loaded *l)
{
    tour_done(&l->t);
    if (l->file.text)
        source_done(&l->file);
    l->file.text = NULL;
    free(l->drawn);
    l->drawn = NULL;
}

/* Sets *@ret to the number of the lesson @where: its number from 1, or its name. */
static bool find_builtin(const char *where, size_t *ret)
{
    for (size_t i = 0; i < n_tour_builtins; i++) {
        char number[24];
        struct text t = text_on(number, sizeof(number));

        text_addf(&t, "%zu", i + 1);
        *ret = i;
        if (strcmp(where, tour_builtins[i].name) == 0 || strcmp(where, number) == 0)
            return true;
    }
    return false;
}

/* --- Progress ----------------------------------------------------------------------------------
 */

static void need_progress(struct tour_prompt *t)
{
    if (!t->has_progress)
        tour_progress_read(&t->progress);
    t->has_progress = true;
}

/* Notes the place of the reader.  @over: the lesson is over. */
static void note_place(struct tour_prompt *t, bool over)
{
    const size_t n = t->now.t.n_screens;
    const char *why;

    if (t->now.drawn)
        return; /* a problem has no place */
    why = tour_progress_note(&t->progress, t->now.name, over ? n : t->play.screen, n);

    if (why)
        fprintf(t->own->config.out, "(The place in the tour cannot be kept for later: %s.)\n", why);
}

void tour_list(FILE *out, const struct tour_progress *progress)
{
    for (size_t i = 0; i < n_tour_builtins; i++) {
        const struct tour_read_lesson *read;
        struct tour one;
        char lead[TOUR_COLUMNS];
        struct text l = text_on(lead, sizeof(lead));

        tour_read_builtin(&one, i);
        read = tour_progress_find(progress, one.name);
        text_addf(&l, "%2zu %s", i + 1, one.name);
        text_pad_to(&l, TITLE_COLUMN);
        text_add(&l, one.title);
        text_pad_to(&l, MINUTES_COLUMN);
        fprintf(out, "%s %2u min", lead, tour_minutes(&one));
        if (read && read->screen >= read->n_screens)
            fputs("  (done)", out);
        else if (read)
            fprintf(out, "  (screen %zu of %zu)", read->screen + 1, one.n_screens);
        fputc('\n', out);
        tour_done(&one);
    }
    fputs("Each lesson needs those above it. \"tour\" goes on where you were; \"tour 2\" or\n"
          "\"tour send\" opens a lesson where you left it, and \"tour send 1\" at its screen 1.\n",
          out);
}

void quiz_list(FILE *out)
{
    for (size_t i = 0; i < n_quiz_builtins; i++) {
        const struct source src = source_of(quiz_builtins[i].file, quiz_builtins[i].text);
        struct diag d = {.kind = DIAG_NONE};
        struct problem p;
        char lead[TOUR_NAME_BYTES + 16];
        struct text l = text_on(lead, sizeof(lead));

        text_add(&l, quiz_builtins[i].name);
        text_pad_to(&l, TITLE_COLUMN - 3);
        if (problem_draw(&p, &src, 1, &d))
            fprintf(out, "%s%s\n", lead, p.tour.title);
        problem_done(&p);
    }
    fputs("\"quiz psn\" asks about one, \"quiz psn seed=7\" always the same\n", out);
}

/* Returns the screen at which the reader has left the lesson @name; 0 for a lesson that is over. */
static size_t place_in(struct tour_prompt *t, const char *name)
{
    const struct tour_read_lesson *read;

    need_progress(t);
    read = tour_progress_find(&t->progress, name);
    return read && read->screen < read->n_screens ? read->screen : 0;
}

/* --- The command -------------------------------------------------------------------------------
 */

static bool want_lesson(struct tour_prompt *t, size_t lesson, size_t screen)
{
    t->asked = TOUR_ASKED_LESSON;
    t->wanted = lesson;
    t->wanted_screen = screen;
    return true;
}

/* Reads the lesson of @file, which the caller no longer owns. */
static bool want_file(struct tour_prompt *t, const struct source *file, struct span at,
                      struct diag *reterr)
{
    char path[PATH_MAX];
    struct diag d = {.kind = DIAG_NONE};
    struct text name;
    size_t line, column;

    t->file = (struct tour_loaded){.file = *file};
    name = text_on(t->file.name, sizeof(t->file.name));
    text_add(&name, realpath(file->name, path) ? path : file->name);
    if (tour_read(&t->file.t, file, &d)) {
        t->asked = TOUR_ASKED_FILE;
        t->wanted_screen = place_in(t, t->file.name);
        return true;
    }
    source_place(file, d.at.at, &line, &column);
    diag_set(reterr, DIAG_FAILED, at, "%s:%zu:%zu: %s", SHOWN_NAME(file->name), line, column,
             d.message);
    diag_remedy(reterr, "%s", d.remedy);
    unload(&t->file);
    return false;
}

/* Goes on with the lesson that was read last. */
static bool want_last(struct tour_prompt *t)
{
    const struct tour_read_lesson *last;
    struct source file = {0};
    struct diag d = {.kind = DIAG_NONE};
    size_t i = 0;

    need_progress(t);
    last = tour_progress_last(&t->progress);
    if (!last)
        return want_lesson(t, 0, 0);
    if (find_builtin(last->name, &i)) {
        if (last->screen < last->n_screens)
            return want_lesson(t, i, last->screen);
        i = i + 1 < n_tour_builtins ? i + 1 : 0;
        return want_lesson(t, i, place_in(t, tour_builtins[i].name));
    }
    /* The user has named this file in an earlier session. */
    if (last->name[0] == '/' && source_read(last->name, &file) == NULL &&
        want_file(t, &file, (struct span){0, 0}, &d))
        return true;
    return want_lesson(t, 0, 0);
}

static bool fail(struct diag *d, struct span at, const char *message, const char *remedy)
{
    diag_set(d, DIAG_FAILED, at, "%s", message);
    return diag_remedy(d, "%s", remedy);
}

/* The words that are no lesson. */
static const struct {
    const char *word;
    enum tour_asked asked;
} words[] = {{"next", TOUR_ASKED_NEXT}, {"back", TOUR_ASKED_BACK}, {"list", TOUR_ASKED_NOTHING},
             {"stop", TOUR_ASKED_STOP}, {"quit", TOUR_ASKED_STOP}, {"exit", TOUR_ASKED_STOP}};

static bool unknown(const char *where, struct span at, struct diag *reterr)
{
    struct suggestion near = suggestion_for(where);

    diag_set(reterr, DIAG_FAILED, at, "the tour has no lesson \"%s\"", where);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        suggest_offer(&near, words[i].word);
    for (size_t i = 0; i < n_tour_builtins; i++)
        suggest_offer(&near, tour_builtins[i].name);
    if (near.best)
        return diag_remedy(reterr, "did you mean \"tour %s\"?", near.best);
    return diag_remedy(reterr, "\"tour list\" lists the lessons");
}

/* Judges the @screen, from 1, of the lesson that was asked for. */
static bool want_screen(struct tour_prompt *t, uint64_t screen, struct span at, struct diag *reterr)
{
    struct tour one;
    size_t n;

    if (t->asked == TOUR_ASKED_FILE) {
        n = t->file.t.n_screens;
    } else {
        tour_read_builtin(&one, t->wanted);
        n = one.n_screens;
        tour_done(&one);
    }
    t->wanted_screen = (size_t)screen - 1;
    t->screen_given = true;
    if (screen >= 1 && screen <= n)
        return true;
    tour_prompt_forget(t);
    diag_set(reterr, DIAG_FAILED, at, "the lesson has no screen %" PRIu64, screen);
    return diag_remedy(reterr, "it has the screens 1 to %zu", n);
}

void tour_prompt_forget(struct tour_prompt *t)
{
    if (t->asked == TOUR_ASKED_FILE || t->asked == TOUR_ASKED_PROBLEM)
        unload(&t->file);
    t->asked = TOUR_ASKED_NOTHING;
}

static bool ask_lesson(struct tour_prompt *t, const char *where, struct source *file,
                       struct span at, struct diag *reterr);

static bool ask(void *ctx, const char *where, struct source *file, const uint64_t *screen,
                struct span at, struct diag *reterr)
{
    struct tour_prompt *t = ctx;

    tour_prompt_forget(t);
    t->screen_given = false;
    if (!ask_lesson(t, where, file, at, reterr))
        return false;
    if (!screen)
        return true;
    if (t->asked == TOUR_ASKED_LESSON || t->asked == TOUR_ASKED_FILE)
        return want_screen(t, *screen, at, reterr);
    t->asked = TOUR_ASKED_NOTHING;
    return fail(reterr, at, "a screen has its lesson before it", "\"tour send 7\"");
}

/* Judges `tour WHERE`; see struct session_tour. */
static bool ask_lesson(struct tour_prompt *t, const char *where, struct source *file,
                       struct span at, struct diag *reterr)
{
    size_t i;

    if (where && strcmp(where, "list") == 0) {
        need_progress(t);
        tour_list(t->own->config.out, &t->progress);
        return true;
    }
    if (!t->is_open && t->own->outside.live) {
        if (file)
            source_done(file);
        return fail(reterr, at, "this lab has ports or programs, which cannot wait for a lesson",
                    "start \"rdmalab tour\" in another terminal");
    }
    t->wanted_screen = 0;
    if (file)
        return want_file(t, file, at, reterr);
    if (!where && t->is_open) {
        t->asked = TOUR_ASKED_AGAIN;
        return true;
    }
    if (!where)
        return want_last(t);
    for (i = 0; i < ARRAY_LEN(words); i++) {
        if (strcmp(where, words[i].word) != 0)
            continue;
        t->asked = words[i].asked;
        return t->is_open || fail(reterr, at, "no lesson is open", "\"tour\" opens one");
    }
    return find_builtin(where, &i) ? want_lesson(t, i, place_in(t, tour_builtins[i].name))
                                   : unknown(where, at, reterr);
}

/* Draws the problem @seed of @topic. */
static bool want_problem(struct tour_prompt *t, const struct tour_builtin *topic, uint64_t seed,
                         struct span at, struct diag *reterr)
{
    const struct source src = source_of(topic->file, topic->text);
    struct diag d = {.kind = DIAG_NONE};
    struct problem p;

    if (!problem_draw(&p, &src, seed, &d)) {
        problem_done(&p);
        diag_set(reterr, DIAG_FAILED, at, "%s", d.message);
        return diag_remedy(reterr, "%s", d.remedy);
    }
    t->last_seed = seed;
    t->asked = TOUR_ASKED_PROBLEM;
    t->wanted_screen = 0;
    t->file = (struct tour_loaded){.t = p.tour, .drawn = (char *)p.src.text};
    return true;
}

static bool quiz(void *ctx, const char *topic, const uint64_t *seed, struct span at,
                 struct diag *reterr)
{
    struct tour_prompt *t = ctx;
    const struct tour_builtin *found;
    struct suggestion near;

    tour_prompt_forget(t);
    if (!topic) {
        quiz_list(t->own->config.out);
        return true;
    }
    if (!t->is_open && t->own->outside.live)
        return fail(reterr, at, "this lab has ports or programs, which cannot wait for an answer",
                    "start \"rdmalab quiz\" in another terminal");
    near = suggestion_for(topic);
    found = quiz_find(topic, &near);
    if (found)
        return want_problem(t, found, seed ? *seed : t->last_seed + 1, at, reterr);
    diag_set(reterr, DIAG_FAILED, at, "the quiz has no topic \"%s\"", topic);
    if (near.best)
        return diag_remedy(reterr, "did you mean \"quiz %s\"?", near.best);
    return diag_remedy(reterr, "\"quiz\" lists the topics");
}

static const char *topic(void *ctx, size_t i)
{
    (void)ctx;
    return i < n_quiz_builtins ? quiz_builtins[i].name : NULL;
}

static const char *lesson(void *ctx, size_t i)
{
    (void)ctx;
    return i < n_tour_builtins ? tour_builtins[i].name : NULL;
}

/* --- Sessions ----------------------------------------------------------------------------------
 */

void tour_prompt_init(struct tour_prompt *t, struct session *own,
                      void (*use)(void *ctx, struct session *s), void *ctx)
{
    *t = (struct tour_prompt){.own = own, .use = use, .ctx = ctx};
    t->command = (struct session_tour){ask, quiz, lesson, topic, t};
    own->prompt.tour = &t->command;
}

/* Closes the open lesson. */
static void close_lesson(struct tour_prompt *t)
{
    if (!t->is_open)
        return;
    t->is_open = false;
    play_done(&t->play);
    unload(&t->now);
}

void tour_prompt_done(struct tour_prompt *t)
{
    close_lesson(t);
    tour_prompt_forget(t);
    tour_progress_done(&t->progress);
    t->own->prompt.tour = NULL;
}

struct session *tour_prompt_session(const struct tour_prompt *t)
{
    return t->is_open ? t->play.s : t->own;
}

void tour_prompt_add(const struct tour_prompt *t, struct text *out)
{
    if (t->is_open && t->now.drawn)
        text_addf(out, "%s seed %" PRIu64 " ", t->now.t.name, t->now.t.seed);
    else if (t->is_open)
        text_addf(out, "%s %zu/%zu ", t->now.t.name, t->play.screen + 1, t->now.t.n_screens);
}

/* Opens @l, which belongs to the tour from now on. */
static bool open_lesson(struct tour_prompt *t, const struct tour_loaded *l, size_t screen)
{
    struct session_config config = t->own->config;

    close_lesson(t);
    t->now = *l;
    config.seed = SCENARIO_SEED;
    config.seed_given = false;
    config.memory_bytes = 0;
    config.allowed = 0;
    config.observer = (struct session_observer){.ctx = NULL};
    t->is_open = true;
    t->play.opened = t->use;
    t->play.ctx = t->ctx;
    if (screen >= t->now.t.n_screens)
        screen = 0;
    if (!play_begin(&t->play, &t->now.t, &config, screen))
        return false;
    note_place(t, false);
    if (screen > 0 && !t->screen_given)
        fprintf(config.out, "(You were at screen %zu; \"tour %s 1\" begins the lesson again.)\n",
                screen + 1, SHOWN_NAME(t->now.file.text ? t->now.file.name : t->now.t.name));
    play_show(&t->play);
    return true;
}

static bool open_builtin(struct tour_prompt *t, size_t i, size_t screen)
{
    struct tour_loaded l;

    load_builtin(&l, i);
    return open_lesson(t, &l, screen);
}

/* --- Inputs ------------------------------------------------------------------------------------
 */

/* Closes the lesson or problem, and goes back to the lab of the prompt. */
static void go_home(struct tour_prompt *t)
{
    close_lesson(t);
    fputs("This is your own lab.\n", t->own->config.out);
    t->use(t->ctx, t->own);
}

/* The same before the end of a lesson. */
static void stop(struct tour_prompt *t)
{
    if (!t->now.drawn)
        fputs("You have left the tour. Type \"tour\" to continue where you were.\n",
              t->own->config.out);
    go_home(t);
}

/* The last screen of the lesson is over. */
static bool leave_lesson(struct tour_prompt *t)
{
    const bool is_file = t->now.file.text != NULL;
    const size_t next = t->now.builtin + 1;

    if (t->now.drawn) {
        go_home(t);
        return true;
    }
    note_place(t, true);
    fprintf(t->own->config.out, "The lesson \"%s\" is done.\n", t->now.t.name);
    t->screen_given = false;
    if (!is_file && next < n_tour_builtins)
        return open_builtin(t, next, place_in(t, tour_builtins[next].name));
    if (!is_file)
        fputs("That was the tour. From here: \"scenarios\" lists a course of labs to run,\n"
              "\"explain WORD\" says what a word means, \"help\" lists the commands.\n",
              t->own->config.out);
    go_home(t);
    return true;
}

/* Ends an input: @result is that of the player.  Returns false after an error. */
static bool settle(struct tour_prompt *t, enum play_result result, size_t screen)
{
    if (result == PLAY_LEAVES)
        return leave_lesson(t);
    if (result == PLAY_BROKEN || !t->play.s) {
        fputs("This lesson cannot be continued.\n", t->own->config.out);
        stop(t);
        return false;
    }
    if (t->play.screen != screen)
        note_place(t, false);
    return true;
}

/* An abbreviation of fewer letters is read as a word of an answer, such as "not sure". */
#define ABBREVIATION_LEAST 4u

static void add_first_word(struct text *t, const char *text)
{
    text += strspn(text, " \t\n");
    text_addn(t, text, strcspn(text, " \t\n;"));
}

/* Returns true if the prompt would execute a command, or another debugger's word for one. */
static bool is_command(const struct tour_prompt *t, const char *text)
{
    char typed[EXPAND_WORD_BYTES], written[EXPAND_WORD_BYTES];
    struct text tt = text_on(typed, sizeof(typed)), w = text_on(written, sizeof(written));
    struct expanded e;
    bool is;

    add_first_word(&tt, text);
    expand(t->play.s, text, &e);
    add_first_word(&w, e.text);
    is = cmd_find(written, false) || macro_find(&t->play.s->run.macros.list, written);
    if (e.n_notes == 0 && strcmp(typed, written) != 0 && strlen(typed) < ABBREVIATION_LEAST)
        is = false;
    is = e.context || (is && !e.wrong);
    free(e.text);
    return is;
}

bool tour_prompt_text(struct tour_prompt *t, const char *text, bool *ret_ok)
{
    const size_t screen = t->play.screen;
    enum play_result result;

    *ret_ok = true;
    if (!t->is_open)
        return false;
    if (text[strspn(text, " \t\n")] == '\0')
        result = play_enter(&t->play);
    else
        result = play_answer(&t->play, text, is_command(t, text));
    if (result == PLAY_NOT)
        return false;
    *ret_ok = settle(t, result, screen);
    if (t->is_open && t->now.drawn && result != PLAY_ASKS)
        fprintf(t->own->config.out,
                "[look at its lab, or press Enter for your own; \"quiz %s\" is the next problem]\n",
                t->now.t.name);
    return true;
}

bool tour_prompt_statements(struct tour_prompt *t, const struct lines *l, bool *ret_ok)
{
    const size_t screen = t->play.screen;
    const enum play_result result = t->is_open ? play_typed(&t->play, l) : PLAY_NOT;

    *ret_ok = true;
    if (result == PLAY_NOT)
        return false;
    *ret_ok = settle(t, result, screen);
    return true;
}

void tour_prompt_executed(struct tour_prompt *t, const struct lines *l)
{
    if (t->is_open && t->asked == TOUR_ASKED_NOTHING)
        play_stray(&t->play, l);
}

/* Goes to another screen of the open lesson. */
static bool go(struct tour_prompt *t, size_t screen)
{
    const size_t from = t->play.screen;
    const bool ok = play_go(&t->play, screen);

    if (ok)
        play_show(&t->play);
    return settle(t, ok ? PLAY_TAKEN : PLAY_BROKEN, from);
}

bool tour_prompt_act(struct tour_prompt *t)
{
    const enum tour_asked asked = t->asked;

    t->asked = TOUR_ASKED_NOTHING;
    need_progress(t);
    switch (asked) {
    case TOUR_ASKED_NOTHING:
        return true;
    case TOUR_ASKED_LESSON:
        return open_builtin(t, t->wanted, t->wanted_screen) || settle(t, PLAY_BROKEN, 0);
    case TOUR_ASKED_FILE:
    case TOUR_ASKED_PROBLEM:
        return open_lesson(t, &t->file, t->wanted_screen) || settle(t, PLAY_BROKEN, 0);
    case TOUR_ASKED_AGAIN:
        return go(t, t->play.screen);
    case TOUR_ASKED_NEXT:
        if (t->play.screen + 1 == t->now.t.n_screens)
            return settle(t, PLAY_LEAVES, t->play.screen);
        return go(t, t->play.screen + 1);
    case TOUR_ASKED_BACK:
        return go(t, t->play.screen ? t->play.screen - 1 : 0);
    case TOUR_ASKED_STOP:
        stop(t);
        return true;
    }
    return true;
}
