/* SPDX-License-Identifier: MIT */
/* The Ethernet port between a network device and two RNICs: who gets a frame, and whose turn it is.
 */
#include "emu/base/cursor.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/roce.h"
#include "emu/rnic/eth_port.h"
#include "emu/wire/ip.h"
#include "emu/wire/udp.h"
#include "net/wires.h"

#define OWN_MAC   1u /* last byte of the port's MAC; the others are 0 */
#define USERS     3u
#define FRAME_LEN (ETH_BYTES + IPV4_BYTES + UDP_BYTES + 16u)

/* A user: the address that it owns and the group that it is in, by the last byte of IPv4. */
struct user {
    struct fixture *wires;
    uint8_t address, group;
    uint32_t number;  /* in the port */
    uint32_t to_send; /* frames */
    uint32_t got;
    uint8_t last[128]; /* the frame that it got last */
    uint32_t last_len;
    bool to_group;             /* sends RoCEv2 to its group */
    uint32_t *order, *n_order; /* users whose frames were taken */
};

struct bench {
    struct fixture *wires;
    struct progress progress;
    struct eth_port port;
    struct user user[USERS]; /* the network device is between the RNICs */
    uint32_t order[16], n_order;
};

/* Makes @f a RoCEv2 packet to @first.0.0.@last, at the MAC of the port or of the group. */
static void make_roce(struct frame *f, uint8_t first, uint8_t last)
{
    const uint8_t dst[] = {first, 0, 0, last};
    uint8_t *ip = f->bytes + ETH_BYTES;
    uint8_t gid[GID_BYTES];

    memset(f->bytes, 0, f->len);
    f->bytes[5] = OWN_MAC;
    gid_from_ipv4(gid, dst);
    if (gid_is_group(gid))
        mac_from_multicast(f->bytes, gid);
    st_be16(f->bytes + ETH_ETHERTYPE_AT, ETHERTYPE_IPV4);
    ip[0] = 0x45;
    st_be16(ip + 2, (uint16_t)(f->len - ETH_BYTES));
    ip[9] = IP_PROTOCOL_UDP;
    memcpy(ip + 16, dst, sizeof(dst));
    st_be16(ip + IPV4_BYTES + 2, UDP_PORT_ROCE);
    st_be16(ip + IPV4_BYTES + 4, (uint16_t)(f->len - ETH_BYTES - IPV4_BYTES));
}

static bool has_frame(const void *ctx)
{
    return ((const struct user *)ctx)->to_send > 0;
}

static struct frame *take_frame(void *ctx)
{
    struct user *u = ctx;
    struct frame *f;

    if (u->to_send == 0)
        return NULL;
    u->to_send--;
    u->order[(*u->n_order)++] = u->number;
    if (!u->to_group)
        return frame(u->wires, 2, OWN_MAC, 0);
    f = frame_of(u->wires, FRAME_LEN, 0, 0);
    make_roce(f, 239, u->group);
    return f;
}

static bool is_address(const uint8_t gid[GID_BYTES], uint8_t first, uint8_t last)
{
    const uint8_t ip[] = {first, 0, 0, last};
    uint8_t expected[GID_BYTES];

    gid_from_ipv4(expected, ip);
    return memcmp(gid, expected, GID_BYTES) == 0;
}

static bool owns(const void *ctx, const uint8_t dst[GID_BYTES])
{
    return is_address(dst, 10, ((const struct user *)ctx)->address);
}

static bool is_member(const void *ctx, const uint8_t dst[GID_BYTES])
{
    return is_address(dst, 239, ((const struct user *)ctx)->group);
}

static void deliver(void *ctx, const struct frame *f)
{
    struct user *u = ctx;

    u->got++;
    u->last_len = f->len;
    memcpy(u->last, f->bytes, f->len < sizeof(u->last) ? f->len : sizeof(u->last));
}

static const struct eth_user_ops rnic = {has_frame, take_frame, owns, is_member, deliver};
static const struct eth_user_ops network_device = {has_frame, take_frame, NULL, NULL, deliver};

static void egress(void *ctx, struct sim_item item)
{
    (void)item;
    eth_port_egress(&((struct bench *)ctx)->port);
}

static void arrive_at_bench(void *ctx, struct sim_item item)
{
    net_arrive(&((struct bench *)ctx)->wires->net, item);
}

static sim_handler *const bench_handlers[SIM_KIND_COUNT] = {
    [SIM_ARRIVE] = arrive_at_bench, [SIM_EGRESS] = egress};

static int set_up_bench(void **state)
{
    static const uint8_t mac[MAC_BYTES] = {0, 0, 0, 0, 0, OWN_MAC};
    struct bench *b = test_calloc(1, sizeof(*b));
    void *wires;

    (void)set_up(&wires);
    b->wires = wires;
    assert_true(sim_init(&b->wires->sim, b->wires->arena, &b->wires->trace, bench_handlers, b));
    eth_port_init(&b->port, &b->wires->net, &b->progress, 0, mac, ETHERNET_MTU_MIN);
    b->port.link_end = join(b->wires, NET_HOST, 1, 0, 0);
    for (uint32_t i = 0; i < USERS; i++) {
        struct user *u = &b->user[i];

        *u = (struct user){.wires = b->wires,
                           .address = (uint8_t)(i + 1),
                           .group = 7,
                           .order = b->order,
                           .n_order = &b->n_order};
        u->number = eth_port_use(&b->port, i == 1 ? &network_device : &rnic, u);
        assert_int_equal(u->number, i);
    }
    *state = b;
    return 0;
}

static int tear_down_bench(void **state)
{
    struct bench *b = *state;
    void *wires = b->wires;

    assert_null(eth_port_invariant(&b->port));
    (void)tear_down(&wires);
    test_free(b);
    return 0;
}

/* Delivers @f to the port.  Exactly the users in @expected, a set of 1 << user, get it. */
static void assert_delivered(struct bench *b, struct frame *f, unsigned expected)
{
    for (uint32_t i = 0; i < USERS; i++)
        b->user[i].got = 0;
    eth_port_deliver(&b->port, f);
    for (uint32_t i = 0; i < USERS; i++)
        assert_int_equal(b->user[i].got, expected >> i & 1);
}

static void an_rnic_gets_what_is_sent_to_its_gid(void **state)
{
    static const struct {
        uint8_t first, last;
        unsigned expected;
    } rows[] = {
        {10, 1, 1u << 0}, {10, 3, 1u << 2}, {10, 2, 1u << 1}, /* the network device owns no GID */
        {10, 9, 1u << 1}, {11, 1, 1u << 1},
    };
    struct bench *b = *state;
    struct frame *f = frame_of(b->wires, FRAME_LEN, 0, 0);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        make_roce(f, rows[i].first, rows[i].last);
        assert_delivered(b, f, rows[i].expected);
    }
    make_roce(f, 10, 1);
    f->bytes[ETH_BYTES + IPV4_BYTES + 3]++; /* another UDP port */
    assert_delivered(b, f, 1u << 1);
    make_roce(f, 10, 1);
    f->bytes[5] = OWN_MAC + 1; /* another host's MAC: nobody */
    assert_delivered(b, f, 0);
    assert_int_equal(b->port.drops[DROP_NOT_FOR_US], 1);
    frame_unref(b->wires->arena, f);
}

static void each_rnic_in_a_group_gets_its_packets(void **state)
{
    struct bench *b = *state;
    struct frame *f = frame_of(b->wires, FRAME_LEN, 0, 0);

    make_roce(f, 239, 7);
    assert_delivered(b, f, 1u << 0 | 1u << 2);
    assert_int_equal(b->port.group_copies, 1); /* one frame, taken twice */
    b->user[0].group = 8;
    assert_delivered(b, f, 1u << 2);
    b->user[2].group = 8;
    assert_delivered(b, f, 1u << 1);
    assert_int_equal(b->port.group_copies, 1);
    make_roce(f, 239, 8);
    f->bytes[5] ^= 1; /* not the MAC of the group */
    assert_delivered(b, f, 1u << 1);
    f->bytes[0] = f->bytes[1] = f->bytes[2] = 0xff; /* another address of many */
    assert_delivered(b, f, 1u << 1);
    frame_unref(b->wires->arena, f);
}

static void users_send_in_turn(void **state)
{
    static const uint32_t expected[] = {0, 1, 2, 0, 2, 0};
    struct bench *b = *state;

    b->user[0].to_send = 3;
    b->user[1].to_send = 1;
    b->user[2].to_send = 2;
    for (uint32_t i = 0; i < USERS; i++)
        eth_port_wait(&b->port, i);
    eth_port_pump(&b->port);
    assert_int_equal(b->n_order, 1); /* the line is busy until the frame has left */
    run(b->wires);
    assert_int_equal(b->n_order, ARRAY_LEN(expected));
    assert_memory_equal(b->order, expected, sizeof(expected));
    assert_int_equal(b->wires->got[1], ARRAY_LEN(expected));
    assert_int_equal(b->port.waiting, 0);
    assert_int_equal(b->port.sent_frames, ARRAY_LEN(expected));
}

/* A user that has a frame and does not wait would never be asked. */
static void a_user_with_a_frame_has_to_wait(void **state)
{
    struct bench *b = *state;

    b->user[2].to_send = 1;
    assert_non_null(eth_port_invariant(&b->port));
    eth_port_pump(&b->port);
    assert_int_equal(b->n_order, 0);
    eth_port_wait(&b->port, 2);
    assert_null(eth_port_invariant(&b->port));
    eth_port_pump(&b->port);
    assert_int_equal(b->n_order, 1);
    run(b->wires);
}

/* The frames that users saw, and those on the wire, of a port with or without a VLAN. */
static void a_port_with_a_vlan_tags_what_it_sends(void **state)
{
    struct bench *b = *state;
    const struct fixture *w = b->wires;
    struct frame *plain = frame(b->wires, 2, OWN_MAC, 0);
    const uint32_t len = plain->len;

    b->port.vid = 0x123;
    b->port.pcp = 5;
    b->user[1].to_send = 1;
    eth_port_wait(&b->port, 1);
    eth_port_pump(&b->port);
    run(b->wires);
    assert_int_equal(b->wires->got[1], 1);
    assert_int_equal(w->last_len, len + VLAN_TAG_BYTES);
    assert_int_equal(b->port.sent_bytes, len + VLAN_TAG_BYTES);
    assert_memory_equal(w->last, plain->bytes, 2 * MAC_BYTES);
    assert_memory_equal(w->last + 2 * MAC_BYTES, "\x81\x00\xa1\x23", VLAN_TAG_BYTES);
    assert_memory_equal(w->last + 16, plain->bytes + 12, len - 12);
    frame_unref(b->wires->arena, plain);
}

static void a_port_takes_its_vlan_and_drops_others(void **state)
{
    static const struct {
        uint32_t port_vid;
        int32_t vid; /* of the frame; -1: no tag */
        bool is_taken;
    } rows[] = {
        {0, -1, true}, {0, 0, true},  {0, 5, false},  {5, 5, true},
        {5, 6, false}, {5, 0, false}, {5, -1, false}, {5, 0x505, false},
    };
    struct bench *b = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const uint64_t dropped = b->port.drops[DROP_OTHER_VLAN];
        const size_t before = arena_live_bytes(b->wires->arena);
        struct frame *f = frame_of(b->wires, FRAME_LEN, 0, 0), *wire;

        make_roce(f, 10, 3);
        wire = rows[i].vid < 0
                   ? frame_ref(f)
                   : frame_tag(b->wires->arena, frame_ref(f), vlan_tci((uint32_t)rows[i].vid, 7));
        b->port.vid = rows[i].port_vid;
        assert_delivered(b, wire, rows[i].is_taken ? 1u << 2 : 0);
        assert_int_equal(b->port.drops[DROP_OTHER_VLAN] - dropped, !rows[i].is_taken);
        if (rows[i].is_taken) {
            assert_int_equal(b->user[2].last_len, FRAME_LEN);
            assert_memory_equal(b->user[2].last, f->bytes, FRAME_LEN);
        } else {
            const struct ev_drop *e = &b->wires->last_ev[EV_drop].u.drop;

            assert_int_equal(e->reason, DROP_OTHER_VLAN);
            assert_int_equal(e->wire_bytes, wire->len);
        }
        frame_unref(b->wires->arena, wire);
        frame_unref(b->wires->arena, f);
        assert_int_equal(arena_live_bytes(b->wires->arena), before);
    }
}

/* A drop tells the length on the wire, also behind the check of the tag. */
static void a_drop_tells_the_length_with_the_tag(void **state)
{
    struct bench *b = *state;
    struct frame *f = frame_of(b->wires, FRAME_LEN, 0, 0), *plain;
    const struct ev_drop *e = &b->wires->last_ev[EV_drop].u.drop;

    make_roce(f, 10, 1);
    f->bytes[5] = OWN_MAC + 1; /* for another station: its VLAN does not matter */
    f = frame_tag(b->wires->arena, f, vlan_tci(6, 0));
    b->port.vid = 5;
    assert_delivered(b, f, 0);
    assert_int_equal(e->reason, DROP_NOT_FOR_US);
    assert_int_equal(e->wire_bytes, FRAME_LEN + VLAN_TAG_BYTES);
    plain = frame_untag(b->wires->arena, f);
    assert_int_equal(plain->len, FRAME_LEN);
    eth_port_drop(&b->port, plain, DROP_BAD_ICRC);
    assert_int_equal(e->reason, DROP_BAD_ICRC);
    assert_int_equal(e->wire_bytes, FRAME_LEN + VLAN_TAG_BYTES);
    frame_unref(b->wires->arena, plain);
    frame_unref(b->wires->arena, f);
}

/* The members of a group get the copy of a frame of their own host, although it has left with a
 * tag.
 */
static void a_frame_to_the_own_group_comes_back_without_its_tag(void **state)
{
    struct bench *b = *state;

    b->port.vid = 5;
    b->user[0].to_send = 1;
    b->user[0].to_group = true;
    eth_port_wait(&b->port, 0);
    eth_port_pump(&b->port);
    run(b->wires);
    assert_int_equal(b->wires->got[1], 1); /* over the line */
    assert_int_equal(b->wires->got[0], 1); /* the copy */
    assert_int_equal(b->wires->last_len, FRAME_LEN + VLAN_TAG_BYTES);
}

/* A packet to a group that ends within its UDP port is none, with a tag or without. */
static void a_cut_packet_is_to_no_group(void **state)
{
    struct bench *b = *state;
    struct frame *f = frame_of(b->wires, FRAME_LEN + VLAN_TAG_BYTES, 0, 0);

    f->len = ETH_BYTES + IPV4_BYTES + 4; /* as far as the port */
    make_roce(f, 239, 7);
    for (uint32_t tag = 0; tag <= VLAN_TAG_BYTES; tag += VLAN_TAG_BYTES) {
        assert_true(eth_port_is_own_group(&b->port, f));
        f->len--;
        assert_false(eth_port_is_own_group(&b->port, f));
        f->len++;
        if (tag == 0)
            f = frame_tag(b->wires->arena, f, vlan_tci(5, 0));
    }
    frame_unref(b->wires->arena, f);
}

#undef T
#define T(f) cmocka_unit_test_setup_teardown(f, set_up_bench, tear_down_bench)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(an_rnic_gets_what_is_sent_to_its_gid),
        T(each_rnic_in_a_group_gets_its_packets),
        T(users_send_in_turn),
        T(a_user_with_a_frame_has_to_wait),
        T(a_port_with_a_vlan_tags_what_it_sends),
        T(a_port_takes_its_vlan_and_drops_others),
        T(a_drop_tells_the_length_with_the_tag),
        T(a_frame_to_the_own_group_comes_back_without_its_tag),
        T(a_cut_packet_is_to_no_group),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
