/* SPDX-License-Identifier: MIT */
/* Commands about the history of the session that do not replay it: session save, checkpoint, fork,
 * futures.
 */
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/session/files.h"
#include "cli/session/history.h"
#include "cli/session/position.h"
#include "emu/base/quantity.h"
#include "emu/base/text.h"

#define NAME_COLUMNS 12

/* Returns true if the name is that of a place that every session has. */
static bool is_reserved(struct session *s, const struct step *st)
{
    const char *name = step_text(st, "name");

    if (strcmp(name, "start") != 0 && strcmp(name, "end") != 0)
        return false;
    session_fail(s, step_span(st, "name", 0), "\"%s\" is a place that every session has", name);
    diag_remedy(&s->diag, "choose another name");
    return true;
}

bool run_checkpoint(struct session *s, const struct step *st)
{
    const char *name = step_text(st, "name");
    const struct place here = position_here(s);

    if (!position_may_move(s, st) || is_reserved(s, st))
        return false;
    marks_put(&s->history->futures.marks, name, &here);
    session_say(s, "#%llu is \"%s\": \"goto %s\" comes back\n", (unsigned long long)here.at.tick,
                name, name);
    return true;
}

bool run_fork(struct session *s, const struct step *st)
{
    const char *name = step_text(st, "name");
    const struct place here = position_here(s);

    if (!position_may_move(s, st))
        return false;
    if (futures_has(&s->history->futures, name)) {
        session_fail(s, step_span(st, "name", 0), "there is a future called \"%s\"", name);
        return diag_remedy(&s->diag, "\"futures\" lists them, \"future %s\" goes there", name);
    }
    session_say(s, "in \"%s\" from #%llu on; \"future %s\" goes back\n", name,
                (unsigned long long)here.at.tick, futures_current(&s->history->futures));
    if (s->history->position.in_past)
        remainders_abandon(s); /* they belong to the end of the future that is left */
    futures_fork(s, name);
    return true;
}

/* Prints one line of the list. */
static void say_future(struct session *s, const char *name, const struct place *left,
                       const struct journal *j, const struct place *common, bool current)
{
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));

    quantity_add_time_short(&t, j->log.end.ns);
    session_say(s, "%s %-*s  to #%llu, t=%s", current ? "*" : " ", NAME_COLUMNS, name,
                (unsigned long long)j->log.end.tick, buf);
    if (left->at.tick != j->log.end.tick)
        session_say(s, ", at #%llu", (unsigned long long)left->at.tick);
    if (common)
        session_say(s, ", parts from \"%s\" behind #%llu", futures_current(&s->history->futures),
                    (unsigned long long)common->at.tick);
    session_say(s, "\n");
}

/* Returns true if the current future has the same name for the same place. */
static bool is_here_too(const struct session *s, const struct mark *mark)
{
    const struct place *here = marks_find(&s->history->futures.marks, mark->name);

    return here && place_compare(here, &mark->place) == 0;
}

/* Prints the places with names in the future called @name; NULL: in the current one. */
static void say_marks(struct session *s, const struct marks *marks, const char *name)
{
    for (size_t i = 0; i < marks->n; i++) {
        const struct mark *mark = &marks->v[i];

        if (name && is_here_too(s, mark))
            continue;
        session_say(s, "  #%llu is \"%s\"", (unsigned long long)mark->place.at.tick, mark->name);
        if (name)
            session_say(s, ", in \"%s\"", name);
        session_say(s, "\n");
    }
}

bool run_futures(struct session *s, const struct step *st)
{
    const struct place here = position_here(s);
    const size_t n = s->history->futures.n;

    (void)st;
    say_future(s, futures_current(&s->history->futures), &here, &s->history->journal, NULL, true);
    for (size_t i = 0; i < n; i++) {
        const struct future *f = &s->history->futures.v[i];
        const struct common common = futures_common(&s->history->journal, &f->journal);

        say_future(s, f->name, &f->left, &f->journal, &common.a, false);
    }
    say_marks(s, &s->history->futures.marks, NULL);
    for (size_t i = 0; i < n; i++)
        say_marks(s, &s->history->futures.v[i].marks, s->history->futures.v[i].name);
    return true;
}

/* Returns the header of the saved scenario: the one that was given, completed by title and seed,
 * and by the number of ticks if it needs more than a scenario may make without saying so.
 */
static struct step *saved_header(struct session *s, struct pool *pool, const char *file)
{
    const struct cmd *cmd = &cmd_table[CMD_scenario];
    struct step *h = s->history->header ? step_copy(pool, s->history->header)
                                        : step_new(pool, cmd, (struct span){0, 0});
    const char *base = text_behind_slash(file);

    if (!step_has(h, "title"))
        step_put(pool, h, "title", pool_copy(pool, base, strcspn(base, ".")));
    step_put_number(pool, h, "seed", s->lab_info.seed);
    if (!step_has(h, "ticks") && rdl_tick(s->lab) >= SCENARIO_TICKS_MAX)
        step_put_number(pool, h, "ticks", 2 * rdl_tick(s->lab));
    return h;
}

bool run_session(struct session *s, const struct step *st)
{
    const char *file = step_text(st, "file");
    struct script script = {.first = NULL};
    struct out_file o;
    const char *why;
    bool opened;

    if (!files_is_json(file) && !files_is_lab(file)) {
        session_fail(s, step_span(st, "file", 0), "%s: the name must end in .lab or .json", file);
        return diag_remedy(&s->diag, "for example: session save drop.json");
    }
    script.first = journal_steps(&s->history->journal, &script.pool);
    if (!script_has_steps(script.first)) {
        script_done(&script);
        session_fail(s, st->at, "there is nothing to save: nothing was done yet");
        return diag_remedy(&s->diag, "commands that only look, like show, are not saved");
    }
    script.header = saved_header(s, &script.pool, file);
    opened = gate_write(s, st, "file", NULL, &o);
    if (opened)
        files_write_script(o.f, file, &script);
    script_done(&script);
    if (!opened)
        return false;
    why = out_file_close(&o);
    if (why)
        return session_fail(s, step_span(st, "file", 0), "%s: %s", file, why);
    if (s->history->position.in_past)
        session_say(s, "%s has what was done up to #%llu, the end of \"%s\"\n", file,
                    (unsigned long long)position_end(s).at.tick,
                    futures_current(&s->history->futures));
    return true;
}
