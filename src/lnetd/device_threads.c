/* SPDX-License-Identifier: MIT */
/* The CM thread and the CQ thread.  device.h tells why neither can block in a call that destroys.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "lnetd/device.h"

#define WCS_AT_ONCE 32
#define ACK_BATCH   64u /* events of completion queues that are acknowledged together */
#define ROUTE_MS    5000

/* Waits until the device has something for @fd or for the timer (-1: none).  Returns false when the
 * thread has to end.
 */
static bool wait_for(const struct lnetd_device *d, int fd, int timer_fd)
{
    struct pollfd p[] = {{.fd = d->quit_fd, .events = POLLIN},
                         {.fd = fd, .events = POLLIN},
                         {.fd = timer_fd, .events = POLLIN}};

    while (poll(p, 3, -1) < 0 && errno == EINTR)
        ;
    return !(p[0].revents & POLLIN);
}

/* ---- the CM thread ---- */

static void request(struct lnetd_device *d, const struct rdma_cm_event *e)
{
    const struct sockaddr_in *from = (const struct sockaddr_in *)rdma_get_peer_addr(e->id);

    d->live.ids++;
    lnd_cm_request(d->lnd, (uintptr_t)e->id, ntohl(from->sin_addr.s_addr),
                   e->param.conn.private_data, e->param.conn.private_data_len);
}

/* The address of the peer is known: the route is next.  The driver does not need to know that. */
static void address_resolved(struct lnetd_device *d, struct lnd_link *l, struct rdma_cm_id *id)
{
    int error;

    if (rdma_resolve_route(id, ROUTE_MS) == 0)
        return;
    error = device_failed(d, "rdma_resolve_route", errno);
    lnd_cm_event(d->lnd, l, RDMA_CM_EVENT_ROUTE_ERROR, error, NULL, 0);
}

static void handle(struct lnetd_device *d, const struct rdma_cm_event *e)
{
    struct lnd_link *l = e->id->context;

    if (e->event == RDMA_CM_EVENT_CONNECT_REQUEST)
        request(d, e);
    else if (!l)
        return; /* of the ID that listens, or of one that is rejected */
    else if (e->event == RDMA_CM_EVENT_ADDR_RESOLVED)
        address_resolved(d, l, e->id);
    else
        lnd_cm_event(d->lnd, l, (uint32_t)e->event, e->status, e->param.conn.private_data,
                     e->param.conn.private_data_len);
}

/* Takes one event.  Between lnd_enter() and lnd_leave() the driver destroys nothing. */
static bool take_cm_event(struct lnetd_device *d)
{
    struct rdma_cm_event *e;

    if (rdma_get_cm_event(d->cm_channel, &e))
        return false;
    lnd_enter(d->lnd);
    d->is_in_event = true;
    handle(d, e);
    rdma_ack_cm_event(e);
    d->is_in_event = false;
    if (d->dying)
        rdma_destroy_id(d->dying);
    d->dying = NULL;
    lnd_leave(d->lnd);
    return true;
}

static void *cm_thread(void *arg)
{
    struct lnetd_device *d = arg;
    uint64_t times;

    while (wait_for(d, d->cm_channel->fd, d->timer_fd)) {
        pthread_mutex_lock(&d->lock);
        while (take_cm_event(d))
            ;
        if (read(d->timer_fd, &times, sizeof(times)) == sizeof(times))
            lnd_wake(d->lnd);
        pthread_mutex_unlock(&d->lock);
        device_changed(d);
    }
    return NULL;
}

/* ---- the CQ thread ---- */

/* Takes all completions of @c.  It is armed already, so that none is missed. */
static void drain(struct lnetd_device *d, struct device_cq *c)
{
    struct ibv_wc wcs[WCS_AT_ONCE];
    int n;

    while ((n = ibv_poll_cq(c->cq, WCS_AT_ONCE, wcs)) > 0) {
        for (int i = 0; i < n; i++)
            lnd_completion(d->lnd, c->link, wcs[i].wr_id, (uint32_t)wcs[i].status, wcs[i].byte_len);
    }
}

/* Takes one event of the channel.  Between lnd_enter() and lnd_leave() the driver does not destroy
 * the completion queue.
 */
static bool take_cq_event(struct lnetd_device *d)
{
    struct ibv_cq *cq;
    void *ctx;
    struct device_cq *c;

    if (ibv_get_cq_event(d->cq_channel, &cq, &ctx))
        return false;
    c = ctx;
    if (++c->n_unacked == ACK_BATCH) {
        ibv_ack_cq_events(cq, c->n_unacked);
        c->n_unacked = 0;
    }
    lnd_enter(d->lnd);
    ibv_req_notify_cq(cq, 0);
    drain(d, c);
    lnd_leave(d->lnd);
    return true;
}

static void *cq_thread(void *arg)
{
    struct lnetd_device *d = arg;

    while (wait_for(d, d->cq_channel->fd, -1)) {
        pthread_mutex_lock(&d->lock);
        while (take_cq_event(d))
            ;
        pthread_mutex_unlock(&d->lock);
        device_changed(d);
    }
    return NULL;
}

int device_start_cm_thread(struct lnetd_device *d)
{
    int error = 0;

    if (!d->has_cm_thread)
        error = pthread_create(&d->cm_thread, NULL, cm_thread, d);
    d->has_cm_thread |= error == 0;
    return error ? device_failed(d, "pthread_create", error) : 0;
}

int device_start_cq_thread(struct lnetd_device *d)
{
    int error = 0;

    if (!d->has_cq_thread)
        error = pthread_create(&d->cq_thread, NULL, cq_thread, d);
    d->has_cq_thread |= error == 0;
    return error ? device_failed(d, "pthread_create", error) : 0;
}
