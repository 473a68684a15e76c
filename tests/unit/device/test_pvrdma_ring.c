/* SPDX-License-Identifier: MIT */
/* Page directories and rings of PVRDMA.  The test is the driver. */
#include "testing.h"

#include "emu/base/cursor.h"
#include "emu/device/pvrdma/ring.h"
#include "emu/trace/trace.h"

#define RAM_BYTES (4u << 20)
#define DIR_AT    0x10000u /* directory; its tables are in the pages behind it */
#define PAGES_AT  0x40000u
#define N         8u
#define SLOT      32u

struct bench {
    struct arena *arena;
    struct sim sim;
    struct trace trace;
    struct ram ram;
    struct hca hca; /* only what pages need: arena, RAM, the last refusal */
    struct pv_pages pages;
};

static void poke64(struct bench *b, uint64_t gpa, uint64_t v)
{
    uint8_t le[8];

    st_le64(le, v);
    assert_true(ram_write(&b->ram, gpa, le, sizeof(le)));
}

static void poke32(struct bench *b, uint64_t gpa, uint32_t v)
{
    uint8_t le[4];

    st_le32(le, v);
    assert_true(ram_write(&b->ram, gpa, le, sizeof(le)));
}

static uint32_t peek32(const struct bench *b, uint64_t gpa)
{
    uint8_t le[4];

    assert_true(ram_read(&b->ram, gpa, le, sizeof(le)));
    return ld_le32(le);
}

/* A directory of @n pages in reverse order, so that none is where the next would be. */
static uint64_t page_at(uint32_t i, uint32_t n)
{
    return PAGES_AT + (uint64_t)(n - 1 - i) * PV_PAGE_BYTES;
}

static void make_directory(struct bench *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t table = DIR_AT + PV_PAGE_BYTES * (1 + i / PV_TABLE_PAGES);

        poke64(b, DIR_AT + 8 * (i / PV_TABLE_PAGES), table);
        poke64(b, table + 8 * (i % PV_TABLE_PAGES), page_at(i, n));
    }
}

static enum refusal_reason take(struct bench *b, uint64_t at, uint32_t said, uint32_t need)
{
    return pv_pages_read(&b->hca, &(struct pv_directory){at, said, need}, &b->pages);
}

static int set_up(void **state)
{
    struct bench *b = test_calloc(1, sizeof(*b));

    b->arena = arena_new((size_t)1 << 30);
    assert_true(ram_init(&b->ram, b->arena, RAM_BYTES));
    b->hca.arena = b->arena;
    b->hca.ram = &b->ram;
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;

    arena_free(b->arena);
    test_free(b);
    return 0;
}

static void directories_may_have_several_tables(void **state)
{
    struct bench *b = *state;
    const uint32_t n = PV_TABLE_PAGES + 3;
    const size_t before = arena_live_bytes(b->arena);

    make_directory(b, n);
    assert_int_equal(take(b, DIR_AT, n, n), REF_NONE);
    assert_int_equal(b->pages.n, n);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(b->pages.gpa[i], page_at(i, n));
    pv_pages_free(&b->hca, &b->pages);
    assert_null(b->pages.gpa);
    pv_pages_free(&b->hca, &b->pages);
    assert_true(arena_live_bytes(b->arena) >= before); /* pages of RAM were written */
}

static void directories_are_not_trusted(void **state)
{
    struct bench *b = *state;
    size_t before;

    make_directory(b, 4);
    before = arena_live_bytes(b->arena);
    assert_int_equal(take(b, DIR_AT, 3, 4), REF_PAGE_LIST_LENGTH);
    assert_int_equal(take(b, DIR_AT, PV_PAGES_MAX + 1, 4), REF_PAGE_LIST_LENGTH);
    assert_int_equal(take(b, DIR_AT + 8, 4, 4), REF_PAGE_LIST_MEMORY);
    assert_int_equal(take(b, RAM_BYTES, 4, 4), REF_PAGE_LIST_MEMORY);
    assert_int_equal(take(b, UINT64_MAX - 4095, 4, 4), REF_PAGE_LIST_MEMORY);
    poke64(b, DIR_AT, RAM_BYTES);
    assert_int_equal(take(b, DIR_AT, 4, 4), REF_PAGE_LIST_MEMORY);
    make_directory(b, 4);
    poke64(b, DIR_AT + PV_PAGE_BYTES + 8 * 3, 1);
    assert_int_equal(take(b, DIR_AT, 4, 4), REF_PAGE_MEMORY);
    assert_int_equal(b->hca.refused.values.found, 1);
    assert_int_equal(arena_live_bytes(b->arena), before);
    assert_int_equal(take(b, DIR_AT, 4, 3), REF_NONE); /* the wrong page is not read */
    pv_pages_free(&b->hca, &b->pages);
}

/* A ring of N slots of SLOT bytes in pages 1 and on, with empty indices. */
static struct pv_ring ring(struct bench *b, uint32_t state_at)
{
    make_directory(b, 2);
    assert_int_equal(take(b, DIR_AT, 2, 2), REF_NONE);
    return (struct pv_ring){.pages = &b->pages,
                            .state_at = state_at,
                            .first_page = 1,
                            .n = N,
                            .slot_bytes = SLOT,
                            .most = N};
}

static void entries_are_taken_in_order_and_end_in_order(void **state)
{
    struct bench *b = *state;
    struct pv_ring r = ring(b, PV_RING_RX);
    const uint64_t tail = page_at(0, 2) + 8, head = page_at(0, 2) + 12, slots = page_at(1, 2);
    uint32_t out[SLOT / 4], slot, put = 0;

    for (uint32_t round = 0; round < 5 * N; round++) {
        poke32(b, slots + (put % N) * SLOT, 100 + round);
        poke32(b, tail, put = (put + 1) % (2 * N));
        assert_int_equal(pv_ring_waiting(&b->ram, &r), 1);
        assert_int_equal(pv_ring_take(&b->ram, &r, round, out, &slot), PV_TAKEN);
        assert_int_equal(out[0], 100 + round);
        assert_int_equal(slot, round % N);
        assert_int_equal(pv_ring_take(&b->ram, &r, round, out, &slot), PV_EMPTY);
        assert_int_equal(peek32(b, head), (put + 2 * N - 1) % (2 * N)); /* it is not over */
        pv_ring_end(&b->ram, &r);
        assert_int_equal(peek32(b, head), put);
    }
    pv_pages_free(&b->hca, &b->pages);
}

static void a_ring_gives_no_more_than_its_slots_in_a_tick(void **state)
{
    struct bench *b = *state;
    struct pv_ring r = ring(b, PV_RING_TX);
    uint32_t out[SLOT / 4], slot;

    for (uint32_t i = 0; i < N; i++) {
        poke32(b, page_at(0, 2), (i + 1) % (2 * N));
        assert_int_equal(pv_ring_take(&b->ram, &r, 7, out, &slot), PV_TAKEN);
        pv_ring_end(&b->ram, &r);
    }
    poke32(b, page_at(0, 2), N + 1);
    assert_int_equal(pv_ring_take(&b->ram, &r, 7, out, &slot), PV_TURN_IS_OVER);
    assert_int_equal(pv_ring_take(&b->ram, &r, 8, out, &slot), PV_TAKEN);
    pv_pages_free(&b->hca, &b->pages);
}

static void wrong_indices_break_a_ring_until_it_restarts(void **state)
{
    static const uint32_t wrong[] = {N + 1, 2 * N, 2 * N - 1, UINT32_MAX, 0x80000000};
    struct bench *b = *state;
    struct pv_ring r = ring(b, PV_RING_TX);
    uint32_t out[SLOT / 4], slot;

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        poke32(b, page_at(0, 2), wrong[i]);
        assert_int_equal(pv_ring_waiting(&b->ram, &r), 0);
        assert_false(r.broken);
        assert_int_equal(pv_ring_take(&b->ram, &r, i, out, &slot), PV_BROKEN);
        poke32(b, page_at(0, 2), 1);
        assert_int_equal(pv_ring_take(&b->ram, &r, i, out, &slot), PV_BROKEN);
        pv_ring_restart(&r);
        assert_int_equal(pv_ring_take(&b->ram, &r, i, out, &slot), PV_TAKEN);
        pv_ring_restart(&r);
    }
    pv_pages_free(&b->hca, &b->pages);
}

/* A restart forgets entries that are over, and those that are not; the driver begins at 0 again. */
static void a_restart_begins_at_the_first_slot(void **state)
{
    struct bench *b = *state;
    struct pv_ring r = ring(b, PV_RING_TX);
    const uint64_t tail = page_at(0, 2), head = page_at(0, 2) + 4;
    uint32_t out[SLOT / 4], slot;

    poke32(b, tail, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(pv_ring_take(&b->ram, &r, 1, out, &slot), PV_TAKEN);
    assert_true(pv_ring_end(&b->ram, &r));
    pv_ring_restart(&r);
    assert_false(pv_ring_end(&b->ram, &r)); /* an entry that was not over is none any more */
    poke32(b, head, 0);
    poke32(b, tail, N);
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(pv_ring_take(&b->ram, &r, 2, out, &slot), PV_TAKEN);
        assert_int_equal(slot, i);
        assert_true(pv_ring_end(&b->ram, &r));
        assert_int_equal(peek32(b, head), i + 1);
    }
    pv_pages_free(&b->hca, &b->pages);
}

/* A driver that posts over requests that are not over has posted too many. */
static void entries_that_are_not_over_count(void **state)
{
    struct bench *b = *state;
    struct pv_ring r = ring(b, PV_RING_TX);
    uint32_t out[SLOT / 4], slot;

    poke32(b, page_at(0, 2), 1);
    assert_int_equal(pv_ring_take(&b->ram, &r, 1, out, &slot), PV_TAKEN);
    poke32(b, page_at(0, 2), N);
    assert_int_equal(pv_ring_waiting(&b->ram, &r), N - 1);
    poke32(b, page_at(0, 2), N + 1);
    assert_int_equal(pv_ring_take(&b->ram, &r, 1, out, &slot), PV_BROKEN);
    pv_pages_free(&b->hca, &b->pages);
}

static void the_device_puts_entries_until_the_ring_is_full(void **state)
{
    struct bench *b = *state;
    struct pv_ring r = ring(b, PV_RING_RX);
    const uint64_t tail = page_at(0, 2) + 8, head = page_at(0, 2) + 12, slots = page_at(1, 2);
    uint32_t in[SLOT / 4] = {0};

    r.most = N - 1;
    for (in[0] = 0; in[0] < N - 1; in[0]++)
        assert_true(pv_ring_put(&b->ram, &r, in));
    assert_false(pv_ring_put(&b->ram, &r, in));
    assert_int_equal(peek32(b, tail), N - 1);
    for (uint32_t i = 0; i < N - 1; i++)
        assert_int_equal(peek32(b, slots + i * SLOT), i);
    poke32(b, head, 2 * N); /* no index: no room */
    assert_false(pv_ring_put(&b->ram, &r, in));
    poke32(b, head, 1);
    assert_true(pv_ring_put(&b->ram, &r, in));
    assert_false(pv_ring_put(&b->ram, &r, in));
    pv_pages_free(&b->hca, &b->pages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(directories_may_have_several_tables, set_up, tear_down),
        cmocka_unit_test_setup_teardown(directories_are_not_trusted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(entries_are_taken_in_order_and_end_in_order, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_ring_gives_no_more_than_its_slots_in_a_tick, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(wrong_indices_break_a_ring_until_it_restarts, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_restart_begins_at_the_first_slot, set_up, tear_down),
        cmocka_unit_test_setup_teardown(entries_that_are_not_over_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_device_puts_entries_until_the_ring_is_full, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
