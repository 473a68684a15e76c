/* SPDX-License-Identifier: MIT */
#include "cli/app/test_run.h"
#include "cli/app/allow.h"
#include "cli/app/printed.h"
#include "cli/cmd/program_cause.h"
#include "cli/exec/exec.h"
#include "cli/exec/scenario_write.h"
#include "cli/live/live.h"
#include "cli/session/unmet.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "emu/base/text.h"
#include "emu/trace/render.h"
#include "print/answer.h"
#include "print/shell.h"
#include "print/utf8.h"
#include "process/out_file.h"
#include "process/own_path.h"
#include "process/signals.h"
#include "rdmalab/trace.h"

#define PATIENCE_US 2000000u /* that a process has to end after SIGTERM */

uint64_t test_now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

/* The coverage of a run, and its lab. */
struct covering {
    struct coverage *covered;
    const struct rdl_lab *lab;
};

static void cover_event(void *ctx, const struct ev *e)
{
    const struct covering *c = ctx;

    coverage_event(c->covered, c->lab, e);
}

static enum rdl_status cover_lab(void *ctx, struct rdl_lab *lab)
{
    struct covering *c = ctx;
    struct rdl_listener *listener;

    c->lab = lab;
    return rdl_listen(lab, cover_event, c, &listener);
}

static void cover_refused(void *ctx, uint32_t rule)
{
    const struct covering *c = ctx;

    coverage_refused(c->covered, rule);
}

/* Returns the observer of the first run of a case. */
static struct session_observer observer_of(const struct test_case *c, const struct test_options *o,
                                           struct covering *covering)
{
    if (c->witness)
        return c->witness->observer;
    if (o->coverage)
        return (struct session_observer){
            .opened = cover_lab, .refused = cover_refused, .ctx = covering};
    return (struct session_observer){0};
}

bool test_writes_anywhere(const struct test_options *o)
{
    return (o->allowed & PERMIT_BIT(FILES)) != 0;
}

/* Returns the time of the machine's clock at which programs must have ended.  It is before the time
 * at which the runner kills the process, so that there is a result that names them.
 */
static uint64_t until_ms(const struct test_options *o)
{
    const uint64_t limit_ms = o->timeout_s * 1000u;

    if (!limit_ms)
        return 0;
    return test_now_us() / 1000u + limit_ms - (limit_ms / 4 < 3000u ? limit_ms / 4 : 3000u);
}

/* Streams of a run: what commands and programs print, errors, and what nobody reads. */
struct streams {
    FILE *out, *err, *nothing;
};

/* Runs a check of an exercise.  Like a scenario it ends with all faults met. */
static bool run_check(struct session *s, const struct test_case *c)
{
    if (!exec_file(s, &c->file->sc.src))
        return false;
    s->diag.kind = DIAG_NONE;
    return s->config.expectations_ignored || unmet_check(s);
}

/* Runs the scenario.  It may write files below @below; NULL: anywhere. */
static struct session *run_once(const struct test_case *c, const struct test_options *o,
                                const char *below, struct streams to,
                                struct session_observer observer, int *ret_status)
{
    const struct session_config config = {
        .out = to.out,
        .err = to.err,
        .seed = c->seed,
        .seed_given = c->seed_given,
        .live_ops = live_ops,
        .programs_virtual = true,
        .programs_until_ms = until_ms(o),
        .tested = true,
        .observer = observer,
        .devices = o->devices,
        .files_below = below,
        .allowed = o->allowed,
        .expectations_ignored = c->witness && c->witness->expectations_ignored,
        .answer = c->answer,
    };
    struct session *s = NULL;
    const enum rdl_status st = session_new(&config, &s);

    *ret_status = EXIT_PASSED;
    if (st != RDL_OK) {
        session_no_lab(to.err, &config, st);
        *ret_status = EXIT_FAILED;
        return NULL;
    }
    if (!(c->answer ? run_check(s, c) : exec_scenario(s, &c->file->sc.script))) {
        session_complain(s, to.err);
        *ret_status = session_failure_status(s);
        program_cause_print(s, to.err, session_programs_late(s), NULL);
    }
    return s;
}

/* Prints the first event that differs between two runs. */
static void print_difference(FILE *err, struct session *a, struct session *b)
{
    const size_t n = rdl_record_count(a->lab), m = rdl_record_count(b->lab);
    char x[EV_TEXT_BYTES] = "nothing", y[EV_TEXT_BYTES] = "nothing";

    for (size_t i = 0; i < n || i < m; i++) {
        struct text t = text_on(x, sizeof(x));

        if (i < n)
            ev_add_line(&t, rdl_record_at(a->lab, i), rdl_names(a->lab));
        t = text_on(y, sizeof(y));
        if (i < m)
            ev_add_line(&t, rdl_record_at(b->lab, i), rdl_names(b->lab));
        if (i >= n || i >= m || strcmp(x, y) != 0)
            break;
    }
    fprintf(err, "two runs with the same seed differ\n  first:  %s\n  second: %s\n", x, y);
}

/* The directory of a case: "DIR/01-first-send.json", with the seed if it was given. */
static void case_directory(const struct test_case *c, const char *dir, char ret[PATH_MAX])
{
    struct text t = text_on(ret, PATH_MAX);

    text_addf(&t, "%s/%s", dir, c->file->left);
    if (c->seed_given)
        text_addf(&t, ".seed%llu", (unsigned long long)c->seed);
    if (c->fault) {
        const size_t n = strcspn(c->fault, ":");

        text_addf(&t, ".%.*s-%s", (int)n, c->fault, c->fault + n + (c->fault[n] == ':'));
    } else if (c->number) {
        text_addf(&t, ".%u", c->number);
    }
}

/* Returns true if scenarios may start programs. */
static bool may_start(const struct test_options *o)
{
    return (o->allowed & PERMIT_BIT(PROGRAMS)) != 0;
}

void test_add_open(struct text *t, const struct test_case *c, const struct test_options *o)
{
    if (!source_is_file(&c->file->sc.src))
        return;
    text_add(t, "rdmalab open");
    shell_add_file(t, c->file->name);
    shell_add_number(t, "--seed", c->seed);
    shell_add_option(t, "--fault", c->fault);
    shell_add_option(t, "--device", o->device);
    shell_add_option(t, "--extensions", o->extensions);
    shell_add_option(t, "--guests", o->guests);
    text_add(t, may_start(o) ? " --virtual" : "");
    allow_add_set(t, o->allowed & ~PERMIT_BIT(PORTS));
}

void test_add_again(struct text *t, const struct test_case *c, const struct test_options *o)
{
    if (!source_is_file(&c->file->sc.src))
        return;
    text_add(t, "rdmalab test");
    shell_add_file(t, c->file->name);
    shell_add_number(t, "--seed", c->seed);
    shell_add_option(t, "--fault", c->fault);
    shell_add_option(t, "--device", o->device);
    shell_add_option(t, "--extensions", o->extensions);
    shell_add_option(t, "--guests", o->guests);
    text_add(t, o->twice ? " --twice" : "");
    text_add(t, o->strict ? " --strict" : "");
    allow_add_set(t, o->allowed & ~PERMIT_BIT(PORTS)); /* no test has ports */
    if (o->timeout_given)
        shell_add_number(t, "--timeout", o->timeout_s);
}

/* Creates the file @name in @directory.  Returns false, and prints the reason, if that fails. */
static bool create(struct out_file *o, const char *directory, const char *name, FILE *err)
{
    const struct out_file_place place = {.below = directory, .makes = true, .replaces = true};
    const char *why = out_file_open_below(o, name, &place);

    if (why)
        fprintf(err, "%s/%s: %s\n", directory, name, why);
    return why == NULL;
}

static bool finish(struct out_file *o, const char *directory, const char *name, FILE *err)
{
    const char *why = out_file_close(o);

    if (why)
        fprintf(err, "%s/%s: %s\n", directory, name, why);
    return why == NULL;
}

/* Appends the command that goes to the directory in which the line of test_add_again() works, if
 * that is still there.  Appends nothing if its name does not fit.
 */
static void add_directory(struct text *t)
{
    char here[PATH_MAX];

    if (!getcwd(here, sizeof(here)))
        return;
    text_add(t, "cd --");
    shell_add(t, here);
    text_add(t, " 2>/dev/null || echo \"$0: it runs in the directory $PWD\" >&2\n");
}

/* Appends a line of sh that takes this program if there is none on the PATH. */
static void add_program(struct text *t)
{
    char path[PATH_MAX];

    if (!own_path(path, sizeof(path)))
        return;
    text_add(t, "command -v rdmalab >/dev/null || rdmalab() {");
    shell_add(t, path);
    text_add(t, " \"$@\"; }\n");
}

/* Writes a shell script that repeats the case, from any directory. */
static bool leave_command(const struct test_case *c, const struct test_options *how,
                          const char *directory, FILE *err)
{
    static const char name[] = "again.sh";
    char line[SHELL_LINE_BYTES];
    char place[SHELL_LINE_BYTES];
    struct text t = text_on(line, sizeof(line)), p = text_on(place, sizeof(place));
    struct out_file o;

    add_directory(&p);
    add_program(&p);
    test_add_again(&t, c, how);
    if (!create(&o, directory, name, err))
        return false;
    fprintf(o.f, "#!/bin/sh\n%s%s \"$@\"\n", p.cut ? "" : place, line);
    return finish(&o, directory, name, err);
}

/* Writes @message, why the case failed. */
static void leave_message(const char *message, const char *directory, FILE *err)
{
    static const char name[] = "failed.txt";
    struct out_file o;

    if (!create(&o, directory, name, err))
        return;
    fputs(message, o.f);
    (void)finish(&o, directory, name, err);
}

/* Writes what the programs printed, pictures and captures. */
static void leave_artifacts(struct session *s, const struct test_options *o, const char *directory,
                            struct streams to, const struct test_result *r)
{
    static const char *const names[N_OUTPUTS] = {[OUTPUT_LADDER] = "failed.svg",
                                                 [OUTPUT_PCAPNG] = "failed.pcapng",
                                                 [OUTPUT_EVENTS] = "failed.ndjson",
                                                 [OUTPUT_TIMELINE] = "failed.html"};

    const char *why = s->diag.message[0] ? s->diag.message : r->seen;
    char failure[DIAG_MESSAGE_BYTES + 16];
    struct text said = text_on(failure, sizeof(failure));

    text_add(&said, "FAILED: ");
    utf8_add_printable(&said, why, false);
    s->failure = why[0] ? failure : NULL; /* pictures tell it */

    if (may_start(o))
        printed_keep(to.out, directory, to.err);
    for (unsigned i = 0; i < N_OUTPUTS; i++) {
        char path[PATH_MAX];
        struct text t = text_on(path, sizeof(path));

        if (!s->config.files_below)
            text_addf(&t, "%s/", directory);
        text_add(&t, names[i]);
        (void)scenario_write(s, (enum scenario_output)i, path, to.err); /* prints errors itself */
    }
    s->failure = NULL;
}

/* Sets the position of the error: "FILE:LINE:COL: ...". */
static void find_place(const struct session *s, struct test_result *r)
{
    if (s && r->status != EXIT_PASSED && s->diag_src.name)
        source_place(&s->diag_src, s->diag.at.at, &r->line, &r->col);
}

/* Returns the directory to which the case may write; NULL: anywhere. */
static const char *below_which(const struct test_case *c, const struct test_options *o,
                               char directory[PATH_MAX])
{
    if (o->artifacts || o->scratch)
        case_directory(c, o->artifacts ? o->artifacts : o->scratch, directory);
    return test_writes_anywhere(o) ? NULL : directory;
}

struct session *test_run_here(const struct test_case *c, const struct test_options *o, FILE *out,
                              FILE *err, int *ret_status)
{
    char directory[PATH_MAX];

    return run_once(c, o, below_which(c, o, directory), (struct streams){.out = out, .err = err},
                    observer_of(c, o, NULL), ret_status);
}

static void add_line(void *ctx, const char *margin, const char *s, size_t bytes)
{
    text_addf(ctx, "%s%.*s\n", margin, (int)bytes, s);
}

void test_tell_seen(struct test_result *r)
{
    struct text t = text_on(r->message, sizeof(r->message));

    text_addf(&t, "%s\n", r->seen);
    answer_lines(NULL, r->why, add_line, &t);
}

/* Leaves the artifacts of a failed case.  The report comes first: the process may be killed while
 * it writes the others, which are large.
 */
static void leave_all(struct session *s, const struct test_case *c, const struct test_options *o,
                      const char *directory, struct streams to, const struct test_result *r)
{
    struct test_result told;

    if (*signals_interrupted())
        return;
    if (leave_command(c, o, directory, to.err)) { /* creates the directory */
        fflush(to.err);                           /* to r->message */
        told = *r;
        if (r->status == EXIT_PASSED)
            test_tell_seen(&told);
        leave_message(told.message, directory, to.err);
    }
    leave_artifacts(s, o, directory, to, r);
}

/* Keeps the result @r for the runner in case that this process is killed before it sends it. */
static void keep_early(struct test_early *early, FILE *err, const struct test_result *r)
{
    if (!early)
        return;
    fflush(err); /* to r->message */
    early->r = *r;
    early->r.message[sizeof(r->message) - 1] = '\0';
    early->is_set = true;
}

/* Runs the case.  Its second run prints to @to.nothing. */
static void run_case(const struct test_case *c, const struct test_options *o, struct streams to,
                     struct test_result *r, struct test_early *early)
{
    char directory[PATH_MAX];
    const char *const below = below_which(c, o, directory);
    struct covering covering = {.covered = &r->covered};
    struct session *s, *again = NULL;
    int again_status;

    s = run_once(c, o, below, to, observer_of(c, o, &covering), &r->status);
    if (s && c->witness && c->witness->ended)
        c->witness->ended(c->witness->observer.ctx, s, r);
    if (s) {
        r->ran = true;
        r->hash = rdl_hash(s->lab);
        r->ticks = rdl_tick(s->lab);
        r->sim_ns = rdl_now_ns(s->lab);
        r->expected = s->run.n_expectations;
        r->expects = s->run.n_expectations + s->run.n_waits > 0;
        r->answer_unread = s->run.answer_unread;
        find_place(s, r);
    }
    if (s && o->strict && r->status == EXIT_PASSED && !r->expects) {
        fprintf(to.err,
                "%s: nothing was expected\n  an \"expect\", \"until\" or \"refused\" says "
                "what must come out\n",
                SHOWN_NAME(c->file->name));
        r->status = EXIT_FAILED;
    }
    if (s && o->twice) {
        /* Print the error of a failed case only once. */
        const struct streams second = {.out = to.nothing,
                                       .err = r->status == EXIT_PASSED ? to.err : to.nothing};

        again = run_once(c, o, below, second, (struct session_observer){0}, &again_status);
        if (again && rdl_hash(again->lab) != r->hash) {
            print_difference(to.err, s, again);
            r->status = exit_worse(r->status, EXIT_FAILED);
        }
        r->status = exit_worse(r->status, again_status); /* also if there was no second run */
    }
    if (s && may_start(o) && r->status != EXIT_PASSED)
        printed_tell(to.out, to.err);
    if (s && o->artifacts && (r->status != EXIT_PASSED || r->differs || r->unmet)) {
        keep_early(early, to.err, r);
        leave_all(s, c, o, directory, to, r);
    }
    session_free(s);
    session_free(again);
}

/* Runs in the process of the case. */
static void run_child(const struct test_case *c, const struct test_options *o,
                      struct test_early *early, int out_pipe)
{
    struct test_result r = {.status = EXIT_FAILED};
    FILE *nothing = fopen("/dev/null", "w");
    FILE *out = may_start(o) ? tmpfile() : nothing;
    FILE *err = fmemopen(r.message, sizeof(r.message), "w");
    char line[SHELL_LINE_BYTES];
    struct text again = text_on(line, sizeof(line));

    test_add_again(&again, c, o);
    signals_replay("%s", line);
    if (nothing && out && err)
        run_case(c, o, (struct streams){out, err, nothing}, &r, early);
    else
        fprintf(stderr, "rdmalab: %s: %s\n", nothing ? "message" : "/dev/null", strerror(errno));
    if (err)
        fclose(err);
    if (out && out != nothing)
        fclose(out);
    if (nothing)
        fclose(nothing);
    r.message[sizeof(r.message) - 1] = '\0';
    /* A single write: a pipe holds more than that. */
    if (write(out_pipe, &r, sizeof(r)) != (ssize_t)sizeof(r))
        _exit(EXIT_FAILED);
    _exit(EXIT_PASSED);
}

/* Makes the child process end with the runner, which is the process @runner. */
static void end_with(pid_t runner)
{
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    if (getppid() != runner)
        _exit(EXIT_FAILED); /* the runner died before prctl() */
}

/* Returns memory for an early result if there will be artifacts; NULL: none, also on failure. */
static struct test_early *share_early(const struct test_options *o)
{
    struct test_early *early;

    if (!o->artifacts)
        return NULL;
    early = mmap(NULL, sizeof(*early), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return early == MAP_FAILED ? NULL : early;
}

static void free_early(struct test_process *p)
{
    if (p->early)
        munmap(p->early, sizeof(*p->early));
    p->early = NULL;
}

const char *test_start(struct test_case *c, const struct test_options *o, struct test_process *ret)
{
    const pid_t runner = getpid();
    int ends[2];

    if (pipe(ends) != 0)
        return strerror(errno);
    fflush(NULL);
    *ret = (struct test_process){
        .c = c, .pipe = ends[0], .early = share_early(o), .started_us = test_now_us()};
    ret->pid = signals_fork();
    if (ret->pid == 0) {
        close(ends[0]);
        end_with(runner);
        run_child(c, o, ret->early, ends[1]);
    }
    close(ends[1]);
    if (ret->pid > 0)
        return NULL;
    close(ends[0]);
    free_early(ret);
    ret->pid = 0;
    return strerror(errno);
}

void test_kill(struct test_process *p, int why)
{
    const uint64_t now = test_now_us();

    if (p->killed_for == EXIT_PASSED) {
        p->killed_for = why;
        p->killed_us = now;
        kill(p->pid, SIGTERM); /* it removes its temporary files */
    } else if (now - p->killed_us > PATIENCE_US) {
        kill(p->pid, SIGKILL);
    }
}

static bool is_killed(int wait_status)
{
    return WIFSIGNALED(wait_status) &&
           (WTERMSIG(wait_status) == SIGKILL || WTERMSIG(wait_status) == SIGTERM);
}

/* Sets the result of a process that was killed while it wrote artifacts.  Returns false if it had
 * none yet.
 */
static bool take_early(const struct test_process *p, struct test_result *r)
{
    const char *limit = p->killed_for == EXIT_TIMEOUT ? "the wall-clock limit was reached"
                                                      : "the process was killed";
    struct text t;

    if (!p->early || !p->early->is_set)
        return false;
    *r = p->early->r;
    t = text_on(r->message, sizeof(r->message)); /* empties it */
    text_addf(&t, "%s%s: %s before all artifacts were written\n", p->early->r.message,
              SHOWN_NAME(p->c->file->name), limit);
    r->status = exit_worse(r->status, p->killed_for);
    return true;
}

/* Sets the result of a process that sent none, from the way it ended. */
static void judge_by_end(const struct test_process *p, int wait_status, struct test_result *r)
{
    struct text t = text_on(r->message, sizeof(r->message));
    const char *name = p->c->file->name;

    r->status = p->killed_for ? p->killed_for : EXIT_FAILED;
    text_addf(&t, "%s: ", name);
    if (p->killed_for == EXIT_TIMEOUT) {
        text_add(&t, "the wall-clock limit was reached; --timeout N gives it N seconds\n");
    } else if (p->killed_for) {
        text_add(&t, "it was still running when the test was interrupted\n");
    } else if (is_killed(wait_status)) {
        text_add(&t, "its process was killed, by somebody else or because memory ran out\n");
    } else if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == EXIT_FAILED) {
        text_add(&t, "its process gave up without a result; its last words are on the standard "
                     "error\n");
    } else {
        r->status = EXIT_BROKEN;
        text_add(&t, "rdmalab itself failed\n");
    }
}

void test_collect(struct test_process *p)
{
    struct test_result *r = &p->c->result;
    size_t have = 0;
    int wait_status = 0;

    while (have < sizeof(*r)) {
        const ssize_t n = read(p->pipe, (char *)r + have, sizeof(*r) - have);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        have += (size_t)n;
    }
    close(p->pipe);
    while (waitpid(p->pid, &wait_status, 0) < 0 && errno == EINTR)
        ;
    if (have < sizeof(*r)) {
        *r = (struct test_result){.status = EXIT_BROKEN};
        if (!is_killed(wait_status) || !take_early(p, r))
            judge_by_end(p, wait_status, r);
    }
    free_early(p);
    r->wall_us = test_now_us() - p->started_us;
    p->c->ended = true;
    p->pid = 0;
}
