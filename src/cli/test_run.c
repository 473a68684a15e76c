/* SPDX-License-Identifier: MIT */
#include "cli/test_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/signals.h"
#include "emu/base/text.h"
#include "rdmalab/trace.h"

#define PATH_BYTES 1024u

static uint64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

/* Runs the scenario; complaints go to @err. */
static struct session *run_once(const struct test_case *c, FILE *out, FILE *err, int *ret_status)
{
    const struct session_config config = {
        .out = out,
        .err = err,
        .seed = c->seed,
        .seed_given = c->seed_given,
        .interrupted = signals_interrupted(),
        .tested = true,
    };
    struct session *s = NULL;
    const enum rdl_status st = session_new(&config, &s);

    *ret_status = EXIT_PASSED;
    if (st != RDL_OK) {
        session_no_lab(err, st);
        *ret_status = EXIT_FAILED;
        return NULL;
    }
    if (!session_script(s, &c->sc->script)) {
        session_complain(s, err);
        *ret_status = session_exit_status(s);
    }
    return s;
}

/* Says which event is the first that differs between two runs. */
static void tell_difference(FILE *err, struct session *a, struct session *b)
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

/* "DIR/06-rc-write.json.pcapng", with the seed if it was chosen; slashes of the scenario's path
 * become dashes.
 */
static void artifact_name(const struct test_case *c, const char *dir, const char *ending, char *ret)
{
    struct text t = text_on(ret, PATH_BYTES);
    const char *name = c->sc->src.name;
    size_t from;

    text_addf(&t, "%s/", dir);
    from = t.len;
    text_add(&t, name + strspn(name, "./"));
    for (size_t i = from; ret[i]; i++) {
        if (ret[i] == '/')
            ret[i] = '-';
    }
    if (c->seed_given)
        text_addf(&t, ".seed%llu", (unsigned long long)c->seed);
    text_add(&t, ending);
}

static void leave_artifacts(struct session *s, const struct test_case *c, const char *dir,
                            FILE *err)
{
    static const char *const endings[N_OUTPUTS] = {
        [OUTPUT_LADDER] = ".svg", [OUTPUT_PCAPNG] = ".pcapng", [OUTPUT_EVENTS] = ".ndjson"};
    char name[PATH_BYTES];
    FILE *again;

    if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
        fprintf(err, "%s: %s\n", dir, strerror(errno));
        return;
    }
    for (unsigned i = 0; i < N_OUTPUTS; i++) {
        artifact_name(c, dir, endings[i], name);
        (void)scenario_write(s, (enum scenario_output)i, name, err); /* it complains itself */
    }
    artifact_name(c, dir, ".sh", name);
    again = fopen(name, "w");
    if (!again)
        return;
    fprintf(again, "#!/bin/sh\nexec rdmalab run '%s' --seed %llu \"$@\"\n", c->sc->src.name,
            (unsigned long long)c->seed);
    fclose(again);
}

/* Where the complaint is: "FILE:LINE:COL: ..." */
static void find_place(const struct session *s, struct test_result *r)
{
    if (s && r->status != EXIT_PASSED && s->diag_src.name)
        source_place(&s->diag_src, s->diag.at.at, &r->line, &r->col);
}

static void run_case(const struct test_case *c, const struct test_options *o, FILE *out, FILE *err,
                     struct test_result *r)
{
    struct session *s = run_once(c, out, err, &r->status);
    struct session *again = NULL;
    int again_status;

    if (s) {
        r->hash = rdl_hash(s->lab);
        r->ticks = rdl_tick(s->lab);
        r->sim_ns = rdl_now_ns(s->lab);
        r->expected = s->n_expected;
        find_place(s, r);
    }
    if (s && o->twice) {
        again = run_once(c, out, err, &again_status);
        if (again && rdl_hash(again->lab) != r->hash) {
            tell_difference(err, s, again);
            r->status = exit_worse(r->status, EXIT_FAILED);
        }
    }
    if (s && o->artifacts && r->status != EXIT_PASSED)
        leave_artifacts(s, c, o->artifacts, err);
    session_free(s);
    session_free(again);
}

/* In the process of its own. */
static void run_child(const struct test_case *c, const struct test_options *o, int out_pipe)
{
    struct test_result r = {.status = EXIT_FAILED};
    FILE *nothing = fopen("/dev/null", "w");
    FILE *err = fmemopen(r.message, sizeof(r.message), "w");

    signals_replay("rdmalab run %s --seed %llu", c->sc->src.name, (unsigned long long)c->seed);
    if (nothing && err) {
        alarm(o->timeout_s);
        run_case(c, o, nothing, err, &r);
        alarm(0);
    }
    if (err)
        fclose(err);
    if (nothing)
        fclose(nothing);
    r.message[sizeof(r.message) - 1] = '\0';
    /* One piece: a pipe holds more than that. */
    if (write(out_pipe, &r, sizeof(r)) != (ssize_t)sizeof(r))
        _exit(EXIT_FAILED);
    _exit(EXIT_PASSED);
}

bool test_start(const struct test_case *c, const struct test_options *o, struct test_process *ret)
{
    int ends[2];

    if (pipe(ends) != 0)
        return false;
    fflush(NULL);
    ret->started_us = now_us();
    ret->pipe = ends[0];
    ret->pid = fork();
    if (ret->pid == 0) {
        close(ends[0]);
        run_child(c, o, ends[1]);
    }
    close(ends[1]);
    if (ret->pid > 0)
        return true;
    close(ends[0]);
    ret->pid = 0;
    return false;
}

size_t test_wait(const struct test_process *p, size_t n, int *ret_wait_status)
{
    pid_t pid;

    do {
        pid = wait(ret_wait_status);
    } while (pid < 0 && errno == EINTR);
    for (size_t i = 0; i < n; i++) {
        if (p[i].pid == pid)
            return i;
    }
    return n;
}

/* Waits for a process that left no result: how it ended says why. */
static void judge_by_end(const struct test_case *c, int wait_status, struct test_result *r)
{
    struct text t = text_on(r->message, sizeof(r->message));

    text_addf(&t, "%s: ", c->sc->src.name);
    if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGALRM) {
        r->status = EXIT_TIMEOUT;
        text_add(&t, "the wall-clock limit was reached\n");
    } else if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGINT) {
        r->status = EXIT_INTERRUPTED;
        text_add(&t, "interrupted\n");
    } else {
        r->status = EXIT_BROKEN;
        text_addf(&t, "rdmalab itself failed\n  again: rdmalab run %s --seed %llu\n",
                  c->sc->src.name, (unsigned long long)c->seed);
    }
}

void test_collect(struct test_process *p, const struct test_case *c, int wait_status,
                  struct test_result *ret)
{
    size_t have = 0;

    *ret = (struct test_result){.status = EXIT_BROKEN};
    while (have < sizeof(*ret)) {
        const ssize_t n = read(p->pipe, (char *)ret + have, sizeof(*ret) - have);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        have += (size_t)n;
    }
    close(p->pipe);
    if (have < sizeof(*ret)) {
        *ret = (struct test_result){.status = EXIT_BROKEN};
        judge_by_end(c, wait_status, ret);
    }
    ret->wall_us = now_us() - p->started_us;
    p->pid = 0;
}
