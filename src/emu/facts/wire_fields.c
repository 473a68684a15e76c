/* SPDX-License-Identifier: MIT */
/* The names of the fields of a frame: those of enum wire_field_id, and each number in a MAD or in a
 * message of o2iblnd.
 */
#include "emu/base/assert.h"
#include "emu/facts/enum/wire_field.h"
#include "emu/facts/lnet_fields.h"
#include "emu/facts/mad_fields.h"

#define ENUM_ROW(prefix, nm, val, txt) {#nm, (val), (txt)},

/* The names begin with that of the structure, which is PART here. */
#define MAD_ROW(part, nm, where, bits, text)                                                       \
    {#part "_" #nm, WF_OF_MAD(MAD_PART_##part, where, bits), text ", in a message " #part},
#define SKIP_BYTES(nm, where, length, bits, how, text)
#define SKIP_RESERVED(where, length, bits)
#define MAD_ROWS(fields, row) fields(row, row, SKIP_BYTES, SKIP_RESERVED)

#define HEADER_ROW(nm, where, length, bits, how, text)                                             \
    {"MAD_" #nm, WF_OF_MAD(MAD_PART_HEADER, where, bits), text ", in the header of a MAD"},
#define REQ_ROW(nm, where, length, bits, how, text)      MAD_ROW(REQ, nm, where, bits, text)
#define MRA_ROW(nm, where, length, bits, how, text)      MAD_ROW(MRA, nm, where, bits, text)
#define REJ_ROW(nm, where, length, bits, how, text)      MAD_ROW(REJ, nm, where, bits, text)
#define REP_ROW(nm, where, length, bits, how, text)      MAD_ROW(REP, nm, where, bits, text)
#define RTU_ROW(nm, where, length, bits, how, text)      MAD_ROW(RTU, nm, where, bits, text)
#define DREQ_ROW(nm, where, length, bits, how, text)     MAD_ROW(DREQ, nm, where, bits, text)
#define DREP_ROW(nm, where, length, bits, how, text)     MAD_ROW(DREP, nm, where, bits, text)
#define SIDR_REQ_ROW(nm, where, length, bits, how, text) MAD_ROW(SIDR_REQ, nm, where, bits, text)
#define SIDR_REP_ROW(nm, where, length, bits, how, text) MAD_ROW(SIDR_REP, nm, where, bits, text)
#define RDMA_CM_ROW(nm, where, length, bits, how, text)                                            \
    {"RDMA_CM_" #nm, WF_OF_MAD(MAD_PART_RDMA_CM, where, bits),                                     \
     text ", in the private data of a REQ or SIDR_REQ of rdma_cm"},

/* Rows of a part of a message of o2iblnd. */
#define LNET_ROW(name, part, where, text, what)                                                    \
    {name, WF_OF_LNET(LNET_PART_##part, where), text ", " what},
#define LNET_SKIP(where, length)

#define LNET_HEAD_N(nm, where, length, how, text)                                                  \
    LNET_ROW("LNET_" #nm, HEAD, where, text, "in a message of o2iblnd")
#define LNET_HEAD_F(nm, member, where, length, how, text) LNET_HEAD_N(nm, where, length, how, text)
#define LNET_NONE(nm, where, length, how, text)
#define LNET_CONN_F(nm, member, where, length, how, text)                                          \
    LNET_ROW("LNET_CONN_" #nm, CONN, where, text, "in a CONNREQ or CONNACK of o2iblnd")
#define LNET_HDR_F(nm, member, where, length, how, text)                                           \
    LNET_ROW("LNET_HDR_" #nm, HDR, where, text, "in the LNet header of a message of o2iblnd")
#define LNET_ACK_F(nm, member, where, length, how, text)                                           \
    LNET_ROW("LNET_ACK_" #nm, ACK, where, text, "in an ACK of LNet")
#define LNET_PUT_F(nm, member, where, length, how, text)                                           \
    LNET_ROW("LNET_PUT_" #nm, PUT, where, text, "in a PUT of LNet")
#define LNET_GET_F(nm, member, where, length, how, text)                                           \
    LNET_ROW("LNET_GET_" #nm, GET, where, text, "in a GET of LNet")
#define LNET_REPLY_F(nm, member, where, length, how, text)                                         \
    LNET_ROW("LNET_REPLY_" #nm, REPLY, where, text, "in a REPLY of LNet")
#define LNET_HELLO_F(nm, member, where, length, how, text)                                         \
    LNET_ROW("LNET_HELLO_" #nm, HELLO, where, text, "in a HELLO of LNet")
#define LNET_REQ_F(nm, member, where, length, how, text)                                           \
    LNET_ROW("LNET_REQ_" #nm, REQ, where, text, "in a PUT_REQ or GET_REQ of o2iblnd")
#define LNET_PUT_ACK_F(nm, member, where, length, how, text)                                       \
    LNET_ROW("LNET_PUT_ACK_" #nm, PUT_ACK, where, text, "in a PUT_ACK of o2iblnd")
#define LNET_DONE_F(nm, member, where, length, how, text)                                          \
    LNET_ROW("LNET_DONE_" #nm, DONE, where, text, "in a PUT_NAK, PUT_DONE or GET_DONE of o2iblnd")
#define LNET_RD_F(nm, member, where, length, how, text)                                            \
    LNET_ROW("LNET_RD_" #nm, RD, where, text, "in the descriptor of a PUT_ACK or GET_REQ")
#define LNET_FRAG_F(nm, member, where, length, how, text)                                          \
    LNET_ROW("LNET_FRAG_" #nm, FRAG, where, text, "in the first fragment of a descriptor")
#define LNET_REJECT_F(nm, member, where, length, how, text)                                        \
    LNET_ROW("LNET_REJECT_" #nm, REJECT, where, text, "in a reject of o2iblnd")

/* clang-format off */
static const struct enum_row rows[] = {
    ENUM_WIRE_FIELD(ENUM_ROW)
    MAD_ROWS(MAD_HEADER_FIELDS, HEADER_ROW)
    MAD_ROWS(CM_REQ_FIELDS, REQ_ROW)
    MAD_ROWS(CM_MRA_FIELDS, MRA_ROW)
    MAD_ROWS(CM_REJ_FIELDS, REJ_ROW)
    MAD_ROWS(CM_REP_FIELDS, REP_ROW)
    MAD_ROWS(CM_RTU_FIELDS, RTU_ROW)
    MAD_ROWS(CM_DREQ_FIELDS, DREQ_ROW)
    MAD_ROWS(CM_DREP_FIELDS, DREP_ROW)
    MAD_ROWS(CM_SIDR_REQ_FIELDS, SIDR_REQ_ROW)
    MAD_ROWS(CM_SIDR_REP_FIELDS, SIDR_REP_ROW)
    MAD_ROWS(RDMA_CM_FIELDS, RDMA_CM_ROW)
    LNET_HEAD_FIELDS(LNET_HEAD_F, LNET_HEAD_N, LNET_SKIP)
    LNET_CONN_FIELDS(LNET_CONN_F, LNET_NONE, LNET_SKIP)
    LNET_HDR_FIELDS(LNET_HDR_F, LNET_NONE, LNET_SKIP)
    LNET_ACK_FIELDS(LNET_ACK_F, LNET_NONE, LNET_SKIP)
    LNET_PUT_FIELDS(LNET_PUT_F, LNET_NONE, LNET_SKIP)
    LNET_GET_FIELDS(LNET_GET_F, LNET_NONE, LNET_SKIP)
    LNET_REPLY_FIELDS(LNET_REPLY_F, LNET_NONE, LNET_SKIP)
    LNET_HELLO_FIELDS(LNET_HELLO_F, LNET_NONE, LNET_SKIP)
    LNET_REQ_FIELDS(LNET_REQ_F, LNET_NONE, LNET_SKIP)
    LNET_PUT_ACK_FIELDS(LNET_PUT_ACK_F, LNET_NONE, LNET_SKIP)
    LNET_DONE_FIELDS(LNET_DONE_F, LNET_NONE, LNET_SKIP)
    LNET_RD_FIELDS(LNET_RD_F, LNET_NONE, LNET_SKIP)
    LNET_FRAG_FIELDS(LNET_FRAG_F, LNET_NONE, LNET_SKIP)
    LNET_REJECT_FIELDS(LNET_REJECT_F, LNET_NONE, LNET_SKIP)
};
/* clang-format on */
const struct enum_table enum_wire_field = {"wire_field", "field of a frame", rows, ARRAY_LEN(rows)};
