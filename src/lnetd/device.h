/* SPDX-License-Identifier: MIT */
/* The environment of the driver of LNet on libibverbs and librdmacm.
 *
 * [O2iblnd to userland, 2.4 and 2.5]: two threads.  One takes the events of all IDs from one event
 * channel; the other one takes the events of all completion queues from one completion channel.
 *
 *	CM thread    poll(); lock; { rdma_get_cm_event(), the driver, rdma_ack_cm_event() }; unlock
 *	CQ thread    poll(); lock; { ibv_get_cq_event(), arm, poll until empty }; unlock
 *	main thread  lock; LNet; unlock
 *
 * One mutex is around the driver, so that rdma_destroy_id() and ibv_destroy_cq() never wait for
 * events that are not acknowledged.  The CM thread takes, handles and acknowledges an event while
 * it holds the mutex.  The CQ thread acknowledges many events at a time, and device_destroy_cq()
 * the rest.  Both are inside of lnd_enter() while they handle an event, and the driver destroys
 * only in the outermost lnd_leave().
 *
 * All other calls are answered at once, or, as rdma_connect(), by an event: no operation returns
 * LND_LATER.
 */
#ifndef LNETD_DEVICE_H
#define LNETD_DEVICE_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>

#include "lnet/lnet.h"
#include "lnetd/memory.h"

static inline struct rdma_cm_id *device_id_of(const struct lnd_link *l)
{
    return (struct rdma_cm_id *)(uintptr_t)l->id;
}

/* A completion queue, the context of its struct ibv_cq. */
struct device_cq {
    struct ibv_cq *cq;
    struct lnd_link *link;
    unsigned n_unacked; /* events */
};

static inline struct device_cq *device_cq_of(const struct lnd_link *l)
{
    return (struct device_cq *)(uintptr_t)l->cq;
}

/* Objects of adapters that live now: all are gone at the end. */
struct device_live {
    uint32_t ids, qps, cqs, mrs;
};

struct lnetd_device {
    pthread_mutex_t lock;
    pthread_t cm_thread, cq_thread;
    bool has_cm_thread, has_cq_thread;
    int quit_fd;    /* eventfd: the threads end */
    int changed_fd; /* eventfd: something was handled */
    int signal_fd;  /* SIGINT and SIGTERM */
    int timer_fd;   /* of wake_at() */
    bool was_interrupted;
    uint32_t ip;
    struct rdma_event_channel *cm_channel;
    struct ibv_comp_channel *cq_channel;
    struct rdma_cm_id *listener;
    struct ibv_pd *pd;
    struct rdma_cm_id *dying; /* to be destroyed when its event is acknowledged; NULL: none */
    bool is_in_event;         /* an event of rdma_cm is not acknowledged */
    struct memory_pool memory;
    struct lnd *lnd;
    const char *failed_call; /* the last one, and its errno */
    int failed_errno;
    struct device_live live;
    void (*note)(const struct lnd_note *note); /* NULL: nobody wants them */
    uint64_t rejected_by;                      /* NID of the last reject of a peer; 0: none */
    uint32_t rejected_why;
};

/* Returns false, and sets errno, if the threads' descriptors cannot be had. */
bool device_init(struct lnetd_device *d, uint32_t ip);
/* Stops the threads, and frees what is left.  The driver is down. */
void device_done(struct lnetd_device *d);

/* Keeps the name of a call that has failed.  Returns -@error. */
int device_failed(struct lnetd_device *d, const char *call, int error);

/* Waits until something has changed or, on the clock of now_ns(), until @until_ns; 0: no end.
 * Returns false after SIGINT or SIGTERM, until d->was_interrupted is cleared.  The lock is held,
 * and not while it waits.
 */
bool device_wait(struct lnetd_device *d, uint64_t until_ns);
/* Tells device_wait() that something has changed. */
void device_changed(const struct lnetd_device *d);
uint64_t device_now_ns(void);

/* The operations; their context is a struct lnetd_device. */
extern const struct lnd_ops device_ops;

/* ---- device_verbs.c ---- */
int device_reg_mr(void *ctx, uint64_t addr, uint64_t bytes, struct lnd_mr *ret);
int device_dereg_mr(void *ctx, struct lnd_mr *mr);
int device_create_cq(void *ctx, struct lnd_link *l, uint32_t cqe);
int device_destroy_cq(void *ctx, struct lnd_link *l);
int device_create_qp(void *ctx, struct lnd_link *l, uint32_t max_send_wr, uint32_t max_recv_wr);
int device_destroy_qp(void *ctx, struct lnd_link *l);
int device_post_recv(void *ctx, struct lnd_link *l, const struct lnd_wr *wr);
int device_post_send(void *ctx, struct lnd_link *l, const struct lnd_wr *wr, uint32_t n);

/* ---- device_cm.c ---- */
int device_resolve(void *ctx, struct lnd_link *l, uint32_t ip, uint16_t service,
                   uint64_t timeout_ns);
int device_connect(void *ctx, struct lnd_link *l, const void *data, uint8_t bytes);
void device_adopt(void *ctx, struct lnd_link *l);
int device_accept(void *ctx, struct lnd_link *l, const void *data, uint8_t bytes);
int device_reject(void *ctx, struct lnd_link *l, const void *data, uint8_t bytes);
int device_disconnect(void *ctx, struct lnd_link *l);
int device_destroy_id(void *ctx, struct lnd_link *l);

/* ---- device_threads.c ---- */
/* Starts the thread if it does not run.  0 or a negative errno. */
int device_start_cm_thread(struct lnetd_device *d);
int device_start_cq_thread(struct lnetd_device *d);

#endif
