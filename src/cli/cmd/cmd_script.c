/* SPDX-License-Identifier: MIT */
/* Scripts and the session: scenario, macro, note, abandon, quit. */
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/session/remainder.h"

/* Makes the lab that the scenario @st asks for.  Options of the program take precedence. */
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
    if (session_has_begun(s)) {
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
