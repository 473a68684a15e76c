/* SPDX-License-Identifier: MIT */
/* Random sessions: statements of two hosts, of which many fail, and which may be cut short.  For
 * tests in a directory of their own: some of the statements are files that are sourced.
 */
#ifndef TESTS_UNIT_CLI_SESSION_RANDOM_SESSION_H
#define TESTS_UNIT_CLI_SESSION_RANDOM_SESSION_H

#include <signal.h>
#include <stdio.h>

#include "cli/cli_testing.h"
#include "cli/session/seen.h"
#include "cli/session/session.h"
#include "emu/base/prng.h"
#include "emu/base/text.h"
#include "emu/trace/event.h"

#define STATEMENT_BYTES 4096u
#define SOURCED_FILES   4u

struct author {
    struct prng rng;
    unsigned n_files;
};

uint32_t author_below(struct author *a, uint32_t n);

/* The statements that every session begins with, and another one. */
extern const char author_macros[];
void author_begin(struct author *a, struct text *t);
void author_add_statement(struct author *a, struct text *t);

/* Appends @line with a host for @, a small number for $, a larger one for ~. */
void author_add_line(struct author *a, struct text *t, const char *line);

/* A session, and what may happen to it from outside. */
struct lab {
    struct session *s;
    volatile sig_atomic_t interrupted;
    uint64_t interrupt_at; /* the tick */
    char *out;
    size_t n;
    FILE *f;
    struct seen seen; /* of what carry_out() did */
};

/* @history_bytes: what its snapshots may take; 0: it cannot go back. */
void lab_open(struct lab *l, size_t history_bytes);
void lab_close(struct lab *l);
bool lab_try(struct lab *l, const char *lines);
void lab_run(struct lab *l, const char *lines);

/* What two runs have in common if they are the same. */
struct outcome {
    uint64_t hash, tick, now_ns;
};

struct outcome outcome_of(const struct lab *l);

/* Saves the session in both forms and replays them; NULL, or what is wrong. */
const char *save_and_replay(struct lab *l, char *ret, size_t cap);

/* To be listened with: presses ^C in tick @interrupt_at of the struct lab in @ctx. */
void interrupt_then(void *ctx, const struct ev *e);

/* What ends a statement before its end. */
struct cut {
    enum cut_by { CUT_LIMIT, CUT_INTERRUPT, CUT_STOP, CUT_NOT } by;
    uint32_t after; /* so many ticks */
};

struct cut author_draw_cut(struct author *a);

/* Carries out one statement, which may be cut short; at the latest at the end of @last_tick, unless
 * that is 0.
 */
void carry_out_until(struct lab *l, const char *statement, struct cut cut, uint64_t last_tick);

/* The same, cut as the author likes. */
void carry_out(struct author *a, struct lab *l, const char *statement);

/* Removes the files that a session may have written. */
void remove_session_files(void);

#endif
