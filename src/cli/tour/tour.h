/* SPDX-License-Identifier: MIT */
/* Lessons of the tour as data, and the parser of their text form.  One file is one lesson:
 *
 *	# a comment
 *	lesson keys "Keys"               the name, one word, and the title
 *	lab                              commands that are executed before the first screen
 *	    host h1 h2
 *	screen "A key for a region"      one idea; all lines below it, up to the next screen
 *	    Text, as it is printed.
 *	ask "How many packets?"          a question about what the commands will do
 *	choice "one" if count(tx) == 1   exactly one condition must hold after the commands
 *	    The reason if this is right, otherwise text for a reader who has chosen it.
 *	number count(tx)                 in place of choices: the answer is this value
 *	word h1.qp.state                 the same, and the value is a word
 *	    The reason.
 *	do                               commands that the reader executes, one by one
 *	    post_send h1.qp sge=mr[0:64]
 *	refused "part of a message"      the last command must fail with this message
 *	expect h1.qp.state == RTS        must hold after the commands
 *	then                             text that is printed after the commands
 *
 * A line that does not begin with a blank is a directive.  Lines with four blanks belong to the
 * directive before them.  Inside a screen the directives have the order above; all may be left out.
 * The conditions, the values and the commands are those of the command language.
 */
#ifndef CLI_TOUR_TOUR_H
#define CLI_TOUR_TOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/lang/expr.h"
#include "cli/lang/pool.h"
#include "cli/lang/source.h"
#include "cli/lang/suggest.h"

/* The terminal for which lessons are written. */
#define TOUR_LINES   24u
#define TOUR_COLUMNS 80u
/* Most characters of a line of text, which is printed behind two blanks. */
#define TOUR_TEXT_COLUMNS 77u

#define TOUR_CHOICES_MAX  5u
#define TOUR_COMMANDS_MAX 8u  /* of a screen */
#define TOUR_EXPECTS_MAX  8u  /* of a screen */
#define TOUR_LAB_MAX      32u /* commands of `lab` */
#define TOUR_SCREENS_MAX  32u
#define TOUR_NAME_BYTES   32u /* of a lesson's name, with the terminating NUL */

/* Lines of text, each with its line end; "": none. */
typedef const char *tour_text;

/* An expression in the file. */
struct tour_expr {
    const char *text; /* NULL: there is none */
    struct span at;
    struct expr *e;
};

/* A command in the file. */
struct tour_command {
    const char *text;     /* without its indentation */
    const char *indented; /* the whole line */
    struct span at;       /* in the file, without its indentation */
    size_t line;          /* number of its line, from 1 */
};

struct tour_choice {
    const char *text;
    struct tour_expr holds;
    /* If it holds: the reason.  Otherwise for a reader who has chosen it: what is wrong with it. */
    tour_text text_below;
    struct span at;
};

struct tour_screen {
    const char *title;
    struct span at;
    tour_text text;
    const char *ask; /* NULL: no question */
    struct span ask_at;
    struct tour_choice choices[TOUR_CHOICES_MAX];
    size_t n_choices;
    struct tour_expr number; /* in place of choices */
    bool is_word;            /* @number is a word */
    tour_text reason;        /* of the answer @number */
    struct tour_command commands[TOUR_COMMANDS_MAX];
    size_t n_commands;
    const char *refused; /* part of the message with which the last command fails; NULL: none */
    struct tour_expr expects[TOUR_EXPECTS_MAX];
    size_t n_expects;
    tour_text then;
};

struct tour {
    struct source src; /* its text belongs to the caller of tour_read() */
    struct pool pool;
    char name[TOUR_NAME_BYTES];
    const char *title;
    struct tour_command lab[TOUR_LAB_MAX];
    size_t n_lab;
    struct tour_screen *screens;
    size_t n_screens; /* at least 1 */
    bool is_problem;  /* of a quiz: one screen, which was drawn with @seed (draw.h) */
    uint64_t seed;
};

/* Parses @src.  Returns false with the error in @reterr.  Call tour_done() in both cases. */
bool tour_read(struct tour *ret, const struct source *src, struct diag *reterr);
void tour_done(struct tour *t);

/* Returns the command as a source of its own, for error messages with the line of the file. */
struct source tour_command_source(const struct tour *t, const struct tour_command *c);

/* The lessons in the program. */
extern const struct tour_builtin {
    const char *name; /* of the lesson */
    const char *file; /* "tours/01-objects.tour" */
    const char *text;
} tour_builtins[];
extern const size_t n_tour_builtins;

/* The topics of the quiz in the program, files for problem_draw(). */
extern const struct tour_builtin quiz_builtins[];
extern const size_t n_quiz_builtins;

/* Returns the topic @name.  Returns NULL, and offers all to @near, if there is none. */
const struct tour_builtin *quiz_find(const char *name, struct suggestion *near);

/* Returns how many minutes the lesson takes: for reading it, and for each command and question. */
unsigned tour_minutes(const struct tour *t);

/* Parses lesson @i of the program, which the tests have parsed before. */
void tour_read_builtin(struct tour *ret, size_t i);

#endif
