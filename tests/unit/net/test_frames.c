/* SPDX-License-Identifier: MIT */
/* How frames end: the host that a missing frame is counted for, the event id of a damaged one, and
 * the release of their memory.
 */
#include "emu/facts/enum/drop.h"
#include "emu/wire/vlan.h"
#include "wires.h"

/* From the damage on, frame and record go by the event that tells of it. */
static void a_damaged_frame_is_named_by_the_fault(void **state)
{
    struct fixture *f = *state;
    const uint32_t end = join(f, NET_HOST, 1, 0, 0);
    const struct ev *e = &f->last_ev[EV_fault];
    struct frame *fr = frame(f, 2, 1, 0);
    struct net_fault fault = any;

    fault.kind = FLT_CORRUPT;
    fault.name = ev_str("bad");
    fr->tx = 77;
    add_fault(f, &fault);
    net_send(&f->net, end, fr);
    run(f);
    assert_int_equal(e->u.fault.tx, 77);
    assert_int_equal(e->u.fault.fault, 1);
    assert_int_equal(e->u.fault.by, FLT_CORRUPT);
    assert_string_equal(e->u.fault.name.s, "bad");
    assert_int_not_equal(e->id, 0);
    assert_int_equal(f->last_tx, e->id);
    assert_int_equal(f->kept_tx, e->id);
}

static void expect_lost(const struct fixture *f, enum fault_kind by, uint32_t fault,
                        const char *name)
{
    const struct ev *e = &f->last_ev[EV_lost];

    assert_int_equal(e->u.lost.by, by);
    assert_int_equal(e->u.lost.fault, fault);
    assert_string_equal(e->u.lost.name.s, name);
}

/* The link loses everything.  A fault that only delays is not to blame; one that drops is. */
static void a_lost_frame_names_chance_or_the_fault(void **state)
{
    struct fixture *f = *state;
    const uint32_t end = join(f, NET_HOST, 1, 0, 1000000);
    struct net_fault late = any, drop = any;
    const struct net_fault *made;

    late.kind = FLT_DELAY;
    late.name = ev_str("late");
    late.count = UINT32_MAX;
    drop.name = ev_str("gap");
    drop.count = UINT32_MAX;
    net_send(&f->net, end, frame(f, 2, 1, 0));
    run(f);
    expect_lost(f, FLT_CHANCE, 0, EV_CHANCE);
    add_fault(f, &late);
    net_send(&f->net, end, frame(f, 2, 1, 1));
    run(f);
    expect_lost(f, FLT_CHANCE, 0, EV_CHANCE);
    made = add_fault(f, &drop);
    net_send(&f->net, end, frame(f, 2, 1, 2));
    run(f);
    expect_lost(f, FLT_DROP, 2, "gap");
    net_send(&f->net, end, frame(f, 2, 1, 3));
    net_fault_remove(&f->net, made->handle); /* while the frame is on its way */
    run(f);
    expect_lost(f, FLT_DROP, 2, "a removed fault");
    assert_int_equal(f->net.counts.lost, 4);
    assert_int_equal(f->net.links[0].lost, 4);
}

enum { CALM, DEAF, SWITCHED, OUTSIDE, N_WAYS }; /* links of host 0 */

/* One frame ends in each way that there is: it arrives, is lost, is dropped, or leaves the lab. */
static void send_every_way(struct fixture *f, const uint32_t ends[N_WAYS], uint32_t n_faults)
{
    for (uint32_t psn = 0; psn <= n_faults; psn++)
        net_send(&f->net, ends[CALM], frame(f, 2, 1, psn));
    net_send(&f->net, ends[DEAF], frame(f, 2, 1, 0));
    net_send(&f->net, ends[SWITCHED], frame(f, 9, 1, 0)); /* unknown: to all others */
    net_send(&f->net, ends[SWITCHED], frame(f, 1, 1, 0)); /* back to where it came from */
    net_send(&f->net, ends[SWITCHED], frame_of(f, ETH_BYTES - 1, 2, 1));
    net_send(&f->net, ends[OUTSIDE], frame(f, 9, 1, 0));
    net_ext_in(&f->net, 0, frame_of(f, 76, 1, 1));
    net_ext_in(&f->net, 1, frame_of(f, 76, 1, 1)); /* nothing is plugged in there */
    net_send(&f->net, NET_NO_LINK, frame(f, 2, 1, 0));
    net_loop_back(&f->net, 0, frame(f, 1, 1, 0));
    net_inject(&f->net, 0, frame(f, 1, 1, 0));
    run(f);
}

/* In a first round the switch learns, and the clock gets its room; then nothing more is needed. */
static void frames_that_end_give_their_memory_back(void **state)
{
    static const enum fault_kind kinds[] = {FLT_DROP, FLT_DUPLICATE, FLT_DELAY, FLT_CORRUPT};
    struct fixture *f = *state;
    const uint32_t sw = add_switch(f);
    size_t live_bytes = 0;
    uint32_t ends[N_WAYS];

    ends[CALM] = join(f, NET_HOST, 1, 0, 0);
    ends[DEAF] = join(f, NET_HOST, 1, 0, 1000000);
    ends[SWITCHED] = join(f, NET_SWITCH, sw, 0, 0);
    join(f, NET_SWITCH, sw, 1, 0);
    join(f, NET_SWITCH, sw, 2, 0);
    (void)ext_to_host(f, &ends[OUTSIDE]);
    assert_int_equal(net_ext_add(&f->net, "unplugged"), 1);
    for (uint32_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct net_fault fault = any;

        fault.kind = kinds[i];
        fault.count = UINT32_MAX;
        fault.match.field[NET_MATCH_PSN] = i + 1;
        add_fault(f, &fault);
    }
    for (uint32_t round = 0; round < 4; round++) {
        send_every_way(f, ends, ARRAY_LEN(kinds));
        if (round == 0)
            live_bytes = arena_live_bytes(f->arena);
        assert_int_equal(arena_live_bytes(f->arena), live_bytes);
    }
    assert_int_equal(f->left[0], 4);
}

/* Nothing is left of @a, from the largest blocks to the smallest. */
static void exhaust(struct arena *a)
{
    for (size_t bytes = (size_t)1 << 30; bytes >= 16; bytes /= 2) {
        while (arena_alloc_raw(a, bytes))
            ;
    }
}

/* There is room for the fault, but none for what finds it. */
static void a_fault_that_finds_no_room_is_not_there(void **state)
{
    struct fixture *f = *state;
    const uint32_t end = join(f, NET_HOST, 1, 0, 0);
    struct frame *fr = frame(f, 2, 1, 0);
    uint64_t handle = 0;
    void *room;

    net_fault_remove(&f->net, add_fault(f, &any)->handle); /* the tables have their room */
    room = arena_alloc_raw(f->arena, sizeof(struct net_fault));
    exhaust(f->arena);
    arena_release(f->arena, room, sizeof(struct net_fault));
    assert_int_equal(net_fault_add(&f->net, &any, &handle), RDL_ERR_NOMEM);
    assert_int_equal(handle, 0);
    assert_int_equal(f->net.faults.used, 0);
    assert_int_equal(f->net.faults_made, 1);
    assert_non_null(arena_alloc_raw(f->arena, sizeof(struct net_fault))); /* it is back */
    net_send(&f->net, end, fr);
    run(f);
    assert_int_equal(f->got[1], 1);
}

/* A frame is tagged where it is if it has room and is nobody else's; otherwise a copy is. */
static void a_tag_needs_room_in_a_frame_of_ones_own(void **state)
{
    struct fixture *f = *state;
    const size_t before = arena_live_bytes(f->arena);

    for (uint32_t room = 0; room <= VLAN_TAG_BYTES + 1; room++) {
        struct frame *fr = frame_of(f, 76 + room, 2, 1), *tagged;

        fr->len = 76;
        tagged = frame_tag(f->arena, frame_ref(fr), vlan_tci(5, 0)); /* it is shared */
        assert_int_equal(fr->len, 76);
        assert_false(vlan_is_tagged(fr->bytes, fr->len));
        assert_int_equal(fr->refs, 1);
        assert_int_equal(vlan_vid(tagged->bytes, tagged->len), 5);
        frame_unref(f->arena, tagged);
        tagged = frame_tag(f->arena, fr, vlan_tci(5, 0));
        assert_int_equal(tagged->len, 76 + VLAN_TAG_BYTES);
        assert_true(tagged->cap >= tagged->len);
        assert_true(tagged == fr || room < VLAN_TAG_BYTES);
        frame_unref(f->arena, tagged);
        assert_int_equal(arena_live_bytes(f->arena), before);
    }
}

/* A frame that an adapter does not let out is recorded, and dropped because of its tx. */
static void a_refused_frame_is_recorded_as_sent(void **state)
{
    struct fixture *f = *state;
    const struct ev *e = &f->last_ev[EV_drop];
    struct frame *fr = frame(f, 2, 1, 0);

    fr->tx = 77;
    f->trace.cause = 5;
    net_refuse(&f->net, fr, 1, DROP_SPOOFED);
    assert_int_equal(f->n_kept, 1);
    assert_int_equal(e->cause, 77);
    assert_int_equal(e->u.drop.host, 1);
    assert_int_equal(e->u.drop.reason, DROP_SPOOFED);
    assert_int_equal(f->trace.cause, 5);
    assert_int_equal(f->net.counts.sent, 1);
    assert_int_equal(f->net.counts.dropped, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_damaged_frame_is_named_by_the_fault),  T(a_lost_frame_names_chance_or_the_fault),
        T(frames_that_end_give_their_memory_back), T(a_fault_that_finds_no_room_is_not_there),
        T(a_refused_frame_is_recorded_as_sent),    T(a_tag_needs_room_in_a_frame_of_ones_own),
    };

    return cmocka_run_group_tests_name("frames", tests, NULL, NULL);
}
