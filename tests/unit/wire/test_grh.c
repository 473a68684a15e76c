/* SPDX-License-Identifier: MIT */
/* The GRH area, built from packets of other projects and read back. */
#include "testing.h"

#include <string.h>

#include "emu/base/cursor.h"
#include "emu/wire/grh.h"
#include "emu/wire/parse.h"
#include "vectors.h"

#define FRAME_MAX 128u

/* The vector behind an Ethernet header. */
static void parse(struct packet *p, const uint8_t *ip, size_t n, uint8_t frame[FRAME_MAX])
{
    assert_true(ETH_BYTES + n <= FRAME_MAX);
    memset(frame, 0, ETH_BYTES);
    frame[12] = ip[0] >> 4 == 6 ? 0x86 : 0x08;
    frame[13] = ip[0] >> 4 == 6 ? 0xdd : 0x00;
    memcpy(frame + ETH_BYTES, ip, n);
    assert_int_equal(packet_parse(p, frame, ETH_BYTES + n), DROP_NONE);
}

static void the_area_is_the_ip_header_and_zeros_before_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        static const uint8_t zeros[GRH_BYTES];
        const size_t n = ip_header_bytes(vectors[i].bytes[0] >> 4);
        uint8_t frame[FRAME_MAX], area[GRH_BYTES];
        struct packet p;

        parse(&p, vectors[i].bytes, vectors[i].n, frame);
        memset(area, 0xaa, sizeof(area));
        grh_from_packet(area, &p);
        assert_memory_equal(area, zeros, GRH_BYTES - n);
        assert_memory_equal(area + GRH_BYTES - n, vectors[i].bytes, n);
    }
}

/* A driver of RoCE version 1 finds GIDs and the next header of InfiniBand, also for IPv4. */
static void a_global_route_header_has_the_gids_of_any_packet(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        uint8_t frame[FRAME_MAX], area[GRH_BYTES];
        const size_t ip = ip_header_bytes(vectors[i].bytes[0] >> 4);
        struct packet p;
        struct grh g;

        parse(&p, vectors[i].bytes, vectors[i].n, frame);
        memset(area, 0xaa, sizeof(area));
        grh_global_from_packet(area, &p);
        assert_int_equal(area[6], 0x1b);
        assert_int_equal(ld_be16(area + 4), vectors[i].n - ip - UDP_BYTES);
        assert_true(grh_parse(&g, area));
        assert_int_equal(g.version, 6);
        assert_int_equal(g.tclass, p.ip.tclass);
        assert_int_equal(g.hop_limit, p.ip.ttl);
        assert_int_equal(g.flow_label, p.ip.flow_label);
        assert_memory_equal(g.src, p.ip.src, GID_BYTES);
        assert_memory_equal(g.dst, p.ip.dst, GID_BYTES);
    }
}

static void the_area_says_what_the_packet_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        uint8_t frame[FRAME_MAX], area[GRH_BYTES];
        struct packet p;
        struct grh g;

        parse(&p, vectors[i].bytes, vectors[i].n, frame);
        grh_from_packet(area, &p);
        assert_true(grh_parse(&g, area));
        assert_int_equal(g.version, p.ip.version);
        assert_int_equal(g.tclass, p.ip.tclass);
        assert_int_equal(g.hop_limit, p.ip.ttl);
        assert_int_equal(g.flow_label, p.ip.flow_label);
        assert_memory_equal(g.src, p.ip.src, GID_BYTES);
        assert_memory_equal(g.dst, p.ip.dst, GID_BYTES);
    }
}

/* The 20 bytes before an IPv4 header may be anything, also the beginning of an IPv6 header. */
static void a_sound_ipv4_header_is_believed_whatever_is_before_it(void **state)
{
    uint8_t area[GRH_BYTES];
    struct grh g;

    (void)state;
    memset(area, 0x6a, sizeof(area));
    memcpy(area + 20, vector_rc_send, 20);
    assert_true(grh_parse(&g, area));
    assert_int_equal(g.version, 4);
    area[39] ^= 1; /* its checksum is wrong now */
    assert_true(grh_parse(&g, area));
    assert_int_equal(g.version, 6);
    area[0] = 0;
    assert_true(grh_parse(&g, area)); /* not IPv6, so the checksum is not asked */
    assert_int_equal(g.version, 4);
}

static void what_is_no_ip_header_is_refused_and_leaves_out_alone(void **state)
{
    static const uint8_t zeros[GRH_BYTES];
    struct grh g = {.version = 77};

    (void)state;
    assert_false(grh_parse(&g, zeros));
    assert_int_equal(g.version, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_area_is_the_ip_header_and_zeros_before_it),
        cmocka_unit_test(a_global_route_header_has_the_gids_of_any_packet),
        cmocka_unit_test(the_area_says_what_the_packet_said),
        cmocka_unit_test(a_sound_ipv4_header_is_believed_whatever_is_before_it),
        cmocka_unit_test(what_is_no_ip_header_is_refused_and_leaves_out_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
