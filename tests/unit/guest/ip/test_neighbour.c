/* SPDX-License-Identifier: MIT */
/* Neighbours that the lab tells of.  What is asked over a network: unit test lab.ip. */
#include "testing.h"

#include <string.h>

#include "emu/guest/ip/net.h"

#define MANY 10000u

/* The address and the MAC of station @i. */
static void station(uint32_t i, uint8_t gid[GID_BYTES], uint8_t mac[MAC_BYTES])
{
    memset(gid, 0, GID_BYTES);
    memset(mac, 0, MAC_BYTES);
    gid[0] = 0xfe;
    gid[1] = 0x80;
    memcpy(gid + 12, &i, sizeof(i));
    mac[0] = 2;
    memcpy(mac + 2, &i, sizeof(i));
}

static void the_directory_finds_each_of_many(void **state)
{
    struct arena *a = arena_new((size_t)1 << 30);
    uint8_t gid[GID_BYTES], mac[MAC_BYTES];
    struct directory d;

    (void)state;
    assert_non_null(a);
    directory_init(&d, a);
    station(1, gid, mac);
    assert_null(directory_find(&d, gid));
    for (uint32_t i = 0; i < MANY; i++) {
        station(i, gid, mac);
        assert_null(directory_find(&d, gid));
        assert_true(directory_reserve(&d, 1));
        directory_add(&d, gid, mac, 0);
    }
    assert_int_equal(d.n, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        station(i, gid, mac);
        assert_memory_equal(directory_find(&d, gid)->mac, mac, MAC_BYTES);
    }
    arena_free(a);
}

static void a_full_arena_leaves_the_directory_as_it_was(void **state)
{
    struct arena *a = arena_new((size_t)1 << 20);
    uint8_t gid[GID_BYTES], mac[MAC_BYTES];
    struct directory d;
    uint32_t n = 0;

    (void)state;
    assert_non_null(a);
    directory_init(&d, a);
    for (; directory_reserve(&d, 1); n++) {
        station(n, gid, mac);
        directory_add(&d, gid, mac, 0);
    }
    assert_true(n > 1000 && d.n == n);
    station(n - 1, gid, mac);
    assert_memory_equal(directory_find(&d, gid)->mac, mac, MAC_BYTES);
    arena_free(a);
}

static void a_guest_knows_whom_the_directory_has(void **state)
{
    static const struct guest_net_config plain = {
        .mac = {2, 0, 0, 0, 0, 1},
        .gid = {{[10] = 0xff, 0xff, 10, 0, 0, 1}, {0xfe, 0x80, [15] = 1}},
    };
    struct arena *a = arena_new((size_t)1 << 30);
    struct guest_net_config config = plain;
    uint8_t gid[GID_BYTES], mac[MAC_BYTES];
    struct guest_net knows, asks;
    struct directory d;

    (void)state;
    assert_non_null(a);
    directory_init(&d, a);
    guest_net_init(&asks, a, &config, &(struct guest_pci){.function = FN_NET});
    config.directory = &d;
    guest_net_init(&knows, a, &config, &(struct guest_pci){.function = FN_NET});
    station(7, gid, mac);
    assert_null(guest_neighbour_mac(&knows, gid));
    assert_true(directory_reserve(&d, 2));
    directory_add(&d, gid, mac, 0);
    assert_memory_equal(guest_neighbour_mac(&knows, gid), mac, MAC_BYTES);
    assert_null(guest_neighbour_mac(&asks, gid));
    mac[5] = 99; /* it has moved */
    directory_add(&d, gid, mac, 0);
    assert_memory_equal(guest_neighbour_mac(&knows, gid), mac, MAC_BYTES);
    assert_int_equal(d.n, 1);
    directory_add(&d, config.gid[1], mac, 0); /* somebody else's, but it is its own */
    assert_memory_equal(guest_neighbour_mac(&knows, config.gid[1]), config.mac, MAC_BYTES);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_directory_finds_each_of_many),
        cmocka_unit_test(a_full_arena_leaves_the_directory_as_it_was),
        cmocka_unit_test(a_guest_knows_whom_the_directory_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
