/* SPDX-License-Identifier: MIT */
/* Both sides of a virtqueue: layout, notification by index, and a driver and a device that work
 * together.
 */
#include "rings.h"

#include <string.h>

#include "emu/base/prng.h"
#include "emu/virtio/vq_driver.h"

/* [virtio 1.2, 2.7.7.1] */
static void an_event_is_needed_when_its_index_is_passed(void **state)
{
    static const struct {
        uint16_t event, new_idx, old_idx;
        bool want;
    } rows[] = {
        {0, 1, 0, true},            /* the first entry, which is waited for */
        {0, 0, 0, false},           /* nothing moved */
        {1, 1, 0, false},           /* waiting for the second */
        {0, 2, 1, false},           /* passed before */
        {3, 5, 2, true},            /* in the middle of a batch */
        {4, 5, 2, true},            /* its last */
        {5, 5, 2, false},           /* one further */
        {1, 5, 2, false},           /* one before */
        {0xffff, 0, 0xffff, true},  /* the wrap itself */
        {0xffff, 1, 0, false},      /* just before, by wrap */
        {0, 1, 0xfffe, true},       /* a batch over the wrap */
        {0xfffe, 1, 0xfffe, true},  /* its first */
        {0xfffd, 1, 0xfffe, false}, /* before it */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(vring_need_event(rows[i].event, rows[i].new_idx, rows[i].old_idx),
                         rows[i].want);
}

static void a_whole_lap_passes_every_event(void **state)
{
    (void)state;
    for (uint32_t event = 0; event <= UINT16_MAX; event += 255) {
        assert_true(vring_passed((uint16_t)event, 7, 65536));
        assert_true(vring_passed((uint16_t)event, 7, 65537));
    }
    assert_true(vring_passed(6, 7, 1));
    assert_false(vring_passed(7, 7, 65535));
    assert_false(vring_passed(7, 7, 0));
}

/* [virtio 1.2, 2.7]: alignments and sizes of the three parts. */
static void parts_of_a_ring_are_aligned_and_do_not_touch(void **state)
{
    (void)state;
    for (uint32_t size = 1; size <= VRING_SIZE_MAX; size *= 2) {
        const struct vring r = vring_place(RING_AT, size, false);

        assert_int_equal(r.desc % VRING_DESC_ALIGN, 0);
        assert_int_equal(r.avail % VRING_AVAIL_ALIGN, 0);
        assert_int_equal(r.used % VRING_USED_ALIGN, 0);
        assert_int_equal(r.avail, vring_desc_at(&r, size));
        assert_true(vring_used_event_at(&r) + 2 <= r.used);
        assert_true(r.used - vring_used_event_at(&r) - 2 < VRING_USED_ALIGN);
        assert_int_equal(vring_avail_event_at(&r) + 2, RING_AT + vring_bytes(size, false));
        assert_int_equal(vring_used_entry_at(&r, (uint16_t)size), r.used + 4);
    }
}

static void chains_are_read_and_written_across_descriptors(void **state)
{
    struct rings *r = *state;
    const struct vqd_seg segs[] = {{BUFFER_AT, 3},
                                   {BUFFER_AT + 100, 1},
                                   {BUFFER_AT + 200, 5},
                                   {BUFFER_AT + 300, 2},
                                   {BUFFER_AT + 400, 4}};
    const char *text = "abcdefghi";
    struct vqd d = {0};
    struct vq_chain c;
    char out[16];
    uint16_t head;

    assert_true(vqd_init(&d, r->arena, &r->ram, r->vq.ring, true));
    assert_true(ram_write(&r->ram, BUFFER_AT, text, 3));
    assert_true(ram_write(&r->ram, BUFFER_AT + 100, text + 3, 1));
    assert_true(ram_write(&r->ram, BUFFER_AT + 200, text + 4, 5));
    assert_true(vqd_add(&d, &r->ram, segs, 3, 2, &head));
    assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_EMPTY); /* not published */
    vqd_publish(&d, &r->ram);
    assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_GOT);
    assert_int_equal(c.head, head);
    assert_int_equal(c.readable_bytes, 9);
    assert_int_equal(c.writable_bytes, 6);

    for (size_t from = 0; from <= 10; from++) {
        const size_t want = from < 9 ? 9 - from : 0;

        assert_int_equal(vq_chain_read(&r->ram, &c, from, out, sizeof(out)), want);
        assert_memory_equal(out, text + (from < 9 ? from : 9), want);
    }
    assert_int_equal(vq_chain_read(&r->ram, &c, 2, out, 3), 3);
    assert_memory_equal(out, "cde", 3);

    assert_int_equal(vq_chain_write(&r->ram, &c, 1, "uvwxyz", 6), 5);
    assert_true(ram_read(&r->ram, BUFFER_AT + 300, out, 2));
    assert_true(ram_read(&r->ram, BUFFER_AT + 400, out + 2, 4));
    assert_memory_equal(out, "\0uvwxy", 6);
}

/* The driver's notifications by flags and by index. */
static void a_driver_kicks_when_the_device_wants_it(void **state)
{
    struct rings *r = *state;
    const struct vqd_seg seg = {BUFFER_AT, 8};
    struct vq_chain c;
    uint16_t head;

    for (unsigned event_idx = 0; event_idx < 2; event_idx++) {
        struct vqd d = {0};

        rings_start(r, 8);
        r->vq.event_idx = event_idx;
        assert_true(vqd_init(&d, r->arena, &r->ram, r->vq.ring, event_idx));
        assert_false(vqd_needs_kick(&d, &r->ram)); /* nothing to say */
        assert_true(vqd_add(&d, &r->ram, &seg, 1, 0, &head));
        vqd_publish(&d, &r->ram);
        assert_true(vqd_needs_kick(&d, &r->ram));
        assert_true(vqd_add(&d, &r->ram, &seg, 1, 0, &head));
        vqd_publish(&d, &r->ram);
        /* By index: the device has not asked again since.  By flags: it never stopped asking. */
        assert_int_equal(vqd_needs_kick(&d, &r->ram), !event_idx);
        while (vq_pop(&r->vq, &r->ram, &c) == VQ_GOT)
            ;
        assert_true(vqd_add(&d, &r->ram, &seg, 1, 0, &head));
        vqd_publish(&d, &r->ram);
        assert_true(vqd_needs_kick(&d, &r->ram));

        while (vq_pop(&r->vq, &r->ram, &c) == VQ_GOT)
            ;
        vq_refuse_kicks(&r->vq, &r->ram);
        for (uint32_t n = d.n_free; n > 0; n--) { /* however many are added */
            assert_true(vqd_add(&d, &r->ram, &seg, 1, 0, &head));
            vqd_publish(&d, &r->ram);
            assert_false(vqd_needs_kick(&d, &r->ram));
        }
        vqd_done(&d, r->arena);
    }
}

static void a_device_interrupts_when_the_driver_wants_it(void **state)
{
    struct rings *r = *state;
    const struct vqd_seg seg = {BUFFER_AT, 8};
    struct vq_chain c;
    uint16_t head;

    for (unsigned event_idx = 0; event_idx < 2; event_idx++) {
        struct vqd d = {0};

        rings_start(r, 8);
        r->vq.event_idx = event_idx;
        assert_true(vqd_init(&d, r->arena, &r->ram, r->vq.ring, event_idx));
        for (unsigned i = 0; i < 6; i++)
            assert_true(vqd_add(&d, &r->ram, &seg, 0, 1, &head));
        vqd_publish(&d, &r->ram);

        vqd_want_interrupt(&d, &r->ram, false);
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_GOT);
            assert_true(vq_push(&r->vq, &r->ram, c.head, 8));
            assert_false(vq_wants_interrupt(&r->vq, &r->ram));
        }
        /* From the next one on, although three wait that were not taken yet. */
        vqd_want_interrupt(&d, &r->ram, true);
        assert_false(vq_wants_interrupt(&r->vq, &r->ram));
        assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_GOT);
        assert_true(vq_push(&r->vq, &r->ram, c.head, 8));
        assert_true(vq_wants_interrupt(&r->vq, &r->ram));
        assert_false(vq_wants_interrupt(&r->vq, &r->ram)); /* said already */
        vqd_done(&d, r->arena);
    }
}

/* Enough chains for the indexes to wrap several times, of random shapes, given back in random
 * order; every queue size that is small enough to be full often.
 */
static void indexes_wrap_and_no_chain_is_lost(void **state)
{
    struct rings *r = *state;
    struct prng rng = prng_stream(7, 0);

    for (uint32_t size = 1; size <= 16; size *= 4) {
        struct vqd d = {0};
        uint16_t held[16];
        uint32_t n_held = 0, n_done = 0;

        rings_start(r, size);
        assert_true(vqd_init(&d, r->arena, &r->ram, r->vq.ring, true));
        while (n_done < 200000) {
            const struct vqd_seg segs[] = {{BUFFER_AT, 1}, {BUFFER_AT + 8, 2}, {BUFFER_AT + 16, 3}};
            const uint32_t n = 1 + (uint32_t)prng_below(&rng, size < 3 ? size : 3);
            struct vq_chain c;
            uint16_t head;
            uint32_t len;

            if (vqd_add(&d, &r->ram, segs, n - 1, 1, &head))
                vqd_publish(&d, &r->ram);
            else
                assert_true(d.n_free < n);
            if (prng_below(&rng, 2) && vq_pop(&r->vq, &r->ram, &c) == VQ_GOT) {
                assert_true(n_held < size);
                held[n_held++] = c.head;
            }
            if (prng_below(&rng, 2) && n_held > 0) {
                const uint32_t i = (uint32_t)prng_below(&rng, n_held);

                assert_true(vq_push(&r->vq, &r->ram, held[i], held[i] + 1u));
                held[i] = held[--n_held];
            }
            while (vqd_take_used(&d, &r->ram, &head, &len) == VQD_GOT) {
                assert_int_equal(len, head + 1u);
                n_done++;
            }
            assert_false(d.broken);
            assert_int_equal(r->vq.broken, VQE_NONE);
            assert_int_equal((uint16_t)(d.avail_idx - d.last_used), d.n_outstanding);
            assert_true(d.n_outstanding > 0 || d.n_free == size);
        }
        vqd_done(&d, r->arena);
    }
}

/* A device that gives back what it was not given. */
static void a_lying_device_breaks_only_the_ring(void **state)
{
    struct rings *r = *state;
    const struct vqd_seg seg = {BUFFER_AT, 8};
    static const struct {
        uint32_t id;
        uint16_t used_idx;
    } rows[] = {
        {1, 1},      /* never offered */
        {8, 1},      /* outside the table */
        {0xffff, 1}, /* far outside */
        {0, 2},      /* more than were offered */
        {0, 0xffff}, /* an index that goes back */
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct vqd d = {0};
        uint8_t element[VRING_USED_BYTES] = {0};
        uint16_t head;
        uint32_t len;

        assert_true(vqd_init(&d, r->arena, &r->ram, r->vq.ring, true));
        assert_true(vqd_add(&d, &r->ram, &seg, 1, 0, &head));
        vqd_publish(&d, &r->ram);
        st_le32(element, rows[i].id);
        assert_true(ram_write(&r->ram, vring_used_entry_at(&d.ring, 0), element, sizeof(element)));
        poke16(r, vring_used_idx_at(&d.ring), rows[i].used_idx);
        assert_int_equal(vqd_take_used(&d, &r->ram, &head, &len), VQD_BROKEN);
        assert_true(d.broken);
        assert_false(vqd_add(&d, &r->ram, &seg, 1, 0, &head));
        vqd_done(&d, r->arena);
    }
}

/* Of memory that was used before: the ring, and nothing behind it. */
static void a_ring_is_cleared_and_nothing_else(void **state)
{
    struct rings *r = *state;

    for (uint32_t size = 1; size <= 256; size *= 2) {
        const struct vring ring = vring_place(RING_AT, size, false);
        static uint8_t bytes[8192];

        assert_true(vring_bytes(size, false) + 512 <= sizeof(bytes));
        memset(bytes, 0xff, sizeof(bytes));
        assert_true(ram_write(&r->ram, RING_AT, bytes, sizeof(bytes)));
        assert_true(vqd_clear_ring(&r->ram, &ring));
        assert_true(ram_read(&r->ram, RING_AT, bytes, sizeof(bytes)));
        for (uint64_t i = 0; i < sizeof(bytes); i++) {
            const uint64_t at = RING_AT + i, avail_end = vring_used_event_at(&ring) + 2;
            const bool between = at >= avail_end && at < ring.used;

            if (!between)
                assert_int_equal(bytes[i], i < vring_bytes(size, false) ? 0 : 0xff);
        }
    }
}

static void a_ring_outside_ram_is_no_ring(void **state)
{
    struct rings *r = *state;
    struct vqd d = {0};

    assert_false(vqd_init(&d, r->arena, &r->ram, vring_place(RAM_BYTES - 64, 8, false), true));
    vqd_done(&d, r->arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_is_needed_when_its_index_is_passed),
        cmocka_unit_test(a_whole_lap_passes_every_event),
        cmocka_unit_test(parts_of_a_ring_are_aligned_and_do_not_touch),
        cmocka_unit_test_setup_teardown(chains_are_read_and_written_across_descriptors,
                                        rings_set_up, rings_tear_down),
        cmocka_unit_test_setup_teardown(a_driver_kicks_when_the_device_wants_it, rings_set_up,
                                        rings_tear_down),
        cmocka_unit_test_setup_teardown(a_device_interrupts_when_the_driver_wants_it, rings_set_up,
                                        rings_tear_down),
        cmocka_unit_test_setup_teardown(indexes_wrap_and_no_chain_is_lost, rings_set_up,
                                        rings_tear_down),
        cmocka_unit_test_setup_teardown(a_lying_device_breaks_only_the_ring, rings_set_up,
                                        rings_tear_down),
        cmocka_unit_test_setup_teardown(a_ring_is_cleared_and_nothing_else, rings_set_up,
                                        rings_tear_down),
        cmocka_unit_test_setup_teardown(a_ring_outside_ram_is_no_ring, rings_set_up,
                                        rings_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
