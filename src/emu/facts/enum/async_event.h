/* SPDX-License-Identifier: MIT */
/* The asynchronous events of a device.  [libibverbs, enum ibv_event_type;
 * ibv_get_async_event(3)]
 *
 * Events with "never raised here" in their text are defined, but the device does not raise them.
 * async_object() in async.h returns the kind of object that an event names.
 */
#ifndef EMU_FACTS_ENUM_ASYNC_EVENT_H
#define EMU_FACTS_ENUM_ASYNC_EVENT_H

#include "emu/facts/enum_table.h"

#define ENUM_ASYNC_EVENT(X)                                                                        \
    X(ASE, CQ_ERR, 0, "the completion queue overflowed: it delivers nothing any more")             \
    X(ASE, QP_FATAL, 1, "the queue pair failed so that its completions cannot tell")               \
    X(ASE, QP_REQ_ERR, 2, "the queue pair refused an invalid request of its peer, and failed")     \
    X(ASE, QP_ACCESS_ERR, 3,                                                                       \
      "the queue pair refused a READ, a WRITE or an atomic: its access, its address or length, "   \
      "or "                                                                                        \
      "one READ too many; it failed")                                                              \
    X(ASE, COMM_EST, 4, "the first packet arrived at a queue pair in RTR")                         \
    X(ASE, SQ_DRAINED, 5, "all sends that were started are done, in SQD")                          \
    X(ASE, PATH_MIG, 6, "the connection moved to its alternate path (never raised here)")          \
    X(ASE, PATH_MIG_ERR, 7, "the connection could not move to its path (never raised here)")       \
    X(ASE, DEVICE_FATAL, 8, "the device met an error that only a reset mends")                     \
    X(ASE, PORT_ACTIVE, 9, "the port has a link")                                                  \
    X(ASE, PORT_ERR, 10, "the port has lost its link")                                             \
    X(ASE, LID_CHANGE, 11, "the LID of a port changed (InfiniBand only, never raised here)")       \
    X(ASE, PKEY_CHANGE, 12, "the P_Key table of a port changed (never raised here)")               \
    X(ASE, SM_CHANGE, 13, "the subnet manager changed (InfiniBand only, never raised here)")       \
    X(ASE, SRQ_ERR, 14, "the shared receive queue failed: it gives no receives any more")          \
    X(ASE, SRQ_LIMIT_REACHED, 15, "a shared receive queue has fewer receives than its limit")      \
    X(ASE, QP_LAST_WQE_REACHED, 16, "a failed QP takes no more shared receives")                   \
    X(ASE, CLIENT_REREGISTER, 17, "the subnet manager asks to register again (never raised here)") \
    X(ASE, GID_CHANGE, 18, "an entry of the GID table changed")

enum async_event { ENUM_ASYNC_EVENT(ENUM_MEMBER) ASYNC_EVENTS };

#endif
