/* SPDX-License-Identifier: MIT */
/* Numbers of the virtio-rdma device that its driver states too, beside the structures of rfc.h:
 * which virtqueue is whose, limits, flags.
 */
#ifndef EMU_FACTS_DEVICE_H
#define EMU_FACTS_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

/* Virtqueues, as the RFC's list reads: 0 is the control queue, CQ c is queue c (from 1), and with
 * N = max_cq and M = max_qp queue pair q (its QPN, 1 .. M) has N + 2q - 1 for sends and N + 2q for
 * receives.  [virtio-rdma RFC, Virtqueues]
 */
#define QUEUE_CTRL 0u

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

/* The QPN that @queue belongs to; 0 if it is the control queue or a CQ's. */
static inline uint32_t queue_owner(uint32_t max_cq, uint32_t queue)
{
    return queue <= max_cq ? 0 : (queue - max_cq + 1) / 2;
}

/* Of a queue with an owner: does it take sends, or receives? */
static inline bool queue_is_sends(uint32_t max_cq, uint32_t queue)
{
    return (queue - max_cq) % 2 != 0;
}

/* The event queue comes behind all of them.  It keeps this number whether or not it is there, which
 * is what the feature EVENTQ says.  [decision 0009]
 */
static inline uint32_t queue_of_events(uint32_t max_cq, uint32_t max_qp)
{
    return queue_count(max_cq, max_qp);
}

/* Shared receive queues come behind that one, whether or not it is there: number @srqn, from 1.
 * [decision 0024]
 */
static inline uint32_t queue_of_srq(uint32_t max_cq, uint32_t max_qp, uint32_t srqn)
{
    return queue_of_events(max_cq, max_qp) + srqn;
}

/* The shared receive queue that @queue belongs to; 0: it is another queue. */
static inline uint32_t queue_srqn(uint32_t max_cq, uint32_t max_qp, uint32_t queue)
{
    const uint32_t events = queue_of_events(max_cq, max_qp);

    return queue > events ? queue - events : 0;
}

/* Where the configuration has its struct srq_limits, if the driver has accepted SRQ: bytes of its
 * reserved fields.
 */
#define SRQ_LIMITS_AT 8u

/* attr_mask of MODIFY_SRQ.  [libibverbs, enum ibv_srq_attr_mask] */
#define SRQ_MAX_WR 1u
#define SRQ_LIMIT  2u

/* In the type of an asynchronous event: others were lost since the last one that was told. */
#define ASYNC_EVENTS_MISSED 0x80000000u

#define DEVICE_OBJECTS_MAX 16384u /* of max_cq and max_qp */
#define DEVICE_SRQS_MAX    8192u  /* of max_srq: the number of queues has 16 bits */

/* Entries of the GID table that a guest fills: its IPv4 and its IPv6 address. */
#define GUEST_GIDS 2u

/* The largest message.  [IBTA1 9.4.1] */
#define MESSAGE_BYTES_MAX 0x80000000u

/* A remote Q_Key with this bit stands for the Q_Key of the queue pair that sends: programs without
 * privileges cannot send with any other of this half.  [IBTA1 10.2.5]
 */
#define QKEY_OWN 0x80000000u

/* What an atomic works on, at an address that is a multiple of it.  [IBTA1 9.4.5] */
#define ATOMIC_WORD_BYTES 8u

/* Largest values of queue pair attributes where no limit of the device applies.  [IBTA1 11.2.5.2
 *, libibverbs ibv_modify_qp(3)]
 */
#define TIMER_CODE_MAX    31u
#define RETRY_MAX         7u
#define FLOW_LABEL_MAX    0xfffffu
#define SERVICE_LEVEL_MAX 15u
#define QPN_MAX           0xffffffu

/* The QPN that packets to a multicast group carry. */
#define QPN_MULTICAST 0xffffffu

/* The most that a RoCEv2 packet has beside its payload: IPv6 header, UDP, BTH, the extension
 * headers of an XRC atomic, ICRC.  What is left of an Ethernet's MTU bounds the path MTU: 1500
 * carries 1024. [Linux, iboe_get_mtu() in include/rdma/ib_addr.h]
 */
#define ROCE_HEADERS_MAX 96u

/* MTUs of an Ethernet port: IPv6 needs the least, and the most is what is called jumbo.  [RFC 8200,
 * 5]
 */
#define ETHERNET_MTU_MIN 1280u
#define ETHERNET_MTU     1500u
#define ETHERNET_MTU_MAX 9000u

/* A P_Key: the low 15 bits are the number of a partition, which is not 0.  [IBTA1 10.9.1.1]
 */
#define PKEY_FULL_MEMBER 0x8000u

static inline bool pkey_is_valid(uint16_t pkey)
{
    return (pkey & ~PKEY_FULL_MEMBER & 0xffffu) != 0;
}

/* gid_type of ADD_GID. */
#define GID_TYPE_ROCE_V2 2u

/* flags of REQ_NOTIFY_CQ.  [virtio-rdma RFC, Request Notify CQ] */
#define NOTIFY_SOLICITED       1u
#define NOTIFY_NEXT_COMPLETION 2u

/* sq_sig_type of CREATE_QP. */
#define SIG_ALL_WR 0u
#define SIG_REQ_WR 1u

/* create_flags of CREATE_QP, with the feature MCAST: libibverbs has the same value.  The queue pair
 * gets no copy of what it sends to a multicast group itself.
 */
#define CREATE_BLOCK_SELF_MCAST_LB 2u

/* ah_flags of an address vector. */
#define AH_FLAG_GRH 1u

#endif
