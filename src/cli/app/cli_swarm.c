/* SPDX-License-Identifier: MIT */
/* `rdmalab swarm`: random worlds (swarm_worlds.c) and drills (swarm_drills.c), or with --outside
 * random packets from outside the lab (swarm/outside/outside.c).
 */
#include "cli/app/cli_swarm.h"

#include <stdio.h>
#include <string.h>

#include "cli/app/options.h"
#include "emu/base/quantity.h"
#include "emu/trace/render.h"
#include "print/utf8.h"
#include "process/exit_status.h"
#include "process/signals.h"
#include "rdmalab/trace.h"
#include "swarm/outside/outside.h"
#include "swarm/seeds/swarm_drills.h"
#include "swarm/seeds/swarm_worlds.h"

#define JOBS_MAX    256u
#define MINUTES_MAX 10000u
#define ONE_IN_MAX  1000000u
#define SEEDS       100u /* default number of seeds */

static void print_event(void *ctx, const struct ev *e)
{
    const struct rdl_lab *lab = ctx;
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    ev_add_line(&t, e, rdl_names(lab));
    puts(buf);
}

static int outside(const struct swarm_options *o)
{
    uint64_t passed = 0, failed = 0;
    bool any_invariant = false;

    for (uint64_t seed = o->first; seed <= o->last && !*signals_interrupted(); seed++) {
        struct swarm_outside_run run = {.seed = seed, .print = o->print, .hashed = o->hashed};

        signals_replay("rdmalab swarm --outside --seed %llu --events", (unsigned long long)seed);
        if (swarm_outside(&run))
            passed++;
        else
            failed++;
        if (o->hashed)
            printf("seed %llu: hash %016llx\n", (unsigned long long)seed,
                   (unsigned long long)run.ret_hash);
        any_invariant = any_invariant || run.ret_invariant;
    }
    printf("%llu passed, %llu failed, 0 skipped\n", (unsigned long long)passed,
           (unsigned long long)failed);
    if (any_invariant)
        return EXIT_BROKEN;
    return failed ? EXIT_FAILED : EXIT_PASSED;
}

/* Parses "A..B" or "A".  Prints an error and returns false if @text is neither. */
static bool read_range(const char *name, const char *text, struct swarm_options *o)
{
    uint64_t first = 0, last;
    const char *why;

    if (!strstr(text, "..")) {
        if (!options_number_in(name, text, 0, UINT64_MAX - 1, &first))
            return false;
        o->first = o->last = first;
        return true;
    }
    why = quantity_parse_range(text, &first, &last);
    if (!why && first > last)
        why = "it is written from the smaller to the larger";
    if (!why && last == UINT64_MAX)
        why = "the number is too large";
    if (why) {
        fprintf(stderr, "rdmalab: %s %s: %s\n", name, text, why);
        return false;
    }
    o->first = first;
    o->last = last;
    return true;
}

/* The kinds of runs.  An option belongs to some of them. */
enum run_bit { RUN_WORLDS = 1, RUN_DRILL = 2, RUN_MATRIX = 4, RUN_OUTSIDE = 8 };

#define RUN_SEEDED (RUN_WORLDS | RUN_DRILL)
#define RUN_CREWED (RUN_SEEDED | RUN_MATRIX)
#define RUN_ANY    (RUN_CREWED | RUN_OUTSIDE)

/* The words of the command line; NULL or false: not given. */
struct swarm_asked {
    const char *seed, *seeds, *cell, *one_in, *jobs, *minutes;
    char drills[256]; /* the words of --drill: "a|b" */
    bool events, no_shrink, outside;
};

#define SWARM_OPTIONS 19u
#define SWARM_CHOICES 3u /* the first of them choose the run */

/* Fills the rows of the options, and the runs that each belongs to (set of enum run_bit). */
static void make_rows(struct swarm_asked *a, struct swarm_options *o,
                      struct option rows[SWARM_OPTIONS], unsigned runs[SWARM_OPTIONS])
{
    const struct {
        struct option row;
        unsigned runs;
    } all[SWARM_OPTIONS] = {
        {{.name = "--outside", .flag = &a->outside}, RUN_OUTSIDE},
        {{.name = "--matrix", .flag = &o->is_matrix}, RUN_MATRIX},
        {{.name = "--drill", .value = &o->drill, .words = a->drills}, RUN_DRILL},
        {{.name = "--seed", .value = &a->seed, .words = ""}, RUN_ANY},
        {{.name = "--seeds", .value = &a->seeds, .words = ""}, RUN_SEEDED | RUN_OUTSIDE},
        {{.name = "--cell", .value = &a->cell, .words = ""}, RUN_MATRIX},
        {{.name = "--one-in", .value = &a->one_in, .words = ""}, RUN_MATRIX},
        {{.name = "-j", .value = &a->jobs, .words = ""}, RUN_CREWED},
        {{.name = "--minutes", .value = &a->minutes, .words = ""}, RUN_SEEDED},
        {{.name = "--pairs", .flag = &o->pairs}, RUN_WORLDS},
        {{.name = "--devices", .flag = &o->devices}, RUN_SEEDED},
        {{.name = "--extensions", .flag = &o->extensions}, RUN_SEEDED},
        {{.name = "--machines", .flag = &o->machines}, RUN_WORLDS},
        {{.name = "--no-shrink", .flag = &a->no_shrink}, RUN_CREWED},
        {{.name = "--fail-fast", .flag = &o->fails_fast}, RUN_CREWED},
        {{.name = "--artifacts", .value = &o->artifacts}, RUN_CREWED},
        {{.name = "--script", .value = &o->script, .output = OPTION_WRITES_FILE}, RUN_CREWED},
        {{.name = "--events", .flag = &a->events}, RUN_ANY},
        {{.name = "--hash", .flag = &o->hashed}, RUN_ANY},
    };

    for (size_t i = 0; i < SWARM_OPTIONS; i++) {
        rows[i] = all[i].row;
        runs[i] = all[i].runs;
    }
}

static bool is_given(const struct option *o)
{
    return o->flag ? *o->flag : *o->value != NULL;
}

/* Prints an error and returns false if an option does not belong to the run that is asked for. */
static bool fit_run(const struct option *rows, const unsigned *runs)
{
    const struct option *chosen = NULL;
    unsigned kind = RUN_WORLDS;

    for (size_t i = 0; i < SWARM_CHOICES; i++) {
        if (is_given(&rows[i]) && !chosen) {
            chosen = &rows[i];
            kind = runs[i];
        }
    }
    for (size_t i = 0; i < SWARM_OPTIONS; i++) {
        if (!is_given(&rows[i]) || (runs[i] & kind))
            continue;
        if (chosen)
            fprintf(stderr, "rdmalab: %s and %s: give one of them\n", chosen->name, rows[i].name);
        else
            fprintf(stderr, "rdmalab: %s needs --matrix\n", rows[i].name);
        return false;
    }
    return true;
}

/* Reads the range of seeds or cells.  Prints an error and returns false if it is wrong. */
static bool read_seeds(const struct swarm_asked *a, struct swarm_options *o)
{
    if (!!a->seed + !!a->seeds + !!a->cell > 1) {
        fputs("rdmalab: --seed, --seeds and --cell: give one of them\n", stderr);
        return false;
    }
    o->first = 1;
    o->last = o->is_matrix ? UINT32_MAX : SEEDS;
    if (a->seed && !options_number_in("--seed", a->seed, 0, UINT64_MAX - 1, &o->first))
        return false;
    if (a->seed)
        o->last = o->first;
    if (a->seeds)
        return read_range("--seeds", a->seeds, o);
    return !a->cell || read_range("--cell", a->cell, o);
}

/* Reads the values.  Prints an error and returns false if one is wrong. */
static bool read_values(const struct swarm_asked *a, struct swarm_options *o)
{
    const struct swarm_options devices_alone = {.drill = o->drill, .devices = o->devices};
    uint64_t one_in = 0, jobs = 1;

    if (o->drill && !swarm_drills_known(o->drill)) {
        fprintf(stderr, "rdmalab: --drill %s: there are %s\n", o->drill, a->drills);
        return false;
    }
    if (o->drill && swarm_drills_asked(&devices_alone) == 0) {
        fprintf(stderr,
                "rdmalab: --drill %s: it needs what PVRDMA does not have: leave out --devices, or "
                "give --drill pvrdma\n",
                o->drill);
        return false;
    }
    if (o->drill && swarm_drills_asked(o) == 0) {
        fprintf(stderr,
                "rdmalab: --drill %s: it knows no extensions of virtio-rdma: leave out "
                "--extensions, or give --drill device\n",
                o->drill);
        return false;
    }
    if (o->is_matrix && a->seed && !a->one_in) {
        fputs("rdmalab: --matrix has cells and no seeds; --seed chooses those of --one-in\n",
              stderr);
        return false;
    }
    if (!read_seeds(a, o) ||
        (a->one_in && !options_number_in("--one-in", a->one_in, 1, ONE_IN_MAX, &one_in)) ||
        (a->jobs && !options_number_in("-j", a->jobs, 1, JOBS_MAX, &jobs)) ||
        (a->minutes && !options_number_in("--minutes", a->minutes, 1, MINUTES_MAX, &o->minutes)))
        return false;
    o->one_in = (uint32_t)one_in;
    o->jobs = (uint32_t)jobs;
    o->print = a->events ? print_event : NULL;
    o->shrinks = !a->no_shrink && !a->events;
    return true;
}

int swarm_main(int argc, char **argv)
{
    struct swarm_options o = {.first = 1};
    struct swarm_asked a = {.seed = NULL};
    struct option rows[SWARM_OPTIONS];
    struct text drills = text_on(a.drills, sizeof(a.drills));
    unsigned runs[SWARM_OPTIONS];

    swarm_drills_words(&drills);
    make_rows(&a, &o, rows, runs);
    if (!options_take(rows, SWARM_OPTIONS, &argc, argv))
        return EXIT_USAGE;
    if (argc > 1) {
        fprintf(stderr, "rdmalab: swarm takes options only, and %s was given\n",
                SHOWN_NAME(argv[1]));
        return EXIT_USAGE;
    }
    if (!fit_run(rows, runs) || !read_values(&a, &o) ||
        !options_judge_outputs(rows, SWARM_OPTIONS, NULL))
        return EXIT_USAGE;
    return a.outside ? outside(&o) : swarm_worlds(&o);
}
