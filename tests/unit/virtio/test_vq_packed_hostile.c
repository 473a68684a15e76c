/* SPDX-License-Identifier: MIT */
/* Malformed packed rings, which no correct driver writes: each has one defined result. */
#include "packed_rings.h"

#include "emu/base/prng.h"
#include "rounds.h"

#define FUZZ_ROUNDS n_rounds(20000)

struct row_desc {
    uint64_t gpa;
    uint32_t bytes;
    uint16_t id;
    unsigned flags;
};

static const struct {
    const char *what;
    enum vq_error want;
    struct row_desc ring[QUEUE_SIZE];
    struct row_desc table[2];
    bool no_indirect;
} rows[] = {
    {"one buffer", VQE_NONE, {{BUFFER_AT, 64, 0, A}}, {{0}}, false},
    {"any id will do", VQE_NONE, {{BUFFER_AT, 64, 0xffff, A}}, {{0}}, false},
    {"a chain", VQE_NONE, {{BUFFER_AT, 1, 0, A | N}, {BUFFER_AT, 1, 7, A | W}}, {{0}}, false},
    {"as long as the ring",
     VQE_NONE,
     {{BUFFER_AT, 1, 0, A | N},
      {BUFFER_AT, 1, 0, A | N},
      {BUFFER_AT, 1, 0, A | N},
      {BUFFER_AT, 1, 0, A | N},
      {BUFFER_AT, 1, 0, A}},
     {{0}},
     false},
    {"a table of two, whose ids mean nothing",
     VQE_NONE,
     {{TABLE_AT, 32, 3, A | I}},
     {{BUFFER_AT, 1, 999, 0}, {BUFFER_AT, 1, 998, W}},
     false},
    {"a table after a buffer",
     VQE_NONE,
     {{BUFFER_AT, 1, 0, A | N}, {TABLE_AT, 16, 2, A | I}},
     {{BUFFER_AT, 1, 0, W}},
     false},

    {"longer than the ring",
     VQE_LONGER_THAN_RING,
     {{BUFFER_AT, 1, 0, A | N},
      {BUFFER_AT, 1, 0, A | N},
      {BUFFER_AT, 1, 0, A | N},
      {BUFFER_AT, 1, 0, A | N},
      {BUFFER_AT, 1, 0, A | N}},
     {{0}},
     false},
    {"goes on where nothing is", VQE_BREAKS_OFF, {{BUFFER_AT, 1, 0, A | N}}, {{0}}, false},
    {"goes on in what is used",
     VQE_BREAKS_OFF,
     {{BUFFER_AT, 1, 0, A | N}, {BUFFER_AT, 1, 0, A | U}},
     {{0}},
     false},
    {"two with one id", VQE_ID_IN_USE, {{BUFFER_AT, 1, 3, A}, {BUFFER_AT, 1, 3, A}}, {{0}}, false},
    {"one byte past RAM", VQE_BAD_ADDRESS, {{RAM_BYTES - 1, 2, 0, A}}, {{0}}, false},
    {"address and length wrap", VQE_BAD_ADDRESS, {{UINT64_MAX - 3, 8, 0, A}}, {{0}}, false},
    {"a table outside RAM", VQE_BAD_ADDRESS, {{RAM_BYTES, 16, 0, A | I}}, {{0}}, false},
    {"readable after writable",
     VQE_BAD_ORDER,
     {{BUFFER_AT, 1, 0, A | N | W}, {BUFFER_AT, 1, 0, A}},
     {{0}},
     false},
    {"no bytes", VQE_ZERO_LENGTH, {{BUFFER_AT, 0, 0, A}}, {{0}}, false},
    {"too many bytes",
     VQE_TOO_LONG,
     {{BUFFER_AT, VQ_CHAIN_BYTES_MAX, 0, A | N}, {BUFFER_AT, 1, 0, A}},
     {{0}},
     false},
    {"a table not negotiated",
     VQE_BAD_INDIRECT,
     {{TABLE_AT, 16, 0, A | I}},
     {{BUFFER_AT, 1, 0, 0}},
     true},
    {"a table and NEXT",
     VQE_BAD_INDIRECT,
     {{TABLE_AT, 16, 0, A | I | N}, {BUFFER_AT, 1, 0, A}},
     {{BUFFER_AT, 1, 0, 0}},
     false},
    {"a table in a table is a buffer",
     VQE_NONE,
     {{TABLE_AT, 16, 0, A | I}},
     {{TABLE_AT, 16, 0, I}},
     false},
    {"flags in a table that mean nothing there",
     VQE_NONE,
     {{TABLE_AT, 32, 0, A | I}},
     {{BUFFER_AT, 1, 0, A | U | N}, {BUFFER_AT, 1, 0, W | A | U | N}},
     false},
    {"a table written for a split ring: 2, meant as next, is WRITE",
     VQE_BAD_ORDER,
     {{TABLE_AT, 32, 0, A | I}},
     {{BUFFER_AT, 1, N, 2}, {BUFFER_AT, 1, 0, 0}},
     false},
    {"a table that is no multiple of 16",
     VQE_BAD_INDIRECT,
     {{TABLE_AT, 24, 0, A | I}},
     {{BUFFER_AT, 1, 0, 0}},
     false},
    {"an empty table", VQE_BAD_INDIRECT, {{TABLE_AT, 0, 0, A | I}}, {{0}}, false},
};

static void every_broken_ring_has_its_error(void **state)
{
    struct rings *r = *state;
    struct vq_chain c;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        enum vq_pop got;

        rings_start(r, QUEUE_SIZE);
        r->vq.indirect = !rows[i].no_indirect;
        for (uint32_t k = 0; k < QUEUE_SIZE; k++) {
            const struct row_desc *d = &rows[i].ring[k];

            poke_slot(r, k, d->gpa, d->bytes, d->id, d->flags);
        }
        for (uint32_t k = 0; k < ARRAY_LEN(rows[i].table); k++) {
            const struct row_desc *d = &rows[i].table[k];

            poke_desc(r, TABLE_AT + VRING_DESC_BYTES * (uint64_t)k, d->gpa, d->bytes, d->id,
                      (uint16_t)d->flags);
        }
        do {
            got = vq_pop(&r->vq, &r->ram, &c);
        } while (got == VQ_GOT);
        if (r->vq.broken != rows[i].want || (got == VQ_BROKEN) != (rows[i].want != VQE_NONE))
            fail_msg("%s: %s", rows[i].what, enum_name(&enum_vq_error, r->vq.broken));
        assert_int_equal(vq_pop(&r->vq, &r->ram, &c), got); /* and stays so */
    }
}

/* The device has all slots, and one of them is available again. */
static void what_was_not_given_back_is_not_available(void **state)
{
    struct rings *r = *state;
    struct vq_chain c;

    for (uint16_t i = 0; i < QUEUE_SIZE; i++) {
        poke_slot(r, i, BUFFER_AT, 8, i, A);
        assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_GOT);
    }
    assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_EMPTY);
    poke_slot(r, 0, BUFFER_AT, 8, 77, U); /* available in the second lap */
    assert_int_equal(vq_avail_count(&r->vq, &r->ram), 0);
    assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_BROKEN);
    assert_int_equal(r->vq.broken, VQE_NOT_GIVEN_BACK);
}

/* The id of the last descriptor counts, whatever those before it say.  [virtio 1.2, 2.8] */
static void a_chain_has_the_id_of_its_last_descriptor(void **state)
{
    struct rings *r = *state;
    struct vq_chain c;

    poke_slot(r, 0, BUFFER_AT, 8, 4, A | N);
    poke_slot(r, 1, BUFFER_AT, 8, 9, A | N);
    poke_slot(r, 2, BUFFER_AT, 8, 2, A | W);
    assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_GOT);
    assert_int_equal(c.head, 2);
    assert_int_equal(vq_slots_of(&r->vq, 2), 3);
    assert_int_equal(vq_slots_of(&r->vq, 4), 0);
    assert_true(vq_push(&r->vq, &r->ram, c.head, 1));
    assert_int_equal(peek16(r, vring_desc_at(&r->vq.ring, 0) + 12), 2);
}

/* What goes on behind the last slot that is free is no whole chain. */
static void a_chain_without_an_end_does_not_count(void **state)
{
    struct rings *r = *state;

    poke_slot(r, 0, BUFFER_AT, 8, 0, A);
    for (uint32_t i = 1; i < QUEUE_SIZE; i++)
        poke_slot(r, i, BUFFER_AT, 8, 1, A | N);
    assert_int_equal(vq_avail_count(&r->vq, &r->ram), 1);
    poke_slot(r, QUEUE_SIZE - 1, BUFFER_AT, 8, 1, A);
    assert_int_equal(vq_avail_count(&r->vq, &r->ram), 2);
}

/* Ids far outside the ring, all of which want the same place: none is lost, in any order. */
static void ids_need_not_be_small(void **state)
{
    struct rings *r = *state;
    struct prng rng = prng_stream(3, 0);
    struct vq_chain c;
    uint16_t held[8];
    struct vring_pos at = VRING_POS_START, back = VRING_POS_START;
    uint32_t n_held = 0, used = 0;

    rings_start(r, 8);
    for (uint32_t round = 0; round < 50000; round++) {
        const uint32_t drawn = (uint32_t)prng_below(&rng, 16);
        const uint16_t id = (uint16_t)(drawn % 4 + drawn / 4 * 0x4000);
        bool is_held = false;

        for (uint32_t i = 0; i < n_held; i++)
            is_held = is_held || held[i] == id;
        if (!is_held && n_held < 8) {
            poke_slot(r, at.at, BUFFER_AT, 8, id, vring_avail_flags(at));
            at = vring_pos_after(at, 1, 8);
            assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_GOT);
            held[n_held++] = c.head;
        }
        if (n_held > 0 && prng_below(&rng, 2)) {
            const uint32_t i = (uint32_t)prng_below(&rng, n_held);

            assert_true(vq_push(&r->vq, &r->ram, held[i], 8));
            assert_int_equal(peek16(r, vring_desc_at(&r->vq.ring, back.at) + 12), held[i]);
            assert_true(vring_is_used(slot_flags(r, back.at), back));
            back = vring_pos_after(back, 1, 8);
            held[i] = held[--n_held];
            used++;
        }
    }
    assert_in_range(used, 20000, 50000);
    assert_int_equal(r->vq.broken, VQE_NONE);
    assert_int_equal((uint16_t)(r->vq.last_avail - r->vq.used_idx), n_held);
}

static void a_driver_area_that_asks_for_nonsense_breaks_the_queue(void **state)
{
    static const struct {
        uint16_t place, flags;
        bool event_idx;
        enum vq_error want;
    } areas[] = {
        {0, VRING_EVENT_ENABLE, true, VQE_NONE},
        {0xffff, VRING_EVENT_ENABLE, true, VQE_NONE}, /* the place means nothing then */
        {0xffff, VRING_EVENT_DISABLE, true, VQE_NONE},
        {QUEUE_SIZE - 1, VRING_EVENT_DESC, true, VQE_NONE},
        {QUEUE_SIZE, VRING_EVENT_DESC, true, VQE_BAD_EVENT},
        {QUEUE_SIZE | VRING_EVENT_WRAP, VRING_EVENT_DESC, true, VQE_BAD_EVENT},
        {0, VRING_EVENT_DESC, false, VQE_BAD_EVENT}, /* EVENT_IDX was not agreed on */
        {0, VRING_EVENT_FLAGS, true, VQE_BAD_EVENT},
        {0, 0xfffc, true, VQE_NONE}, /* reserved bits */
    };
    struct rings *r = *state;
    struct vq_chain c;

    for (size_t i = 0; i < ARRAY_LEN(areas); i++) {
        rings_start(r, QUEUE_SIZE);
        r->vq.event_idx = areas[i].event_idx;
        poke_slot(r, 0, BUFFER_AT, 8, 0, A);
        poke16(r, r->vq.ring.avail, areas[i].place);
        poke16(r, r->vq.ring.avail + 2, areas[i].flags);
        assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_GOT);
        assert_true(vq_push(&r->vq, &r->ram, c.head, 8));
        (void)vq_wants_interrupt(&r->vq, &r->ram);
        assert_int_equal(r->vq.broken, areas[i].want);
        assert_int_equal(vq_push(&r->vq, &r->ram, 0, 8), areas[i].want == VQE_NONE);
    }
}

static void a_ring_outside_ram_breaks_the_queue(void **state)
{
    struct rings *r = *state;
    struct vq_chain c;

    r->vq.ring.desc = RAM_BYTES;
    assert_int_equal(vq_avail_count(&r->vq, &r->ram), 0);
    assert_int_equal(r->vq.broken, VQE_BAD_ADDRESS);

    rings_start(r, QUEUE_SIZE);
    r->vq.ring.desc = UINT64_MAX - 15;
    assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_BROKEN);
    assert_int_equal(r->vq.broken, VQE_BAD_ADDRESS);

    rings_start(r, QUEUE_SIZE);
    r->vq.ring.desc = RAM_BYTES - 8;
    assert_false(vq_push(&r->vq, &r->ram, 0, 1));
    assert_int_equal(r->vq.broken, VQE_BAD_ADDRESS);

    rings_start(r, QUEUE_SIZE);
    assert_true(vq_push(&r->vq, &r->ram, 0, 1));
    r->vq.ring.avail = RAM_BYTES - 2;
    assert_false(vq_wants_interrupt(&r->vq, &r->ram));
    assert_int_equal(r->vq.broken, VQE_BAD_ADDRESS);

    rings_start(r, QUEUE_SIZE);
    r->vq.ring.used = RAM_BYTES - 2;
    vq_refuse_kicks(&r->vq, &r->ram);
    assert_int_equal(r->vq.broken, VQE_BAD_ADDRESS);

    /* A chain whose second descriptor is outside. */
    rings_start(r, QUEUE_SIZE);
    r->vq.ring.desc = RAM_BYTES - VRING_DESC_BYTES;
    poke_slot(r, 0, BUFFER_AT, 8, 0, A | N);
    assert_int_equal(vq_avail_count(&r->vq, &r->ram), 0);
    assert_int_equal(r->vq.broken, VQE_BAD_ADDRESS);
}

/* Every buffer of @c is RAM, and the sums are right. */
static void assert_chain_is_sound(const struct rings *r, const struct vq_chain *c)
{
    uint64_t bytes = 0;

    assert_in_range(c->n_readable + c->n_writable, 1, VQ_SEGS_MAX);
    for (uint32_t i = 0; i < c->n_readable + c->n_writable; i++) {
        assert_true(ram_holds(&r->ram, c->segs[i].gpa, c->segs[i].bytes));
        bytes += c->segs[i].bytes;
    }
    assert_int_equal((uint64_t)c->readable_bytes + c->writable_bytes, bytes);
}

static void poke_random_desc(struct rings *r, struct prng *rng, uint64_t at)
{
    static const uint64_t places[] = {BUFFER_AT, TABLE_AT, RING_AT, RAM_BYTES - 16};
    const uint64_t place = places[prng_below(rng, ARRAY_LEN(places))];
    const uint64_t gpa = place + prng_below(rng, 17);
    const unsigned state[] = {A, A, A, U, 0, A | U};
    const unsigned flags = (unsigned)prng_below(rng, 8);
    const unsigned whose = state[prng_below(rng, ARRAY_LEN(state))];
    const uint32_t bytes = (uint32_t)prng_below(rng, 5) * 16;
    const uint16_t id = (uint16_t)prng_below(rng, 2 * QUEUE_SIZE);

    poke_desc(r, at, gpa, bytes, id, (uint16_t)(flags | whose));
}

static void random_rings_give_sound_chains_or_break(void **state)
{
    struct rings *r = *state;
    struct prng rng = prng_stream(1, 1);
    uint32_t n_got = 0;

    for (uint32_t round = 0; round < FUZZ_ROUNDS; round++) {
        rings_start(r, QUEUE_SIZE);
        for (uint32_t i = 0; i < QUEUE_SIZE; i++)
            poke_random_desc(r, &rng, vring_desc_at(&r->vq.ring, i));
        for (uint32_t step = 0; step < 4 * QUEUE_SIZE && r->vq.broken == VQE_NONE; step++) {
            const uint32_t slot = (uint32_t)prng_below(&rng, QUEUE_SIZE);
            struct vq_chain c;
            uint32_t n;

            poke_random_desc(r, &rng, TABLE_AT + slot * VRING_DESC_BYTES);
            n = vq_avail_count(&r->vq, &r->ram);
            assert_in_range(n, 0, QUEUE_SIZE);
            poke16(r, r->vq.ring.avail, (uint16_t)prng_below(&rng, QUEUE_SIZE));
            poke16(r, r->vq.ring.avail + 2, (uint16_t)prng_below(&rng, 3));
            if (prng_below(&rng, 2))
                poke_random_desc(r, &rng, vring_desc_at(&r->vq.ring, slot));
            if (vq_pop(&r->vq, &r->ram, &c) != VQ_GOT)
                continue;
            n_got++;
            assert_chain_is_sound(r, &c);
            if (prng_below(&rng, 2))
                vq_push(&r->vq, &r->ram, c.head, (uint32_t)prng_below(&rng, 9));
            vq_wants_interrupt(&r->vq, &r->ram);
        }
    }
    assert_in_range(n_got, FUZZ_ROUNDS / 10, FUZZ_ROUNDS * QUEUE_SIZE);
}

#define WITH_RINGS(test) cmocka_unit_test_setup_teardown(test, set_up, rings_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_RINGS(every_broken_ring_has_its_error),
        WITH_RINGS(what_was_not_given_back_is_not_available),
        WITH_RINGS(a_chain_has_the_id_of_its_last_descriptor),
        WITH_RINGS(a_chain_without_an_end_does_not_count),
        WITH_RINGS(ids_need_not_be_small),
        WITH_RINGS(a_driver_area_that_asks_for_nonsense_breaks_the_queue),
        WITH_RINGS(a_ring_outside_ram_breaks_the_queue),
        WITH_RINGS(random_rings_give_sound_chains_or_break),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
