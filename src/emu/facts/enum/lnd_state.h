/* SPDX-License-Identifier: MIT */
/* The states of a connection of LNet.  [Lustre, o2iblnd.h] */
#ifndef EMU_FACTS_ENUM_LND_STATE_H
#define EMU_FACTS_ENUM_LND_STATE_H

#include "emu/facts/enum_table.h"

#define ENUM_LND_STATE(X)                                                                          \
    X(LND_CONN, INIT, 0, "its objects are being made")                                             \
    X(LND_CONN, ACTIVE_CONNECT, 1, "asks for the connection")                                      \
    X(LND_CONN, PASSIVE_WAIT, 2, "has accepted, and waits for the peer")                           \
    X(LND_CONN, ESTABLISHED, 3, "carries messages")                                                \
    X(LND_CONN, CLOSING, 4, "nothing more is sent")                                                \
    X(LND_CONN, DISCONNECTED, 5, "no work request is under way, and its objects are destroyed")

enum lnd_state { ENUM_LND_STATE(ENUM_MEMBER) };

#endif
