/* SPDX-License-Identifier: MIT */
/* Every enumeration that has a name outside the code: IBTA and virtio-rdma values, and our own.
 *
 * Each is one list of rows X(prefix, NAME, value, text).  The C enum, the name printed in traces
 * and JSON, the words that commands accept, the schema and the help are made from the rows.
 */
#ifndef EMU_FACTS_ENUMS_H
#define EMU_FACTS_ENUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Queue pair states.  [virtio-rdma RFC, enum ib_qp_state] */
#define ENUM_QP_STATE(X)                                                                           \
    X(QPS, RESET, 0, "just created: nothing can be posted, nothing is received")                   \
    X(QPS, INIT, 1, "receives can be posted; packets that arrive are dropped")                     \
    X(QPS, RTR, 2, "ready to receive: the receive queue works, the send queue does not")           \
    X(QPS, RTS, 3, "ready to send: both queues work")                                              \
    X(QPS, SQD, 4, "send queue drained: what was started finishes, new work waits")                \
    X(QPS, SQE, 5, "send queue error (UC and UD only): sends are flushed, receives work")          \
    X(QPS, ERR, 6, "error: everything posted completes with WR_FLUSH_ERR")

/* [virtio-rdma RFC, enum ib_qp_type] */
#define ENUM_QP_TYPE(X)                                                                            \
    X(QPT, SMI, 0, "subnet management: not offered by RoCE")                                       \
    X(QPT, GSI, 1, "general services: the QP of the connection manager")                           \
    X(QPT, RC, 2, "reliable connection")                                                           \
    X(QPT, UC, 3, "unreliable connection")                                                         \
    X(QPT, UD, 4, "unreliable datagram")

/* Bits of the attribute mask of MODIFY_QP.  [virtio-rdma RFC, enum ib_qp_attr_mask] */
#define ENUM_QP_ATTR(X)                                                                            \
    X(QPA, STATE, 1u << 0, "state")                                                                \
    X(QPA, CUR_STATE, 1u << 1, "cur_state")                                                        \
    X(QPA, EN_SQD_ASYNC_NOTIFY, 1u << 2, "en_sqd_async_notify")                                    \
    X(QPA, ACCESS_FLAGS, 1u << 3, "access")                                                        \
    X(QPA, PKEY_INDEX, 1u << 4, "pkey_index")                                                      \
    X(QPA, PORT, 1u << 5, "port")                                                                  \
    X(QPA, QKEY, 1u << 6, "qkey")                                                                  \
    X(QPA, AV, 1u << 7, "ah")                                                                      \
    X(QPA, PATH_MTU, 1u << 8, "mtu")                                                               \
    X(QPA, TIMEOUT, 1u << 9, "timeout")                                                            \
    X(QPA, RETRY_CNT, 1u << 10, "retry_cnt")                                                       \
    X(QPA, RNR_RETRY, 1u << 11, "rnr_retry")                                                       \
    X(QPA, RQ_PSN, 1u << 12, "rq_psn")                                                             \
    X(QPA, MAX_QP_RD_ATOMIC, 1u << 13, "max_rd_atomic")                                            \
    X(QPA, ALT_PATH, 1u << 14, "alt_path")                                                         \
    X(QPA, MIN_RNR_TIMER, 1u << 15, "min_rnr_timer")                                               \
    X(QPA, SQ_PSN, 1u << 16, "sq_psn")                                                             \
    X(QPA, MAX_DEST_RD_ATOMIC, 1u << 17, "max_dest_rd_atomic")                                     \
    X(QPA, PATH_MIG_STATE, 1u << 18, "path_mig_state")                                             \
    X(QPA, CAP, 1u << 19, "cap")                                                                   \
    X(QPA, DEST_QPN, 1u << 20, "dest_qpn")                                                         \
    X(QPA, RATE_LIMIT, 1u << 25, "rate_limit")                                                     \
    X(QPA, CREDITS, 1u << 30, "credits")

/* What a work request of a send queue can be.  [virtio-rdma RFC, enum ib_wr_opcode] */
#define ENUM_SEND_OPCODE(X)                                                                        \
    X(WR, RDMA_WRITE, 0, "write to remote memory")                                                 \
    X(WR, RDMA_WRITE_WITH_IMM, 1, "write to remote memory, then complete a remote receive")        \
    X(WR, SEND, 2, "send a message into the remote receive queue")                                 \
    X(WR, SEND_WITH_IMM, 3, "send a message and four immediate bytes")                             \
    X(WR, RDMA_READ, 4, "read remote memory")                                                      \
    X(WR, ATOMIC_CMP_AND_SWP, 5, "compare and swap eight remote bytes")                            \
    X(WR, ATOMIC_FETCH_AND_ADD, 6, "fetch and add to eight remote bytes")                          \
    X(WR, LOCAL_INV, 7, "invalidate a local key")                                                  \
    X(WR, SEND_WITH_INV, 9, "send a message and invalidate a remote key")                          \
    X(WR, RDMA_READ_WITH_INV, 11, "read, then invalidate a local key")                             \
    X(WR, REG_MR, 0x20, "register a fast-register memory region")                                  \
    X(WR, BIND_MW, 8, "let a memory window show a part of a region; not of the RFC")

#define ENUM_WR_OPCODE(X)                                                                          \
    ENUM_SEND_OPCODE(X)                                                                            \
    X(WR, RECV, 0x1000, "receive: not an opcode of the send queue, used in traces")

/* [libibverbs, enum ibv_wc_opcode]: the RFC's own list cannot say RECV. */
#define ENUM_WC_OPCODE(X)                                                                          \
    X(WC, SEND, 0, "a SEND of any kind")                                                           \
    X(WC, RDMA_WRITE, 1, "an RDMA WRITE of any kind")                                              \
    X(WC, RDMA_READ, 2, "an RDMA READ")                                                            \
    X(WC, COMP_SWAP, 3, "a compare and swap")                                                      \
    X(WC, FETCH_ADD, 4, "a fetch and add")                                                         \
    X(WC, BIND_MW, 5, "a memory window was bound")                                                 \
    X(WC, LOCAL_INV, 6, "a key was invalidated")                                                   \
    X(WC, REG_MR, 8, "a memory region was registered")                                             \
    X(WC, RECV, 128, "a message was received")                                                     \
    X(WC, RECV_RDMA_WITH_IMM, 129, "an RDMA WRITE with immediate arrived")

/* [virtio-rdma RFC, enum ib_wc_status] */
#define ENUM_WC_STATUS(X)                                                                          \
    X(WCS, SUCCESS, 0, "the work request was carried out")                                         \
    X(WCS, LOC_LEN_ERR, 1, "local length error: the message does not fit the buffers or limits")   \
    X(WCS, LOC_QP_OP_ERR, 2, "local QP operation error: the QP cannot carry out this request")     \
    X(WCS, LOC_EEC_OP_ERR, 3, "local EE context error (reliable datagram, never seen here)")       \
    X(WCS, LOC_PROT_ERR, 4, "local protection error: an SGE's key, range, PD or access is wrong")  \
    X(WCS, WR_FLUSH_ERR, 5, "flushed: the QP was in the error state before this was carried out")  \
    X(WCS, MW_BIND_ERR, 6, "memory window bind error")                                             \
    X(WCS, BAD_RESP_ERR, 7, "bad response: the responder sent what it must not")                   \
    X(WCS, LOC_ACCESS_ERR, 8, "local access error: a write without LOCAL_WRITE (never seen here)") \
    X(WCS, REM_INV_REQ_ERR, 9, "remote invalid request: the responder refused the request's form") \
    X(WCS, REM_ACCESS_ERR, 10, "remote access error: the responder refused the key or range")      \
    X(WCS, REM_OP_ERR, 11, "remote operation error: the responder could not carry it out")         \
    X(WCS, RETRY_EXC_ERR, 12, "transport retries exceeded: no answer, or NAK after NAK")           \
    X(WCS, RNR_RETRY_EXC_ERR, 13, "receiver-not-ready retries exceeded: no receive was posted")    \
    X(WCS, LOC_RDD_VIOL_ERR, 14, "local RDD violation (reliable datagram, never seen here)")       \
    X(WCS, REM_INV_RD_REQ_ERR, 15, "remote invalid RD request (never seen here)")                  \
    X(WCS, REM_ABORT_ERR, 16, "remote aborted (never seen here)")                                  \
    X(WCS, INV_EECN_ERR, 17, "invalid EE context number (never seen here)")                        \
    X(WCS, INV_EEC_STATE_ERR, 18, "invalid EE context state (never seen here)")                    \
    X(WCS, FATAL_ERR, 19, "the device failed (never seen here)")                                   \
    X(WCS, RESP_TIMEOUT_ERR, 20, "response timeout (never seen here)")                             \
    X(WCS, GENERAL_ERR, 21, "another error than all these (never seen here)")

/* Bits of wc_flags, as in libibverbs. */
#define ENUM_WC_FLAG(X)                                                                            \
    X(WCF, GRH, 1u, "the first 40 bytes are the GRH area (UD)")                                    \
    X(WCF, WITH_IMM, 2u, "imm_data is valid")                                                      \
    X(WCF, WITH_INV, 8u, "invalidated_rkey is valid")

/* [virtio-rdma RFC, enum ib_send_flags] */
#define ENUM_SEND_FLAG(X)                                                                          \
    X(SF, FENCE, 1u << 0, "wait for earlier READs and atomics of this queue")                      \
    X(SF, SIGNALED, 1u << 1, "write a completion also on success")                                 \
    X(SF, SOLICITED, 1u << 2, "set the solicited event bit for the receiver")                      \
    X(SF, INLINE, 1u << 3, "copy the data into the work request when posting")

/* [virtio-rdma RFC, enum ib_access_flags].  The short forms are the ones of `access=lw,rr,rw`. */
#define ENUM_ACCESS(X)                                                                             \
    X(ACC, LOCAL_WRITE, 1u << 0, "lw")                                                             \
    X(ACC, REMOTE_WRITE, 1u << 1, "rw")                                                            \
    X(ACC, REMOTE_READ, 1u << 2, "rr")                                                             \
    X(ACC, REMOTE_ATOMIC, 1u << 3, "ra")                                                           \
    X(ACC, MW_BIND, 1u << 4, "mw")                                                                 \
    X(ACC, ZERO_BASED, 1u << 5, "zb")                                                              \
    X(ACC, HUGETLB, 1u << 7, "hugetlb")                                                            \
    X(ACC, RELAXED_ORDERING, 1u << 20, "relaxed_ordering")

/* [virtio-rdma RFC, enum ib_mtu].  Written as their sizes. */
#define ENUM_MTU(X)                                                                                \
    X(MTU, 256, 1, "256 bytes")                                                                    \
    X(MTU, 512, 2, "512 bytes")                                                                    \
    X(MTU, 1024, 3, "1024 bytes")                                                                  \
    X(MTU, 2048, 4, "2048 bytes")                                                                  \
    X(MTU, 4096, 5, "4096 bytes")

/* Responses: the RFC gives no values; 0 and 1 are what its authors use, the others are ours. */
#define ENUM_CTRL_RSP(X)                                                                           \
    X(RSP, OK, 0, "done")                                                                          \
    X(RSP, ERR, 1, "failed")                                                                       \
    X(RSP, UNKNOWN_COMMAND, 2, "the device does not know this command")                            \
    X(RSP, BAD_HANDLE, 3, "a handle in the request names nothing")                                 \
    X(RSP, BUSY, 4, "the object is in use")                                                        \
    X(RSP, NO_RESOURCES, 5, "a limit of the device is reached")                                    \
    X(RSP, INVALID_ARG, 6, "a value in the request is out of range")                               \
    X(RSP, NOT_SUPPORTED, 7, "the device does not offer this")

/* Classes of the AETH syndrome.  [IBTA1 9.7.5.1.2; values: tshark, Linux rxe] */
#define ENUM_SYNDROME(X)                                                                           \
    X(SYN, NONE, 0, "no AETH")                                                                     \
    X(SYN, ACK, 1, "acknowledges everything up to its PSN")                                        \
    X(SYN, RNR_NAK, 2, "receiver not ready: no receive is posted; send again after the timer")     \
    X(SYN, NAK_PSN_SEQUENCE, 3, "a packet is missing before the one that arrived")                 \
    X(SYN, NAK_INVALID_REQUEST, 4, "the request is malformed or not allowed on this QP")           \
    X(SYN, NAK_REMOTE_ACCESS, 5, "key, range or access of the request was refused")                \
    X(SYN, NAK_REMOTE_OPERATIONAL, 6, "the responder failed at its own side")                      \
    X(SYN, NAK_RESERVED, 7, "a NAK code that the specification does not define")

/* Why a frame was thrown away without an answer.  Counted per port by these names. */
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
    X(DROP, NO_ROUTE, 21, "a switch or port without a link")                                       \
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
    X(DROP, NO_BUS_MASTER, 42, "bus mastering is off: the device may not write it to memory")

/* What responder and completer made of a packet. */
#define ENUM_PKT_ACT(X)                                                                            \
    X(ACT, ACCEPT, 0, "as expected")                                                               \
    X(ACT, DUPLICATE, 1, "duplicate, acknowledged again")                                          \
    X(ACT, NAK_SEQUENCE, 2, "ahead of the expected PSN: sequence NAK")                             \
    X(ACT, DROP, 3, "dropped without an answer")                                                   \
    X(ACT, RNR, 4, "no receive posted: RNR NAK")                                                   \
    X(ACT, NAK_INVALID, 5, "refused: NAK invalid request")                                         \
    X(ACT, NAK_ACCESS, 6, "refused: NAK remote access")                                            \
    X(ACT, NAK_OPERATIONAL, 7, "refused: NAK remote operational")                                  \
    X(ACT, ACKS, 8, "acknowledges")                                                                \
    X(ACT, GO_BACK, 9, "asks for retransmission")                                                  \
    X(ACT, WAIT_RNR, 10, "asks to wait and send again")                                            \
    X(ACT, FAIL, 11, "ends the work request with an error")                                        \
    X(ACT, REPLAY, 12, "duplicate, answered again")                                                \
    X(ACT, CREDITS, 13, "tells how many receives there are")                                       \
    X(ACT, TAKE_AND_FAIL, 14, "taken and acknowledged, but its receive fails")

/* What a frame without a BTH is.  The values go on where those of BTH opcodes end, so that one word
 * says of any frame what it is, in traces and in the coordinates of faults.
 */
#define ENUM_FRAME_KIND(X)                                                                         \
    X(FRAME, OTHER, 0x100, "a frame of a protocol that is not taken apart here")                   \
    X(FRAME, ARP_REQUEST, 0x101, "who has this IPv4 address?")                                     \
    X(FRAME, ARP_REPLY, 0x102, "this IPv4 address is at this MAC")                                 \
    X(FRAME, ND_SOLICIT, 0x103, "neighbour solicitation: who has this IPv6 address?")              \
    X(FRAME, ND_ADVERT, 0x104, "neighbour advertisement: this IPv6 address is at this MAC")        \
    X(FRAME, ECHO_REQUEST, 0x105, "ICMP or ICMPv6 echo request: ping")                             \
    X(FRAME, ECHO_REPLY, 0x106, "ICMP or ICMPv6 echo reply: the answer to a ping")                 \
    X(FRAME, ICMP, 0x107, "another ICMP or ICMPv6 message")                                        \
    X(FRAME, UDP, 0x108, "UDP, not to RoCEv2's port")                                              \
    X(FRAME, TCP, 0x109, "TCP")                                                                    \
    X(FRAME, GROUP_REPORT, 0x10a, "IGMP or MLD: this station is in this multicast group, or left") \
    X(FRAME, GROUP_QUERY, 0x10b, "IGMP or MLD: who is in which multicast groups?")

/* The PCI functions of a host's slot. */
#define ENUM_FUNCTION(X)                                                                           \
    X(FN, RDMA, 0, "virtio-rdma, function 1 of the slot")                                          \
    X(FN, NET, 1, "virtio-net, function 0 of the slot: owner of the MAC and the addresses")

/* What a guest knows of a neighbour's MAC. */
#define ENUM_NEIGHBOUR(X)                                                                          \
    X(NB, INCOMPLETE, 0, "asked for; no answer yet")                                               \
    X(NB, REACHABLE, 1, "it answered, or asked itself, not long ago")                              \
    X(NB, FAILED, 2, "nobody answered")                                                            \
    X(NB, PERMANENT, 3, "told by the lab, never asked for")

/* Whose behaviour a host shows where implementations differ; profiles.def has the differences. */
#define ENUM_PROFILE(X)                                                                            \
    X(PROFILE, iba, 0, "what the InfiniBand specification says")                                   \
    X(PROFILE, rxe, 1, "what rxe does, the RDMA device in software of Linux 6.1")

#define ENUM_TIMER(X)                                                                              \
    X(TMR, ACK, 0, "local ACK timeout: 4.096 us x 2^timeout")                                      \
    X(TMR, RNR, 1, "RNR NAK timer, told by the responder")

#define ENUM_OBJECT(X)                                                                             \
    X(OBJ, NONE, 0, "nothing")                                                                     \
    X(OBJ, PD, 1, "protection domain")                                                             \
    X(OBJ, MR, 2, "memory region")                                                                 \
    X(OBJ, CQ, 3, "completion queue")                                                              \
    X(OBJ, QP, 4, "queue pair")                                                                    \
    X(OBJ, FAULT, 5, "fault")                                                                      \
    X(OBJ, LINK, 6, "link")                                                                        \
    X(OBJ, PORT, 7, "external port")                                                               \
    X(OBJ, AH, 8, "address handle")                                                                \
    X(OBJ, MW, 9, "memory window")                                                                 \
    X(OBJ, CHANNEL, 11, "completion channel")                                                      \
    X(OBJ, SRQ, 10, "shared receive queue")

/* What is there of a host when it was made. */
#define ENUM_HOST_PHASE(X)                                                                         \
    X(HOST, up, 0, "a host is up: its driver drives virtio-rdma")                                  \
    X(HOST, undriven, 1, "a host waits for a virtual machine, whose driver will drive it")

#define ENUM_FAULT(X)                                                                              \
    X(FLT, NONE, 0, "none")                                                                        \
    X(FLT, DROP, 1, "the frame is lost on the link")                                               \
    X(FLT, DUPLICATE, 2, "the frame arrives twice")                                                \
    X(FLT, DELAY, 3, "the frame arrives later")                                                    \
    X(FLT, CORRUPT, 4, "a bit of the frame is flipped on the link")                                \
    X(FLT, CHANCE, 5, "lost by the link's loss=, from the seed")                                   \
    X(FLT, REORDER, 6, "frames that were sent later overtake the frame")                           \
    X(FLT, TRUNCATE, 7, "the end of the frame is cut off")                                         \
    X(FLT, MARK, 8, "a congested switch marks the frame: ECN becomes CE")                          \
    X(FLT, FORGE, 9, "a field of the frame is changed, and the ICRC is made right again")          \
    X(FLT, BURST, 10, "lost in a burst of losses on the link, from the seed")                      \
    X(FLT, LOST_KICK, 11, "the device is not told that the driver has kicked a queue")             \
    X(FLT, LOST_INTERRUPT, 12, "the driver is not interrupted for a queue")                        \
    X(FLT, LATE_DATA, 13, "the device gives a buffer back before its bytes are there")             \
    X(FLT, STUCK_QUEUE, 14, "the device takes no buffers out of a queue")                          \
    X(FLT, SPURIOUS, 15, "the device gives a buffer back that nobody gave it")

/* Classes of RoCEv2 packets, for faults: what people call them. */
#define ENUM_PACKET_CLASS(X)                                                                       \
    X(PKC, ANY, 0, "any frame")                                                                    \
    X(PKC, REQUEST, 1, "a packet that asks the other side for something")                          \
    X(PKC, ANSWER, 2, "an ACK, a NAK or a response")                                               \
    X(PKC, SEND, 3, "a packet of a SEND of any kind")                                              \
    X(PKC, WRITE, 4, "a packet of an RDMA WRITE of any kind")                                      \
    X(PKC, READ_REQUEST, 5, "the request of an RDMA READ")                                         \
    X(PKC, READ_RESPONSE, 6, "a packet that brings what a READ asked for")                         \
    X(PKC, ATOMIC_REQUEST, 7, "the request of an atomic")                                          \
    X(PKC, ATOMIC_RESPONSE, 8, "what an atomic brings back")                                       \
    X(PKC, ACK, 9, "a packet that only acknowledges")                                              \
    X(PKC, NAK, 10, "a NAK of any kind, but no RNR NAK")                                           \
    X(PKC, RNR_NAK, 11, "receiver not ready")

/* Fields of a RoCEv2 frame that faults change, by the names that they have in lines. */
#define ENUM_WIRE_FIELD(X)                                                                         \
    X(WF, NONE, 0, "none")                                                                         \
    X(WF, MAC_DST, 1, "destination MAC")                                                           \
    X(WF, MAC_SRC, 2, "source MAC")                                                                \
    X(WF, DSCP, 3, "differentiated services code point of the IP header")                          \
    X(WF, ECN, 4, "explicit congestion notification of the IP header")                             \
    X(WF, TTL, 5, "time to live, or hop limit, of the IP header")                                  \
    X(WF, UDP_SRC_PORT, 6, "source port of the UDP header")                                        \
    X(WF, UDP_DST_PORT, 7, "destination port of the UDP header; RoCEv2 is 4791")                   \
    X(WF, OPCODE, 8, "opcode of the BTH, as a number")                                             \
    X(WF, SOLICITED, 9, "solicited event bit of the BTH")                                          \
    X(WF, MIGREQ, 10, "migration request bit of the BTH")                                          \
    X(WF, PAD, 11, "pad count of the BTH")                                                         \
    X(WF, TVER, 12, "transport version of the BTH")                                                \
    X(WF, PKEY, 13, "P_Key of the BTH")                                                            \
    X(WF, FECN, 14, "forward congestion notification of the BTH")                                  \
    X(WF, BECN, 15, "backward congestion notification of the BTH")                                 \
    X(WF, DEST_QPN, 16, "destination queue pair of the BTH")                                       \
    X(WF, ACKREQ, 17, "acknowledge request bit of the BTH")                                        \
    X(WF, PSN, 18, "packet sequence number of the BTH")                                            \
    X(WF, QKEY, 19, "Q_Key of the DETH")                                                           \
    X(WF, SRC_QPN, 20, "source queue pair of the DETH")                                            \
    X(WF, VA, 21, "virtual address of the RETH or AtomicETH")                                      \
    X(WF, RKEY, 22, "R_Key of the RETH or AtomicETH")                                              \
    X(WF, LENGTH, 23, "DMA length of the RETH")                                                    \
    X(WF, SWAP_ADD, 24, "swap or add value of the AtomicETH")                                      \
    X(WF, COMPARE, 25, "compare value of the AtomicETH")                                           \
    X(WF, SYNDROME, 26, "syndrome byte of the AETH")                                               \
    X(WF, MSN, 27, "message sequence number of the AETH")                                          \
    X(WF, ORIGINAL, 28, "what the atomic found, in the AtomicAckETH")                              \
    X(WF, IMM, 29, "immediate data")                                                               \
    X(WF, INV_RKEY, 30, "R_Key to invalidate, in the IETH")                                        \
    X(WF, PAYLOAD, 31, "first byte of the payload")                                                \
    X(WF, ICRC, 32, "the invariant CRC itself")

/* Bits of the virtio device status.  [virtio 1.2, 2.1] */
#define ENUM_DEVICE_STATUS(X)                                                                      \
    X(VS, ACKNOWLEDGE, 1u, "the guest has noticed the device")                                     \
    X(VS, DRIVER, 2u, "the guest has a driver for it")                                             \
    X(VS, DRIVER_OK, 4u, "the driver is ready")                                                    \
    X(VS, FEATURES_OK, 8u, "the features are agreed on")                                           \
    X(VS, DEVICE_NEEDS_RESET, 64u, "the device met an error that only a reset mends")              \
    X(VS, FAILED, 128u, "the driver gave up")

/* Feature bits by number.  [virtio 1.2, chapter 6] */
#define ENUM_FEATURE(X)                                                                            \
    X(VF, INDIRECT_DESC, 28, "descriptors may refer to a table of descriptors")                    \
    X(VF, EVENT_IDX, 29, "notifications are suppressed by index")                                  \
    X(VF, VERSION_1, 32, "virtio 1.0 or later")                                                    \
    X(VF, RING_PACKED, 34, "the two sides share one ring of descriptors: a packed ring")           \
    X(VF, RING_RESET, 40, "a single queue can be reset")                                           \
    X(VF, EVENTQ, 0,                                                                               \
      "virtio-rdma, ours: the device tells asynchronous events in a queue of its own")             \
    X(VF, MW, 4, "virtio-rdma, ours: memory windows, and memory regions that can be changed")      \
    X(VF, RESIZE, 1, "virtio-rdma, ours: CQs and queue pairs can be resized; needs RING_RESET")    \
    X(VF, MCAST, 5, "virtio-rdma, ours: queue pairs can be attached to multicast groups")          \
    X(VF, CREDITS, 6, "virtio-rdma, ours: reliable connections can have end-to-end credits")       \
    X(VF, SRQ, 3, "virtio-rdma, ours: shared receive queues")                                      \
    X(VF, ON_DEMAND, 2, "virtio-rdma, ours: queues are set up when an object needs them")

/* Features of virtio-net by number.  [virtio 1.2, 5.1.3] */
#define ENUM_NET_FEATURE(X)                                                                        \
    X(NF, MTU, 3, "the device says its MTU")                                                       \
    X(NF, MAC, 5, "the device has a MAC address")                                                  \
    X(NF, STATUS, 16, "the device says whether its link is up")                                    \
    X(NF, MRG_RXBUF, 15, "a frame that arrives may fill more than one buffer")

/* How a ring can be broken by a driver.  Each ends in DEVICE_NEEDS_RESET. */
#define ENUM_VQ_ERROR(X)                                                                           \
    X(VQE, NONE, 0, "sound")                                                                       \
    X(VQE, AVAIL_RUNS_AWAY, 1, "avail.idx is further ahead than the queue is long")                \
    X(VQE, BAD_HEAD, 2, "an avail entry names a descriptor outside the table")                     \
    X(VQE, BAD_NEXT, 3, "a descriptor's next is outside the table")                                \
    X(VQE, LOOP, 4, "the chain is longer than the queue: it loops")                                \
    X(VQE, BAD_ADDRESS, 5, "a buffer or ring is outside guest RAM")                                \
    X(VQE, BAD_ORDER, 6, "a device-readable descriptor follows a writable one")                    \
    X(VQE, BAD_INDIRECT, 7, "an indirect table is nested, chained, or of a wrong length")          \
    X(VQE, ZERO_LENGTH, 8, "a descriptor of length 0")                                             \
    X(VQE, TOO_LONG, 9, "a chain of more bytes than any request has")                              \
    X(VQE, WRONG_DIRECTION, 10,                                                                    \
      "a network buffer is readable where writable is needed, or vice versa")                      \
    X(VQE, LONGER_THAN_RING, 11, "a chain of more descriptors than the packed ring has")           \
    X(VQE, BREAKS_OFF, 12, "a chain goes on in a descriptor that is not available")                \
    X(VQE, NOT_GIVEN_BACK, 13, "a descriptor is available that the device has not given back")     \
    X(VQE, ID_IN_USE, 14, "two buffers that the device has not given back have one id")            \
    X(VQE, BAD_EVENT, 15, "the driver area asks for interrupts in a way that there is not")

/* How a virtqueue lies in guest RAM.  [virtio 1.2, 2.7 and 2.8] */
#define ENUM_RING_FORMAT(X)                                                                        \
    X(VRING, split, 0, "a table of descriptors, and a ring of each side that names them")          \
    X(VRING, packed, 1, "one ring of descriptors, which both sides write")

/* What a key is of. */
#define ENUM_KEY_KIND(X)                                                                           \
    X(KEY, USER_MR, 0, "a region over memory of a program")                                        \
    X(KEY, DMA_MR, 1, "a region over all of guest RAM, by guest-physical addresses")               \
    X(KEY, FAST_MR, 2, "a region that a work request registers: REG_MR")                           \
    X(KEY, MW_TYPE_1, 3, "a window that ibv_bind_mw() binds; each bind gives it another key")      \
    X(KEY, MW_TYPE_2, 4, "a window that a work request binds for one queue pair")

#define ENUM_KEY_STATE(X)                                                                          \
    X(KEY, FREE, 0, "opens nothing: not registered, not bound, or made invalid")                   \
    X(KEY, VALID, 1, "opens its memory to who may come with it")

/* Asynchronous events: what a device tells a program that has not asked.  [libibverbs, enum
 * ibv_event_type; ibv_get_async_event(3)]  Those of path migration and of the subnet manager are
 * never raised here; async.h says what each is about.
 */
#define ENUM_ASYNC_EVENT(X)                                                                        \
    X(ASE, CQ_ERR, 0, "the completion queue overflowed: it delivers nothing any more")             \
    X(ASE, QP_FATAL, 1, "the queue pair failed so that its completions cannot tell")               \
    X(ASE, QP_REQ_ERR, 2, "the queue pair refused an invalid request of its peer, and failed")     \
    X(ASE, QP_ACCESS_ERR, 3,                                                                       \
      "the queue pair refused a READ, a WRITE or an atomic: its access, its address or length, "   \
      "or "                                                                                        \
      "one READ too many; it failed")                                                              \
    X(ASE, COMM_EST, 4, "the first packet arrived at a queue pair in RTR")                         \
    X(ASE, SQ_DRAINED, 5, "all sends that were started are done, in SQD")                          \
    X(ASE, PATH_MIG, 6, "the connection moved to its alternate path (never raised here)")          \
    X(ASE, PATH_MIG_ERR, 7, "the connection could not move to its path (never raised here)")       \
    X(ASE, DEVICE_FATAL, 8, "the device met an error that only a reset mends")                     \
    X(ASE, PORT_ACTIVE, 9, "the port has a link")                                                  \
    X(ASE, PORT_ERR, 10, "the port has lost its link")                                             \
    X(ASE, LID_CHANGE, 11, "the LID of a port changed (InfiniBand only, never raised here)")       \
    X(ASE, PKEY_CHANGE, 12, "the P_Key table of a port changed (never raised here)")               \
    X(ASE, SM_CHANGE, 13, "the subnet manager changed (InfiniBand only, never raised here)")       \
    X(ASE, SRQ_ERR, 14, "the shared receive queue failed: it gives no receives any more")          \
    X(ASE, SRQ_LIMIT_REACHED, 15, "a shared receive queue has fewer receives than its limit")      \
    X(ASE, QP_LAST_WQE_REACHED, 16, "a failed QP takes no more shared receives")                   \
    X(ASE, CLIENT_REREGISTER, 17, "the subnet manager asks to register again (never raised here)") \
    X(ASE, GID_CHANGE, 18, "an entry of the GID table changed")

#define ENUM_MEMBER(prefix, name, value, text) prefix##_##name = (value),

enum qp_state { ENUM_QP_STATE(ENUM_MEMBER) };
enum qp_type { ENUM_QP_TYPE(ENUM_MEMBER) };
enum qp_attr_bit { ENUM_QP_ATTR(ENUM_MEMBER) };
enum wr_opcode { ENUM_WR_OPCODE(ENUM_MEMBER) };
enum wc_opcode { ENUM_WC_OPCODE(ENUM_MEMBER) };
enum wc_status { ENUM_WC_STATUS(ENUM_MEMBER) };
enum wc_flag_bit { ENUM_WC_FLAG(ENUM_MEMBER) };
enum send_flag_bit { ENUM_SEND_FLAG(ENUM_MEMBER) };
enum access_bit { ENUM_ACCESS(ENUM_MEMBER) };
enum mtu { ENUM_MTU(ENUM_MEMBER) };
enum ctrl_cmd {
#define CONTROL(nm, name, number, ...) CMD_##nm = (number),
#include "emu/facts/controls.def"
#undef CONTROL
};
enum ctrl_rsp { ENUM_CTRL_RSP(ENUM_MEMBER) };
enum syndrome { ENUM_SYNDROME(ENUM_MEMBER) };
enum drop_reason { ENUM_DROP(ENUM_MEMBER) DROP_COUNT };
enum pkt_act { ENUM_PKT_ACT(ENUM_MEMBER) };
enum timer_kind { ENUM_TIMER(ENUM_MEMBER) };
enum object_kind { ENUM_OBJECT(ENUM_MEMBER) };
enum host_phase { ENUM_HOST_PHASE(ENUM_MEMBER) };
enum fault_kind { ENUM_FAULT(ENUM_MEMBER) };
enum packet_class { ENUM_PACKET_CLASS(ENUM_MEMBER) };
enum wire_field_id { ENUM_WIRE_FIELD(ENUM_MEMBER) WIRE_FIELDS };
enum device_status_bit { ENUM_DEVICE_STATUS(ENUM_MEMBER) };
enum key_kind { ENUM_KEY_KIND(ENUM_MEMBER) };
enum key_state { ENUM_KEY_STATE(ENUM_MEMBER) };
enum feature_number { ENUM_FEATURE(ENUM_MEMBER) };
enum vq_error { ENUM_VQ_ERROR(ENUM_MEMBER) };
enum ring_format { ENUM_RING_FORMAT(ENUM_MEMBER) };
enum frame_kind { ENUM_FRAME_KIND(ENUM_MEMBER) };
enum pci_function { ENUM_FUNCTION(ENUM_MEMBER) };
enum neighbour_state { ENUM_NEIGHBOUR(ENUM_MEMBER) };
enum profile { ENUM_PROFILE(ENUM_MEMBER) };
enum net_feature_number { ENUM_NET_FEATURE(ENUM_MEMBER) };
enum async_event { ENUM_ASYNC_EVENT(ENUM_MEMBER) ASYNC_EVENTS };

/* The same rows as data. */
struct enum_row {
    const char *name;
    uint32_t value;
    const char *text;
};

struct enum_table {
    const char *name; /* "wc_status" */
    const char *what; /* "completion status": for error messages */
    const struct enum_row *rows;
    size_t n_rows;
};

extern const struct enum_table enum_qp_state, enum_qp_type, enum_qp_attr, enum_send_opcode,
    enum_wr_opcode, enum_wc_opcode, enum_wc_status, enum_wc_flag, enum_send_flag, enum_access,
    enum_mtu, enum_ctrl_cmd, enum_ctrl_rsp, enum_syndrome, enum_drop, enum_pkt_act, enum_timer,
    enum_object, enum_fault, enum_device_status, enum_feature, enum_vq_error, enum_opcode,
    enum_rule, enum_reg, enum_function, enum_neighbour, enum_net_feature, enum_profile,
    enum_key_kind, enum_key_state, enum_async_event, enum_behaviour, enum_finding,
    enum_packet_class, enum_wire_field, enum_pci_command, enum_pci_status, enum_pci_field,
    enum_msix_field, enum_held, enum_ring_format, enum_host_phase;

/* All tables, ended by NULL: `explain WORD` and the tests walk them. */
extern const struct enum_table *const enum_tables[];

/* The row of @value or of @name (in either case); NULL if there is none. */
const struct enum_row *enum_by_value(const struct enum_table *t, uint32_t value);
const struct enum_row *enum_by_name(const struct enum_table *t, const char *name);

/* The name of @value, or "?" */
const char *enum_name(const struct enum_table *t, uint32_t value);

/* Bytes of a path MTU, 256 .. 4096; 0 if @mtu is none. */
static inline uint32_t mtu_bytes(uint32_t mtu)
{
    return mtu >= MTU_256 && mtu <= MTU_4096 ? 128u << mtu : 0;
}

/* The largest path MTU of at most @bytes; 0: there is none. */
static inline uint32_t mtu_within(uint32_t bytes)
{
    uint32_t mtu = MTU_4096;

    while (mtu_bytes(mtu) > bytes)
        mtu--;
    return mtu;
}

#endif
