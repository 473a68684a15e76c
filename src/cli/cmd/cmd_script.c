/* SPDX-License-Identifier: MIT */
/* Scripts and the session: scenario, on, repeat, note, source, session save, save, quit. */
#include <string.h>

#include "cli/cmd/dispatch.h"
#include "cli/session/files.h"
#include "cli/session/resolve.h"
#include "cli/session/travel.h"
#include "cli/session_file/session_file.h"
#include "emu/base/text.h"
#include "rdmalab/inspect.h"

/* Gives the scenario @st the lab that it asks for.  What the program was told wins. */
static bool fit_lab(struct session *s, const struct step *st)
{
    const uint64_t seed = s->config.seed_given ? s->seed : step_number_or(st, "seed", s->seed);
    const uint64_t memory =
        s->config.memory_bytes ? s->config.memory_bytes : step_number_or(st, "memory", 0);

    if ((seed == s->seed && memory == s->memory_bytes) || session_restart(s, seed, (size_t)memory))
        return true;
    if (s->config.memory_bytes || !memory)
        return session_fail_status(s, st->at, "lab", RDL_ERR_NOMEM);
    diag_set(&s->diag, DIAG_MEMORY, step_span(st, "memory", 0),
             "memory: no lab can be made with %s", step_text(st, "memory"));
    return diag_remedy(&s->diag, "4m are enough for two hosts and some messages");
}

bool run_scenario(struct session *s, const struct step *st)
{
    if (s->history.journal.n > 0) {
        session_fail(s, st->at, "a scenario needs an empty lab, and this one has begun already");
        return diag_remedy(&s->diag, "\"quit\", and source it at a new prompt; \"scenarios run "
                                     "NAME\" tells one of the collection beside this lab");
    }
    if (!fit_lab(s, st))
        return false;
    session_begin_scenario(s, st);
    return true;
}

/* What is left of an `on` are its hosts from number @i on. */
static void put_rest_of_hosts(struct session *s, const struct step *st, size_t i)
{
    struct pool pool = {NULL};
    struct step *left = step_copy(&pool, st);
    struct arg *hosts = &left->args[step_param(st, "hosts") - st->cmd->params];

    hosts->v += i;
    hosts->n -= i;
    if (hosts->n > 0)
        rest_add(s, s->in, left, NULL);
    pool_free(&pool);
}

/* What is left of a `repeat` are @n rounds. */
static void put_rest_of_rounds(struct session *s, const struct step *st, uint64_t n)
{
    struct pool pool = {NULL};
    struct step *left = step_copy(&pool, st);

    step_put_number(&pool, left, "count", n);
    if (n > 0)
        rest_add(s, s->in, left, NULL);
    pool_free(&pool);
}

bool run_on(struct session *s, const struct step *st)
{
    const struct arg *hosts = step_arg(st, "hosts");

    for (size_t i = 0; i < hosts->n && !session_is_over(s); i++) {
        const struct scope in = session_scope(s);
        struct block b = session_inner_block(s);
        struct made made = {""};
        rdl_host host;
        bool ok;

        b.host = hosts->v[i].text;
        if (rdl_find_host(s->lab, b.host, &host) != RDL_OK)
            return resolve_unknown(&in, hosts->v[i].at, b.host, "no host", &s->diag);
        if (!b.made)
            b.made = &made;
        ok = session_steps(s, st->body, &b);
        if (made.text[0])
            session_say(s, "%s: %s\n", b.host, made.text);
        if (!ok)
            return false;
        if (session_is_over(s))
            put_rest_of_hosts(s, st, i + 1);
    }
    return true;
}

bool run_repeat(struct session *s, const struct step *st)
{
    const struct block b = session_inner_block(s);
    const uint64_t count = step_number(st, "count");

    for (uint64_t i = 0; i < count; i++) {
        if (session_interrupted(s, st->at) || !session_steps(s, st->body, &b))
            return false;
        if (session_is_over(s)) {
            if (s->stops.acting && i + 1 < count && !s->quit)
                session_say(s, "  not done: rounds %llu to %llu of repeat\n",
                            (unsigned long long)i + 2, (unsigned long long)count);
            put_rest_of_rounds(s, st, count - i - 1);
            return true;
        }
        journal_round(&s->history.journal);
    }
    return true;
}

/* Carries out the steps of a `refused` block, in not more ticks than it allows.  That takes the
 * place of the ticks that each of them may take at a prompt.
 */
static bool run_limited(struct session *s, const struct step *st)
{
    const uint64_t own = rdl_tick(s->lab) + step_number_or(st, "ticks", 0);
    const struct limit around = session_limit(s);
    struct block b = session_inner_block(s);

    if (step_has(st, "ticks") && (around.tick == 0 || own < around.tick || around.of_step)) {
        b.last_tick = own;
        b.n_lifted = s->bounds.n_lifted;
    }
    return session_steps(s, st->body, &b);
}

bool run_refused(struct session *s, const struct step *st)
{
    const char *says = step_text(st, "says");
    struct rest_part *last = rest_last(s);

    if (run_limited(s, st)) {
        if (session_is_over(s)) {
            rest_forget_since(s, last); /* nobody would see whether it is refused */
            return true;
        }
        diag_set(&s->diag, DIAG_EXPECT, st->at, "refused: nothing was refused");
        return false;
    }
    /* A name that nothing has is a mistake, unless the scenario says that it is meant. */
    if ((s->diag.kind != DIAG_FAILED && !(s->diag.kind == DIAG_VALUE && says && says[0])) ||
        s->step.interrupted)
        return false;
    s->diag_src = (struct source){0};
    if (says && !strstr(s->diag.message, says)) {
        char message[DIAG_MESSAGE_BYTES];
        struct text t = text_on(message, sizeof(message));

        text_add(&t, s->diag.message);
        return diag_set(&s->diag, DIAG_EXPECT, step_span(st, "says", 0), "refused, but it says: %s",
                        message);
    }
    session_say(s, "refused: %s\n", s->diag.message);
    s->diag.kind = DIAG_NONE;
    return true;
}

bool run_note(struct session *s, const struct step *st)
{
    (void)s;
    (void)st;
    return true;
}

bool run_quit(struct session *s, const struct step *st)
{
    (void)st;
    s->quit = true;
    return true;
}

bool run_source(struct session *s, const struct step *st)
{
    const char *name = step_text(st, "file");
    struct source src = {0};
    const char *why = source_read(name, &src);
    enum diag_kind kind;
    bool ok;

    if (why)
        return session_fail(s, step_span(st, "file", 0), "%s: %s", name, why);
    if (s->in->n_sources >= SESSION_SOURCES_MAX) {
        source_done(&src);
        return session_fail(s, st->at, "more than %u files that source each other",
                            SESSION_SOURCES_MAX);
    }
    ok = files_run(s, &src);
    if (!ok) {
        kind = s->diag.kind;
        session_complain(s, s->config.err);
        s->diag_src = (struct source){0};
        diag_set(&s->diag, kind == DIAG_EXPECT ? DIAG_FAILED : kind, st->at,
                 "%s stopped; sourced here", name);
    }
    source_done(&src);
    return ok;
}

/* The header of the saved scenario: the one that was given, with title and seed in any case, and
 * with the ticks that it needs if those are more than a scenario has.
 */
static struct step *trace_file_header(struct session *s, struct pool *pool, const char *file)
{
    const struct cmd *cmd = &cmd_table[CMD_scenario];
    struct step *h = s->history.header ? step_copy(pool, s->history.header)
                                       : step_new(pool, cmd, (struct span){0, 0});
    const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;

    if (!step_has(h, "title"))
        step_put(pool, h, "title", pool_copy(pool, base, strcspn(base, ".")));
    step_put_number(pool, h, "seed", s->seed);
    if (!step_has(h, "ticks") && rdl_tick(s->lab) >= SCENARIO_TICKS_MAX)
        step_put_number(pool, h, "ticks", 2 * rdl_tick(s->lab));
    return h;
}

bool run_session(struct session *s, const struct step *st)
{
    const char *file = step_text(st, "file");
    struct script script = {.first = NULL};
    const char *why;

    if (!files_is_json(file) && !files_is_lab(file)) {
        session_fail(s, step_span(st, "file", 0), "%s: the name must end in .lab or .json", file);
        return diag_remedy(&s->diag, "for example: session save drop.json");
    }
    script.first = journal_steps(&s->history.journal, &script.pool);
    if (!script_has_steps(script.first)) {
        script_done(&script);
        session_fail(s, st->at, "there is nothing to save: nothing was done yet");
        return diag_remedy(&s->diag, "commands that only look, like show, are not saved");
    }
    script.header = trace_file_header(s, &script.pool, file);
    why = files_write_script(file, s->config.files_below, &script);
    script_done(&script);
    if (why)
        return session_fail(s, step_span(st, "file", 0), "%s: %s", file, why);
    if (s->travel.in_past)
        session_say(s, "%s has what was done up to #%llu, the end of \"%s\"\n", file,
                    (unsigned long long)travel_end(s).at.tick, futures_current(&s->futures));
    return true;
}

/* How many stops of the prompt there are. */
static size_t n_stops(const struct session *s)
{
    size_t n = 0;

    for (const struct stop *stop = s->stops.first; stop; stop = stop->next)
        n += stop->owner == STOP_OF_PROMPT;
    return n;
}

bool run_save(struct session *s, const struct step *st)
{
    const char *file = step_text(st, "file");
    const struct span at = step_span(st, "file", 0);
    const char *why;

    if (s->in->outer)
        return session_fail(s, st->at, "%s does not work in a block or a sourced file",
                            st->cmd->name);
    if (strcmp(file, "-") == 0)
        return session_fail(s, at, "a world is a file, and needs a name");
    if (s->history.journal.n == 0 && s->futures.n == 0) {
        session_fail(s, st->at, "there is nothing to save: nothing was done yet");
        return diag_remedy(&s->diag, "commands that only look, like show, are not saved");
    }
    if (s->travel.was_live) {
        session_fail(s, st->at,
                     "this lab cannot be saved as a world: it has or had a live port or a program");
        return diag_remedy(&s->diag, "what came from outside does not come again");
    }
    if (!travel_is_possible(s, st->at))
        return false;
    why = session_file_save(s, file);
    if (why && s->diag.kind == DIAG_BROKEN)
        return false; /* which says more */
    if (why)
        return session_fail(s, at, "%s: %s", file, why);
    session_say(s, "\"rdmalab open %s\" goes on here\n", file);
    if (n_stops(s) > 0 || s->macros.list.first)
        session_say(s, "  breaks, watches and macros are not in it\n");
    return true;
}
