/* SPDX-License-Identifier: MIT */
/* The embedded switch between functions that have frames: whose turn it is, and when. */
#include "rnic/switch_rig.h"

#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/vf_state.h"
#include "emu/facts/roce.h"
#include "emu/rnic/eth_port.h"
#include "emu/rnic/turns.h"

#define PORTS    4u   /* port 0 is that of the machine */
#define FRAME_NS 100u /* of a frame with its gap, on the line of 8 Gbit/s */
#define GBIT     UINT64_C(1000000000)
#define MBIT     UINT64_C(1000000)
#define ENDLESS  1000000u
#define AWAY     0x99u /* last byte of a MAC behind the line */
#define ALL      0xffu /* the broadcast MAC instead */
#define TAKEN    256u

struct bench;

struct user {
    struct bench *bench;
    uint32_t number;  /* of the port */
    uint32_t to_send; /* frames */
    uint8_t to;       /* last byte of the MAC that they go to */
};

struct bench {
    struct switch_rig rig; /* first: pass() gets it */
    struct eth_port port[PORTS];
    struct user user[PORTS];
    uint32_t sent[PORTS];
    uint64_t at_ns[TAKEN]; /* time of each frame that the switch took */
    uint32_t n_taken;
    uint32_t passed; /* frames */
};

static uint8_t mac_of(uint32_t number)
{
    return (uint8_t)(0x10 + number);
}

static bool has_frame(const void *ctx)
{
    return ((const struct user *)ctx)->to_send > 0;
}

static struct frame *take_frame(void *ctx)
{
    struct user *u = ctx;
    struct bench *b = u->bench;
    struct frame *f;

    if (u->to_send == 0)
        return NULL;
    u->to_send--;
    b->sent[u->number]++;
    if (b->n_taken < TAKEN)
        b->at_ns[b->n_taken++] = b->rig.wires->trace.now_ns;
    f = frame(b->rig.wires, u->to, mac_of(u->number), 0);
    f->note.host = u->number;
    if (u->to == ALL)
        memset(f->bytes, 0xff, MAC_BYTES);
    return f;
}

static void ignore(void *ctx, const struct frame *f)
{
    (void)ctx;
    (void)f;
}

static const struct eth_user_ops network_device = {has_frame, take_frame, NULL, NULL, ignore};

static void pass(void *world, struct eth_port *p, const struct frame *f)
{
    struct bench *b = world;

    b->passed++;
    eth_port_deliver(p, f);
}

static int set_up_bench(void **state)
{
    struct bench *b = test_calloc(1, sizeof(*b));

    switch_rig_init(&b->rig, PORTS, pass);
    for (uint32_t i = 0; i < PORTS; i++) {
        const uint8_t mac[MAC_BYTES] = {[5] = mac_of(i)};

        eth_port_init(&b->port[i], &b->rig.wires->net, &b->rig.progress, i, mac, ETHERNET_MTU_MIN);
        b->user[i] = (struct user){.bench = b, .number = i, .to = AWAY};
        (void)eth_port_use(&b->port[i], &network_device, &b->user[i]);
        if (i != PORTS - 1)
            eswitch_join(&b->rig.sw, i, &b->port[i]);
    }
    *state = b;
    return 0;
}

static int tear_down_bench(void **state)
{
    struct bench *b = *state;

    switch_rig_done(&b->rig);
    test_free(b);
    return 0;
}

static void join_last(struct bench *b)
{
    eswitch_join(&b->rig.sw, PORTS - 1, &b->port[PORTS - 1]);
}

static void set_rates(struct bench *b, uint32_t number, uint64_t min, uint64_t max)
{
    const struct rdl_vf_settings to = {.min_tx_bps = min, .max_tx_bps = max};

    eswitch_set(&b->rig.sw, number, &to);
}

/* Gives @number so many frames to send. */
static void give(struct bench *b, uint32_t number, uint32_t frames)
{
    b->user[number].to_send = frames;
    eth_port_wait(&b->port[number], 0);
    eth_port_pump(&b->port[number]);
}

/* Runs until @ns, and counts the frames from now on. */
static void run_until(struct bench *b, uint64_t ns)
{
    memset(b->sent, 0, sizeof(b->sent));
    while (sim_next_ns(&b->rig.wires->sim) < ns)
        sim_dispatch(&b->rig.wires->sim);
}

/* Lets nobody have frames any more, and all that are on their way arrive. */
static void finish(struct bench *b)
{
    for (uint32_t i = 0; i < PORTS; i++)
        b->user[i].to_send = 0;
    run(b->rig.wires);
}

static void without_rates_functions_take_turns(void **state)
{
    struct bench *b = *state;

    join_last(b);
    for (uint32_t i = 0; i < PORTS; i++)
        give(b, i, ENDLESS);
    run_until(b, 400 * FRAME_NS);
    for (uint32_t i = 0; i < PORTS; i++)
        assert_in_range(b->sent[i], 99, 100);
    finish(b);
}

/* A function that goes first does not change the order of the others. */
static void what_a_guarantee_leaves_is_shared_in_turns(void **state)
{
    struct bench *b = *state;

    join_last(b);
    set_rates(b, 1, 4 * GBIT, 0);
    give(b, 2, ENDLESS);
    give(b, 1, ENDLESS);
    give(b, 3, ENDLESS);
    run_until(b, 400 * FRAME_NS);
    assert_in_range(b->sent[1], 199, 230);
    assert_in_range(b->sent[2], 84, 101);
    assert_in_range(b->sent[3], 84, 101);
    finish(b);
}

/* A function that waits for its maximum keeps its place: it goes when its time has come. */
static void a_function_gets_its_maximum_on_a_full_line(void **state)
{
    struct bench *b = *state;

    join_last(b);
    set_rates(b, 1, 0, 8 * GBIT / 10 * 3); /* a frame in 334 ns, and the others take 300 ns */
    for (uint32_t i = 1; i < PORTS; i++)
        give(b, i, ENDLESS);
    run_until(b, 400 * FRAME_NS);
    assert_in_range(b->sent[1], 99, 120); /* a frame in 400 ns */
    finish(b);
}

static void a_silent_function_saves_no_guarantee(void **state)
{
    struct bench *b = *state;

    set_rates(b, 1, 4 * GBIT, 0);
    give(b, 1, 1);
    run(b->rig.wires);
    give(b, 2, ENDLESS);
    run_until(b, 100000);
    give(b, 1, ENDLESS);
    run_until(b, 100000 + 40 * FRAME_NS);
    assert_in_range(b->sent[1], 18, 22);
    assert_in_range(b->sent[2], 18, 22);
    finish(b);
}

/* The line was free, and the function has sent far more than its guarantee: that is no debt. */
static void a_guarantee_holds_for_a_function_that_had_more(void **state)
{
    struct bench *b = *state;

    join_last(b);
    set_rates(b, 1, 4 * GBIT, 0);
    give(b, 1, ENDLESS);
    run_until(b, 100000);
    assert_in_range(b->sent[1], 999, 1001);
    give(b, 0, ENDLESS);
    give(b, 2, ENDLESS);
    give(b, 3, ENDLESS);
    run_until(b, 100000 + 100 * FRAME_NS);
    assert_in_range(b->sent[1], 49, 60);
    finish(b);
}

/* Three guarantees that the line cannot keep all: each falls behind.  Later a function may make up
 * for that, but no faster than its maximum.
 */
static void a_guarantee_keeps_to_the_maximum(void **state)
{
    struct bench *b = *state;

    join_last(b);
    set_rates(b, 1, 4 * GBIT, 4 * GBIT);
    set_rates(b, 2, 8 * GBIT, 0);
    set_rates(b, 3, 8 * GBIT, 0);
    for (uint32_t i = 1; i < PORTS; i++)
        give(b, i, ENDLESS);
    run_until(b, 300 * FRAME_NS);
    b->user[2].to_send = b->user[3].to_send = 0;
    give(b, 0, ENDLESS); /* the line is never idle */
    run_until(b, 400 * FRAME_NS);
    assert_in_range(b->sent[1], 49, 52);
    finish(b);
}

static void a_maximum_counts_the_gap(void **state)
{
    struct bench *b = *state;

    set_rates(b, 1, 0, 800 * MBIT);
    give(b, 1, 3);
    run(b->rig.wires);
    assert_int_equal(b->n_taken, 3);
    assert_int_equal(b->at_ns[1] - b->at_ns[0], 10 * FRAME_NS);
    assert_int_equal(b->at_ns[2] - b->at_ns[1], 10 * FRAME_NS);
}

/* A message of 2 GiB in packets of 256 bytes that goes whole is charged at once.  Its bits, times
 * 10^9, do not fit in 64.
 */
static void a_long_message_has_its_time(void **state)
{
    struct bench *b = *state;
    struct vport *v = &b->rig.sw.ports[1];
    const uint32_t frames = 1u << 23;
    const uint64_t bytes = UINT64_C(314) * frames;
    const uint64_t bits = 8 * (bytes + (uint64_t)frames * NET_GAP_BYTES);

    set_rates(b, 1, 300 * MBIT, 800 * MBIT);
    turns_charge(&b->rig.sw, v, bytes, frames);
    assert_int_equal(v->next_ns, bits / 4 * 5);        /* 1.25 ns for a bit */
    assert_int_equal(v->paid_ns, (bits * 10 + 2) / 3); /* 3.33 ns, rounded up */
    turns_charge(&b->rig.sw, v, UINT64_C(5) << 30, 1); /* more bytes than 32 bits count */
    assert_int_equal(v->next_ns, (UINT64_C(5) << 30) * 10 + NET_GAP_BYTES * 10);
}

/* A wait for the old maximum ends with it. */
static void a_new_maximum_counts_from_now_on(void **state)
{
    struct bench *b = *state;

    set_rates(b, 1, 0, MBIT); /* 800 us for a frame */
    give(b, 1, 4);
    run_until(b, 50000);
    assert_int_equal(b->n_taken, 1);
    set_rates(b, 1, 0, 4 * GBIT);
    run_until(b, 52000);
    assert_int_equal(b->n_taken, 4);
    finish(b);
}

static void frames_between_functions_follow_each_other_in_100_ns(void **state)
{
    struct bench *b = *state;

    b->user[1].to = mac_of(2);
    give(b, 1, 3);
    run(b->rig.wires);
    assert_int_equal(b->n_taken, 3);
    assert_int_equal(b->at_ns[1] - b->at_ns[0], NET_LOOPBACK_NS);
    assert_int_equal(b->at_ns[2] - b->at_ns[1], NET_LOOPBACK_NS);
    assert_int_equal(b->rig.sw.ports[1].counts.local_frames, 3);
    assert_int_equal(b->rig.sw.sent_frames, 0);
}

/* A guarantee counts from the time at which it is set. */
static void a_new_guarantee_counts_from_now_on(void **state)
{
    struct bench *b = *state;

    give(b, 1, ENDLESS);
    give(b, 2, ENDLESS);
    run_until(b, 100000);
    set_rates(b, 1, 4 * GBIT, 0);
    run_until(b, 100000 + 40 * FRAME_NS);
    assert_in_range(b->sent[1], 18, 22);
    finish(b);
}

/* Sends a frame to all from port @from.  Returns the number of copies that stay in the machine. */
static uint32_t copies_of_broadcast(struct bench *b, uint32_t from)
{
    const uint32_t before = b->rig.wires->got[0];

    b->user[from].to = ALL;
    give(b, from, 1);
    run(b->rig.wires);
    return b->rig.wires->got[0] - before;
}

static void a_broadcast_stays_if_somebody_takes_it(void **state)
{
    const struct rdl_vf_settings in_5 = {.vlan = 5}, is_down = {.state = VF_disable}, plain = {0};
    struct bench *b = *state;

    assert_int_equal(copies_of_broadcast(b, 1), 1);
    eswitch_leave(&b->port[2]);
    assert_int_equal(copies_of_broadcast(b, 0), 1); /* for the guest */
    assert_int_equal(copies_of_broadcast(b, 1), 1); /* for the machine */
    eswitch_set(&b->rig.sw, 1, &in_5);
    assert_int_equal(copies_of_broadcast(b, 0), 0); /* the guest is in another VLAN */
    eswitch_set(&b->rig.sw, 1, &is_down);
    assert_int_equal(copies_of_broadcast(b, 0), 0);
    eswitch_set(&b->rig.sw, 1, &plain);
    assert_int_equal(copies_of_broadcast(b, 0), 1);
    eswitch_leave(&b->port[1]);
    assert_int_equal(copies_of_broadcast(b, 0), 0);
    assert_int_equal(net_drops_sum(b->rig.sw.drops), 0);
    assert_int_equal(b->rig.wires->got[1], 7); /* all left by the cable */
}

static void bytes_are_counted_with_the_tag(void **state)
{
    struct bench *b = *state;

    b->port[PORTS - 1].vid = 9;
    join_last(b);
    give(b, PORTS - 1, 1);
    run(b->rig.wires);
    assert_int_equal(b->port[PORTS - 1].sent_bytes, 76 + VLAN_TAG_BYTES);
    assert_int_equal(b->rig.sw.sent_bytes, 76 + VLAN_TAG_BYTES);
}

static void the_vlan_of_a_guest_comes_back(void **state)
{
    const struct rdl_vf_settings in_5 = {.vlan = 5, .qos = 3}, in_none = {.spoofchk = true};
    struct bench *b = *state;
    struct eth_port *p = &b->port[PORTS - 1];

    p->vid = 9;
    p->pcp = 2;
    join_last(b);
    assert_true(p->vid == 9 && p->pcp == 2);
    eswitch_set(&b->rig.sw, PORTS - 1, &in_5);
    assert_true(p->vid == 5 && p->pcp == 3);
    eswitch_set(&b->rig.sw, PORTS - 1, &in_none);
    assert_true(p->vid == 9 && p->pcp == 2);
}

static void a_frame_to_a_guest_that_is_gone_finds_nobody(void **state)
{
    struct bench *b = *state;
    struct frame *f = frame(b->rig.wires, mac_of(PORTS - 1), AWAY, 0);

    join_last(b);
    eswitch_leave(&b->port[PORTS - 1]);
    eswitch_deliver(&b->rig.sw, f);
    assert_int_equal(b->rig.sw.drops[DROP_NOT_FOR_US], 1);
    assert_int_equal(b->passed, 0);
    frame_unref(b->rig.wires->arena, f);
}

static void a_drop_says_whether_a_function_is_there(void **state)
{
    const struct rdl_vf_settings off = {.state = VF_disable};
    struct bench *b = *state;
    struct frame *f = frame(b->rig.wires, mac_of(1), AWAY, 0);

    eswitch_set(&b->rig.sw, 1, &off);
    eswitch_deliver(&b->rig.sw, f);
    assert_int_equal(b->rig.sw.drops[DROP_NO_ROUTE], 1);
    assert_int_equal(b->rig.wires->last_ev[EV_drop].u.drop.reason, DROP_NO_ROUTE);
    f->bytes[5] = AWAY;
    eswitch_deliver(&b->rig.sw, f);
    assert_int_equal(b->rig.sw.drops[DROP_NOT_FOR_US], 1);
    frame_unref(b->rig.wires->arena, f);
}

/* A function whose link is up without the cable: what is for the line is dropped, and not sent. */
static void without_a_cable_nothing_is_sent_to_it(void **state)
{
    const struct rdl_vf_settings up = {.state = VF_enable};
    struct bench *b = *state;

    b->rig.sw.link_end = NET_NO_LINK;
    eswitch_set(&b->rig.sw, 1, &up);
    give(b, 1, 2);
    run(b->rig.wires);
    assert_int_equal(b->port[1].sent_frames, 2);
    assert_int_equal(b->port[1].tx_drops[DROP_NO_ROUTE], 2);
    assert_int_equal(b->rig.sw.ports[1].counts.tx_dropped, 2);
    assert_int_equal(b->rig.sw.sent_frames, 0);
    assert_int_equal(b->rig.sw.sent_bytes, 0);
}

#undef T
#define T(f) cmocka_unit_test_setup_teardown(f, set_up_bench, tear_down_bench)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(without_rates_functions_take_turns),
        T(what_a_guarantee_leaves_is_shared_in_turns),
        T(a_function_gets_its_maximum_on_a_full_line),
        T(a_silent_function_saves_no_guarantee),
        T(a_guarantee_holds_for_a_function_that_had_more),
        T(a_guarantee_keeps_to_the_maximum),
        T(a_maximum_counts_the_gap),
        T(a_long_message_has_its_time),
        T(a_new_maximum_counts_from_now_on),
        T(frames_between_functions_follow_each_other_in_100_ns),
        T(a_new_guarantee_counts_from_now_on),
        T(a_broadcast_stays_if_somebody_takes_it),
        T(bytes_are_counted_with_the_tag),
        T(the_vlan_of_a_guest_comes_back),
        T(a_frame_to_a_guest_that_is_gone_finds_nobody),
        T(a_drop_says_whether_a_function_is_there),
        T(without_a_cable_nothing_is_sent_to_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
