/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include "emu/facts/wr.h"

static void opcodes_by_position(void **state)
{
    const struct wr_info *send = wr_info(WR_SEND), *imm = wr_info(WR_SEND_WITH_IMM);

    (void)state;
    assert_int_equal(send->code[OPP_FIRST], OP_RC_SEND_FIRST);
    assert_int_equal(send->code[OPP_ONLY], OP_RC_SEND_ONLY);
    assert_int_equal(imm->code[OPP_FIRST], OP_RC_SEND_FIRST);
    assert_int_equal(imm->code[OPP_MIDDLE], OP_RC_SEND_MIDDLE);
    assert_int_equal(imm->code[OPP_LAST], OP_RC_SEND_LAST_WITH_IMM);
    assert_int_equal(imm->code[OPP_ONLY], OP_RC_SEND_ONLY_WITH_IMM);
    assert_null(wr_info(0x1234));
    for (size_t i = 0; i < enum_wr_opcode.n_rows; i++) {
        const uint32_t opcode = enum_wr_opcode.rows[i].value;

        if (opcode != WR_RECV)
            assert_non_null(wr_info(opcode));
    }
    assert_int_equal(wr_completes_as(WR_RDMA_READ_WITH_INV), WC_RDMA_READ);
    assert_int_equal(wr_completes_as(0x1234), WC_SEND);
}

/* What is carried as a work request is carried as packets, and the other way round. */
static void packets_are_carried_as_their_work_request_is(void **state)
{
    bool sent[256] = {[OP_RC_ACKNOWLEDGE] = true};

    (void)state;
    for (size_t i = 0; i < enum_wr_opcode.n_rows; i++) {
        const uint32_t opcode = enum_wr_opcode.rows[i].value;
        const struct wr_info *row = wr_info(opcode);

        assert_int_equal(wr_is_carried(opcode), opcode == WR_SEND || opcode == WR_SEND_WITH_IMM);
        for (int pos = OPP_FIRST; wr_is_carried(opcode) && pos <= OPP_ONLY; pos++) {
            assert_int_equal(op_info(row->code[pos])->pos, pos);
            sent[row->code[pos]] = true;
        }
    }
    assert_false(wr_is_carried(0x1234));
    for (unsigned code = 0; code < 256; code++)
        assert_int_equal(op_info((uint8_t)code)->carried, sent[code]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opcodes_by_position),
        cmocka_unit_test(packets_are_carried_as_their_work_request_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
