/* SPDX-License-Identifier: MIT */
#include "cli/live/exec_proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOCKET_LINK  "socket:["
#define STATE_LISTEN 0x0au /* [Linux, include/net/tcp_states.h] */
#define LINE_BYTES   512u

bool exec_proc_read(int dir, const char *name, char *ret, size_t bytes)
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

#define BLANKS " \t\n"

const char *exec_proc_word(const char *line, unsigned n)
{
    line += strspn(line, BLANKS);
    for (; n > 0; n--) {
        line += strcspn(line, BLANKS);
        line += strspn(line, BLANKS);
    }
    return line;
}

bool exec_proc_number(const char *text, int base, uint64_t *ret, const char **ret_end)
{
    char *end;

    errno = 0;
    *ret = strtoull(text, &end, base);
    if (ret_end)
        *ret_end = end;
    return errno == 0 && end != text && isxdigit((unsigned char)*text);
}

/* --- Processes -------------------------------------------------------------------------------- */

bool exec_proc_threads(int pid, bool (*visit)(void *ctx, int dir), void *ctx)
{
    char path[64];
    struct dirent *e;
    bool goes_on = true;
    DIR *tasks;

    snprintf(path, sizeof(path), "/proc/%d/task", pid);
    tasks = opendir(path);
    while (tasks && goes_on && (e = readdir(tasks))) {
        const int dir = e->d_name[0] == '.'
                            ? -1
                            : openat(dirfd(tasks), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (dir < 0)
            continue;
        goes_on = visit(ctx, dir);
        close(dir);
    }
    if (tasks)
        closedir(tasks);
    return goes_on;
}

/* A visit to a process and its descendants. */
struct walk {
    bool (*visit)(void *ctx, int pid);
    void *ctx;
    unsigned depth;
};

static bool walk(const struct walk *w, int pid);

/* Visits what a thread has started. */
static bool walk_on(void *ctx, int dir)
{
    const struct walk *w = ctx;
    const struct walk below = {w->visit, w->ctx, w->depth + 1};
    char text[4096], *at = text, *end;
    bool goes_on = true;

    if (w->depth == EXEC_PROC_DEPTH || !exec_proc_read(dir, "children", text, sizeof(text)))
        return true;
    end = strrchr(text, ' '); /* behind each number, of which the last may have been cut */
    if (end)
        *end = '\0';
    for (long child; goes_on && (child = strtol(at, &end, 10)) > 0 && end != at; at = end)
        goes_on = walk(&below, (int)child); /* NOLINT(misc-no-recursion): it has a limit */
    return goes_on;
}

static bool walk(const struct walk *w, int pid)
{
    return w->visit(w->ctx, pid) && exec_proc_threads(pid, walk_on, (void *)w);
}

bool exec_proc_tree(int pid, bool (*visit)(void *ctx, int pid), void *ctx)
{
    return walk(&(struct walk){visit, ctx, 0}, pid);
}

int exec_proc_parent(int pid)
{
    char path[64], text[LINE_BYTES];
    const char *name_end;
    uint64_t parent;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    if (!exec_proc_read(AT_FDCWD, path, text, sizeof(text)))
        return 0;
    name_end = strrchr(text, ')');
    if (!name_end || !exec_proc_number(exec_proc_word(name_end + 1, 1), 10, &parent, NULL))
        return 0;
    return (int)parent;
}

/* --- Sockets ---------------------------------------------------------------------------------- */

void exec_sockets_add(struct exec_sockets *s, int pid)
{
    char path[64], to[64];
    struct dirent *e;
    DIR *d;

    snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    d = opendir(path);
    while (d && s->n < EXEC_SOCKETS && (e = readdir(d))) {
        const ssize_t n = readlinkat(dirfd(d), e->d_name, to, sizeof(to) - 1);

        to[n > 0 ? n : 0] = '\0';
        if (strncmp(to, SOCKET_LINK, strlen(SOCKET_LINK)) == 0 &&
            exec_proc_number(to + strlen(SOCKET_LINK), 10, &s->inode[s->n], NULL))
            s->n++;
    }
    if (d)
        closedir(d);
}

static bool has_inode(const struct exec_sockets *s, uint64_t inode)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->inode[i] == inode)
            return true;
    }
    return false;
}

/* Reads a row of a table of TCP sockets: sl local remote st tx:rx tr:when retrnsmt uid timeout
 * inode.
 */
static bool read_row(const char *line, struct exec_tcp *ret, uint64_t *ret_inode)
{
    uint64_t state, unsent;

    if (!exec_proc_number(exec_proc_word(line, 3), 16, &state, NULL) ||
        !exec_proc_number(exec_proc_word(line, 4), 16, &unsent, NULL) ||
        !exec_proc_number(exec_proc_word(line, 9), 10, ret_inode, NULL))
        return false;
    ret->unsent = (unsigned)unsent;
    ret->listens = state == STATE_LISTEN;
    return true;
}

static bool table_any(const struct exec_sockets *s, const char *path,
                      bool (*is)(const struct exec_tcp *t))
{
    FILE *f = fopen(path, "re");
    char line[LINE_BYTES];
    struct exec_tcp t;
    bool found = false;
    uint64_t inode;

    while (f && !found && fgets(line, sizeof(line), f))
        found = read_row(line, &t, &inode) && is(&t) && has_inode(s, inode);
    if (f)
        fclose(f);
    return found;
}

bool exec_sockets_any(const struct exec_sockets *s, int pid, bool (*is)(const struct exec_tcp *t))
{
    char path[64];

    if (s->n == 0)
        return false;
    snprintf(path, sizeof(path), "/proc/%d/net/tcp", pid);
    if (table_any(s, path, is))
        return true;
    snprintf(path, sizeof(path), "/proc/%d/net/tcp6", pid);
    return table_any(s, path, is);
}
