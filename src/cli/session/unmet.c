/* SPDX-License-Identifier: MIT */
#include "cli/session/unmet.h"

#include <stdlib.h>

#include "cli/live/live.h"
#include "emu/base/text.h"
#include "emu/facts/enum/object.h"
#include "process/must.h"
#include "rdmalab/inspect.h"

/* A fault that must meet something. */
struct made_fault {
    rdl_fault fault;
    struct source src; /* text of the command that made it, and its place */
    struct span at;
};

/* A program that must end. */
struct started_program {
    uint32_t number;
    struct source src; /* text of the command that has started it, and its place */
    struct span at;
};

void unmet_free(struct unmet *u)
{
    free(u->v);
    free(u->programs);
    *u = (struct unmet){.v = NULL};
}

void unmet_made(struct session *s, const struct step *st, rdl_fault fault)
{
    struct unmet *u = &s->run.unmet;

    if (step_has(st, "optional"))
        return;
    u->v = must_grow(u->v, u->n, &u->cap, sizeof(*u->v));
    u->v[u->n++] = (struct made_fault){fault, *s->run.block->src, st->at};
}

/* Returns true if the fault of @m has met something, with its name in @name.  Also returns true if
 * it was removed: unmet_removed() has looked at it before.
 */
static bool has_met(const struct session *s, const struct made_fault *m, char name[RDL_VALUE_BYTES])
{
    char path[RDL_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));
    struct rdl_value hits;
    rdl_fault found;
    size_t at;

    rdl_path_of(s->lab, OBJ_FAULT, m->fault.raw, name);
    if (rdl_find(s->lab, name, OBJ_FAULT, &found.raw) != RDL_OK || found.raw != m->fault.raw)
        return true;
    text_addf(&t, "%s.hits", name);
    return rdl_inspect(s->lab, path, &hits, &at) != RDL_OK || hits.number > 0;
}

void unmet_removed(struct session *s, rdl_fault fault)
{
    struct unmet *u = &s->run.unmet;
    char name[RDL_VALUE_BYTES];

    for (size_t i = 0; i < u->n; i++) {
        if (u->v[i].fault.raw != fault.raw)
            continue;
        if (!u->removed && !has_met(s, &u->v[i], name)) {
            struct text t = text_on(u->name, sizeof(u->name));

            text_add(&t, name);
            u->removed = true;
            u->src = u->v[i].src;
            u->at = u->v[i].at;
        }
        u->v[i] = u->v[--u->n];
        return;
    }
}

static bool fail(struct session *s, const char *name, const struct source *src, struct span at)
{
    s->diag_src = *src;
    diag_set(&s->diag, DIAG_EXPECT, at, "the fault %s has met nothing", name);
    return diag_remedy(&s->diag, "nothing came that it could act on; if that is intended, add "
                                 "\"optional\" to this command");
}

void unmet_started(struct session *s, const struct step *st, uint32_t number)
{
    struct unmet *u = &s->run.unmet;

    if (!s->config.tested)
        return;
    u->programs = must_grow(u->programs, u->n_programs, &u->programs_cap, sizeof(*u->programs));
    u->programs[u->n_programs++] = (struct started_program){number, *s->run.block->src, st->at};
}

/* Sets the error that program @p still runs.  Returns false. */
static bool still_runs(struct session *s, const struct started_program *p, const char *name)
{
    s->diag_src = p->src;
    s->run.unmet.is_late = true;
    diag_set(&s->diag, DIAG_EXPECT, p->at, "%s, program %u, still runs at the end of the test",
             name, p->number);
    return diag_remedy(&s->diag, "\"run\" waits for its end; \"kill %u\" ends it", p->number);
}

/* Returns true if the programs have ended, and there is no failure that is still to be told. */
static bool programs_have_ended(struct session *s)
{
    const struct unmet *u = &s->run.unmet;
    const struct live_ops *ops = s->config.live_ops;
    const struct started_program *p = u->programs;
    struct live_exec_info info;
    struct live_error error;

    for (size_t i = 0; i < u->n_programs; i++, p++) {
        if (ops->exec_at(s->outside.live, p->number - 1, &info) && info.runs)
            return still_runs(s, p, info.name);
    }
    if (u->n_programs == 0 || !ops->programs_failed(s->outside.live, &error))
        return true;
    s->diag_src = p[-1].src;
    session_fail(s, p[-1].at, "%s", error.message);
    return diag_remedy(&s->diag, "%s", error.remedy);
}

bool unmet_check(struct session *s)
{
    const struct unmet *u = &s->run.unmet;
    char name[RDL_VALUE_BYTES];

    if (!programs_have_ended(s))
        return false;
    if (u->removed)
        return fail(s, u->name, &u->src, u->at);
    for (size_t i = 0; i < u->n; i++) {
        if (!has_met(s, &u->v[i], name))
            return fail(s, name, &u->v[i].src, u->v[i].at);
    }
    return true;
}
