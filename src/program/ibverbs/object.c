/* SPDX-License-Identifier: MIT */
/* Handles of objects, and their events.
 *
 * A table finds the object of an event by its handle.  An event that its pipe still has when the
 * object is destroyed is removed, as the kernel does: otherwise the descriptor would stay readable.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "program/ibverbs/internal.h"

#define DRAIN_MAX 4096u /* events of one pipe: 64 KiB */

static struct object **bucket_of(struct context *x, uint64_t handle)
{
    return &x->buckets[(handle ^ handle >> 32) % OBJECT_BUCKETS];
}

void object_live(struct context *x, struct object *o, enum program_kind kind, uint64_t handle)
{
    struct object **bucket = bucket_of(x, handle);

    *o = (struct object){.context = x, .handle = handle, .kind = kind};
    pthread_mutex_lock(&x->objects_lock);
    o->next = *bucket;
    *bucket = o;
    x->n_objects++;
    pthread_mutex_unlock(&x->objects_lock);
}

/* Removes @o from the table.  From now on no event is delivered to it. */
static void forget(struct context *x, struct object *o)
{
    struct object **at;

    pthread_mutex_lock(&x->objects_lock);
    at = bucket_of(x, o->handle);
    while (*at && *at != o)
        at = &(*at)->next;
    if (*at) {
        *at = o->next;
        x->n_objects--;
    }
    o->handle = 0;
    pthread_mutex_unlock(&x->objects_lock);
}

/* Opens the pipe @fd again, to read and write it without blocking.  Returns a descriptor, or -1. */
static int open_again(int fd)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

void object_send_completion(struct object *o, int fd)
{
    const struct program_event event = {.handle = o->handle};
    const int pipe = open_again(fd);

    if (pipe < 0)
        return;
    pthread_mutex_lock(&o->context->objects_lock);
    if (write(pipe, &event, sizeof(event)) == sizeof(event)) /* else it is full of events */
        o->own_events++;
    pthread_mutex_unlock(&o->context->objects_lock);
    close(pipe);
}

/* Removes the events of the destroyed object @kind, @handle from the pipe @fd, and writes back the
 * events of other objects.
 */
static void drain(int fd, uint32_t kind, uint64_t handle)
{
    struct program_event *others = malloc(DRAIN_MAX * sizeof(*others));
    size_t n = 0;
    const int pipe = others ? open_again(fd) : -1;

    while (pipe >= 0 && n < DRAIN_MAX && read(pipe, &others[n], sizeof(*others)) == sizeof(*others))
        if (others[n].kind != kind || others[n].handle != handle)
            n++;
    for (size_t i = 0; i < n; i++)
        if (write(pipe, &others[i], sizeof(*others)) != sizeof(*others))
            break;
    if (pipe >= 0)
        close(pipe);
    free(others);
}

int object_destroy(struct object *o, int channel_fd)
{
    struct context *x = o->context;
    const uint64_t handle = o->handle;
    struct program_call call;
    struct program_answer answer;
    int error;

    call_init(&call, PROGRAM_DESTROY);
    call.u.destroy.handle = handle;
    call.u.destroy.kind = o->kind;
    error = connection_call(&x->c, &call, &answer, NULL);
    if (error)
        return error;
    forget(x, o);
    if (answer.u.destroy.async_events > o->async_events)
        drain(x->c.async_fd, o->kind, handle);
    if (answer.u.destroy.completion_events + o->own_events > o->completion_events &&
        channel_fd >= 0)
        drain(channel_fd, PROGRAM_NONE, handle);
    return 0;
}

void object_undo(struct context *x, enum program_kind kind, uint64_t handle)
{
    struct program_call call;
    struct program_answer answer;

    call_init(&call, PROGRAM_DESTROY);
    call.u.destroy.handle = handle;
    call.u.destroy.kind = kind;
    (void)connection_call(&x->c, &call, &answer, NULL);
}

void object_bury(struct context *x, void *memory)
{
    void *old;

    pthread_mutex_lock(&x->objects_lock);
    old = x->graves[x->n_graves];
    x->graves[x->n_graves] = memory;
    x->n_graves = (x->n_graves + 1) % OBJECT_GRAVES;
    pthread_mutex_unlock(&x->objects_lock);
    free(old);
}

struct object *object_event(struct context *x, enum program_kind kind, uint64_t handle,
                            bool is_async)
{
    struct object *o;

    pthread_mutex_lock(&x->objects_lock);
    o = *bucket_of(x, handle);
    while (o && !(o->handle == handle && o->kind == (uint32_t)kind))
        o = o->next;
    if (o && is_async)
        o->async_events++;
    else if (o)
        o->completion_events++;
    pthread_mutex_unlock(&x->objects_lock);
    return o;
}

struct lib_qp *object_qp_of(struct context *x, uint32_t qpn)
{
    struct lib_qp *found = NULL;

    pthread_mutex_lock(&x->objects_lock);
    for (size_t i = 0; i < OBJECT_BUCKETS && !found; i++)
        for (struct object *o = x->buckets[i]; o && !found; o = o->next)
            if (o->kind == PROGRAM_QP && CONTAINER(o, struct lib_qp, o)->pub.qp_base.qp_num == qpn)
                found = CONTAINER(o, struct lib_qp, o);
    pthread_mutex_unlock(&x->objects_lock);
    return found;
}

void object_wait_acknowledged(pthread_mutex_t *lock, pthread_cond_t *cond,
                              const uint32_t *completed, uint32_t events)
{
    pthread_mutex_lock(lock);
    while (*completed != events)
        pthread_cond_wait(cond, lock);
    pthread_mutex_unlock(lock);
}
