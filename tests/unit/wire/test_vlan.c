/* SPDX-License-Identifier: MIT */
/* The tag of a VLAN: pushing, popping, and all that is read behind it. */
#include "testing.h"

#include <string.h>

#include "emu/base/prng.h"
#include "emu/facts/enum/frame_kind.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum_table.h"
#include "emu/facts/opcode.h"
#include "emu/wire/field.h"
#include "emu/wire/glance.h"
#include "emu/wire/parse.h"
#include "emu/wire/vlan.h"
#include "wire/frames.h"
#include "wire/neighbours.h"

static void the_bytes_of_a_tag(void **state)
{
    /* destination, source, IPv4, two bytes of it */
    static const uint8_t plain[] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0};
    /* TPID 0x8100, then priority 5 (0xa000) and VLAN 0x123 */
    static const uint8_t tagged[] = {2, 0, 0,    0, 0,    2,    2, 0, 0,    0,
                                     0, 1, 0x81, 0, 0xa1, 0x23, 8, 0, 0x45, 0};
    uint8_t frame[sizeof(tagged)];

    (void)state;
    memcpy(frame, plain, sizeof(plain));
    assert_false(vlan_is_tagged(frame, sizeof(plain)));
    assert_int_equal(vlan_vid(frame, sizeof(plain)), 0);
    assert_int_equal(vlan_push(frame, sizeof(plain), vlan_tci(0x123, 5)), sizeof(tagged));
    assert_memory_equal(frame, tagged, sizeof(tagged));
    assert_int_equal(vlan_vid(frame, sizeof(tagged)), 0x123);
    assert_int_equal(vlan_bytes(frame, sizeof(tagged)), 4);
    frame[14] |= 0x10; /* DEI is no part of the number */
    assert_int_equal(vlan_vid(frame, sizeof(tagged)), 0x123);
    assert_int_equal(vlan_pop(frame, sizeof(tagged)), sizeof(plain));
    assert_memory_equal(frame, plain, sizeof(plain));
    assert_true(vlan_is_tagged(tagged, 18));
    assert_false(vlan_is_tagged(tagged, 17)); /* the ethertype behind it is cut */
}

/* Tags the frame of @n bytes with VLAN 77, priority 3. */
static size_t tag(uint8_t *frame, size_t n)
{
    return vlan_push(frame, n, vlan_tci(77, 3));
}

static void a_tagged_packet_is_parsed_as_without_its_tag(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 512; round++) {
        const unsigned version = round < 256 ? 4 : 6;
        const uint8_t code = (uint8_t)round;
        uint8_t frame[FRAME_MAX];
        struct packet p, want, got;
        struct glance a, b;
        size_t n;

        if (!op_info(code)->name)
            continue;
        p = sample(version, code, 13);
        memset(&want, 0, sizeof(want));
        memset(&got, 0, sizeof(got));
        n = build(&p, frame);
        assert_int_equal(packet_parse(&want, frame, n), DROP_NONE);
        a = glance(frame, n);
        n = tag(frame, n);
        assert_int_equal(packet_parse(&got, frame, n), DROP_NONE);
        b = glance(frame, n);
        assert_int_equal(b.opcode, a.opcode);
        assert_memory_equal(b.addr, a.addr, GID_BYTES);
        assert_int_equal(b.psn.v, a.psn.v);
        assert_int_equal(b.dest_qpn, a.dest_qpn);
        assert_int_equal(b.syndrome, a.syndrome);
        assert_int_equal(b.payload_bytes, a.payload_bytes);
        assert_true(got.is_tagged);
        assert_int_equal(got.tci, 3 << 13 | 77);
        assert_ptr_equal(got.payload, want.payload + 4);
        assert_int_equal(packet_icrc_at(frame, n), n - ICRC_BYTES);
        got.is_tagged = false;
        got.tci = 0;
        got.payload = want.payload;
        assert_memory_equal(&got, &want, sizeof(got)); /* the padding is that of the memset */
        frame[n - 1] ^= 1;
        assert_int_equal(packet_parse(&got, frame, n), DROP_BAD_ICRC);
        assert_false(got.is_tagged);
    }
}

static void the_icrc_does_not_cover_the_tag(void **state)
{
    const struct packet p = sample(6, OP_RC_SEND_ONLY, 7);
    uint8_t frame[FRAME_MAX], before[FRAME_MAX];
    const size_t n = tag(frame, build(&p, frame));
    struct packet got;

    (void)state;
    for (unsigned tci = 0; tci < 65536; tci += 257) {
        st_be16(frame + VLAN_TCI_AT, (uint16_t)tci);
        assert_int_equal(packet_parse(&got, frame, n), DROP_NONE);
        assert_int_equal(got.tci, tci);
    }
    memcpy(before, frame, n);
    memset(frame + n - ICRC_BYTES, 0, ICRC_BYTES);
    packet_finish(frame, n);
    assert_memory_equal(frame, before, n);
}

static void the_icrc_of_rxe_is_found_behind_a_tag(void **state)
{
    const struct packet p = sample(4, OP_RC_FLUSH, 0);
    uint8_t frame[FRAME_MAX];
    size_t n = build(&p, frame);
    const uint32_t icrc = packet_icrc_of_rxe(frame, n - ICRC_BYTES);
    struct packet got;

    (void)state;
    n = tag(frame, n);
    assert_int_equal(packet_icrc_of_rxe(frame, n - ICRC_BYTES), icrc);
    st_le32(frame + n - ICRC_BYTES, icrc);
    assert_int_equal(packet_parse(&got, frame, n), DROP_NONE);
    assert_true(got.icrc_of_rxe);
}

static void frames_without_a_bth_have_their_kind_behind_a_tag(void **state)
{
    static const struct {
        const uint8_t *bytes;
        size_t n;
        enum frame_kind kind;
    } rows[] = {
        {arp_request, sizeof(arp_request), FRAME_ARP_REQUEST},
        {echo6_reply, sizeof(echo6_reply), FRAME_ECHO_REPLY},
        {solicit, sizeof(solicit), FRAME_ND_SOLICIT},
        {tcp, sizeof(tcp), FRAME_TCP},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t frame[256], dst[GID_BYTES];
        size_t n = rows[i].n;

        memcpy(frame, rows[i].bytes, n);
        n = tag(frame, n);
        assert_int_equal(glance(frame, n).opcode, rows[i].kind);
        n = tag(frame, n); /* a second tag hides it */
        assert_int_equal(glance(frame, n).opcode, FRAME_OTHER);
        assert_false(glance_is_roce(frame, n, dst));
    }
}

static void a_second_tag_is_an_unknown_protocol(void **state)
{
    const struct packet p = sample(4, OP_RC_SEND_ONLY, 7);
    uint8_t frame[FRAME_MAX];
    const size_t n = tag(frame, tag(frame, build(&p, frame)));
    struct packet got;

    (void)state;
    assert_int_equal(packet_parse(&got, frame, n), DROP_BAD_ETHERTYPE);
    for (size_t cut = 14; cut < 18; cut++)
        assert_int_equal(packet_parse(&got, frame, cut), DROP_SHORT);
}

static void every_field_is_four_bytes_further_behind_a_tag(void **state)
{
    (void)state;
    for (uint32_t id = WF_NONE + 1; id < WIRE_FIELDS; id++) {
        for (unsigned round = 0; round < 512; round++) {
            uint8_t frame[FRAME_MAX];
            const struct packet p = sample(round < 256 ? 4 : 6, (uint8_t)round, 13);
            const bool in_tag = id == WF_VLAN || id == WF_PCP || id == WF_DEI;
            const bool moves = id != WF_MAC_DST && id != WF_MAC_SRC;
            struct field_place a, b;
            size_t n;

            if (!op_info((uint8_t)round)->name)
                continue;
            n = build(&p, frame);
            a = field_place((enum wire_field_id)id, frame, n);
            n = tag(frame, n);
            b = field_place((enum wire_field_id)id, frame, n);
            assert_int_equal(a.bytes > 0 || in_tag, b.bytes > 0);
            if (b.bytes == 0 || in_tag)
                continue;
            assert_int_equal(b.at, a.at + (moves ? 4 : 0));
            assert_int_equal(b.bytes, a.bytes);
        }
    }
}

static void the_fields_of_the_tag(void **state)
{
    static const struct {
        enum wire_field_id id;
        uint32_t value, max;
    } rows[] = {{WF_VLAN, 77, 4095}, {WF_PCP, 3, 7}, {WF_DEI, 0, 1}};
    const struct packet p = sample(4, OP_RC_SEND_ONLY, 7);
    uint8_t frame[FRAME_MAX];
    size_t n = build(&p, frame);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(field_place(rows[i].id, frame, n).bytes, 0);
    n = tag(frame, n);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct field_place at = field_place(rows[i].id, frame, n);

        assert_int_equal(field_get(&at, frame), rows[i].value);
        assert_int_equal(field_max(rows[i].id), rows[i].max);
        field_put(&at, frame, rows[i].max);
    }
    assert_int_equal(ld_be16(frame + VLAN_TCI_AT), 0xffff);
}

static void the_ip_header_behind_a_tag_is_marked_and_mended(void **state)
{
    (void)state;
    for (unsigned version = 4; version <= 6; version += 2) {
        const struct packet p = sample(version, OP_RC_SEND_ONLY, 7);
        uint8_t frame[FRAME_MAX], want[FRAME_MAX];
        size_t n = build(&p, want);

        memcpy(frame, want, n);
        field_mark(want, n);
        tag(want, n);
        n = tag(frame, n);
        assert_true(field_is_ip(frame, n));
        field_mark(frame, n);
        assert_memory_equal(frame, want, n);
        assert_false(field_is_ip(frame, 30));
    }
}

static void any_bytes_behind_a_tag_will_do(void **state)
{
    struct prng rng = prng_stream(1, 1);

    (void)state;
    for (uint32_t round = 0; round < 100000; round++) {
        const size_t n = 14 + prng_below(&rng, 90);
        uint8_t *bytes = test_malloc(n), dst[GID_BYTES];
        struct packet p;

        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)prng_next(&rng);
        memcpy(bytes + 12, "\x81", 2);
        if (n >= 24 && prng_below(&rng, 4))
            memcpy(bytes + 16, prng_below(&rng, 2) ? "\x08\x00\x45" : "\x86\xdd\x60", 3);
        (void)glance_is_roce(bytes, n, dst);
        (void)glance(bytes, n);
        (void)packet_parse(&p, bytes, n);
        (void)field_place(WF_PSN, bytes, n);
        field_mend_ip(bytes, n);
        if (field_is_ip(bytes, n))
            field_mark(bytes, n);
        test_free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_of_a_tag),
        cmocka_unit_test(a_tagged_packet_is_parsed_as_without_its_tag),
        cmocka_unit_test(the_icrc_does_not_cover_the_tag),
        cmocka_unit_test(the_icrc_of_rxe_is_found_behind_a_tag),
        cmocka_unit_test(frames_without_a_bth_have_their_kind_behind_a_tag),
        cmocka_unit_test(a_second_tag_is_an_unknown_protocol),
        cmocka_unit_test(every_field_is_four_bytes_further_behind_a_tag),
        cmocka_unit_test(the_fields_of_the_tag),
        cmocka_unit_test(the_ip_header_behind_a_tag_is_marked_and_mended),
        cmocka_unit_test(any_bytes_behind_a_tag_will_do),
    };

    return cmocka_run_group_tests_name("vlan", tests, NULL, NULL);
}
