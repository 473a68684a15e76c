/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* SYS_* */ /* NOLINT(bugprone-reserved-identifier): glibc's own name */
#include "cli/live/exec_waits.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEPTH_MAX   8u   /* a shell, a script, a program */
#define SOCKETS_MAX 256u /* of all processes; others are not looked at */
#define LINE_BYTES  512u

#define STATE_LISTEN 0x0au /* [Linux, include/net/tcp_states.h] */

/* A look at all processes. */
struct look {
    bool waits;       /* all threads do, as far as was looked */
    bool elsewhere;   /* one waits neither for the lab, which the library does in recvmsg(), nor for
                         a process that it has started */
    uint64_t n_turns; /* times that they have been given a processor */
    bool with_sockets; /* @sockets are looked for */
    uint64_t sockets[SOCKETS_MAX];
    size_t n_sockets;
};

/* Reads the beginning of @name in the directory @dir, as a text.  Returns false if there is none.
 */
static bool read_in(int dir, const char *name, char *ret, size_t bytes)
{
    const int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return false;
    n = read(fd, ret, bytes - 1);
    close(fd);
    if (n <= 0)
        return false;
    ret[n] = '\0';
    return true;
}

/* --- Threads ---------------------------------------------------------------------------------- */

/* Adds how often the thread has been given a processor.  [Linux, Documentation/scheduler/
 * sched-stats.rst: /proc/PID/schedstat]
 */
static void add_turns(int dir, struct look *k)
{
    char text[128];
    uint64_t n;

    if (read_in(dir, "schedstat", text, sizeof(text)) && sscanf(text, "%*u %*u %" SCNu64, &n) == 1)
        k->n_turns += n;
}

/* A thread that has ended meanwhile waits.  [proc(5): /proc/PID/stat, /proc/PID/syscall] */
static bool thread_waits(int dir, struct look *k)
{
    char text[512];
    const char *name_end;
    long call;

    if (!read_in(dir, "stat", text, sizeof(text)))
        return true;
    name_end = strrchr(text, ')');
    if (!name_end || strlen(name_end) < 3)
        return true;
    if (strchr("ZXtT", name_end[2]))
        return true;
    if (name_end[2] != 'S')
        return false;
    if (!read_in(dir, "syscall", text, sizeof(text)))
        return true; /* this process may not know */
    if (strncmp(text, "running", 7) == 0)
        return false;
    call = strtol(text, NULL, 10);
    k->elsewhere = k->elsewhere || (call != SYS_recvmsg && call != SYS_wait4);
    return call != SYS_nanosleep && call != SYS_clock_nanosleep;
}

/* --- Processes -------------------------------------------------------------------------------- */

static void look_at(int pid, unsigned depth, struct look *k);

static void look_at_children(int dir, unsigned depth, struct look *k)
{
    char text[4096], *at = text, *end;

    if (depth == DEPTH_MAX || !read_in(dir, "children", text, sizeof(text)))
        return;
    for (long child; k->waits && (child = strtol(at, &end, 10)) > 0 && end != at; at = end)
        look_at((int)child, depth + 1, k); /* NOLINT(misc-no-recursion): at most DEPTH_MAX deep */
}

static void look_at_sockets(int pid, struct look *k)
{
    char path[64], to[64];
    struct dirent *e;
    DIR *d;

    snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    d = opendir(path);
    while (d && k->n_sockets < SOCKETS_MAX && (e = readdir(d))) {
        const ssize_t n = readlinkat(dirfd(d), e->d_name, to, sizeof(to) - 1);

        to[n > 0 ? n : 0] = '\0';
        if (sscanf(to, "socket:[%" SCNu64 "]", &k->sockets[k->n_sockets]) == 1)
            k->n_sockets++;
    }
    if (d)
        closedir(d);
}

/* Looks at a process, and those that it has started, until one does not wait. */
static void look_at(int pid, unsigned depth, struct look *k)
{
    char path[64];
    struct dirent *e;
    DIR *tasks;

    snprintf(path, sizeof(path), "/proc/%d/task", pid);
    tasks = opendir(path);
    while (tasks && k->waits && (e = readdir(tasks))) {
        const int dir = e->d_name[0] == '.'
                            ? -1
                            : openat(dirfd(tasks), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (dir < 0)
            continue;
        add_turns(dir, k);
        k->waits = thread_waits(dir, k);
        look_at_children(dir, depth, k);
        close(dir);
    }
    if (tasks)
        closedir(tasks);
    if (k->waits && k->with_sockets)
        look_at_sockets(pid, k);
}

static void look_at_all(const int *pids, size_t n, bool with_sockets, struct look *ret)
{
    ret->with_sockets = with_sockets;
    ret->waits = true;
    ret->elsewhere = false;
    ret->n_turns = 0;
    ret->n_sockets = 0;
    for (size_t i = 0; i < n && ret->waits; i++)
        look_at(pids[i], 0, ret);
}

/* --- Data under way --------------------------------------------------------------------------- */

static bool is_of(const struct look *k, uint64_t inode)
{
    for (size_t i = 0; i < k->n_sockets; i++) {
        if (k->sockets[i] == inode)
            return true;
    }
    return false;
}

/* Returns true if the table @path of TCP sockets has one of @k with data that its peer has not got
 * yet.  What it has got has woken who waits for it.
 */
static bool table_sends(const char *path, const struct look *k)
{
    FILE *f = fopen(path, "re");
    char line[LINE_BYTES];
    bool found = false;

    while (f && !found && fgets(line, sizeof(line), f)) {
        unsigned state, left;
        uint64_t inode;

        /* sl local remote st tx:rx tr:when retrnsmt uid timeout inode; of a socket that listens
         * tx means something else */
        found = sscanf(line, "%*s %*s %*s %x %x:%*x %*s %*s %*s %*s %" SCNu64, &state, &left,
                       &inode) == 3 &&
                state != STATE_LISTEN && left != 0 && is_of(k, inode);
    }
    if (f)
        fclose(f);
    return found;
}

static bool data_is_under_way(int pid, const struct look *k)
{
    char path[64];

    if (k->n_sockets == 0)
        return false;
    snprintf(path, sizeof(path), "/proc/%d/net/tcp", pid);
    if (table_sends(path, k))
        return true;
    snprintf(path, sizeof(path), "/proc/%d/net/tcp6", pid);
    return table_sends(path, k);
}

/* Nobody has run between two looks at which all waited, and what they have sent has arrived: so
 * nobody will run.
 */
bool exec_all_wait(const int *pids, size_t n)
{
    struct look first, second;

    look_at_all(pids, n, false, &first);
    if (first.waits && first.elsewhere) {
        look_at_all(pids, n, true, &first);
        for (size_t i = 0; i < n && first.waits; i++)
            first.waits = !data_is_under_way(pids[i], &first);
    }
    if (!first.waits)
        return false;
    look_at_all(pids, n, false, &second);
    return second.waits && second.n_turns == first.n_turns;
}

int exec_parent(int pid)
{
    char path[64], text[512];
    const char *name_end;
    int parent = 0;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    if (!read_in(AT_FDCWD, path, text, sizeof(text)))
        return 0;
    name_end = strrchr(text, ')');
    return name_end && sscanf(name_end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}
