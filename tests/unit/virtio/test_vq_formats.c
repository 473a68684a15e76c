/* SPDX-License-Identifier: MIT */
/* The same random driver and random device on a split and on a packed ring: what each side gets,
 * and in which order, does not depend on the format.
 */
#include "rings.h"

#include "emu/base/prng.h"
#include "emu/virtio/vq_driver.h"

#define SIZE_MAX_HERE 16u
#define SEGS_HERE     4u
#define PACKED_AT     0x8000u
#define TABLES_AT     0x20000u

/* A driver and a device on one ring. */
struct pair {
    struct vqd d;
    struct vq dev;
    /* Buffers of the driver by their number, and those that the device has: the tags are in their
     * addresses.
     */
    uint64_t tag_of[SIZE_MAX_HERE];
    uint16_t held[SIZE_MAX_HERE];
    uint64_t held_tag[SIZE_MAX_HERE];
    uint32_t n_held;
};

static void begin(struct rings *r, struct pair *p, uint32_t size, bool packed, bool event_idx)
{
    const struct vring ring = vring_place(packed ? PACKED_AT : RING_AT, size, packed);

    vq_done(&p->dev, r->arena);
    p->dev = (struct vq){.ring = ring, .enabled = true, .event_idx = event_idx, .indirect = true};
    assert_true(vq_set_up(&p->dev, r->arena));
    assert_true(vqd_init(&p->d, r->arena, &r->ram, ring, event_idx));
    p->n_held = 0;
}

/* Offers a chain that begins at the buffer @tag.  Returns whether there was room. */
static bool offer(struct rings *r, struct pair *p, uint64_t tag, uint32_t n, uint32_t n_writable)
{
    struct vqd_seg segs[SEGS_HERE];
    uint16_t id;

    for (uint32_t i = 0; i < n; i++)
        segs[i] = (struct vqd_seg){BUFFER_AT + tag + i, 1 + i};
    if (!vqd_add(&p->d, &r->ram, segs, n - n_writable, n_writable, &id))
        return false;
    p->tag_of[id] = tag;
    return true;
}

/* Takes a chain: its tag, and its shape in bytes; 0: none. */
static uint64_t take(struct rings *r, struct pair *p, uint32_t *ret_shape)
{
    struct vq_chain c;

    if (vq_pop(&p->dev, &r->ram, &c) != VQ_GOT)
        return 0;
    *ret_shape = c.n_readable << 16 | c.n_writable << 8 | c.readable_bytes;
    p->held[p->n_held] = c.head;
    p->held_tag[p->n_held++] = c.segs[0].gpa;
    return c.segs[0].gpa;
}

/* Gives back what was taken as number @i of what is held. */
static void give(struct rings *r, struct pair *p, uint32_t i)
{
    assert_true(vq_push(&p->dev, &r->ram, p->held[i], (uint32_t)p->held_tag[i]));
    p->n_held--;
    for (; i < p->n_held; i++) { /* the order of what is left stays */
        p->held[i] = p->held[i + 1];
        p->held_tag[i] = p->held_tag[i + 1];
    }
}

/* Takes up to two chains and puts them back: they are there again.  Returns their tags. */
static uint64_t look(struct rings *r, struct pair *p)
{
    struct vq_used used[2];
    uint64_t tags = 0;
    struct vq_chain c;
    uint32_t n = 0;

    while (n < 2 && vq_pop(&p->dev, &r->ram, &c) == VQ_GOT) {
        tags = tags << 32 | c.segs[0].gpa;
        used[n++] = (struct vq_used){c.head, 0};
    }
    vq_untake(&p->dev, used, n);
    assert_true(vq_invariant(&p->dev));
    assert_true(vq_avail_count(&p->dev, &r->ram) >= n);
    return tags;
}

/* Gives back number @i of what is held, and the next one, in the other order and at once. */
static void give_two(struct rings *r, struct pair *p, uint32_t i)
{
    const struct vq_used used[] = {{p->held[i + 1], (uint32_t)p->held_tag[i + 1]},
                                   {p->held[i], (uint32_t)p->held_tag[i]}};

    assert_true(vq_push_all(&p->dev, &r->ram, used, 2));
    assert_true(vq_invariant(&p->dev));
    p->n_held -= 2;
    for (; i < p->n_held; i++) {
        p->held[i] = p->held[i + 2];
        p->held_tag[i] = p->held_tag[i + 2];
    }
}

static uint64_t take_back(struct rings *r, struct pair *p)
{
    uint16_t id;
    uint32_t len;

    if (vqd_take_used(&p->d, &r->ram, &id, &len) != VQD_GOT)
        return 0;
    assert_int_equal(len, BUFFER_AT + p->tag_of[id]);
    return len;
}

/* What both pairs do, step by step, and what comes of it: the same. */
static void run(struct rings *r, struct pair p[2], struct prng *rng, uint32_t size)
{
    uint64_t tag = 0;

    for (uint32_t step = 0; step < 70000; step++) {
        const uint32_t longest = size < SEGS_HERE ? size : SEGS_HERE;
        const uint32_t n = 1 + (uint32_t)prng_below(rng, longest);
        const uint32_t n_writable = (uint32_t)prng_below(rng, n + 1);
        const uint32_t what = (uint32_t)prng_below(rng, 10);
        const uint32_t which = (uint32_t)prng_below(rng, SIZE_MAX_HERE);
        uint64_t got[2] = {0, 0};
        uint32_t shape[2] = {0, 0};

        tag = (tag + 8) % 0x8000;
        for (unsigned k = 0; k < 2; k++) {
            switch (what) {
            case 0:
            case 1:
                got[k] = offer(r, &p[k], tag, n, n_writable);
                break;
            case 2:
                vqd_publish(&p[k].d, &r->ram);
                got[k] = vqd_needs_kick(&p[k].d, &r->ram);
                break;
            case 3:
                got[k] = take(r, &p[k], &shape[k]);
                break;
            case 4:
                if (p[k].n_held > 0)
                    give(r, &p[k], which % p[k].n_held);
                got[k] = vq_wants_interrupt(&p[k].dev, &r->ram);
                break;
            case 5:
                got[k] = take_back(r, &p[k]);
                break;
            case 6:
                vqd_want_interrupt(&p[k].d, &r->ram, true);
                break;
            case 7:
                got[k] = look(r, &p[k]);
                break;
            case 8:
                if (p[k].n_held > 1)
                    give_two(r, &p[k], which % (p[k].n_held - 1));
                break;
            default:
                got[k] = vq_avail_count(&p[k].dev, &r->ram) << 8 | vqd_used_count(&p[k].d, &r->ram);
                break;
            }
        }
        /* A place in a packed ring comes again after two laps, an index after 2^16: who does not
         * renew his wish hears of more there, and never of less.
         */
        if (what == 2 || what == 4)
            assert_true(got[0] <= got[1]);
        else
            assert_int_equal(got[0], got[1]);
        assert_int_equal(shape[0], shape[1]);
        assert_int_equal(p[0].d.n_free, p[1].d.n_free);
        assert_int_equal(p[0].d.avail_idx, p[1].d.avail_idx);
        assert_int_equal(p[0].d.last_used, p[1].d.last_used);
        assert_int_equal(p[0].dev.last_avail, p[1].dev.last_avail);
        assert_int_equal(p[0].dev.used_idx, p[1].dev.used_idx);
        assert_int_equal(p[0].dev.broken, VQE_NONE);
        assert_int_equal(p[1].dev.broken, VQE_NONE);
    }
}

static void both_formats_give_the_same_buffers(void **state)
{
    static struct pair p[2];
    struct rings *r = *state;

    for (unsigned tables = 0; tables < 2; tables++) {
        for (uint32_t size = 1; size <= SIZE_MAX_HERE; size *= 2) {
            struct prng rng = prng_stream(size, tables);

            for (unsigned k = 0; k < 2; k++) {
                begin(r, &p[k], size, k == 1, true);
                p[k].d.tables_gpa = tables ? TABLES_AT + k * 0x1000u : 0;
                /* Both have asked: before that a packed ring has no place that is waited for. */
                (void)take(r, &p[k], &(uint32_t){0});
                vqd_want_interrupt(&p[k].d, &r->ram, true);
            }
            run(r, p, &rng, size);
            /* Enough for the counters to wrap. */
            assert_true(p[0].d.avail_idx > 1000);
        }
    }
    for (unsigned k = 0; k < 2; k++) {
        vqd_done(&p[k].d, r->arena);
        vq_done(&p[k].dev, r->arena);
    }
}

/* The counts of both sides run through 2^16, in rings of any length. */
static void counts_wrap_in_packed_rings_of_any_length(void **state)
{
    static struct pair p;
    struct rings *r = *state;

    for (uint32_t size = 1; size <= SIZE_MAX_HERE; size++) {
        struct prng rng = prng_stream(size, 9);
        uint32_t n_done = 0;
        uint64_t tag = 0;

        begin(r, &p, size, true, size % 2);
        while (n_done < 140000) {
            const uint32_t longest = size < SEGS_HERE ? size : SEGS_HERE;
            const uint32_t n = 1 + (uint32_t)prng_below(&rng, longest);

            tag = (tag + 8) % 0x8000;
            if (offer(r, &p, tag, n, 1))
                vqd_publish(&p.d, &r->ram);
            else
                assert_true(p.d.n_free < n);
            if (prng_below(&rng, 2))
                (void)take(r, &p, &(uint32_t){0});
            if (p.n_held > 0 && prng_below(&rng, 2))
                give(r, &p, (uint32_t)prng_below(&rng, p.n_held));
            while (take_back(r, &p))
                n_done++;
            assert_false(p.d.broken);
            assert_int_equal(p.dev.broken, VQE_NONE);
            assert_int_equal((uint16_t)(p.d.avail_idx - p.d.last_used), p.d.n_outstanding);
            assert_true(p.d.n_outstanding > 0 || p.d.n_free == size);
        }
        vqd_done(&p.d, r->arena);
    }
    vq_done(&p.dev, r->arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(both_formats_give_the_same_buffers, rings_set_up,
                                        rings_tear_down),
        cmocka_unit_test_setup_teardown(counts_wrap_in_packed_rings_of_any_length, rings_set_up,
                                        rings_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
