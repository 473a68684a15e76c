/* SPDX-License-Identifier: MIT */
/* The reasons why a frame is dropped without an answer.  Ports count drops by these names. */
#ifndef EMU_FACTS_ENUM_DROP_H
#define EMU_FACTS_ENUM_DROP_H

#include "emu/facts/enum_table.h"

#define ENUM_DROP(X)                                                                               \
    X(DROP, NONE, 0, "not dropped")                                                                \
    X(DROP, SHORT, 1, "the frame ends before its headers do")                                      \
    X(DROP, NOT_FOR_US, 2, "another station's destination MAC")                                    \
    X(DROP, BAD_ETHERTYPE, 3, "neither IPv4 nor IPv6")                                             \
    X(DROP, BAD_IP_HEADER, 4, "IP version, header length or total length is wrong")                \
    X(DROP, BAD_IP_CHECKSUM, 5, "the IPv4 header checksum is wrong")                               \
    X(DROP, FRAGMENT, 6, "an IP fragment: RoCEv2 forbids them")                                    \
    X(DROP, NOT_ROCE, 7, "not UDP to port 4791")                                                   \
    X(DROP, BAD_UDP_LENGTH, 8, "the UDP length contradicts the IP length")                         \
    X(DROP, BAD_ICRC, 9, "the invariant CRC does not match")                                       \
    X(DROP, BAD_VERSION, 10, "the BTH's transport version is not 0")                               \
    X(DROP, BAD_OPCODE, 11, "a reserved BTH opcode on an unreliable or unknown service")           \
    X(DROP, BAD_PAD, 12, "the pad count is larger than the payload")                               \
    X(DROP, BAD_PKEY, 13, "the P_Key is not the queue pair's partition")                           \
    X(DROP, NO_SUCH_GID, 14, "the destination address is no GID of this port")                     \
    X(DROP, NO_SUCH_QP, 15, "the destination QPN does not exist")                                  \
    X(DROP, WRONG_SERVICE, 16, "the opcode's service is not the queue pair's type")                \
    X(DROP, QP_NOT_READY, 17, "the queue pair's state takes no such packet")                       \
    X(DROP, WRONG_SOURCE, 18, "the source address is not the one this queue pair is connected to") \
    X(DROP, OUT_OF_SEQUENCE, 19,                                                                   \
      "ahead of the expected PSN, where no NAK, or no further one, asks for what is missing")      \
    X(DROP, GHOST_ACK, 20, "an acknowledge for a PSN that is not outstanding")                     \
    X(DROP, NO_ROUTE, 21, "a switch, port or virtual function without a link")                     \
    X(DROP, NO_BUFFER, 22, "the lab has no room for another frame")                                \
    X(DROP, AFTER_RNR, 23, "follows a packet that was answered with an RNR NAK")                   \
    X(DROP, BAD_ARP, 24, "an ARP packet that is not about one Ethernet and one IPv4 address")      \
    X(DROP, BAD_ICMP, 25, "an ICMP message that ends too early or has a wrong code")               \
    X(DROP, BAD_ICMP_CHECKSUM, 26, "the checksum of an ICMP message is wrong")                     \
    X(DROP, BAD_ND, 27, "a neighbour discovery message that the protocol's own rules refuse")      \
    X(DROP, NO_DRIVER, 28, "virtio-net has no running driver")                                     \
    X(DROP, NO_RX_BUFFER, 29, "the driver of virtio-net has no receive buffer posted")             \
    X(DROP, TOO_LONG, 30, "the frame is longer than the MTU or the receive buffer")                \
    X(DROP, NO_LISTENER, 31, "nothing on this host takes this protocol or message")                \
    X(DROP, UNRESOLVED, 32, "it waited for the MAC of a neighbour, and none answered")             \
    X(DROP, QUEUE_FULL, 33, "a bounded queue before it is full")                                   \
    X(DROP, GHOST_REPLY, 34, "an answer to what nobody has asked")                                 \
    X(DROP, BAD_NET_HEADER, 35, "virtio-net's header asks for an offload that was not negotiated") \
    X(DROP, AFTER_IMPLIED_NAK, 36, "behind a response that is missing and was asked for again")    \
    X(DROP, NOT_KEPT, 37, "asks again for a READ or an atomic that is not kept any more")          \
    X(DROP, NO_RECEIVE, 38, "no receive is posted, and the service has no NAK to say so")          \
    X(DROP, REFUSED, 39, "breaks a rule, and the service has no NAK to say so")                    \
    X(DROP, BAD_QKEY, 40, "the Q_Key of the datagram is not the queue pair's")                     \
    X(DROP, OWN_COPY, 41, "who is in the group has sent it, and wants no copy of its own")         \
    X(DROP, NO_BUS_MASTER, 42, "bus mastering is off: the device may not write it to memory")      \
    X(DROP, SPOOFED, 43, "the source MAC is not that of the virtual function that sends it")       \
    X(DROP, OTHER_VLAN, 44, "tagged for another VLAN, or without a tag where one is needed")       \
    X(DROP, FOREIGN_SOURCE, 45, "the source address is none of the guest that shares its port")    \
    X(DROP, MUX_MESSAGE, 46, "the multiplexer passes no such message on")                          \
    X(DROP, MUX_GID, 47, "no guest of the multiplexer has registered the GID in the message")      \
    X(DROP, MUX_ID, 48, "the multiplexer does not know the communication ID, or has forgotten it")

enum drop_reason { ENUM_DROP(ENUM_MEMBER) DROP_COUNT };

#endif
