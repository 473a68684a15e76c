/* SPDX-License-Identifier: MIT */
#include "lnetd/node.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)
#define STOP_NS  (20 * NS_PER_S)

/* An event of LNet, with the lock held. */
static void listen_to(void *ctx, const struct lnet_event *e)
{
    struct lnetd_node *n = ctx;
    struct single *s = &n->single;

    if (selftest_owns(e)) {
        selftest_listener(n->selftest, e);
        return;
    }
    if (e->user == 0)
        return; /* memory of the server */
    if (s->status == 0)
        s->status = e->status;
    if (e->kind != LNET_EVENT_SEND)
        s->bytes = e->mlength;
    s->n_left -= s->n_left > 0;
}

bool node_wait(struct lnetd_node *n, bool (*is_over)(const struct lnetd_node *n), uint64_t until_ns)
{
    for (;;) {
        const uint64_t due = selftest_deadline_ns(n->selftest);
        const uint64_t now = device_now_ns();

        if (due && due <= now)
            selftest_expire(n->selftest);
        if ((is_over && is_over(n)) || (until_ns && until_ns <= now))
            return true;
        if (!device_wait(&n->device, due && (until_ns == 0 || due < until_ns) ? due : until_ns))
            return false;
    }
}

static bool is_up_or_failed(const struct lnetd_node *n)
{
    return lnd_is_up(n->device.lnd) || lnd_error(n->device.lnd);
}

static bool is_down(const struct lnetd_node *n)
{
    return lnd_is_down(n->device.lnd);
}

/* The incarnation: no two starts of a node have the same. */
static uint64_t stamp_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

bool node_start(struct lnetd_node *n, const struct options *o)
{
    struct lnd_config c = o->config;
    struct lnetd_device *d = &n->device;

    *n = (struct lnetd_node){.options = o};
    if (!device_init(d, (uint32_t)c.nid)) {
        fprintf(stderr, "lnetd: %s\n", strerror(errno));
        return false;
    }
    c.stamp = stamp_now();
    d->note = o->is_verbose ? tell_note : NULL;
    n->selftest = selftest_new(&device_ops, d);
    n->lnet = n->selftest ? lnet_new(&device_ops, d, &c, listen_to, n) : NULL;
    if (!n->lnet) {
        fputs("lnetd: no memory\n", stderr);
        return false;
    }
    d->lnd = lnet_lnd(n->lnet);
    pthread_mutex_lock(&d->lock);
    lnd_start(d->lnd);
    (void)node_wait(n, is_up_or_failed, 0);
    pthread_mutex_unlock(&d->lock);
    if (lnd_error(d->lnd) == 0)
        return true;
    advise_device(n);
    return false;
}

void node_stop(struct lnetd_node *n)
{
    struct lnetd_device *d = &n->device;
    bool was_down = !d->lnd;

    if (d->lnd) {
        const uint64_t until = device_now_ns() + STOP_NS;

        pthread_mutex_lock(&d->lock);
        d->was_interrupted = false; /* another signal ends the wait for connections */
        lnd_stop(d->lnd);
        (void)node_wait(n, is_down, until);
        was_down = is_down(n);
        pthread_mutex_unlock(&d->lock);
    }
    if (!was_down) { /* the kernel frees the objects of the process */
        fputs("lnetd: connections do not end\n", stderr);
        return;
    }
    selftest_free(n->selftest);
    lnet_free(n->lnet);
    if (d->live.ids + d->live.qps + d->live.cqs + d->live.mrs > 0)
        fprintf(stderr, "lnetd: %u IDs, %u QPs, %u CQs and %u MRs are left\n", d->live.ids,
                d->live.qps, d->live.cqs, d->live.mrs);
    device_done(d);
}
