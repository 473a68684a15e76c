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

#include "cli/lang/line.h"
#include "cli/lang/recall.h"
#include "cli/lang/script.h"
#include "cli/session/changes.h"
#include "cli/session/futures.h"
#include "cli/session/journal.h"
#include "cli/session/resolve.h"
#include "cli/session/rest.h"
#include "cli/session/shown.h"
#include "cli/session/snapshots.h"
#include "cli/session/stops.h"
#include "cli/session/typed_lines.h"
#include "cli/show/show_vq.h"
#include "process/exit_status.h"
#include "rdmalab/lab.h"

#define SESSION_SOURCES_MAX 8u /* files that source each other */
#define SESSION_MADE_BYTES  2048u

struct ev;
struct live;
struct live_ops;

struct session;

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
    FILE *out; /* what commands print */
    FILE *err; /* what is wrong in a sourced file */
    uint64_t seed;
    bool seed_given;                          /* it wins over the seed of a scenario */
    bool verbose;                             /* print what verbs made and what steps did */
    bool steps_told;                          /* print the steps of scripts too, if @verbose */
    enum shown_share share;                   /* how much of what happens is printed, if @verbose */
    bool colour;                              /* @out is a terminal */
    const volatile sig_atomic_t *interrupted; /* set by ^C; NULL: nobody interrupts */
    const struct live_ops *live_ops;          /* NULL: no live ports, no programs */
    bool tested;                              /* that is why there are none */
    size_t memory_bytes;                      /* that the lab may use, whatever a scenario says; 0:
                                                 what that says, or the default */
    struct session_observer observer;
    unsigned refused_commands; /* set of enum cmd_bit: commands with one of them are not allowed */
    size_t history_bytes;      /* that snapshots may take, so that it can go back; 0: it cannot */
    const char *files_below;   /* commands write only in this directory; NULL: anywhere */
    bool indulgent; /* no expectation is looked at, and `until` may end without what it waits for */
};

/* What the steps of an `on` have made so far, for one line: "pd, mr (4096 bytes, lkey 0x1)". */
struct made {
    char text[SESSION_MADE_BYTES];
};

/* Where steps stand: a script as a whole, or a block in it.  It does not change while they run. */
struct block {
    const struct block *outer; /* NULL: a script that nothing sourced */
    const struct source *src;  /* where the steps come from */
    const char *host;          /* where their bare names are looked up; "": nowhere */
    struct made *made;         /* collects what they make; NULL: each tells it in its own line */
    uint64_t last_tick; /* they may let the lab go on up to here; 0: see struct session_bounds */
    uint64_t n_lifted;  /* what that was in struct session_bounds when @last_tick was set */
    size_t n_sources;   /* sourced files around them */
    size_t n_calls;     /* calls of macros around them */
    bool undisturbed;   /* ^C does not end them */
};

/* How far the steps of a session may let the lab go on. */
struct session_bounds {
    struct rdl_limits whole; /* last tick and last time of the session; 0: none */
    uint64_t patience;       /* ticks that each step may take, in place of a last tick; 0: that */
    uint64_t stuck;          /* ticks that a run without an end may take, once it completes nothing
                                more; 0: any number */
    uint64_t n_lifted;       /* how often a lab that follows real time has lifted them */
};

/* How the step that runs goes, or how the last one went. */
struct session_progress {
    uint64_t first_tick; /* the lab had made so many when it began */
    bool interrupted;    /* it ended because of ^C; stays until somebody has seen it */
    bool cut;            /* it ended from outside: ^C, a limit, a stop */
    uint64_t left;       /* of a `step` that was cut: how often it was to go on */
};

/* What the session has done. */
struct history {
    struct journal journal;
    uint64_t n_expected; /* expectations */
    struct pool pool;    /* of @header */
    struct step *header; /* of the scenario; NULL: none was given */
};

/* Where the lab is if it is not at the end of what was done; see travel.h. */
struct travel {
    bool in_past;
    uint64_t n_entries; /* of the log that are over where it is, if it is in the past */
    uint64_t waited_ns; /* as position_waited_ns() has it, before what runs */
    bool passing;       /* what runs only lets the lab go on */
    bool under_way;     /* something is done again */
    /* Looks at each place on the way while something is done again; NULL: nobody does. */
    void (*look)(void *ctx, struct session *s, const struct place *p);
    void *look_ctx;
    const volatile sig_atomic_t *interrupted; /* what is done again ends then; NULL: it does not */
    bool enough;                              /* or then: who looks has seen what it wants */
    bool anew;     /* that was not done in this session before, but in the one of a world file */
    bool of_file;  /* some of what is done again comes from a world file */
    bool was_live; /* the lab has or had something that came from outside */
};

/* The conditions of faults: `drop where bytes > 100 and h1.qp.state == RTS`.
 *
 * A fault of the lab holds a pointer to its condition, and the lab may go back to where the fault
 * was there: so a condition lives as long as the lab, and the same one is kept once.  Two are the
 * same if they have the same text and look up bare names on the same host.
 */
struct condition;
struct conditions {
    struct condition *first;
};

/* The macros of a session, and what they are made of. */
struct session_macros {
    struct pool pool;
    struct macros list;
};

/* The lab and the diag are what every command uses; the rest is in parts. */
struct session {
    struct session_config config;
    struct rdl_lab *lab;
    uint64_t seed;       /* of the lab */
    size_t memory_bytes; /* that the lab may use; 0: the default */
    bool full;           /* it has used them all up, and that was said */
    struct live *live;   /* NULL until something live is asked for */
    bool failed_idle;    /* a program failed while nothing ran that could have failed */
    struct session_bounds bounds;
    struct stops stops;
    struct conditions conditions; /* of faults */
    bool quit;                    /* nothing more is to be run */
    bool at_terminal; /* somebody types and reads: a long answer ends where the screen is full */

    const struct block *in; /* of the step that runs; NULL: none does.  exec_step() sets it */
    struct session_progress step;
    struct history history;
    struct snapshots snapshots;
    struct typed_lines typed;
    struct travel travel;
    struct futures futures;
    struct changes changes;
    struct session_macros macros;
    struct rests rests;
    struct vq_looks looks; /* what `show vq` has shown */

    struct diag diag;                 /* of the step that failed */
    struct source diag_src;           /* where it is; valid until the next step */
    char prompt_host[RDL_NAME_BYTES]; /* of the bare names that are typed outside of blocks; "":
                                         none */
    struct recall *recall;            /* what was typed at the prompt; NULL: there is no prompt */
    bool no_hints;                    /* nothing is shown behind the cursor */
    struct shown shown;               /* the events that are printed as they happen */
    /* Prints what happened meanwhile around a line that is being typed; NULL: there is none. */
    void (*tell)(const char *lines);
};

/* A session with an empty lab.  Free with session_free(), which takes NULL too. */
RDL_MUST_CHECK enum rdl_status session_new(const struct session_config *config,
                                           struct session **ret);
void session_free(struct session *s);

/* Prints why session_new() returned @st, and what to do. */
void session_no_lab(FILE *err, const struct session_config *config, enum rdl_status st);

/* Reads the statements of @src, up to the first that is wrong.  @tokens: of @src, or NULL.
 * @abbreviated: a unique prefix of a command is taken for it.  Free with
 * script_done(&ret->script); until then @src must stay.
 */
void session_read(const struct session *s, const struct source *src, const struct tokens *tokens,
                  bool abbreviated, struct lines *ret);

/* Prints s->diag. */
void session_complain(struct session *s, FILE *err);

/* What the program exits with after the last failure. */
int session_exit_status(const struct session *s);

/* --- For commands --- */

/* Is no further step of what runs to be carried out?  That is so after a stop and after `quit`. */
bool session_is_over(const struct session *s);

/* Where the names in the step that runs are looked up, and where those that stand in no step are.
 */
struct scope session_scope(const struct session *s);
struct scope session_outer_scope(const struct session *s);

/* The last tick that the step that runs may make. */
struct limit {
    uint64_t tick; /* 0: there is none */
    bool of_step;  /* it is the patience with this step that ends there */
};
struct limit session_limit(const struct session *s);

/* From now on nothing limits the ticks of the session: real time has no end. */
void session_lift_limits(struct session *s);

/* Where in time the lab is. */
static inline struct moment session_now(const struct session *s)
{
    return (struct moment){rdl_tick(s->lab), rdl_now_ns(s->lab)};
}

/* Was ^C pressed? */
static inline bool session_is_interrupted(const struct session *s)
{
    return s->config.interrupted && *s->config.interrupted;
}

/* The same, of the step in @at, unless it is in a block that ^C does not end.  Then it has failed,
 * and s->diag says so.
 */
bool session_interrupted(struct session *s, struct span at);

/* Fills s->diag (kind DIAG_FAILED) and returns false. */
bool session_fail(struct session *s, struct span at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Fails so because a function of the lab returned @st, whose remedy is told with it. */
bool session_fail_status(struct session *s, struct span at, const char *what, enum rdl_status st);

/* Tells what a verb made on @host: a line of its own, or a part of the line of an `on`. */
void session_made(struct session *s, const char *host, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Does its lab follow real time? */
bool session_is_live(const struct session *s);

/* Prints @lines, which are no answer to a command: something happened that nobody asked for. */
void session_tell(struct session *s, const char *lines);

/* Prints for people who watch; not in a test, nor when as much as is to be shown was printed. */
void session_say(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same for text from outside, lines of which stay lines: nothing in it controls a terminal. */
void session_say_plain(struct session *s, const char *text);

/* From now on what expressions of @st and its block ask for is counted. */
void session_count_ahead(const struct session *s, const struct step *st);

/* The scenario line @st holds for the session: its limits, and what is saved of it. */
void session_begin_scenario(struct session *s, const struct step *st);

/* Starts over with an empty lab.  False: there is no memory for one, and the old one stays. */
bool session_restart(struct session *s, uint64_t seed, size_t memory_bytes);

/* --- Conditions, see struct conditions --- */

void conditions_free(struct conditions *list);

/* The condition about an event of @kind that @text, which stands at @at, is; NULL: it is none, and
 * s->diag says why.
 */
struct condition *condition_of(struct session *s, enum ev_kind kind, const char *text,
                               struct span at);

/* Does it hold of the packet that was sent with event @sent, or of another event of its kind?
 * @condition: a struct condition.  What cannot be answered does not hold.
 */
bool condition_holds_of(void *condition, const struct ev *sent);

#endif
