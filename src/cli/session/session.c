/* SPDX-License-Identifier: MIT */
#include "cli/session/session.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lang/line.h"
#include "cli/live/live.h"
#include "cli/session/advance.h"
#include "cli/session/expr_count.h"
#include "cli/session/shown.h"
#include "cli/session/stop_look.h"
#include "cli/session/travel.h"
#include "emu/base/quantity.h"
#include "emu/base/text.h"
#include "print/utf8.h"
#include "process/must.h"
#include "rdmalab/trace.h"

static void close_lab(struct session *s)
{
    shown_done(&s->shown);
    if (s->live)
        s->config.live_ops->close(s->live);
    s->live = NULL;
    rdl_lab_free(s->lab);
    s->lab = NULL;
    s->stops.ear = NULL; /* it was the lab's */
}

/* Gives the session an empty lab in place of the one that it has.  If there is no memory for a new
 * one, the old one stays.
 */
static enum rdl_status open_lab(struct session *s, uint64_t seed, size_t memory_bytes)
{
    const struct rdl_lab_config config = {
        .seed = seed, .arena_bytes_max = memory_bytes, .check_invariants = true};
    struct rdl_lab *lab = NULL;
    enum rdl_status st = rdl_lab_new(&config, &lab);

    if (st == RDL_OK)
        st = rdl_record(lab, 0, 0);
    if (st == RDL_OK)
        st = rdl_hash_start(lab);
    if (st != RDL_OK) {
        rdl_lab_free(lab);
        return st;
    }
    close_lab(s);
    snapshots_done(&s->snapshots);
    futures_free(&s->futures);
    typed_lines_free(&s->typed);
    changes_forget(&s->changes);
    conditions_free(&s->conditions);
    rests_free(&s->rests);
    vq_looks_done(&s->looks);
    s->travel = (struct travel){.in_past = false};
    s->lab = lab;
    s->seed = seed;
    s->memory_bytes = memory_bytes;
    s->full = false;
    st = shown_init(&s->shown, lab, s->config.out, s->config.share);
    if (st == RDL_OK && s->config.ear.opened)
        st = s->config.ear.opened(s->config.ear.ctx, lab);
    if (st == RDL_OK && !stops_move(s))
        st = RDL_ERR_NOMEM;
    return st;
}

void session_no_lab(FILE *err, const struct session_config *config, enum rdl_status st)
{
    fprintf(err, "rdmalab: a lab cannot be made: %s\n", rdl_status_str(st));
    if (st == RDL_ERR_NOMEM && config->memory_bytes)
        fputs("  give it more with --memory, or leave that out\n", err);
    else if (st == RDL_ERR_NOMEM)
        fputs("  it needs 1 GiB of address space; the most that a program gets here is what "
              "\"ulimit -v\" prints, in KiB\n",
              err);
}

enum rdl_status session_new(const struct session_config *config, struct session **ret)
{
    struct session *s = calloc(1, sizeof(*s));
    enum rdl_status st;

    if (!s)
        return RDL_ERR_NOMEM;
    s->config = *config;
    s->bounds.whole.ticks = SCENARIO_TICKS_MAX;
    snapshots_init(&s->snapshots, config->history_bytes);
    st = open_lab(s, config->seed, config->memory_bytes);
    if (st != RDL_OK) {
        session_free(s);
        return st;
    }
    *ret = s;
    return RDL_OK;
}

void session_free(struct session *s)
{
    if (!s)
        return;
    snapshots_done(&s->snapshots);
    futures_free(&s->futures);
    typed_lines_free(&s->typed);
    changes_forget(&s->changes);
    rests_free(&s->rests);
    vq_looks_done(&s->looks);
    close_lab(s);
    journal_free(&s->history.journal);
    pool_free(&s->history.pool);
    pool_free(&s->macros.pool);
    stops_free(&s->stops);
    conditions_free(&s->conditions);
    free(s);
}

bool session_restart(struct session *s, uint64_t seed, size_t memory_bytes)
{
    return open_lab(s, seed, memory_bytes) == RDL_OK;
}

void session_begin_scenario(struct session *s, const struct step *st)
{
    s->bounds.whole.ticks = step_number(st, "ticks");
    if (step_has(st, "ticks"))
        s->bounds.patience = 0;
    s->bounds.whole.ns = step_number_or(st, "time", 0);
    s->history.header = step_copy(&s->history.pool, st);
}

bool session_fail(struct session *s, struct span at, const char *fmt, ...)
{
    char message[DIAG_MESSAGE_BYTES];
    struct text t = text_on(message, sizeof(message));
    va_list args;

    va_start(args, fmt);
    text_addv(&t, fmt, args);
    va_end(args);
    return diag_set(&s->diag, DIAG_FAILED, at, "%s", message);
}

bool session_interrupted(struct session *s, struct span at)
{
    if (!session_is_interrupted(s) || (s->in && s->in->undisturbed))
        return false;
    s->step.interrupted = true;
    session_fail(s, at, "interrupted");
    return true;
}

bool session_fail_status(struct session *s, struct span at, const char *what, enum rdl_status st)
{
    return diag_status(&s->diag, at, what, st);
}

bool session_is_live(const struct session *s)
{
    return s->live && s->config.live_ops->attached(s->live);
}

void session_tell(struct session *s, const char *lines)
{
    if (s->tell) {
        s->tell(lines);
        return;
    }
    fputs(lines, s->config.out);
    fflush(s->config.out);
}

void session_say(struct session *s, const char *fmt, ...)
{
    va_list args;

    /* Where the story is cut off, the answers to its steps would be riddles. */
    if (!s->config.verbose || s->shown.full)
        return;
    va_start(args, fmt);
    vfprintf(s->config.out, fmt, args);
    va_end(args);
}

void session_made(struct session *s, const char *host, const char *fmt, ...)
{
    struct made one = {""};
    struct made *made = s->in->made ? s->in->made : &one;
    struct text t = {made->text, strlen(made->text), sizeof(made->text), false};
    va_list args;

    va_start(args, fmt);
    if (t.len)
        text_add(&t, ", ");
    text_addv(&t, fmt, args);
    va_end(args);
    if (made == &one) /* otherwise the end of the block prints it */
        session_say(s, "%s: %s\n", host, one.text);
}

bool session_is_over(const struct session *s)
{
    return s->quit || s->stops.hit;
}

struct scope session_outer_scope(const struct session *s)
{
    return (struct scope){
        .lab = s->lab, .host = "", .live_ops = s->config.live_ops, .live = s->live};
}

struct scope session_scope(const struct session *s)
{
    struct scope in = session_outer_scope(s);

    if (s->in)
        in.host = s->in->host;
    return in;
}

struct limit session_limit(const struct session *s)
{
    if (s->in && s->in->last_tick && s->in->n_lifted == s->bounds.n_lifted)
        return (struct limit){s->in->last_tick, false};
    if (s->bounds.patience)
        return (struct limit){s->step.first_tick + s->bounds.patience, true};
    return (struct limit){s->bounds.whole.ticks, false};
}

void session_lift_limits(struct session *s)
{
    s->bounds.whole.ticks = 0;
    s->bounds.n_lifted++;
    s->travel.was_live = true;
    snapshots_done(&s->snapshots);
    snapshots_init(&s->snapshots, 0);
}

/* Are events printed while @cmd runs? */
static bool shows_events(const struct session *s, const struct cmd *cmd)
{
    return (cmd->flags & CMD_SHOWS) && !((cmd->flags & CMD_QUIET_LIVE) && session_is_live(s));
}

/* The memory of the lab is full.  That is what is said of the step, however it failed of it. */
static bool lab_is_full(struct session *s, const struct step *st)
{
    static const char smaller[] = "use fewer or smaller hosts, queues and memory regions";
    char limit[32];
    struct text t = text_on(limit, sizeof(limit));

    s->full = true;
    if (s->diag.kind == DIAG_MEMORY)
        return false; /* a step of its block has said so */
    if (s->memory_bytes == 0) {
        diag_set(&s->diag, DIAG_MEMORY, st->at,
                 "the memory of the lab is full, and it goes on no more");
        return diag_remedy(&s->diag, "%s", smaller);
    }
    quantity_add(&t, QUANTITY_SIZE, s->memory_bytes);
    diag_set(&s->diag, DIAG_MEMORY, st->at,
             "the memory of the lab is full: the limit of %s was reached", limit);
    return diag_remedy(&s->diag, "%s, or set a larger limit", smaller);
}

/* The step has ended, with success if @ok.  Was there memory for all that it did?  If not it has
 * failed, and s->diag says so.
 */
static bool had_memory(struct session *s, const struct step *st, bool ok)
{
    switch (rdl_shortage(s->lab)) {
    case RDL_SHORT_OF_NOTHING:
        return ok;
    case RDL_SHORT_LAB:
        if (ok && s->full && (step_flags(st) & CMD_LOOKS))
            return true; /* one may look at what came before */
        return lab_is_full(s, st);
    case RDL_SHORT_RECORD:
        if (!ok) {
            diag_note(&s->diag, "  out of memory: not all that happened was recorded");
            if (s->diag.kind != DIAG_NONE)
                s->diag.kind = DIAG_MEMORY; /* which no `refused` takes */
            return false;
        }
        diag_set(&s->diag, DIAG_MEMORY, st->at,
                 "out of memory: not all that happened was recorded");
        return diag_remedy(&s->diag, "\"record off\", where nobody looks back, needs none");
    }
    return false;
}

/* How the command that ran has ended.  SIMPLIFIED: one that was cut short in real time counts as
 * refused, as nothing cuts it short in the same place again.
 */
static enum log_outcome outcome(const struct session *s, bool ok)
{
    if (s->step.cut && !session_is_live(s))
        return LOG_CUT;
    if (ok)
        return LOG_DONE;
    return s->diag.kind == DIAG_FAILED ? LOG_REFUSED : LOG_FAILED;
}

/* Are the steps that @cmd carries out remembered one by one? */
static bool has_own_steps(const struct cmd *cmd)
{
    return (cmd->flags & (CMD_BLOCK | CMD_SOURCES)) != 0 && !(cmd->flags & CMD_AT_ONCE);
}

/* @st has done something, if the log has grown since @before. */
static void note_line(struct session *s, const struct step *st, const struct place *before)
{
    if (!s->in->outer && s->history.journal.log.n > before->n_entries)
        typed_lines_add(&s->typed, s->in->src, st->at, before);
}

/* Carries out a command that is no block, or whose block is done at once. */
static bool do_leaf(struct session *s, const struct step *st)
{
    struct journal_end end = {.host = s->in->host, .before = session_now(s)};
    const uint64_t n_events = typed_lines_events(s->lab);
    struct place from;
    bool ok, parted = travel_leave(s, st);

    travel_pass(s);
    from = travel_here(s);
    s->travel.passing = (st->cmd->flags & CMD_PASSES) != 0;
    s->step.cut = false;
    ok = !session_interrupted(s, st->at) && s->config.dispatch(s, st);
    if (s->step.cut && s->stops.hit && !(st->cmd->flags & CMD_PASSES))
        session_say(
            s,
            "  %s was left in its middle: \"run\" lets devices finish what they have begun, "
            "the rest is not done\n",
            st->cmd->name);
    end.after = session_now(s);
    end.outcome = outcome(s, ok);
    s->travel.passing = false;
    if (parted && !travel_parted(s, st, &end.before, ok && !(step_flags(st) & CMD_PASSES)))
        return ok;
    if (travel_stayed(s, st, &from))
        return ok;
    from = (struct place){s->history.journal.log.n, end.before};
    journal_leaf(&s->history.journal, st, &end);
    if (ok || end.after.tick != end.before.tick || typed_lines_events(s->lab) != n_events)
        note_line(s, st, &from);
    return ok;
}

/* Carries out a command whose steps are remembered one by one. */
static bool do_block(struct session *s, const struct step *st)
{
    const struct moment before = session_now(s);
    const bool parted = travel_leave(s, st);
    const struct place from = travel_here(s);
    const uint64_t n_deeds = s->history.journal.n;
    const bool sourced = !(st->cmd->flags & CMD_BLOCK);
    const uint64_t n_entries = s->history.journal.log.n;
    struct journal_block block;
    bool ok;

    journal_open(&s->history.journal, &block, sourced || st->cmd == &cmd_table[CMD_foreach],
                 sourced);
    ok = !session_interrupted(s, st->at) && s->config.dispatch(s, st);
    journal_close(&s->history.journal, st, s->in->host, ok && !session_is_over(s));
    if (parted &&
        !travel_parted(s, st, &before,
                       s->history.journal.n != n_deeds && s->history.journal.log.n != n_entries))
        return ok;
    note_line(s, st, &from);
    return ok;
}

_Static_assert(LOG_FILES_MAX == SESSION_SOURCES_MAX + 1, "the log has room for all loops");

struct block session_block(const struct session *s, const struct source *src)
{
    struct block b = {.src = src, .host = ""};

    if (!s->in)
        return b;
    b.outer = s->in;
    b.last_tick = s->in->last_tick;
    b.n_lifted = s->in->n_lifted;
    b.n_sources = s->in->n_sources + 1;
    b.n_calls = s->in->n_calls;
    return b;
}

struct block session_inner_block(const struct session *s)
{
    struct block b = *s->in;

    b.outer = s->in;
    return b;
}

/* Does a step in @in stand in no block of its script? */
static bool is_outermost(const struct block *in)
{
    return !in->outer || in->outer->src != in->src;
}

/* Carries out @st, which is `continue` where nothing waits, or in the block of a stop: then it is
 * `run`.
 */
static bool do_run(struct session *s, const struct step *st)
{
    struct pool pool = {NULL};
    const bool ok = do_leaf(s, step_new(&pool, &cmd_table[CMD_run], st->at));

    pool_free(&pool);
    return ok;
}

/* Nor is a future begun for it. */
static bool refuse_in_past(struct session *s, const struct step *st)
{
    session_fail(s, st->at, "what waits is to be done at the end of \"%s\", and not here",
                 futures_current(&s->futures));
    return diag_remedy(&s->diag, "\"goto end\" goes there; \"run\" lets devices go on here");
}

static bool do_step(struct session *s, const struct step *st)
{
    if (st->cmd == &cmd_table[CMD_continue] && (s->stops.acting || !s->in->outer)) {
        if (s->stops.acting || !s->rests.first)
            return do_run(s, st);
        if (s->travel.in_past)
            return refuse_in_past(s, st);
    }
    return has_own_steps(st->cmd) ? do_block(s, st) : do_leaf(s, st);
}

bool session_step(struct session *s, const struct step *st, const struct block *in)
{
    const struct block *outer = s->in;
    bool ok;

    if (session_is_live(s))
        s->config.live_ops->catch_up(s->live);
    s->in = in;
    s->step.first_tick = rdl_tick(s->lab);
    if (is_outermost(in))
        s->diag.kind = DIAG_NONE;
    if (s->config.verbose && shows_events(s, st->cmd))
        shown_begin(&s->shown);
    ok = do_step(s, st);
    ok = had_memory(s, st, ok);
    shown_end(&s->shown);
    if (!(st->cmd->flags & CMD_HEADER))
        advance_stop(s); /* what a guest does is a tick too */
    /* To be stopped in the middle of a command is no failure. */
    if (!ok && session_is_over(s) && s->diag.kind == DIAG_NONE)
        ok = true;
    if (!ok && s->diag_src.text == NULL)
        s->diag_src = *in->src;
    s->in = outer;
    if (!outer)
        changes_tell(s);
    return ok;
}

/* Are the steps in @in printed?  Nobody typed those of a sourced file. */
static bool tells_steps(const struct session *s, const struct block *in)
{
    return s->config.verbose && is_outermost(in) && (in->n_sources > 0 || s->config.steps_told);
}

void session_say_plain(struct session *s, const char *text)
{
    /* A byte becomes four characters at the most. */
    const size_t cap = 4 * strlen(text) + 1;
    char *shown = must_malloc(cap);
    struct text t = text_on(shown, cap);

    utf8_add_printable(&t, text, true);
    session_say(s, "%s", shown);
    free(shown);
}

/* Prints @st as it would be typed, for people who watch. */
static void tell_step(struct session *s, const struct step *st)
{
    char *written = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&written, &n);

    if (f)
        line_write_step(f, st, "> ");
    if (!f || fclose(f) != 0)
        must_fail();
    session_say_plain(s, written);
    free(written);
}

/* The steps of the stop with this id are due, if it is still there: they are done. */
static bool act(struct session *s, uint32_t id)
{
    struct stop *stop = stops_find(&s->stops, id);
    struct block in;

    if (!stop || !stop->due || s->quit)
        return true;
    stop->due = false;
    in = session_block(s, &stop->steps_src);
    in.host = stop->host;
    s->stops.hit = NULL;
    return session_steps(s, stop->steps, &in);
}

/* A line is over: what the stops that it has hit want to be done is done, and those that are for
 * once are gone.  What is hit meanwhile ends the steps that have hit it, and no more.
 */
static bool end_stops(struct session *s)
{
    const uint32_t n_made = s->stops.n_made;
    const struct stop *hit = s->stops.hit;
    struct stop *next;
    bool ok = true;

    s->stops.acting = true;
    for (uint32_t id = 1; id <= n_made && ok; id++)
        ok = act(s, id);
    s->stops.acting = false;
    s->stops.hit = hit;
    for (struct stop *stop = s->stops.first; stop; stop = next) {
        next = stop->next;
        stop->due = false;
        if (stop->once && stop->n_hits > 0)
            stops_remove(&s->stops, stop->id);
    }
    return stops_listen(s) && ok;
}

/* Do the two stand in one line of @src? */
static bool in_one_line(const struct source *src, const struct step *a, const struct step *b)
{
    for (size_t i = a->at.at; i < b->at.at; i++) {
        if (i >= src->len || src->text[i] == '\n')
            return false;
    }
    return true;
}

/* A stop was hit by @st, which began at @began_ns.  What follows in its line is not done now. Where
 * no block is around it the line behind that is the next to be: it is *@next then, and is NULL if
 * there is none.
 */
static bool end_line(struct session *s, const struct step *st, const struct block *in,
                     uint64_t began_ns, const struct step **next)
{
    const struct step *behind = *next;

    if (s->stops.acting) {
        if (*next)
            session_say(s, "  not done: %s, and what follows it\n", (*next)->cmd->name);
        *next = NULL;
        return true;
    }
    while (!in->outer && behind && in_one_line(in->src, st, behind))
        behind = behind->next;
    /* What is alone in a line and lets the lab go on has no rest: to go on is all that is left. */
    if (s->step.cut && !has_own_steps(st->cmd) && (in->outer || behind != *next))
        rest_add_command(s, in, st, began_ns);
    rest_add(s, in, *next, in->outer ? NULL : behind);
    *next = in->outer ? NULL : behind;
    if (in->outer)
        return true;
    rest_settle(s, in, st);
    if (!end_stops(s))
        return false;
    if (*next && !s->quit)
        s->stops.hit = NULL;
    return true;
}

bool session_steps(struct session *s, const struct step *first, const struct block *in)
{
    const struct step *next;
    uint64_t began_ns;

    for (const struct step *st = first; st && !session_is_over(s); st = next) {
        next = st->next;
        if (tells_steps(s, in) && st->cmd != &cmd_table[CMD_expect]) /* its answer repeats it */
            tell_step(s, st);
        began_ns = rdl_now_ns(s->lab);
        if (!session_step(s, st, in))
            return false;
        if (s->stops.hit && !s->quit && !end_line(s, st, in, began_ns, &next))
            return false;
    }
    return true;
}

/* A script begins, or a line at a prompt. */
static void begin(struct session *s)
{
    s->diag_src = (struct source){0};
    if (s->in)
        return; /* it is sourced */
    s->stops.hit = NULL;
    stops_forget(&s->stops);
    s->typed.n_runs++;
}

bool session_script(struct session *s, const struct script *script)
{
    const struct block in = session_block(s, &script->src);

    begin(s);
    if (script->header && !session_step(s, script->header, &in))
        return false;
    for (const struct step *st = script->first; st; st = st->next)
        session_count_ahead(s, st);
    if (!stops_move(s))
        return false;
    return session_steps(s, script->first, &in);
}

void session_read(const struct session *s, const struct source *src, const struct tokens *tokens,
                  bool abbreviated, struct lines *ret)
{
    struct line_reader r = {.script = &ret->script,
                            .abbreviated = abbreviated,
                            .begun = s->history.journal.n > 0,
                            .tokens = tokens};
    size_t bad_at;
    const char *why = source_check_text(src, &bad_at);

    *ret = (struct lines){.script = {.src = *src, .known = &s->macros.list}};
    if (why)
        diag_set(&ret->wrong, DIAG_SYNTAX, (struct span){bad_at, 1}, "%s", why);
    else
        line_read_rest(&r, ret);
}

bool session_run(struct session *s, const struct lines *l)
{
    struct block in = session_block(s, &l->script.src);

    if (!s->in)
        in.host = s->prompt_host;
    begin(s);
    s->diag.kind = DIAG_NONE;
    if (!session_steps(s, l->script.first, &in))
        return false;
    if (l->whole || session_is_over(s))
        return true;
    s->diag = l->wrong;
    s->diag_src = l->script.src;
    return false;
}

bool session_lines(struct session *s, const struct source *src, bool abbreviated)
{
    struct lines l;
    bool ok;

    session_read(s, src, NULL, abbreviated, &l);
    ok = session_run(s, &l);
    script_done(&l.script);
    return ok;
}

void session_complain(struct session *s, FILE *err)
{
    fflush(s->config.out);
    diag_print(err, &s->diag_src, &s->diag);
    fflush(err);
}

int session_exit_status(const struct session *s)
{
    if (s->step.interrupted)
        return EXIT_INTERRUPTED;
    switch (s->diag.kind) {
    case DIAG_NONE:
        return EXIT_PASSED;
    case DIAG_SYNTAX:
        return EXIT_USAGE;
    case DIAG_VALUE:
    case DIAG_FAILED:
    case DIAG_EXPECT:
    case DIAG_MEMORY:
        return EXIT_FAILED;
    case DIAG_BROKEN:
        return EXIT_BROKEN;
    }
    return EXIT_FAILED;
}
