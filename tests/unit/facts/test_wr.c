/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include "emu/facts/datagram.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/wr.h"

static void opcodes_by_type_and_position(void **state)
{
    static const struct {
        enum wr_opcode opcode;
        enum qp_type type;
        enum opcode first, last, only; /* first and last 0: always a single packet */
    } rows[] = {
        {WR_SEND, QPT_RC, OP_RC_SEND_FIRST, OP_RC_SEND_LAST, OP_RC_SEND_ONLY},
        {WR_SEND, QPT_UC, OP_UC_SEND_FIRST, OP_UC_SEND_LAST, OP_UC_SEND_ONLY},
        {WR_SEND, QPT_UD, 0, 0, OP_UD_SEND_ONLY},
        {WR_SEND_WITH_IMM, QPT_RC, OP_RC_SEND_FIRST, OP_RC_SEND_LAST_WITH_IMM,
         OP_RC_SEND_ONLY_WITH_IMM},
        {WR_SEND_WITH_IMM, QPT_UC, OP_UC_SEND_FIRST, OP_UC_SEND_LAST_WITH_IMM,
         OP_UC_SEND_ONLY_WITH_IMM},
        {WR_SEND_WITH_IMM, QPT_UD, 0, 0, OP_UD_SEND_ONLY_WITH_IMM},
        {WR_SEND, QPT_GSI, 0, 0, OP_UD_SEND_ONLY},
        {WR_SEND_WITH_IMM, QPT_GSI, 0, 0, OP_UD_SEND_ONLY_WITH_IMM},
        {WR_SEND_WITH_INV, QPT_RC, OP_RC_SEND_FIRST, OP_RC_SEND_LAST_WITH_INVALIDATE,
         OP_RC_SEND_ONLY_WITH_INVALIDATE},
        {WR_RDMA_WRITE, QPT_RC, OP_RC_RDMA_WRITE_FIRST, OP_RC_RDMA_WRITE_LAST,
         OP_RC_RDMA_WRITE_ONLY},
        {WR_RDMA_WRITE, QPT_UC, OP_UC_RDMA_WRITE_FIRST, OP_UC_RDMA_WRITE_LAST,
         OP_UC_RDMA_WRITE_ONLY},
        {WR_RDMA_WRITE_WITH_IMM, QPT_RC, OP_RC_RDMA_WRITE_FIRST, OP_RC_RDMA_WRITE_LAST_WITH_IMM,
         OP_RC_RDMA_WRITE_ONLY_WITH_IMM},
        {WR_RDMA_WRITE_WITH_IMM, QPT_UC, OP_UC_RDMA_WRITE_FIRST, OP_UC_RDMA_WRITE_LAST_WITH_IMM,
         OP_UC_RDMA_WRITE_ONLY_WITH_IMM},
        {WR_RDMA_READ, QPT_RC, 0, 0, OP_RC_RDMA_READ_REQUEST},
        {WR_RDMA_READ_WITH_INV, QPT_RC, 0, 0, OP_RC_RDMA_READ_REQUEST},
        {WR_ATOMIC_CMP_AND_SWP, QPT_RC, 0, 0, OP_RC_COMPARE_SWAP},
        {WR_ATOMIC_FETCH_AND_ADD, QPT_RC, 0, 0, OP_RC_FETCH_ADD},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const uint8_t *code = wr_info(rows[i].opcode)->code[rows[i].type];

        assert_true(wr_is_of_type(rows[i].type, rows[i].opcode));
        assert_int_equal(code[OPP_FIRST], rows[i].first);
        assert_int_equal(code[OPP_LAST], rows[i].last);
        assert_int_equal(code[OPP_ONLY], rows[i].only);
    }
    assert_null(wr_info(0x1234));
}

/* Every opcode has a row but RECV, which is none of the send queue. */
static void completions_have_their_own_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < enum_wr_opcode.n_rows; i++) {
        const uint32_t opcode = enum_wr_opcode.rows[i].value;

        assert_int_equal(wr_info(opcode) == NULL, opcode == WR_RECV);
    }
    assert_int_equal(wr_completes_as(WR_RDMA_READ_WITH_INV), WC_RDMA_READ);
    assert_int_equal(wr_completes_as(WR_SEND_WITH_INV), WC_SEND);
    assert_int_equal(wr_completes_as(WR_BIND_MW), WC_BIND_MW);
    assert_int_equal(wr_completes_as(0x1234), WC_SEND);
}

/* A SEND of each form, and a WRITE with immediate data. */
static void some_operations_take_a_receive(void **state)
{
    static const uint32_t taking[] = {WR_SEND, WR_SEND_WITH_IMM, WR_SEND_WITH_INV,
                                      WR_RDMA_WRITE_WITH_IMM};
    size_t n = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(taking); i++)
        assert_true(wr_takes_receive(taking[i]));
    for (size_t i = 0; i < enum_wr_opcode.n_rows; i++)
        n += wr_takes_receive(enum_wr_opcode.rows[i].value);
    assert_int_equal(n, ARRAY_LEN(taking));
    assert_false(wr_takes_receive(0x1234));
}

/* As the table of ibv_post_send(3) has it, without what no packet could carry. */
static void each_type_has_its_operations(void **state)
{
    (void)state;
    for (size_t i = 0; i < enum_wr_opcode.n_rows; i++) {
        const uint32_t op = enum_wr_opcode.rows[i].value;
        const bool sends = op == WR_SEND || op == WR_SEND_WITH_IMM;
        const bool writes = op == WR_RDMA_WRITE || op == WR_RDMA_WRITE_WITH_IMM;
        const bool windows = op == WR_BIND_MW || op == WR_LOCAL_INV;

        assert_int_equal(wr_is_of_type(QPT_RC, op), op != WR_RECV);
        assert_int_equal(wr_is_of_type(QPT_UC, op), sends || writes || windows);
        assert_int_equal(wr_is_of_type(QPT_UD, op), sends);
        assert_int_equal(wr_is_of_type(QPT_GSI, op), sends);
        assert_false(wr_is_of_type(QPT_SMI, op));
    }
    assert_false(wr_is_of_type(QPT_RC, 0x1234));
}

/* The union of a WQE depends on the opcode, on UD on nothing. */
static void the_union_says_what_the_operation_needs(void **state)
{
    static const struct {
        uint32_t opcode;
        enum wr_form rc, ud;
    } rows[] = {
        {WR_SEND, WR_FORM_NONE, WR_FORM_UD},
        {WR_SEND_WITH_IMM, WR_FORM_NONE, WR_FORM_UD},
        {WR_SEND_WITH_INV, WR_FORM_NONE, WR_FORM_UD},
        {WR_RDMA_WRITE, WR_FORM_RDMA, WR_FORM_UD},
        {WR_RDMA_WRITE_WITH_IMM, WR_FORM_RDMA, WR_FORM_UD},
        {WR_RDMA_READ, WR_FORM_RDMA, WR_FORM_UD},
        {WR_RDMA_READ_WITH_INV, WR_FORM_RDMA, WR_FORM_UD},
        {WR_ATOMIC_CMP_AND_SWP, WR_FORM_ATOMIC, WR_FORM_UD},
        {WR_ATOMIC_FETCH_AND_ADD, WR_FORM_ATOMIC, WR_FORM_UD},
        {WR_LOCAL_INV, WR_FORM_NONE, WR_FORM_UD},
        {WR_REG_MR, WR_FORM_REG, WR_FORM_UD},
        {WR_BIND_MW, WR_FORM_BIND, WR_FORM_UD},
        {WR_RECV, WR_FORM_NONE, WR_FORM_NONE},
        {0x1234, WR_FORM_NONE, WR_FORM_NONE},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(wr_form(QPT_RC, rows[i].opcode), rows[i].rc);
        assert_int_equal(wr_form(QPT_UC, rows[i].opcode), rows[i].rc);
        assert_int_equal(wr_form(QPT_UD, rows[i].opcode), rows[i].ud);
        assert_int_equal(wr_form(QPT_GSI, rows[i].opcode), rows[i].ud);
    }
}

/* The packets of a WR that carries immediate data, or a key to invalidate, have a place for it, and
 * a WR that is local has no packets.
 */
static void rows_agree_with_their_packets(void **state)
{
    (void)state;
    for (size_t i = 0; i < enum_wr_opcode.n_rows; i++) {
        const struct wr_info *row = wr_info(enum_wr_opcode.rows[i].value);

        for (enum qp_type type = QPT_GSI; row && type <= QPT_UD; type++) {
            const struct op_info *op = op_info(row->code[type][OPP_ONLY]);

            if (row->local || !wr_is_of_type(type, row->opcode)) {
                assert_int_equal(row->code[type][OPP_ONLY], 0);
                continue;
            }
            assert_int_equal(op->pos, OPP_ONLY);
            assert_int_equal((op->headers & H_IMM) != 0, row->imm);
            assert_int_equal((op->headers & H_IETH) != 0,
                             row->invalidates && row->data == WR_DATA_TAKES);
            assert_int_equal((op->headers & H_RETH) != 0, row->form == WR_FORM_RDMA);
            assert_int_equal((op->headers & H_ATOMIC) != 0, row->form == WR_FORM_ATOMIC);
            assert_int_equal((op->headers & H_DETH) != 0, qp_type_is_datagram(type));
        }
    }
}

/* What is carried as a work request is carried as packets, and the other way round. */
static void packets_are_carried_as_their_work_request_is(void **state)
{
    bool sent[256] = {[OP_RC_ACKNOWLEDGE] = true,
                      [OP_RC_ATOMIC_ACKNOWLEDGE] = true,
                      [OP_RC_RDMA_READ_RESPONSE_FIRST] = true,
                      [OP_RC_RDMA_READ_RESPONSE_MIDDLE] = true,
                      [OP_RC_RDMA_READ_RESPONSE_LAST] = true,
                      [OP_RC_RDMA_READ_RESPONSE_ONLY] = true,
                      [OP_RC_FLUSH] = true, /* answered only: no device of the lab sends these */
                      [OP_RC_ATOMIC_WRITE] = true};

    (void)state;
    for (size_t i = 0; i < enum_wr_opcode.n_rows; i++) {
        const uint32_t opcode = enum_wr_opcode.rows[i].value;
        const struct wr_info *row = wr_info(opcode);

        for (int pos = OPP_FIRST; row && !row->local && pos <= OPP_ONLY; pos++) {
            if (row->data == WR_DATA_FILLS && pos != OPP_ONLY)
                continue; /* its request is one packet */
            assert_int_equal(op_info(row->code[QPT_RC][pos])->pos, pos);
            sent[row->code[QPT_RC][pos]] = true;
        }
    }
    for (unsigned code = 0; code < 256; code++) {
        const struct op_info *op = op_info((uint8_t)code);
        const bool unreliable = op->service == OPS_UC || op->service == OPS_UD;

        assert_int_equal(op->carried, sent[code] || unreliable);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opcodes_by_type_and_position),
        cmocka_unit_test(completions_have_their_own_names),
        cmocka_unit_test(some_operations_take_a_receive),
        cmocka_unit_test(each_type_has_its_operations),
        cmocka_unit_test(the_union_says_what_the_operation_needs),
        cmocka_unit_test(rows_agree_with_their_packets),
        cmocka_unit_test(packets_are_carried_as_their_work_request_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
