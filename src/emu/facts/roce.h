/* SPDX-License-Identifier: MIT */
/* Constants of verbs and of RoCEv2, which no device decides. */
#ifndef EMU_FACTS_ROCE_H
#define EMU_FACTS_ROCE_H

#include <stdbool.h>
#include <stdint.h>

/* Bits of attr_mask of MODIFY_SRQ.  [libibverbs, enum ibv_srq_attr_mask] */
#define SRQ_MAX_WR 1u
#define SRQ_LIMIT  2u

/* Bytes of the largest message.  [IBTA1 9.4.1] */
#define MESSAGE_BYTES_MAX 0x80000000u

/* Longest message that the port of a host without TRAIT_PORT_TELLS_2_GIB says it takes. */
#define MESSAGE_BYTES_SMALL 0x800000u

/* If the remote Q_Key of a send request has this bit, the device sends the Q_Key of the sending
 * queue pair instead.  Programs without privileges can therefore send a Q_Key with this bit only if
 * it is the queue pair's own.  [IBTA1 10.2.5]
 */
#define QKEY_OWN 0x80000000u

/* The QPN of the queue pair of type GSI.  [IBTA1 13.4] */
#define QPN_GSI 1u

/* The Q_Key of QPN 1, the queue pair of type GSI.  It has the bit QKEY_OWN, so that only QPN 1 and
 * a queue pair that was given this Q_Key can send to another QPN 1.  [IBTA1 10.2.5]
 */
#define QKEY_GSI 0x80010000u

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

/* Value of rnr_retry for unlimited retries.  [IBTA1 9.7.5.2.8]  As a value of retry_cnt it is
 * unlimited only if the profile does not have TRAIT_RETRY_7_ENDS.
 */
#define RETRY_FOREVER 7u

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

/* Bit of create_flags in CREATE_QP.  It needs the feature MCAST.  A queue pair with this bit gets
 * no copy of a datagram that it has sent to a multicast group itself.  libibverbs has the same
 * value.
 */
#define CREATE_BLOCK_SELF_MCAST_LB 2u

/* Bit of ah_flags in an address vector: the address is a GID. */
#define AH_FLAG_GRH 1u

/* The service level in the completion of a datagram that came, with TRAIT_SL_SAYS_IP_VERSION.  RoCE
 * has no service level: as at ConnectX the field says which IP header is in the GRH area.  The
 * annex requires such a flag in the completion, and libibverbs has no other field for it. [RoCEv2
 * A17.4.5.1]
 */
#define CQE_SL_IPV6 1u
#define CQE_SL_IPV4 2u

/* Entries of the GID table that a guest fills: its IPv4 and its IPv6 address. */
#define GUEST_GIDS 2u

#endif
