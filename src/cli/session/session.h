/* SPDX-License-Identifier: MIT */
/* A session: one lab, the commands that act on it, and what was said on the way.
 *
 * A session reads no terminal and writes only to the streams that it was given, so that it can run
 * inside another program.
 */
#ifndef CLI_SESSION_SESSION_H
#define CLI_SESSION_SESSION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/lang/expr.h"
#include "cli/lang/script.h"
#include "cli/session/journal.h"
#include "rdmalab/lab.h"

#define SESSION_TICKS_MAX_DEFAULT 10000000u
#define SESSION_SEED_DEFAULT      1u
#define SESSION_SOURCES_MAX       8u /* files that source each other */
#define SESSION_PATH_BYTES        192u
#define SESSION_MADE_BYTES        2048u

struct rdl_listener;
struct live;
struct live_ops;

/* Exit statuses of the program. */
enum exit_status {
    EXIT_ASK = -1, /* of a mode: its usage is to be told, with EXIT_USAGE */
    EXIT_PASSED = 0,
    EXIT_FAILED = 1,       /* an expectation or a command failed */
    EXIT_USAGE = 2,        /* usage, syntax or schema; or nothing to run */
    EXIT_SKIPPED = 77,     /* all of it was skipped */
    EXIT_BROKEN = 99,      /* an invariant of the emulator itself broke */
    EXIT_TIMEOUT = 124,    /* wall-clock limit */
    EXIT_SIGNALS = 128,    /* plus the number of the signal that ended it */
    EXIT_INTERRUPTED = 130 /* by ^C */
};

/* The one of two that the program exits with: that of a signal, else the worse one. */
int exit_worse(int a, int b);

struct session;

struct session_config {
    /* Carries out one command; on failure the session's diag is set. */
    bool (*dispatch)(struct session *s, const struct step *st);
    FILE *out; /* what commands print */
    FILE *err; /* what is wrong in a sourced file */
    uint64_t seed;
    bool seed_given;                          /* it wins over the seed of a scenario */
    bool verbose;                             /* print what verbs made and what steps did */
    bool colour;                              /* @out is a terminal */
    const volatile sig_atomic_t *interrupted; /* set by ^C; NULL: nobody interrupts */
    const struct live_ops *live_ops;          /* NULL: no live ports, no programs */
    bool tested;                              /* that is why there are none */
    size_t memory_bytes;                      /* that the lab may use; 0: the default */
};

struct session {
    struct session_config config;
    struct rdl_lab *lab;
    struct rdl_listener *listener;
    struct live *live; /* NULL until something live is asked for */
    bool failed_idle;  /* a program failed while nothing ran that could have failed */
    /* Prints what happened meanwhile around a line that is being typed; NULL: there is none. */
    void (*tell)(const char *lines);
    uint64_t seed;            /* of the lab */
    struct rdl_limits limits; /* for the whole session: last tick, last time; 0: none */
    uint64_t patience;        /* ticks that each step may take, in place of a last tick; 0: that */

    struct diag diag;         /* of the step that failed */
    struct source diag_src;   /* where it is; valid until the next step */
    const struct source *src; /* of the step that runs */
    bool interrupted;         /* the step ended because of ^C */
    bool cut;                 /* the step ended from outside: ^C, a limit, the stop expression */
    bool changed;             /* the step has changed the lab, though no tick shows that */
    bool quit;                /* nothing more is to be run */

    char host[RDL_NAME_BYTES]; /* where bare names are looked up; "": nowhere */
    bool in_on;                /* inside `on`: what is made is told in one line */
    char made[SESSION_MADE_BYTES];

    uint64_t shown; /* events printed as they happened, in this step */

    struct pool pool;    /* of what follows */
    struct expr *stop;   /* stop when it holds; NULL: never */
    struct step *header; /* of the scenario; NULL: none was given */

    struct journal journal; /* what was done so far */
    uint64_t n_expected;    /* expectations among it */
    size_t source_depth;
};

/* A session with an empty lab.  Free with session_free(), which takes NULL too. */
RDL_MUST_CHECK enum rdl_status session_new(const struct session_config *config,
                                           struct session **ret);
void session_free(struct session *s);

/* Prints why session_new() returned @st, and what to do. */
void session_no_lab(FILE *err, const struct session_config *config, enum rdl_status st);

/* Carries out one step that came from @src.  On failure s->diag says why, s->diag_src where.
 * What it did to the lab is remembered for `session save`.
 */
bool session_step(struct session *s, const struct step *st, const struct source *src);

/* Carries out the whole script, header first. */
bool session_script(struct session *s, const struct script *script);

/* Reads @src statement by statement and carries each out; stops at the first failure. */
bool session_lines(struct session *s, const struct source *src, bool abbreviated);

/* Prints s->diag. */
void session_complain(struct session *s, FILE *err);

/* What the program exits with after the last failure. */
int session_exit_status(const struct session *s);

/* --- For commands --- */

/* Was ^C pressed?  Then the step in @at has failed, and s->diag says so. */
bool session_interrupted(struct session *s, struct span at);

/* Fills s->diag (kind DIAG_FAILED) and returns false. */
bool session_fail(struct session *s, struct span at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The same from a status; the remedy is the status's own. */
bool session_fail_status(struct session *s, struct span at, const char *what, enum rdl_status st);

/* Tells what a verb made on @host: a line of its own, or a part of the line of an `on`. */
void session_made(struct session *s, const char *host, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Does its lab follow real time? */
bool session_is_live(const struct session *s);

/* Prints @lines, which are no answer to a command: something happened that nobody asked for. */
void session_tell(struct session *s, const char *lines);

/* Prints for people who watch; not in a test. */
void session_say(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Starts over with an empty lab and another seed. */
bool session_reseed(struct session *s, uint64_t seed);

#endif
