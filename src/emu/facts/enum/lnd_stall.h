/* SPDX-License-Identifier: MIT */
/* Reasons why a message of LNet waits at its connection. */
#ifndef EMU_FACTS_ENUM_LND_STALL_H
#define EMU_FACTS_ENUM_LND_STALL_H

#include "emu/facts/enum_table.h"

#define ENUM_LND_STALL(X)                                                                          \
    X(LND_STALL, CREDITS, 1, "no credit is left: the peer has not told that it has room")          \
    X(LND_STALL, LAST_CREDIT, 2, "the last credit is kept for a NOOP that returns credits")        \
    X(LND_STALL, RESERVED, 3, "no receive is left that could be kept for the answer")              \
    X(LND_STALL, SENDS, 4, "concurrent_sends messages are posted")

enum lnd_stall { ENUM_LND_STALL(ENUM_MEMBER) };

#endif
