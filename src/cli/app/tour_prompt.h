/* SPDX-License-Identifier: MIT */
/* The tour at a prompt: which lesson is open, and the inputs that belong to it.
 *
 * The session of the prompt waits while a lesson is open.  The lesson has sessions of its own
 * (cli/tour/play.h); tour_prompt_session() is the one that executes the next line.
 */
#ifndef CLI_APP_TOUR_PROMPT_H
#define CLI_APP_TOUR_PROMPT_H

#include <stdbool.h>

#include "cli/app/tour_progress.h"
#include "cli/session/session.h"
#include "cli/tour/play.h"

enum tour_asked {
    TOUR_ASKED_NOTHING,
    TOUR_ASKED_LESSON,  /* open the lesson @wanted at @wanted_screen */
    TOUR_ASKED_FILE,    /* open the lesson @file */
    TOUR_ASKED_AGAIN,   /* show the present screen */
    TOUR_ASKED_PROBLEM, /* open the problem of a quiz @file */
    TOUR_ASKED_NEXT,
    TOUR_ASKED_BACK,
    TOUR_ASKED_STOP
};

/* A lesson or a problem of a quiz in memory. */
struct tour_loaded {
    struct tour t;
    struct source file;  /* its file; its text is NULL for a lesson of the program */
    char *drawn;         /* the text of a problem; NULL: it is a lesson */
    size_t builtin;      /* its index, if it is a lesson of the program */
    char name[PATH_MAX]; /* its name in the progress */
};

struct tour_prompt {
    struct session *own; /* of the prompt */
    struct session_tour command;
    void (*use)(void *ctx, struct session *s); /* called for each session that the prompt gets */
    void *ctx;
    bool is_open; /* @now and @play are valid */
    struct tour_loaded now;
    struct play play;
    enum tour_asked asked;
    size_t wanted, wanted_screen; /* of TOUR_ASKED_LESSON */
    bool screen_given;            /* the reader has named @wanted_screen */
    struct tour_loaded file;      /* of TOUR_ASKED_FILE and TOUR_ASKED_PROBLEM */
    uint64_t last_seed;           /* of the last problem; 0: there was none */
    struct tour_progress progress;
    bool has_progress; /* it was read */
};

/* Prints the topics of the quiz. */
void quiz_list(FILE *out);

/* Prints the lessons of the program with the reader's progress. */
void tour_list(FILE *out, const struct tour_progress *progress);

/* Prepares the tour of the prompt of @own.  @use is called, with @ctx, for each new session. */
void tour_prompt_init(struct tour_prompt *t, struct session *own,
                      void (*use)(void *ctx, struct session *s), void *ctx);
void tour_prompt_done(struct tour_prompt *t);

/* Returns the session that executes the next line. */
struct session *tour_prompt_session(const struct tour_prompt *t);

/* Appends what the prompt begins with, "keys 2/6 "; nothing if no lesson is open. */
void tour_prompt_add(const struct tour_prompt *t, struct text *out);

/* tour_prompt_text() is called for each typed text before it is parsed, and
 * tour_prompt_statements() for the parsed statements.  Both return true if the input belonged to
 * the lesson: then the caller must not execute it.  *@ret_ok is false after an error.
 */
bool tour_prompt_text(struct tour_prompt *t, const char *text, bool *ret_ok);
bool tour_prompt_statements(struct tour_prompt *t, const struct lines *l, bool *ret_ok);

/* Call after the caller has executed @l. */
void tour_prompt_executed(struct tour_prompt *t, const struct lines *l);

/* Forgets what the command `tour` has asked for: a command behind it in the line has failed. */
void tour_prompt_forget(struct tour_prompt *t);

/* Does what the command `tour` has asked for.  Returns false after an error. */
bool tour_prompt_act(struct tour_prompt *t);

#endif
