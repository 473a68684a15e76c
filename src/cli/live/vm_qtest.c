/* SPDX-License-Identifier: MIT */
#include "cli/live/vm_qtest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void vm_qtest_init(struct vm_qtest *q, int fd)
{
    *q = (struct vm_qtest){.fd = fd};
}

void vm_qtest_done(struct vm_qtest *q)
{
    if (q->fd >= 0)
        close(q->fd);
    q->fd = -1;
    q->n_waiting = 0;
}

/* Sends a line.  The number of unanswered lines is limited, so the socket has room for it. */
static bool write_line(struct vm_qtest *q, const struct vm_message *m)
{
    char line[64];
    const int n =
        snprintf(line, sizeof(line), "writel 0x%" PRIx64 " 0x%" PRIx32 "\n", m->address, m->data);

    if (send(q->fd, line, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL) != n)
        return false;
    q->unanswered++;
    q->sent++;
    return true;
}

void vm_qtest_send(struct vm_qtest *q, uint64_t address, uint32_t data)
{
    const struct vm_message m = {address, data};

    if (q->fd < 0)
        return;
    if (q->n_waiting == 0 && q->unanswered < VM_QTEST_UNANSWERED_MAX && write_line(q, &m))
        return;
    for (unsigned i = 0; i < q->n_waiting; i++) {
        if (q->waiting[i].address == address && q->waiting[i].data == data) {
            q->merged++;
            return;
        }
    }
    if (q->n_waiting < VM_QTEST_WAITING_MAX)
        q->waiting[q->n_waiting++] = m;
    else
        q->overrun = true;
}

static void send_waiting(struct vm_qtest *q)
{
    unsigned n = 0;

    while (n < q->n_waiting && q->unanswered < VM_QTEST_UNANSWERED_MAX &&
           write_line(q, &q->waiting[n]))
        n++;
    q->n_waiting -= n;
    memmove(q->waiting, q->waiting + n, q->n_waiting * sizeof(*q->waiting));
}

/* Processes the line in q->in. */
static const char *take_line(struct vm_qtest *q)
{
    q->in[q->n_in] = '\0';
    q->n_in = 0;
    if (strncmp(q->in, "OK", 2) != 0)
        return "its qtest refused an interrupt";
    if (q->unanswered > 0)
        q->unanswered--;
    return NULL;
}

static const char *take(struct vm_qtest *q, const char *bytes, size_t n)
{
    const char *wrong = NULL;

    for (size_t i = 0; i < n && !wrong; i++) {
        if (bytes[i] == '\n')
            wrong = take_line(q);
        else if (q->n_in + 1 < sizeof(q->in)) /* a longer line is cut */
            q->in[q->n_in++] = bytes[i];
    }
    return wrong;
}

const char *vm_qtest_go(struct vm_qtest *q)
{
    char bytes[256];
    const char *wrong = NULL;
    ssize_t n;

    if (q->fd < 0)
        return NULL;
    /* Larger than all pending answers together. */
    n = recv(q->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (n > 0)
        wrong = take(q, bytes, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        vm_qtest_done(q); /* the machine ends; its process will report it */
    if (wrong || q->fd < 0)
        return wrong;
    send_waiting(q);
    return q->overrun ? "it does not take the interrupts that wait for it" : NULL;
}
