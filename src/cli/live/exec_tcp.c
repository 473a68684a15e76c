/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* SYS_pidfd_* */ /* NOLINT(bugprone-reserved-identifier): glibc's own name */
#include "cli/live/exec_tcp.h"

#include <dirent.h>
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SOCKET_PREFIX "socket:["

#if defined(SYS_pidfd_open) && defined(SYS_pidfd_getfd)
static int open_process(int pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* Returns a descriptor for what is descriptor @fd there. */
static int borrow(int process, int fd)
{
    return (int)syscall(SYS_pidfd_getfd, process, fd, 0);
}
#else /* headers of before Linux 5.6 */
static int open_process(int pid)
{
    (void)pid;
    return -1;
}

static int borrow(int process, int fd)
{
    (void)process;
    (void)fd;
    return -1;
}
#endif

static int option_of(int fd, int name)
{
    int value = 0;
    socklen_t length = sizeof(value);

    return getsockopt(fd, SOL_SOCKET, name, &value, &length) == 0 ? value : 0;
}

/* A socket that listens has no such number. */
static bool sends(int fd)
{
    int unsent = 0;

    return ioctl(fd, SIOCOUTQ, &unsent) == 0 && unsent > 0;
}

static bool listens(int fd)
{
    return option_of(fd, SO_ACCEPTCONN) != 0;
}

static bool is_socket(int directory, const char *name)
{
    char to[64];
    const ssize_t n = readlinkat(directory, name, to, sizeof(to));

    return n > (ssize_t)strlen(SOCKET_PREFIX) &&
           memcmp(to, SOCKET_PREFIX, strlen(SOCKET_PREFIX)) == 0;
}

/* Asks descriptor @fd of @process, which may have been closed meanwhile. */
static enum exec_told ask(int process, int fd, bool (*is)(int fd))
{
    const int borrowed = borrow(process, fd);
    enum exec_told told;

    if (borrowed < 0)
        return errno == EBADF ? EXEC_NONE : EXEC_UNKNOWN;
    told = option_of(borrowed, SO_PROTOCOL) == IPPROTO_TCP && is(borrowed) ? EXEC_ONE : EXEC_NONE;
    close(borrowed);
    return told;
}

static enum exec_told ask_all(int pid, bool (*is)(int fd))
{
    const int process = open_process(pid);
    enum exec_told told = EXEC_NONE;
    struct dirent *e;
    char path[64];
    DIR *d;

    if (process < 0)
        return EXEC_UNKNOWN;
    snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    d = opendir(path);
    if (!d)
        told = EXEC_UNKNOWN;
    while (d && told == EXEC_NONE && (e = readdir(d))) {
        if (is_socket(dirfd(d), e->d_name))
            told = ask(process, (int)strtol(e->d_name, NULL, 10), is);
    }
    if (d)
        closedir(d);
    close(process);
    return told;
}

enum exec_told exec_tcp_sends(int pid)
{
    return ask_all(pid, sends);
}

enum exec_told exec_tcp_listens(int pid)
{
    return ask_all(pid, listens);
}
