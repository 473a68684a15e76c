/* SPDX-License-Identifier: MIT */
#include "cli/app/modes.h"
#include "cli/app/open.h"
#include "cli/exec/exec.h"
#include "cli/live/live.h"
#include "cli/session/scenario.h"
#include "cli/session/snapshots.h"
#include "emu/base/quantity.h"
#include "print/plain.h"
#include "print/shell.h"
#include "print/utf8.h"
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

static int open_loaded(const struct scenario *sc, const struct open_options *o)
{
    struct session_config config = {
        .history_bytes = SNAPSHOTS_BYTES_MAX,
        .out = stdout,
        .err = stderr,
        .seed = o->seed_text ? o->seed : scenario_seed(sc),
        .seed_given = o->seed_text != NULL,
        .colour = modes_colour(),
        .interrupted = signals_interrupted(),
        .live_ops = live_ops,
        .programs_virtual = o->is_virtual,
        .allowed = o->allowed,
    };
    struct session *s = NULL;
    char line[SHELL_LINE_BYTES];
    struct text again = text_on(line, sizeof(line));
    enum rdl_status st;
    int status;

    allow_ask(&config);
    st = session_new(&config, &s);
    if (st != RDL_OK) {
        session_no_lab(stderr, &config, st);
        return EXIT_FAILED;
    }
    text_add(&again, "rdmalab open");
    shell_add_option(&again, "-c", o->lines);
    shell_add_option(&again, "--seed", o->seed_text);
    text_add(&again, o->is_virtual ? " --virtual" : "");
    allow_add(&again, &o->allow);
    shell_add_file(&again, o->file);
    signals_replay("%s", line);
    status = run(s, sc, o);
    session_free(s);
    return status;
}

int open_scenario(const struct open_options *o)
{
    struct scenario sc;
    int status = scenario_load_to_run(&sc, o->file, stderr);

    if (status == EXIT_PASSED)
        status = open_loaded(&sc, o);
    scenario_done(&sc);
    return status;
}
