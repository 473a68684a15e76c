/* SPDX-License-Identifier: MIT */
/* Messages of o2iblnd, the driver of LNet for RDMA.  [Lustre, o2iblnd-idl.h] */
#ifndef EMU_FACTS_ENUM_LNET_MSG_H
#define EMU_FACTS_ENUM_LNET_MSG_H

#include "emu/facts/enum_table.h"

#define ENUM_LNET_MSG(X)                                                                           \
    X(LNET_MSG, CONNREQ, 0xc0, "asks for a connection: private data of the REQ")                   \
    X(LNET_MSG, CONNACK, 0xc1, "accepts a connection: private data of the REP")                    \
    X(LNET_MSG, NOOP, 0xd0, "returns credits")                                                     \
    X(LNET_MSG, IMMEDIATE, 0xd1, "an LNet message with its payload")                               \
    X(LNET_MSG, PUT_REQ, 0xd2, "asks where to write the payload of a PUT")                         \
    X(LNET_MSG, PUT_NAK, 0xd3, "the payload of a PUT is not wanted")                               \
    X(LNET_MSG, PUT_ACK, 0xd4, "tells where to write the payload of a PUT")                        \
    X(LNET_MSG, PUT_DONE, 0xd5, "the payload of a PUT is written")                                 \
    X(LNET_MSG, GET_REQ, 0xd6, "asks to write data, and tells where")                              \
    X(LNET_MSG, GET_DONE, 0xd7, "the data of a GET is written")

enum lnet_msg_type { ENUM_LNET_MSG(ENUM_MEMBER) };

#endif
