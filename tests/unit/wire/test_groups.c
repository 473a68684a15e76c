/* SPDX-License-Identifier: MIT */
/* Multicast membership reports and queries, compared with frames that Scapy built. */
#include "wire/group_vectors.h"

#include "emu/base/cursor.h"
#include "emu/wire/checksum.h"
#include "emu/wire/eth.h"
#include "emu/wire/glance.h"
#include "emu/wire/icmp.h"
#include "emu/wire/parse.h"

static void address(uint8_t ret[GID_BYTES], const char *text)
{
    memset(ret, 0, GID_BYTES);
    if (text[0])
        assert_true(addr_parse(text, ret));
}

/* Parses a frame as the IP stack does. */
static enum drop_reason parse(struct group_query *out, const uint8_t *frame, size_t n)
{
    struct rd_cur in = rd_cur(frame + ETH_BYTES, n - ETH_BYTES);
    struct ip ip;

    if (igmp_is(&in))
        return igmp_parse(out, &in);
    assert_int_equal(ip_parse(&ip, &in), DROP_NONE);
    assert_int_equal(ip.protocol, IP_PROTOCOL_HOP_BY_HOP);
    return mld_parse(out, &ip, &in);
}

static void reports_are_scapy_s_byte_for_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(reports); i++) {
        uint8_t want[GROUP_FRAME_MAX], have[GROUP_FRAME_MAX], src[GID_BYTES], group[GID_BYTES];
        const size_t n = frame_of(reports[i].digits, want);
        struct wr_cur out = wr_cur(have, sizeof(have));

        address(src, reports[i].src);
        address(group, reports[i].group);
        if (gid_is_ipv4(group))
            igmp_build(reports[i].record, src, group, &out);
        else
            mld_build(reports[i].record, src, group, &out);
        assert_false(out.bad);
        assert_int_equal(out.p - have, n - ETH_BYTES);
        assert_int_equal(out.p - have, gid_is_ipv4(group) ? IGMP_PACKET_BYTES : MLD_PACKET_BYTES);
        assert_memory_equal(have, want + ETH_BYTES, n - ETH_BYTES);
    }
}

static void the_routers_group_is_where_scapy_sends_reports(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(reports); i++) {
        uint8_t want[GROUP_FRAME_MAX], routers[GID_BYTES], mac[MAC_BYTES];
        const bool ipv6 = strchr(reports[i].group, ':') != NULL;

        frame_of(reports[i].digits, want);
        (ipv6 ? mld_routers : igmp_routers)(routers);
        mac_from_multicast(mac, routers);
        assert_memory_equal(want, mac, MAC_BYTES);
    }
}

static void queries_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        uint8_t frame[GROUP_FRAME_MAX], group[GID_BYTES];
        const size_t n = frame_of(queries[i].digits, frame);
        struct group_query q;

        address(group, queries[i].group);
        assert_int_equal(parse(&q, frame, n), DROP_NONE);
        assert_memory_equal(q.group, group, GID_BYTES);
        assert_int_equal(q.max_response_ms, queries[i].ms);
    }
}

static void reports_of_others_are_not_for_us(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(reports); i++) {
        uint8_t frame[GROUP_FRAME_MAX];
        const size_t n = frame_of(reports[i].digits, frame);
        struct group_query q = {.max_response_ms = 77};

        assert_int_equal(parse(&q, frame, n), DROP_NO_LISTENER);
        assert_int_equal(q.max_response_ms, 77);
    }
}

/* Every flipped bit behind the IP addresses is found by a checksum, or makes another message. */
static void damaged_and_short_queries_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        uint8_t frame[GROUP_FRAME_MAX];
        const size_t n = frame_of(queries[i].digits, frame);
        const bool ipv4 = frame[ETH_BYTES] >> 4 == 4;
        const size_t message = ETH_BYTES + (ipv4 ? 24 : 48);
        struct group_query q = {.max_response_ms = 77};

        for (size_t bit = message * 8; bit < n * 8; bit++) {
            frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
            assert_int_not_equal(parse(&q, frame, n), DROP_NONE);
            frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        for (size_t len = ETH_BYTES + 1; ipv4 && len < n; len++) {
            struct rd_cur in = rd_cur(frame + ETH_BYTES, len - ETH_BYTES);

            assert_int_not_equal(igmp_parse(&q, &in), DROP_NONE);
        }
        assert_int_equal(q.max_response_ms, 77);
    }
}

/* The IPv4 query, whose IP header has an option: 24 bytes. */
static void an_ip_header_that_lies_is_refused(void **state)
{
    static const struct {
        uint32_t at;
        uint8_t value;
        bool fix; /* the checksum is right for the change */
        enum drop_reason want;
    } rows[] = {
        {0, 0x46, true, DROP_NONE},
        {0, 0x44, true, DROP_BAD_IP_HEADER}, /* shorter than any */
        {0, 0x4f, true, DROP_BAD_IP_HEADER}, /* longer than what came */
        {3, 23, true, DROP_BAD_IP_HEADER},   /* its whole length is less than its header */
        {3, 0xff, true, DROP_BAD_IP_HEADER}, /* or more than what came */
        {3, 24 + 11, true, DROP_NO_LISTENER},
        {6, 0x20, true, DROP_FRAGMENT},
        {7, 0x01, true, DROP_FRAGMENT},
        {8, 2, false, DROP_BAD_IP_CHECKSUM},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        uint8_t frame[GROUP_FRAME_MAX], *ip = frame + ETH_BYTES;
        const size_t n = frame_of(queries[i].digits, frame);

        for (size_t k = 0; k < ARRAY_LEN(rows) && ip[0] >> 4 == 4; k++) {
            struct group_query q;
            const size_t header = (size_t)(rows[k].at == 0 ? rows[k].value & 0xf : 6) * 4;

            (void)frame_of(queries[i].digits, frame);
            ip[rows[k].at] = rows[k].value;
            if (rows[k].fix && header <= n - ETH_BYTES) {
                st_be16(ip + 10, 0);
                st_be16(ip + 10, checksum_fold(checksum_add(0, ip, header)));
            }
            assert_int_equal(parse(&q, frame, n), rows[k].want);
        }
    }
}

/* One byte of the IPv6 query is replaced, and its checksum made right. */
static void an_mld_query_of_another_kind_is_refused(void **state)
{
    static const struct {
        uint32_t at; /* in the IP packet */
        uint8_t value;
        enum drop_reason want;
    } rows[] = {
        {40, IP_PROTOCOL_ICMPV6, DROP_NONE},
        {40, IP_PROTOCOL_UDP, DROP_NO_LISTENER}, /* what follows the hop-by-hop header */
        {42, 1, DROP_NO_LISTENER},               /* no Router Alert in that */
        {8, 0x20, DROP_NO_LISTENER},             /* from an address that routers pass on */
        {9, 0xc0, DROP_NO_LISTENER},
        {48, 131, DROP_NO_LISTENER}, /* a report of version 1 */
        {49, 1, DROP_NO_LISTENER},   /* code */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        uint8_t frame[GROUP_FRAME_MAX], *ip = frame + ETH_BYTES;
        const size_t n = frame_of(queries[i].digits, frame);

        for (size_t k = 0; k < ARRAY_LEN(rows) && ip[0] >> 4 == 6; k++) {
            struct rd_cur in = rd_cur(ip, n - ETH_BYTES);
            struct group_query q;
            struct ip head;

            (void)frame_of(queries[i].digits, frame);
            ip[rows[k].at] = rows[k].value;
            assert_int_equal(ip_parse(&head, &in), DROP_NONE);
            head.protocol = IP_PROTOCOL_ICMPV6;
            head.payload_bytes = (uint16_t)(n - ETH_BYTES - 48);
            icmp_finish(&head, ip + 48, n - ETH_BYTES - 48);
            assert_int_equal(parse(&q, frame, n), rows[k].want);
        }
        for (uint16_t payload = 0; payload < n - ETH_BYTES - 40 && ip[0] >> 4 == 6; payload++) {
            struct group_query q;

            st_be16(ip + 4, payload);
            assert_int_not_equal(parse(&q, frame, n), DROP_NONE);
        }
    }
}

/* Nothing is written behind the room that there is. */
static void a_report_that_does_not_fit_says_so(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(reports); i++) {
        uint8_t src[GID_BYTES], group[GID_BYTES], whole[GROUP_FRAME_MAX];
        const size_t n = frame_of(reports[i].digits, whole) - ETH_BYTES;

        address(src, reports[i].src);
        address(group, reports[i].group);
        for (size_t cap = 0; cap <= n; cap++) {
            uint8_t bytes[GROUP_FRAME_MAX];
            struct wr_cur out = wr_cur(bytes, cap);

            memset(bytes, 0x5a, sizeof(bytes));
            (gid_is_ipv4(group) ? igmp_build : mld_build)(reports[i].record, src, group, &out);
            assert_int_equal(out.bad, cap < n);
            for (size_t at = cap; at < sizeof(bytes); at++)
                assert_int_equal(bytes[at], 0x5a);
        }
    }
}

static void an_mld_query_from_afar_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        uint8_t frame[GROUP_FRAME_MAX];
        const size_t n = frame_of(queries[i].digits, frame);
        struct group_query q;

        if (frame[ETH_BYTES] >> 4 == 4)
            continue;
        frame[ETH_BYTES + 7] = 2; /* the hop limit, which no checksum covers */
        assert_int_equal(parse(&q, frame, n), DROP_NO_LISTENER);
    }
}

static void they_are_known_at_a_glance(void **state)
{
    uint8_t frame[GROUP_FRAME_MAX], group[GID_BYTES];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(reports); i++) {
        const size_t n = frame_of(reports[i].digits, frame);
        const struct glance g = glance(frame, n);

        address(group, reports[i].group);
        assert_int_equal(g.opcode, FRAME_GROUP_REPORT);
        assert_true(g.has_addr);
        assert_memory_equal(g.addr, group, GID_BYTES);
        for (size_t len = 0; len < n; len++)
            (void)glance(frame, len); /* no byte behind the end is read */
    }
    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        const size_t n = frame_of(queries[i].digits, frame);
        const struct glance g = glance(frame, n);

        assert_int_equal(g.opcode, FRAME_GROUP_QUERY);
        assert_true(g.has_addr);
    }
}

/* Other messages of IGMP, and a query or a report that ends before it names a group. */
static void what_names_no_group_is_none_at_a_glance(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(queries) + ARRAY_LEN(reports); i++) {
        const char *digits =
            i < ARRAY_LEN(queries) ? queries[i].digits : reports[i - ARRAY_LEN(queries)].digits;
        uint8_t frame[GROUP_FRAME_MAX];
        const size_t n = frame_of(digits, frame);
        const bool ipv4 = frame[ETH_BYTES] >> 4 == 4, query = i < ARRAY_LEN(queries);
        const size_t at = ETH_BYTES + (ipv4 ? 24 : 48);
        const size_t end = at + (query ? (ipv4 ? 4 : 8) : 12) + (ipv4 ? 4 : 16);
        enum frame_kind kind = query ? FRAME_GROUP_QUERY : FRAME_GROUP_REPORT;

        assert_int_equal(glance(frame, end).opcode, kind);
        for (size_t len = 0; len < end; len++)
            assert_int_not_equal(glance(frame, len).opcode, kind);
        frame[at] = 0x17; /* of IGMP: a station leaves a group, in version 2 */
        assert_int_not_equal(glance(frame, n).opcode, FRAME_GROUP_QUERY);
        assert_int_not_equal(glance(frame, n).opcode, FRAME_GROUP_REPORT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_are_scapy_s_byte_for_byte),
        cmocka_unit_test(the_routers_group_is_where_scapy_sends_reports),
        cmocka_unit_test(queries_are_read),
        cmocka_unit_test(reports_of_others_are_not_for_us),
        cmocka_unit_test(damaged_and_short_queries_are_refused),
        cmocka_unit_test(an_ip_header_that_lies_is_refused),
        cmocka_unit_test(an_mld_query_of_another_kind_is_refused),
        cmocka_unit_test(a_report_that_does_not_fit_says_so),
        cmocka_unit_test(an_mld_query_from_afar_is_refused),
        cmocka_unit_test(they_are_known_at_a_glance),
        cmocka_unit_test(what_names_no_group_is_none_at_a_glance),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
