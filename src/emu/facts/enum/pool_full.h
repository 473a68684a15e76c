/* SPDX-License-Identifier: MIT */
/* The ways in which a machine serves a virtual RNIC that needs a function when none is free. */
#ifndef EMU_FACTS_ENUM_POOL_FULL_H
#define EMU_FACTS_ENUM_POOL_FULL_H

#include "emu/facts/enum_table.h"

#define ENUM_POOL_FULL(X)                                                                          \
    X(POOL, fail, 0, "its request fails")                                                          \
    X(POOL, wait, 1, "its request waits until a function comes back, or wait= is over")            \
    X(POOL, share, 2, "it shares the function that has the fewest virtual RNICs")

enum pool_full { ENUM_POOL_FULL(ENUM_MEMBER) };

#endif
