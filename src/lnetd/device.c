/* SPDX-License-Identifier: MIT */
/* The life of a device; memory and time; the table of operations. */
#include "lnetd/device.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)
#define BACKLOG  128

uint64_t device_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static struct timespec time_of(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
}

/* The threads inherit that signals are blocked, so that only signal_fd has them. */
static int signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    if (pthread_sigmask(SIG_BLOCK, &set, NULL))
        return -1;
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

bool device_init(struct lnetd_device *d, uint32_t ip)
{
    *d = (struct lnetd_device){.ip = ip};
    d->quit_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    d->changed_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    d->signal_fd = signals();
    d->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    pthread_mutex_init(&d->lock, NULL);
    return d->quit_fd >= 0 && d->changed_fd >= 0 && d->signal_fd >= 0 && d->timer_fd >= 0;
}

/* Makes an eventfd readable. */
static void ring(int fd)
{
    const uint64_t one = 1;

    (void)!write(fd, &one, sizeof(one)); /* it fails only if it is readable already */
}

void device_changed(const struct lnetd_device *d)
{
    ring(d->changed_fd);
}

void device_done(struct lnetd_device *d)
{
    ring(d->quit_fd);
    if (d->has_cm_thread)
        pthread_join(d->cm_thread, NULL);
    if (d->has_cq_thread)
        pthread_join(d->cq_thread, NULL);
    if (d->cq_channel)
        ibv_destroy_comp_channel(d->cq_channel);
    if (d->cm_channel)
        rdma_destroy_event_channel(d->cm_channel);
    memory_done(&d->memory);
    close(d->quit_fd);
    close(d->changed_fd);
    close(d->signal_fd);
    close(d->timer_fd);
    pthread_mutex_destroy(&d->lock);
}

int device_failed(struct lnetd_device *d, const char *call, int error)
{
    d->failed_call = call;
    d->failed_errno = error;
    return -error;
}

bool device_wait(struct lnetd_device *d, uint64_t until_ns)
{
    struct pollfd p[] = {{.fd = d->changed_fd, .events = POLLIN},
                         {.fd = d->signal_fd, .events = POLLIN}};
    const uint64_t now = device_now_ns();
    const struct timespec rest = time_of(until_ns > now ? until_ns - now : 0);
    struct signalfd_siginfo signal;
    uint64_t times;

    if (d->was_interrupted)
        return false;
    pthread_mutex_unlock(&d->lock);
    (void)ppoll(p, 2, until_ns ? &rest : NULL, NULL);
    (void)!read(d->changed_fd, &times, sizeof(times));
    pthread_mutex_lock(&d->lock);
    d->was_interrupted = read(d->signal_fd, &signal, sizeof(signal)) == sizeof(signal);
    return !d->was_interrupted;
}

/* ---- memory and time ---- */

static void *op_alloc(void *ctx, size_t bytes)
{
    (void)ctx;
    return calloc(1, bytes);
}

static void op_free(void *ctx, void *block, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    free(block);
}

static uint64_t op_pages(void *ctx, uint64_t bytes)
{
    struct lnetd_device *d = ctx;

    return memory_take(&d->memory, bytes);
}

static void op_pages_free(void *ctx, uint64_t addr, uint64_t bytes)
{
    struct lnetd_device *d = ctx;

    memory_give(&d->memory, addr, bytes);
}

static bool op_read(void *ctx, uint64_t addr, void *ret, size_t n)
{
    const struct lnetd_device *d = ctx;
    const void *at = memory_at(&d->memory, addr, n);

    if (at)
        memcpy(ret, at, n);
    return at;
}

static bool op_write(void *ctx, uint64_t addr, const void *bytes, size_t n)
{
    const struct lnetd_device *d = ctx;
    void *at = memory_at(&d->memory, addr, n);

    if (at)
        memcpy(at, bytes, n);
    return at;
}

static bool op_copy(void *ctx, uint64_t to, uint64_t from, size_t n)
{
    const struct lnetd_device *d = ctx;
    void *t = memory_at(&d->memory, to, n);
    const void *f = memory_at(&d->memory, from, n);

    if (t && f)
        memmove(t, f, n);
    return t && f;
}

static uint64_t op_now_ns(void *ctx)
{
    (void)ctx;
    return device_now_ns();
}

static void op_wake_at(void *ctx, uint64_t at_ns)
{
    struct lnetd_device *d = ctx;
    const struct itimerspec at = {.it_value = time_of(at_ns)};

    timerfd_settime(d->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

/* ---- the device ---- */

static bool set_nonblocking(int fd)
{
    const int flags = fcntl(fd, F_GETFL);

    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

/* The event channel of all IDs, and the ID that listens. */
static int listen_at(struct lnetd_device *d, uint16_t service)
{
    struct sockaddr_in me = {
        .sin_family = AF_INET, .sin_port = htons(service), .sin_addr.s_addr = htonl(d->ip)};
    struct sockaddr *addr = (struct sockaddr *)&me;

    if (!d->cm_channel)
        d->cm_channel = rdma_create_event_channel();
    if (!d->cm_channel || !set_nonblocking(d->cm_channel->fd))
        return device_failed(d, "rdma_create_event_channel", errno);
    if (rdma_create_id(d->cm_channel, &d->listener, NULL, RDMA_PS_TCP)) {
        d->listener = NULL;
        return device_failed(d, "rdma_create_id", errno);
    }
    if (rdma_bind_addr(d->listener, addr))
        return device_failed(d, "rdma_bind_addr", errno);
    if (!d->listener->verbs) /* as of an address of the loopback interface */
        return device_failed(d, "rdma_bind_addr", ENODEV);
    if (rdma_listen(d->listener, BACKLOG))
        return device_failed(d, "rdma_listen", errno);
    return device_start_cm_thread(d);
}

static int op_destroy_dev(void *ctx, struct lnd_mr *dma)
{
    struct lnetd_device *d = ctx;

    (void)dma; /* there is none */
    if (d->listener)
        rdma_destroy_id(d->listener);
    d->listener = NULL;
    if (d->pd)
        ibv_dealloc_pd(d->pd);
    d->pd = NULL;
    return 0; /* the channels end with the threads */
}

static int op_create_dev(void *ctx, uint16_t service, bool dma, struct lnd_mr *ret_dma)
{
    struct lnetd_device *d = ctx;
    int st;

    (void)ret_dma;
    if (dma)
        return device_failed(d, "ib_get_dma_mr", ENOSYS);
    st = listen_at(d, service);
    if (st == 0) {
        d->pd = ibv_alloc_pd(d->listener->verbs);
        st = d->pd ? 0 : device_failed(d, "ibv_alloc_pd", errno);
    }
    if (st == 0 && !d->cq_channel) {
        d->cq_channel = ibv_create_comp_channel(d->listener->verbs);
        st = d->cq_channel && set_nonblocking(d->cq_channel->fd)
                 ? 0
                 : device_failed(d, "ibv_create_comp_channel", errno);
    }
    if (st == 0)
        st = device_start_cq_thread(d);
    if (st)
        (void)op_destroy_dev(d, ret_dma);
    return st;
}

static void op_note(void *ctx, const struct lnd_note *note)
{
    struct lnetd_device *d = ctx;

    if (note->kind == LND_NOTE_REJECTED && !note->is_mine) {
        d->rejected_by = note->peer;
        d->rejected_why = note->why;
    }
    if (d->note)
        d->note(note);
}

const struct lnd_ops device_ops = {
    .alloc = op_alloc,
    .free = op_free,
    .pages = op_pages,
    .pages_free = op_pages_free,
    .read = op_read,
    .write = op_write,
    .copy = op_copy,
    .now_ns = op_now_ns,
    .wake_at = op_wake_at,
    .create_dev = op_create_dev,
    .destroy_dev = op_destroy_dev,
    .reg_mr = device_reg_mr,
    .dereg_mr = device_dereg_mr,
    .create_cq = device_create_cq,
    .destroy_cq = device_destroy_cq,
    .create_qp = device_create_qp,
    .destroy_qp = device_destroy_qp,
    .resolve = device_resolve,
    .connect = device_connect,
    .adopt = device_adopt,
    .accept = device_accept,
    .reject = device_reject,
    .disconnect = device_disconnect,
    .destroy_id = device_destroy_id,
    .post_recv = device_post_recv,
    .post_send = device_post_send,
    .note = op_note,
};
