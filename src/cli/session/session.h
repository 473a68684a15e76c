/* SPDX-License-Identifier: MIT */
/* A session: one lab, the state of the commands that act on it, and the streams that they print to.
 *
 * A session reads no terminal and writes only to the streams of its configuration, so that it can
 * run inside another program.  It carries out no command: the executor does (cli/exec/exec.h).
 */
#ifndef CLI_SESSION_SESSION_H
#define CLI_SESSION_SESSION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/lang/line.h"
#include "cli/lang/recall.h"
#include "cli/lang/script.h"
#include "cli/session/changes.h"
#include "cli/session/log.h"
#include "cli/session/remainder.h"
#include "cli/session/resolve.h"
#include "cli/session/shown.h"
#include "cli/session/stops.h"
#include "cli/show/show_vq.h"
#include "process/exit_status.h"
#include "rdmalab/lab.h"

#define SESSION_SOURCES_MAX 8u /* files that source each other */
#define SESSION_MADE_BYTES  2048u

struct ev;
struct live;
struct live_ops;
struct session;
struct session_history;

/* Callbacks for a program that observes a session.  Each may be NULL. */
struct session_observer {
    /* A new lab was made, and nothing has happened in it yet: the observer may listen to its
     * events.
     */
    enum rdl_status (*opened)(void *ctx, struct rdl_lab *lab);
    /* The command of @st is about to be carried out. */
    void (*command)(void *ctx, const struct step *st);
    /* Rule @rule (enum rule) refused a post.  No event tells that. */
    void (*refused)(void *ctx, uint32_t rule);
    void *ctx;
};

struct session_config {
    FILE *out; /* output of the commands */
    FILE *err; /* errors in a sourced file */
    uint64_t seed;
    bool seed_given;                          /* @seed replaces the seed of a scenario */
    bool verbose;                             /* print what verbs made and what steps did */
    bool steps_told;                          /* with @verbose: print the steps of scripts, too */
    enum shown_share share;                   /* with @verbose: how many events are printed */
    bool colour;                              /* @out is a terminal */
    const volatile sig_atomic_t *interrupted; /* set by ^C; NULL: there is no ^C */
    const struct live_ops *live_ops;          /* NULL: no live ports, no programs */
    bool tested;                              /* @live_ops is NULL because this is a test */
    size_t memory_bytes; /* limit of the lab's memory, replaces that of a scenario; 0: the
                            scenario's limit, or the default */
    struct session_observer observer;
    unsigned refused_commands; /* set of enum cmd_bit: commands with one of these are refused */
    size_t history_bytes;      /* limit of the snapshots' memory; 0: none, it cannot go back */
    const char *files_below;   /* commands write only in this directory; NULL: anywhere */
    bool expectations_ignored; /* `expect`, `until` and `finish` do not fail if theirs is not met */
};

/* What the steps of an `on` have made so far, for one line: "pd, mr (4096 bytes, lkey 0x1)". */
struct made {
    char text[SESSION_MADE_BYTES];
};

/* The surroundings of steps: a script as a whole, or a block in it.  Constant while they run. */
struct block {
    const struct block *outer; /* NULL: a script that nothing sourced */
    const struct source *src;  /* the text of the steps */
    const char *host;          /* bare names are looked up on this host; "": nowhere */
    struct made *made;         /* collects what they make; NULL: each prints its own line */
    uint64_t last_tick;        /* the last tick that they may make; 0: see struct session_limits */
    uint64_t n_lifted;         /* @n_lifted of the limits when @last_tick was set */
    size_t n_sources;          /* number of sourced files around them */
    size_t n_calls;            /* number of calls of macros around them */
    bool undisturbed;          /* ^C does not end them */
};

/* --- The parts of a session ------------------------------------------------------------------- */

/* The running step, or the last one. */
struct step_progress {
    uint64_t first_tick; /* ticks of the lab when it began */
    bool only_time;      /* it only lets time pass (CMD_PASSES) */
    bool interrupted;    /* ^C ended it; stays until the prompt or the program has seen it */
    bool cut;            /* something outside ended it: ^C, a limit, a stop */
    uint64_t left;       /* a `step` that was cut: how many steps it did not make */
};

struct session_macros {
    struct pool pool; /* of @list */
    struct macros list;
};

/* What runs. */
struct session_run {
    const struct block *block; /* of the running step; NULL: none runs */
    struct step_progress step;
    struct remainders remainders; /* of lines that a stop ended */
    struct session_macros macros;
    bool quit;               /* no further step is to be carried out */
    uint64_t n_expectations; /* `expect`s so far */
};

/* Limits of the ticks and the time of a session. */
struct session_limits {
    struct rdl_limits whole; /* last tick and last time of the session; 0: none */
    uint64_t ticks_per_step; /* ticks that each step may make, instead of a last tick; 0: not so */
    uint64_t standstill_ticks; /* a run without an end fails after so many ticks that complete
                                  nothing; 0: never */
    uint64_t n_lifted;         /* how often a lab that follows real time has lifted them */
};

/* The lab beside its handle. */
struct lab_info {
    uint64_t seed;
    size_t memory_bytes; /* limit of its memory; 0: the default */
    bool memory_full;    /* the limit was reached, and an error message has said so */
};

/* What comes from outside the lab. */
struct session_outside {
    struct live *live;   /* live ports and programs; NULL: none was asked for */
    bool program_failed; /* a program failed while no command was running */
    bool was_used;       /* the lab has or had a live port or a program: it cannot be replayed */
};

/* The prompt, if there is one. */
struct session_prompt {
    char host[RDL_NAME_BYTES]; /* bare names outside of blocks are looked up there; "": nowhere */
    bool at_terminal;          /* somebody reads: long answers end where the screen is full */
    bool hints_off;            /* no hints are shown behind the cursor */
    struct recall *recall;     /* the lines typed so far; NULL: there is no prompt */
    /* Prints @lines around the line that is being typed.  NULL: no line is. */
    void (*print_around)(const char *lines);
};

/* What was printed. */
struct session_display {
    struct shown shown;       /* prints events while they happen */
    struct changes changes;   /* `set changes` */
    struct vq_looks vq_looks; /* what `show vq` has shown */
};

/* The conditions of faults: `drop where bytes > 100 and h1.qp.state == RTS`.
 *
 * A fault of the lab holds a pointer to its condition, and the lab may go back to a place where the
 * fault existed.  So a condition lives as long as the lab, and equal conditions are kept once:
 * those with the same text that look up bare names on the same host.
 */
struct condition;
struct conditions {
    struct condition *first;
};

/* Every command uses the lab and the diag.  The executor owns @run and @history: of the commands
 * below it only those about the history know that.
 */
struct session {
    struct session_config config;
    struct rdl_lab *lab;
    struct diag diag;       /* the error of the step that failed */
    struct source diag_src; /* the text that it is about; valid until the next step */

    struct session_run run;          /* what runs */
    struct session_history *history; /* what was done: history.h */
    struct stops stops;              /* what stops: breaks and watches, */
    struct session_limits limits;    /* and limits */

    struct lab_info lab_info;
    struct session_outside outside;
    struct session_prompt prompt;
    struct session_display display;
    struct conditions conditions; /* of faults */
};

/* Makes a session with an empty lab.  Free it with session_free(), which takes NULL, too. */
RDL_MUST_CHECK enum rdl_status session_new(const struct session_config *config,
                                           struct session **ret);
void session_free(struct session *s);

/* Prints why session_new() failed with @st, and a remedy. */
void session_no_lab(FILE *err, const struct session_config *config, enum rdl_status st);

/* Reads the statements of @src, up to the first error.  @tokens: those of @src, or NULL.
 * @abbreviated: a unique prefix of a command's name stands for the command.  Free the result with
 * script_done(&ret->script).  @src must live as long.
 */
void session_read(const struct session *s, const struct source *src, const struct tokens *tokens,
                  bool abbreviated, struct lines *ret);

/* Prints the error in s->diag. */
void session_complain(struct session *s, FILE *err);

/* Returns the exit status of the program after the last failure. */
int session_exit_status(const struct session *s);

/* --- For commands --- */

/* Has the line to end here?  That is so after a stop and after `quit`. */
bool session_is_over(const struct session *s);

/* Returns the scope in which names are looked up: of the running step, and of no step. */
struct scope session_scope(const struct session *s);
struct scope session_outer_scope(const struct session *s);

/* The last tick that the running step may make. */
struct limit {
    uint64_t tick; /* 0: no limit */
    bool of_step;  /* it follows from ticks_per_step */
};
struct limit session_limit(const struct session *s);

/* Lifts the limits of the session because its lab follows real time from now on.  It cannot go back
 * any more.
 */
void session_lift_limits(struct session *s);

/* Returns the tick and the time of the lab. */
static inline struct moment session_now(const struct session *s)
{
    return (struct moment){rdl_tick(s->lab), rdl_now_ns(s->lab)};
}

/* Was ^C pressed? */
static inline bool session_is_interrupted(const struct session *s)
{
    return s->config.interrupted && *s->config.interrupted;
}

/* Checks for ^C during the step at @at.  If it was pressed, the step fails: s->diag says so, and
 * the result is true.  In a block that ^C does not end the result is false.
 */
bool session_interrupted(struct session *s, struct span at);

/* Fails: fills s->diag (kind DIAG_FAILED) and returns false. */
bool session_fail(struct session *s, struct span at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Fails because a function of the lab returned @st; adds the remedy for that status. */
bool session_fail_status(struct session *s, struct span at, const char *what, enum rdl_status st);

/* Prints what a verb made on @host: as a line, or as a part of the line of an `on`. */
void session_made(struct session *s, const char *host, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Does the lab follow real time? */
bool session_is_live(const struct session *s);

/* Prints @lines about something that happened outside of any command. */
void session_tell(struct session *s, const char *lines);

/* Prints if the session is verbose, unless the limit of printed events was reached. */
void session_say(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same for text from outside.  Control characters but newlines are made visible. */
void session_say_plain(struct session *s, const char *text);

/* Begins to count the events that expressions in @st and its blocks ask for. */
void session_count_ahead(const struct session *s, const struct step *st);

/* Applies the line `scenario` @st: sets the limits of the session, and keeps the line for saving.
 */
void session_begin_scenario(struct session *s, const struct step *st);

/* Replaces the lab by an empty one.  Returns false if there is no memory: then the old one stays.
 */
bool session_restart(struct session *s, uint64_t seed, size_t memory_bytes);

/* --- The history, for commands that do not know its members (history.h) --- */

/* Was any command carried out that belongs to the history? */
bool session_has_begun(const struct session *s);

/* The title in the line `scenario`; NULL: it has none. */
const char *session_title(const struct session *s);

/* Is @name that of a future, and are there several?  During a replay: no. */
bool session_has_future(const struct session *s, const char *name);

/* Memory that the snapshots take. */
struct history_memory {
    size_t bytes, bytes_max; /* @bytes_max 0: there are no snapshots */
    size_t n_snapshots;
};
struct history_memory session_history_memory(const struct session *s);

/* Sets @bytes_max, which is not 0. */
void session_limit_history(struct session *s, size_t bytes_max);

/* --- Conditions, see struct conditions --- */

void conditions_free(struct conditions *list);

/* Returns the condition @text, which stands at @at, about an event of @kind.  NULL: it cannot be
 * read, and s->diag says why.
 */
struct condition *condition_of(struct session *s, uint32_t kind, const char *text, struct span at);

/* Does the struct condition @condition hold for the event @sent, for example the tx of a packet?
 * Returns false if it cannot be evaluated.
 */
bool condition_holds_of(void *condition, const struct ev *sent);

#endif
