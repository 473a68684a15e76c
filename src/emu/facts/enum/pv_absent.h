/* SPDX-License-Identifier: MIT */
/* Abilities that PVRDMA lacks, because its format has nothing of the kind.  The device or
 * the driver refuses it; refusals of the device have reasons of their own (refusals.def): UC,
 * inline data, credits.
 */
#ifndef EMU_FACTS_ENUM_PV_ABSENT_H
#define EMU_FACTS_ENUM_PV_ABSENT_H

#include "emu/facts/enum_table.h"

#define ENUM_PV_ABSENT(X)                                                                          \
    X(PV, NO_WINDOWS, 0, "PVRDMA has no memory windows: no command makes one, none is bound")      \
    X(PV, NO_REREG, 1, "PVRDMA has no command that changes a region: register it again")           \
    X(PV, NO_RESIZE, 2, "queues of PVRDMA keep their length: Linux never asks for another one")    \
    X(PV, NO_GROUPS, 3, "PVRDMA has no command that takes a queue pair into a multicast group")    \
    X(PV, NO_OTHER_PLACE, 4,                                                                       \
      "PVRDMA knows a region by one address: its place in a page is that of the memory")           \
    X(PV, NO_LIMIT, 5, "the limits of PVRDMA do not change: its driver reads them once, at boot")

enum pv_absent { ENUM_PV_ABSENT(ENUM_MEMBER) };

#endif
