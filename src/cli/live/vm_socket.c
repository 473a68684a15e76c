/* SPDX-License-Identifier: MIT */
#include "cli/live/vm_socket.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/live/socket_fds.h"

void vm_socket_init(struct vm_socket *s, int fd, vm_message_size *size_of)
{
    *s = (struct vm_socket){.fd = fd, .size_of = size_of};
}

static void close_fds(struct vm_socket *s)
{
    for (unsigned i = 0; i < s->n_fds; i++) {
        if (s->fds[i] >= 0)
            socket_fds_close(s->fds[i]);
    }
    s->n_fds = 0;
}

void vm_socket_done(struct vm_socket *s)
{
    close_fds(s);
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

/* Reads until the message has @want bytes.  @want must not go beyond the header while that is being
 * read.  Otherwise descriptors that were sent with the next message would be attributed to this
 * one.
 */
static enum vm_got read_some(struct vm_socket *s, size_t want)
{
    union { /* aligned for a control message header */
        char bytes[CMSG_SPACE(VM_FDS_MAX * sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct iovec data = {s->in + s->n_in, want - s->n_in};
    struct msghdr m = {
        .msg_iov = &data,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof(control.bytes),
    };
    const ssize_t n = recvmsg(s->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? VM_NOTHING : VM_CLOSED;
    if (n == 0)
        return VM_CLOSED;
    s->n_fds += (unsigned)socket_fds_take(&m, s->fds + s->n_fds, VM_FDS_MAX - s->n_fds);
    s->n_in += (size_t)n;
    return s->n_in < want ? VM_NOTHING : VM_MESSAGE;
}

enum vm_got vm_socket_read(struct vm_socket *s)
{
    enum vm_got got;

    if (s->n_in == 0)
        close_fds(s);
    if (s->n_in < VM_HEADER_BYTES) {
        got = read_some(s, VM_HEADER_BYTES);
        if (got != VM_MESSAGE)
            return got;
        if (!s->size_of(s->in, &s->size))
            return VM_NONSENSE;
    }
    if (s->size > VM_HEADER_BYTES) {
        got = read_some(s, s->size);
        if (got != VM_MESSAGE)
            return got;
    }
    s->n_in = 0;
    return VM_MESSAGE;
}

bool vm_socket_send(struct vm_socket *s, const uint8_t *bytes, size_t n)
{
    /* The other end waits for the message, so the socket has room. */
    return send(s->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)n;
}
