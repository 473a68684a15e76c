/* SPDX-License-Identifier: MIT */
#include "emu/facts/wr.h"

#include "emu/base/assert.h"
#include "emu/facts/datagram.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/wr_opcode.h"

_Static_assert(QPT_UD + 1 == WR_TYPES, "there is a column for every type");

#define GSI (1u << QPT_GSI)
#define RC  (1u << QPT_RC)
#define UC  (1u << QPT_UC)
#define UD  (1u << QPT_UD)

/* The packet opcodes of a message on @service.  First and middle packets are @kind. */
#define CODES(service, kind, last, only)                                                           \
    [QPT_##service] = {                                                                            \
        [OPP_FIRST] = OP_##service##_##kind##_FIRST,                                               \
        [OPP_MIDDLE] = OP_##service##_##kind##_MIDDLE,                                             \
        [OPP_LAST] = OP_##service##_##last,                                                        \
        [OPP_ONLY] = OP_##service##_##only,                                                        \
    }
/* The packet opcode of a message that is a single packet. */
#define CODE(service, only) [QPT_##service] = {[OPP_ONLY] = OP_##service##_##only}
/* The same for datagrams: the packets of the GSI are those of UD. */
#define CODE_DATAGRAM(only)                                                                        \
    [QPT_UD] = {[OPP_ONLY] = OP_UD_##only}, [QPT_GSI] = {[OPP_ONLY] = OP_UD_##only}

/* Indexed by opcode.  An unused opcode has no types. */
static const struct wr_info rows[] = {
    [WR_SEND] = {.opcode = WR_SEND,
                 .wc = WC_SEND,
                 .data = WR_DATA_TAKES,
                 .types = RC | UC | UD | GSI,
                 .code = {CODES(RC, SEND, SEND_LAST, SEND_ONLY),
                          CODES(UC, SEND, SEND_LAST, SEND_ONLY), CODE_DATAGRAM(SEND_ONLY)}},
    [WR_SEND_WITH_IMM] = {.opcode = WR_SEND_WITH_IMM,
                          .wc = WC_SEND,
                          .data = WR_DATA_TAKES,
                          .imm = true,
                          .types = RC | UC | UD | GSI,
                          .code = {CODES(RC, SEND, SEND_LAST_WITH_IMM, SEND_ONLY_WITH_IMM),
                                   CODES(UC, SEND, SEND_LAST_WITH_IMM, SEND_ONLY_WITH_IMM),
                                   CODE_DATAGRAM(SEND_ONLY_WITH_IMM)}},
    [WR_SEND_WITH_INV] = {.opcode = WR_SEND_WITH_INV,
                          .wc = WC_SEND,
                          .data = WR_DATA_TAKES,
                          .invalidates = true,
                          .types = RC,
                          .code = {CODES(RC, SEND, SEND_LAST_WITH_INVALIDATE,
                                         SEND_ONLY_WITH_INVALIDATE)}},
    [WR_RDMA_WRITE] = {.opcode = WR_RDMA_WRITE,
                       .wc = WC_RDMA_WRITE,
                       .form = WR_FORM_RDMA,
                       .data = WR_DATA_TAKES,
                       .types = RC | UC,
                       .code = {CODES(RC, RDMA_WRITE, RDMA_WRITE_LAST, RDMA_WRITE_ONLY),
                                CODES(UC, RDMA_WRITE, RDMA_WRITE_LAST, RDMA_WRITE_ONLY)}},
    [WR_RDMA_WRITE_WITH_IMM] =
        {.opcode = WR_RDMA_WRITE_WITH_IMM,
         .wc = WC_RDMA_WRITE,
         .form = WR_FORM_RDMA,
         .data = WR_DATA_TAKES,
         .imm = true,
         .types = RC | UC,
         .code = {CODES(RC, RDMA_WRITE, RDMA_WRITE_LAST_WITH_IMM, RDMA_WRITE_ONLY_WITH_IMM),
                  CODES(UC, RDMA_WRITE, RDMA_WRITE_LAST_WITH_IMM, RDMA_WRITE_ONLY_WITH_IMM)}},
    [WR_RDMA_READ] = {.opcode = WR_RDMA_READ,
                      .wc = WC_RDMA_READ,
                      .form = WR_FORM_RDMA,
                      .data = WR_DATA_FILLS,
                      .types = RC,
                      .code = {CODE(RC, RDMA_READ_REQUEST)}},
    [WR_RDMA_READ_WITH_INV] = {.opcode = WR_RDMA_READ_WITH_INV,
                               .wc = WC_RDMA_READ,
                               .form = WR_FORM_RDMA,
                               .data = WR_DATA_FILLS,
                               .invalidates = true,
                               .types = RC,
                               .code = {CODE(RC, RDMA_READ_REQUEST)}},
    [WR_ATOMIC_CMP_AND_SWP] = {.opcode = WR_ATOMIC_CMP_AND_SWP,
                               .wc = WC_COMP_SWAP,
                               .form = WR_FORM_ATOMIC,
                               .data = WR_DATA_FILLS,
                               .types = RC,
                               .code = {CODE(RC, COMPARE_SWAP)}},
    [WR_ATOMIC_FETCH_AND_ADD] = {.opcode = WR_ATOMIC_FETCH_AND_ADD,
                                 .wc = WC_FETCH_ADD,
                                 .form = WR_FORM_ATOMIC,
                                 .data = WR_DATA_FILLS,
                                 .types = RC,
                                 .code = {CODE(RC, FETCH_ADD)}},
    [WR_LOCAL_INV] = {.opcode = WR_LOCAL_INV,
                      .wc = WC_LOCAL_INV,
                      .invalidates = true,
                      .local = true,
                      .types = RC | UC},
    [WR_REG_MR] =
        {.opcode = WR_REG_MR, .wc = WC_REG_MR, .form = WR_FORM_REG, .local = true, .types = RC},
    [WR_BIND_MW] = {.opcode = WR_BIND_MW,
                    .wc = WC_BIND_MW,
                    .form = WR_FORM_BIND,
                    .local = true,
                    .types = RC | UC},
};

const struct wr_info *wr_info(uint32_t opcode)
{
    return opcode < ARRAY_LEN(rows) && rows[opcode].types ? &rows[opcode] : NULL;
}

bool wr_is_of_type(uint32_t type, uint32_t opcode)
{
    const struct wr_info *row = wr_info(opcode);

    return row && (row->types & (1u << type)) != 0;
}

bool wr_takes_receive(uint32_t opcode)
{
    const struct wr_info *row = wr_info(opcode);

    return row && (row->wc == WC_SEND || row->imm);
}

enum wr_form wr_form(uint32_t type, uint32_t opcode)
{
    const struct wr_info *row = wr_info(opcode);

    if (!row)
        return WR_FORM_NONE;
    return qp_type_is_datagram(type) ? WR_FORM_UD : row->form;
}

enum wc_opcode wr_completes_as(uint32_t opcode)
{
    const struct wr_info *row = wr_info(opcode);

    return row ? row->wc : WC_SEND;
}
