/* SPDX-License-Identifier: MIT */
/* The types of queue pairs: their transport services.  [virtio-rdma RFC, enum ib_qp_type] */
#ifndef EMU_FACTS_ENUM_QP_TYPE_H
#define EMU_FACTS_ENUM_QP_TYPE_H

#include "emu/facts/enum_table.h"

#define ENUM_QP_TYPE(X)                                                                            \
    X(QPT, SMI, 0, "subnet management: not offered by RoCE")                                       \
    X(QPT, GSI, 1, "general services: QPN 1, for the connection manager")                          \
    X(QPT, RC, 2, "reliable connection")                                                           \
    X(QPT, UC, 3, "unreliable connection")                                                         \
    X(QPT, UD, 4, "unreliable datagram")

enum qp_type { ENUM_QP_TYPE(ENUM_MEMBER) };

#endif
