/* SPDX-License-Identifier: MIT */
#include "cli/live/socket_fds.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void socket_fds_close(int fd)
{
    const struct linger none = {.l_onoff = 0};

    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none)); /* it may be no socket */
    close(fd);
}

size_t socket_fds_take(struct msghdr *m, int *ret, size_t max)
{
    size_t n_taken = 0;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        const size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t i = 0; i < n; i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
            if (n_taken < max)
                ret[n_taken++] = fd;
            else
                socket_fds_close(fd);
        }
    }
    return n_taken;
}

bool socket_fds_is_eventfd(int fd)
{
    static const char expected[] = "anon_inode:[eventfd]";
    char path[32], name[sizeof(expected)];
    ssize_t n;
    int flags;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    n = readlink(path, name, sizeof(name));
    if (n != (ssize_t)sizeof(expected) - 1 || memcmp(name, expected, sizeof(expected) - 1) != 0)
        return false;
    flags = fcntl(fd, F_GETFL);
    return flags >= 0 && ((flags & O_NONBLOCK) || fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0);
}
