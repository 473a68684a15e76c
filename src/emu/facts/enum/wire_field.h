/* SPDX-License-Identifier: MIT */
/* The fields of a RoCEv2 frame, by which faults select and change frames. */
#ifndef EMU_FACTS_ENUM_WIRE_FIELD_H
#define EMU_FACTS_ENUM_WIRE_FIELD_H

#include "emu/facts/enum_table.h"

#define ENUM_WIRE_FIELD(X)                                                                         \
    X(WF, NONE, 0, "none")                                                                         \
    X(WF, MAC_DST, 1, "destination MAC")                                                           \
    X(WF, MAC_SRC, 2, "source MAC")                                                                \
    X(WF, DSCP, 3, "differentiated services code point of the IP header")                          \
    X(WF, ECN, 4, "explicit congestion notification of the IP header")                             \
    X(WF, TTL, 5, "time to live, or hop limit, of the IP header")                                  \
    X(WF, UDP_SRC_PORT, 6, "source port of the UDP header")                                        \
    X(WF, UDP_DST_PORT, 7, "destination port of the UDP header; RoCEv2 is 4791")                   \
    X(WF, OPCODE, 8, "opcode of the BTH, as a number")                                             \
    X(WF, SOLICITED, 9, "solicited event bit of the BTH")                                          \
    X(WF, MIGREQ, 10, "migration request bit of the BTH")                                          \
    X(WF, PAD, 11, "pad count of the BTH")                                                         \
    X(WF, TVER, 12, "transport version of the BTH")                                                \
    X(WF, PKEY, 13, "P_Key of the BTH")                                                            \
    X(WF, FECN, 14, "forward congestion notification of the BTH")                                  \
    X(WF, BECN, 15, "backward congestion notification of the BTH")                                 \
    X(WF, DEST_QPN, 16, "destination queue pair of the BTH")                                       \
    X(WF, ACKREQ, 17, "acknowledge request bit of the BTH")                                        \
    X(WF, PSN, 18, "packet sequence number of the BTH")                                            \
    X(WF, QKEY, 19, "Q_Key of the DETH")                                                           \
    X(WF, SRC_QPN, 20, "source queue pair of the DETH")                                            \
    X(WF, VA, 21, "virtual address of the RETH or AtomicETH")                                      \
    X(WF, RKEY, 22, "R_Key of the RETH or AtomicETH")                                              \
    X(WF, LENGTH, 23, "DMA length of the RETH")                                                    \
    X(WF, SWAP_ADD, 24, "swap or add value of the AtomicETH")                                      \
    X(WF, COMPARE, 25, "compare value of the AtomicETH")                                           \
    X(WF, SYNDROME, 26, "syndrome byte of the AETH")                                               \
    X(WF, MSN, 27, "message sequence number of the AETH")                                          \
    X(WF, ORIGINAL, 28, "what the atomic found, in the AtomicAckETH")                              \
    X(WF, IMM, 29, "immediate data")                                                               \
    X(WF, INV_RKEY, 30, "R_Key to invalidate, in the IETH")                                        \
    X(WF, PAYLOAD, 31, "first byte of the payload")                                                \
    X(WF, ICRC, 32, "the invariant CRC itself")                                                    \
    X(WF, CM, 33, "message of the connection manager: attribute ID of its MAD")                    \
    X(WF, PLACEMENT, 34, "placement type of the FETH: 1 global visibility, 2 persistence")         \
    X(WF, SELECTIVITY, 35, "selectivity level of the FETH: 0 a range, 1 a whole region")           \
    X(WF, VLAN, 36, "VLAN of the tag")                                                             \
    X(WF, PCP, 37, "priority of the tag")                                                          \
    X(WF, DEI, 38, "drop eligible bit of the tag")

enum wire_field_id { ENUM_WIRE_FIELD(ENUM_MEMBER) WIRE_FIELDS };

/* The numbers in a MAD are fields, too: a row of facts/mad_fields.h at byte @at of structure @part
 * (enum mad_part), with @mask, is the field WF_OF_MAD.  Its name is that of the structure and of
 * the row: REJ_reason.
 */
#define WF_OF_MAD(part, at, mask)                                                                  \
    ((uint32_t)((part) + 1) << 16 | (uint32_t)(at) << 8 | ((uint32_t)(mask)&0xffu))
#define WF_MAD_PART(id) (((id) >> 16) - 1)
#define WF_IS_MAD(id)   ((id) >> 16 != 0 && !WF_IS_LNET(id))

/* So are the numbers in a message of o2iblnd: a row of facts/lnet_fields.h at byte @at of part
 * @part (enum lnet_part).  Its name is LNET, the part, except HEAD, and the row: LNET_type,
 * LNET_DONE_status.
 */
#define WF_LNET              0x10000000u
#define WF_OF_LNET(part, at) (WF_LNET | (uint32_t)(part) << 8 | (uint32_t)(at))
#define WF_LNET_PART(id)     ((id) >> 8 & 0xffu)
#define WF_IS_LNET(id)       (((id)&WF_LNET) != 0)

#endif
