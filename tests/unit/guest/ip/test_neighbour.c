/* SPDX-License-Identifier: MIT */
/* Neighbours that the lab tells of.  What is asked over a network: unit test lab.ip. */
#include "testing.h"

#include <string.h>

#include "emu/guest/ip/net.h"

static void neighbours_are_found_and_replaced(void **state)
{
    static const struct guest_net_config config = {
        .mac = {2, 0, 0, 0, 0, 1},
        .gid = {{[10] = 0xff, 0xff, 10, 0, 0, 1}, {0xfe, 0x80, [15] = 1}},
    };
    struct arena *a = arena_new((size_t)1 << 30);
    struct guest_net net;
    uint8_t gid[GID_BYTES] = {0xfe, 0x80}, mac[MAC_BYTES] = {2};

    (void)state;
    assert_non_null(a);
    guest_net_init(&net, a, &config, &(struct guest_pci){.function = FN_NET});
    for (uint8_t i = 0; i < 20; i++) {
        gid[15] = (uint8_t)(100 + i);
        mac[5] = i;
        assert_null(guest_neighbour_mac(&net, gid));
        assert_int_equal(guest_neighbour_add(&net, gid, mac), RDL_OK);
    }
    gid[15] = 107;
    assert_int_equal(guest_neighbour_mac(&net, gid)[5], 7);
    mac[5] = 99;
    assert_int_equal(guest_neighbour_add(&net, gid, mac), RDL_OK);
    assert_int_equal(guest_neighbour_mac(&net, gid)[5], 99);
    assert_int_equal(net.neighbours.n, 20);
    assert_memory_equal(guest_neighbour_mac(&net, config.gid[1]), config.mac, MAC_BYTES);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_found_and_replaced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
