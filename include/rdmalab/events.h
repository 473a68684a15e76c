/* SPDX-License-Identifier: MIT */
/* Asynchronous events and completion channels.
 *
 * Names and meanings are those of libibverbs, but no call blocks.  Where libibverbs would block,
 * the call reports that there is no event, and the caller advances the lab with rdl_run() or
 * rdl_step().  None of these calls takes simulated time or sends a control request.
 *
 * A program must acknowledge each event that it takes.  Until then the object that the event names
 * cannot be destroyed: the call returns RDL_ERR_BUSY where libibverbs would block.
 */
#ifndef RDMALAB_EVENTS_H
#define RDMALAB_EVENTS_H

#include "rdmalab/verbs.h"

/* An asynchronous event.  [libibverbs, struct ibv_async_event] */
struct rdl_async_event {
    uint32_t type;   /* enum async_event */
    uint32_t object; /* enum object_kind of the affected object; 0: the port or the device */
    uint64_t raw;    /* handle of that object (rdl_qp.raw, rdl_cq.raw, rdl_srq.raw), or 0 */
    uint32_t number; /* number of the queue pair, completion queue, SRQ or port */
};

/* Takes the oldest asynchronous event of @host.  *@ret_n is 1.  If no event is pending, *@ret_n is
 * 0 and *@ret is unchanged.  Destroying an object discards its pending events.
 *
 * Return: RDL_OK
 *	   RDL_ERR_STATE  the host has not booted
 *	   RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_get_async_event(struct rdl_lab *lab, rdl_host host,
                                                   struct rdl_async_event *ret, size_t *ret_n);

/* Acknowledges one event about the object that @event names.  Events of the port or the device need
 * no acknowledgement; for them the call does nothing.
 *
 * Return: RDL_OK
 *	   RDL_ERR_STATE  no event of the object is unacknowledged
 *	   RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_ack_async_event(struct rdl_lab *lab,
                                                   const struct rdl_async_event *event);

/* Creates a completion channel.  Any number of completion queues can deliver their completion
 * events to it.
 */
RDL_MUST_CHECK enum rdl_status rdl_create_comp_channel(struct rdl_lab *lab, rdl_host host,
                                                       const char *name, rdl_channel *ret);

/* Destroys a completion channel.  Returns RDL_ERR_BUSY if a completion queue still uses it. */
RDL_MUST_CHECK enum rdl_status rdl_destroy_comp_channel(struct rdl_lab *lab, rdl_channel channel);

/* Creates a completion queue as rdl_create_cq() does, on the host of @channel.  Its completion
 * events are delivered to @channel.
 */
RDL_MUST_CHECK enum rdl_status rdl_create_cq_on(struct rdl_lab *lab, rdl_channel channel,
                                                uint32_t cqe, const char *name, rdl_cq *ret);

/* A completion queue whose vector the driver chooses: it takes one after the other. */
#define RDL_VECTOR_ANY UINT32_MAX

struct rdl_cq_config {
    rdl_channel channel; /* on the same host; raw 0: none */
    uint32_t cqe;
    /* comp_vector of ibv_create_cq(): one of rdl_device_attr.comp_vectors, or RDL_VECTOR_ANY.  For
     * virtio-rdma it is the completion event queue.
     */
    uint32_t vector;
};

/* Creates a completion queue of @host as rdl_create_cq() or rdl_create_cq_on() do.  Returns
 * RDL_ERR_INVAL in addition if the device does not have the vector, or if the channel is on another
 * host.
 */
RDL_MUST_CHECK enum rdl_status rdl_create_cq_by(struct rdl_lab *lab, rdl_host host,
                                                const struct rdl_cq_config *config,
                                                const char *name, rdl_cq *ret);

/* Takes the oldest completion event of @channel.  *@ret is the completion queue that raised it, and
 * *@ret_n is 1.  If no event is pending, *@ret_n is 0 and *@ret is unchanged.  Returns RDL_OK or
 * RDL_ERR_STALE.
 */
RDL_MUST_CHECK enum rdl_status rdl_get_cq_event(struct rdl_lab *lab, rdl_channel channel,
                                                rdl_cq *ret, size_t *ret_n);

/* Acknowledges @n completion events of @cq.  If fewer than @n are unacknowledged, returns
 * RDL_ERR_STATE and acknowledges none.
 */
RDL_MUST_CHECK enum rdl_status rdl_ack_cq_events(struct rdl_lab *lab, rdl_cq cq, uint32_t n);

/* The part of a guest's kernel that has an object. */
enum rdl_kernel_part {
    RDL_KERNEL_NONE, /* none: it belongs to a program or to the lab's user */
    RDL_KERNEL_CM,   /* the connection manager, which stays with the host */
    RDL_KERNEL_LNET  /* the node of LNet, until it stops */
};

/* The reasons why an object cannot be destroyed yet.  Without a reason all fields are 0. */
struct rdl_users {
    uint32_t n;            /* number of objects that use this one */
    uint32_t kind;         /* enum object_kind of one of these users */
    uint64_t raw;          /* handle of the same user */
    uint32_t async_events; /* number of asynchronous events taken and not acknowledged */
    /* A completion queue: number of completion events taken and not acknowledged. */
    uint32_t completion_events;
    uint32_t groups; /* a queue pair: number of multicast groups to which it is attached */
    enum rdl_kernel_part kept_by; /* the part of the kernel that has it */
};

/* Sets *@ret to the users of the object with handle @raw and kind @kind (enum object_kind).
 * Returns RDL_OK, or RDL_ERR_STALE if there is no such object.
 */
RDL_MUST_CHECK enum rdl_status rdl_users_of(const struct rdl_lab *lab, uint32_t kind, uint64_t raw,
                                            struct rdl_users *ret);

#endif
