/* SPDX-License-Identifier: MIT */
/* Completion events and asynchronous events, which come by pipes.
 *
 * An event of an object that has been destroyed meanwhile is skipped.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include "program/ibverbs/internal.h"

#define PORT             1
#define DEADLOCK_WAIT_MS 10
#define NS_PER_MS        1000000

/* Waits until @fd can be read.  Returns 0, ETIME, or EINTR for a signal that @mask does not block.
 */
static int wait_readable(int fd, int timeout_ms, const sigset_t *mask)
{
    const struct timespec t = {.tv_nsec = timeout_ms * NS_PER_MS};
    struct pollfd p = {.fd = fd, .events = POLLIN};
    const int n = ppoll(&p, 1, &t, mask);

    return n > 0 ? 0 : n == 0 ? ETIME : errno;
}

/* Another thread or program may still make something happen when the lab has nothing left to do.
 *
 * The steps of this loop are one system call for the program: a signal between two of them must
 * interrupt it, too.  So signals are blocked but in those two that wait.
 */
int events_wait(struct lab_connection *c, int fd)
{
    uint32_t seen = connection_seen(c);
    int error = 0, readable;
    sigset_t all, before;

    if (!c->device.is_virtual || (fcntl(fd, F_GETFL) & O_NONBLOCK))
        return 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (;;) {
        readable = wait_readable(fd, error ? DEADLOCK_WAIT_MS : 0, &before);
        if (readable != ETIME || (error && error != ETIME))
            break;
        error = connection_wait(c, seen, &before);
        seen = connection_seen(c);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return readable == EINTR || error == EINTR ? minus_1_because(EINTR) : 0;
}

/* Reads one event.  Returns its length, 0 at the end of the pipe, or -1 and sets errno. */
static int read_event(int fd, struct program_event *ret)
{
    const ssize_t got = read(fd, ret, sizeof(*ret));

    if (got > 0 && got != (ssize_t)sizeof(*ret))
        return minus_1_because(EIO);
    return (int)got;
}

/* ibv_get_cq_event(3).  Returns 0, or -1 and sets errno: EAGAIN if the descriptor does not block,
 * EINTR, EIO if the lab has ended.
 */
int ibv_get_cq_event(struct ibv_comp_channel *pub, struct ibv_cq **cq, void **cq_context)
{
    struct lib_channel *ch = channel_of(pub);
    struct program_event event;
    struct object *o = NULL;
    int got;

    if (!ch || connection_state(&ch->o.context->c) == EINVAL)
        return minus_1_because(EINVAL);
    while (!o) {
        if (events_wait(&ch->o.context->c, pub->fd) != 0)
            return -1;
        got = read_event(pub->fd, &event);
        if (got <= 0)
            return got == 0 ? minus_1_because(EIO) : -1;
        o = object_event(ch->o.context, PROGRAM_CQ, event.handle, false);
    }
    *cq = ibv_cq_ex_to_cq(&CONTAINER(o, struct lib_cq, o)->pub);
    *cq_context = (*cq)->cq_context;
    return 0;
}

/* ibv_ack_cq_events(3) */
void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
    pthread_mutex_lock(&cq->mutex);
    cq->comp_events_completed += nevents;
    pthread_cond_signal(&cq->cond);
    pthread_mutex_unlock(&cq->mutex);
}

/* Fills @to with @event.  Returns false if its object is gone. */
static bool deliver(struct context *x, const struct program_event *event,
                    struct ibv_async_event *to)
{
    struct object *o = NULL;

    *to = (struct ibv_async_event){.event_type = event->type};
    if (event->kind == PROGRAM_NONE) {
        to->element.port_num = PORT;
        return true;
    }
    o = object_event(x, event->kind, event->handle, true);
    if (!o)
        return false;
    switch (event->kind) {
    case PROGRAM_CQ:
        to->element.cq = ibv_cq_ex_to_cq(&CONTAINER(o, struct lib_cq, o)->pub);
        return true;
    case PROGRAM_QP:
        to->element.qp = &CONTAINER(o, struct lib_qp, o)->pub.qp_base;
        return true;
    case PROGRAM_SRQ:
        to->element.srq = &CONTAINER(o, struct lib_srq, o)->pub;
        return true;
    default:
        return false;
    }
}

/* The device is gone after the end of the lab: the program is told once. */
static int device_is_gone(struct context *x, struct ibv_async_event *event)
{
    bool first;

    pthread_mutex_lock(&x->objects_lock);
    first = !x->told_end;
    x->told_end = 1;
    pthread_mutex_unlock(&x->objects_lock);
    if (!first)
        return minus_1_because(EIO);
    *event = (struct ibv_async_event){.event_type = IBV_EVENT_DEVICE_FATAL};
    return 0;
}

/* ibv_get_async_event(3).  Returns 0, or -1 and sets errno: EAGAIN, EINTR, EIO if the lab has ended
 * and IBV_EVENT_DEVICE_FATAL has been delivered.
 */
int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    struct context *x = context_of(context);
    struct program_event from;
    int got;

    if (connection_state(&x->c) == EINVAL)
        return minus_1_because(EINVAL);
    for (;;) {
        /* A thread for these events must not make time advance: others are at work. */
        if (__libc_single_threaded && events_wait(&x->c, context->async_fd) != 0)
            return -1;
        got = read_event(context->async_fd, &from);
        if (got == 0)
            return device_is_gone(x, event);
        if (got < 0)
            return -1;
        if (deliver(x, &from, event))
            return 0;
    }
}

static void acknowledge(pthread_mutex_t *lock, pthread_cond_t *cond, uint32_t *completed)
{
    pthread_mutex_lock(lock);
    ++*completed;
    pthread_cond_signal(cond);
    pthread_mutex_unlock(lock);
}

/* ibv_ack_async_event(3) */
void ibv_ack_async_event(struct ibv_async_event *event)
{
    switch (event->event_type) {
    case IBV_EVENT_CQ_ERR:
        acknowledge(&event->element.cq->mutex, &event->element.cq->cond,
                    &event->element.cq->async_events_completed);
        break;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
        acknowledge(&event->element.qp->mutex, &event->element.qp->cond,
                    &event->element.qp->events_completed);
        break;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
        acknowledge(&event->element.srq->mutex, &event->element.srq->cond,
                    &event->element.srq->events_completed);
        break;
    default:
        break;
    }
}
