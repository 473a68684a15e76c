/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include <ctype.h>
#include <string.h>

#include "emu/facts/enum/mtu.h"
#include "emu/facts/opcode.h"
#include "emu/facts/regs.h"
#include "emu/facts/rules.h"

#define NAME_MAX_BYTES 64u

static void every_row_is_found_by_value_and_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; enum_tables[i]; i++) {
        const struct enum_table *t = enum_tables[i];

        for (size_t k = 0; k < t->n_rows; k++) {
            const struct enum_row *row = &t->rows[k];

            assert_ptr_equal(enum_by_value(t, row->value), row);
            assert_ptr_equal(enum_by_name(t, row->name), row);
            assert_string_equal(enum_name(t, row->value), row->name);
            assert_string_equal(enum_text(t, row->value), row->text);
        }
    }
}

static void names_are_found_in_lower_case(void **state)
{
    (void)state;
    for (size_t i = 0; enum_tables[i]; i++) {
        const struct enum_table *t = enum_tables[i];

        for (size_t k = 0; k < t->n_rows; k++) {
            char lower[NAME_MAX_BYTES];
            size_t n = 0;

            for (const char *c = t->rows[k].name; *c; c++) {
                assert_true(n + 1 < sizeof(lower));
                lower[n++] = (char)tolower((unsigned char)*c);
            }
            lower[n] = '\0';
            assert_ptr_equal(enum_by_name(t, lower), &t->rows[k]);
        }
    }
}

static void what_is_not_there_is_not_found(void **state)
{
    (void)state;
    for (size_t i = 0; enum_tables[i]; i++) {
        const struct enum_table *t = enum_tables[i];

        assert_null(enum_by_value(t, 0xfffffffe));
        assert_null(enum_by_name(t, ""));
        assert_null(enum_by_name(t, "NO_SUCH_NAME"));
        assert_string_equal(enum_name(t, 0xfffffffe), "?");
        assert_string_equal(enum_text(t, 0xfffffffe), "");
    }
    assert_null(enum_by_value(&enum_wr_opcode, 10)); /* a hole */
    assert_null(enum_by_value(&enum_mtu, 0));
}

static void every_table_is_listed_once_and_has_texts(void **state)
{
    (void)state;
    for (size_t i = 0; enum_tables[i]; i++) {
        const struct enum_table *t = enum_tables[i];

        assert_true(t->n_rows > 0);
        assert_true(strlen(t->what) > 0);
        for (size_t k = 0; k < t->n_rows; k++)
            assert_true(strlen(t->rows[k].text) > 0);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(t->name, enum_tables[k]->name);
    }
}

/* Values that a guest or a peer sees, against the numbers of the documents they come from. */
static void numbers_of_the_specifications(void **state)
{
    static const struct {
        const struct enum_table *t;
        const char *name;
        uint32_t value;
    } rows[] = {
        {&enum_qp_state, "RESET", 0},
        {&enum_qp_state, "RTS", 3},
        {&enum_qp_state, "ERR", 6},
        {&enum_qp_type, "GSI", 1},
        {&enum_qp_type, "RC", 2},
        {&enum_qp_type, "UD", 4},
        {&enum_qp_attr, "STATE", 1},
        {&enum_qp_attr, "AV", 1 << 7},
        {&enum_qp_attr, "MIN_RNR_TIMER", 1 << 15},
        {&enum_qp_attr, "DEST_QPN", 1 << 20},
        {&enum_qp_attr, "RATE_LIMIT", 1 << 25},
        {&enum_wr_opcode, "RDMA_WRITE", 0},
        {&enum_wr_opcode, "SEND", 2},
        {&enum_wr_opcode, "SEND_WITH_IMM", 3},
        {&enum_wr_opcode, "BIND_MW", 8},
        {&enum_wr_opcode, "SEND_WITH_INV", 9},
        {&enum_wr_opcode, "REG_MR", 0x20},
        {&enum_wc_opcode, "RECV", 128},
        {&enum_wc_status, "WR_FLUSH_ERR", 5},
        {&enum_wc_status, "RETRY_EXC_ERR", 12},
        {&enum_wc_status, "RNR_RETRY_EXC_ERR", 13},
        {&enum_wc_status, "GENERAL_ERR", 21},
        {&enum_send_flag, "SIGNALED", 2},
        {&enum_send_flag, "INLINE", 8},
        {&enum_access, "LOCAL_WRITE", 1},
        {&enum_access, "REMOTE_READ", 4},
        {&enum_ctrl_cmd, "QUERY_PORT", 1},
        {&enum_ctrl_cmd, "CREATE_QP", 11},
        {&enum_ctrl_cmd, "REQ_NOTIFY_CQ", 18},
        {&enum_ctrl_rsp, "OK", 0},
        {&enum_device_status, "DRIVER_OK", 4},
        {&enum_device_status, "DEVICE_NEEDS_RESET", 64},
        {&enum_feature, "VERSION_1", 32},
        {&enum_feature, "RING_RESET", 40},
        {&enum_reg, "DEVICE_STATUS", 20},
        {&enum_reg, "QUEUE_RESET", 58},
        {&enum_opcode, "RC_SEND_ONLY", 0x04},
        {&enum_opcode, "RC_ACKNOWLEDGE", 0x11},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct enum_row *row = enum_by_name(rows[i].t, rows[i].name);

        assert_non_null(row);
        assert_int_equal(row->value, rows[i].value);
    }
}

static void path_mtus(void **state)
{
    static const uint32_t bytes[] = {0, 256, 512, 1024, 2048, 4096, 0};

    (void)state;
    for (uint32_t i = 0; i < ARRAY_LEN(bytes); i++)
        assert_int_equal(mtu_bytes(i), bytes[i]);
    assert_int_equal(mtu_bytes(UINT32_MAX), 0);
}

static void the_largest_path_mtu_that_fits(void **state)
{
    static const struct {
        uint32_t bytes, mtu;
    } rows[] = {
        {0, 0},           {255, 0},         {256, MTU_256},   {511, MTU_256},
        {512, MTU_512},   {1023, MTU_512},  {1024, MTU_1024}, {2047, MTU_1024},
        {2048, MTU_2048}, {4095, MTU_2048}, {4096, MTU_4096}, {UINT32_MAX, MTU_4096},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(mtu_within(rows[i].bytes), rows[i].mtu);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_found_by_value_and_by_name),
        cmocka_unit_test(names_are_found_in_lower_case),
        cmocka_unit_test(what_is_not_there_is_not_found),
        cmocka_unit_test(every_table_is_listed_once_and_has_texts),
        cmocka_unit_test(numbers_of_the_specifications),
        cmocka_unit_test(path_mtus),
        cmocka_unit_test(the_largest_path_mtu_that_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
