/* SPDX-License-Identifier: MIT */
/* The port spaces of rdma_cm: a service ID is PORT_SPACE << 16 | port.
 * [Linux, enum rdma_ucm_port_space]
 */
#ifndef EMU_FACTS_ENUM_PORT_SPACE_H
#define EMU_FACTS_ENUM_PORT_SPACE_H

#include "emu/facts/enum_table.h"

#define ENUM_PORT_SPACE(X)                                                                         \
    X(PORT_SPACE, IPOIB, 0x0002, "IP over InfiniBand")                                             \
    X(PORT_SPACE, TCP, 0x0106, "connections")                                                      \
    X(PORT_SPACE, UDP, 0x0111, "datagrams")                                                        \
    X(PORT_SPACE, IB, 0x013f, "InfiniBand's own addresses")

enum port_space { ENUM_PORT_SPACE(ENUM_MEMBER) };

#endif
