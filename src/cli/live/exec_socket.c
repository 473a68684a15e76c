/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* accept4() */ /* NOLINT(bugprone-reserved-identifier): glibc's own name */
#include "cli/live/exec_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/live/socket_fds.h"

#define WAITING_MAX 64 /* connections that are not accepted yet */

#define QUEUED_MAX   512u /* messages for which a connection has room, and more */
#define SENT_FDS_MAX 253u /* [Linux, include/net/scm.h: SCM_MAX_FD] */

/* A control message with file descriptors, aligned for its header. */
union control {
    char bytes[CMSG_SPACE(EXEC_FDS_MAX * sizeof(int))];
    struct cmsghdr aligned;
};

/* One with as many as a message can have: those without room would be closed by the kernel. */
union large_control {
    char bytes[CMSG_SPACE(SENT_FDS_MAX * sizeof(int))];
    struct cmsghdr aligned;
};

int exec_listen(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd, error;

    if (strlen(path) >= sizeof(at.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(at.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    /* The directory is private already. */
    if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0 &&
        chmod(path, S_IRUSR | S_IWUSR) == 0 && listen(fd, WAITING_MAX) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

int exec_accept(int listener, int *ret_pid)
{
    struct ucred who;
    socklen_t bytes = sizeof(who);
    const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0)
        return -1;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes) == 0 && who.uid == geteuid()) {
        *ret_pid = who.pid;
        return fd;
    }
    close(fd);
    errno = EAGAIN; /* not for this one */
    return -1;
}

enum exec_got exec_receive(int fd, void *out, size_t bytes, int *ret_fd)
{
    union large_control control;
    struct iovec data = {out, bytes};
    struct msghdr m = {
        .msg_iov = &data,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof(control.bytes),
    };
    const ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC | MSG_TRUNC);

    *ret_fd = -1;
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? EXEC_NOTHING : EXEC_CLOSED;
    if (socket_fds_take(&m, ret_fd, 1) == 0 && (m.msg_flags & MSG_CTRUNC))
        *ret_fd = EXEC_FD_LOST;
    if (n == (ssize_t)bytes)
        return EXEC_MESSAGE;
    if (*ret_fd >= 0)
        socket_fds_close(*ret_fd);
    *ret_fd = -1;
    return n == 0 ? EXEC_CLOSED : EXEC_NONSENSE;
}

/* An empty message looks like the end, behind which there could be more. */
void exec_hang_up(int fd)
{
    char byte = 0;
    int sent;

    (void)shutdown(fd, SHUT_RD);
    for (unsigned i = 0; i < QUEUED_MAX; i++) {
        const enum exec_got got = exec_receive(fd, &byte, sizeof(byte), &sent);

        if (sent >= 0)
            socket_fds_close(sent);
        if (got == EXEC_NOTHING)
            break;
    }
    close(fd);
}

bool exec_send(int fd, const void *message, size_t bytes, const int *fds, unsigned n)
{
    union control control = {{0}};
    struct iovec data = {(void *)message, bytes};
    struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1};
    struct cmsghdr *c;

    if (n > 0) {
        m.msg_control = control.bytes;
        m.msg_controllen = CMSG_SPACE(n * sizeof(int));
        c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(n * sizeof(int));
        memcpy(CMSG_DATA(c), fds, n * sizeof(int));
    }
    return sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)bytes;
}
