/* SPDX-License-Identifier: MIT */
/* The flags of a work request of a send queue.  [virtio-rdma RFC, enum ib_send_flags] */
#ifndef EMU_FACTS_ENUM_SEND_FLAG_H
#define EMU_FACTS_ENUM_SEND_FLAG_H

#include "emu/facts/enum_table.h"

#define ENUM_SEND_FLAG(X)                                                                          \
    X(SF, FENCE, 1u << 0, "wait for earlier READs and atomics of this queue")                      \
    X(SF, SIGNALED, 1u << 1, "write a completion also on success")                                 \
    X(SF, SOLICITED, 1u << 2, "set the solicited event bit for the receiver")                      \
    X(SF, INLINE, 1u << 3, "copy the data into the work request when posting")

enum send_flag_bit { ENUM_SEND_FLAG(ENUM_MEMBER) };

#endif
