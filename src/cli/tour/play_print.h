/* SPDX-License-Identifier: MIT */
/* The output of a lesson that is played: screens, questions, commands. */
#ifndef CLI_TOUR_PLAY_PRINT_H
#define CLI_TOUR_PLAY_PRINT_H

#include "cli/tour/play.h"

/* Returns the screen that is played. */
static inline const struct tour_screen *play_screen(const struct play *p)
{
    return &p->tour->screens[p->screen];
}

/* Prints one line behind @lead. */
void play_print_behind(const struct play *p, const char *lead, const char *line);

/* Prints lines of text, each behind the indentation. */
void play_print_text(const struct play *p, const char *text);

/* Prints @s behind @lead; its further lines are indented by @indent columns. */
void play_print_wrapped(const struct play *p, const char *lead, unsigned indent, const char *s);

/* Appends which inputs the open question takes. */
void play_add_inputs(const struct play *p, struct text *t);

/* Prints the question and its choices. */
void play_print_ask(const struct play *p);

/* Prints the next command of the lesson, which the reader may type. */
void play_print_command(const struct play *p);

/* Prints in one line which command of the lesson comes next. */
void play_print_reminder(const struct play *p);

/* Prints what comes behind the screen. */
void play_print_end(const struct play *p);

/* Prints the title and the text of the screen. */
void play_print_screen(const struct play *p);

#endif
