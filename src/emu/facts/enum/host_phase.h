/* SPDX-License-Identifier: MIT */
/* The state that a new host is in: with a running driver, without one, or without an RDMA device.
 */
#ifndef EMU_FACTS_ENUM_HOST_PHASE_H
#define EMU_FACTS_ENUM_HOST_PHASE_H

#include "emu/facts/enum_table.h"

#define ENUM_HOST_PHASE(X)                                                                         \
    X(HOST, up, 0, "a host is up: its driver drives its RDMA device")                              \
    X(HOST, undriven, 1, "a host waits for a virtual machine, whose driver will drive it")         \
    X(HOST, absent, 2, "a host is up, and has no RDMA device")

enum host_phase { ENUM_HOST_PHASE(ENUM_MEMBER) };

#endif
