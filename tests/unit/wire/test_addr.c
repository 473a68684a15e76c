/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include <string.h>

#include "emu/wire/addr.h"

static void address_text_is_read_back_and_written_canonically(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"10.0.0.1", "10.0.0.1"},
        {"0.0.0.0", "0.0.0.0"},
        {"255.255.255.255", "255.255.255.255"},
        {"::ffff:10.0.0.1", "10.0.0.1"},
        {"::ffff:a00:1", "10.0.0.1"},
        {"::", "::"},
        {"::1", "::1"},
        {"2001:DB8::0001", "2001:db8::1"},
        {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"}, /* RFC 5952 4.2.3: the first of equal runs */
        {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"}, /* 4.2.2: one group is not shortened */
        {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},          /* 4.2.3: the longest run */
        {"fe80::200:ff:fe00:1", "fe80::200:ff:fe00:1"},
        {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t gid[GID_BYTES], again[GID_BYTES];
        char buf[ADDR_TEXT_MAX];
        struct text t = text_on(buf, sizeof(buf));

        assert_true(addr_parse(rows[i].in, gid));
        addr_add(&t, gid);
        assert_false(t.cut);
        assert_string_equal(buf, rows[i].out);
        assert_true(addr_parse(buf, again));
        assert_memory_equal(gid, again, GID_BYTES);
    }
}

static void what_is_no_address_is_refused_and_leaves_the_result_alone(void **state)
{
    static const char *const rows[] = {
        "",    "10.0.0", "10.0.0.256", "10.0.0.1 ", "10.0.0.1/24", "010.0.0.1", "1:2:3:4:5:6:7",
        ":::", "g::",    "1::2::3",    "::1%eth0",  "12345::",     "localhost",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t gid[GID_BYTES], before[GID_BYTES];

        memset(gid, 0xa5, sizeof(gid));
        memcpy(before, gid, sizeof(gid));
        assert_false(addr_parse(rows[i], gid));
        assert_memory_equal(gid, before, GID_BYTES);
    }
}

static void an_ipv4_address_is_a_mapped_gid(void **state)
{
    static const uint8_t want[GID_BYTES] = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1};
    static const uint8_t ip[4] = {10, 0, 0, 1};
    uint8_t gid[GID_BYTES];

    (void)state;
    gid_from_ipv4(gid, ip);
    assert_memory_equal(gid, want, GID_BYTES);
    assert_true(gid_is_ipv4(gid));
    for (size_t i = 0; i < GID_IPV4_AT; i++) {
        gid[i] ^= 1;
        assert_false(gid_is_ipv4(gid));
        gid[i] ^= 1;
    }
}

static void groups_have_addresses_of_their_own(void **state)
{
    static const struct {
        const char *text;
        bool group;
    } rows[] = {
        {"223.255.255.255", false},  {"224.0.0.0", true},  {"239.255.255.255", true},
        {"240.0.0.0", false},        {"255.0.0.1", false}, {"ff02::1", true},
        {"ff0e::ffff:e000:1", true}, {"fe80::1", false},   {"::", false},
        {"::e000:1", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t gid[GID_BYTES];

        assert_true(addr_parse(rows[i].text, gid));
        assert_int_equal(gid_is_group(gid), rows[i].group);
    }
}

static void mac_text_is_read_back(void **state)
{
    static const uint8_t want[MAC_BYTES] = {0x02, 0xab, 0xcd, 0xef, 0x00, 0x99};
    uint8_t mac[MAC_BYTES];
    char buf[MAC_TEXT_MAX];
    struct text t = text_on(buf, sizeof(buf));

    (void)state;
    assert_true(mac_parse("02:AB:cd:eF:00:99", mac));
    assert_memory_equal(mac, want, MAC_BYTES);
    mac_add(&t, mac);
    assert_false(t.cut);
    assert_string_equal(buf, "02:ab:cd:ef:00:99");
}

static void what_is_no_mac_is_refused_and_leaves_the_result_alone(void **state)
{
    static const char *const rows[] = {
        "",
        "02:ab:cd:ef:00",
        "02:ab:cd:ef:00:9",
        "02:ab:cd:ef:00:999",
        "02-ab-cd-ef-00-99",
        "02:ab:cd:ef:00:9g",
        "02:ab:cd:ef:0:099",
        ":02:ab:cd:ef:00:9",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t mac[MAC_BYTES] = {1, 2, 3, 4, 5, 6};
        static const uint8_t before[MAC_BYTES] = {1, 2, 3, 4, 5, 6};

        assert_false(mac_parse(rows[i], mac));
        assert_memory_equal(mac, before, MAC_BYTES);
    }
}

/* The example of RFC 2464, 4. */
static void an_interface_identifier_is_made_of_the_mac(void **state)
{
    static const uint8_t mac[MAC_BYTES] = {0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde};
    static const uint8_t want[EUI64_BYTES] = {0x36, 0x56, 0x78, 0xff, 0xfe, 0x9a, 0xbc, 0xde};
    uint8_t id[EUI64_BYTES];

    (void)state;
    eui64_from_mac(id, mac);
    assert_memory_equal(id, want, sizeof(id));
}

static void a_multicast_group_says_its_own_mac(void **state)
{
    static const struct {
        const char *addr, *mac; /* NULL: no group */
    } rows[] = {
        {"224.0.0.1", "01:00:5e:00:00:01"},
        {"239.255.255.255", "01:00:5e:7f:ff:ff"},
        {"239.129.2.3", "01:00:5e:01:02:03"}, /* 23 bits: the same MAC as 239.1.2.3 */
        {"223.255.255.255", NULL},
        {"240.0.0.0", NULL},
        {"ff02::1", "33:33:00:00:00:01"},
        {"ff0e::1:ff12:3456", "33:33:ff:12:34:56"},
        {"fe80::1", NULL},
        {"::", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t gid[GID_BYTES], mac[MAC_BYTES];
        char buf[MAC_TEXT_MAX];
        struct text t = text_on(buf, sizeof(buf));

        assert_true(addr_parse(rows[i].addr, gid));
        assert_int_equal(gid_is_group(gid), rows[i].mac != NULL);
        if (!rows[i].mac)
            continue;
        mac_from_multicast(mac, gid);
        mac_add(&t, mac);
        assert_string_equal(buf, rows[i].mac);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_multicast_group_says_its_own_mac),
        cmocka_unit_test(address_text_is_read_back_and_written_canonically),
        cmocka_unit_test(what_is_no_address_is_refused_and_leaves_the_result_alone),
        cmocka_unit_test(an_ipv4_address_is_a_mapped_gid),
        cmocka_unit_test(groups_have_addresses_of_their_own),
        cmocka_unit_test(mac_text_is_read_back),
        cmocka_unit_test(an_interface_identifier_is_made_of_the_mac),
        cmocka_unit_test(what_is_no_mac_is_refused_and_leaves_the_result_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
