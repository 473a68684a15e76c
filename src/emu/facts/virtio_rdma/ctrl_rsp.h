/* SPDX-License-Identifier: MIT */
/* The response codes of the control queue.
 *
 * The RFC defines no values.  The RFC's authors use 0 and 1 in their demonstration; the other codes
 * are our own.
 */
#ifndef EMU_FACTS_VIRTIO_RDMA_CTRL_RSP_H
#define EMU_FACTS_VIRTIO_RDMA_CTRL_RSP_H

#include "emu/facts/enum_table.h"

#define ENUM_CTRL_RSP(X)                                                                           \
    X(RSP, OK, 0, "done")                                                                          \
    X(RSP, ERR, 1, "failed")                                                                       \
    X(RSP, UNKNOWN_COMMAND, 2, "the device does not know this command")                            \
    X(RSP, BAD_HANDLE, 3, "a handle in the request names nothing")                                 \
    X(RSP, BUSY, 4, "the object is in use")                                                        \
    X(RSP, NO_RESOURCES, 5, "a limit of the device is reached")                                    \
    X(RSP, INVALID_ARG, 6, "a value in the request is out of range")                               \
    X(RSP, NOT_SUPPORTED, 7, "the device does not offer this")

enum ctrl_rsp { ENUM_CTRL_RSP(ENUM_MEMBER) };

#endif
