/* SPDX-License-Identifier: MIT */
/* Events: what a device tells a program that has not asked, and completion channels.
 *
 * Names and meanings are those of libibverbs, but nothing here waits: where libibverbs blocks, the
 * answer is "none", and rdl_run() or rdl_step() lets the lab go on.  All of it takes no simulated
 * time and no control request.
 *
 * An event that was taken must be acknowledged, or the object that it is about cannot be destroyed:
 * RDL_ERR_BUSY where libibverbs would wait.
 */
#ifndef RDMALAB_EVENTS_H
#define RDMALAB_EVENTS_H

#include "rdmalab/verbs.h"

/* An asynchronous event.  [libibverbs, struct ibv_async_event] */
struct rdl_async_event {
    uint32_t type;   /* enum async_event */
    uint32_t object; /* enum object_kind of what it is about; 0: the port or the device */
    uint64_t raw;    /* its handle: rdl_qp.raw, rdl_cq.raw */
    uint32_t number; /* of the queue pair, completion queue or port */
};

/* Takes the oldest event of @host that nobody has taken; *@ret_n is 0 when there is none.  Events
 * of an object that is destroyed go with it.
 *
 * Return: RDL_OK, RDL_ERR_STALE, RDL_ERR_STATE: the host is not booted
 */
RDL_MUST_CHECK enum rdl_status rdl_get_async_event(struct rdl_lab *lab, rdl_host host,
                                                   struct rdl_async_event *ret, size_t *ret_n);

/* Acknowledges one event about what @event names; of a port or the device nothing needs it.
 *
 * Return: RDL_OK, RDL_ERR_STALE, RDL_ERR_STATE: all events about it are acknowledged
 */
RDL_MUST_CHECK enum rdl_status rdl_ack_async_event(struct rdl_lab *lab,
                                                   const struct rdl_async_event *event);

/* A channel on which completion events of any number of completion queues arrive. */
RDL_MUST_CHECK enum rdl_status rdl_create_comp_channel(struct rdl_lab *lab, rdl_host host,
                                                       const char *name, rdl_channel *ret);

/* RDL_ERR_BUSY: a completion queue uses it. */
RDL_MUST_CHECK enum rdl_status rdl_destroy_comp_channel(struct rdl_lab *lab, rdl_channel channel);

/* As rdl_create_cq(), with events that arrive on @channel. */
RDL_MUST_CHECK enum rdl_status rdl_create_cq_on(struct rdl_lab *lab, rdl_channel channel,
                                                uint32_t cqe, const char *name, rdl_cq *ret);

/* Takes the oldest completion event: *@ret is the completion queue that has one.  *@ret_n is 0 when
 * there is none.
 */
RDL_MUST_CHECK enum rdl_status rdl_get_cq_event(struct rdl_lab *lab, rdl_channel channel,
                                                rdl_cq *ret, size_t *ret_n);

/* Acknowledges @n completion events that were taken.  RDL_ERR_STATE: fewer are to be acknowledged.
 */
RDL_MUST_CHECK enum rdl_status rdl_ack_cq_events(struct rdl_lab *lab, rdl_cq cq, uint32_t n);

/* Why an object cannot be destroyed. */
struct rdl_users {
    uint32_t n;                 /* objects that need it */
    uint32_t kind;              /* enum object_kind of one of them */
    uint64_t raw;               /* and its handle */
    uint32_t async_events;      /* that were taken and not acknowledged */
    uint32_t completion_events; /* the same; of a completion queue */
    uint32_t groups;            /* multicast groups that a queue pair is in */
};
RDL_MUST_CHECK enum rdl_status rdl_users_of(const struct rdl_lab *lab, uint32_t kind, uint64_t raw,
                                            struct rdl_users *ret);

#endif
