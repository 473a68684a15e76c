/* SPDX-License-Identifier: MIT */
/* Malformed split rings, which no correct driver writes: each has one defined result. */
#include "rings.h"

#include "emu/base/prng.h"
#include "rounds.h"

#define QUEUE_SIZE  8u
#define TABLE_AT    0x30000u /* of indirect tables */
#define DESCS_MAX   4u
#define FUZZ_ROUNDS n_rounds(20000)

/* A descriptor, with its address as it is; flags N, W, I as in the specification. */
struct row_desc {
    uint64_t gpa;
    uint32_t bytes;
    unsigned flags;
    uint16_t next;
};

enum { N = VRING_NEXT, W = VRING_WRITE, I = VRING_INDIRECT };

static const struct {
    const char *what;
    enum vq_error want;
    struct row_desc ring[DESCS_MAX];
    struct row_desc table[DESCS_MAX];
    bool no_indirect; /* not negotiated */
} rows[] = {
    {"one buffer", VQE_NONE, {{BUFFER_AT, 64, 0, 0}}, {{0}}, false},
    {"next is not looked at without NEXT", VQE_NONE, {{BUFFER_AT, 64, 0, 999}}, {{0}}, false},
    {"readable, then writable",
     VQE_NONE,
     {{BUFFER_AT, 1, N, 1}, {BUFFER_AT, 1, W, 0}},
     {{0}},
     false},
    {"the last byte of RAM", VQE_NONE, {{RAM_BYTES - 1, 1, 0, 0}}, {{0}}, false},
    {"a table of two",
     VQE_NONE,
     {{TABLE_AT, 32, I, 0}},
     {{BUFFER_AT, 1, N, 1}, {BUFFER_AT, 1, W, 0}},
     false},
    {"a table after a buffer",
     VQE_NONE,
     {{BUFFER_AT, 1, N, 1}, {TABLE_AT, 16, I, 0}},
     {{BUFFER_AT, 1, W, 0}},
     false},
    {"WRITE on a table means nothing",
     VQE_NONE,
     {{TABLE_AT, 16, I | W, 0}},
     {{BUFFER_AT, 1, 0, 0}},
     false},
    {"as many bytes as a chain may have",
     VQE_NONE,
     {{BUFFER_AT, VQ_CHAIN_BYTES_MAX, 0, 0}},
     {{0}},
     false},

    {"a loop of one", VQE_LOOP, {{BUFFER_AT, 64, N, 0}}, {{0}}, false},
    {"a loop of two", VQE_LOOP, {{BUFFER_AT, 1, N, 1}, {BUFFER_AT, 1, N, 0}}, {{0}}, false},
    {"a loop of large buffers", VQE_LOOP, {{BUFFER_AT, 60000, N, 0}}, {{0}}, false},
    {"a loop in a table",
     VQE_LOOP,
     {{TABLE_AT, 32, I, 0}},
     {{BUFFER_AT, 1, N, 1}, {BUFFER_AT, 1, N, 0}},
     false},
    {"next outside the ring", VQE_BAD_NEXT, {{BUFFER_AT, 1, N, QUEUE_SIZE}}, {{0}}, false},
    {"next far outside", VQE_BAD_NEXT, {{BUFFER_AT, 1, N, 0xffff}}, {{0}}, false},
    {"next outside the table", VQE_BAD_NEXT, {{TABLE_AT, 16, I, 0}}, {{BUFFER_AT, 1, N, 1}}, false},
    {"one byte past RAM", VQE_BAD_ADDRESS, {{RAM_BYTES - 1, 2, 0, 0}}, {{0}}, false},
    {"far outside RAM", VQE_BAD_ADDRESS, {{UINT64_MAX, 1, 0, 0}}, {{0}}, false},
    {"address and length wrap", VQE_BAD_ADDRESS, {{UINT64_MAX - 3, 8, 0, 0}}, {{0}}, false},
    {"4 GiB", VQE_BAD_ADDRESS, {{BUFFER_AT, UINT32_MAX, 0, 0}}, {{0}}, false},
    {"a table outside RAM", VQE_BAD_ADDRESS, {{RAM_BYTES, 16, I, 0}}, {{0}}, false},
    {"a table that wraps", VQE_BAD_ADDRESS, {{UINT64_MAX - 15, 32, I, 0}}, {{0}}, false},
    {"readable after writable",
     VQE_BAD_ORDER,
     {{BUFFER_AT, 1, N | W, 1}, {BUFFER_AT, 1, 0, 0}},
     {{0}},
     false},
    {"no bytes", VQE_ZERO_LENGTH, {{BUFFER_AT, 0, 0, 0}}, {{0}}, false},
    {"no bytes at the end",
     VQE_ZERO_LENGTH,
     {{BUFFER_AT, 1, N, 1}, {BUFFER_AT, 0, W, 0}},
     {{0}},
     false},
    {"too many bytes",
     VQE_TOO_LONG,
     {{BUFFER_AT, VQ_CHAIN_BYTES_MAX, N, 1}, {BUFFER_AT, 1, 0, 0}},
     {{0}},
     false},
    {"a table not negotiated",
     VQE_BAD_INDIRECT,
     {{TABLE_AT, 16, I, 0}},
     {{BUFFER_AT, 1, 0, 0}},
     true},
    {"a table and NEXT",
     VQE_BAD_INDIRECT,
     {{TABLE_AT, 16, I | N, 1}},
     {{BUFFER_AT, 1, 0, 0}},
     false},
    {"a table in a table", VQE_BAD_INDIRECT, {{TABLE_AT, 16, I, 0}}, {{TABLE_AT, 16, I, 0}}, false},
    {"a table that is no multiple of 16",
     VQE_BAD_INDIRECT,
     {{TABLE_AT, 24, I, 0}},
     {{BUFFER_AT, 1, 0, 0}},
     false},
    {"an empty table", VQE_BAD_INDIRECT, {{TABLE_AT, 0, I, 0}}, {{0}}, false},
    {"a table longer than any queue",
     VQE_BAD_INDIRECT,
     {{TABLE_AT, 16 * (VRING_SIZE_MAX + 1), I, 0}},
     {{0}},
     false},
};

static void write_descs(struct rings *r, uint64_t at, const struct row_desc *d)
{
    for (uint32_t i = 0; i < DESCS_MAX; i++)
        poke_desc(r, at + i * VRING_DESC_BYTES, d[i].gpa, d[i].bytes, d[i].flags, d[i].next);
}

static void every_broken_chain_has_its_error(void **state)
{
    struct rings *r = *state;
    struct vq_chain c;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const bool sound = rows[i].want == VQE_NONE;

        rings_start(r, QUEUE_SIZE);
        r->vq.indirect = !rows[i].no_indirect;
        write_descs(r, r->vq.ring.desc, rows[i].ring);
        write_descs(r, TABLE_AT, rows[i].table);
        poke16(r, vring_avail_idx_at(&r->vq.ring), 0);
        poke_avail(r, 0);

        if (vq_pop(&r->vq, &r->ram, &c) != (sound ? VQ_GOT : VQ_BROKEN) ||
            r->vq.broken != rows[i].want)
            fail_msg("%s: %s", rows[i].what, enum_name(&enum_vq_error, r->vq.broken));
        if (!sound)
            assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_BROKEN); /* and stays so */
    }
}

static void an_index_ahead_of_the_queue_breaks_it(void **state)
{
    struct rings *r = *state;
    struct vq_chain c;

    poke16(r, vring_avail_idx_at(&r->vq.ring), QUEUE_SIZE + 1);
    assert_int_equal(vq_avail_count(&r->vq, &r->ram), 0);
    assert_int_equal(r->vq.broken, VQE_AVAIL_RUNS_AWAY);

    rings_start(r, QUEUE_SIZE);
    poke16(r, vring_avail_idx_at(&r->vq.ring), 0xffff); /* back by one: ahead by 65535 */
    assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_BROKEN);
    assert_int_equal(r->vq.broken, VQE_AVAIL_RUNS_AWAY);
}

static void a_head_outside_the_table_breaks_it(void **state)
{
    struct rings *r = *state;
    struct vq_chain c;

    poke_avail(r, QUEUE_SIZE);
    assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_BROKEN);
    assert_int_equal(r->vq.broken, VQE_BAD_HEAD);
}

static void a_ring_outside_ram_breaks_the_queue(void **state)
{
    struct rings *r = *state;
    struct vq_chain c;

    r->vq.ring.avail = RAM_BYTES;
    assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_BROKEN);
    assert_int_equal(r->vq.broken, VQE_BAD_ADDRESS);

    rings_start(r, QUEUE_SIZE);
    poke_avail(r, 0);
    r->vq.ring.desc = UINT64_MAX - 15;
    assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_BROKEN);
    assert_int_equal(r->vq.broken, VQE_BAD_ADDRESS);

    rings_start(r, QUEUE_SIZE);
    r->vq.ring.used = RAM_BYTES - 8;
    assert_false(vq_push(&r->vq, &r->ram, 0, 1));
    assert_int_equal(r->vq.broken, VQE_BAD_ADDRESS);

    rings_start(r, QUEUE_SIZE);
    assert_true(vq_push(&r->vq, &r->ram, 0, 1));
    r->vq.ring.avail = RAM_BYTES - 2;
    assert_false(vq_wants_interrupt(&r->vq, &r->ram));
    assert_int_equal(r->vq.broken, VQE_BAD_ADDRESS);
}

/* More buffers than a chain may have, but no loop. */
static void a_long_chain_is_told_from_a_loop(void **state)
{
    struct rings *r = *state;
    const uint32_t size = 2 * VQ_SEGS_MAX;
    struct vq_chain c;

    rings_start(r, size);
    for (uint16_t i = 0; i < size; i++)
        poke_desc(r, vring_desc_at(&r->vq.ring, i), BUFFER_AT, 1, i + 1u < size ? N : 0,
                  (uint16_t)(i + 1));
    poke_avail(r, 0);
    assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_BROKEN);
    assert_int_equal(r->vq.broken, VQE_TOO_LONG);

    rings_start(r, size);
    poke_desc(r, vring_desc_at(&r->vq.ring, VQ_SEGS_MAX - 1), BUFFER_AT, 1, 0, 0);
    assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_GOT);
    assert_int_equal(c.n_readable, VQ_SEGS_MAX);
}

/* Every buffer of @c is RAM, and the sums are right. */
static void assert_chain_is_sound(const struct rings *r, const struct vq_chain *c)
{
    uint64_t readable = 0, writable = 0;

    assert_in_range(c->n_readable + c->n_writable, 1, VQ_SEGS_MAX);
    for (uint32_t i = 0; i < c->n_readable + c->n_writable; i++) {
        assert_true(ram_holds(&r->ram, c->segs[i].gpa, c->segs[i].bytes));
        assert_int_not_equal(c->segs[i].bytes, 0);
        *(i < c->n_readable ? &readable : &writable) += c->segs[i].bytes;
    }
    assert_int_equal(c->readable_bytes, readable);
    assert_int_equal(c->writable_bytes, writable);
    assert_in_range(readable + writable, 1, VQ_CHAIN_BYTES_MAX);
}

/* Descriptors whose fields are likely to be nearly right. */
static void poke_random_desc(struct rings *r, struct prng *rng, uint64_t at)
{
    static const uint64_t places[] = {BUFFER_AT, TABLE_AT, RING_AT, RAM_BYTES - 16,
                                      UINT64_MAX - 16};
    const uint64_t place = places[prng_below(rng, ARRAY_LEN(places))];
    const uint64_t gpa = place + prng_below(rng, 32);
    const unsigned n_flags = prng_below(rng, 4) ? 4 : 8;
    const unsigned flags = (unsigned)prng_below(rng, n_flags);
    const uint16_t next = (uint16_t)prng_below(rng, QUEUE_SIZE + 1);
    uint32_t bytes = (uint32_t)prng_next(rng);

    if (prng_below(rng, 8))
        bytes = bytes % 8 * 16;
    poke_desc(r, at, gpa, bytes, flags, next);
}

static void random_rings_give_sound_chains_or_break(void **state)
{
    struct rings *r = *state;
    struct prng rng = prng_stream(1, 1);
    uint32_t n_got = 0;

    for (uint32_t round = 0; round < FUZZ_ROUNDS; round++) {
        uint8_t buffer[64];
        struct vq_chain c;

        rings_start(r, QUEUE_SIZE);
        for (uint32_t i = 0; i < QUEUE_SIZE; i++) {
            poke_random_desc(r, &rng, vring_desc_at(&r->vq.ring, i));
            poke_random_desc(r, &rng, TABLE_AT + i * VRING_DESC_BYTES);
            poke16(r, vring_avail_entry_at(&r->vq.ring, (uint16_t)i),
                   (uint16_t)prng_below(&rng, QUEUE_SIZE + 1));
        }
        poke16(r, vring_avail_idx_at(&r->vq.ring), (uint16_t)prng_below(&rng, QUEUE_SIZE + 2));
        while (vq_pop(&r->vq, &r->ram, &c) == VQ_GOT) {
            const size_t at = (size_t)prng_below(&rng, 200);

            n_got++;
            assert_chain_is_sound(r, &c);
            vq_chain_read(&r->ram, &c, at, buffer, sizeof(buffer));
            vq_chain_write(&r->ram, &c, at, buffer, sizeof(buffer));
            vq_push(&r->vq, &r->ram, c.head, (uint32_t)prng_next(&rng));
            vq_wants_interrupt(&r->vq, &r->ram);
        }
    }
    assert_in_range(n_got, FUZZ_ROUNDS / 10, FUZZ_ROUNDS * QUEUE_SIZE);
}

/* As if what the device gives back were what the driver offers next. */
static uint32_t take_all_of_a_turn(struct rings *r, uint64_t tick)
{
    struct vq_chain c;
    uint32_t n = 0;

    while (!vq_turn_is_over(&r->vq, &r->ram, tick) && vq_pop(&r->vq, &r->ram, &c) == VQ_GOT) {
        assert_true(vq_push(&r->vq, &r->ram, c.head, 0));
        poke_avail(r, 0);
        assert_true(++n <= QUEUE_SIZE);
    }
    return n;
}

static void a_ring_that_feeds_itself_has_an_end_in_each_tick(void **state)
{
    struct rings *r = *state;

    rings_start(r, QUEUE_SIZE);
    poke_desc(r, vring_desc_at(&r->vq.ring, 0), BUFFER_AT, 1, 0, 0);
    poke16(r, vring_avail_idx_at(&r->vq.ring), 0);
    poke_avail(r, 0);
    for (uint64_t tick = 1; tick < 4; tick++)
        assert_int_equal(take_all_of_a_turn(r, tick), QUEUE_SIZE);
}

static void a_full_ring_is_taken_in_one_turn_which_is_not_over_then(void **state)
{
    struct rings *r = *state;
    struct vq_chain c;

    rings_start(r, QUEUE_SIZE);
    poke16(r, vring_avail_idx_at(&r->vq.ring), 0);
    for (uint16_t i = 0; i < QUEUE_SIZE; i++) {
        poke_desc(r, vring_desc_at(&r->vq.ring, i), BUFFER_AT, 1, 0, 0);
        poke_avail(r, i);
    }
    for (uint32_t i = 0; i < QUEUE_SIZE; i++) {
        assert_false(vq_turn_is_over(&r->vq, &r->ram, 1));
        assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_GOT);
    }
    assert_false(vq_turn_is_over(&r->vq, &r->ram, 1)); /* there is nothing to come back for */
    assert_int_equal(vq_pop(&r->vq, &r->ram, &c), VQ_EMPTY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_broken_chain_has_its_error, rings_set_up,
                                        rings_tear_down),
        cmocka_unit_test_setup_teardown(an_index_ahead_of_the_queue_breaks_it, rings_set_up,
                                        rings_tear_down),
        cmocka_unit_test_setup_teardown(a_head_outside_the_table_breaks_it, rings_set_up,
                                        rings_tear_down),
        cmocka_unit_test_setup_teardown(a_ring_outside_ram_breaks_the_queue, rings_set_up,
                                        rings_tear_down),
        cmocka_unit_test_setup_teardown(a_long_chain_is_told_from_a_loop, rings_set_up,
                                        rings_tear_down),
        cmocka_unit_test_setup_teardown(random_rings_give_sound_chains_or_break, rings_set_up,
                                        rings_tear_down),
        cmocka_unit_test_setup_teardown(a_ring_that_feeds_itself_has_an_end_in_each_tick,
                                        rings_set_up, rings_tear_down),
        cmocka_unit_test_setup_teardown(a_full_ring_is_taken_in_one_turn_which_is_not_over_then,
                                        rings_set_up, rings_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
