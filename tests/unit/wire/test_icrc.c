/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/opcode.h"
#include "emu/wire/icrc.h"
#include "vectors.h"

static void packets_from_elsewhere_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        const size_t n = vectors[i].n - ICRC_BYTES;

        assert_int_equal(icrc_compute(vectors[i].bytes, n), ld_le32(vectors[i].bytes + n));
    }
}

/* The bits of a packet that routers may write, by byte offset from the IP header. */
struct mask {
    size_t at;
    uint8_t bits;
};

static uint8_t masked_bits(const struct mask *masks, size_t n_masks, size_t at)
{
    for (size_t i = 0; i < n_masks; i++) {
        if (masks[i].at == at)
            return masks[i].bits;
    }
    return 0;
}

/* Flips each bit that the ICRC covers: it must change unless the bit is masked. */
static void check_masks(const uint8_t *packet, size_t n, const struct mask *masks, size_t n_masks)
{
    const uint32_t icrc = ld_le32(packet + n - ICRC_BYTES);
    uint8_t b[128];

    assert_true(n <= sizeof(b));
    memcpy(b, packet, n);
    for (size_t bit = 4; bit < (n - ICRC_BYTES) * 8; bit++) { /* from 4: the IP version selects */
        const uint8_t flip = (uint8_t)(0x80u >> bit % 8);
        const bool masked = (masked_bits(masks, n_masks, bit / 8) & flip) != 0;

        b[bit / 8] ^= flip;
        if (masked)
            assert_int_equal(icrc_compute(b, n - ICRC_BYTES), icrc);
        else
            assert_int_not_equal(icrc_compute(b, n - ICRC_BYTES), icrc);
        b[bit / 8] ^= flip;
    }
}

static void only_what_routers_write_is_masked_in_ipv4(void **state)
{
    static const struct mask masks[] = {
        {1, 0xff},              /* TOS */
        {8, 0xff},              /* TTL */
        {10, 0xff}, {11, 0xff}, /* header checksum */
        {26, 0xff}, {27, 0xff}, /* UDP checksum */
        {32, 0xff},             /* BTH: FECN, BECN, reserved */
    };

    (void)state;
    check_masks(vector_rc_send, sizeof(vector_rc_send), masks, ARRAY_LEN(masks));
}

static void only_what_routers_write_is_masked_in_ipv6(void **state)
{
    static const struct mask masks[] = {
        {0, 0x0f},  {1, 0xff},  {2, 0xff}, {3, 0xff}, /* traffic class, flow label */
        {7, 0xff},                                    /* hop limit */
        {46, 0xff}, {47, 0xff},                       /* UDP checksum */
        {52, 0xff},                                   /* BTH: FECN, BECN, reserved */
    };

    (void)state;
    check_masks(vector_ipv6, sizeof(vector_ipv6), masks, ARRAY_LEN(masks));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_from_elsewhere_agree),
        cmocka_unit_test(only_what_routers_write_is_masked_in_ipv4),
        cmocka_unit_test(only_what_routers_write_is_masked_in_ipv6),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
