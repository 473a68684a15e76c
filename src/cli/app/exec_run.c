/* SPDX-License-Identifier: MIT */
#include "cli/app/exec_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/app/allow.h"
#include "cli/cmd/program_cause.h"
#include "cli/exec/exec.h"
#include "cli/exec/scenario_write.h"
#include "cli/lang/lex.h"
#include "cli/live/live.h"
#include "cli/session/resolve.h"
#include "cli/session/scenario.h"
#include "cli/session/unmet.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "print/plain.h"
#include "print/utf8.h"
#include "process/must.h"
#include "process/signals.h"
#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"

/* Two hosts with room for what programs ask for.  With on_demand the boot does not set up thousands
 * of virtqueues, so that its events do not fill the record.
 */
static const char usual_lab[] =
    "host h1 h2 on_demand ram=256m max_qp=1024 max_cq=1024 max_srq=64; link h1 h2";

#define SLICE_MS 1000u /* the lab runs for at most so long between two looks at the programs */
#define GRACE_MS 5000u /* time for the others to end after one has failed */
#define QUIET_MS 5000u /* without any event in the lab, programs that wait are named */

#define NAME_BYTES  128u
#define CAUSE_BYTES (NAME_BYTES + 32u)

/* The running programs. */
struct running {
    const struct exec_run *r;
    struct session *s;
    struct scenario scenario; /* of --lab; the session has its text */
    uint64_t began_ms, quiet_since_ms, quiet_tick;
    bool told_quiet;
    bool listened; /* a program has waited for a TCP connection */
    bool timed_out;
    bool over;         /* the lab has failed: the programs cannot go on */
    uint32_t n_before; /* number of programs that @scenario has started */
    uint32_t n_told;   /* number of programs whose failure was printed */
    int status;        /* EXIT_PASSED, or the status of another failure than those of programs */
    char cause[CAUSE_BYTES]; /* the first failure, "h2 client failed"; "": there is none */
};

static uint64_t now_ms(void)
{
    struct timespec now = {.tv_sec = 0};

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

static bool program_at(const struct running *g, uint32_t i, struct live_exec_info *ret)
{
    return g->s->outside.live && live_ops->exec_at(g->s->outside.live, i, ret);
}

static bool any_runs(const struct running *g)
{
    return g->s->outside.live && live_ops->programs_run(g->s->outside.live);
}

/* --- Messages --------------------------------------------------------------------------------- */

/* Prints the error in s->diag.  It is not about a line of a file, so that no line is quoted. */
static void complain(const struct running *g)
{
    const struct diag *d = &g->s->diag;

    fputs("rdmalab: ", stderr);
    print_plain(stderr, d->message, true);
    fputc('\n', stderr);
    if (d->remedy[0]) {
        fputs("  ", stderr);
        print_plain(stderr, d->remedy, true);
        fputc('\n', stderr);
    }
    print_plain(stderr, d->notes, true);
}

/* Prints a line about each program that still runs. */
static void tell_running(const struct running *g, const char *what)
{
    struct live_exec_info info;

    for (uint32_t i = 0; program_at(g, i, &info); i++) {
        if (!info.runs)
            continue;
        fprintf(stderr, "rdmalab: %s %s\n", SHOWN_NAME(info.name), what);
        if (info.awaited)
            fprintf(
                stderr,
                "  its last call is rdma_destroy_id(), which waits until rdma_ack_cm_event() has "
                "acknowledged each event of the ID: %" PRIu32 "\n",
                info.awaited);
        if (info.overflow[0])
            fprintf(stderr, "  its %s\n", SHOWN_NAME(info.overflow));
    }
}

/* A program that failed before any waited for a connection may be a client without its server. */
static void tell_order(const struct running *g, uint32_t failed)
{
    if (g->listened || failed < g->n_before || failed + 1 - g->n_before >= (uint32_t)g->r->n_parts)
        return;
    fputs("  programs start in the order given: if it connects to another one, put that first\n",
          stderr);
}

/* --- Running ---------------------------------------------------------------------------------- */

static bool run_typed(struct running *g, const char *text)
{
    const struct source src = source_typed(text);

    return exec_lines(g->s, &src, false);
}

/* Notes the first failure: the status, and the cause for the end of the others. */
static void note_failure(struct running *g, const char *name, const char *what)
{
    if (!g->cause[0])
        snprintf(g->cause, sizeof(g->cause), "%s %s", name, what);
}

/* Returns the number of programs that have failed, and in *@ret_first the index of the first one.
 */
static uint32_t count_failed(const struct running *g, uint32_t *ret_first)
{
    struct live_exec_info info;
    uint32_t n = 0;

    for (uint32_t i = 0; program_at(g, i, &info); i++) {
        if (!info.failed)
            continue;
        if (n++ == 0)
            *ret_first = i;
    }
    return n;
}

/* A program has failed, or the lab: prints the error in s->diag, and notes it. */
static void note_error(struct running *g)
{
    struct live_exec_info info;
    uint32_t first = 0;
    const uint32_t n = count_failed(g, &first);

    complain(g);
    if (n <= g->n_told) {
        g->status = exit_worse(g->status, session_failure_status(g->s));
        g->over = true;
        note_failure(g, "the lab", "failed");
        return;
    }
    g->n_told = n;
    if (!g->cause[0] && program_at(g, first, &info)) {
        if (info.status < EXIT_SIGNALS)
            tell_order(g, first);
        note_failure(g, info.name, "failed");
    }
}

/* Returns true if the lab or the programs were cut off because the time is over.  In virtual time
 * the lab alone would not notice: it waits for programs that compute.
 */
static bool look_for_alarm(struct running *g)
{
    if (*signals_interrupted() == SIGALRM) {
        signals_clear_interrupted();
        g->timed_out = true;
    }
    return g->timed_out;
}

/* Returns true if the time is over, or the user has pressed ^C.  The flag is read once: the alarm
 * may come at any moment, and is no ^C.
 */
static bool is_stopped(struct running *g)
{
    const int number = *signals_interrupted();

    return number == SIGALRM || number == 0 ? look_for_alarm(g) : true;
}

/* Names the programs that wait for a connection, if all that run do, and the lab has been quiet. */
static void look_for_quiet(struct running *g)
{
    const uint64_t tick = rdl_tick(g->s->lab), now = now_ms();
    struct live_exec_info info;

    if (tick != g->quiet_tick) {
        g->quiet_tick = tick;
        g->quiet_since_ms = now;
    }
    if (g->told_quiet || now - g->quiet_since_ms < QUIET_MS)
        return;
    for (uint32_t i = 0; program_at(g, i, &info); i++) {
        if (info.runs && !live_ops->exec_listens(g->s->outside.live, i))
            return;
    }
    g->told_quiet = true;
    tell_running(g, "waits for a connection; no other program is left to start; ^C ends it");
}

/* Lets the lab run for a moment.  Returns false if nothing more is to be done: ^C, or the time is
 * over.
 */
static bool run_slice(struct running *g)
{
    const uint64_t limit_ms = g->r->timeout_s * 1000u, ran_ms = now_ms() - g->began_ms;
    uint64_t slice_ms = SLICE_MS;
    char line[48];

    if (g->over || is_stopped(g))
        return false;
    if (limit_ms && ran_ms >= limit_ms) {
        g->timed_out = true;
        return false;
    }
    if (limit_ms && limit_ms - ran_ms < slice_ms)
        slice_ms = limit_ms - ran_ms;
    snprintf(line, sizeof(line), "run for=%" PRIu64 "ms", slice_ms);
    if (!run_typed(g, line) && !look_for_alarm(g))
        note_error(g);
    return !is_stopped(g) && !g->over;
}

/* Prints the failures of programs that have ended at the same time. */
static void tell_rest(struct running *g)
{
    uint32_t first;

    while (!g->over && !is_stopped(g) && count_failed(g, &first) > g->n_told &&
           !run_typed(g, "run for=1us"))
        note_error(g);
}

/* After a failure, the others see that in their own time: a lost peer is noticed after the last
 * retry.  Those that do not are stopped.
 */
static void let_others_end(struct running *g)
{
    const uint64_t failed_ms = now_ms();
    char what[CAUSE_BYTES + 64];

    while (any_runs(g) && now_ms() - failed_ms < GRACE_MS && run_slice(g))
        ;
    if (is_stopped(g))
        return;
    if (g->over)
        snprintf(what, sizeof(what), "is stopped by rdmalab, because %s", g->cause);
    else
        snprintf(what, sizeof(what), "is stopped by rdmalab, because %s %u s ago", g->cause,
                 GRACE_MS / 1000u);
    tell_running(g, what);
}

static void wait_for_all(struct running *g)
{
    char what[64];

    while (!g->cause[0] && any_runs(g) && run_slice(g))
        look_for_quiet(g);
    tell_rest(g);
    if (g->cause[0])
        let_others_end(g);
    tell_rest(g);
    snprintf(what, sizeof(what), "still ran after the timeout of %" PRIu64 " s", g->r->timeout_s);
    if (is_stopped(g))
        tell_running(g, g->timed_out ? what : "still ran, and is stopped");
    if (g->timed_out || !is_stopped(g))
        program_cause_print(g->s, stderr, g->timed_out, g->r->events ? g->r->events : "");
}

/* --- Starting --------------------------------------------------------------------------------- */

/* A "--" behind the name of a host of the lab, among the words of a program: a colon was forgotten,
 * perhaps.
 */
static void look_for_colon(const struct running *g, const struct exec_part *p)
{
    for (int i = 2; i < p->n_words; i++) {
        rdl_host host;

        if (strcmp(p->words[i], "--") != 0 ||
            rdl_find_host(g->s->lab, p->words[i - 1], &host) != RDL_OK)
            continue;
        fprintf(stderr,
                "rdmalab: %s %s: \"--\" is passed to the program; did you forget \":\" before "
                "\"%s\"?\n",
                SHOWN_NAME(p->host), SHOWN_NAME(text_behind_slash(p->words[0])),
                SHOWN_NAME(p->words[i - 1]));
    }
}

static char *line_of(const struct exec_part *p)
{
    char *line = NULL;
    size_t bytes;
    FILE *out = must_memstream(&line, &bytes);

    fprintf(out, "exec %s", p->host);
    for (int i = 0; i < p->n_words; i++) {
        fputc(' ', out);
        lex_write_quoted(out, p->words[i]);
    }
    fputs(" &\n", out);
    must_memstream_end(out, &line);
    return line;
}

static uint32_t count_programs(const struct running *g)
{
    struct live_exec_info info;
    uint32_t n = 0;

    while (program_at(g, n, &info))
        n++;
    return n;
}

/* Starts a program, and waits until it is ready.  Returns false if the next one must not start. */
static bool start(struct running *g, const struct exec_part *p)
{
    const uint32_t n = count_programs(g);
    char *line = line_of(p), name[NAME_BYTES];
    const bool ok = run_typed(g, line);
    struct live_exec_info info;

    free(line);
    if (!ok && count_programs(g) == n) {
        complain(g);
        g->status = exit_worse(g->status, session_failure_status(g->s));
        snprintf(name, sizeof(name), "%s %s", p->host, text_behind_slash(p->words[0]));
        note_failure(g, name, "could not be started");
        return false;
    }
    if (!ok && !look_for_alarm(g))
        note_error(g);
    for (uint32_t i = 0; !g->listened && program_at(g, i, &info); i++)
        g->listened = info.runs && live_ops->exec_listens(g->s->outside.live, i);
    return ok && program_at(g, n, &info) && !info.failed;
}

static bool is_late(const struct running *g)
{
    return g->r->timeout_s && now_ms() - g->began_ms >= g->r->timeout_s * 1000u;
}

/* Returns false, and prints an error, if a program is for a host that the lab does not have: then
 * none is started.
 */
static bool hosts_exist(const struct running *g)
{
    const struct scope in = session_scope(g->s);

    for (int i = 0; i < g->r->n_parts; i++) {
        const char *name = g->r->parts[i].host;
        rdl_host host;

        if (rdl_find_host(g->s->lab, name, &host) == RDL_OK)
            continue;
        (void)resolve_unknown(&in, (struct span){0, 0}, name, "no host", &g->s->diag);
        complain(g);
        return false;
    }
    return true;
}

static void start_all(struct running *g)
{
    const struct exec_run *r = g->r;

    for (int i = 0; i < r->n_parts; i++)
        look_for_colon(g, &r->parts[i]);
    g->began_ms = g->quiet_since_ms = now_ms();
    signals_alarm_after(r->timeout_s);
    g->quiet_tick = rdl_tick(g->s->lab);
    g->n_before = count_programs(g);
    for (int i = 0; i < r->n_parts && !is_stopped(g) && !is_late(g); i++) {
        if (!start(g, &r->parts[i]))
            return;
    }
}

/* --- The whole -------------------------------------------------------------------------------- */

static bool make_lab(struct running *g)
{
    const bool ok = g->r->lab ? exec_script(g->s, &g->scenario.script) : run_typed(g, usual_lab);

    if (!ok)
        session_complain(g->s, stderr);
    return ok;
}

static int write_outputs(struct session *s, const struct exec_run *r)
{
    const char *const names[N_OUTPUTS] = {[OUTPUT_LADDER] = r->ladder,
                                          [OUTPUT_PCAPNG] = r->pcap,
                                          [OUTPUT_EVENTS] = r->events,
                                          [OUTPUT_TIMELINE] = r->timeline};
    int status = EXIT_PASSED;

    s->config.out = stdout; /* the programs have ended, or are about to be stopped */
    for (unsigned i = 0; i < N_OUTPUTS; i++) {
        if (names[i] && !scenario_write(s, (enum scenario_output)i, names[i], stderr))
            status = EXIT_FAILED;
    }
    return status;
}

/* Returns the exit status of the programs: that of the first one that failed.  One that was to end
 * with another status than 0 may have failed with 0.
 */
static int status_of_programs(const struct running *g)
{
    struct live_exec_info info;
    uint32_t first = 0;

    if (count_failed(g, &first) == 0 || !program_at(g, first, &info))
        return EXIT_PASSED;
    return info.status ? info.status : EXIT_FAILED;
}

/* After all programs: returns the status of the run. */
static int judge(struct running *g)
{
    const int status = status_of_programs(g);

    if (g->status == EXIT_BROKEN || status == EXIT_PASSED) {
        if (g->status != EXIT_PASSED)
            return g->status;
        if (g->timed_out)
            return EXIT_TIMEOUT;
        g->s->diag.kind = DIAG_NONE;
        if (*signals_interrupted() || unmet_check(g->s))
            return EXIT_PASSED;
        session_complain(g->s, stderr);
        return EXIT_FAILED;
    }
    return status;
}

static int run_programs(struct running *g)
{
    int status = EXIT_FAILED;

    if (make_lab(g) && hosts_exist(g)) {
        start_all(g);
        wait_for_all(g);
        signals_alarm_after(0);
        if (*signals_interrupted() == SIGALRM) /* after the last program had ended */
            signals_clear_interrupted();
        status = judge(g);
    }
    if (g->r->tells_hash)
        printf("hash %016llx\n", (unsigned long long)rdl_hash(g->s->lab));
    return exit_worse(status, write_outputs(g->s, g->r));
}

int exec_run(const struct exec_run *r)
{
    struct running g = {.r = r};
    struct session_config config = {
        .out = stderr, /* the standard output is the programs' */
        .err = stderr,
        .seed = SCENARIO_SEED,
        .seed_given = r->seed_given,
        .interrupted = signals_interrupted(),
        .live_ops = live_ops,
        .programs_direct = true,
        .programs_virtual = r->is_virtual,
        .allowed = r->allowed,
    };
    int status = EXIT_FAILED;
    enum rdl_status st;

    if (r->lab && scenario_load_to_run(&g.scenario, r->lab, stderr) != EXIT_PASSED)
        goto out;
    if (r->lab && scenario_skip(&g.scenario)) {
        fputs("skipped: ", stderr);
        print_line(stderr, scenario_skip(&g.scenario));
        status = EXIT_SKIPPED;
        goto out;
    }
    if (r->seed_given || r->lab)
        config.seed = r->seed_given ? r->seed : scenario_seed(&g.scenario);
    allow_ask(&config);
    st = session_new(&config, &g.s);
    if (st == RDL_OK)
        status = run_programs(&g);
    else
        session_no_lab(stderr, &config, st);
    session_free(g.s);
out:
    scenario_done(&g.scenario);
    return status;
}
