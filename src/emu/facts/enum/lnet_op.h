/* SPDX-License-Identifier: MIT */
/* Messages of LNet itself, which its drivers carry.  [Lustre, lnet-idl.h] */
#ifndef EMU_FACTS_ENUM_LNET_OP_H
#define EMU_FACTS_ENUM_LNET_OP_H

#include "emu/facts/enum_table.h"

#define ENUM_LNET_OP(X)                                                                            \
    X(LNET_OP, ACK, 0, "the data of a PUT has been taken")                                         \
    X(LNET_OP, PUT, 1, "data for a portal")                                                        \
    X(LNET_OP, GET, 2, "asks for data of a portal")                                                \
    X(LNET_OP, REPLY, 3, "the data of a GET")                                                      \
    X(LNET_OP, HELLO, 4, "a greeting of other drivers; not used over RDMA")

enum lnet_op { ENUM_LNET_OP(ENUM_MEMBER) };

#endif
