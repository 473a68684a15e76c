/* SPDX-License-Identifier: MIT */
#include "cli/exec/exec.h"

#include <stdlib.h>
#include <string.h>

#include "cli/exec/command_run.h"
#include "cli/exec/travel.h"
#include "cli/lang/json.h"
#include "cli/lang/line.h"
#include "cli/live/live.h"
#include "cli/session/advance.h"
#include "cli/session/files.h"
#include "cli/session/history.h"
#include "cli/session/position.h"
#include "cli/session/remainder.h"
#include "cli/session/stop_look.h"
#include "cli/session/unmet.h"
#include "emu/base/quantity.h"
#include "emu/base/text.h"
#include "print/pages.h"
#include "process/must.h"
#include "rdmalab/trace.h"

/* Returns true if events are printed while @st runs. */
static bool shows_events(const struct session *s, const struct step *st)
{
    const bool quiet = ((st->cmd->flags & CMD_QUIET_LIVE) && session_is_live(s)) ||
                       (cmd_param(st->cmd, "quiet") && step_has(st, "quiet"));

    return (st->cmd->flags & CMD_SHOWS) && !quiet;
}

/* Fails because the memory of the lab is full, whatever else the step failed of. */
static bool lab_is_full(struct session *s, const struct step *st)
{
    static const char smaller[] = "use fewer or smaller hosts, queues and memory regions";
    char limit[32];
    struct text t = text_on(limit, sizeof(limit));

    s->lab_info.memory_full = true;
    if (s->diag.kind == DIAG_MEMORY)
        return false; /* a step of its block has said so */
    if (s->lab_info.memory_bytes == 0) {
        diag_set(&s->diag, DIAG_MEMORY, st->at,
                 "the memory of the lab is full, and it goes on no more");
        return diag_remedy(&s->diag, "%s", smaller);
    }
    quantity_add(&t, QUANTITY_SIZE, s->lab_info.memory_bytes);
    diag_set(&s->diag, DIAG_MEMORY, st->at,
             "the memory of the lab is full: the limit of %s was reached", limit);
    return diag_remedy(&s->diag, "%s, or set a larger limit", smaller);
}

/* Checks at the end of the step @st, which succeeded if @ok, that there was memory for all that it
 * did. If not, it fails: s->diag says so.
 */
static bool had_memory(struct session *s, const struct step *st, bool ok)
{
    switch (rdl_shortage(s->lab)) {
    case RDL_SHORT_OF_NOTHING:
        return ok;
    case RDL_SHORT_LAB:
        if (ok && s->lab_info.memory_full && (step_flags(st) & CMD_LOOKS))
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

/* Returns the outcome of the command that ran.  SIMPLIFIED: a command that was cut short in real
 * time counts as refused, because a replay cannot cut it at the same place.
 */
static enum log_outcome outcome(const struct session *s, bool ok)
{
    if (s->run.step.cut && !session_is_live(s))
        return LOG_CUT;
    if (ok)
        return LOG_DONE;
    return s->diag.kind == DIAG_FAILED ? LOG_REFUSED : LOG_FAILED;
}

/* Returns true if the steps that @cmd executes are logged one by one. */
static bool has_own_steps(const struct cmd *cmd)
{
    return (cmd->flags & (CMD_BLOCK | CMD_SOURCES)) != 0 && !(cmd->flags & CMD_AT_ONCE);
}

/* Counts the line of @st for `back` if the log has grown since @before. */
static void note_line(struct session *s, const struct step *st, const struct place *before)
{
    if (!s->run.block->outer && s->history->journal.log.n > before->n_entries)
        typed_lines_add(&s->history->typed, s->run.block->src, st->at, before);
}

/* Carries out a command that is no block, or whose block is one action. */
static bool do_leaf(struct session *s, const struct step *st)
{
    struct journal_end end = {.host = s->run.block->host, .before = session_now(s)};
    const uint64_t n_events = typed_lines_events(s->lab);
    struct place from;
    bool ok, did, parted = travel_begin_leave(s, st);

    position_reached(s);
    from = position_here(s);
    s->run.step.only_time = (st->cmd->flags & CMD_PASSES) != 0;
    s->run.step.cut = false;
    ok = command_run(s, st);
    if (s->run.step.cut && s->stops.hit && st->cmd == &cmd_table[CMD_exec])
        session_say(s, "  the lab and its programs wait: \"step\" and \"run\" go on\n");
    else if (s->run.step.cut && s->stops.hit && !(st->cmd->flags & CMD_PASSES))
        session_say(
            s,
            "  %s was left in its middle: \"run\" lets devices finish what they have begun, "
            "the rest is not done\n",
            st->cmd->name);
    end.after = session_now(s);
    end.outcome = outcome(s, ok);
    end.why = end.outcome == LOG_REFUSED ? &s->diag : NULL;
    did = ok || (end.why && end.why->partly);
    s->run.step.only_time = false;
    if (parted && !travel_end_leave(s, st, &end.before, did && !(step_flags(st) & CMD_PASSES)))
        return ok;
    if (travel_stays(s, st, &from))
        return ok;
    from = (struct place){s->history->journal.log.n, end.before};
    journal_leaf(&s->history->journal, st, &end);
    if (did || end.after.tick != end.before.tick || typed_lines_events(s->lab) != n_events)
        note_line(s, st, &from);
    return ok;
}

/* Carries out a command whose steps are logged one by one. */
static bool do_block(struct session *s, const struct step *st)
{
    const struct moment before = session_now(s);
    const bool parted = travel_begin_leave(s, st);
    const struct place from = position_here(s);
    const uint64_t n_deeds = s->history->journal.n;
    const bool sourced = !(st->cmd->flags & CMD_BLOCK);
    const uint64_t n_entries = s->history->journal.log.n;
    struct journal_block block;
    bool ok;

    journal_open(&s->history->journal, &block, sourced || st->cmd == &cmd_table[CMD_foreach],
                 sourced);
    ok = command_run(s, st);
    journal_close(&s->history->journal, st, s->run.block->host, ok && !session_is_over(s));
    if (parted && !travel_end_leave(s, st, &before,
                                    s->history->journal.n != n_deeds &&
                                        s->history->journal.log.n != n_entries))
        return ok;
    note_line(s, st, &from);
    return ok;
}

_Static_assert(LOG_FILES_MAX == SESSION_SOURCES_MAX + 1, "the log has room for all loops");

struct block exec_block(const struct session *s, const struct source *src)
{
    struct block b = {.src = src, .host = ""};

    if (!s->run.block)
        return b;
    b.outer = s->run.block;
    b.last_tick = s->run.block->last_tick;
    b.n_lifted = s->run.block->n_lifted;
    b.n_sources = s->run.block->n_sources + 1;
    b.n_calls = s->run.block->n_calls;
    return b;
}

struct block exec_inner_block(const struct session *s)
{
    struct block b = *s->run.block;

    b.outer = s->run.block;
    return b;
}

/* Returns true if @in is a script as a whole, and no block in it. */
static bool is_outermost(const struct block *in)
{
    return !in->outer || in->outer->src != in->src;
}

/* Carries out @st, a `continue` without a remainder, or in the block of a stop: it means `run`. */
static bool do_run(struct session *s, const struct step *st)
{
    struct pool pool = {NULL};
    const bool ok = do_leaf(s, step_new(&pool, &cmd_table[CMD_run], st->at));

    pool_free(&pool);
    return ok;
}

/* Fails: a remainder cannot be carried out in the past, and no future is begun for it. */
static bool refuse_in_past(struct session *s, const struct step *st)
{
    session_fail(s, st->at, "what waits is to be done at the end of \"%s\", and not here",
                 futures_current(&s->history->futures));
    return diag_remedy(&s->diag, "\"goto end\" goes there; \"run\" lets devices go on here");
}

/* Fails: `continue` goes on at the end of what was done, and that is ahead. */
static bool refuse_beside_future(struct session *s, const struct step *st)
{
    session_fail(s, st->at, "recorded future ahead: redo, or goto end");
    return diag_remedy(&s->diag,
                       "\"redo\" does the next line of it again, \"goto end\" goes to its "
                       "end; \"run\" lets devices go on from here");
}

static bool do_step(struct session *s, const struct step *st)
{
    if (st->cmd == &cmd_table[CMD_continue] && (s->stops.in_block || !s->run.block->outer)) {
        if (!s->stops.in_block && !s->run.remainders.waiting && s->history->position.in_past)
            return refuse_beside_future(s, st);
        if (s->stops.in_block || !s->run.remainders.waiting)
            return do_run(s, st);
        if (s->history->position.in_past)
            return refuse_in_past(s, st);
    }
    return has_own_steps(st->cmd) ? do_block(s, st) : do_leaf(s, st);
}

/* The same.  What a long command prints waits for its reader, if the user has typed the command. */
static bool do_paged(struct session *s, const struct step *st, const struct block *in)
{
    FILE *out = s->config.out;
    struct paged pages = {.f = out, .out = out};
    bool ok;

    if (!(st->cmd->flags & CMD_PAGES) || !in->src->typed)
        return do_step(s, st);
    pages = pages_hold(out);
    s->config.out = pages.f;
    ok = do_step(s, st);
    s->config.out = out;
    pages_end(&pages);
    return ok;
}

bool exec_step(struct session *s, const struct step *st, const struct block *in)
{
    const struct block *outer = s->run.block;
    bool ok;

    if (session_is_live(s))
        s->config.live_ops->catch_up(s->outside.live);
    s->run.block = in;
    s->run.step.first_tick = rdl_tick(s->lab);
    if (is_outermost(in))
        s->diag.kind = DIAG_NONE;
    if (s->config.verbose && shows_events(s, st))
        shown_begin(&s->display.shown);
    ok = do_paged(s, st, in);
    ok = had_memory(s, st, ok);
    shown_end(&s->display.shown);
    if (!(st->cmd->flags & CMD_HEADER))
        advance_stop(s); /* what a guest does is a tick too */
    /* A command that was stopped in its middle has not failed. */
    if (!ok && session_is_over(s) && s->diag.kind == DIAG_NONE)
        ok = true;
    if (!ok && s->diag_src.text == NULL)
        s->diag_src = *in->src;
    s->run.block = outer;
    if (!outer) {
        changes_print(s);
        if (ok && st->cmd != &cmd_table[CMD_display]) /* it has just printed them */
            displays_print(s);
    }
    return ok;
}

/* Returns true if the steps in @in are printed.  Those of a sourced file are, because nobody typed
 * them.
 */
static bool prints_steps(const struct session *s, const struct block *in)
{
    return s->config.verbose && is_outermost(in) && (in->n_sources > 0 || s->config.steps_told);
}

/* Prints @st as it would be typed. */
static void print_step(struct session *s, const struct step *st)
{
    char *written = NULL;
    size_t n = 0;
    FILE *f = must_memstream(&written, &n);

    line_write_step(f, st, "> ");
    must_memstream_end(f, &written);
    session_say_plain(s, written);
    free(written);
}

/* Waits for a line, if the reader steps through a lesson.  Returns false at the end of the input.
 */
static bool pause_before(struct session *s)
{
    return !s->config.pause || s->config.pause(s->config.pause_ctx);
}

/* Carries out the steps of the stop with this id, if it exists and they are due. */
static bool act(struct session *s, uint32_t id)
{
    struct stop *stop = stops_find(&s->stops, id);
    struct block in;

    if (!stop || !stop->due || s->run.quit)
        return true;
    stop->due = false;
    in = exec_block(s, &stop->steps_src);
    in.host = stop->host;
    s->stops.hit = NULL;
    return exec_steps(s, stop->steps, &in);
}

/* Ends a line in which stops were hit: carries out their steps, and removes those that were for
 * one hit.  A stop that is hit by these steps ends them only.
 */
static bool end_stops(struct session *s)
{
    const uint32_t n_made = s->stops.n_made;
    const struct stop *hit = s->stops.hit;
    struct stop *next;
    bool ok = true;

    s->stops.in_block = true;
    for (uint32_t id = 1; id <= n_made && ok; id++)
        ok = act(s, id);
    s->stops.in_block = false;
    s->stops.hit = hit;
    for (struct stop *stop = s->stops.first; stop; stop = next) {
        next = stop->next;
        stop->due = false;
        if (stop->once && stop->n_hits > 0)
            stops_remove(&s->stops, stop->id);
    }
    return stops_listen(s) && ok;
}

/* Returns true if both steps are in one line of @src. */
static bool in_one_line(const struct source *src, const struct step *a, const struct step *b)
{
    for (size_t i = a->at.at; i < b->at.at; i++) {
        if (i >= src->len || src->text[i] == '\n')
            return false;
    }
    return true;
}

/* Ends the line of @st, which began at @began_ns and in which a stop was hit.  The steps after @st
 * in its line are not carried out now.  Outside of blocks, *@next becomes the first step of the
 * next line; NULL: there is none.
 */
static bool end_line(struct session *s, const struct step *st, const struct block *in,
                     uint64_t began_ns, const struct step **next)
{
    const struct step *behind = *next;

    if (s->stops.in_block) {
        if (*next)
            session_say(s, "  not done: %s, and what follows it\n", (*next)->cmd->name);
        *next = NULL;
        return true;
    }
    while (!in->outer && behind && in_one_line(in->src, st, behind))
        behind = behind->next;
    /* A command that only runs the lab, alone in its line, leaves no remainder: `run` does the
     * same.
     */
    if (s->run.step.cut && !has_own_steps(st->cmd) && (in->outer || behind != *next))
        remainder_add_command(s, in, st, began_ns);
    remainder_add(s, in, *next, in->outer ? NULL : behind);
    *next = in->outer ? NULL : behind;
    if (in->outer)
        return true;
    remainder_settle(s, in, st);
    if (!end_stops(s))
        return false;
    if (*next && !s->run.quit)
        s->stops.hit = NULL;
    return true;
}

bool exec_steps(struct session *s, const struct step *first, const struct block *in)
{
    const struct step *next;
    uint64_t began_ns;

    for (const struct step *st = first; st && !session_is_over(s); st = next) {
        next = st->next;
        if (prints_steps(s, in) && st->cmd != &cmd_table[CMD_expect]) { /* its answer repeats it */
            print_step(s, st);
            if (!pause_before(s))
                s->config.pause = NULL;
        }
        began_ns = rdl_now_ns(s->lab);
        if (!exec_step(s, st, in))
            return false;
        if (s->stops.hit && !s->run.quit && !end_line(s, st, in, began_ns, &next))
            return false;
    }
    return true;
}

/* Begins a script, or a line at a prompt. */
static void begin(struct session *s)
{
    s->diag_src = (struct source){0};
    if (s->run.block)
        return; /* it is sourced */
    s->stops.hit = NULL;
    stops_forget(&s->stops);
    s->history->typed.n_runs++;
}

bool exec_script(struct session *s, const struct script *script)
{
    const struct block in = exec_block(s, &script->src);

    begin(s);
    if (script->header && !exec_step(s, script->header, &in))
        return false;
    for (const struct step *st = script->first; st; st = st->next)
        session_count_ahead(s, st);
    if (!stops_move(s))
        return false;
    return exec_steps(s, script->first, &in);
}

bool exec_scenario(struct session *s, const struct script *script)
{
    if (!exec_script(s, script))
        return false;
    s->diag.kind = DIAG_NONE;
    return session_is_over(s) || unmet_check(s) || session_ignores_error(s);
}

bool exec_statements(struct session *s, const struct lines *l)
{
    struct block in = exec_block(s, &l->script.src);

    if (!s->run.block)
        in.host = s->prompt.host;
    begin(s);
    s->diag.kind = DIAG_NONE;
    if (!s->run.block && session_is_live(s) && !end_stops(s)) /* hit while the prompt waited */
        return false;
    if (!exec_steps(s, l->script.first, &in))
        return false;
    if (l->whole || session_is_over(s))
        return true;
    s->diag = l->wrong;
    s->diag_src = l->script.src;
    return false;
}

bool exec_lines(struct session *s, const struct source *src, bool abbreviated)
{
    struct lines l;
    bool ok;

    session_read(s, src, NULL, abbreviated, &l);
    ok = exec_statements(s, &l);
    script_done(&l.script);
    return ok;
}

bool exec_file(struct session *s, const struct source *src)
{
    struct script script = {.src = *src, .known = &s->run.macros.list};
    bool ok;

    if (!files_check_script(src, &s->diag)) {
        s->diag_src = *src;
        return false;
    }
    if (!files_is_json(src->name))
        return exec_lines(s, src, false);
    ok = json_read_script(&script, &s->diag);
    if (ok)
        ok = exec_script(s, &script);
    else
        s->diag_src = *src;
    script_done(&script);
    return ok;
}
