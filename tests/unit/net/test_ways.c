/* SPDX-License-Identifier: MIT */
/* Other link effects: reordering, truncation, loss in bursts, jitter, and directions that differ.
 */
#include "wires.h"

static struct net_fault made_of(enum fault_kind kind)
{
    struct net_fault fault = any;

    fault.kind = kind;
    return fault;
}

/* 100 ns on the line and 1 us of latency each: the second one arrives at 1200 ns. */
static void a_held_frame_arrives_right_behind_what_overtakes_it(void **state)
{
    struct fixture *f = *state;
    const uint32_t end = join(f, NET_HOST, 1, 0, 0);
    struct net_fault hold = made_of(FLT_REORDER);

    hold.hold_frames = 2;
    hold.delay_ns = 100000;
    add_fault(f, &hold);
    for (uint32_t psn = 0; psn < 3; psn++) {
        struct frame *fr = frame(f, 2, 1, psn);

        fr->bytes[20] = (uint8_t)psn;
        net_send(&f->net, end, fr);
    }
    run(f);
    assert_int_equal(f->got[1], 3);
    assert_int_equal(f->last[20], 0); /* the first is the last */
    assert_int_equal(f->got_at[1], 1300);
    assert_null(f->net.held);
    assert_false(f->net.links[0].at_risk);
}

static void nobody_overtakes_it_and_it_goes_anyway(void **state)
{
    struct fixture *f = *state;
    const uint32_t end = join(f, NET_HOST, 1, 0, 0);
    struct net_fault hold = made_of(FLT_REORDER);
    size_t live;

    hold.hold_frames = 2;
    hold.delay_ns = 5000;
    add_fault(f, &hold);
    net_send(&f->net, end, frame(f, 2, 1, 0));
    run(f);
    assert_int_equal(f->got_at[1], 1100 + 5000);
    /* What remembered it is given back when others pass. */
    live = arena_live_bytes(f->arena);
    net_send(&f->net, end, frame(f, 2, 1, 1));
    net_send(&f->net, end, frame(f, 2, 1, 2));
    run(f);
    assert_int_equal(f->got[1], 3);
    assert_null(f->net.held);
    assert_true(arena_live_bytes(f->arena) < live);
}

/* What would overtake it too late does not make it wait longer. */
static void a_held_frame_is_held_no_longer_than_it_may_be(void **state)
{
    struct fixture *f = *state;
    const uint32_t end = join(f, NET_HOST, 1, 0, 0);
    struct net_fault hold = made_of(FLT_REORDER);

    hold.hold_frames = 1;
    hold.delay_ns = 50;
    add_fault(f, &hold);
    for (uint32_t psn = 0; psn < 2; psn++) {
        struct frame *fr = frame(f, 2, 1, psn);

        fr->bytes[20] = (uint8_t)psn;
        net_send(&f->net, end, fr);
    }
    run(f);
    assert_int_equal(f->got[1], 2);
    assert_int_equal(f->last[20], 1); /* at 1150 ns, and the other one at 1200 */
    assert_int_equal(f->got_at[1], 1200);
    assert_null(f->net.held);
}

/* Frames of the other direction overtake nobody. */
static void only_the_same_direction_overtakes(void **state)
{
    struct fixture *f = *state;
    const uint32_t end = join(f, NET_HOST, 1, 0, 0);
    struct net_fault hold = made_of(FLT_REORDER);

    hold.hold_frames = 1;
    hold.delay_ns = 50000;
    hold.match.field[NET_MATCH_HOST] = 0;
    add_fault(f, &hold);
    net_send(&f->net, end, frame(f, 2, 1, 0));
    net_send(&f->net, end ^ 1, frame(f, 1, 2, 0));
    run(f);
    assert_int_equal(f->got_at[0], 1100);
    assert_int_equal(f->got_at[1], 1100 + 50000);
    net_send(&f->net, end, frame(f, 2, 1, 1)); /* what is left of it goes */
    run(f);
}

static void a_cut_frame_is_shorter_and_one_that_is_no_longer_does_not_match(void **state)
{
    struct fixture *f = *state;
    const uint32_t end = join(f, NET_HOST, 1, 0, 0);
    struct net_fault cut = made_of(FLT_TRUNCATE);
    const struct net_fault *made;

    cut.to_bytes = 70;
    cut.count = UINT32_MAX;
    made = add_fault(f, &cut);
    net_send(&f->net, end, frame(f, 2, 1, 0));
    run(f);
    assert_int_equal(f->last_len, 70);
    net_send(&f->net, end, frame_of(f, 70, 2, 1));
    run(f);
    assert_int_equal(made->seen, 1);
    assert_int_equal(made->hits, 1);
}

/* Frames are lost in runs whose mean length is what was asked for, and nothing is lost between. */
static void bursts_are_as_long_as_asked(void **state)
{
    struct fixture *f = *state;
    const uint32_t end = join(f, NET_HOST, 1, 0, 0);
    struct net_way *way = &f->net.links[0].dir[0].way;
    uint32_t bursts = 0, lost = 0;
    bool was = false;

    way->burst_ppm = 20000;
    way->burst_frames = 5;
    way->burst_loss_ppm = 1000000;
    net_link_judge(&f->net.links[0]);
    for (uint32_t i = 0; i < 20000; i++) {
        const uint64_t before = f->net.links[0].lost;
        bool now;

        net_send(&f->net, end, frame(f, 2, 1, i));
        run(f);
        now = f->net.links[0].lost > before;
        lost += now;
        bursts += now && !was;
        was = now;
    }
    assert_int_equal(f->last_ev[EV_lost].u.lost.by, FLT_BURST);
    assert_string_equal(f->last_ev[EV_lost].u.lost.name.s, EV_BURST);
    assert_in_range(bursts, 300, 420); /* 20000 frames, 2 % begin one, a tenth of them is in one */
    assert_in_range(lost, 4 * bursts, 6 * bursts);
}

static void jitter_keeps_the_order(void **state)
{
    struct fixture *f = *state;
    const uint32_t end = join(f, NET_HOST, 1, 0, 0);
    uint64_t last = 0, most = 0;

    f->net.links[0].dir[0].way.jitter_ns = 3000;
    net_link_judge(&f->net.links[0]);
    for (uint32_t i = 0; i < 50; i++) {
        struct frame *fr = frame(f, 2, 1, i);

        fr->bytes[20] = (uint8_t)i;
        net_send(&f->net, end, fr);
    }
    for (uint32_t i = 0; i < 50; i++) {
        sim_dispatch(&f->sim);
        assert_int_equal(f->last[20], i);
        assert_true(f->got_at[1] >= last);
        last = f->got_at[1];
        most = last - 1100 - 100u * i > most ? last - 1100 - 100u * i : most;
    }
    assert_in_range(most, 1000, 3000);
    net_send(&f->net, end ^ 1, frame(f, 1, 2, 0));
    run(f);
    assert_true(f->got_at[0] > 0);
}

/* A switch floods the frame: the copy on the link of the fault is lost, the other is not. */
static void a_fault_on_a_link_meets_the_copy_there(void **state)
{
    struct fixture *f = *state;
    const uint32_t sw = add_switch(f);
    const uint32_t end = join(f, NET_SWITCH, sw, 0, 0);
    struct net_fault drop = made_of(FLT_DROP);
    const struct net_fault *made;

    (void)join(f, NET_SWITCH, sw, 1, 0);
    (void)join(f, NET_SWITCH, sw, 2, 0);
    drop.aim.link = 2; /* link 1, to host 1 */
    made = add_fault(f, &drop);
    assert_true(f->net.links[1].at_risk);
    net_send(&f->net, end, frame(f, 9, 1, 0));
    run(f);
    assert_int_equal(f->got[1], 0);
    assert_int_equal(f->got[2], 1);
    assert_int_equal(made->hits, 1);
    assert_false(f->net.links[1].at_risk); /* it has done its work */
    net_send(&f->net, end, frame(f, 9, 1, 1));
    run(f);
    assert_int_equal(f->got[1], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_held_frame_arrives_right_behind_what_overtakes_it),
        T(nobody_overtakes_it_and_it_goes_anyway),
        T(a_held_frame_is_held_no_longer_than_it_may_be),
        T(only_the_same_direction_overtakes),
        T(a_cut_frame_is_shorter_and_one_that_is_no_longer_does_not_match),
        T(bursts_are_as_long_as_asked),
        T(jitter_keeps_the_order),
        T(a_fault_on_a_link_meets_the_copy_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
