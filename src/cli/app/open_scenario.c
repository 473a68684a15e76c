/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/app/modes.h"
#include "cli/app/open.h"
#include "cli/app/scratch.h"
#include "cli/exec/exec.h"
#include "cli/session/scenario.h"
#include "emu/base/quantity.h"
#include "print/plain.h"
#include "print/utf8.h"
#include "process/must.h"
#include "process/signals.h"

/* Prints where the lab is, and what can be done there. */
static void say_where(const struct session *s, const struct open_options *o, bool ended)
{
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));

    quantity_add_time_short(&t, rdl_now_ns(s->lab));
    printf("%s: %s at t=%s #%llu; \"back\" goes to the step before, \"goto 0\" to the beginning\n",
           SHOWN_NAME(o->file), ended ? "the end is" : "it failed", buf,
           (unsigned long long)rdl_tick(s->lab));
    fflush(stdout);
}

/* Runs @sc in @s, and then the prompt.  The limits of the scenario end with it. */
static int run(struct session *s, const struct scenario *sc, const struct open_options *o)
{
    bool ended;

    s->config.verbose = false;
    ended = exec_scenario(s, &sc->script);
    s->config.verbose = true;
    if (!ended)
        session_complain(s, stderr);
    if (session_exit_status(s) == EXIT_INTERRUPTED || session_exit_status(s) == EXIT_BROKEN)
        return session_exit_status(s);
    say_where(s, o, ended);
    s->limits.whole = (struct rdl_limits){0};
    s->run.quit = false;
    return open_prompt(s, o);
}

/* Adds the fault of --fault to a new lab; @ctx is its configuration. */
static enum rdl_status add_fault(void *ctx, struct rdl_lab *lab)
{
    rdl_fault fault;

    return rdl_fault_add(lab, ctx, &fault);
}

/* Finds the fault that --fault names, by a run without it.  Prints errors. */
static int find_fault(const struct scenario *sc, const struct open_options *o,
                      struct rdl_fault_config *ret)
{
    char file[] = "open", scratch[PATH_MAX];
    const struct test_file f = {.name = strdup(o->file), .left = file, .sc = *sc};
    const struct test_case c = {.file = &f,
                                .seed = o->seed_text ? o->seed : scenario_seed(sc),
                                .seed_given = o->seed_text != NULL};
    const char *why = scratch_open(scratch);
    const struct test_options how = {
        .allowed = o->allowed, .scratch = scratch, .devices = o->devices};
    int status = EXIT_FAILED;

    if (why)
        fprintf(stderr, "rdmalab: TMPDIR %s: %s\n", SHOWN_NAME(scratch), why);
    else if (!f.name)
        must_fail();
    else
        status = fault_find(&c, &how, &o->choice, ret);
    if (!why)
        scratch_remove(scratch);
    free(f.name);
    return status;
}

static int open_loaded(const struct scenario *sc, const struct open_options *o)
{
    struct rdl_fault_config fault;
    struct session_config config = modes_session();
    struct session *s;
    int status = o->fault_text ? find_fault(sc, o, &fault) : EXIT_PASSED;

    if (status != EXIT_PASSED)
        return status;
    config.seed = o->seed_text ? o->seed : scenario_seed(sc);
    config.seed_given = o->seed_text != NULL;
    config.programs_virtual = o->is_virtual;
    config.allowed = o->allowed;
    config.devices = o->devices;
    if (o->fault_text)
        config.observer = (struct session_observer){.opened = add_fault, .ctx = &fault};
    s = open_session(&config, o);
    if (!s)
        return EXIT_FAILED;
    status = run(s, sc, o);
    session_free(s);
    return status;
}

int open_scenario(struct source *src, const struct open_options *o)
{
    struct scenario sc;
    int status = scenario_take_to_run(&sc, src, stderr);

    if (status == EXIT_PASSED)
        status = open_loaded(&sc, o);
    scenario_done(&sc);
    return status;
}
