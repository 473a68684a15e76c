/* SPDX-License-Identifier: MIT */
/* Ethernet, IP and UDP headers. */
#include "testing.h"

#include "emu/wire/eth.h"
#include "emu/wire/ip.h"
#include "emu/wire/parse.h"
#include "emu/wire/udp.h"

/* TOS 2, 28 bytes, id 0x1c46, DF, TTL 64, UDP, 172.16.10.99 -> 172.16.10.12; 8 bytes of payload. */
static const uint8_t v4[28] = {
    0x45, 0x02, 0x00, 0x1c, 0x1c, 0x46, 0x40, 0x00, 0x40, 0x11,
    0xb1, 0xf9, 0xac, 0x10, 0x0a, 0x63, 0xac, 0x10, 0x0a, 0x0c,
};

/* Class 0x12, flow label 0x3abcd, 8 bytes, UDP, hop limit 63, 2001:db8::1 -> 2001:db8::2. */
static const uint8_t v6[48] = {
    0x61, 0x23, 0xab, 0xcd, 0x00, 0x08, 0x11, 0x3f, 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0,
    0,    0,    0,    1,    0x20, 0x01, 0x0d, 0xb8, 0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 2,
};

/* The checksum of the header at @b, computed the long way round, into its place. */
static void fix_checksum(uint8_t *b)
{
    uint64_t sum = 0;

    b[10] = 0;
    b[11] = 0;
    for (size_t i = 0; i < 20; i++)
        sum += (uint64_t)b[i] * (i % 2 ? 1 : 256);
    sum = 0xffff - sum % 0xffff;
    b[10] = (uint8_t)(sum >> 8);
    b[11] = (uint8_t)sum;
}

static void ethernet_is_three_fields(void **state)
{
    static const uint8_t bytes[ETH_BYTES] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x81, 0x00};
    uint8_t again[ETH_BYTES];
    struct wr_cur out = wr_cur(again, sizeof(again));
    struct rd_cur in = rd_cur(bytes, sizeof(bytes));
    struct rd_cur cut = rd_cur(bytes, ETH_BYTES - 1);
    struct eth h = {.ethertype = 7};

    (void)state;
    assert_int_equal(eth_parse(&h, &cut), DROP_SHORT);
    assert_int_equal(h.ethertype, 7);
    assert_int_equal(eth_parse(&h, &in), DROP_NONE);
    assert_memory_equal(h.dst, bytes, MAC_BYTES);
    assert_memory_equal(h.src, bytes + 6, MAC_BYTES);
    assert_int_equal(h.ethertype, 0x8100);
    eth_build(&h, &out);
    assert_memory_equal(again, bytes, ETH_BYTES);
}

static void ipv4_is_read_and_built_back(void **state)
{
    uint8_t again[IPV4_BYTES];
    struct wr_cur out = wr_cur(again, sizeof(again));
    struct rd_cur in = rd_cur(v4, sizeof(v4));
    struct ip h;

    (void)state;
    assert_int_equal(ip_parse(&h, &in), DROP_NONE);
    assert_int_equal(h.version, 4);
    assert_int_equal(h.tclass, 2);
    assert_int_equal(h.ttl, 64);
    assert_int_equal(h.protocol, IP_PROTOCOL_UDP);
    assert_int_equal(h.id, 0x1c46);
    assert_int_equal(h.payload_bytes, 8);
    assert_true(gid_is_ipv4(h.src) && gid_is_ipv4(h.dst));
    assert_memory_equal(h.src + GID_IPV4_AT, v4 + 12, 4);
    assert_memory_equal(h.dst + GID_IPV4_AT, v4 + 16, 4);
    assert_int_equal(rd_left(&in), 8);
    ip_build(&h, &out);
    assert_false(out.bad);
    assert_memory_equal(again, v4, IPV4_BYTES);
}

static void ipv6_is_read_and_built_back(void **state)
{
    uint8_t again[IPV6_BYTES];
    struct wr_cur out = wr_cur(again, sizeof(again));
    struct rd_cur in = rd_cur(v6, sizeof(v6));
    struct ip h;

    (void)state;
    assert_int_equal(ip_parse(&h, &in), DROP_NONE);
    assert_int_equal(h.version, 6);
    assert_int_equal(h.tclass, 0x12);
    assert_int_equal(h.flow_label, 0x3abcd);
    assert_int_equal(h.ttl, 63);
    assert_int_equal(h.protocol, IP_PROTOCOL_UDP);
    assert_int_equal(h.payload_bytes, 8);
    assert_memory_equal(h.src, v6 + 8, GID_BYTES);
    assert_memory_equal(h.dst, v6 + 24, GID_BYTES);
    assert_int_equal(rd_left(&in), 8);
    ip_build(&h, &out);
    assert_false(out.bad);
    assert_memory_equal(again, v6, IPV6_BYTES);
}

static void bytes_after_the_ip_packet_are_cut_off(void **state)
{
    uint8_t long4[60] = {0}, long6[64] = {0};
    struct rd_cur in4 = rd_cur(long4, sizeof(long4)), in6 = rd_cur(long6, sizeof(long6));
    struct ip h;

    (void)state;
    memcpy(long4, v4, sizeof(v4));
    memcpy(long6, v6, sizeof(v6));
    assert_int_equal(ip_parse(&h, &in4), DROP_NONE);
    assert_int_equal(rd_left(&in4), 8);
    assert_int_equal(ip_parse(&h, &in6), DROP_NONE);
    assert_int_equal(rd_left(&in6), 8);
}

static void bad_headers_are_named_and_leave_out_alone(void **state)
{
    static const struct {
        bool v6;
        size_t at;
        uint8_t value;
        bool fix; /* the checksum is right for the change */
        enum drop_reason want;
    } rows[] = {
        {false, 0, 0x55, true, DROP_BAD_IP_HEADER}, /* version 5 */
        {false, 0, 0x44, true, DROP_BAD_IP_HEADER}, /* header too short */
        {false, 0, 0x46, true, DROP_BAD_IP_HEADER}, /* options */
        {false, 3, 0x1b, false, DROP_BAD_IP_CHECKSUM},
        {false, 10, 0xb0, false, DROP_BAD_IP_CHECKSUM},
        {false, 3, 0x13, true, DROP_BAD_IP_HEADER}, /* shorter than its header */
        {false, 3, 0x1d, true, DROP_BAD_IP_HEADER}, /* longer than the frame */
        {false, 6, 0x20, true, DROP_FRAGMENT},      /* more fragments */
        {false, 6, 0x1f, true, DROP_FRAGMENT},      /* offset, high bits */
        {false, 7, 0x01, true, DROP_FRAGMENT},      /* offset, low bit */
        {false, 6, 0x00, true, DROP_NONE},          /* may be fragmented, is not */
        {true, 0, 0x71, false, DROP_BAD_IP_HEADER},
        {true, 5, 0x09, false, DROP_BAD_IP_HEADER}, /* longer than the frame */
        {true, 6, 44, false, DROP_FRAGMENT},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t b[sizeof(v6)];
        struct rd_cur in = rd_cur(b, rows[i].v6 ? sizeof(v6) : sizeof(v4));
        struct ip h = {.id = 0xeeee};

        memcpy(b, rows[i].v6 ? v6 : v4, rows[i].v6 ? sizeof(v6) : sizeof(v4));
        b[rows[i].at] = rows[i].value;
        if (rows[i].fix)
            fix_checksum(b);
        assert_int_equal(ip_parse(&h, &in), rows[i].want);
        if (rows[i].want != DROP_NONE)
            assert_int_equal(h.id, 0xeeee);
    }
}

static void any_single_bit_of_an_ipv4_header_is_noticed(void **state)
{
    (void)state;
    for (size_t bit = 0; bit < (size_t)8 * IPV4_BYTES; bit++) {
        uint8_t b[sizeof(v4)];
        struct rd_cur in = rd_cur(b, sizeof(b));
        struct ip h;

        memcpy(b, v4, sizeof(v4));
        b[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(ip_parse(&h, &in), DROP_NONE);
    }
}

static void every_truncation_of_an_ip_header_is_short(void **state)
{
    struct ip h = {.id = 0xeeee};

    (void)state;
    for (size_t n = 0; n < IPV6_BYTES; n++) {
        struct rd_cur in6 = rd_cur(v6, n), in4 = rd_cur(v4, n);

        assert_int_equal(ip_parse(&h, &in6), DROP_SHORT);
        if (n < IPV4_BYTES)
            assert_int_equal(ip_parse(&h, &in4), DROP_SHORT);
    }
    assert_int_equal(h.id, 0xeeee);
}

static void udp_is_three_fields_and_no_checksum(void **state)
{
    static const uint8_t bytes[UDP_BYTES] = {0xc1, 0x23, 0x12, 0xb7, 0x00, 0x24, 0xac, 0xa2};
    static const uint8_t want[UDP_BYTES] = {0xc1, 0x23, 0x12, 0xb7, 0x00, 0x24, 0x00, 0x00};
    uint8_t again[UDP_BYTES];
    struct wr_cur out = wr_cur(again, sizeof(again));
    struct rd_cur in = rd_cur(bytes, sizeof(bytes));
    struct rd_cur cut = rd_cur(bytes, UDP_BYTES - 1);
    struct udp h = {.bytes = 7};

    (void)state;
    assert_int_equal(udp_parse(&h, &cut), DROP_SHORT);
    assert_int_equal(h.bytes, 7);
    assert_int_equal(udp_parse(&h, &in), DROP_NONE);
    assert_int_equal(h.src_port, 0xc123);
    assert_int_equal(h.dst_port, UDP_PORT_ROCE);
    assert_int_equal(h.bytes, 0x24);
    udp_build(&h, &out);
    assert_memory_equal(again, want, UDP_BYTES);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(ethernet_is_three_fields),
        cmocka_unit_test(ipv4_is_read_and_built_back),
        cmocka_unit_test(ipv6_is_read_and_built_back),
        cmocka_unit_test(bytes_after_the_ip_packet_are_cut_off),
        cmocka_unit_test(bad_headers_are_named_and_leave_out_alone),
        cmocka_unit_test(any_single_bit_of_an_ipv4_header_is_noticed),
        cmocka_unit_test(every_truncation_of_an_ip_header_is_short),
        cmocka_unit_test(udp_is_three_fields_and_no_checksum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
