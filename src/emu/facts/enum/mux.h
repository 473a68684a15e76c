/* SPDX-License-Identifier: MIT */
/* The multiplexer of connection managers: which one, its answers, its decisions. */
#ifndef EMU_FACTS_ENUM_MUX_H
#define EMU_FACTS_ENUM_MUX_H

#include "emu/facts/enum_table.h"

#define ENUM_MUX_PROFILE(X)                                                                        \
    X(MUX, none, 0, "there is none: messages go to the guest with the IP destination")             \
    X(MUX, full, 1, "passes all messages on, and knows a connection as long as it can need that")  \
    X(MUX, rdmacm_mux, 2, "that of QEMU's PVRDMA, with its faults")

enum mux_profile { ENUM_MUX_PROFILE(ENUM_MEMBER) };

/* The numbers are those of rdmacm-mux.  [QEMU, contrib/rdmacm-mux/rdmacm-mux.h] */
#define ENUM_MUX_ANSWER(X)                                                                         \
    X(MUX, OK, 0, "the GID is the guest's from now on")                                            \
    X(MUX, EINVAL, 1, "the table of GIDs is full")                                                 \
    X(MUX, EEXIST, 2, "the guest has registered the GID already")                                  \
    X(MUX, EACCES, 3, "another guest has registered the GID")                                      \
    X(MUX, ENOTFOUND, 4, "nobody has registered the GID")

enum mux_answer { ENUM_MUX_ANSWER(ENUM_MEMBER) };

#define ENUM_MUX_WAY(X)                                                                            \
    X(MUX_BY, GID, 1, "the message names a GID, which the guest has registered")                   \
    X(MUX_BY, ID, 2, "the message names a communication ID or request ID of the guest")            \
    X(MUX_BY, DESTINATION, 3, "the packet is for a GID that the guest has registered")             \
    X(MUX_BY, CHANCE, 4, "the message names no ID: it goes where the last one went")

enum mux_way { ENUM_MUX_WAY(ENUM_MEMBER) };

#define ENUM_MUX_PHASE(X)                                                                          \
    X(MUX, OPENING, 1, "the connection is being made: 80 s without a message end it")              \
    X(MUX, OPEN, 2, "the connection is there, and may be silent for ever")                         \
    X(MUX, CLOSING, 3, "the connection is refused or ends: 10 s without a message are its end")

enum mux_phase { ENUM_MUX_PHASE(ENUM_MEMBER) };

#endif
