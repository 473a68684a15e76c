/* SPDX-License-Identifier: MIT */
#include "cli/tour/play_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tour/answer.h"
#include "print/plain.h"
#include "print/show_text.h"
#include "print/utf8.h"
#include "process/must.h"

#define INDENT "  "

void play_print_behind(const struct play *p, const char *lead, const char *line)
{
    fputs(lead, p->config.out);
    print_line(p->config.out, line);
}

void play_print_text(const struct play *p, const char *text)
{
    while (*text) {
        const size_t n = strcspn(text, "\n");
        char *line = must_malloc(n + 1);

        memcpy(line, text, n);
        line[n] = '\0';
        if (n > 0)
            play_print_behind(p, INDENT, line);
        else
            fputc('\n', p->config.out);
        free(line);
        text += n + (text[n] == '\n');
    }
}

void play_print_wrapped(const struct play *p, const char *lead, unsigned indent, const char *s)
{
    const size_t cap = 4 * strlen(s) + 1;
    char *shown = must_malloc(cap);
    struct text t = text_on(shown, cap);

    utf8_add_printable(&t, s, false);
    show_wrap_behind(p->config.out, lead, indent, shown);
    free(shown);
}

/* Prints a line that says what may be typed, dimmed on a terminal with colours. */
static void print_hint(const struct play *p, const char *hint)
{
    fprintf(p->config.out, p->config.colour ? "\033[2m%s\033[22m\n" : "%s\n", hint);
}

void play_print_ask(const struct play *p)
{
    const struct tour_screen *sc = play_screen(p);

    play_print_wrapped(p, "? ", 2, sc->ask);
    for (size_t i = 0; i < sc->n_choices; i++) {
        const char lead[] = {' ', ' ', answer_letter(i), ')', ' ', '\0'};

        play_print_wrapped(p, lead, 5, sc->choices[i].text);
    }
}

void play_add_inputs(const struct play *p, struct text *t)
{
    text_add(t, "type ");
    answer_add_form(play_screen(p), t);
    text_addf(t, ", or press Enter to %s", p->tour->is_problem ? "see the answer" : "skip");
}

static void print_question(const struct play *p)
{
    const struct tour_screen *sc = play_screen(p);
    char hint[64];
    struct text t = text_on(hint, sizeof(hint));

    if (!p->tour->is_problem && sc->n_commands > 0) {
        print_hint(p, sc->n_commands == 1 ? "[the command of this screen:]"
                                          : "[the commands of this screen:]");
        for (size_t i = 0; i < sc->n_commands; i++)
            play_print_behind(p, INDENT, sc->commands[i].text);
    }
    play_print_ask(p);
    text_add(&t, "[");
    play_add_inputs(p, &t);
    text_add(&t, "]");
    print_hint(p, hint);
}

void play_print_command(const struct play *p)
{
    print_hint(p, "[type this, or press Enter and it is typed for you]");
    play_print_behind(p, INDENT, play_screen(p)->commands[p->n_done].text);
}

void play_print_reminder(const struct play *p)
{
    const char *command = play_screen(p)->commands[p->n_done].text;
    char line[TOUR_COLUMNS];
    struct text t = text_on(line, sizeof(line) - 4);

    text_add(&t, "[Enter: ");
    utf8_add_printable(&t, command, false);
    t.cap = sizeof(line);
    text_add(&t, t.cut ? "...]" : "]");
    print_hint(p, line);
}

void play_print_end(const struct play *p)
{
    if (p->tour->is_problem)
        return;
    if (p->screen + 1 < p->tour->n_screens)
        print_hint(p, "[Enter: next screen]");
    else
        print_hint(p, "[Enter: this lesson is over, on to the next]");
}

/* Prints what may be done now. */
static void print_next(const struct play *p)
{
    switch (p->stage) {
    case PLAY_ASK:
        print_question(p);
        break;
    case PLAY_DO:
        play_print_command(p);
        break;
    case PLAY_OVER:
        play_print_end(p);
        break;
    }
}

void play_print_screen(const struct play *p)
{
    const bool bold = p->config.colour;

    fprintf(p->config.out, "%s-- %s ", bold ? "\033[1m" : "", p->tour->name);
    if (p->tour->is_problem)
        fprintf(p->config.out, "seed %" PRIu64 ": ", p->tour->seed);
    else
        fprintf(p->config.out, "%zu/%zu: ", p->screen + 1, p->tour->n_screens);
    print_plain(p->config.out, play_screen(p)->title, false);
    fprintf(p->config.out, " --%s\n", bold ? "\033[22m" : "");
    play_print_text(p, play_screen(p)->text);
}

void play_show(struct play *p)
{
    play_print_screen(p);
    fputc('\n', p->config.out);
    print_next(p);
}
