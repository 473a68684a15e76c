/* SPDX-License-Identifier: MIT */
/* Generates and executes random sessions: statements about two hosts, many of which fail, and which
 * may be interrupted.  The test must run in a directory of its own, because some statements are
 * files that are sourced.
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

#define STATEMENT_BYTES 4096u
#define SOURCED_FILES   4u

struct author {
    struct prng rng;
    unsigned n_files;
};

uint32_t author_below(struct author *a, uint32_t n);

/* author_begin() appends the statements that every session begins with.  author_add_statement()
 * appends one random statement.
 */
extern const char author_macros[];
void author_begin(struct author *a, struct text *t);
void author_add_statement(struct author *a, struct text *t);

/* Appends @line.  Replaces @ by a host, $ by a small number and ~ by a larger one. */
void author_add_line(struct author *a, struct text *t, const char *line);

/* A session, and the interrupt that it may get. */
struct lab {
    struct session *s;
    volatile sig_atomic_t interrupted;
    uint64_t interrupt_at; /* tick in which ^C is pressed */
    char *out;
    size_t n;
    FILE *f;
    struct seen seen; /* statistics of carry_out() */
};

/* Opens a session.  @history_bytes: limit of its snapshots; 0: it cannot go back. */
void lab_open(struct lab *l, size_t history_bytes);
void lab_close(struct lab *l);
bool lab_try(struct lab *l, const char *lines);
void lab_run(struct lab *l, const char *lines);

/* Values that are equal in two runs if the runs are the same. */
struct outcome {
    uint64_t hash, tick, now_ns;
};

struct outcome outcome_of(const struct lab *l);

/* Saves the session in both forms and replays them.  Returns NULL, or what is wrong. */
const char *save_and_replay(struct lab *l, char *ret, size_t cap);

/* A listener that presses ^C in tick @interrupt_at of @ctx, a struct lab. */
void interrupt_then(void *ctx, const struct ev *e);

/* The cause that ends a statement early. */
struct cut {
    enum cut_by { CUT_LIMIT, CUT_INTERRUPT, CUT_STOP, CUT_NOT } by;
    uint32_t after; /* number of ticks */
};

struct cut author_draw_cut(struct author *a);

/* Executes one statement, which may be cut short.  It ends at the latest with tick @last_tick; 0:
 * no limit.
 */
void carry_out_until(struct lab *l, const char *statement, struct cut cut, uint64_t last_tick);

/* Like carry_out_until(), with a cut that the author draws and no last tick. */
void carry_out(struct author *a, struct lab *l, const char *statement);

/* Removes the files that a session may have written. */
void remove_session_files(void);

#endif
