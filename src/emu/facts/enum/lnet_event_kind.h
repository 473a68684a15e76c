/* SPDX-License-Identifier: MIT */
/* The events that LNet tells a program.  [Lustre, lnet-types.h, enum lnet_event_kind] */
#ifndef EMU_FACTS_ENUM_LNET_EVENT_KIND_H
#define EMU_FACTS_ENUM_LNET_EVENT_KIND_H

#include "emu/facts/enum_table.h"

#define ENUM_LNET_EVENT(X)                                                                         \
    X(LNET_EVENT, GET, 0, "a peer has read from the memory")                                       \
    X(LNET_EVENT, PUT, 1, "a peer has written to the memory")                                      \
    X(LNET_EVENT, REPLY, 2, "the data of a GET is there")                                          \
    X(LNET_EVENT, ACK, 3, "the peer has taken the data of a PUT")                                  \
    X(LNET_EVENT, SEND, 4, "a message was sent; its memory may change")                            \
    X(LNET_EVENT, UNLINK, 5, "the memory descriptor is gone")

enum lnet_event_kind { ENUM_LNET_EVENT(ENUM_MEMBER) };

#endif
