/* SPDX-License-Identifier: MIT */
/* Plays one lesson of the tour in a session of its own.
 *
 * The reader goes through the screens.  On each there may be a question, and then commands, which
 * the reader types, or executes by an empty line.  In between the reader may execute anything.
 *
 * The lab of a lesson is a function of the place in it: before the next command of the lesson is
 * executed, play_restore() replaces the session by a new one if the reader has executed anything
 * else, and executes `lab` and all commands of the lesson up to there again, without output.  So
 * the lesson continues correctly after whatever the reader did.
 */
#ifndef CLI_TOUR_PLAY_H
#define CLI_TOUR_PLAY_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/lang/line.h"
#include "cli/session/session.h"
#include "cli/tour/answer.h"
#include "cli/tour/tour.h"

/* The input that comes next. */
enum play_stage {
    PLAY_ASK, /* an answer to the question of the screen */
    PLAY_DO,  /* the next command of the screen */
    PLAY_OVER /* an empty line for the next screen */
};

#define PLAY_ANSWER_BYTES 64u

struct play {
    const struct tour *tour;
    struct session_config config;
    struct session *s; /* NULL after a failed play_restore() */
    size_t screen;
    enum play_stage stage;
    size_t n_done;                /* commands of the screen that were executed */
    bool strayed;                 /* the reader has executed something else */
    bool changed;                 /* and not only looked */
    char said[PLAY_ANSWER_BYTES]; /* the answer to the question; "": none */
    bool is_right;                /* this answer was right */
    bool failed;                  /* a command, an expectation or an answer of the lesson failed */
    /* Called for each new session; may be NULL. */
    void (*opened)(void *ctx, struct session *s);
    void *ctx;
};

/* Begins @tour at @screen.  The caller has set @opened and @ctx.  @config is that of its sessions.
 * Prints nothing.  Returns false if the commands before that screen fail; the error was printed.
 * Call play_done() in both cases.
 */
bool play_begin(struct play *p, const struct tour *tour, const struct session_config *config,
                size_t screen);
void play_done(struct play *p);

/* Prints what the reader sees now: the screen with its question, or its next command. */
void play_show(struct play *p);

/* Goes to the beginning of @screen and restores its lab.  Returns false like play_begin(). */
bool play_go(struct play *p, size_t screen);

/* The results of an input. */
enum play_result {
    PLAY_NOT,    /* it is no input of the lesson: the caller executes it, then play_stray() */
    PLAY_TAKEN,  /* it was used, and the output was printed */
    PLAY_ASKS,   /* it is no answer to the open question; this was printed */
    PLAY_LEAVES, /* the last screen is over */
    PLAY_BROKEN  /* the lesson cannot be continued; the error was printed */
};

/* An empty line: skips the question, executes the next command, or shows the next screen. */
enum play_result play_enter(struct play *p);

/* The typed text @text, with or without a line end: an answer to the question of the screen.
 * @is_command: the prompt would execute a command.  A single letter or a number is never executed
 * while a question is open, nor when it was an answer to the last question.
 */
enum play_result play_answer(struct play *p, const char *text, bool is_command);

/* The typed statements @l: the next command of the lesson. */
enum play_result play_typed(struct play *p, const struct lines *l);

/* Prints the problem that was drawn, the session that shows its answer, and the answer.  @p has
 * just begun.  Returns false after an error of the file.
 */
bool play_solve(struct play *p);

/* Computes the right answer to the question of the problem that was drawn, without output.  @p has
 * just begun.  Returns false after an error of the file, which was printed.
 */
bool play_find(struct play *p, struct tour_answer *ret);

/* Notes that the caller has executed @l in the session of the lesson, and prints which command of
 * the lesson comes next.
 */
void play_stray(struct play *p, const struct lines *l);

/* Returns the lab to the place of the lesson, if the reader has left it. */
bool play_restore(struct play *p);

#endif
