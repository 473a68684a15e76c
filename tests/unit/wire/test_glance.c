/* SPDX-License-Identifier: MIT */
/* glance(), for frames of every kind and for arbitrary bytes. */
#include "testing.h"

#include <string.h>

#include "emu/base/prng.h"
#include "emu/facts/enum/frame_kind.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/opcode.h"
#include "emu/wire/glance.h"
#include "emu/wire/vlan.h"
#include "wire/frames.h"
#include "wire/neighbours.h"

static void frames_without_a_bth_have_a_kind_and_an_address(void **state)
{
    static const struct {
        const uint8_t *bytes;
        size_t n;
        enum frame_kind kind;
        const char *addr; /* NULL: none */
    } rows[] = {
        {arp_request, sizeof(arp_request), FRAME_ARP_REQUEST, "10.0.0.2"},
        {arp_reply, sizeof(arp_reply), FRAME_ARP_REPLY, "10.0.0.2"},
        {echo4_request, sizeof(echo4_request), FRAME_ECHO_REQUEST, "10.0.0.2"},
        {echo6_reply, sizeof(echo6_reply), FRAME_ECHO_REPLY, "fe80::ff:fe00:1"},
        {solicit, sizeof(solicit), FRAME_ND_SOLICIT, "fe80::ff:fe00:2"},
        {advert, sizeof(advert), FRAME_ND_ADVERT, "fe80::ff:fe00:2"},
        {router_solicit, sizeof(router_solicit), FRAME_ICMP, "ff02::2"},
        {tcp, sizeof(tcp), FRAME_TCP, "10.0.0.2"},
        {udp, sizeof(udp), FRAME_UDP, "fe80::ff:fe00:2"},
        {tcp, 13, FRAME_OTHER, NULL},
        {arp_request, 20, FRAME_OTHER, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct glance g = glance(rows[i].bytes, rows[i].n);
        uint8_t dst[GID_BYTES];
        char buf[ADDR_TEXT_MAX];

        assert_int_equal(g.opcode, rows[i].kind);
        assert_int_equal(g.has_addr, rows[i].addr != NULL);
        if (rows[i].addr)
            assert_string_equal(addr_text(g.addr, buf), rows[i].addr);
        assert_false(glance_is_roce(rows[i].bytes, rows[i].n, dst));
    }
}

static void both_addresses_of_a_frame(void **state)
{
    static const struct {
        const uint8_t *bytes;
        size_t n;
        const char *src, *dst; /* NULL: the frame has none */
    } rows[] = {
        {arp_request, sizeof(arp_request), "10.0.0.1", "10.0.0.2"},
        {arp_reply, sizeof(arp_reply), "10.0.0.2", "10.0.0.1"},
        {echo4_request, sizeof(echo4_request), "10.0.0.1", "10.0.0.2"},
        {echo6_reply, sizeof(echo6_reply), "fe80::ff:fe00:2", "fe80::ff:fe00:1"},
        {solicit, sizeof(solicit), "fe80::ff:fe00:1", "fe80::ff:fe00:2"}, /* not its group */
        {advert, sizeof(advert), "fe80::ff:fe00:2", "fe80::ff:fe00:1"},
        {router_solicit, sizeof(router_solicit), "fe80::ff:fe00:1", "ff02::2"},
        {arp_request, sizeof(arp_request) - 1, NULL, NULL},
        {echo4_request, ETH_BYTES + IPV4_BYTES - 1, NULL, NULL},
        {echo6_request, ETH_BYTES + IPV6_BYTES - 1, NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (unsigned tagged = 0; tagged < 2; tagged++) {
            uint8_t src[GID_BYTES] = {1}, dst[GID_BYTES] = {1}, frame[FRAME_MAX];
            size_t n = rows[i].n;
            char buf[ADDR_TEXT_MAX];

            memcpy(frame, rows[i].bytes, n);
            n = tagged ? vlan_push(frame, n, 5) : n;
            assert_int_equal(glance_addresses(frame, n, src, dst), rows[i].src != NULL);
            if (rows[i].src) {
                assert_string_equal(addr_text(src, buf), rows[i].src);
                assert_string_equal(addr_text(dst, buf), rows[i].dst);
            } else {
                assert_true(src[0] == 1 && dst[0] == 1);
            }
        }
    }
}

static void a_bth_is_read_as_it_was_built(void **state)
{
    (void)state;
    for (unsigned version = 4; version <= 6; version += 2) {
        for (unsigned code = 0; code < 256; code++) {
            const struct op_info *op = op_info((uint8_t)code);
            uint8_t frame[FRAME_MAX], dst[GID_BYTES];
            struct packet p;
            struct glance g;
            size_t n;

            if (!op->name)
                continue;
            p = sample(version, (uint8_t)code, 13);
            n = build(&p, frame);
            g = glance(frame, n);
            assert_true(glance_is_roce(frame, n, dst));
            assert_memory_equal(dst, p.ip.dst, GID_BYTES);
            assert_int_equal(g.opcode, code);
            assert_int_equal(g.psn.v, p.bth.psn.v);
            assert_int_equal(g.dest_qpn, p.bth.dest_qpn);
            assert_true(g.ack_req);
            assert_int_equal(g.payload_bytes, 13);
            assert_int_equal(g.syndrome, op->headers & H_AETH ? SYN_ACK : SYN_NONE);
            assert_int_equal(g.msn, op->headers & H_AETH ? p.aeth.msn : 0);
        }
    }
}

static void a_frame_to_the_port_of_roce_is_roce_however_broken(void **state)
{
    const struct packet p = sample(4, OP_RC_SEND_ONLY, 0);
    uint8_t frame[FRAME_MAX], dst[GID_BYTES];

    (void)state;
    build(&p, frame);
    frame[24] ^= 0xff; /* IP checksum */
    assert_true(glance_is_roce(frame, 38, dst));
    assert_false(glance_is_roce(frame, 37, dst));
    assert_int_equal(glance(frame, 38).opcode, FRAME_UDP); /* no BTH there */
}

static void any_bytes_will_do(void **state)
{
    struct prng rng = prng_stream(1, 1);

    (void)state;
    for (uint32_t round = 0; round < 200000; round++) {
        const size_t n = prng_below(&rng, 90);
        uint8_t *bytes = test_malloc(n + !n);
        uint8_t dst[GID_BYTES];

        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)prng_next(&rng);
        if (n >= 24 && prng_below(&rng, 4)) {
            memcpy(bytes + 12, prng_below(&rng, 2) ? "\x08\x00\x45" : "\x86\xdd\x60", 3);
            bytes[prng_below(&rng, 2) ? 23 : 20] = 17;
        }
        (void)glance_is_roce(bytes, n, dst);
        (void)glance(bytes, n);
        test_free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_without_a_bth_have_a_kind_and_an_address),
        cmocka_unit_test(both_addresses_of_a_frame),
        cmocka_unit_test(a_bth_is_read_as_it_was_built),
        cmocka_unit_test(a_frame_to_the_port_of_roce_is_roce_however_broken),
        cmocka_unit_test(any_bytes_will_do),
    };

    return cmocka_run_group_tests_name("glance", tests, NULL, NULL);
}
