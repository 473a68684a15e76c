/* SPDX-License-Identifier: MIT */
/* The reasons of a REJ.  [IBTA1 12.6.7] */
#ifndef EMU_FACTS_ENUM_CM_REASON_H
#define EMU_FACTS_ENUM_CM_REASON_H

#include "emu/facts/enum_table.h"

#define ENUM_CM_REASON(X)                                                                          \
    X(CM_REASON, NO_QP, 1, "no queue pair is available")                                           \
    X(CM_REASON, NO_EEC, 2, "no end-to-end context is available")                                  \
    X(CM_REASON, NO_RESOURCES, 3, "no resources are available")                                    \
    X(CM_REASON, TIMEOUT, 4, "no answer came in time")                                             \
    X(CM_REASON, UNSUPPORTED, 5, "the request is not supported")                                   \
    X(CM_REASON, INVALID_COMM_ID, 6, "there is no such communication ID")                          \
    X(CM_REASON, INVALID_COMM_INSTANCE, 7, "the communication IDs do not belong together")         \
    X(CM_REASON, INVALID_SERVICE_ID, 8, "nobody listens at this service ID")                       \
    X(CM_REASON, INVALID_TRANSPORT_TYPE, 9, "the service has another transport")                   \
    X(CM_REASON, STALE_CONN, 10, "an earlier connection with these IDs or this queue pair exists") \
    X(CM_REASON, RDC_NOT_EXIST, 11, "there is no such reliable datagram channel")                  \
    X(CM_REASON, INVALID_GID, 12, "the primary GID is not that of the receiver")                   \
    X(CM_REASON, INVALID_LID, 13, "the primary LID cannot be used")                                \
    X(CM_REASON, INVALID_SL, 14, "the primary service level cannot be used")                       \
    X(CM_REASON, INVALID_TRAFFIC_CLASS, 15, "the primary traffic class cannot be used")            \
    X(CM_REASON, INVALID_HOP_LIMIT, 16, "the primary hop limit cannot be used")                    \
    X(CM_REASON, INVALID_PACKET_RATE, 17, "the primary packet rate cannot be used")                \
    X(CM_REASON, INVALID_ALT_GID, 18, "the alternate GID cannot be used")                          \
    X(CM_REASON, INVALID_ALT_LID, 19, "the alternate LID cannot be used")                          \
    X(CM_REASON, INVALID_ALT_SL, 20, "the alternate service level cannot be used")                 \
    X(CM_REASON, INVALID_ALT_TRAFFIC_CLASS, 21, "the alternate traffic class cannot be used")      \
    X(CM_REASON, INVALID_ALT_HOP_LIMIT, 22, "the alternate hop limit cannot be used")              \
    X(CM_REASON, INVALID_ALT_PACKET_RATE, 23, "the alternate packet rate cannot be used")          \
    X(CM_REASON, PORT_CM_REDIRECT, 24, "another port and connection manager serve it")             \
    X(CM_REASON, PORT_REDIRECT, 25, "another port serves it")                                      \
    X(CM_REASON, INVALID_MTU, 26, "the path MTU cannot be used")                                   \
    X(CM_REASON, INSUFFICIENT_RESP_RESOURCES, 27, "too few READs and atomics may be outstanding")  \
    X(CM_REASON, CONSUMER_DEFINED, 28, "the program refuses, or an earlier check failed")          \
    X(CM_REASON, INVALID_RNR_RETRY, 29, "the RNR retry count cannot be used")                      \
    X(CM_REASON, DUPLICATE_LOCAL_COMM_ID, 30, "the communication ID is used already")              \
    X(CM_REASON, INVALID_CLASS_VERSION, 31, "the version of the MAD class is not supported")       \
    X(CM_REASON, INVALID_FLOW_LABEL, 32, "the primary flow label cannot be used")                  \
    X(CM_REASON, INVALID_ALT_FLOW_LABEL, 33, "the alternate flow label cannot be used")            \
    X(CM_REASON, VENDOR_OPTION, 35, "the vendor's options are not supported")

enum cm_reason { ENUM_CM_REASON(ENUM_MEMBER) };

#endif
