/* SPDX-License-Identifier: MIT */
/* Packed rings: positions and wrap counters, what each side writes and where, event suppression of
 * both sides.  test_vq_packed_hostile.c tests malformed rings.
 */
#include <stddef.h>

/* Linux's header has two of our names. */
#define vring            linux_vring
#define vring_need_event linux_need_event
#include <linux/virtio_ring.h>
#undef vring
#undef vring_need_event

#include "packed_rings.h"

#include "emu/base/prng.h"
#include "emu/virtio/vq_driver.h"

/* What Linux's header says of the format. */
static void constants_are_those_of_linux(void **state)
{
    (void)state;
    assert_int_equal(VRING_NEXT, VRING_DESC_F_NEXT);
    assert_int_equal(VRING_WRITE, VRING_DESC_F_WRITE);
    assert_int_equal(VRING_INDIRECT, VRING_DESC_F_INDIRECT);
    assert_int_equal(VRING_PACKED_AVAIL, 1u << VRING_PACKED_DESC_F_AVAIL);
    assert_int_equal(VRING_PACKED_USED, 1u << VRING_PACKED_DESC_F_USED);
    assert_int_equal(VRING_EVENT_ENABLE, VRING_PACKED_EVENT_FLAG_ENABLE);
    assert_int_equal(VRING_EVENT_DISABLE, VRING_PACKED_EVENT_FLAG_DISABLE);
    assert_int_equal(VRING_EVENT_DESC, VRING_PACKED_EVENT_FLAG_DESC);
    assert_int_equal(VRING_EVENT_WRAP, 1u << VRING_PACKED_EVENT_F_WRAP_CTR);
    assert_int_equal(VRING_DESC_BYTES, sizeof(struct vring_packed_desc));
    assert_int_equal(VRING_EVENT_BYTES, sizeof(struct vring_packed_desc_event));
    assert_int_equal(offsetof(struct vring_packed_desc, len), 8);
    assert_int_equal(offsetof(struct vring_packed_desc, id), 12);
    assert_int_equal(offsetof(struct vring_packed_desc, flags), 14);
    assert_int_equal(offsetof(struct vring_packed_desc_event, off_wrap), 0);
    assert_int_equal(offsetof(struct vring_packed_desc_event, flags), 2);
    assert_int_equal(VRING_AVAIL_NO_INTERRUPT, VRING_AVAIL_F_NO_INTERRUPT);
    assert_int_equal(VRING_USED_NO_NOTIFY, VRING_USED_F_NO_NOTIFY);
}

/* Of the split format, too: where vring_init() puts the parts, and vring_need_event(). */
static void the_split_format_is_that_of_linux(void **state)
{
    struct prng rng = prng_stream(5, 0);

    (void)state;
    for (uint32_t size = 1; size <= VRING_SIZE_MAX; size *= 2) {
        const struct vring ours = vring_place(0x1000, size, false);
        struct linux_vring theirs;

        vring_init(&theirs, size, (void *)(uintptr_t)0x1000, VRING_USED_ALIGN);
        assert_int_equal(ours.desc, (uintptr_t)theirs.desc);
        assert_int_equal(ours.avail, (uintptr_t)theirs.avail);
        assert_int_equal(ours.used, (uintptr_t)theirs.used);
        assert_int_equal(vring_used_event_at(&ours), (uintptr_t)&vring_used_event(&theirs));
        assert_int_equal(vring_avail_event_at(&ours), (uintptr_t)&vring_avail_event(&theirs));
        assert_int_equal(vring_bytes(size, false), vring_size(size, VRING_USED_ALIGN));
    }
    for (unsigned i = 0; i < 100000; i++) {
        const uint64_t all = prng_next(&rng);
        const uint16_t event = (uint16_t)all, old = (uint16_t)(all >> 16);
        const uint16_t now = (uint16_t)(all >> 62 ? all >> 32 : old + (all >> 32) % 4);

        assert_int_equal(vring_need_event(event, now, old), linux_need_event(event, now, old));
    }
}

/* Linux asks the same of a packed ring by carrying a place of the lap before over the end. */
static bool linux_packed_passed(struct vring_pos event, struct vring_pos now, uint16_t n,
                                uint16_t size)
{
    const uint16_t at = (uint16_t)(event.wrap != now.wrap ? event.at - size : event.at);

    return linux_need_event(at, now.at, (uint16_t)(now.at - n));
}

static void places_are_passed_as_in_linux(void **state)
{
    (void)state;
    for (uint16_t size = 1; size <= 7; size++) {
        for (uint32_t all = 0; all < 4u * size * size * (size + 1u); all++) {
            const uint32_t places = 2u * size;
            const uint32_t now_turn = all % places, event_turn = all / places % places;
            const uint16_t n = (uint16_t)(all / places / places);
            const struct vring_pos now = {(uint16_t)(now_turn % size), now_turn < size};
            const struct vring_pos event = {(uint16_t)(event_turn % size), event_turn < size};
            const bool is_ahead = event.wrap == now.wrap && event.at >= now.at;

            /* One that is still to come in this lap was not passed: two laps ago nobody asks. */
            assert_int_equal(vring_packed_passed(event, now, n, size),
                             !is_ahead && linux_packed_passed(event, now, n, size));
        }
    }
}

static void a_place_goes_round_and_its_counter_changes(void **state)
{
    struct vring_pos p = VRING_POS_START;

    (void)state;
    for (unsigned lap = 0; lap < 4; lap++) {
        for (uint32_t i = 0; i < QUEUE_SIZE; i++) {
            assert_int_equal(p.at, i);
            assert_int_equal(p.wrap, lap % 2 == 0);
            assert_true(vring_is_avail(vring_avail_flags(p), p));
            assert_false(vring_is_used(vring_avail_flags(p), p));
            assert_true(vring_is_used(vring_used_flags(p), p));
            assert_false(vring_is_avail(vring_used_flags(p), p));
            p = vring_pos_after(p, QUEUE_SIZE, QUEUE_SIZE); /* what is there from the lap before */
            assert_false(
                vring_is_avail(vring_avail_flags(p),
                               vring_event_pos(vring_event_of((struct vring_pos){p.at, !p.wrap}))));
            p = vring_pos_after(p, QUEUE_SIZE, QUEUE_SIZE);
            p = vring_pos_after(p, 1, QUEUE_SIZE);
        }
    }
    p = vring_pos_after((struct vring_pos){32767, true}, 32768, 32768);
    assert_int_equal(p.at, 32767);
    assert_false(p.wrap);
}

static void an_event_is_passed_by_the_slots_that_were_used(void **state)
{
    static const struct {
        struct vring_pos event, now;
        uint32_t n;
        bool want;
    } rows[] = {
        {{0, true}, {1, true}, 1, true},    /* the first slot, which is waited for */
        {{1, true}, {1, true}, 1, false},   /* one further */
        {{0, true}, {2, true}, 1, false},   /* passed before */
        {{2, true}, {4, true}, 3, true},    /* in the middle of a batch, or of a chain */
        {{4, true}, {0, false}, 1, true},   /* the last slot of a lap */
        {{4, false}, {0, false}, 1, false}, /* that of the next lap */
        {{0, false}, {1, false}, 2, true},  /* over the wrap */
        {{0, true}, {1, false}, 2, false},  /* that of the lap before */
        {{0, true}, {1, false}, 6, true},   /* a whole lap ago */
        {{1, true}, {1, false}, 5, true},
        {{1, false}, {1, false}, 9, false},  /* all but two laps */
        {{1, false}, {1, false}, 10, true},  /* two laps pass everything */
        {{3, true}, {1, false}, 1000, true}, /* more than that, too */
        {{3, true}, {1, false}, 0, false},   /* nothing moved */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(vring_packed_passed(rows[i].event, rows[i].now, rows[i].n, QUEUE_SIZE),
                         rows[i].want);
}

static void parts_of_a_packed_ring_do_not_touch(void **state)
{
    (void)state;
    for (uint32_t size = 1; size <= VRING_SIZE_MAX; size += 1 + size / 3) {
        const struct vring r = vring_place(RING_AT, size, true);
        struct vring odd = r;

        assert_true(vring_is_sound(&r));
        assert_int_equal(r.avail, vring_desc_at(&r, size));
        assert_int_equal(r.used, r.avail + VRING_EVENT_BYTES);
        assert_int_equal(r.used + VRING_EVENT_BYTES, RING_AT + vring_bytes(size, true));
        odd.avail += 2; /* enough for a split ring */
        assert_false(vring_is_sound(&odd));
        odd.packed = false;
        assert_true(vring_is_sound(&odd));
    }
}

/* Byte for byte what each side writes. */
static void both_sides_write_what_the_format_says(void **state)
{
    struct rings *r = *state;
    const struct vqd_seg segs[] = {{BUFFER_AT, 3}, {BUFFER_AT + 100, 7}};
    struct vqd d = {0};
    struct vq_chain c;
    uint16_t id;
    uint32_t len;

    assert_true(vqd_init(&d, r->arena, &r->ram, r->vq.ring, true));
    assert_true(vqd_add(&d, &r->ram, segs, 1, 1, &id));
    assert_true(vqd_add(&d, &r->ram, segs, 1, 0, &id));
    assert_int_equal(slot_flags(r, 0), 0); /* hides all that is behind it */
    assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_EMPTY);
    assert_int_equal(vq_avail_count(&r->vq, &r->ram), 0);
    vqd_publish(&d, &r->ram);
    assert_int_equal(slot_flags(r, 0), A | N);
    assert_int_equal(slot_flags(r, 1), A | W);
    assert_int_equal(slot_flags(r, 2), A);
    assert_int_equal(vq_avail_count(&r->vq, &r->ram), 2);
    assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_GOT);
    assert_int_equal(c.head, 0);
    assert_int_equal(c.readable_bytes, 3);
    assert_int_equal(c.writable_bytes, 7);
    assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_GOT);
    assert_int_equal(c.head, 1);

    /* The second comes back first: where the first one lay. */
    assert_true(vq_push(&r->vq, &r->ram, 1, 0));
    assert_int_equal(slot_flags(r, 0), A | U);
    assert_int_equal(peek16(r, vring_desc_at(&d.ring, 0) + 12), 1);
    assert_true(vq_push(&r->vq, &r->ram, 0, 6));
    assert_int_equal(slot_flags(r, 1), A | U | W);
    assert_int_equal(vqd_used_count(&d, &r->ram), 2);
    assert_int_equal(vqd_take_used(&d, &r->ram, &id, &len), VQD_GOT);
    assert_int_equal(id, 1);
    assert_int_equal(len, 0);
    assert_int_equal(vqd_take_used(&d, &r->ram, &id, &len), VQD_GOT);
    assert_int_equal(id, 0);
    assert_int_equal(len, 6);
    assert_int_equal(vqd_take_used(&d, &r->ram, &id, &len), VQD_NONE);

    /* A chain over the end of the ring: the flags of its second lap are the others. */
    assert_true(vqd_add(&d, &r->ram, segs, 1, 0, &id));
    assert_true(vqd_add(&d, &r->ram, segs, 1, 1, &id));
    vqd_publish(&d, &r->ram);
    assert_int_equal(slot_flags(r, 4), A | N);
    assert_int_equal(slot_flags(r, 0), U | W);
    assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_GOT);
    assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_GOT);
    assert_int_equal(c.n_readable + c.n_writable, 2);
    assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_EMPTY);
    vqd_done(&d, r->arena);
}

static void notifications_by_flags_and_by_place(void **state)
{
    struct rings *r = *state;
    const struct vqd_seg seg = {BUFFER_AT, 8};
    struct vq_chain c;
    uint16_t id;
    uint32_t len;

    for (unsigned event_idx = 0; event_idx < 2; event_idx++) {
        struct vqd d = {0};

        rings_start(r, QUEUE_SIZE);
        r->vq.event_idx = event_idx;
        assert_true(vqd_init(&d, r->arena, &r->ram, r->vq.ring, event_idx));
        assert_false(vqd_needs_kick(&d, &r->ram)); /* nothing to say */
        for (unsigned i = 0; i < 3 * QUEUE_SIZE; i++) {
            assert_true(vqd_add(&d, &r->ram, &seg, 0, 1, &id));
            vqd_publish(&d, &r->ram);
            assert_true(vqd_needs_kick(&d, &r->ram));
            assert_true(vqd_add(&d, &r->ram, &seg, 0, 1, &id));
            vqd_publish(&d, &r->ram);
            /* By place: the device has not asked again.  By flags: it never stopped asking; but of
             * a device that has not looked at all nobody knows that.
             */
            assert_int_equal(vqd_needs_kick(&d, &r->ram), i == 0 || !event_idx);

            vqd_want_interrupt(&d, &r->ram, i % 2);
            while (vq_pop(&r->vq, &r->ram, &c) == VQ_GOT)
                assert_true(vq_push(&r->vq, &r->ram, c.head, 8));
            assert_int_equal(vq_wants_interrupt(&r->vq, &r->ram), i % 2);
            assert_false(vq_wants_interrupt(&r->vq, &r->ram)); /* said already */
            /* From the next one on, although two wait that were not taken. */
            vqd_want_interrupt(&d, &r->ram, true);
            assert_true(vqd_add(&d, &r->ram, &seg, 0, 1, &id));
            vqd_publish(&d, &r->ram);
            assert_true(vqd_needs_kick(&d, &r->ram));
            assert_false(vq_wants_interrupt(&r->vq, &r->ram));
            assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_GOT);
            assert_true(vq_push(&r->vq, &r->ram, c.head, 8));
            assert_true(vq_wants_interrupt(&r->vq, &r->ram));
            while (vqd_take_used(&d, &r->ram, &id, &len) == VQD_GOT)
                ;
            assert_int_equal(d.n_free, QUEUE_SIZE);
            assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_EMPTY); /* asks to be told again */
        }
        vq_refuse_kicks(&r->vq, &r->ram);
        for (unsigned i = 0; i < 70000; i++) { /* for ever: a split ring cannot promise that */
            assert_true(vqd_add(&d, &r->ram, &seg, 0, 1, &id));
            vqd_publish(&d, &r->ram);
            assert_false(vqd_needs_kick(&d, &r->ram));
            assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_GOT);
            assert_true(vq_push(&r->vq, &r->ram, c.head, 8));
            assert_int_equal(vqd_take_used(&d, &r->ram, &id, &len), VQD_GOT);
        }
        assert_int_equal(r->vq.used_idx, d.last_used);
        vqd_done(&d, r->arena);
    }
}

/* Who wants to know how many there are is told of the next one, however many wait. */
static void a_device_that_counts_is_told_of_the_next_one(void **state)
{
    struct rings *r = *state;
    const struct vqd_seg segs[] = {{BUFFER_AT, 8}, {BUFFER_AT, 8}};
    struct vqd d = {0};
    struct vq_chain c;
    uint16_t id;

    assert_true(vqd_init(&d, r->arena, &r->ram, r->vq.ring, true));
    assert_true(vqd_add(&d, &r->ram, segs, 1, 1, &id));
    assert_true(vqd_add(&d, &r->ram, segs, 1, 0, &id));
    vqd_publish(&d, &r->ram);
    (void)vqd_needs_kick(&d, &r->ram);
    assert_int_equal(vq_avail_count(&r->vq, &r->ram), 2);
    vq_want_kick(&r->vq, &r->ram);
    assert_int_equal(peek16(r, r->vq.ring.used), VRING_EVENT_WRAP | 3);
    assert_int_equal(peek16(r, r->vq.ring.used + 2), VRING_EVENT_DESC);
    assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_GOT);
    assert_int_equal(vq_avail_count(&r->vq, &r->ram), 1);
    assert_true(vqd_add(&d, &r->ram, segs, 1, 0, &id));
    vqd_publish(&d, &r->ram);
    assert_true(vqd_needs_kick(&d, &r->ram));
    vqd_done(&d, r->arena);
}

/* A device may leave there whatever was there. */
static void a_length_counts_with_the_write_flag_alone(void **state)
{
    static const struct {
        unsigned flags;
        uint32_t len;
    } rows[] = {{A | U, 0}, {A | U | W, 77}};
    struct rings *r = *state;
    const struct vqd_seg seg = {BUFFER_AT, 128};
    struct vqd d = {0};

    assert_true(vqd_init(&d, r->arena, &r->ram, r->vq.ring, true));
    for (uint32_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint16_t id;
        uint32_t len;

        assert_true(vqd_add(&d, &r->ram, &seg, 0, 1, &id));
        vqd_publish(&d, &r->ram);
        poke_slot(r, i, BUFFER_AT, 77, id, rows[i].flags);
        assert_int_equal(vqd_take_used(&d, &r->ram, &id, &len), VQD_GOT);
        assert_int_equal(len, rows[i].len);
    }
    vqd_done(&d, r->arena);
}

/* A device that gives back what it was not given. */
static void a_lying_device_breaks_only_the_ring(void **state)
{
    static const uint16_t ids[] = {1, QUEUE_SIZE, 0xffff};
    struct rings *r = *state;
    const struct vqd_seg seg = {BUFFER_AT, 8};

    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        struct vqd d = {0};
        uint16_t id;
        uint32_t len;

        assert_true(vqd_init(&d, r->arena, &r->ram, r->vq.ring, true));
        assert_true(vqd_add(&d, &r->ram, &seg, 1, 0, &id));
        vqd_publish(&d, &r->ram);
        poke_slot(r, 0, BUFFER_AT, 8, ids[i], A | U);
        assert_int_equal(vqd_used_count(&d, &r->ram), 1);
        assert_int_equal(vqd_take_used(&d, &r->ram, &id, &len), VQD_BROKEN);
        assert_true(d.broken);
        assert_false(vqd_add(&d, &r->ram, &seg, 1, 0, &id));
        assert_int_equal(vqd_take_used(&d, &r->ram, &id, &len), VQD_BROKEN);
        vqd_done(&d, r->arena);
    }
}

/* A device area that cannot be does not silence the driver. */
static void a_driver_kicks_a_device_that_asks_for_nonsense(void **state)
{
    static const uint16_t areas[][2] = {{QUEUE_SIZE, VRING_EVENT_DESC}, {0, VRING_EVENT_FLAGS}};
    struct rings *r = *state;
    const struct vqd_seg seg = {BUFFER_AT, 8};
    uint16_t id;

    for (size_t i = 0; i < ARRAY_LEN(areas); i++) {
        struct vqd d = {0};

        assert_true(vqd_init(&d, r->arena, &r->ram, r->vq.ring, true));
        assert_true(vqd_add(&d, &r->ram, &seg, 1, 0, &id));
        vqd_publish(&d, &r->ram);
        poke16(r, d.ring.used, areas[i][0]);
        poke16(r, d.ring.used + 2, areas[i][1]);
        assert_true(vqd_needs_kick(&d, &r->ram));
        vqd_done(&d, r->arena);
    }
}

/* One descriptor of the ring for a request of two buffers, in both formats. */
static void a_table_takes_one_descriptor(void **state)
{
    struct rings *r = *state;
    const struct vqd_seg segs[] = {{BUFFER_AT, 3}, {BUFFER_AT + 100, 7}};

    for (unsigned packed = 0; packed < 2; packed++) {
        struct vqd d = {0};
        struct vq_chain c;
        uint16_t id;
        uint32_t len;

        r->packed = packed;
        rings_start(r, 1);
        assert_true(vqd_init(&d, r->arena, &r->ram, r->vq.ring, true));
        assert_false(vqd_add(&d, &r->ram, segs, 1, 1, &id));
        d.tables_gpa = TABLE_AT;
        for (unsigned i = 0; i < 5; i++) {
            assert_true(vqd_add(&d, &r->ram, segs, 1, 1, &id));
            vqd_publish(&d, &r->ram);
            assert_int_equal(d.n_free, 0);
            assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_GOT);
            assert_int_equal(c.segs[0].gpa, BUFFER_AT);
            assert_int_equal(c.segs[1].gpa, BUFFER_AT + 100);
            assert_int_equal(c.readable_bytes, 3);
            assert_int_equal(c.writable_bytes, 7);
            assert_true(vq_push(&r->vq, &r->ram, c.head, 7));
            assert_int_equal(vqd_take_used(&d, &r->ram, &id, &len), VQD_GOT);
            assert_int_equal(len, 7);
        }
        vqd_done(&d, r->arena);
    }
}

/* Without RING_RESET: both sides forget, the ring stays where it is. */
static void a_ring_that_is_forgotten_begins_anew(void **state)
{
    struct rings *r = *state;
    const struct vqd_seg seg = {BUFFER_AT, 8};

    for (unsigned packed = 0; packed < 2; packed++) {
        struct vqd d = {0};
        struct vq_chain c;
        uint16_t id;

        r->packed = packed;
        rings_start(r, 8);
        for (unsigned i = 0; i < 5; i++) {
            assert_true(vqd_init(&d, r->arena, &r->ram, r->vq.ring, true));
            for (unsigned k = 0; k < 3 + i; k++)
                assert_true(vqd_add(&d, &r->ram, &seg, 1, 0, &id));
            vqd_publish(&d, &r->ram);
            assert_true(vqd_needs_kick(&d, &r->ram));
            assert_int_equal(vq_avail_count(&r->vq, &r->ram), 3 + i);
            assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_GOT);
            assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_GOT);
            assert_true(vq_push(&r->vq, &r->ram, c.head, 0)); /* one is never given back */
            vq_restart(&r->vq);
            assert_int_equal(r->vq.broken, VQE_NONE);
        }
        assert_true(vqd_clear_ring(&r->ram, &d.ring));
        assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_EMPTY);
        vqd_done(&d, r->arena);
    }
}

#define WITH_RINGS(test) cmocka_unit_test_setup_teardown(test, set_up, rings_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_those_of_linux),
        cmocka_unit_test(the_split_format_is_that_of_linux),
        cmocka_unit_test(places_are_passed_as_in_linux),
        cmocka_unit_test(a_place_goes_round_and_its_counter_changes),
        cmocka_unit_test(an_event_is_passed_by_the_slots_that_were_used),
        cmocka_unit_test(parts_of_a_packed_ring_do_not_touch),
        WITH_RINGS(both_sides_write_what_the_format_says),
        WITH_RINGS(notifications_by_flags_and_by_place),
        WITH_RINGS(a_device_that_counts_is_told_of_the_next_one),
        WITH_RINGS(a_length_counts_with_the_write_flag_alone),
        WITH_RINGS(a_lying_device_breaks_only_the_ring),
        WITH_RINGS(a_driver_kicks_a_device_that_asks_for_nonsense),
        WITH_RINGS(a_table_takes_one_descriptor),
        WITH_RINGS(a_ring_that_is_forgotten_begins_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
