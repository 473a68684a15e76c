/* SPDX-License-Identifier: MIT */
#include "swarm/seeds/swarm_worlds.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "emu/base/assert.h"
#include "emu/base/plural.h"
#include "emu/base/prng.h"
#include "print/shell.h"
#include "print/utf8.h"
#include "print/version.h"
#include "process/exit_status.h"
#include "process/must.h"
#include "process/signals.h"
#include "swarm/drills/drill.h"
#include "swarm/seeds/swarm_drills.h"
#include "swarm/worlds/matrix.h"
#include "swarm/worlds/shrink.h"
#include "swarm/worlds/world_try.h"

#define SHRINKING_RUNS 4000u
#define TICKS_BUCKETS  24u /* histogram by powers of two */

/* Statistics of one process.  Plain data, because it is sent through a pipe. */
struct worlds_met {
    uint64_t passed, failed, broke; /* broke: failed with a broken invariant of the emulator */
    uint64_t drills, messages, bytes;
    uint64_t retried, err, sqe, broken_cq, went_back, many_hosts;
    uint64_t statuses[WORLD_STATUSES], opcodes[WORLD_OPCODES];
    uint64_t retries, ticks, by_ticks[TICKS_BUCKETS];
};

static void add_met(struct worlds_met *sum, const struct worlds_met *m)
{
    /* all members are counters */
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)m;

    for (size_t i = 0; i < sizeof(*m) / sizeof(uint64_t); i++)
        to[i] += from[i];
}

/* --- One world -------------------------------------------------------------------------------- */

static void note(struct worlds_met *met, const struct world *w, const struct world_run *r,
                 const struct world_try *how)
{
    uint32_t bucket = 0;

    met->broke += how->ret_invariant;
    met->retried += how->ret_retries > 0;
    met->retries += how->ret_retries;
    met->ticks += how->ret_ticks;
    met->err += r->tally.met_err;
    met->sqe += r->tally.met_sqe;
    met->broken_cq += r->tally.met_broken_cq;
    met->went_back += w->goes_back;
    met->many_hosts += w->n_hosts > 2;
    for (uint32_t i = 0; i < WORLD_STATUSES; i++)
        met->statuses[i] += r->tally.statuses[i];
    for (uint32_t i = 0; i < WORLD_OPCODES; i++)
        met->opcodes[i] += r->tally.opcodes[i];
    while (bucket + 1 < TICKS_BUCKETS && how->ret_ticks >> (bucket + 1))
        bucket++;
    met->by_ticks[bucket]++;
}

/* Opens the script of @w.  @title: the end of its title. */
static FILE *open_script(const struct world *w, const char *name, const char *title)
{
    FILE *f = fopen(name, "w");

    if (f)
        fprintf(f, "scenario title=\"Seed %llu%s\" seed=%llu\n", (unsigned long long)w->seed, title,
                (unsigned long long)w->seed);
    else
        fprintf(stderr, "rdmalab: %s cannot be written\n", SHOWN_NAME(name));
    return f;
}

static bool close_script(FILE *f, const char *name)
{
    const bool is_whole = !ferror(f);

    if (fclose(f) == 0 && is_whole)
        return true;
    fprintf(stderr, "rdmalab: %s could not be written to its end\n", name);
    return false;
}

/* Writes the script of the failing world @w to a file. */
static void write_script(const struct swarm_options *o, const struct world *w, struct world_run *r)
{
    char name[PATH_MAX], line[SHELL_LINE_BYTES];
    struct text t = text_on(line, sizeof(line));
    struct world_try how = {0};
    bool shows;

    snprintf(name, sizeof(name), "%s%sswarm-%llu.lab", o->artifacts ? o->artifacts : "",
             o->artifacts ? "/" : "", (unsigned long long)w->seed);
    how.script = open_script(w, name, ", made smaller");
    if (!how.script)
        return;
    shows = !world_try(w, r, &how);
    if (shows)
        fprintf(how.script, "note \"%s\"\n", r->wrong);
    if (!close_script(how.script, name))
        return;
    if (shows) {
        text_add(&t, "rdmalab run");
        shell_add_file(&t, name);
        printf("  smaller: %s\n", t.cut ? name : line);
    }
    if (!shows)
        printf("  %s does not show it: frames are forged in this world, which no line can say\n",
               name);
}

void swarm_again(const struct swarm_options *o, uint64_t seed, char out[SWARM_AGAIN_BYTES])
{
    if (o->is_matrix)
        snprintf(out, SWARM_AGAIN_BYTES, "rdmalab swarm --matrix --cell %llu --events",
                 (unsigned long long)seed);
    else
        snprintf(out, SWARM_AGAIN_BYTES, "rdmalab swarm%s%s%s%s%s%s --seed %llu --events",
                 o->pairs && !o->drill ? " --pairs" : "", o->devices ? " --devices" : "",
                 o->extensions ? " --extensions" : "",
                 o->machines && !o->drill ? " --machines" : "", o->drill ? " --drill " : "",
                 o->drill ? o->drill : "", (unsigned long long)seed);
}

/* Prints the failure of @w and the command that repeats it, and writes a reduced world. */
static void print_failure(const struct swarm_options *o, struct world *w, struct world_run *r)
{
    char again[SWARM_AGAIN_BYTES];

    world_print_failure(r, stdout);
    swarm_again(o, w->seed, again);
    printf("  again: %s\n  this is version %s\n", again, RDMALAB_VERSION);
    if (o->shrinks) {
        const uint32_t before = w->n_deeds, runs = world_shrink(w, r, SHRINKING_RUNS);

        printf("  %u of its %u deeds show it, found in %u runs\n", w->n_deeds, before, runs);
        write_script(o, w, r);
    }
    fflush(stdout);
}

/* Returns false if the world failed. */
static bool try_world(const struct swarm_options *o, struct world *w, struct world_run *r,
                      struct worlds_met *met)
{
    struct world_try how = {.print = o->print};
    bool right;

    if (o->script && w->seed == o->first)
        how.script = open_script(w, o->script, "");
    right = world_try(w, r, &how);
    if (how.script && close_script(how.script, o->script) && r->n_unsaid > 0)
        printf("the script lacks %u forged frame%s, which no line can say\n", r->n_unsaid,
               plural_s(r->n_unsaid));
    note(met, w, r, &how);
    if (o->hashed)
        printf("seed %llu: hash %016llx\n", (unsigned long long)w->seed,
               (unsigned long long)how.ret_hash);
    if (!right)
        print_failure(o, w, r);
    return right;
}

static void count(struct worlds_met *met, bool right)
{
    met->passed += right;
    met->failed += !right;
}

/* --- Many seeds ------------------------------------------------------------------------------- */

static uint64_t now_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec;
}

/* Runs every @jobs-th seed, from number @job on. */
static void try_seeds(const struct swarm_options *o, uint32_t job, struct worlds_met *met)
{
    struct world *w = must_malloc(sizeof(*w));
    struct world_run *r = must_malloc(sizeof(*r));
    const uint64_t end = now_seconds() + 60 * o->minutes;

    for (uint64_t seed = o->first + job; seed <= o->last && !*signals_interrupted();
         seed += o->jobs) {
        char again[SWARM_AGAIN_BYTES];
        struct swarm_drills_met drills;
        bool right = true;

        if (o->minutes > 0 && now_seconds() >= end)
            break;
        swarm_again(o, seed, again);
        signals_replay("%s", again);
        if (!o->drill) {
            world_draw(w, seed, o->pairs);
            if (o->devices)
                world_draw_devices(w);
            if (o->extensions)
                world_draw_extensions(w);
            if (o->machines)
                world_draw_machines(w);
            right = try_world(o, w, r, met);
        }
        right = swarm_drills(o, seed, &drills) && right;
        met->broke += drills.broke;
        met->messages += drills.messages;
        met->bytes += drills.bytes;
        met->drills += o->drill ? 0 : swarm_drills_asked(o);
        count(met, right);
        if (o->fails_fast && met->failed > 0)
            break;
    }
    free(w);
    free(r);
}

/* The cells of the matrix that process @job runs. */
struct cell_run {
    const struct swarm_options *o;
    uint32_t job;
    struct world *w;
    struct world_run *r;
    struct worlds_met *met;
};

static bool try_cell(void *ctx, const struct matrix_cell *c)
{
    const struct cell_run *cells = ctx;
    const struct swarm_options *o = cells->o;
    struct prng choice = prng_stream(o->first, c->number);
    char again[SWARM_AGAIN_BYTES];

    if (c->number % o->jobs != cells->job)
        return true;
    if (o->one_in > 1 ? prng_below(&choice, o->one_in) != 0
                      : c->number < o->first || c->number > o->last)
        return true;
    swarm_again(o, c->number, again);
    signals_replay("%s", again);
    matrix_world(cells->w, c);
    count(cells->met, try_world(o, cells->w, cells->r, cells->met));
    return !*signals_interrupted() && !(o->fails_fast && cells->met->failed > 0);
}

static void try_cells(const struct swarm_options *o, uint32_t job, struct worlds_met *met)
{
    struct cell_run cells = {.o = o,
                             .job = job,
                             .w = must_malloc(sizeof(*cells.w)),
                             .r = must_malloc(sizeof(*cells.r)),
                             .met = met};

    matrix_walk(try_cell, &cells);
    free(cells.w);
    free(cells.r);
}

static void try_all(const struct swarm_options *o, uint32_t job, struct worlds_met *met)
{
    if (o->is_matrix)
        try_cells(o, job, met);
    else
        try_seeds(o, job, met);
}

struct worker {
    pid_t pid;
    int from;
};

static bool start(struct worker *k, const struct swarm_options *o, uint32_t job)
{
    int ends[2];

    fflush(stdout);
    if (pipe(ends) != 0)
        return false;
    k->pid = fork();
    if (k->pid == 0) {
        struct worlds_met met = {0};
        bool written;

        close(ends[0]);
        try_all(o, job, &met);
        fflush(stdout);
        written = write(ends[1], &met, sizeof(met)) == (ssize_t)sizeof(met);
        _exit(written ? 0 : 1);
    }
    close(ends[1]);
    k->from = ends[0];
    return k->pid > 0;
}

/* Returns false if the process sent no statistics. */
static bool collect(const struct worker *k, struct worlds_met *sum)
{
    struct worlds_met met;
    size_t have = 0;
    ssize_t n = 1;
    int status;

    while (have < sizeof(met) && n > 0) {
        n = read(k->from, (char *)&met + have, sizeof(met) - have);
        have += n > 0 ? (size_t)n : 0;
    }
    close(k->from);
    waitpid(k->pid, &status, 0);
    if (have < sizeof(met))
        return false;
    add_met(sum, &met);
    return true;
}

/* --- The report ------------------------------------------------------------------------------- */

static unsigned percent(uint64_t n, uint64_t of)
{
    return of == 0 ? 0 : (unsigned)((200 * n + of) / (2 * of));
}

static void print_histogram(const char *what, const struct enum_table *names, const uint64_t *n,
                            uint32_t n_max)
{
    const char *between = " ";

    printf("%s:", what);
    for (uint32_t i = 0; i < n_max; i++) {
        if (n[i] > 0) {
            printf("%s%s %llu", between, enum_name(names, i), (unsigned long long)n[i]);
            between = ", ";
        }
    }
    printf("\n");
}

/* Median of the ticks of a world, rounded down to a power of two. */
static unsigned long long median_ticks(const struct worlds_met *m)
{
    const uint64_t all = m->passed + m->failed;
    uint64_t n = 0;
    uint32_t i = TICKS_BUCKETS;

    while (i > 0 && 2 * n < all)
        n += m->by_ticks[--i];
    return 1ull << i;
}

static void report(const struct worlds_met *m)
{
    const uint64_t n = m->passed + m->failed;

    printf("%llu worlds, %u%% of more than two hosts; half of them took %llu ticks or more, all "
           "together %llu\n",
           (unsigned long long)n, percent(m->many_hosts, n), median_ticks(m),
           (unsigned long long)m->ticks);
    printf("something was sent again in %u%%, %llu times; a queue pair came to ERR in %u%%, to SQE "
           "in %u%%; a CQ overflowed in %u%%; %u%% went back to a checkpoint\n",
           percent(m->retried, n), (unsigned long long)m->retries, percent(m->err, n),
           percent(m->sqe, n), percent(m->broken_cq, n), percent(m->went_back, n));
    if (m->drills > 0) {
        printf("%llu drills beside them, one of each kind for a seed:",
               (unsigned long long)m->drills);
        for (uint32_t i = 0; i < DRILL_KINDS; i++)
            printf("%s %s", i == 0 ? "" : ",", drill_kinds[i]->name);
        printf("\n");
    }
    print_histogram("requests", &enum_wr_opcode, m->opcodes, WORLD_OPCODES);
    print_histogram("completions", &enum_wc_status, m->statuses, WORLD_STATUSES);
}

int swarm_worlds(const struct swarm_options *o)
{
    struct worlds_met met = {0};
    struct worker *workers = must_malloc(o->jobs * sizeof(*workers));
    bool told = true;

    if (o->jobs == 1) {
        try_all(o, 0, &met);
    } else {
        uint32_t n = 0;

        while (n < o->jobs && start(&workers[n], o, n))
            n++;
        told = n == o->jobs;
        for (uint32_t i = 0; i < n; i++)
            told = collect(&workers[i], &met) && told;
    }
    free(workers);
    if (met.passed + met.failed > 1 && !o->drill)
        report(&met);
    else if (met.messages > 0)
        printf("%llu messages of LNet, %llu bytes compared\n", (unsigned long long)met.messages,
               (unsigned long long)met.bytes);
    if (!told)
        printf("a process ended before it told how its seeds went: they are not counted\n");
    printf("%llu passed, %llu failed, 0 skipped\n", (unsigned long long)met.passed,
           (unsigned long long)met.failed);
    if (met.broke || !told)
        return EXIT_BROKEN;
    if (met.passed + met.failed == 0)
        return EXIT_USAGE;
    return met.failed ? EXIT_FAILED : EXIT_PASSED;
}
