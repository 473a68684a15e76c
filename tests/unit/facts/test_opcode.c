/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include <string.h>

#include "emu/facts/enum/op_header.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/opcode.h"

static void only_the_defined_opcodes_have_a_name(void **state)
{
    size_t n = 0;

    (void)state;
    for (unsigned code = 0; code < 256; code++) {
        const struct op_info *op = op_info((uint8_t)code);
        const bool defined = code <= 0x17
                                 ? code != 0x15
                                 : code == 0x1c || code == 0x1d || (code >= 0x20 && code <= 0x2b) ||
                                       code == 0x64 || code == 0x65 || code == 0x81;

        assert_int_equal(op->name != NULL, defined);
        assert_int_equal(op->service != OPS_NONE, defined);
        assert_int_equal(op->kind != OPK_NONE, defined);
        assert_int_equal(op->pos != OPP_NONE, defined);
        n += defined;
    }
    assert_int_equal(n, 25 + 12 + 2 + 1);
}

static void a_name_says_service_position_and_headers(void **state)
{
    (void)state;
    for (unsigned code = 0; code < 256; code++) {
        const struct op_info *op = op_info((uint8_t)code);

        if (!op->name || op->kind == OPK_CNP)
            continue;
        assert_int_equal(strncmp(op->name, "RC_", 3) == 0, op->service == OPS_RC);
        assert_int_equal(strncmp(op->name, "UC_", 3) == 0, op->service == OPS_UC);
        assert_int_equal(strncmp(op->name, "UD_", 3) == 0, op->service == OPS_UD);
        assert_int_equal(strstr(op->name, "_FIRST") != NULL, op->pos == OPP_FIRST);
        assert_int_equal(strstr(op->name, "_MIDDLE") != NULL, op->pos == OPP_MIDDLE);
        assert_int_equal(strstr(op->name, "_LAST") != NULL, op->pos == OPP_LAST);
        assert_int_equal(strstr(op->name, "_IMM") != NULL, (op->headers & H_IMM) != 0);
        assert_int_equal(strstr(op->name, "_INVALIDATE") != NULL, (op->headers & H_IETH) != 0);
        assert_int_equal(op->service == OPS_UD, (op->headers & H_DETH) != 0);
    }
}

static void header_bytes(void **state)
{
    static const struct {
        enum opcode code;
        size_t bytes;
    } rows[] = {
        {OP_RC_SEND_ONLY, 0},
        {OP_RC_SEND_ONLY_WITH_IMM, 4},
        {OP_RC_SEND_LAST_WITH_INVALIDATE, 4},
        {OP_RC_RDMA_WRITE_FIRST, 16},
        {OP_RC_RDMA_WRITE_ONLY_WITH_IMM, 20},
        {OP_RC_RDMA_WRITE_LAST_WITH_IMM, 4},
        {OP_RC_RDMA_READ_REQUEST, 16},
        {OP_RC_RDMA_READ_RESPONSE_MIDDLE, 0},
        {OP_RC_RDMA_READ_RESPONSE_ONLY, 4},
        {OP_RC_ACKNOWLEDGE, 4},
        {OP_RC_ATOMIC_ACKNOWLEDGE, 12},
        {OP_RC_COMPARE_SWAP, 28},
        {OP_RC_FLUSH, 20},
        {OP_RC_ATOMIC_WRITE, 16},
        {OP_UD_SEND_ONLY, 8},
        {OP_UD_SEND_ONLY_WITH_IMM, 12},
        {OP_CNP, 16},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct op_info *op = op_info((uint8_t)rows[i].code);

        assert_int_equal(op_headers_bytes(op->headers), rows[i].bytes);
    }
}

static void headers_are_listed_in_wire_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_op_headers; i++)
        assert_int_equal(op_headers[i].header, 1u << i);
}

static void responses_are_what_a_responder_sends(void **state)
{
    (void)state;
    for (unsigned code = 0; code < 256; code++)
        assert_int_equal(op_is_response(op_info((uint8_t)code)), code >= 0x0d && code <= 0x12);
}

static void each_request_is_answered_by_one_kind_of_packet(void **state)
{
    static const struct {
        enum opcode code;
        enum op_kind answer;
    } rows[] = {
        {OP_RC_SEND_ONLY, OPK_ACK},        {OP_RC_RDMA_WRITE_LAST, OPK_ACK},
        {OP_RC_FETCH_ADD, OPK_ATOMIC_ACK}, {OP_RC_RDMA_READ_REQUEST, OPK_READ_RESPONSE},
        {OP_RC_FLUSH, OPK_READ_RESPONSE},  {OP_RC_ATOMIC_WRITE, OPK_READ_RESPONSE},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct op_info *op = op_info((uint8_t)rows[i].code);

        assert_true(op_is_request(op));
        assert_int_equal(op_answer(op), rows[i].answer);
        assert_int_equal(op_has_response(op), rows[i].answer != OPK_ACK);
    }
}

/* Columns: SEND FIRST, MIDDLE, LAST, ONLY, WRITE FIRST, MIDDLE, LAST, ONLY. */
static void only_a_message_left_open_is_continued(void **state)
{
    static const enum opcode ops[] = {
        OP_RC_SEND_FIRST,      OP_RC_SEND_MIDDLE,      OP_RC_SEND_LAST,
        OP_RC_SEND_ONLY,       OP_RC_RDMA_WRITE_FIRST, OP_RC_RDMA_WRITE_MIDDLE,
        OP_RC_RDMA_WRITE_LAST, OP_RC_RDMA_WRITE_ONLY,
    };
    static const char *const may[] = {
        /* after nothing */ "y..yy..y",
        /* SEND FIRST */ ".yy.....",
        /* SEND MIDDLE */ ".yy.....",
        /* SEND LAST */ "y..yy..y",
        /* SEND ONLY */ "y..yy..y",
        /* WRITE FIRST */ ".....yy.",
        /* WRITE MIDDLE */ ".....yy.",
        /* WRITE LAST */ "y..yy..y",
        /* WRITE ONLY */ "y..yy..y",
    };

    (void)state;
    for (size_t row = 0; row < ARRAY_LEN(may); row++) {
        const struct op_info *prev = row ? op_info((uint8_t)ops[row - 1]) : NULL;

        for (size_t col = 0; col < ARRAY_LEN(ops); col++)
            assert_int_equal(op_may_follow(prev, op_info((uint8_t)ops[col])), may[row][col] == 'y');
    }
}

static void imm_and_invalidate_close_a_message_too(void **state)
{
    const struct op_info *first = op_info(OP_RC_SEND_FIRST);
    const struct op_info *imm = op_info(OP_RC_SEND_LAST_WITH_IMM);
    const struct op_info *inv = op_info(OP_RC_SEND_LAST_WITH_INVALIDATE);

    (void)state;
    assert_true(op_may_follow(first, imm) && op_ends(imm));
    assert_true(op_may_follow(first, inv) && op_ends(inv));
    assert_false(op_may_follow(imm, inv));
    assert_true(op_may_follow(imm, op_info(OP_RC_SEND_ONLY_WITH_INVALIDATE)));
    assert_true(op_starts(first) && !op_ends(first));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_defined_opcodes_have_a_name),
        cmocka_unit_test(a_name_says_service_position_and_headers),
        cmocka_unit_test(header_bytes),
        cmocka_unit_test(headers_are_listed_in_wire_order),
        cmocka_unit_test(responses_are_what_a_responder_sends),
        cmocka_unit_test(each_request_is_answered_by_one_kind_of_packet),
        cmocka_unit_test(only_a_message_left_open_is_continued),
        cmocka_unit_test(imm_and_invalidate_close_a_message_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
