/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include "emu/base/cursor.h"

static const uint8_t bytes[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xff};

static void integers_are_most_significant_byte_first(void **state)
{
    static const uint64_t want[] = {
        0x01,         0x0123,         0x012345,         0x01234567,
        0x0123456789, 0x0123456789ab, 0x0123456789abcd, 0x0123456789abcdef};

    (void)state;
    for (size_t n = 1; n <= 8; n++) {
        struct rd_cur in = rd_cur(bytes, sizeof(bytes));
        uint8_t again[9] = {0}; /* one more: gcc -O3 cannot see the bound */
        struct wr_cur out = wr_cur(again, n);

        assert_true(rd_be(&in, n) == want[n - 1]);
        assert_int_equal(rd_left(&in), sizeof(bytes) - n);
        wr_be(&out, n, want[n - 1] | (n < 8 ? UINT64_MAX << (8 * n) : 0)); /* only the low bytes */
        assert_false(out.bad);
        assert_memory_equal(again, bytes, n);
    }
}

static void reading_past_the_end_latches(void **state)
{
    struct rd_cur in = rd_cur(bytes, 3);
    uint8_t copy[4] = {7, 7, 7, 7};

    (void)state;
    assert_int_equal(rd_be(&in, 2), 0x0123);
    assert_int_equal(rd_be(&in, 2), 0);
    assert_true(in.bad);
    assert_int_equal(rd_be(&in, 1), 0); /* one byte is left, but the cursor is bad */
    assert_int_equal(rd_left(&in), 0);
    rd_bytes(&in, copy, 1);
    assert_int_equal(copy[0], 7);
}

static void reading_exactly_to_the_end_is_good(void **state)
{
    struct rd_cur in = rd_cur(bytes, 4);
    uint8_t copy[4];

    (void)state;
    rd_bytes(&in, copy, 4);
    assert_false(in.bad);
    assert_int_equal(rd_left(&in), 0);
    assert_memory_equal(copy, bytes, 4);
    rd_bytes(&in, copy, 1);
    assert_true(in.bad);
}

static void writing_past_the_end_latches_and_writes_nothing(void **state)
{
    uint8_t room[4] = {7, 7, 7, 7};
    struct wr_cur out = wr_cur(room, 3);

    (void)state;
    wr_be(&out, 2, 0x0102);
    wr_be(&out, 2, 0x0304);
    assert_true(out.bad);
    wr_be(&out, 1, 5);
    wr_bytes(&out, bytes, 1);
    assert_memory_equal(room, "\x01\x02\x07\x07", 4);
}

static void an_empty_buffer_holds_nothing(void **state)
{
    struct rd_cur in = rd_cur(bytes, 0);
    uint8_t room[1];
    struct wr_cur out = wr_cur(room, 0);

    (void)state;
    assert_int_equal(rd_left(&in), 0);
    assert_int_equal(rd_be(&in, 1), 0);
    assert_true(in.bad);
    wr_be(&out, 1, 0);
    assert_true(out.bad);
}

static void little_endian_loads_and_stores_are_inverse(void **state)
{
    uint8_t b[8];

    (void)state;
    assert_int_equal(ld_le16(bytes), 0x2301);
    assert_int_equal(ld_le32(bytes), 0x67452301);
    assert_true(ld_le64(bytes) == 0xefcdab8967452301u);
    st_le16(b, 0x2301);
    assert_memory_equal(b, bytes, 2);
    st_le32(b, 0x67452301);
    assert_memory_equal(b, bytes, 4);
    st_le64(b, 0xefcdab8967452301u);
    assert_memory_equal(b, bytes, 8);
    assert_int_equal(ld_le16((const uint8_t *)"\xff\xff"), 0xffff);
    assert_int_equal(ld_le32((const uint8_t *)"\xff\xff\xff\xff"), 0xffffffff);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_most_significant_byte_first),
        cmocka_unit_test(reading_past_the_end_latches),
        cmocka_unit_test(reading_exactly_to_the_end_is_good),
        cmocka_unit_test(writing_past_the_end_latches_and_writes_nothing),
        cmocka_unit_test(an_empty_buffer_holds_nothing),
        cmocka_unit_test(little_endian_loads_and_stores_are_inverse),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
