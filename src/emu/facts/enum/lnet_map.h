/* SPDX-License-Identifier: MIT */
/* Ways in which a node of LNet makes memory known to its adapter. */
#ifndef EMU_FACTS_ENUM_LNET_MAP_H
#define EMU_FACTS_ENUM_LNET_MAP_H

#include "emu/facts/enum_table.h"

#define ENUM_LNET_MAP(X)                                                                           \
    X(LNET_MAP, growing, 0, "one region, which grows over all memory that was used so far")        \
    X(LNET_MAP, demand, 1, "a region for each message")                                            \
    X(LNET_MAP, dma, 2, "the region of all memory, as a kernel has it; fragments are pages")

enum lnet_map { ENUM_LNET_MAP(ENUM_MEMBER) };

#endif
