/* SPDX-License-Identifier: MIT */
/* Constants that the virtio-rdma device and its driver share, in addition to the structures of
 * rfc.h: the numbers of the virtqueues, limits, flags.
 */
#ifndef EMU_FACTS_DEVICE_H
#define EMU_FACTS_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/facts/roce.h"

/* Numbers of the virtqueues, with N = max_cq and M = max_qp.  [virtio-rdma RFC, Virtqueues]
 *
 *	0		control queue
 *	c		completion queue c, 1 .. N
 *	N + 2q - 1	send queue of the queue pair with QPN q, 1 .. M
 *	N + 2q		receive queue of that queue pair
 */
#define QUEUE_CTRL 0u

/* Returns the number of these queues, without the event queue and shared receive queues. */
static inline uint32_t queue_count(uint32_t max_cq, uint32_t max_qp)
{
    return 1 + max_cq + 2 * max_qp;
}

static inline uint32_t queue_of_sends(uint32_t max_cq, uint32_t qpn)
{
    return max_cq + 2 * qpn - 1;
}

static inline uint32_t queue_of_receives(uint32_t max_cq, uint32_t qpn)
{
    return max_cq + 2 * qpn;
}

/* Returns the QPN of the queue pair to which @queue belongs, or 0 for the control queue and the
 * completion queues.  @queue must be less than queue_count().
 */
static inline uint32_t queue_owner(uint32_t max_cq, uint32_t queue)
{
    return queue <= max_cq ? 0 : (queue - max_cq + 1) / 2;
}

/* Returns true if @queue is a send queue, false if it is a receive queue.  It must belong to a
 * queue pair: queue_owner() is not 0.
 */
static inline bool queue_is_sends(uint32_t max_cq, uint32_t queue)
{
    return (queue - max_cq) % 2 != 0;
}

/* Returns the number of the event queue, which follows the queues of the queue pairs.  The number
 * is reserved even if the device does not offer the feature EVENTQ.  [decision 0009]
 */
static inline uint32_t queue_of_events(uint32_t max_cq, uint32_t max_qp)
{
    return queue_count(max_cq, max_qp);
}

/* Returns the number of the virtqueue of shared receive queue @srqn, from 1.  The numbers of these
 * queues follow that of the event queue.  [decision 0024]
 */
static inline uint32_t queue_of_srq(uint32_t max_cq, uint32_t max_qp, uint32_t srqn)
{
    return queue_of_events(max_cq, max_qp) + srqn;
}

/* Returns the number of the shared receive queue to which @queue belongs, or 0 for any other queue.
 */
static inline uint32_t queue_srqn(uint32_t max_cq, uint32_t max_qp, uint32_t queue)
{
    const uint32_t events = queue_of_events(max_cq, max_qp);

    return queue > events ? queue - events : 0;
}

/* Offset in bytes of struct srq_limits (rfc.h) in the field `reserved` of the device configuration.
 * The structure exists if the driver has accepted the feature SRQ.
 */
#define SRQ_LIMITS_AT 8u

/* Offset in bytes of struct ceq_limits (rfc.h) in the same field.  The structure exists if the
 * driver has accepted the feature CEQ.  The completion event queues are the last max_ceq virtqueues
 * of the device.  [decision 0061]
 */
#define CEQ_LIMITS_AT 20u

/* The arming of a CQ in memory: NOTIFY_NEXT_COMPLETION or NOTIFY_SOLICITED in the low bits, 0: it
 * is not armed; the number of the arming above.  [decision 0062]
 */
#define CQ_ARM_FLAGS          3u
#define CQ_ARM_SEQUENCE_SHIFT 2u
#define CQ_ARM_SEQUENCE_MAX   (UINT32_MAX >> CQ_ARM_SEQUENCE_SHIFT)

/* Bit in the type of an asynchronous event: other events were lost since the driver got the
 * previous one.
 */
#define ASYNC_EVENTS_MISSED 0x80000000u

#define DEVICE_OBJECTS_MAX 16384u /* largest max_cq, and largest max_qp */
#define DEVICE_SRQS_MAX    8192u  /* largest max_srq: the number of all queues has 16 bits */
#define DEVICE_CEQS_MAX    64u    /* most completion event queues */

/* Value of gid_type in ADD_GID. */
#define GID_TYPE_ROCE_V2 2u

/* Values of `flags` in REQ_NOTIFY_CQ.  [virtio-rdma RFC, Request Notify CQ] */
#define NOTIFY_SOLICITED       1u
#define NOTIFY_NEXT_COMPLETION 2u

/* Values of sq_sig_type in CREATE_QP.  ALL: every send request has a completion.  REQ: only a send
 * request with the flag SIGNALED, or one that fails, has a completion.
 */
#define SIG_ALL_WR 0u
#define SIG_REQ_WR 1u

#endif
