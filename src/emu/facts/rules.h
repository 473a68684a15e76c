/* SPDX-License-Identifier: MIT */
/* The protocol's rules by name.  A trace says which of them objected, `explain NAME` says what it
 * checks.  What could not be checked against the text itself is marked (unverified).
 */
#ifndef EMU_FACTS_RULES_H
#define EMU_FACTS_RULES_H

#define ENUM_RULE(X)                                                                               \
    X(RULE, NONE, 0, "no rule objected")                                                           \
    X(RULE, MR_KEY, 1, "the key must name a valid memory region  [IBTA1 10.6 (unverified)]")       \
    X(RULE, MR_PD, 2,                                                                              \
      "region and QP must be of the same protection domain  [IBTA1 10.6 (unverified)]")            \
    X(RULE, MR_RANGE, 3, "every byte must lie inside the region  [IBTA1 10.6 (unverified)]")       \
    X(RULE, MR_ACCESS, 4, "the region must allow the access  [IBTA1 10.6 (unverified)]")           \
    X(RULE, SQ_OPCODE, 5,                                                                          \
      "the opcode must be one that this QP type carries  [IBTA1 11.4.1.1 (unverified)]")           \
    X(RULE, SQ_LENGTH, 6, "a message has at most 2^31 bytes  [IBTA1 9.4.1]")                       \
    X(RULE, SQ_SGE_COUNT, 7,                                                                       \
      "a WQE has at most max_send_sge elements, and its length says so  [virtio-rdma RFC, Send "   \
      "Queue Operation]")                                                                          \
    X(RULE, SQ_INLINE, 8,                                                                          \
      "inline data fits max_inline_data, and num_sge is 0  [decision: the RFC has no field for "   \
      "it]")                                                                                       \
    X(RULE, RESP_PSN, 9,                                                                           \
      "a request must carry the expected PSN; older ones are duplicates  [IBTA1 9.7.4.1 "          \
      "(unverified), C9-105]")                                                                     \
    X(RULE, RESP_OPCODE, 10,                                                                       \
      "the opcode must be defined and carried by this QP  [IBTA1 9.7.4.1 (unverified)]")           \
    X(RULE, RESP_OP_SEQUENCE, 11,                                                                  \
      "FIRST and MIDDLE leave a message open, LAST and ONLY close it  [IBTA1 9.7.4.1.2 "           \
      "(unverified)]")                                                                             \
    X(RULE, RESP_LENGTH, 12,                                                                       \
      "FIRST and MIDDLE carry exactly the path MTU, LAST 1 byte to the MTU, ONLY at most the MTU " \
      " [IBTA1 C9-92 (unverified)]")                                                               \
    X(RULE, RESP_RECV_WQE, 13,                                                                     \
      "a SEND needs a posted receive, or it is answered with an RNR NAK  [IBTA1 9.7.4.1 "          \
      "(unverified)]")                                                                             \
    X(RULE, RESP_RECV_LENGTH, 14,                                                                  \
      "the message must fit the receive's scatter list  [IBTA1 9.7.4.1 (unverified)]")             \
    X(RULE, RESP_RECV_FORM, 15,                                                                    \
      "the receive WQE must be one that the device can parse  [virtio-rdma RFC, Receive Queue "    \
      "Operation]")                                                                                \
    X(RULE, COMP_WINDOW, 16,                                                                       \
      "an acknowledge must name an outstanding PSN  [IBTA1 9.7.5 (unverified)]")                   \
    X(RULE, COMP_ACK, 17,                                                                          \
      "an ACK completes every request up to its PSN  [IBTA1 9.7.5 (unverified)]")                  \
    X(RULE, COMP_RNR, 18,                                                                          \
      "an RNR NAK acknowledges what is before it; the rest is sent again after the timer  [IBTA1 " \
      "9.7.5.2.8 (unverified)]")                                                                   \
    X(RULE, COMP_SEQUENCE, 19,                                                                     \
      "a sequence NAK acknowledges what is before its PSN; everything from it on is sent again  "  \
      "[IBTA1 9.7.5 (unverified)]")                                                                \
    X(RULE, COMP_NAK, 20,                                                                          \
      "any other NAK ends the request it names and moves the QP to ERR  [IBTA1 9.9.2 "             \
      "(unverified)]")                                                                             \
    X(RULE, COMP_RESPONSE, 21,                                                                     \
      "a response must be of the kind that the request asks for  [IBTA1 9.9.2 (unverified)]")      \
    X(RULE, RETRY_LIMIT, 22,                                                                       \
      "a request is sent at most retry_cnt + 1 times without progress  [IBTA1 9.7.6.1.3 "          \
      "(unverified)]")                                                                             \
    X(RULE, RNR_LIMIT, 23,                                                                         \
      "RNR NAKs in a row are answered rnr_retry times; 7 means without end  [IBTA1 9.7.5.2.8 "     \
      "(unverified)]")                                                                             \
    X(RULE, FLUSH, 24,                                                                             \
      "a QP in ERR completes everything posted with WR_FLUSH_ERR, in order  [IBTA1 10.3.1 "        \
      "(unverified)]")                                                                             \
    X(RULE, SQ_FORM, 25,                                                                           \
      "a send WQE must be one that the device can parse  [virtio-rdma RFC, Send Queue Operation]") \
    X(RULE, RESP_PAD, 40,                                                                          \
      "payload and pad together are a multiple of 4 bytes, and FIRST and MIDDLE have no pad  "     \
      "[IBTA1 9.7.4.1 (unverified)]")                                                              \
    X(RULE, POST_OPCODE, 70,                                                                       \
      "when posting: the operation must be one of the QP's type: UC has SEND and RDMA WRITE, UD "  \
      "has SEND  [libibverbs, ibv_post_send(3)]")                                                  \
    X(RULE, POST_FLAGS, 71,                                                                        \
      "when posting: only flags that exist, and FENCE only on RC  [libibverbs, ibv_post_send(3)]") \
    X(RULE, POST_INLINE_OPCODE, 72,                                                                \
      "when posting: only SEND and RDMA WRITE can carry their data inline  [libibverbs, "          \
      "ibv_post_send(3)]")                                                                         \
    X(RULE, POST_INLINE_LENGTH, 73,                                                                \
      "when posting: inline data fits max_inline_data, and has no SGEs beside it  [libibverbs, "   \
      "ibv_post_send(3)]")                                                                         \
    X(RULE, POST_SGE_COUNT, 74,                                                                    \
      "when posting: at most max_send_sge or max_recv_sge elements, and none where no data move  " \
      "[libibverbs, ibv_post_send(3)]")                                                            \
    X(RULE, POST_PARTS, 75,                                                                        \
      "when posting: what a request names is of the QP's own host  [decision: handles of a lab "   \
      "name their host]")                                                                          \
    X(RULE, SQ_ATOMIC_LENGTH, 110, "an atomic brings back exactly 8 bytes  [IBTA1 9.4.5]")         \
    X(RULE, SQ_RD_ATOMIC, 111,                                                                     \
      "a READ or an atomic needs max_rd_atomic of at least 1  [IBTA1 9.4.4 (unverified)]")         \
    X(RULE, COMP_IMPLIED_NAK, 112,                                                                 \
      "an answer to what comes after a READ or an atomic, before the answer to that: it is lost, " \
      "and asked for again  [IBTA1 9.7.5.1.1 (unverified)]")                                       \
    X(RULE, COMP_READ_LENGTH, 113,                                                                 \
      "a READ response that others follow carries the path MTU, the last one what is left  "       \
      "[IBTA1 9.7.5 (unverified)]")                                                                \
    X(RULE, KEY_FREE, 50,                                                                          \
      "the key must be valid: it is of a region or window that is free  [IBTA1 10.6 "              \
      "(unverified)]")                                                                             \
    X(RULE, KEY_QP, 51,                                                                            \
      "a window of type 2 opens only to the queue pair that it was bound for  [IBTA1 10.6 "        \
      "(unverified)]")                                                                             \
    X(RULE, KEY_WINDOW, 52,                                                                        \
      "the key of a window is for peers; an SGE names a region  [IBTA1 10.6 (unverified)]")        \
    X(RULE, BIND_MW, 53,                                                                           \
      "a bind must name a window by the key that it has  [IBTA1 10.6 (unverified)]")               \
    X(RULE, BIND_TYPE, 54,                                                                         \
      "windows of type 1 are bound by ibv_bind_mw(), of type 2 by a work request  [IBTA1 "         \
      "o10-37.2.34, o10-37.2.35]")                                                                 \
    X(RULE, BIND_PD, 55,                                                                           \
      "window, region and queue pair must be of the same protection domain  [IBTA1 C10-72]")       \
    X(RULE, BIND_STATE, 56,                                                                        \
      "a window of type 2 that is bound must be made invalid before it is bound again  [IBTA1 "    \
      "o10-37.2.30]")                                                                              \
    X(RULE, BIND_REGION, 57, "a window is bound to a valid region  [IBTA1 10.6 (unverified)]")     \
    X(RULE, BIND_ZERO_LENGTH, 58, "a window of type 2 has at least a byte  [IBTA1 o10-37.2.40]")   \
    X(RULE, BIND_ZERO_BASED, 59,                                                                   \
      "a window of type 1 is not zero based, and not in a region that is  [IBTA1 o10-36.2.2]")     \
    X(RULE, BIND_MR_ACCESS, 60,                                                                    \
      "the region must have been registered with access to bind windows  [IBTA1 C10-73]")          \
    X(RULE, BIND_ACCESS, 61,                                                                       \
      "a window allows only what peers do; writes and atomics need a region with local write  "    \
      "[IBTA1 C10-74]")                                                                            \
    X(RULE, BIND_RANGE, 62, "every byte of a window must lie inside its region  [IBTA1 C10-75]")   \
    X(RULE, INV_KIND, 63,                                                                          \
      "only fast regions and windows of type 2 can be made invalid  [IBTA1 o10-37.2.26]")          \
    X(RULE, INV_QP, 64,                                                                            \
      "only the queue pair that a window was bound for can make it invalid  [IBTA1 10.6 "          \
      "(unverified)]")                                                                             \
    X(RULE, INV_BOUND, 65,                                                                         \
      "a region to which windows are bound cannot be made invalid  [IBTA1 10.6 (unverified)]")     \
    X(RULE, REG_REGION, 66,                                                                        \
      "REG_MR must name a fast region, and a key that differs from its own in the low byte at "    \
      "most  [virtio-rdma RFC, Fast Register Memory Region]")                                      \
    X(RULE, REG_STATE, 67,                                                                         \
      "a fast region that is valid must be made invalid before it is registered again  [IBTA1 "    \
      "10.6 (unverified)]")                                                                        \
    X(RULE, REG_PAGES, 68,                                                                         \
      "pages must have been mapped into a fast region before it is registered  [virtio-rdma RFC, " \
      "Map MR s/g]")                                                                               \
    X(RULE, REG_ACCESS, 69,                                                                        \
      "a fast region allows no more than it was created with, and remote write and atomic access " \
      "need local write  [IBTA1 11.2.8.2 (unverified)]")

#define RULE_MEMBER(prefix, name, value, text) prefix##_##name = (value),
enum rule { ENUM_RULE(RULE_MEMBER) };

#endif
