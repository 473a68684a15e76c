/* SPDX-License-Identifier: MIT */
/* Constants that the virtio-rdma device and its driver share, in addition to the structures of
 * rfc.h: the numbers of the virtqueues, limits, flags.
 */
#ifndef EMU_FACTS_DEVICE_H
#define EMU_FACTS_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

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

/* Bits of attr_mask of MODIFY_SRQ.  [libibverbs, enum ibv_srq_attr_mask] */
#define SRQ_MAX_WR 1u
#define SRQ_LIMIT  2u

/* Bit in the type of an asynchronous event: other events were lost since the driver got the
 * previous one.
 */
#define ASYNC_EVENTS_MISSED 0x80000000u

#define DEVICE_OBJECTS_MAX 16384u /* largest max_cq, and largest max_qp */
#define DEVICE_SRQS_MAX    8192u  /* largest max_srq: the number of all queues has 16 bits */

/* Entries of the GID table that a guest fills: its IPv4 and its IPv6 address. */
#define GUEST_GIDS 2u

/* Bytes of the largest message.  [IBTA1 9.4.1] */
#define MESSAGE_BYTES_MAX 0x80000000u

/* If the remote Q_Key of a send request has this bit, the device sends the Q_Key of the sending
 * queue pair instead.  Programs without privileges can therefore send a Q_Key with this bit only if
 * it is the queue pair's own.  [IBTA1 10.2.5]
 */
#define QKEY_OWN 0x80000000u

/* Number of bytes on which an atomic operates.  The address must be a multiple of this number.
 * [IBTA1 9.4.5]
 */
#define ATOMIC_WORD_BYTES 8u

/* Largest values of queue pair attributes that no limit of the device restricts further.
 * [IBTA1 11.2.5.2, libibverbs ibv_modify_qp(3)]
 */
#define TIMER_CODE_MAX    31u
#define RETRY_MAX         7u
#define FLOW_LABEL_MAX    0xfffffu
#define SERVICE_LEVEL_MAX 15u
#define QPN_MAX           0xffffffu

/* Destination QPN of packets to a multicast group. */
#define QPN_MULTICAST 0xffffffu

/* Largest number of bytes that a RoCEv2 packet has in addition to its payload: IPv6 header, UDP,
 * BTH, the extension headers of an XRC atomic, ICRC.  The path MTU must fit in the rest of the
 * Ethernet MTU: an MTU of 1500 allows a path MTU of 1024.
 * [Linux, iboe_get_mtu() in include/rdma/ib_addr.h]
 */
#define ROCE_HEADERS_MAX 96u

/* MTUs of an Ethernet port in bytes: the minimum of IPv6, the usual one, and that of jumbo frames.
 * [RFC 8200, 5]
 */
#define ETHERNET_MTU_MIN 1280u
#define ETHERNET_MTU     1500u
#define ETHERNET_MTU_MAX 9000u

/* Bit of a P_Key: full member of the partition.  The other 15 bits are the number of the partition,
 * which must not be 0.  [IBTA1 10.9.1.1]
 */
#define PKEY_FULL_MEMBER 0x8000u

static inline bool pkey_is_valid(uint16_t pkey)
{
    return (pkey & ~PKEY_FULL_MEMBER & 0xffffu) != 0;
}

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

/* Bit of create_flags in CREATE_QP.  It needs the feature MCAST.  A queue pair with this bit gets
 * no copy of a datagram that it has sent to a multicast group itself.  libibverbs has the same
 * value.
 */
#define CREATE_BLOCK_SELF_MCAST_LB 2u

/* Bit of ah_flags in an address vector: the address is a GID. */
#define AH_FLAG_GRH 1u

#endif
