/* SPDX-License-Identifier: MIT */
#include "cli/tour/check.h"

#include <stdlib.h>
#include <string.h>

#include "cli/tour/answer.h"
#include "cli/tour/play.h"
#include "print/utf8.h"
#include "process/must.h"
#include "rdmalab/trace.h"

/* A reader who plays the lesson. */
struct tour_walk {
    const struct tour *t;
    const struct session_config *config;
    struct play play;
    size_t chooses; /* 0: presses Enter; otherwise this choice of each question, from 1 */
    char *page;     /* output since the last input */
    size_t n_page;
    FILE *out;
    bool ok;
};

static bool fail(struct tour_walk *w, struct span at, const char *what, const char *remedy)
{
    struct diag d = {.kind = DIAG_NONE};

    diag_set(&d, DIAG_EXPECT, at, "%s", what);
    diag_remedy(&d, "%s", remedy);
    diag_print(w->config->err, &w->t->src, &d);
    w->ok = false;
    return false;
}

/* Number of lines that @text, of @left bytes, takes on a terminal of TOUR_COLUMNS columns. */
static size_t lines_of(const char *text, size_t left)
{
    size_t n = 0, column = 0;

    while (left > 0) {
        uint32_t c;
        const size_t bytes = utf8_character(text, left, &c);

        if (*text == '\n' || column == TOUR_COLUMNS) {
            n++;
            column = 0;
        }
        column += *text != '\n';
        text += bytes ? bytes : 1;
        left -= bytes ? bytes : 1;
    }
    return n + (column > 0);
}

/* Prints the beginning of the page. */
static void print_head(const struct tour_walk *w)
{
    size_t n = 0;

    for (size_t lines = 0; n < w->n_page && lines < TOUR_LINES; n++)
        lines += w->page[n] == '\n';
    fwrite(w->page, 1, n, w->config->err);
}

/* Checks the size of the page, and begins another one.  One line is for the prompt. */
static bool end_page(struct tour_walk *w)
{
    const struct tour_screen *sc = &w->t->screens[w->play.screen];
    char what[128];
    struct text t = text_on(what, sizeof(what));
    size_t n;

    fflush(w->out);
    n = lines_of(w->page, w->n_page) + 1;
    if (n <= TOUR_LINES) {
        rewind(w->out); /* from now on n_page counts the bytes of the next page */
        return true;
    }
    text_addf(&t, "this screen has a page of %zu lines, with the prompt", n);
    fail(w, sc->at, what,
         "24 lines of 80 columns are on a terminal; divide a long output: \"run 10us\", then "
         "\"run\"");
    print_head(w);
    return false;
}

/* Gives the next input. */
static enum play_result press(struct tour_walk *w)
{
    const struct tour_screen *sc = &w->t->screens[w->play.screen];
    char said[] = {'0', '\0'};

    if (w->play.stage == PLAY_OVER && w->t->is_problem)
        return PLAY_LEAVES;
    if (w->play.stage != PLAY_ASK || w->chooses == 0)
        return play_enter(&w->play);
    if (!sc->number.text)
        said[0] = answer_letter((w->chooses <= sc->n_choices ? w->chooses : sc->n_choices) - 1);
    return play_answer(&w->play, said, false);
}

/* Compares the lab with that of a reader who goes directly to this screen. */
static bool compare_restored(struct tour_walk *w)
{
    struct session_config config = *w->config;
    struct play direct = {.opened = NULL};
    bool same;

    config.out = w->out;
    same = play_begin(&direct, w->t, &config, w->play.screen) &&
           rdl_hash(direct.s->lab) == rdl_hash(w->play.s->lab);
    play_done(&direct);
    return same || fail(w, w->t->screens[w->play.screen].at,
                        "who goes to this screen directly finds another lab",
                        "a command of an earlier screen depends on something else");
}

static bool walk_on(struct tour_walk *w)
{
    enum play_result result;
    size_t screen = 0;

    play_show(&w->play);
    do {
        if (!end_page(w))
            return false;
        if (w->play.screen != screen && !compare_restored(w))
            return false;
        screen = w->play.screen;
        result = press(w);
    } while (result == PLAY_TAKEN && !w->play.s->run.quit);
    if (result == PLAY_LEAVES)
        return true;
    if (w->play.failed)
        w->ok = false; /* the error was printed */
    else
        fail(w, w->t->screens[w->play.screen].at, "the lesson ends in this screen",
             "a command was interrupted");
    return false;
}

static bool walk(const struct tour *t, const struct session_config *config, size_t chooses)
{
    struct tour_walk w = {.t = t, .config = config, .chooses = chooses, .ok = true};
    struct session_config own = *config;

    w.out = must_memstream(&w.page, &w.n_page);
    own.out = w.out;
    own.colour = false; /* its bytes would count as columns */
    if (play_begin(&w.play, t, &own, 0))
        (void)walk_on(&w);
    else
        w.ok = false; /* the error was printed */
    play_done(&w.play);
    must_memstream_end(w.out, &w.page);
    free(w.page);
    return w.ok;
}

bool tour_check(const struct tour *t, const struct session_config *config)
{
    size_t n_walks = 1;

    for (size_t i = 0; i < t->n_screens; i++) {
        const struct tour_screen *sc = &t->screens[i];
        const size_t n = sc->number.text ? 1 : sc->n_choices;

        n_walks = n_walks > n + 1 ? n_walks : n + 1;
    }
    for (size_t i = 0; i < n_walks; i++) {
        if (!walk(t, config, i))
            return false;
    }
    return true;
}
