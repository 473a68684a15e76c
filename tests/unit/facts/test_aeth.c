/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include "emu/facts/aeth.h"

/* What the syndrome byte @b is, said another way than the code under test does. */
static enum syndrome expected_kind(unsigned b)
{
    if (b < 0x20)
        return SYN_ACK;
    if (b >= 0x20 && b < 0x40)
        return SYN_RNR_NAK;
    if (b >= 0x60 && b <= 0x63)
        return (enum syndrome)(SYN_NAK_PSN_SEQUENCE + (int)(b - 0x60));
    return SYN_NAK_RESERVED;
}

static void every_byte_is_taken_apart(void **state)
{
    (void)state;
    for (unsigned b = 0; b < 256; b++) {
        const struct aeth_word w = aeth_unpack((uint8_t)b);

        assert_int_equal(w.kind, expected_kind(b));
        assert_int_equal(w.value, b & 0x1f);
    }
}

static void every_defined_byte_is_put_together_again(void **state)
{
    (void)state;
    for (unsigned b = 0; b < 256; b++) {
        const struct aeth_word w = aeth_unpack((uint8_t)b);

        if (b < 0x40 || (b >= 0x60 && b < 0x80))
            assert_int_equal(aeth_pack(w.kind, w.value), b);
    }
}

static void the_values_that_linux_sends(void **state)
{
    (void)state;
    assert_int_equal(aeth_pack(SYN_ACK, AETH_NO_CREDITS), 0x1f);
    assert_int_equal(aeth_pack(SYN_RNR_NAK, 12), 0x2c);
    assert_int_equal(aeth_pack(SYN_NAK_PSN_SEQUENCE, 0), 0x60);
    assert_int_equal(aeth_pack(SYN_NAK_INVALID_REQUEST, 0), 0x61);
    assert_int_equal(aeth_pack(SYN_NAK_REMOTE_ACCESS, 0), 0x62);
    assert_int_equal(aeth_pack(SYN_NAK_REMOTE_OPERATIONAL, 0), 0x63);
    assert_int_equal(aeth_pack(SYN_NAK_REMOTE_ACCESS, 31), 0x62); /* the name decides */
}

/* Shows B37. */
static void rnr_timer_codes(void **state)
{
    static const struct {
        uint8_t code;
        uint64_t ns;
    } rows[] = {
        {0, 655360000}, {1, 10000},     {4, 40000},     {5, 60000},      {12, 640000},
        {14, 1280000},  {20, 10240000}, {25, 61440000}, {30, 327680000}, {31, 491520000},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(rnr_timer_ns(rows[i].code), rows[i].ns);
    for (uint8_t code = 2; code < 32; code++)
        assert_true(rnr_timer_ns(code) > rnr_timer_ns((uint8_t)(code - 1)));
    assert_int_equal(rnr_timer_ns(33), rnr_timer_ns(1)); /* five bits */
}

/* Shows B33. */
static void ack_timeout_codes(void **state)
{
    static const struct {
        uint8_t code;
        uint64_t ns;
    } rows[] = {{0, UINT64_MAX}, {1, 8192}, {14, 67108864}, {31, 8796093022208}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_true(ack_timeout_ns(rows[i].code) == rows[i].ns);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_taken_apart),
        cmocka_unit_test(every_defined_byte_is_put_together_again),
        cmocka_unit_test(the_values_that_linux_sends),
        cmocka_unit_test(rnr_timer_codes),
        cmocka_unit_test(ack_timeout_codes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
