/* SPDX-License-Identifier: MIT */
#include "confined.h"

#include "cli/cmd/dispatch.h"
#include "cli/lang/line.h"
#include "fuzz.h"
#include "rdmalab/trace.h"

static void count_event(void *ctx, const struct ev *e)
{
    struct confined *c = ctx;

    (void)e;
    if (c->events == 0)
        c->interrupted = SIGINT;
    else
        c->events--;
}

/* A scenario may ask for another lab: who listens is called for each. */
static enum rdl_status lab_opened(void *ctx, struct rdl_lab *lab)
{
    struct rdl_listener *listener;

    return rdl_listen(lab, count_event, ctx, &listener);
}

/* Files that commands read are none of the input. */
static bool confined_dispatch(struct session *s, const struct step *st)
{
    struct confined *c = s->config.ear.ctx;

    /* Too many are ended as ^C ends them: a failure is what `refused` may wait for. */
    if (c->commands == 0) {
        c->interrupted = SIGINT;
        if (session_interrupted(s, st->at))
            return false;
    } else {
        c->commands--;
    }
    if (st->cmd->flags & CMD_SOURCES)
        return session_fail(s, st->at, "there are no files here");
    return dispatch(s, st);
}

void confined_open(struct confined *c, unsigned times)
{
    struct session_config config = {
        .dispatch = confined_dispatch,
        .seed = 1,
        .verbose = true,
        .steps_told = true,
        .interrupted = &c->interrupted,
        .tested = true,
        .memory_bytes = CONFINED_BYTES,
        .history_bytes = CONFINED_HISTORY_BYTES,
        .ear = {.opened = lab_opened, .ctx = c},
        .files_below = "/dev/null", /* where nothing can be made */
    };

    *c = (struct confined){.commands = (uint64_t)CONFINED_COMMANDS * times,
                           .events = (uint64_t)CONFINED_EVENTS * times,
                           .nowhere = fopen("/dev/null", "w")};
    FUZZ_CHECK(c->nowhere);
    config.out = config.err = c->nowhere;
    FUZZ_CHECK(session_new(&config, &c->s) == RDL_OK);
}

void confined_close(struct confined *c)
{
    session_free(c->s);
    fclose(c->nowhere);
}

void confined_look(struct confined *c)
{
    const struct source looks = source_of(NULL, "show; show counters; show faults; show links\n"
                                                "show events last 50; show packet last; why\n"
                                                "export ladder -\n");
    struct session *s = c->s;

    FUZZ_CHECK(!rdl_broken_invariant(s->lab));
    if (s->diag.kind != DIAG_NONE)
        session_complain(s, c->nowhere);
    c->interrupted = 0;
    c->commands = CONFINED_COMMANDS;
    s->step.interrupted = false;
    s->quit = false;
    (void)session_lines(s, &looks, false);
    FUZZ_CHECK(!rdl_broken_invariant(s->lab));
}
