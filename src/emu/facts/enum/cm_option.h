/* SPDX-License-Identifier: MIT */
/* The options of an ID of rdma_cm.  [Linux, RDMA_OPTION_ID_* of rdma_user_cm.h] */
#ifndef EMU_FACTS_ENUM_CM_OPTION_H
#define EMU_FACTS_ENUM_CM_OPTION_H

#include "emu/facts/enum_table.h"

#define ENUM_CM_OPTION(X)                                                                          \
    X(CM_OPTION, TOS, 0, "traffic class of the connection")                                        \
    X(CM_OPTION, REUSEADDR, 1, "another ID may have the port, if it has this option, too")         \
    X(CM_OPTION, AFONLY, 2, "an address of IPv6 does not stand for IPv4")                          \
    X(CM_OPTION, ACK_TIMEOUT, 3, "code of the ACK timeout of the queue pair")

enum cm_option { ENUM_CM_OPTION(ENUM_MEMBER) };

#endif
