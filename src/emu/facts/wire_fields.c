/* SPDX-License-Identifier: MIT */
/* The names of the fields of a frame: those of enum wire_field_id, and each number in a MAD. */
#include "emu/base/assert.h"
#include "emu/facts/enum/wire_field.h"
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

static const struct enum_row rows[] = {
    ENUM_WIRE_FIELD(ENUM_ROW) MAD_ROWS(MAD_HEADER_FIELDS, HEADER_ROW)
        MAD_ROWS(CM_REQ_FIELDS, REQ_ROW) MAD_ROWS(CM_MRA_FIELDS, MRA_ROW)
            MAD_ROWS(CM_REJ_FIELDS, REJ_ROW) MAD_ROWS(CM_REP_FIELDS, REP_ROW)
                MAD_ROWS(CM_RTU_FIELDS, RTU_ROW) MAD_ROWS(CM_DREQ_FIELDS, DREQ_ROW)
                    MAD_ROWS(CM_DREP_FIELDS, DREP_ROW) MAD_ROWS(CM_SIDR_REQ_FIELDS, SIDR_REQ_ROW)
                        MAD_ROWS(CM_SIDR_REP_FIELDS, SIDR_REP_ROW)
                            MAD_ROWS(RDMA_CM_FIELDS, RDMA_CM_ROW)};
const struct enum_table enum_wire_field = {"wire_field", "field of a frame", rows, ARRAY_LEN(rows)};
