/* SPDX-License-Identifier: MIT */
/* The kinds of memory keys. */
#ifndef EMU_FACTS_ENUM_KEY_KIND_H
#define EMU_FACTS_ENUM_KEY_KIND_H

#include "emu/facts/enum_table.h"

#define ENUM_KEY_KIND(X)                                                                           \
    X(KEY, USER_MR, 0, "a region over memory of a program")                                        \
    X(KEY, DMA_MR, 1, "a region over all of guest RAM, by guest-physical addresses")               \
    X(KEY, FAST_MR, 2, "a region that a work request registers: REG_MR")                           \
    X(KEY, MW_TYPE_1, 3, "a window that ibv_bind_mw() binds; each bind gives it another key")      \
    X(KEY, MW_TYPE_2, 4, "a window that a work request binds for one queue pair")

enum key_kind { ENUM_KEY_KIND(ENUM_MEMBER) };

#endif
