/* SPDX-License-Identifier: MIT */
/* `rdmalab run`: runs one scenario and writes output files. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/app/allow.h"
#include "cli/app/modes.h"
#include "cli/app/options.h"
#include "cli/cmd/program_cause.h"
#include "cli/exec/exec.h"
#include "cli/exec/scenario_write.h"
#include "cli/export/export.h"
#include "cli/live/live.h"
#include "cli/session/expr_eval.h"
#include "cli/session/files.h"
#include "cli/session/gate.h"
#include "cli/session/scenario.h"
#include "cli/session/snapshots.h"
#include "emu/base/assert.h"
#include "emu/base/plural.h"
#include "emu/base/quantity.h"
#include "print/plain.h"
#include "print/shell.h"
#include "print/utf8.h"
#include "process/signals.h"
#include "rdmalab/trace.h"

struct run_options {
    const char *outputs[N_OUTPUTS];
    const char *seed_text, *memory_text, *until;
    struct allow allow;
    bool hash, quiet;
    bool is_virtual;   /* simulated time advances only while all programs wait */
    bool stdout_taken; /* by one of @outputs: nothing else is printed there */
    uint64_t seed, memory_bytes;
    unsigned allowed; /* set of enum permit */
};

bool modes_terminal(void)
{
    return isatty(STDOUT_FILENO) == 1;
}

bool modes_colour(void)
{
    const char *term = getenv("TERM");

    return modes_terminal() && !getenv("NO_COLOR") && term && strcmp(term, "dumb") != 0;
}

struct session_config modes_session(void)
{
    return (struct session_config){
        .history_bytes = SNAPSHOTS_BYTES_MAX,
        .out = stdout,
        .err = stderr,
        .seed = SCENARIO_SEED,
        .verbose = true,
        .colour = modes_colour(),
        .interrupted = signals_interrupted(),
        .live_ops = live_ops,
    };
}

void modes_say_again(const struct text *t)
{
    if (!t->cut && t->len > 0 && !*signals_interrupted())
        fprintf(stderr, "  again: %s\n", t->buf);
}

/* Appends the command that runs @sc again; nothing if it was read from the standard input. */
static void add_again(struct text *t, const struct scenario *sc, const struct run_options *o,
                      uint64_t seed)
{
    if (!source_is_file(&sc->src))
        return;
    text_add(t, "rdmalab run");
    shell_add_file(t, sc->src.name);
    shell_add_number(t, "--seed", seed);
    shell_add_option(t, "--memory", o->memory_text);
    shell_add_option(t, "--until", o->until);
    text_add(t, o->is_virtual ? " --virtual" : "");
    allow_add(t, &o->allow);
}

/* Prints the command that opens the prompt where @sc failed. */
static void say_open(const struct scenario *sc, const struct run_options *o, uint64_t seed)
{
    char line[SHELL_LINE_BYTES];
    struct text t = text_on(line, sizeof(line));

    if (!source_is_file(&sc->src) || o->memory_text || *signals_interrupted())
        return;
    text_add(&t, "rdmalab open");
    shell_add_file(&t, sc->src.name);
    shell_add_number(&t, "--seed", seed);
    text_add(&t, o->is_virtual ? " --virtual" : "");
    allow_add(&t, &o->allow);
    if (!t.cut)
        fprintf(stderr, "  open:  %s\n", line);
}

/* Sets the stop of --until.  Prints an error and returns NULL if @text is invalid. */
static const struct stop *set_stop(struct session *s, const char *text)
{
    const struct source src = source_of("--until", text);
    const struct span at = {0, src.len};
    const struct stop *stop = stops_add_when(&s->stops, STOP_OF_PROGRAM, text, at, &s->diag);

    if (stop && expr_paths_lead(stop->when, at, &s->diag))
        return stop;
    diag_print(stderr, &src, &s->diag);
    return NULL;
}

static void say_where(struct session *s)
{
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));

    quantity_add_time_short(&t, rdl_now_ns(s->lab));
    printf("stopped at t=%s #%llu\n", buf, (unsigned long long)rdl_tick(s->lab));
}

/* Prints what the scenario is about. */
static void say_title(const struct scenario *sc)
{
    const struct arg *teaches = sc->script.header ? step_arg(sc->script.header, "teaches") : NULL;
    const char *title = scenario_title(sc);

    print_line(stdout, title && title[0] ? title : source_shown_name(&sc->src));
    for (size_t i = 0; teaches && i < teaches->n && modes_terminal(); i++) {
        fputs("  - ", stdout);
        print_line(stdout, teaches->v[i].text);
    }
}

/* Prints the result.  The reason of a failure has been printed. */
static void say_verdict(const struct session *s, int status)
{
    const unsigned long long n = s->run.n_expectations;
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));

    quantity_add_time_short(&t, rdl_now_ns(s->lab));
    if (s->run.step.interrupted)
        fputs("interrupted", stdout);
    else if (status != EXIT_PASSED)
        fputs("FAILED", stdout);
    else if (n == 0)
        fputs("done, and nothing was expected", stdout);
    else
        printf("passed: %llu expectation%s", n, plural_s(n));
    printf("; %llu ticks, t=%s\n", (unsigned long long)rdl_tick(s->lab), buf);
}

/* After the script: checks that --until @text stopped it.  Otherwise prints the current values, or
 * why they are not known.
 */
static int judge_stop(struct session *s, const struct stop *stop, const char *text)
{
    const struct source src = source_of("--until", text);
    const struct span at = {0, src.len};
    struct scope in = session_outer_scope(s);
    char found[DIAG_MESSAGE_BYTES];
    struct text t = text_on(found, sizeof(found));
    struct expr_terms terms;
    bool holds = false;

    in.since = &stop->tick;
    if (expr_holds(&in, stop->when, at, &holds, &s->diag)) {
        if (holds || stop->n_hits > 0) {
            say_where(s);
            return EXIT_PASSED;
        }
        expr_decide(&in, stop->when, false, &terms);
        expr_add_terms(&in, &terms, text, &t);
        diag_set(&s->diag, DIAG_EXPECT, at, "this never came true: %s", found);
    }
    diag_print(stderr, &src, &s->diag);
    return EXIT_FAILED;
}

static const char *const output_options[N_OUTPUTS] = {[OUTPUT_LADDER] = "--ladder",
                                                      [OUTPUT_PCAPNG] = "--pcap",
                                                      [OUTPUT_EVENTS] = "--events",
                                                      [OUTPUT_TIMELINE] = "--timeline"};

/* Writes the requested files.  After a failure or an interrupt, they contain what happened until
 * then.
 */
static int write_outputs(struct session *s, const struct run_options *o)
{
    int status = EXIT_PASSED;
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));

    quantity_add_time_short(&t, rdl_now_ns(s->lab));
    s->config.out = stdout; /* which the commands have left free */
    for (unsigned i = 0; i < N_OUTPUTS; i++) {
        if (!o->outputs[i])
            continue;
        if (!scenario_write(s, (enum scenario_output)i, o->outputs[i], stderr))
            status = EXIT_FAILED;
        else if (s->run.step.interrupted)
            fprintf(stderr, "rdmalab: %s %s: written up to the interruption at t=%s #%llu\n",
                    output_options[i], SHOWN_NAME(o->outputs[i]), buf,
                    (unsigned long long)rdl_tick(s->lab));
    }
    return status;
}

/* Returns true if @sc can have a hash, as far as that is known before it runs: none of its steps
 * surely starts a program or opens a port, which in virtual time a program may.  Otherwise prints
 * an error.
 */
static bool may_have_hash(const struct scenario *sc, bool is_virtual)
{
    for (const struct step *st = sc->script.first; st; st = st->next) {
        if (!gate_opens_outside(st->cmd) || !(st->cmd->flags & CMD_OUTSIDE) ||
            (is_virtual && (st->cmd->flags & CMD_VIRTUAL)))
            continue;
        fprintf(stderr,
                "rdmalab: --hash: a lab that follows real time has no hash, and \"%s\" makes it "
                "one%s\n",
                st->cmd->name,
                st->cmd->flags & CMD_VIRTUAL ? "; --virtual gives it virtual time" : "");
        return false;
    }
    return true;
}

static int run_scenario_file(const struct scenario *sc, const struct run_options *o)
{
    struct session_config config = {
        .out = o->stdout_taken ? stderr : stdout,
        .err = stderr,
        .seed = o->seed_text ? o->seed : scenario_seed(sc),
        .seed_given = o->seed_text != NULL,
        .verbose = !o->quiet && modes_terminal(),
        .steps_told = true,
        .share = SHOWN_OF_ALL,
        .colour = modes_colour(),
        .interrupted = signals_interrupted(),
        .live_ops = live_ops,
        .programs_virtual = o->is_virtual,
        .memory_bytes = (size_t)o->memory_bytes,
        .allowed = o->allowed,
    };
    struct session *s = NULL;
    const struct stop *stop = NULL;
    char line[SHELL_LINE_BYTES];
    struct text again = text_on(line, sizeof(line));
    int status = EXIT_PASSED;
    enum rdl_status st;

    allow_ask(&config);
    st = session_new(&config, &s);
    if (st != RDL_OK) {
        session_no_lab(stderr, &config, st);
        return EXIT_FAILED;
    }
    add_again(&again, sc, o, config.seed);
    signals_replay("%s", line);
    if (o->until)
        stop = set_stop(s, o->until);
    if (o->until && !stop) {
        session_free(s);
        return EXIT_USAGE;
    }
    if (!o->quiet)
        say_title(sc);
    if (!exec_scenario(s, &sc->script)) {
        session_complain(s, stderr);
        status = session_failure_status(s);
        program_cause_print(s, stderr, session_programs_late(s), o->outputs[OUTPUT_EVENTS]);
    }
    if (stop && status == EXIT_PASSED)
        status = judge_stop(s, stop, o->until);
    if (status != EXIT_PASSED)
        modes_say_again(&again);
    if (status == EXIT_FAILED && !o->until)
        say_open(sc, o, config.seed);
    status = exit_worse(status, write_outputs(s, o));
    if (o->hash && session_is_live(s) && !o->is_virtual) {
        fputs("rdmalab: --hash: a lab that follows real time has no hash\n", stderr);
        status = exit_worse(status, EXIT_FAILED);
    } else if (o->hash) {
        printf("hash %016llx\n", (unsigned long long)rdl_hash(s->lab));
    }
    if (!o->quiet)
        say_verdict(s, status);
    session_free(s);
    return status;
}

int run_main(int argc, char **argv)
{
    struct run_options o = {.seed = SCENARIO_SEED};
    const struct option rows[] = {
        {.name = "--seed", .value = &o.seed_text, .words = ""},
        {.name = "--memory", .value = &o.memory_text, .words = ""},
        {.name = "--until", .value = &o.until, .words = ""},
        {.name = output_options[OUTPUT_EVENTS],
         .value = &o.outputs[OUTPUT_EVENTS],
         .output = OPTION_WRITES,
         .wants_suffix = export_events_suffix},
        {.name = output_options[OUTPUT_PCAPNG],
         .value = &o.outputs[OUTPUT_PCAPNG],
         .output = OPTION_WRITES,
         .wants_suffix = export_pcapng_suffix},
        {.name = output_options[OUTPUT_LADDER],
         .value = &o.outputs[OUTPUT_LADDER],
         .output = OPTION_WRITES,
         .wants_suffix = export_ladder_suffix},
        {.name = output_options[OUTPUT_TIMELINE],
         .value = &o.outputs[OUTPUT_TIMELINE],
         .output = OPTION_WRITES,
         .wants_suffix = export_timeline_suffix},
        {.name = "--virtual", .flag = &o.is_virtual},
        {.name = "--hash", .flag = &o.hash, .output = OPTION_PRINTS},
        {.name = "--quiet", .flag = &o.quiet},
        ALLOW_OPTIONS(o.allow),
    };
    struct scenario sc;
    int status;

    if (!options_take(rows, ARRAY_LEN(rows), &argc, argv))
        return EXIT_USAGE;
    if (argc != 2)
        return EXIT_ASK;
    if (o.seed_text && !options_number("--seed", o.seed_text, &o.seed))
        return EXIT_USAGE;
    if (o.memory_text && !options_size("--memory", o.memory_text, &o.memory_bytes))
        return EXIT_USAGE;
    if (!options_judge_outputs(rows, ARRAY_LEN(rows), argv[1]) || !allow_read(&o.allow, &o.allowed))
        return EXIT_USAGE;
    o.stdout_taken = options_take_stdout(rows, ARRAY_LEN(rows));
    o.quiet = o.quiet || o.stdout_taken;
    signals_catch_endings();
    status = scenario_load_to_run(&sc, argv[1], stderr);
    if (status == EXIT_PASSED && scenario_skip(&sc)) {
        fputs("skipped: ", o.stdout_taken ? stderr : stdout);
        print_line(o.stdout_taken ? stderr : stdout, scenario_skip(&sc));
        status = EXIT_SKIPPED;
    } else if (status == EXIT_PASSED && o.hash && !may_have_hash(&sc, o.is_virtual)) {
        status = EXIT_FAILED;
    } else if (status == EXIT_PASSED) {
        status = run_scenario_file(&sc, &o);
    }
    scenario_done(&sc);
    return status;
}
