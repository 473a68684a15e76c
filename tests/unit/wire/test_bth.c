/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include "emu/facts/enum/opcode.h"
#include "emu/wire/bth.h"
#include "emu/wire/parse.h"

/* RC_SEND_ONLY, solicited, 3 pad bytes, P_Key 0xffff, QP 0x000011, ack requested, PSN 0x00abcd. */
static const uint8_t send_only[BTH_BYTES] = {
    0x04, 0xb0, 0xff, 0xff, 0x00, 0x00, 0x00, 0x11, 0x80, 0x00, 0xab, 0xcd,
};

static void every_field_is_where_the_specification_puts_it(void **state)
{
    struct rd_cur in = rd_cur(send_only, BTH_BYTES);
    struct bth h;

    (void)state;
    assert_int_equal(bth_parse(&h, &in), DROP_NONE);
    assert_int_equal(h.opcode, OP_RC_SEND_ONLY);
    assert_true(h.solicited);
    assert_false(h.migrated);
    assert_int_equal(h.pad_bytes, 3);
    assert_int_equal(h.pkey, 0xffff);
    assert_false(h.fecn || h.becn);
    assert_int_equal(h.dest_qpn, 0x11);
    assert_true(h.ack_req);
    assert_int_equal(h.psn.v, 0xabcd);
    assert_int_equal(bth_peek_pad(send_only), 3);
    assert_int_equal(rd_left(&in), 0);
}

static void every_truncation_is_refused_and_leaves_out_alone(void **state)
{
    (void)state;
    for (size_t n = 0; n < BTH_BYTES; n++) {
        struct rd_cur in = rd_cur(send_only, n);
        struct bth h = {.opcode = 0xee};

        assert_int_equal(bth_parse(&h, &in), DROP_SHORT);
        assert_int_equal(h.opcode, 0xee);
    }
}

/* Shows B63. */
static void any_other_transport_version_is_refused(void **state)
{
    (void)state;
    for (unsigned tver = 1; tver < 16; tver++) {
        uint8_t bytes[BTH_BYTES] = {0x04, (uint8_t)tver};
        struct rd_cur in = rd_cur(bytes, BTH_BYTES);
        struct bth h = {.opcode = 0xee};

        assert_int_equal(bth_parse(&h, &in), DROP_BAD_VERSION);
        assert_int_equal(h.opcode, 0xee);
    }
}

static void each_bit_sets_one_field_or_is_reserved(void **state)
{
    /* Reserved: 6 bits of byte 4 and 7 bits of byte 8; TVer is 4 bits. */
    size_t refused = 0, ignored = 0, kept = 0;

    (void)state;
    for (size_t bit = 0; bit < (size_t)8 * BTH_BYTES; bit++) {
        uint8_t bytes[BTH_BYTES] = {0}, again[BTH_BYTES];
        static const uint8_t zero[BTH_BYTES];
        struct rd_cur in = rd_cur(bytes, BTH_BYTES);
        struct bth h;

        bytes[bit / 8] = (uint8_t)(0x80u >> bit % 8);
        if (bth_parse(&h, &in) != DROP_NONE) {
            refused++;
            continue;
        }
        bth_build(&h, h.pad_bytes, again);
        if (memcmp(again, zero, BTH_BYTES) == 0)
            ignored++;
        else if (memcmp(again, bytes, BTH_BYTES) == 0)
            kept++;
    }
    assert_int_equal(refused, 4);
    assert_int_equal(ignored, 13);
    assert_int_equal(kept, 96 - 4 - 13);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_where_the_specification_puts_it),
        cmocka_unit_test(every_truncation_is_refused_and_leaves_out_alone),
        cmocka_unit_test(any_other_transport_version_is_refused),
        cmocka_unit_test(each_bit_sets_one_field_or_is_reserved),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
