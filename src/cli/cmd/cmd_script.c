/* SPDX-License-Identifier: MIT */
/* Scripts and the session: scenario, macro, note, abandon, session save, quit. */
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/session/files.h"
#include "cli/session/history.h"
#include "cli/session/position.h"
#include "cli/session/remainder.h"
#include "emu/base/text.h"

/* Gives the scenario @st the lab that it asks for.  What the program was told wins. */
static bool fit_lab(struct session *s, const struct step *st)
{
    const uint64_t seed =
        s->config.seed_given ? s->lab_info.seed : step_number_or(st, "seed", s->lab_info.seed);
    const uint64_t memory =
        s->config.memory_bytes ? s->config.memory_bytes : step_number_or(st, "memory", 0);

    if ((seed == s->lab_info.seed && memory == s->lab_info.memory_bytes) ||
        session_restart(s, seed, (size_t)memory))
        return true;
    if (s->config.memory_bytes || !memory)
        return session_fail_status(s, st->at, "lab", RDL_ERR_NOMEM);
    diag_set(&s->diag, DIAG_MEMORY, step_span(st, "memory", 0),
             "memory: no lab can be made with %s", step_text(st, "memory"));
    return diag_remedy(&s->diag, "4m are enough for two hosts and some messages");
}

bool run_scenario(struct session *s, const struct step *st)
{
    if (s->history->journal.n > 0) {
        session_fail(s, st->at, "a scenario needs an empty lab, and this one has begun already");
        return diag_remedy(&s->diag, "\"quit\", and source it at a new prompt; \"scenarios run "
                                     "NAME\" tells one of the collection beside this lab");
    }
    if (!fit_lab(s, st))
        return false;
    session_begin_scenario(s, st);
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
    s->run.quit = true;
    return true;
}

/* The header of the saved scenario: the one that was given, with title and seed in any case, and
 * with the ticks that it needs if those are more than a scenario has.
 */
static struct step *trace_file_header(struct session *s, struct pool *pool, const char *file)
{
    const struct cmd *cmd = &cmd_table[CMD_scenario];
    struct step *h = s->history->header ? step_copy(pool, s->history->header)
                                        : step_new(pool, cmd, (struct span){0, 0});
    const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;

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
    const char *why;

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
    script.header = trace_file_header(s, &script.pool, file);
    why = files_write_script(file, s->config.files_below, &script);
    script_done(&script);
    if (why)
        return session_fail(s, step_span(st, "file", 0), "%s: %s", file, why);
    if (s->history->position.in_past)
        session_say(s, "%s has what was done up to #%llu, the end of \"%s\"\n", file,
                    (unsigned long long)position_end(s).at.tick,
                    futures_current(&s->history->futures));
    return true;
}

bool run_macro(struct session *s, const struct step *st)
{
    struct pool *p = &s->run.macros.pool;

    macro_put(&s->run.macros.list, p, step_copy(p, st), source_copy(p, s->run.block->src));
    return true;
}

bool run_abandon(struct session *s, const struct step *st)
{
    if (!s->run.remainders.waiting)
        return session_fail(s, st->at, "there is nothing that waits to be gone on with");
    remainders_abandon(s);
    return true;
}
