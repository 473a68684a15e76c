/* SPDX-License-Identifier: MIT */
/* The profiles: the implementations whose behaviour a host can show.  profiles.def lists the
 * differences between them.
 */
#ifndef EMU_FACTS_ENUM_PROFILE_H
#define EMU_FACTS_ENUM_PROFILE_H

#include "emu/facts/enum_table.h"

#define ENUM_PROFILE(X)                                                                            \
    X(PROFILE, iba, 0, "what the InfiniBand specification says")                                   \
    X(PROFILE, rxe, 1, "what rxe does, the RDMA device in software of Linux 6.1")

enum profile { ENUM_PROFILE(ENUM_MEMBER) };

#endif
