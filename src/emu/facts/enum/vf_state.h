/* SPDX-License-Identifier: MIT */
/* The link of a virtual function, as its machine's administrator sets it. */
#ifndef EMU_FACTS_ENUM_VF_STATE_H
#define EMU_FACTS_ENUM_VF_STATE_H

#include "emu/facts/enum_table.h"

/* The names are those of `ip link set DEV vf N state`. */
#define ENUM_VF_STATE(X)                                                                           \
    X(VF, auto, 0, "the link of the virtual function is that of the machine's cable")              \
    X(VF, enable, 1, "up, also without the cable: the guests of a machine reach each other")       \
    X(VF, disable, 2, "down: the virtual function sends nothing and receives nothing")

enum vf_state { ENUM_VF_STATE(ENUM_MEMBER) };

#endif
