/* SPDX-License-Identifier: MIT */
/* The reasons why a virtual RNIC gets no function. */
#ifndef EMU_FACTS_ENUM_POOL_LACK_H
#define EMU_FACTS_ENUM_POOL_LACK_H

#include "emu/facts/enum_table.h"

#define ENUM_POOL_LACK(X)                                                                          \
    X(LACK, NONE, 0, "it got one")                                                                 \
    X(LACK, NOT_ENABLED, 1, "no function of the machine is enabled")                               \
    X(LACK, PLAIN_GUESTS, 2, "guests without a virtual RNIC have all of them")                     \
    X(LACK, VRNICS, 3, "other virtual RNICs have objects, and with them the functions")            \
    X(LACK, ADDRESS, 4, "another host was given the address that a free function has on the wire") \
    X(LACK, NO_SR_IOV, 5, "the device of the machine does not offer feature SR_IOV")

enum pool_lack { ENUM_POOL_LACK(ENUM_MEMBER) };

#endif
