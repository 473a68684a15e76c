/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* O_TMPFILE */ /* NOLINT(bugprone-reserved-identifier): glibc's own name */
#include "process/fd_name.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/text.h"

/* The only name of such a file, and one that needs no privilege.  [open(2)] */
static void path_of(int fd, char ret[static 32])
{
    snprintf(ret, 32, "/proc/self/fd/%d", fd);
}

int fd_unnamed(int dir, const char *name)
{
    const char *slash = strrchr(name, '/');
    char directory[PATH_MAX], path[32];
    struct text t = text_on(directory, sizeof(directory));
    int fd;

    text_addn(&t, slash ? name : ".", slash ? (size_t)(slash - name) + 1 : 1);
    fd = t.cut ? -1 : openat(dir, directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    path_of(fd, path);
    if (access(path, F_OK) == 0)
        return fd;
    close(fd); /* without /proc it could never get a name */
    return -1;
}

int fd_link(int fd, int dir, const char *name)
{
    char path[32];

    path_of(fd, path);
    return linkat(AT_FDCWD, path, dir, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}
