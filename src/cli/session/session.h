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
#include "cli/lang/permit.h"
#include "cli/lang/recall.h"
#include "cli/lang/script.h"
#include "cli/session/changes.h"
#include "cli/session/displays.h"
#include "cli/session/gate.h"
#include "cli/session/log.h"
#include "cli/session/remainder.h"
#include "cli/session/resolve.h"
#include "cli/session/shown.h"
#include "cli/session/stops.h"
#include "cli/show/show_vq.h"
#include "process/exit_status.h"
#include "rdmalab/inspect.h"
#include "rdmalab/lab.h"

#define SESSION_SOURCES_MAX    8u /* maximum depth of files that source each other */
#define SESSION_MADE_BYTES     2048u
#define SESSION_NOT_HELD_BYTES 400u

struct ev;
struct live;
struct live_ops;
struct session;
struct session_history;

/* Callbacks for a program that observes a session.  Each callback may be NULL. */
struct session_observer {
    /* Called for a new lab, which has no event yet.  The observer may listen to its events.  An
     * error makes the creation of the lab fail.
     */
    enum rdl_status (*opened)(void *ctx, struct rdl_lab *lab);
    /* Called before the command of @st is executed. */
    void (*command)(void *ctx, const struct step *st);
    /* Called when rule @rule (enum rule) has refused a post.  There is no event for that. */
    void (*refused)(void *ctx, uint32_t rule);
    void *ctx;
};

/* The RDMA device of hosts that name none. */
struct session_devices {
    uint32_t device; /* enum device_type */
    bool mixed;      /* only each second host of the lab has it, the others virtio-rdma */
    /* The extensions of virtio-rdma that hosts have that name none: a set of 1 << enum extension.
     */
    uint64_t extensions;
    /* The hosts that are no guests, and have no machine, are guests of one machine, and links that
     * would join them are left out; @shortcut: it has a shortcut.
     */
    bool guests, shortcut;
};

/* The machine of session_devices.guests. */
#define SESSION_MACHINE "machine"

struct session_config {
    FILE *out; /* output of the commands */
    FILE *err; /* errors in a sourced file */
    uint64_t seed;
    bool seed_given; /* @seed replaces the seed of a scenario */
    bool verbose;    /* print the objects that verbs create, and events */
    bool steps_told; /* with @verbose: print the steps of scripts, too */
    /* Called when a step was printed, before it is carried out.  Returns false: it is not called
     * again.  NULL: nobody waits.
     */
    bool (*pause)(void *ctx);
    void *pause_ctx;
    enum shown_share share;                   /* with @verbose: how many events are printed */
    bool colour;                              /* print with colours: @out is a terminal */
    const volatile sig_atomic_t *interrupted; /* set by ^C; NULL: there is no ^C */
    const struct live_ops *live_ops;          /* NULL: no live ports, no programs */
    bool programs_direct;  /* programs of the machine have the input and output of this process */
    bool programs_virtual; /* simulated time advances only while all programs wait */
    /* Time of CLOCK_MONOTONIC at which a command that waits for programs fails, with a list of
     * those that still run.  0 means never.
     */
    uint64_t programs_until_ms;
    bool tested;         /* this is a test: it has no live ports, and its programs must end */
    size_t memory_bytes; /* limit of the lab's memory, replaces that of a scenario; 0: the
                            scenario's limit, or the default */
    struct session_observer observer;
    struct session_devices devices;
    unsigned refused_commands; /* set of enum cmd_bit: commands with such a flag are refused */
    size_t history_bytes;      /* limit of the snapshots' memory; 0: none are taken, and the session
                                  cannot go back */
    /* Of tests: commands write only in this directory, whoever wrote them.  NULL: see gate.h. */
    const char *files_below;
    unsigned allowed; /* set of enum permit: what texts may do that the user has not typed */
    /* Asks the user to allow what a text wants that he has not typed.  NULL: nobody can be asked,
     * and it is refused.
     */
    bool (*ask)(const char *question);
    /* `expect`, `until` and `finish` do not fail if what they wait for or expect does not hold.
     * The first of them that does not hold is noted in session_run.not_held.
     */
    bool expectations_ignored;
    /* Of `rdmalab grade`: the text that `answer` runs in place of a file; NULL: it reads the file.
     */
    const struct source *answer;
};

/* Description of the objects that the steps of an `on` block have created so far.  They are printed
 * in one line at its end: "pd, mr (4096 bytes, lkey 0x1)".
 */
struct made {
    char text[SESSION_MADE_BYTES];
};

/* The surroundings of steps: a script as a whole, or a block in it.  Constant while they run. */
struct block {
    const struct block *outer; /* NULL: not inside another block or file */
    const struct source *src;  /* the text of the steps */
    const char *host;          /* host for bare names; "": none */
    struct made *made;         /* descriptions of created objects; NULL: each is printed */
    uint64_t last_tick; /* last tick that the steps may run; 0: that of struct session_limits */
    /* n_lifted of the session's limits when @last_tick was set.  If that number has grown since,
     * @last_tick is no limit any more.
     */
    uint64_t n_lifted;
    size_t n_sources; /* depth of nested sourced files that the steps are in */
    size_t n_calls;   /* depth of nested calls of macros that the steps are in */
    bool undisturbed; /* ^C does not end them */
};

/* --- The parts of a session ------------------------------------------------------------------- */

/* The running step, or the last one. */
struct step_progress {
    uint64_t first_tick; /* tick of the lab when it began */
    bool only_time;      /* it only lets time pass (CMD_PASSES) */
    bool interrupted;    /* ^C ended it; stays until the prompt or the program has seen it */
    bool cut;            /* it was ended early by ^C, a limit or a stop */
    uint64_t left;       /* of a `step` that was cut: number of steps that remain */
};

struct session_macros {
    struct pool pool; /* memory of @list */
    struct macros list;
};

/* Faults that were made and must meet something, and programs that must end (unmet.h). */
struct unmet {
    struct made_fault *v; /* those that are there; owned */
    size_t n, cap;
    struct started_program *programs; /* owned */
    size_t n_programs, programs_cap;
    bool is_late; /* a program still ran at the end */
    /* A fault was removed before it met anything: the first one, and where it was made. */
    bool removed;
    char name[RDL_VALUE_BYTES];
    struct source src;
    struct span at;
};

/* State of execution: the running block and step, and what they may refer to. */
struct session_run {
    const struct block *block; /* block of the running step; NULL: no step is running */
    struct step_progress step;
    struct remainders remainders; /* remaining parts of lines that a stop ended */
    struct session_macros macros;
    bool quit;               /* no further step may be executed */
    uint64_t n_expectations; /* number of `expect`s executed so far */
    uint64_t n_waits;        /* number of `until`s and `refused`s, which expect something too */
    /* With expectations_ignored: "line 5: " and the message of the first expectation that did not
     * hold; "": all have held.
     */
    char not_held[SESSION_NOT_HELD_BYTES];
    size_t not_held_line; /* that line; 0: none */
    struct unmet unmet;
    bool answer_unread; /* the text for `answer` could not be parsed */
};

/* Limits of the ticks and the time of a session. */
struct session_limits {
    struct rdl_limits whole; /* last tick, and last simulated time, of the session; 0: no limit */
    uint64_t ticks_per_step; /* at a prompt: most ticks of one step; 0: @whole holds instead */
    /* With @ticks_per_step: a `run` without a time fails after so many ticks in which no request
     * was completed.  0: never.
     */
    uint64_t standstill_ticks;
    uint64_t n_lifted; /* number of calls of session_lift_limits() */
};

/* Properties of the lab in addition to its handle. */
struct lab_info {
    uint64_t seed;
    uint64_t first_tick; /* its tick before the first command: an observer may have changed it */
    size_t memory_bytes; /* limit of its memory; 0: the default */
    bool memory_full;    /* the limit was reached, and an error message was printed */
};

/* Connections of the lab to the outside. */
struct session_outside {
    struct live *live;   /* live ports and programs; NULL: none were created */
    bool program_failed; /* a program failed while no command was running */
    bool held;           /* since a breakpoint was hit the clock stands still: see live_ops.hold */
    uint32_t n_ticks;    /* executed one by one; the world outside acts after several of them */
    uint64_t due_ns;     /* events due by then run before more is let in; 0: no such rule */
    bool was_used;       /* the lab has or had a live port or a program: it cannot be replayed */
    uint32_t asked;      /* number of the program that a failed expectation is about; 0: none */
};

/* The tour of a prompt: what `tour` and `quiz` ask of it. */
struct session_tour {
    /* Judges the command `tour WHERE SCREEN`, and notes it: the prompt does it after the line.
     * @where and @screen are NULL if they were left out.  @file is the file that @where names, or
     * NULL: then it is another word.
     * Returns false with the error, about @at, in @reterr.
     */
    bool (*ask)(void *ctx, const char *where, struct source *file, const uint64_t *screen,
                struct span at, struct diag *reterr);
    /* Judges the command `quiz` in the same way.  @topic and @seed are NULL if they were left out.
     */
    bool (*quiz)(void *ctx, const char *topic, const uint64_t *seed, struct span at,
                 struct diag *reterr);
    /* Returns the name of lesson @i, or NULL after the last one. */
    const char *(*lesson)(void *ctx, size_t i);
    /* The same of the topics of the quiz. */
    const char *(*topic)(void *ctx, size_t i);
    void *ctx;
};

/* The prompt, if there is one. */
struct session_prompt {
    char host[RDL_NAME_BYTES]; /* host for bare names outside of blocks; "": none */
    bool at_terminal;          /* interactive: `show` cuts its output where the screen is full */
    bool hints_off;            /* `set hints off` */
    struct recall *recall;     /* history of typed lines; NULL: there is no prompt */
    const struct session_tour *tour; /* NULL: there is no prompt */
    /* Prints @lines above the line that is being edited.  NULL: none is being edited. */
    void (*print_around)(const char *lines);
};

/* The state of printed output: events, changes and virtqueues. */
struct session_display {
    struct shown shown;       /* events printed while the lab runs */
    struct changes changes;   /* `set changes` */
    struct displays displays; /* `display` */
    struct vq_looks vq_looks; /* virtqueues as `show vq` last printed them */
};

/* The conditions of faults: `drop where bytes > 100 and h1.qp.state == RTS`.
 *
 * A fault of the lab points to its condition, and the lab may go back to a place where the fault
 * existed.  So a condition lives as long as the lab.  Conditions with the same text and the same
 * host for bare names are stored once.
 */
struct condition;
struct conditions {
    struct condition *first;
};

/* A session.  Every command uses @lab and @diag.  The executor owns @run and @history.  Of the
 * commands in cli/cmd only those about the history know the members of @history, and some write
 * single members of @run:
 *
 *	- waiting.c and cmd_run.c: that the step was cut short, and how much of it is left,
 *	- cmd_script.c: `quit`, and the macros,
 *	- cmd_until.c: the number of `expect`s.
 */
struct post_places;

struct session {
    struct session_config config;
    struct rdl_lab *lab;
    struct diag diag;       /* the error of the step that failed */
    struct source diag_src; /* text that the error is about; valid until the next step */

    struct session_run run;          /* state of execution */
    struct session_history *history; /* executed commands (history.h) */
    struct stops stops;              /* breakpoints and watchpoints */
    struct session_limits limits;    /* limits of ticks and time */

    struct lab_info lab_info;
    struct session_outside outside;
    struct gate gate;
    struct session_prompt prompt;
    struct session_display display;
    struct conditions conditions; /* conditions of faults */
    struct post_places *places;   /* places.h; NULL: nothing was posted */
    const char *failure; /* sentence for pictures of a failed run; NULL: it has not failed */
};

/* Creates a session with an empty lab.  Returns RDL_OK, or the reason why there is no lab.  Free
 * the session with session_free(), which accepts NULL.
 */
RDL_MUST_CHECK enum rdl_status session_new(const struct session_config *config,
                                           struct session **ret);
void session_free(struct session *s);

/* Prints to @err why session_new() failed with status @st, and a remedy. */
void session_no_lab(FILE *err, const struct session_config *config, enum rdl_status st);

/* Parses the statements of @src into @ret, up to the first error, which is in ret->wrong.  @tokens:
 * the tokens of @src, or NULL.  @abbreviated: a unique prefix of a command's name is accepted.
 * Free the result with script_done(&ret->script).  @src must live as long as the result.
 */
void session_read(const struct session *s, const struct source *src, const struct tokens *tokens,
                  bool abbreviated, struct lines *ret);

/* Prints the error in s->diag to @err, with the line that it is about. */
void session_complain(struct session *s, FILE *err);

/* Returns the exit status of the program (enum exit_status): EXIT_INTERRUPTED after ^C, otherwise
 * that of the error in s->diag, or EXIT_PASSED if there is none.
 */
int session_exit_status(const struct session *s);

/* Returns the exit status of a script that did not succeed, which is never EXIT_PASSED. */
int session_failure_status(const struct session *s);

/* Returns true if the error in s->diag is that programs of the machine have not ended in time. */
bool session_programs_late(const struct session *s);

/* --- For commands --- */

/* Returns true after a stop was hit or after `quit`: the running line must end. */
bool session_is_over(const struct session *s);

/* session_scope() returns the scope of names in the running step.  session_outer_scope() returns
 * the scope outside of all blocks, which has no host.
 */
struct scope session_scope(const struct session *s);
struct scope session_outer_scope(const struct session *s);

/* The last tick that the running step may run. */
struct limit {
    uint64_t tick; /* 0: no limit */
    bool of_step;  /* it follows from session_limits.ticks_per_step */
};
struct limit session_limit(const struct session *s);

/* Removes the limit of ticks of the session and of its running blocks, because the lab follows real
 * time from now on.  Frees all snapshots, and no more are taken: the session cannot go back any
 * more.
 */
void session_lift_limits(struct session *s);

/* Returns the tick and the time of the lab. */
static inline struct moment session_now(const struct session *s)
{
    return (struct moment){rdl_tick(s->lab), rdl_now_ns(s->lab)};
}

/* Returns true if ^C was pressed. */
static inline bool session_is_interrupted(const struct session *s)
{
    return s->config.interrupted && *s->config.interrupted;
}

/* Returns true if ^C was pressed during the step at @at: then the step fails, with the error in
 * s->diag.  Returns false otherwise, and always in a block that ^C does not end.
 */
bool session_interrupted(struct session *s, struct span at);

/* With expectations_ignored: forgets the error in s->diag, which says that an expectation does not
 * hold, and notes it in s->run.not_held if it is the first.  Returns expectations_ignored.
 */
bool session_ignores_error(struct session *s);

/* Fills s->diag with an error of kind DIAG_FAILED at @at.  Returns false. */
bool session_fail(struct session *s, struct span at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Fills s->diag with an error at @at, after a function of the lab returned @st: "@what: STATUS",
 * and a remedy for the status.  Returns false.
 */
bool session_fail_status(struct session *s, struct span at, const char *what, enum rdl_status st);

#define SESSION_PLACE_BYTES 128u

/* Sets @ret to the place @at of the running block in its file, such as "a.lab:4"; to "" if the line
 * was typed.
 */
void session_place(const struct session *s, struct span at, char ret[SESSION_PLACE_BYTES]);

/* Prints the description of an object that a verb created on @host.  In an `on` block it is added
 * to the line of that block instead (struct made).
 */
void session_made(struct session *s, const char *host, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns true if the lab follows real time. */
bool session_is_live(const struct session *s);

/* Prints @lines about something that happened outside of any command.  At a prompt they appear
 * above the line that is being edited.
 */
void session_print_outside(struct session *s, const char *lines);

/* Prints the text if the session is verbose, unless the limit of printed events was reached. */
void session_say(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints the untrusted text @text like session_say().  Control characters other than newlines are
 * made visible.
 */
void session_say_plain(struct session *s, const char *text);

/* Starts the tallies (expr_attach()) for all expressions in @st and in its blocks, so that their
 * count()s count events from now on.  Errors are ignored; they appear when the expression is
 * evaluated.
 */
void session_count_ahead(const struct session *s, const struct step *st);

/* Executes the line `scenario` @st: sets the limits of the session, and keeps a copy of the line
 * for saving.
 */
void session_begin_scenario(struct session *s, const struct step *st);

/* Replaces the lab by an empty one, and drops everything that depends on the old one: snapshots,
 * futures, remainders, conditions.  Returns false if there is no memory for a new lab.  Then the
 * old one stays.
 */
bool session_restart(struct session *s, uint64_t seed, size_t memory_bytes);

/* --- The history, for commands that do not know its members (history.h) --- */

/* Returns true if a command was executed that the history keeps: one that did something to the lab.
 */
bool session_has_begun(const struct session *s);

/* Returns the title in the line `scenario`, or NULL if there is none. */
const char *session_title(const struct session *s);

/* Returns true if a future is called @name and there are at least two futures.  Returns false
 * during a replay.
 */
bool session_has_future(const struct session *s, const char *name);

/* Memory used by the snapshots. */
struct history_memory {
    size_t bytes, bytes_max; /* memory in use, and its limit; 0: there are no snapshots */
    size_t n_snapshots;
};
struct history_memory session_history_memory(const struct session *s);

/* Sets the limit of the snapshots' memory to @bytes_max, which must not be 0.  Frees snapshots
 * beyond it.
 */
void session_limit_history(struct session *s, size_t bytes_max);

/* --- Conditions, see struct conditions --- */

void conditions_free(struct conditions *list);

/* Returns a condition with the text @text, which stands at @at in its line, about events of kind
 * @kind (enum ev_kind), whose fields it may name.  The condition belongs to the session.  Returns
 * NULL, with the error in s->diag, if @text cannot be parsed or evaluated.
 */
struct condition *condition_of(struct session *s, uint32_t kind, const char *text, struct span at);

/* Returns true if @condition, a struct condition, holds for the event @hit of a device fault.
 * Returns false if it does not hold or cannot be evaluated.
 */
bool condition_holds_of(void *condition, const struct ev *hit);

/* The same for the packet with the @bytes at @frame, which the event @sent has sent. */
bool condition_holds_of_packet(void *condition, const struct ev *sent, const uint8_t *frame,
                               size_t bytes);

#endif
