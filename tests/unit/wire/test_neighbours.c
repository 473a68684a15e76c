/* SPDX-License-Identifier: MIT */
/* ARP, ICMP echo and neighbour discovery, compared with bytes that Scapy made. */
#include "testing.h"

#include <string.h>

#include "emu/base/prng.h"
#include "emu/wire/arp.h"
#include "emu/wire/checksum.h"
#include "emu/wire/eth.h"
#include "emu/wire/icmp.h"
#include "emu/wire/nd.h"
#include "emu/wire/parse.h"
#include "wire/neighbours.h"

static const uint8_t mac_1[MAC_BYTES] = {2, 0, 0, 0, 0, 1}, mac_2[MAC_BYTES] = {2, 0, 0, 0, 0, 2};
static const uint8_t v4_1[GID_BYTES] = {[10] = 0xff, 0xff, 10, 0, 0, 1};
static const uint8_t v4_2[GID_BYTES] = {[10] = 0xff, 0xff, 10, 0, 0, 2};
static const uint8_t v6_1[GID_BYTES] = {0xfe, 0x80, [9] = 0, 0, 0xff, 0xfe, 0, 0, 1};
static const uint8_t v6_2[GID_BYTES] = {0xfe, 0x80, [9] = 0, 0, 0xff, 0xfe, 0, 0, 2};

/* A decoded frame: as far as one of this file goes. */
struct decoded {
    struct eth eth;
    struct ip ip;
    struct arp arp;
    struct icmp icmp;
    struct icmp_echo echo;
    struct nd nd;
};

static enum drop_reason decode(struct decoded *d, const uint8_t *frame, size_t n)
{
    struct rd_cur in = rd_cur(frame, n);
    enum drop_reason why = eth_parse(&d->eth, &in);

    if (why == DROP_NONE && d->eth.ethertype == ETHERTYPE_ARP)
        return arp_parse(&d->arp, &in);
    if (why == DROP_NONE)
        why = ip_parse(&d->ip, &in);
    if (why == DROP_NONE)
        why = icmp_parse(&d->icmp, &d->ip, &in);
    if (why != DROP_NONE)
        return why;
    switch (d->icmp.kind) {
    case FRAME_ECHO_REQUEST:
    case FRAME_ECHO_REPLY:
        return icmp_echo_parse(&d->echo, &d->icmp, &in);
    case FRAME_ND_SOLICIT:
    case FRAME_ND_ADVERT:
        return nd_parse(&d->nd, &d->icmp, &d->ip, &in);
    default:
        return DROP_NO_LISTENER;
    }
}

/* Builds @d again, as far as there is room. */
static struct wr_cur encoded(const struct decoded *d, uint8_t *frame, size_t cap)
{
    struct wr_cur out = wr_cur(frame, cap);

    eth_build(&d->eth, &out);
    if (d->eth.ethertype == ETHERTYPE_ARP) {
        arp_build(&d->arp, &out);
    } else {
        ip_build(&d->ip, &out);
        if (d->icmp.kind == FRAME_ECHO_REQUEST || d->icmp.kind == FRAME_ECHO_REPLY)
            icmp_echo_build(&d->echo, &d->ip, &out);
        else
            nd_build(&d->nd, &d->ip, &out);
    }
    return out;
}

/* Builds @d again; returns the bytes. */
static size_t encode(const struct decoded *d, uint8_t *frame, size_t cap)
{
    const struct wr_cur out = encoded(d, frame, cap);

    assert_false(out.bad);
    return (size_t)(out.p - frame);
}

static const struct {
    const uint8_t *bytes;
    size_t n;
} frames[] = {
    {arp_request, sizeof(arp_request)},
    {arp_reply, sizeof(arp_reply)},
    {echo4_request, sizeof(echo4_request)},
    {echo4_reply, sizeof(echo4_reply)},
    {echo6_request, sizeof(echo6_request)},
    {echo6_reply, sizeof(echo6_reply)},
    {solicit, sizeof(solicit)},
    {advert, sizeof(advert)},
};

static void what_is_read_is_written_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(frames); i++) {
        struct decoded d = {0};
        uint8_t again[128];

        assert_int_equal(decode(&d, frames[i].bytes, frames[i].n), DROP_NONE);
        assert_int_equal(encode(&d, again, sizeof(again)), frames[i].n);
        assert_memory_equal(again, frames[i].bytes, frames[i].n);
    }
}

/* Nothing is written behind the room that there is. */
static void what_does_not_fit_says_so(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(frames); i++) {
        struct decoded d = {0};

        assert_int_equal(decode(&d, frames[i].bytes, frames[i].n), DROP_NONE);
        for (size_t cap = 0; cap < frames[i].n; cap++) {
            uint8_t bytes[128];

            memset(bytes, 0x5a, sizeof(bytes));
            assert_true(encoded(&d, bytes, cap).bad);
            for (size_t at = cap; at < sizeof(bytes); at++)
                assert_int_equal(bytes[at], 0x5a);
        }
    }
}

static void each_flag_of_an_advertisement_is_one_bit(void **state)
{
    (void)state;
    for (unsigned flags = 0; flags < 8; flags++) {
        struct decoded d = {0}, back = {0};
        uint8_t bytes[128];
        size_t n;

        assert_int_equal(decode(&d, advert, sizeof(advert)), DROP_NONE);
        d.nd.router = flags & 1;
        d.nd.solicited = flags >> 1 & 1;
        d.nd.override = flags >> 2 & 1;
        n = encode(&d, bytes, sizeof(bytes));
        assert_int_equal(n, sizeof(advert));
        assert_int_equal(bytes[ETH_BYTES + IPV6_BYTES + 4] >> 5,
                         (flags & 1) << 2 | (flags & 2) | flags >> 2);
        assert_int_equal(decode(&back, bytes, n), DROP_NONE);
        assert_true(back.nd.router == d.nd.router && back.nd.solicited == d.nd.solicited &&
                    back.nd.override == d.nd.override);
    }
}

static void fields_of_arp(void **state)
{
    struct decoded d = {0};

    (void)state;
    assert_int_equal(decode(&d, arp_request, sizeof(arp_request)), DROP_NONE);
    assert_false(d.arp.reply);
    assert_memory_equal(d.arp.sender_mac, mac_1, MAC_BYTES);
    assert_memory_equal(d.arp.sender, v4_1, GID_BYTES);
    assert_memory_equal(d.arp.target, v4_2, GID_BYTES);
    assert_int_equal(decode(&d, arp_reply, sizeof(arp_reply)), DROP_NONE);
    assert_true(d.arp.reply);
    assert_memory_equal(d.arp.sender_mac, mac_2, MAC_BYTES);
    assert_memory_equal(d.arp.target_mac, mac_1, MAC_BYTES);
}

static void fields_of_echo(void **state)
{
    struct decoded d = {0};

    (void)state;
    for (size_t i = 2; i < 6; i++) {
        assert_int_equal(decode(&d, frames[i].bytes, frames[i].n), DROP_NONE);
        assert_int_equal(d.echo.reply, i % 2);
        assert_int_equal(d.icmp.kind, i % 2 ? FRAME_ECHO_REPLY : FRAME_ECHO_REQUEST);
        assert_int_equal(d.echo.id, 0x1234);
        assert_int_equal(d.echo.seq, 7);
        assert_int_equal(d.echo.data_bytes, 9);
        assert_memory_equal(d.echo.data, "odd data!", 9);
    }
}

static void fields_of_neighbour_discovery(void **state)
{
    struct decoded d = {0};
    uint8_t group[GID_BYTES], mac[MAC_BYTES];

    (void)state;
    assert_int_equal(decode(&d, solicit, sizeof(solicit)), DROP_NONE);
    ipv6_solicited_group(group, v6_2);
    mac_from_multicast(mac, group);
    assert_false(d.nd.advert);
    assert_memory_equal(d.nd.target, v6_2, GID_BYTES);
    assert_memory_equal(d.ip.src, v6_1, GID_BYTES);
    assert_memory_equal(d.ip.dst, group, GID_BYTES);
    assert_memory_equal(d.eth.dst, mac, MAC_BYTES);
    assert_true(d.nd.has_mac);
    assert_memory_equal(d.nd.mac, mac_1, MAC_BYTES);
    assert_int_equal(decode(&d, advert, sizeof(advert)), DROP_NONE);
    assert_true(d.nd.advert && d.nd.solicited && d.nd.override && !d.nd.router);
    assert_memory_equal(d.nd.mac, mac_2, MAC_BYTES);
    assert_int_equal(decode(&d, dad, sizeof(dad)), DROP_NONE);
    assert_false(d.nd.has_mac);
}

static void other_messages_are_named_but_not_taken_apart(void **state)
{
    struct decoded d = {0};

    (void)state;
    assert_int_equal(decode(&d, router_solicit, sizeof(router_solicit)), DROP_NO_LISTENER);
    assert_int_equal(d.icmp.kind, FRAME_ICMP);
}

static void every_truncation_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(frames); i++) {
        for (size_t n = 0; n < frames[i].n; n++) {
            struct decoded d = {0};

            assert_int_not_equal(decode(&d, frames[i].bytes, n), DROP_NONE);
        }
    }
}

static void a_flipped_bit_after_the_ip_header_is_found(void **state)
{
    (void)state;
    for (size_t i = 2; i < ARRAY_LEN(frames); i++) {
        const size_t head = ETH_BYTES + ip_header_bytes(frames[i].bytes[14] >> 4);

        for (size_t bit = head * 8; bit < frames[i].n * 8; bit++) {
            uint8_t bytes[128];
            struct decoded d = {0};

            memcpy(bytes, frames[i].bytes, frames[i].n);
            bytes[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
            assert_int_equal(decode(&d, bytes, frames[i].n), DROP_BAD_ICMP_CHECKSUM);
        }
    }
}

/* One byte changed, the checksum made right again. */
static void the_rules_of_neighbour_discovery(void **state)
{
    static const struct {
        const uint8_t *frame;
        size_t at;
        uint8_t value;
        enum drop_reason want;
    } rows[] = {
        {solicit, 21, 64, DROP_BAD_ND},   /* a router has passed it on */
        {solicit, 55, 1, DROP_BAD_ND},    /* code */
        {solicit, 62, 0xff, DROP_BAD_ND}, /* the target is a group */
        {solicit, 79, 0, DROP_BAD_ND},    /* an option without length */
        {solicit, 79, 2, DROP_BAD_ND},    /* an option longer than the message */
        {solicit, 80, 3, DROP_BAD_ND},    /* a group's MAC */
        {solicit, 78, 7, DROP_NONE},      /* an unknown option is skipped */
        {solicit, 58, 0xe0, DROP_NONE},   /* reserved bits */
        {advert, 38, 0xff, DROP_BAD_ND},  /* "solicited", to a group */
        {advert, 21, 1, DROP_BAD_ND},
        {dad, 50, 0, DROP_BAD_ND}, /* not to a solicited-node group */
        {dad, 78, 1, DROP_BAD_ND}, /* with a MAC */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const size_t head = ETH_BYTES + IPV6_BYTES;
        struct decoded d = {0};
        uint8_t bytes[86];
        struct rd_cur in = rd_cur(bytes + ETH_BYTES, sizeof(bytes) - ETH_BYTES);

        memcpy(bytes, rows[i].frame, sizeof(bytes));
        bytes[rows[i].at] = rows[i].value;
        assert_int_equal(ip_parse(&d.ip, &in), DROP_NONE);
        icmp_finish(&d.ip, bytes + head, sizeof(bytes) - head);
        assert_int_equal(decode(&d, bytes, sizeof(bytes)), rows[i].want);
    }
}

/* The option that has the MAC, but of another length, and one behind it. */
static void a_mac_option_of_another_length_has_no_mac(void **state)
{
    const size_t head = ETH_BYTES + IPV6_BYTES, n = sizeof(solicit) + 8;
    struct decoded d = {0};
    uint8_t bytes[128] = {0};
    struct rd_cur in = rd_cur(bytes + ETH_BYTES, n - ETH_BYTES);

    (void)state;
    memcpy(bytes, solicit, sizeof(solicit));
    bytes[79] = 2; /* in units of eight bytes */
    bytes[19] = (uint8_t)(bytes[19] + 8);
    assert_int_equal(ip_parse(&d.ip, &in), DROP_NONE);
    icmp_finish(&d.ip, bytes + head, n - head);
    assert_int_equal(decode(&d, bytes, n), DROP_NONE);
    assert_false(d.nd.has_mac);
}

/* Who has no address yet asks whether it is free, and has no right to tell a MAC with it. */
static void a_station_without_an_address_tells_no_mac(void **state)
{
    const size_t head = ETH_BYTES + IPV6_BYTES;
    struct decoded d = {0};
    uint8_t bytes[sizeof(solicit)] = {0};
    struct rd_cur in = rd_cur(bytes + ETH_BYTES, sizeof(bytes) - ETH_BYTES);

    (void)state;
    memcpy(bytes, solicit, sizeof(bytes));
    memset(bytes + ETH_BYTES + 8, 0, GID_BYTES); /* the sender's address */
    assert_int_equal(ip_parse(&d.ip, &in), DROP_NONE);
    icmp_finish(&d.ip, bytes + head, sizeof(bytes) - head);
    assert_int_equal(decode(&d, bytes, sizeof(bytes)), DROP_BAD_ND);
    bytes[78] = 14; /* with another option it may */
    icmp_finish(&d.ip, bytes + head, sizeof(bytes) - head);
    assert_int_equal(decode(&d, bytes, sizeof(bytes)), DROP_NONE);
}

static void the_rules_of_arp(void **state)
{
    static const struct {
        size_t at;
        uint8_t value;
    } rows[] = {{15, 6}, {16, 0x86}, {18, 8}, {19, 16}, {21, 3}, {21, 0}, {22, 3}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct decoded d = {0};
        uint8_t bytes[sizeof(arp_request)];

        memcpy(bytes, arp_request, sizeof(bytes));
        bytes[rows[i].at] = rows[i].value;
        assert_int_equal(decode(&d, bytes, sizeof(bytes)), DROP_BAD_ARP);
    }
}

static void the_checksum_does_not_depend_on_how_the_data_is_cut(void **state)
{
    struct prng rng = prng_stream(1, 2);
    uint8_t data[101];

    (void)state;
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)prng_next(&rng);
    for (size_t cut = 0; cut < sizeof(data); cut += 2)
        assert_int_equal(
            checksum_fold(checksum_add(checksum_add(0, data, cut), data + cut, sizeof(data) - cut)),
            checksum_fold(checksum_add(0, data, sizeof(data))));
}

static void bytes_without_order_are_refused_or_decoded_but_never_read_beyond(void **state)
{
    struct prng rng = prng_stream(3, 4);

    (void)state;
    for (uint32_t round = 0; round < 200000; round++) {
        const size_t which = prng_below(&rng, ARRAY_LEN(frames));
        size_t n = 1 + prng_below(&rng, frames[which].n);
        uint8_t *bytes = test_malloc(n); /* exactly as long: a sanitizer sees the rest */
        struct decoded d = {0};

        memcpy(bytes, frames[which].bytes, n);
        for (uint64_t k = prng_below(&rng, 4); k > 0; k--) {
            const size_t at = prng_below(&rng, n);

            bytes[at] = (uint8_t)prng_next(&rng);
        }
        (void)decode(&d, bytes, n);
        test_free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_written_again),
        cmocka_unit_test(what_does_not_fit_says_so),
        cmocka_unit_test(each_flag_of_an_advertisement_is_one_bit),
        cmocka_unit_test(a_mac_option_of_another_length_has_no_mac),
        cmocka_unit_test(a_station_without_an_address_tells_no_mac),
        cmocka_unit_test(fields_of_arp),
        cmocka_unit_test(fields_of_echo),
        cmocka_unit_test(fields_of_neighbour_discovery),
        cmocka_unit_test(other_messages_are_named_but_not_taken_apart),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(a_flipped_bit_after_the_ip_header_is_found),
        cmocka_unit_test(the_rules_of_neighbour_discovery),
        cmocka_unit_test(the_rules_of_arp),
        cmocka_unit_test(the_checksum_does_not_depend_on_how_the_data_is_cut),
        cmocka_unit_test(bytes_without_order_are_refused_or_decoded_but_never_read_beyond),
    };

    return cmocka_run_group_tests_name("neighbours", tests, NULL, NULL);
}
