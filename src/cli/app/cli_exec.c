/* SPDX-License-Identifier: MIT */
/* `rdmalab exec`: programs of the machine on hosts of a lab, from the shell.
 *
 *	rdmalab exec h1 -- ./server : h2 -- ./client
 *
 * The lab is that of --lab, or one of two hosts with a link.  Each program has the input and the
 * output of rdmalab, as if the shell had started it.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/app/allow.h"
#include "cli/app/modes.h"
#include "cli/app/options.h"
#include "cli/exec/exec.h"
#include "cli/exec/scenario_write.h"
#include "cli/lang/lex.h"
#include "cli/live/live.h"
#include "cli/session/scenario.h"
#include "emu/base/assert.h"
#include "print/plain.h"
#include "process/must.h"
#include "process/signals.h"
#include "rdmalab/trace.h"

/* Two hosts with room for what programs ask for. */
static const char usual_lab[] =
    "host h1 h2 ram=256m max_qp=1024 max_cq=1024 max_srq=64; link h1 h2";

struct exec_options {
    const char *lab, *seed_text;
    const char *outputs[N_OUTPUTS];
    uint64_t seed;
};

/* The words from argv[*at] on up to ":" are one program.  Writes the line that starts it to @out.
 * Returns false if there are none.
 */
static bool write_program(FILE *out, int argc, char **argv, int *at)
{
    int i = *at, first;

    fprintf(out, "exec %s", argv[i++]);
    if (i < argc && strcmp(argv[i], "--") == 0)
        i++;
    for (first = i; i < argc && strcmp(argv[i], ":") != 0; i++) {
        fputc(' ', out);
        lex_write_quoted(out, argv[i]);
    }
    fputs(" &\n", out);
    *at = i < argc ? i + 1 : i;
    return i > first;
}

/* Returns the lines that start all programs, to be freed; NULL after a usage error. */
static char *programs_of(int argc, char **argv)
{
    char *lines = NULL;
    size_t bytes;
    FILE *out = must_memstream(&lines, &bytes);
    bool ok = argc > 1;

    for (int i = 1; i < argc && ok;)
        ok = write_program(out, argc, argv, &i);
    fputs("run\n", out);
    fclose(out);
    if (ok)
        return lines;
    free(lines);
    return NULL;
}

/* Returns the exit status of the programs: that of the first one that failed. */
static int status_of_programs(const struct session *s)
{
    struct live_exec_info info;

    for (uint32_t i = 0; s->outside.live && live_ops->exec_at(s->outside.live, i, &info); i++) {
        if (!info.runs && info.status != 0)
            return info.status;
    }
    return EXIT_PASSED;
}

static bool run_text(struct session *s, const char *name, const char *text)
{
    const struct source src = source_of(name, text);

    if (exec_lines(s, &src, false))
        return true;
    session_complain(s, stderr);
    return false;
}

/* After a program has failed, the others see that in their own time: a lost peer is noticed after
 * the last retry.
 */
#define GRACE_TURNS 50u
static const char grace[] = "run for=100ms";

static void let_others_end(struct session *s)
{
    for (unsigned i = 0;
         i < GRACE_TURNS && !*signals_interrupted() && live_ops->programs_run(s->outside.live); i++)
        (void)run_text(s, "exec", grace);
}

static bool make_lab(struct session *s, const struct exec_options *o)
{
    struct scenario sc;
    bool ok;

    if (!o->lab)
        return run_text(s, "exec", usual_lab);
    ok = scenario_load_to_run(&sc, o->lab, stderr) == EXIT_PASSED;
    if (ok && !exec_script(s, &sc.script)) {
        session_complain(s, stderr);
        ok = false;
    }
    return ok; /* the script stays: the session has its text */
}

static int write_outputs(struct session *s, const struct exec_options *o)
{
    int status = EXIT_PASSED;

    for (unsigned i = 0; i < N_OUTPUTS; i++) {
        if (o->outputs[i] && !scenario_write(s, (enum scenario_output)i, o->outputs[i], stderr))
            status = EXIT_FAILED;
    }
    return status;
}

static int run_programs(const struct exec_options *o, const char *lines)
{
    const struct session_config config = {
        .out = stderr, /* the standard output is the programs' */
        .err = stderr,
        .seed = o->seed_text ? o->seed : SCENARIO_SEED,
        .seed_given = o->seed_text != NULL,
        .interrupted = signals_interrupted(),
        .live_ops = live_ops,
        .programs_direct = true,
        .allowed = PERMIT_ALL, /* whoever types a command line means it */
    };
    struct session *s = NULL;
    const enum rdl_status st = session_new(&config, &s);
    int status = EXIT_FAILED;

    if (st != RDL_OK) {
        session_no_lab(stderr, &config, st);
        return EXIT_FAILED;
    }
    if (make_lab(s, o)) {
        const bool ok = run_text(s, "exec", lines);

        if (!ok && s->outside.live)
            let_others_end(s);
        status = status_of_programs(s);
        if (!ok && status == EXIT_PASSED)
            status = session_exit_status(s);
    }
    status = exit_worse(status, write_outputs(s, o));
    session_free(s);
    return status;
}

int exec_main(int argc, char **argv)
{
    struct exec_options o = {0};
    const struct option rows[] = {
        {.name = "--lab", .value = &o.lab},
        {.name = "--seed", .value = &o.seed_text, .words = ""},
        {.name = "--events", .value = &o.outputs[OUTPUT_EVENTS], .output = OPTION_WRITES_FILE},
        {.name = "--pcap", .value = &o.outputs[OUTPUT_PCAPNG], .output = OPTION_WRITES_FILE},
        {.name = "--ladder", .value = &o.outputs[OUTPUT_LADDER], .output = OPTION_WRITES_FILE},
    };
    char *lines;
    int status;

    if (!options_take(rows, ARRAY_LEN(rows), &argc, argv))
        return EXIT_USAGE;
    if (o.seed_text && !options_number("--seed", o.seed_text, &o.seed))
        return EXIT_USAGE;
    if (!options_judge_outputs(rows, ARRAY_LEN(rows), o.lab))
        return EXIT_USAGE;
    lines = programs_of(argc, argv);
    if (!lines)
        return EXIT_ASK;
    signals_catch_endings();
    status = run_programs(&o, lines);
    free(lines);
    return status;
}
