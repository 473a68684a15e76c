/* SPDX-License-Identifier: MIT */
#include "confined.h"

#include "cli/exec/exec.h"
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

/* Too many commands are ended as ^C ends them: a failure is what `refused` may wait for. */
static void count_command(void *ctx, const struct step *st)
{
    struct confined *c = ctx;

    (void)st;
    if (c->commands == 0)
        c->interrupted = SIGINT;
    else
        c->commands--;
}

void confined_open(struct confined *c, unsigned times)
{
    struct session_config config = {
        .seed = 1,
        .verbose = true,
        .steps_told = true,
        .interrupted = &c->interrupted,
        .tested = true,
        .memory_bytes = CONFINED_BYTES,
        .history_bytes = CONFINED_HISTORY_BYTES,
        .observer = {.opened = lab_opened, .command = count_command, .ctx = c},
        .refused_commands = CMD_SOURCES, /* files that commands read are none of the input */
        .files_below = "/dev/null",      /* where nothing can be made */
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
    s->run.step.interrupted = false;
    s->run.quit = false;
    (void)exec_lines(s, &looks, false);
    FUZZ_CHECK(!rdl_broken_invariant(s->lab));
}
