/* SPDX-License-Identifier: MIT */
/* Neighbours from the lab's directory, and how long a learnt neighbour stays valid.  The unit test
 * lab.ip covers resolution over a network.
 */
#include "testing.h"

#include <string.h>

#include "emu/facts/enum/pci_function.h"
#include "emu/guest/ip/stack.h"
#include "emu/trace/event.h"

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

/* A guest that hears of stations, and its clock. */
struct listener {
    struct arena *arena;
    struct trace_sinks sinks;
    struct trace_sink sink;
    struct trace trace;
    uint32_t n_events; /* of neighbours */
    struct guest_net net;
};

static void on_event(void *ctx, const struct ev *e)
{
    ((struct listener *)ctx)->n_events += e->kind == EV_neighbour;
}

static struct listener *listener_new(void)
{
    struct listener *l = test_calloc(1, sizeof(*l));
    const struct guest_net_config config = {
        .mac = {2, 0, 0, 0, 0, 1},
        .gid = {{[10] = 0xff, 0xff, 10, 0, 0, 1}, {0xfe, 0x80, [15] = 1}},
        .trace = &l->trace,
    };

    l->arena = arena_new((size_t)1 << 30);
    assert_non_null(l->arena);
    l->sink = (struct trace_sink){on_event, l, ev_set_all, NULL};
    l->trace.sinks = &l->sinks;
    trace_sink_add(&l->sinks, &l->sink);
    guest_net_init(&l->net, l->arena, &config, &(struct guest_pci){.function = FN_NET});
    return l;
}

static void listener_free(struct listener *l)
{
    arena_free(l->arena);
    test_free(l);
}

static bool knows(const struct listener *l, uint32_t i)
{
    uint8_t gid[GID_BYTES], mac[MAC_BYTES];
    const uint8_t *got;

    station(i, gid, mac);
    got = guest_neighbour_mac(&l->net, gid);
    if (got)
        assert_memory_equal(got, mac, MAC_BYTES);
    return got != NULL;
}

static bool hears(struct listener *l, uint32_t i, bool asked_us)
{
    uint8_t gid[GID_BYTES], mac[MAC_BYTES];

    station(i, gid, mac);
    return neighbour_heard(&l->net, gid, mac, asked_us);
}

/* To the nanosecond, from when it was last heard of. */
static void who_was_heard_of_is_known_for_a_minute(void **state)
{
    struct listener *l = listener_new();

    (void)state;
    l->trace.now_ns = 5;
    assert_false(hears(l, 7, false)); /* nobody wanted to know */
    assert_false(knows(l, 7));
    assert_true(hears(l, 7, true));
    assert_true(knows(l, 7));
    assert_int_equal(l->n_events, 1);
    l->trace.now_ns = 5 + GUEST_NEIGHBOUR_NS - 1;
    assert_true(knows(l, 7));
    l->trace.now_ns++;
    assert_false(knows(l, 7));
    assert_true(hears(l, 7, false));
    assert_true(knows(l, 7));
    assert_int_equal(l->n_events, 1); /* the same as before: no news */
    l->trace.now_ns += GUEST_NEIGHBOUR_NS / 2;
    assert_true(hears(l, 7, false));
    l->trace.now_ns += GUEST_NEIGHBOUR_NS - 1;
    assert_true(knows(l, 7));
    l->trace.now_ns++;
    assert_false(knows(l, 7));
    listener_free(l);
}

/* One after the other, beginning with the first; one that is being asked for is passed over. */
static void when_there_are_too_many_one_is_forgotten(void **state)
{
    struct listener *l = listener_new();
    size_t live_bytes;

    (void)state;
    for (uint32_t i = 0; i < GUEST_NEIGHBOURS_MAX; i++)
        assert_true(hears(l, i, true));
    assert_true(knows(l, 0));
    live_bytes = arena_live_bytes(l->arena);
    l->net.neighbours.v[1].state = NB_INCOMPLETE;
    assert_true(hears(l, GUEST_NEIGHBOURS_MAX, true));
    assert_false(knows(l, 0));
    assert_true(hears(l, GUEST_NEIGHBOURS_MAX + 1, true));
    assert_false(knows(l, 2));
    assert_int_equal(l->net.neighbours.v[1].state, NB_INCOMPLETE);
    for (uint32_t i = 3; i <= GUEST_NEIGHBOURS_MAX + 1; i++)
        assert_true(knows(l, i));
    /* All the others go, and with them all that share its list. */
    for (uint32_t i = GUEST_NEIGHBOURS_MAX + 2; i < 2 * GUEST_NEIGHBOURS_MAX; i++)
        assert_true(hears(l, i, true));
    assert_false(knows(l, GUEST_NEIGHBOURS_MAX - 1));
    l->net.neighbours.v[1].state = NB_REACHABLE;
    assert_true(knows(l, 1));
    assert_int_equal(l->net.neighbours.n, GUEST_NEIGHBOURS_MAX);
    assert_int_equal(arena_live_bytes(l->arena), live_bytes);
    listener_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_directory_finds_each_of_many),
        cmocka_unit_test(a_full_arena_leaves_the_directory_as_it_was),
        cmocka_unit_test(a_guest_knows_whom_the_directory_has),
        cmocka_unit_test(who_was_heard_of_is_known_for_a_minute),
        cmocka_unit_test(when_there_are_too_many_one_is_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
