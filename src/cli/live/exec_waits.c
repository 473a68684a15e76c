/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* SYS_* */ /* NOLINT(bugprone-reserved-identifier): glibc's own name */
#include "cli/live/exec_waits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "cli/live/exec_proc.h"
#include "cli/live/exec_tcp.h"

/* A look at all processes. */
struct look {
    bool elsewhere;   /* one waits neither for the lab, which the library does in recvmsg(), nor for
                         a process that it has started, nor for another thread */
    uint64_t n_turns; /* times that they have been given a processor */
    /* To be filled with those that do not tell by themselves whether they have delivered all; NULL:
     * sockets are not looked for.
     */
    struct exec_sockets *sockets;
};

/* Adds how often the thread has been given a processor.  [Linux, Documentation/scheduler/
 * sched-stats.rst: /proc/PID/schedstat]
 */
static void add_turns(int dir, struct look *k)
{
    char text[128];
    uint64_t n;

    if (exec_proc_read(dir, "schedstat", text, sizeof(text)) &&
        exec_proc_number(exec_proc_word(text, 2), 10, &n, NULL))
        k->n_turns += n;
}

/* Returns true if @text, a line of /proc/PID/syscall, is a call by which libibverbs waits for the
 * lab: recvmsg(), or ppoll() of one descriptor with a mask of signals and without an end.  A thread
 * may wait for a message of another program in the same way.
 */
static bool awaits_message(const char *text)
{
    const long call = strtol(text, NULL, 10);
    unsigned long long n_fds, timeout, mask;

    if (call != SYS_ppoll)
        return call == SYS_recvmsg;
    return sscanf(text, "%*d %*x %llx %llx %llx", &n_fds, &timeout, &mask) == 3 && n_fds == 1 &&
           timeout == 0 && mask != 0;
}

/* A thread that has ended meanwhile waits.  [proc(5): /proc/PID/stat, /proc/PID/syscall] */
static bool thread_waits(void *ctx, int dir)
{
    struct look *k = ctx;
    char text[512];
    const char *name_end;
    long call;

    add_turns(dir, k);
    if (!exec_proc_read(dir, "stat", text, sizeof(text)))
        return true;
    name_end = strrchr(text, ')');
    if (!name_end || strlen(name_end) < 3)
        return true;
    if (strchr("ZXtT", name_end[2]))
        return true;
    if (name_end[2] != 'S')
        return false;
    if (!exec_proc_read(dir, "syscall", text, sizeof(text))) {
        k->elsewhere = true;
        return true; /* this process may not know */
    }
    if (strncmp(text, "running", 7) == 0)
        return false;
    call = strtol(text, NULL, 10);
    k->elsewhere =
        k->elsewhere || (!awaits_message(text) && call != SYS_wait4 && call != SYS_futex);
    return call != SYS_nanosleep && call != SYS_clock_nanosleep;
}

static bool process_waits(void *ctx, int pid)
{
    struct look *k = ctx;
    enum exec_told told;

    if (!exec_proc_threads(pid, thread_waits, k))
        return false;
    if (!k->sockets)
        return true;
    told = exec_tcp_sends(pid);
    if (told == EXEC_UNKNOWN)
        exec_sockets_add(k->sockets, pid);
    return told != EXEC_ONE;
}

/* Returns true if all wait. */
static bool look_at_all(const int *pids, size_t n, struct look *k)
{
    for (size_t i = 0; i < n; i++) {
        if (!exec_proc_tree(pids[i], process_waits, k))
            return false;
    }
    return true;
}

/* The peer waits no longer for what it has got: that has woken it. */
static bool is_under_way(const struct exec_tcp *t)
{
    return !t->listens && t->unsent > 0;
}

/* Nobody has run between two looks at which all waited, and what they have sent has arrived: so
 * nobody will run.
 */
bool exec_all_wait(const int *pids, size_t n)
{
    struct exec_sockets sockets = {.n = 0};
    struct look first = {0}, second = {0};

    if (!look_at_all(pids, n, &first))
        return false;
    if (first.elsewhere) {
        first = (struct look){.sockets = &sockets};
        if (!look_at_all(pids, n, &first))
            return false;
        for (size_t i = 0; i < n; i++) {
            if (exec_sockets_any(&sockets, pids[i], is_under_way))
                return false;
        }
    }
    return look_at_all(pids, n, &second) && second.n_turns == first.n_turns;
}

static bool is_in_futex(void *ctx, int dir)
{
    char text[512];

    (void)ctx;
    return exec_proc_read(dir, "syscall", text, sizeof(text)) &&
           strtol(text, NULL, 10) == SYS_futex;
}

bool exec_waits_for_itself(int pid)
{
    return exec_proc_threads(pid, is_in_futex, NULL);
}

/* The threads of a process. */
struct threads {
    bool one_computes, one_awaits;
};

static bool note_thread(void *ctx, int dir)
{
    struct threads *t = ctx;
    struct look k = {0};
    char text[512];

    if (!thread_waits(&k, dir))
        t->one_computes = true;
    else if (exec_proc_read(dir, "syscall", text, sizeof(text)))
        t->one_awaits = t->one_awaits || awaits_message(text);
    return true;
}

bool exec_may_spin(int pid)
{
    struct threads t = {false, false};

    (void)exec_proc_threads(pid, note_thread, &t);
    return t.one_computes && t.one_awaits;
}
