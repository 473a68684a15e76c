/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* epoll_pwait2() */ /* NOLINT(bugprone-reserved-identifier): glibc's own name \
                                          */
#include "cli/live/live_exec.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cli/live/exec_client.h"
#include "cli/live/exec_cm.h"
#include "cli/live/exec_directory.h"
#include "cli/live/exec_file.h"
#include "cli/live/exec_hint.h"
#include "cli/live/exec_leash.h"
#include "cli/live/exec_listens.h"
#include "cli/live/exec_maker.h"
#include "cli/live/exec_proc.h"
#include "cli/live/exec_process.h"
#include "cli/live/exec_socket.h"
#include "cli/live/exec_waits.h"
#include "emu/base/assert.h"
#include "emu/base/prng.h"
#include "emu/base/text.h"
#include "print/utf8.h"
#include "process/must.h"
#include "program/library.h"

/* While the lab is busy, descriptors are looked at so often. */
#define LOOK_NS 500000u

#define OUTPUT_NS 1000000000u /* time for the rest of a program's output after its end */
#define POLITE_MS 1000u       /* time after SIGTERM, before SIGKILL */

/* Virtual time: turns with nothing to do, after which programs that wait are told that. */
#define SPIN_NS    2000000u /* virtual time: a program that computes longer may spin */
#define OVER_TURNS 10u

#define NAME_BYTES (RDL_NAME_BYTES + 24u)

struct exec_program {
    struct exec_program *next;
    char name[NAME_BYTES]; /* "h1 ib_write_bw" */
    char host[RDL_NAME_BYTES];
    uint32_t number;
    char command[256];
    char program[128]; /* its first word */
    char place[128];   /* live_exec_config.place; "" */
    struct exec_account account;
    struct exec_process process;
    uint64_t right[(LIVE_STATUS_MAX + 1) / 64]; /* bits: the statuses that are no failure */
    uint64_t ended_ns; /* virtual time: machine's clock when its end was seen; 0: before */
    bool reported;     /* its failure was reported */
    char wrong[64];    /* its failure; "" */
    char hint[4 * EXEC_HINT_BYTES]; /* what is known about it; "" */
};

struct live_exec {
    struct exec_server server;
    struct exec_leash leash;
    struct exec_directory directory;
    struct exec_program *programs;
    uint32_t n_programs; /* so far */
    int *pids;           /* room for the processes of all programs */
    bool computes;       /* virtual time: a program may do something */
    uint64_t turned_ns;  /* virtual time: machine's clock when the lab had a turn */
    uint32_t n_over;     /* virtual time: turns without anything to do */
    bool has_input;      /* a descriptor of a program was ready when the process slept last */
    uint64_t looked_ns;  /* machine's clock when all descriptors were looked at last */
};

#define READY_AT_ONCE 16

/* --- Sleeping --------------------------------------------------------------------------------- */

/* Waits for at most @ns.  Returns as epoll_wait(). */
static int wait_for(int set, struct epoll_event *ret, uint64_t ns)
{
    const struct timespec t = {.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
    int n = ns > 0 ? epoll_pwait2(set, ret, READY_AT_ONCE, &t, NULL) : -1;

    if (ns == 0 || (n < 0 && errno == ENOSYS)) { /* before Linux 5.11 */
        struct pollfd fd = {.fd = set, .events = POLLIN};

        if (ns > 0)
            (void)ppoll(&fd, 1, &t, NULL);
        n = epoll_wait(set, ret, READY_AT_ONCE, 0);
    }
    return n;
}

int live_exec_set(const struct live *l)
{
    return l->exec ? l->exec->server.set : -1;
}

bool live_exec_yields(struct live *l)
{
    return l->exec && exec_yields(&l->exec->server);
}

bool live_exec_sleeps(struct live *l)
{
    return !l->exec || exec_sleeps(&l->exec->server);
}

bool live_exec_awake(struct live *l, uint64_t ns)
{
    struct epoll_event ready[READY_AT_ONCE];
    bool loop = false;
    int n;

    if (!l->exec)
        return false;
    n = wait_for(l->exec->server.set, ready, ns);
    exec_awake(&l->exec->server);
    for (int i = 0; i < n; i++) {
        loop = loop || ready[i].data.u32 == EXEC_READY_LOOP;
        if (ready[i].data.u32 == EXEC_READY_INPUT)
            l->exec->has_input = true;
    }
    return loop;
}

/* --- The session ----------------------------------------------------------------------------- */

static void close_descriptors(struct live_exec *e)
{
    if (e->server.set >= 0)
        close(e->server.set);
    exec_directory_close(&e->directory);
    exec_makers_free(e->server.makers);
    e->server.makers = NULL;
}

static bool open_exec(struct live *l, struct live_error *reterr)
{
    struct live_exec *e;

    if (l->exec)
        return l->exec->leash.fd >= 0 ||
               exec_leash_start(&l->exec->leash, &l->loop, l->exec->directory.path, reterr);
    if (program_library(0).n_bytes == 0) {
        live_error_set(reterr, "exec", "this rdmalab was built without the library for programs",
                       "build it where libibverbs-dev is installed");
        return false;
    }
    e = calloc(1, sizeof(*e));
    if (!e) {
        live_error_set(reterr, "exec", rdl_status_str(RDL_ERR_NOMEM), "");
        return false;
    }
    e->server = (struct exec_server){.lab = l->lab, .out = l->out, .is_virtual = l->is_virtual};
    e->server.makers = exec_makers_new();
    e->server.set = epoll_create1(EPOLL_CLOEXEC);
    if (exec_directory_open(&e->directory, reterr)) {
        if (exec_watch(&e->server, uv_backend_fd(&l->loop), EXEC_READY_LOOP) &&
            exec_watch(&e->server, e->directory.listener, EXEC_READY_INPUT)) {
            l->exec = e;
            return exec_leash_start(&e->leash, &l->loop, e->directory.path, reterr);
        }
        live_error_set(reterr, "exec", strerror(errno),
                       "\"ulimit -n\" tells how many files may be open");
    }
    close_descriptors(e);
    free(e);
    return false;
}

/* --- Programs --------------------------------------------------------------------------------- */

/* The command line as it was typed, for people; the end of a long one is missing. */
static void write_command(const char *const *words, char *ret, size_t cap)
{
    struct text t = text_on(ret, cap);

    for (size_t i = 0; words[i]; i++) {
        text_add(&t, i ? " " : "");
        utf8_add_printable(&t, words[i], false);
    }
}

/* Notes the statuses with which @p may end. */
static void take_statuses(struct exec_program *p, const struct live_exec_config *config)
{
    p->right[0] = config->n_statuses == 0;
    for (size_t i = 0; i < config->n_statuses; i++)
        p->right[config->statuses[i] / 64] |= UINT64_C(1) << config->statuses[i] % 64;
}

/* Returns true if @p has ended with a status that is a failure. */
static bool has_failed(const struct exec_program *p)
{
    const uint64_t status = (uint64_t)p->process.status;

    return p->process.over &&
           (status > LIVE_STATUS_MAX || !(p->right[status / 64] >> status % 64 & 1));
}

/* Returns "NAME=", @ours, and behind it after @separator what the variable is here, if it is; to be
 * freed.
 */
static char *variable(const char *name, const char *ours, const char *separator)
{
    const char *before = getenv(name);
    const bool has = before && *before;
    const size_t n = strlen(name) + strlen(ours) + (has ? strlen(before) : 0) + 4;
    char *ret = must_malloc(n);

    snprintf(ret, n, "%s=%s%s%s", name, ours, has ? separator : "", has ? before : "");
    return ret;
}

/* Starts the process of @p with the environment that leads it to its host.
 *
 * The sanitizer for addresses refuses a program in which another library comes before its own one,
 * as the preloaded library does, unless it is told not to.
 */
static bool launch(struct live_exec *e, struct exec_program *p,
                   const struct live_exec_config *config, struct live_error *reterr)
{
    char path[PATH_MAX + 32], socket[PATH_MAX + 64], host[RDL_NAME_BYTES + 32], seed[64];
    char *env[7] = {variable("LD_LIBRARY_PATH", e->directory.path, ":"), NULL,
                    variable("ASAN_OPTIONS", "verify_asan_link_order=0", ":")};
    const unsigned n_freed = 3;
    struct prng draws = prng_stream(config->seed, p->number);
    bool started;

    /* A path with a space cannot stand there: without a path, LD_LIBRARY_PATH leads to it. */
    snprintf(path, sizeof(path), "%s/" PROGRAM_PRELOADED, e->directory.path);
    env[1] = variable("LD_PRELOAD", strchr(path, ' ') ? PROGRAM_PRELOADED : path, ":");
    snprintf(socket, sizeof(socket), PROGRAM_ENV_SOCKET "=%s/socket", e->directory.path);
    snprintf(host, sizeof(host), PROGRAM_ENV_HOST "=%s", p->host);
    /* Of the same length in each run: it is on the stack of the program. */
    snprintf(seed, sizeof(seed), PROGRAM_ENV_SEED "=%010d %016" PRIx64, (int)getpid(),
             prng_next(&draws));
    env[3] = socket;
    env[4] = host;
    env[5] = p->process.alike ? seed : NULL;
    started = exec_process_start(&p->process, config->words, (const char *const *)env, reterr);
    for (unsigned i = 0; i < n_freed; i++)
        free(env[i]);
    return started;
}

/* Says so if the program does not use our library, and thus sees no device. */
static void warn_of_library(const struct live *l, const struct exec_program *p, const char *program)
{
    const char *warning = exec_file_warning(program);

    if (warning)
        fprintf(l->out, "%s: %s\n", p->name, warning);
}

bool live_exec_start(struct live *l, const struct live_exec_config *config, uint32_t *ret_number,
                     struct live_error *reterr)
{
    struct exec_program *p, **last;

    if (!open_exec(l, reterr) || !exec_directory_tell_hosts(&l->exec->directory, l->lab, reterr))
        return false;
    l->exec->computes = true;
    l->exec->n_over = 0;
    p = calloc(1, sizeof(*p));
    if (!p) {
        live_error_set(reterr, "exec", rdl_status_str(RDL_ERR_NOMEM), "");
        return false;
    }
    p->number = l->exec->n_programs + 1;
    snprintf(p->host, sizeof(p->host), "%s", config->host_name);
    write_command(config->words, p->command, sizeof(p->command));
    snprintf(p->program, sizeof(p->program), "%s", SHOWN_NAME(config->words[0]));
    snprintf(p->place, sizeof(p->place), "%s", config->place);
    snprintf(p->name, sizeof(p->name), "%s %s", p->host,
             SHOWN_NAME(text_behind_slash(config->words[0])));
    p->process = (struct exec_process){.loop = &l->loop, .out = l->out, .name = p->name};
    p->process.direct = config->direct;
    p->process.alike = l->is_virtual;
    take_statuses(p, config);
    if (!launch(l->exec, p, config, reterr)) {
        free(p);
        return false;
    }
    warn_of_library(l, p, config->words[0]);
    l->exec->n_programs++;
    l->exec->pids = must_realloc(l->exec->pids, l->exec->n_programs * sizeof(*l->exec->pids));
    for (last = &l->exec->programs; *last; last = &(*last)->next)
        ;
    *last = p;
    *ret_number = p->number;
    live_attach(l);
    return true;
}

/* Returns the program that is process @pid, or has started it; NULL if none is. */
static struct exec_program *program_of(const struct live_exec *e, int pid)
{
    for (unsigned depth = 0; pid > 1 && depth < EXEC_PROC_DEPTH; depth++) {
        for (struct exec_program *p = e->programs; p; p = p->next) {
            if (!p->process.exited && p->process.process.pid == pid)
                return p;
        }
        pid = exec_proc_parent(pid);
    }
    return NULL;
}

bool live_exec_serve(struct live *l)
{
    struct live_exec *e = l->exec;
    bool any = false;
    int fd, pid;

    if (!e)
        return false;
    e->server.looks = e->has_input || l->machine_ns - e->looked_ns > LOOK_NS;
    e->has_input = false;
    if (!e->server.looks)
        return exec_serve(&e->server);
    e->looked_ns = l->machine_ns;
    while ((fd = exec_accept(e->directory.listener, &pid)) >= 0) {
        struct exec_program *p = program_of(e, pid);

        if (exec_watch(&e->server, fd, EXEC_READY_INPUT))
            exec_client_add(&e->server, fd, pid, p ? p->number : 0, p ? &p->account : NULL);
        else
            close(fd);
        any = true;
    }
    return exec_serve(&e->server) || any;
}

static bool all_wait(const struct live_exec *e)
{
    size_t n = 0;

    for (const struct exec_program *p = e->programs; p; p = p->next) {
        if (!p->process.exited)
            e->pids[n++] = p->process.process.pid;
    }
    return exec_all_wait(e->pids, n);
}

/* Returns how often ends and output of programs were noticed. */
static uint64_t heard(const struct live_exec *e)
{
    uint64_t n = 0;

    for (const struct exec_program *p = e->programs; p; p = p->next)
        n += p->process.n_heard;
    return n;
}

/* Returns true if an end or output of a program is still to be noticed.  Output that comes long
 * after the end is of a process that has left the program, and is not waited for.
 */
static bool is_to_be_heard(struct live *l)
{
    for (struct exec_program *p = l->exec->programs; p; p = p->next) {
        if (exec_process_ends(&p->process))
            return true;
        if (!p->process.exited || p->process.over)
            continue;
        if (p->ended_ns == 0)
            p->ended_ns = l->machine_ns;
        if (l->machine_ns - p->ended_ns < OUTPUT_NS)
            return true;
    }
    return false;
}

/* Virtual time: ends and output of programs are noticed only when all programs wait, so that it is
 * always at the same time of the lab.  A program may wait because nobody has read its output.
 * Returns false if there was something.
 */
static bool has_heard_all(struct live *l)
{
    const uint64_t before = heard(l->exec);

    uv_run(&l->loop, UV_RUN_NOWAIT);
    return heard(l->exec) == before && !is_to_be_heard(l);
}

/* All wait, or some have not waited for a while that another thread of theirs may wait for. */
static bool may_turn(struct live *l)
{
    struct live_exec *e = l->exec;

    if (!e->computes || (all_wait(e) && has_heard_all(l))) {
        e->turned_ns = l->machine_ns;
        return true;
    }
    if (l->machine_ns - e->turned_ns < SPIN_NS || !exec_release_spinners(&e->server))
        return false;
    e->turned_ns = l->machine_ns;
    return true;
}

uint64_t live_exec_turn(struct live *l)
{
    struct live_exec *e = l->exec;
    uint64_t next;
    bool any;

    l->turned = false;
    if (!may_turn(l))
        return 0;
    e->computes = false;
    e->has_input = true;
    any = live_exec_serve(l);
    next = rdl_next_ns(l->lab);
    e->n_over = any || next != RDL_NEVER ? 0 : e->n_over + 1;
    if (e->n_over > OVER_TURNS)
        any = exec_tell_over(&e->server);
    l->turned = any || next != RDL_NEVER;
    e->computes = any || next == RDL_NEVER;
    return any || (e->n_over > 0 && e->n_over <= OVER_TURNS) ? 0 : next;
}

/* --- Reports ---------------------------------------------------------------------------------- */

bool live_exec_runs(const struct live *l)
{
    if (!l->exec)
        return false;
    for (const struct exec_program *p = l->exec->programs; p; p = p->next) {
        if (!p->process.over)
            return true;
    }
    return exec_is_used(&l->exec->server);
}

/* Returns the name of a signal that often ends programs, without "SIG"; NULL for another one. */
static const char *signal_name(int number)
{
#define NAMED(x)                                                                                   \
    {                                                                                              \
        SIG##x, #x                                                                                 \
    }
    static const struct {
        int number;
        const char *name;
    } names[] = {NAMED(SEGV), NAMED(ABRT), NAMED(BUS), NAMED(FPE),  NAMED(ILL),  NAMED(KILL),
                 NAMED(TERM), NAMED(INT),  NAMED(HUP), NAMED(QUIT), NAMED(PIPE), NAMED(ALRM)};
#undef NAMED

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (names[i].number == number)
            return names[i].name;
    }
    return NULL;
}

/* Sets p->wrong to a phrase about the end of @p, which has failed. */
static void describe_failure(struct exec_program *p)
{
    const char *signal = signal_name(p->process.signal);
    struct text t = text_on(p->wrong, sizeof(p->wrong));

    if (!p->process.signal)
        text_addf(&t, "ended with status %d%s", (int)p->process.status,
                  p->right[0] == 1 ? "" : ", which status= does not list");
    else
        text_addf(&t, "was ended by signal %d", p->process.signal);
    if (signal)
        text_addf(&t, " (SIG%s)", signal);
}

/* Sets p->hint.  Connections of @p may not have noticed its end yet. */
static void find_hint(struct live_exec *e, struct exec_program *p)
{
    struct text t = text_on(p->hint, sizeof(p->hint));

    for (const struct exec_client *c = e->server.clients; c; c = c->next) {
        if (c->rank == p->number)
            exec_hint_ids(c);
    }
    exec_hint_add(&t, &p->account, p->process.signal);
}

bool live_exec_failed(struct live *l, struct live_error *reterr)
{
    struct text remedy;

    for (struct exec_program *p = l->exec ? l->exec->programs : NULL; p; p = p->next) {
        if (!has_failed(p) || p->reported)
            continue;
        p->reported = true;
        describe_failure(p);
        snprintf(reterr->message, sizeof(reterr->message), "%s %s", p->name, p->wrong);
        remedy = text_on(reterr->remedy, sizeof(reterr->remedy));
        reterr->place = p->place;
        find_hint(l->exec, p);
        reterr->hint = p->hint;
        text_add(&remedy, p->hint);
        if (!p->process.direct)
            text_addf(&remedy, "%s\"exec %s status=%d ...\" expects this status",
                      remedy.len ? "; " : "", p->host, (int)p->process.status);
        return true;
    }
    return false;
}

static const struct exec_program *find_at(const struct live *l, uint32_t i)
{
    const struct exec_program *p = l->exec ? l->exec->programs : NULL;

    while (p && i-- > 0)
        p = p->next;
    return p;
}

bool live_exec_at(const struct live *l, uint32_t i, struct live_exec_info *ret)
{
    const struct exec_program *p = find_at(l, i);

    if (!p)
        return false;
    *ret = (struct live_exec_info){
        .host = p->host,
        .command = p->command,
        .name = p->name,
        .number = p->number,
        .pid = p->process.exited ? 0 : p->process.process.pid,
        .runs = !p->process.over,
        .failed = has_failed(p),
        .status = (int)p->process.status,
        .usage = p->account.usage,
        .hint = p->hint,
        .overflow = p->account.overflow,
    };
    if (ret->runs && exec_waits_for_itself(p->process.process.pid))
        ret->awaited = exec_cm_awaited(&l->exec->server, p->number);
    exec_count_objects(&l->exec->server, p->number, &ret->usage);
    return true;
}

bool live_exec_qp_at(const struct live *l, uint32_t i, uint32_t k, struct live_qp *ret,
                     struct live_maker *ret_maker)
{
    const struct exec_program *p = find_at(l, i);

    return p && exec_maker_qp_at(&l->exec->server, &p->account, k, ret, ret_maker);
}

bool live_exec_mr_of(const struct live *l, uint32_t i, uint32_t key, uint64_t before,
                     struct live_maker *ret_maker)
{
    const struct exec_program *p = find_at(l, i);

    return p && exec_maker_mr_of(&l->exec->server, &p->account, key, before, ret_maker);
}

bool live_exec_maker(const struct live *l, uint32_t kind, uint64_t raw, struct live_maker *ret)
{
    uint32_t number;

    if (!l->exec || !exec_maker_find(&l->exec->server, exec_kind_of(kind), raw, ret, &number))
        return false;
    ret->number = number;
    ret->program = "";
    for (const struct exec_program *p = l->exec->programs; p; p = p->next) {
        if (p->number != number)
            continue;
        ret->program = p->program;
        if (p->process.process.pid == ret->pid)
            ret->pid = 0;
    }
    return true;
}

bool live_exec_kill(struct live *l, uint32_t number, int signal)
{
    struct exec_program *p = l->exec ? l->exec->programs : NULL;

    while (p && p->number != number)
        p = p->next;
    if (!p || p->process.exited)
        return false;
    exec_process_kill(&p->process, signal);
    return true;
}

/* Returns true if @p has a TCP socket or an ID of rdma_cm that listens. */
static bool listens(const struct live *l, const struct exec_program *p)
{
    return exec_cm_listens(&l->exec->server, p->number) || exec_listens(p->process.process.pid);
}

bool live_exec_listens(const struct live *l, uint32_t i)
{
    const struct exec_program *p = find_at(l, i);

    return p && !p->process.exited && listens(l, p);
}

bool live_exec_is_ready(const struct live *l)
{
    const struct exec_program *p = l->exec ? l->exec->programs : NULL;

    while (p && p->next)
        p = p->next;
    if (l->is_virtual)
        return !p || p->process.exited || l->exec->n_over > 0;
    return !p || p->process.exited || listens(l, p);
}

bool live_exec_program_at(const struct live *l, uint32_t i, struct live_program_info *ret)
{
    const struct exec_program *p = find_at(l, i);

    if (!p)
        return false;
    *ret = (struct live_program_info){
        .name = p->name + strlen(p->host) + 1,
        .outside = true,
        .number = p->number,
        .done = p->process.over && !has_failed(p),
        .failed = has_failed(p),
        .status = p->process.over ? (int)p->process.status : -1,
        .error = p->wrong,
    };
    snprintf(ret->host, sizeof(ret->host), "%s", p->host);
    if (!p->process.over)
        snprintf(ret->state, sizeof(ret->state), "runs as process %d", p->process.process.pid);
    else
        snprintf(ret->state, sizeof(ret->state), "%s", ret->done ? "has ended" : "has failed");
    return true;
}

/* All programs have the same time to end by themselves. */
void live_exec_stop(struct live *l)
{
    struct exec_program *first = l->exec ? l->exec->programs : NULL;
    unsigned left_ms = POLITE_MS;

    for (struct exec_program *p = first; p; p = p->next)
        exec_process_kill(&p->process, SIGTERM);
    for (struct exec_program *p = first; p; p = p->next)
        left_ms = exec_process_wait(&p->process, left_ms);
    for (struct exec_program *p = first; p; p = p->next)
        exec_process_stop(&p->process);
    if (l->exec)
        exec_leash_end(&l->exec->leash);
}

void live_exec_free(struct live *l)
{
    struct live_exec *e = l->exec;

    if (!e)
        return;
    exec_server_done(&e->server);
    while (e->programs) {
        struct exec_program *p = e->programs;

        e->programs = p->next;
        free(p->account.qps);
        free(p->account.mrs);
        free(p);
    }
    close_descriptors(e);
    free(e->pids);
    free(e);
    l->exec = NULL;
}
