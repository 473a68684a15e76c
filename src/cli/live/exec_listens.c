/* SPDX-License-Identifier: MIT */
#include "cli/live/exec_listens.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STATE_LISTEN 0x0au /* in /proc/PID/net/tcp  [Linux, include/net/tcp_states.h] */
#define DEPTH_MAX    4u    /* a shell, a script, a program */
#define LINE_BYTES   512u

/* Returns true if the table @path of TCP sockets has one that listens, with number @inode. */
static bool table_has(const char *path, uint64_t inode)
{
    FILE *f = fopen(path, "r");
    char line[LINE_BYTES];
    bool found = false;

    while (f && !found && fgets(line, sizeof(line), f)) {
        unsigned state;
        uint64_t number;

        /* sl local remote st tx:rx tr:when retrnsmt uid timeout inode */
        found = sscanf(line, "%*s %*s %*s %x %*s %*s %*s %*s %*s %" SCNu64, &state, &number) == 2 &&
                state == STATE_LISTEN && number == inode;
    }
    if (f)
        fclose(f);
    return found;
}

static bool listens_at(int pid, uint64_t inode)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/net/tcp", pid);
    if (table_has(path, inode))
        return true;
    snprintf(path, sizeof(path), "/proc/%d/net/tcp6", pid);
    return table_has(path, inode);
}

/* Looks at all sockets of the process @pid itself. */
static bool itself_listens(int pid)
{
    char path[64], to[64];
    struct dirent *e;
    bool found = false;
    DIR *d;

    snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    d = opendir(path);
    while (d && !found && (e = readdir(d))) {
        const ssize_t n = readlinkat(dirfd(d), e->d_name, to, sizeof(to) - 1);
        uint64_t inode;

        if (n <= 0)
            continue;
        to[n] = '\0';
        found = sscanf(to, "socket:[%" SCNu64 "]", &inode) == 1 && listens_at(pid, inode);
    }
    if (d)
        closedir(d);
    return found;
}

static bool listens(int pid, unsigned depth)
{
    char path[64];
    bool found = itself_listens(pid);
    FILE *f;
    int child;

    if (found || depth == DEPTH_MAX)
        return found;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
    f = fopen(path, "r");
    while (f && !found && fscanf(f, "%d", &child) == 1)
        found = listens(child, depth + 1); /* NOLINT(misc-no-recursion): at most DEPTH_MAX deep */
    if (f)
        fclose(f);
    return found;
}

bool exec_listens(int pid)
{
    return listens(pid, 0);
}
