/* SPDX-License-Identifier: MIT */
/* Guest RAM is sparse and checked; the guest's pages are scattered and separated. */
#include "testing.h"

#include <string.h>

#include "emu/mem/space.h"

struct fixture {
    struct arena *arena;
    struct ram ram;
    struct space space;
};

static int set_up(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));
    struct prng rng = prng_stream(1, 1);

    f->arena = arena_new((size_t)1 << 30);
    assert_true(ram_init(&f->ram, f->arena, 1u << 20));
    assert_true(space_init(&f->space, &f->ram, &rng));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    arena_free(f->arena);
    test_free(f);
    return 0;
}

static void dma_outside_ram_copies_nothing(void **state)
{
    struct fixture *f = *state;
    static const struct {
        uint64_t gpa;
        size_t n;
        bool ok;
    } rows[] = {
        {0, 0, true},
        {0, 1u << 20, true},
        {(1u << 20) - 1, 1, true},
        {(1u << 20) - 1, 2, false},
        {1u << 20, 0, true},
        {1u << 20, 1, false},
        {UINT64_MAX, 1, false},
        {UINT64_MAX - 1, 4, false},
        {0, (1u << 20) + 1, false},
    };
    static uint8_t buf[(1u << 20) + 16];

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        memset(buf, 0x5a, sizeof(buf));
        assert_int_equal(ram_read(&f->ram, rows[i].gpa, buf, rows[i].n), rows[i].ok);
        if (!rows[i].ok)
            assert_int_equal(buf[0], 0x5a);
        assert_int_equal(ram_write(&f->ram, rows[i].gpa, buf, rows[i].n), rows[i].ok);
    }
}

static void unwritten_pages_read_as_zero_and_take_no_memory(void **state)
{
    struct fixture *f = *state;
    const size_t before = arena_used_bytes(f->arena);
    uint8_t buf[64];

    assert_true(ram_read(&f->ram, 5 * RAM_PAGE_BYTES - 32, buf, sizeof(buf)));
    for (size_t i = 0; i < sizeof(buf); i++)
        assert_int_equal(buf[i], 0);
    assert_int_equal(arena_used_bytes(f->arena), before);
}

static bool was_found(const struct fixture *f, uint64_t gpa, size_t n)
{
    return ram_in_page(ram_recent_of(&f->ram, gpa), gpa, n);
}

/* Two pages that share an entry of what was found lately, one of them never written. */
static void what_was_found_lately_is_found_again_and_nothing_else(void **state)
{
    struct fixture *f = *state;
    const uint64_t page = 3, same_entry = 3 + RAM_RECENT;
    const uint64_t at = (page + 1) * RAM_PAGE_BYTES - 2;
    const uint16_t word = 0x1234;
    uint16_t found;

    assert_false(was_found(f, at, sizeof(word)));
    assert_true(ram_write(&f->ram, at, &word, sizeof(word)));
    assert_true(was_found(f, at, sizeof(word)));
    assert_false(was_found(f, at + 1, sizeof(word))); /* goes on in another page */
    assert_false(was_found(f, at - RAM_PAGE_BYTES, RAM_PAGE_BYTES + 1u));
    assert_false(was_found(f, at + RAM_RECENT * RAM_PAGE_BYTES, sizeof(word)));

    assert_true(ram_read(&f->ram, same_entry * RAM_PAGE_BYTES, &found, sizeof(found)));
    assert_int_equal(found, 0);
    assert_true(ram_write(&f->ram, same_entry * RAM_PAGE_BYTES, &word, sizeof(word)));
    assert_true(ram_read(&f->ram, at, &found, sizeof(found)));
    assert_int_equal(found, word);

    ram_forget(&f->ram, page);
    assert_false(was_found(f, at, sizeof(word)));
    assert_true(ram_read(&f->ram, at, &found, sizeof(found)));
    assert_int_equal(found, 0);
}

/* Payload in a page that exists, in one that shares its entry of what was found lately, and in one
 * that was never written.
 */
static void payload_in_one_page_leaves_what_was_found_lately(void **state)
{
    struct fixture *f = *state;
    const uint64_t ring = 3 * RAM_PAGE_BYTES, same_entry = ring + RAM_RECENT * RAM_PAGE_BYTES;
    static const uint8_t zeros[RAM_PAGE_BYTES];
    uint8_t page[RAM_PAGE_BYTES];

    memset(page, 0x5a, sizeof(page));
    assert_true(ram_write_run(&f->ram, same_entry, page, sizeof(page)));
    assert_true(ram_write(&f->ram, ring, page, 1));
    assert_true(was_found(f, ring, 1));

    page[7] = 0xa5;
    assert_true(ram_write_run(&f->ram, same_entry + 7, page + 7, sizeof(page) - 7));
    assert_memory_equal(ram_look(&f->ram, same_entry, sizeof(page)), page, sizeof(page));
    assert_true(was_found(f, ring, 1));

    ram_forget(&f->ram, same_entry / RAM_PAGE_BYTES);
    assert_memory_equal(ram_look(&f->ram, same_entry, sizeof(zeros)), zeros, sizeof(zeros));
    assert_true(was_found(f, ring, 1));
}

static void virtual_pages_are_scattered_over_ram(void **state)
{
    struct fixture *f = *state;
    const uint64_t addr = space_alloc(&f->space, 16 * RAM_PAGE_BYTES);
    uint64_t last = 0, gpa;
    uint32_t neighbours = 0;

    assert_true(addr != 0 && addr % RAM_PAGE_BYTES == 0);
    for (uint64_t i = 0; i < 16; i++) {
        assert_true(space_translate(&f->space, addr + i * RAM_PAGE_BYTES + 7, &gpa));
        assert_int_equal(gpa % RAM_PAGE_BYTES, 7);
        neighbours += gpa == last + RAM_PAGE_BYTES;
        last = gpa;
    }
    assert_true(neighbours < 4);
}

static void a_page_between_allocations_is_unmapped(void **state)
{
    struct fixture *f = *state;
    const uint64_t a = space_alloc(&f->space, 4096);
    const uint64_t b = space_alloc(&f->space, 1);
    uint8_t two[2] = {1, 2};

    assert_true(b >= a + 2 * RAM_PAGE_BYTES);
    assert_true(space_write(&f->space, a + 4094, two, 2));
    assert_false(space_write(&f->space, a + 4095, (const uint8_t[]){7, 7}, 2));
    assert_true(space_read(&f->space, a + 4094, two, 2));
    assert_int_equal(two[1], 2); /* nothing was copied */
    assert_false(space_read(&f->space, a - 1, two, 2));
    assert_false(space_read(&f->space, UINT64_MAX, two, 2));
    assert_false(space_read(&f->space, 0, two, 2));
}

static void bytes_survive_page_boundaries(void **state)
{
    struct fixture *f = *state;
    const uint64_t addr = space_alloc(&f->space, 3 * RAM_PAGE_BYTES);
    uint8_t in[9000], out[9000];

    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = (uint8_t)(i * 7 + i / 256);
    assert_true(space_write(&f->space, addr + 100, in, sizeof(in)));
    assert_true(space_read(&f->space, addr + 100, out, sizeof(out)));
    assert_memory_equal(in, out, sizeof(in));
}

/* Even where a device wrote that was told a wrong address. */
static void memory_comes_zeroed_until_there_is_no_more(void **state)
{
    struct fixture *f = *state;
    const uint64_t bytes = 10 * RAM_PAGE_BYTES;
    uint64_t addr, word = UINT64_MAX;
    uint32_t n = 0;

    for (uint64_t gpa = 0; gpa < f->ram.bytes; gpa += RAM_PAGE_BYTES)
        assert_true(ram_write(&f->ram, gpa, &word, sizeof(word)));
    while ((addr = space_alloc(&f->space, bytes)) != 0) {
        for (uint64_t at = addr; at < addr + bytes; at += RAM_PAGE_BYTES) {
            word = UINT64_MAX;
            assert_true(space_read(&f->space, at, &word, sizeof(word)));
            assert_true(word == 0);
        }
        n++;
    }
    assert_int_equal(n, f->ram.bytes / 8 * 7 / bytes); /* an eighth is for DMA */
}

static void every_page_is_handed_out_once(void **state)
{
    struct fixture *f = *state;
    static bool seen[(1u << 20) / RAM_PAGE_BYTES];
    uint64_t addr, gpa;
    uint32_t n = 0;

    memset(seen, 0, sizeof(seen));
    for (; (addr = space_alloc(&f->space, 1)) != 0; n++) {
        assert_true(space_translate(&f->space, addr, &gpa));
        assert_in_range(gpa, f->space.dma_end, f->ram.bytes - RAM_PAGE_BYTES);
        assert_false(seen[gpa / RAM_PAGE_BYTES]);
        seen[gpa / RAM_PAGE_BYTES] = true;
    }
    assert_int_equal(n, ARRAY_LEN(seen) / 8 * 7);
}

static void an_allocation_is_found_by_any_address_in_it(void **state)
{
    struct fixture *f = *state;
    const uint64_t a = space_alloc(&f->space, 2 * RAM_PAGE_BYTES + 1);
    const uint64_t b = space_alloc(&f->space, 1);
    uint64_t bytes;

    assert_true(space_alloc_at(&f->space, a, &bytes) == a);
    assert_int_equal(bytes, 3 * RAM_PAGE_BYTES);
    assert_true(space_alloc_at(&f->space, a + 3 * RAM_PAGE_BYTES - 1, &bytes) == a);
    assert_true(space_alloc_at(&f->space, b + 17, &bytes) == b);
    assert_int_equal(bytes, RAM_PAGE_BYTES);
    assert_true(space_alloc_at(&f->space, a + 3 * RAM_PAGE_BYTES, &bytes) == 0);
    assert_true(space_alloc_at(&f->space, a - 1, &bytes) == 0);
}

/* What is given back reads as nothing, and is given again: the lowest hole first, and the same
 * pages for the same allocation.
 */
static void what_is_given_back_is_used_again(void **state)
{
    struct fixture *f = *state;
    const uint64_t a = space_alloc(&f->space, 4 * RAM_PAGE_BYTES);
    const uint64_t b = space_alloc(&f->space, 4 * RAM_PAGE_BYTES);
    const uint64_t c = space_alloc(&f->space, 1);
    uint64_t gpa, again;
    uint8_t byte = 7;

    assert_true(space_translate(&f->space, b, &gpa));
    assert_true(space_write(&f->space, b, &byte, 1));
    space_free(&f->space, b + RAM_PAGE_BYTES);
    assert_false(space_read(&f->space, b, &byte, 1));
    assert_true(space_alloc(&f->space, 4 * RAM_PAGE_BYTES) == b);
    assert_true(space_translate(&f->space, b, &again) && again == gpa);
    assert_true(space_read(&f->space, b, &byte, 1) && byte == 0);
    space_free(&f->space, b);
    space_free(&f->space, a); /* one hole now, of both and the pages behind them */
    assert_true(space_alloc(&f->space, 9 * RAM_PAGE_BYTES) == a);
    space_free(&f->space, c);
    space_free(&f->space, a);
    assert_int_equal(f->space.n_table, 0);
    assert_int_equal(f->space.n_holes, 0);
    assert_int_equal(f->space.n_allocs, 0);
}

/* Such a stretch would begin again at address 0. */
static void nothing_behind_the_last_address_is_mapped(void **state)
{
    struct fixture *f = *state;
    const uint64_t a = space_alloc(&f->space, RAM_PAGE_BYTES);

    assert_true(space_is_mapped(&f->space, a, RAM_PAGE_BYTES));
    assert_false(space_is_mapped(&f->space, UINT64_MAX - 10, 20));
    assert_false(space_is_mapped(&f->space, UINT64_MAX - 10, 11));
    assert_false(space_is_mapped(&f->space, UINT64_MAX, 1));
    assert_false(space_is_mapped(&f->space, a, UINT64_MAX));
    assert_false(space_is_mapped(&f->space, a, UINT64_MAX - a));
}

/* Each page of it, from the first to the last, and whichever address named it. */
static void what_is_given_back_is_not_mapped_any_more(void **state)
{
    static const uint64_t sizes[] = {1, 2, 3, 8};
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        const uint64_t a = space_alloc(&f->space, sizes[i] * RAM_PAGE_BYTES);
        const uint64_t behind = space_alloc(&f->space, 16 * RAM_PAGE_BYTES); /* a hole remains */
        uint64_t gpa;

        assert_true(a != 0 && behind > a);
        space_free(&f->space, a + (sizes[i] - 1) * RAM_PAGE_BYTES);
        for (uint64_t page = 0; page < sizes[i]; page++)
            assert_false(space_translate(&f->space, a + page * RAM_PAGE_BYTES, &gpa));
        assert_true(space_is_mapped(&f->space, behind, RAM_PAGE_BYTES));
    }
}

/* Whatever comes and goes, no two allocations touch, each keeps its bytes, and nothing is lost. */
static void memory_may_come_and_go_for_ever(void **state)
{
    struct fixture *f = *state;
    struct prng rng = prng_stream(5, 5);
    struct {
        uint64_t addr, bytes;
        uint8_t mark;
    } live[24] = {{0}};
    size_t used = 0;

    for (uint32_t round = 0; round < 20000; round++) {
        const size_t i = (size_t)prng_below(&rng, ARRAY_LEN(live));
        uint8_t ends[2];

        if (round == 5000)
            used = arena_used_bytes(f->arena);
        if (live[i].addr) {
            assert_true(space_read(&f->space, live[i].addr, &ends[0], 1));
            assert_true(space_read(&f->space, live[i].addr + live[i].bytes - 1, &ends[1], 1));
            assert_true(ends[0] == live[i].mark && ends[1] == live[i].mark);
            assert_false(space_is_mapped(&f->space, live[i].addr - 1, 1));
            space_free(&f->space, live[i].addr);
            live[i].addr = 0;
            continue;
        }
        live[i].bytes = (1 + prng_below(&rng, 20)) * RAM_PAGE_BYTES;
        live[i].addr = space_alloc(&f->space, live[i].bytes);
        live[i].mark = (uint8_t)(1 + round % 255);
        if (!live[i].addr)
            continue; /* there is no more just now */
        ends[0] = live[i].mark;
        assert_true(space_write(&f->space, live[i].addr, ends, 1));
        assert_true(space_write(&f->space, live[i].addr + live[i].bytes - 1, ends, 1));
    }
    assert_in_range(arena_used_bytes(f->arena), used, used + 64 * RAM_PAGE_BYTES);
    for (size_t i = 0; i < ARRAY_LEN(live); i++) {
        if (live[i].addr)
            space_free(&f->space, live[i].addr);
    }
    assert_true(space_alloc(&f->space, f->ram.bytes / 8 * 7) != 0);
}

static void dma_memory_is_contiguous_aligned_and_bounded(void **state)
{
    struct fixture *f = *state;
    const uint64_t a = space_alloc_dma(&f->space, 10, 2);
    const uint64_t b = space_alloc_dma(&f->space, 4096, 4096);

    assert_true(a != 0);
    assert_true(b >= a + 10 && b % 4096 == 0);
    assert_true(space_alloc_dma(&f->space, 1u << 20, 16) == 0);
}

static void zeros_are_written_where_something_was_and_make_no_page(void **state)
{
    struct fixture *f = *state;
    const uint64_t in_page = 3 * RAM_PAGE_BYTES + 100;
    uint8_t b[4] = {1, 2, 3, 4};
    size_t used;

    assert_true(ram_write(&f->ram, in_page, b, sizeof(b)));
    used = arena_live_bytes(f->arena);
    assert_true(ram_zero(&f->ram, 0, in_page + 2)); /* of the pages before it there is none */
    assert_true(ram_zero(&f->ram, in_page + 3, 10 * RAM_PAGE_BYTES));
    assert_int_equal(arena_live_bytes(f->arena), used);
    assert_true(ram_read(&f->ram, in_page, b, sizeof(b)));
    assert_memory_equal(b, ((const uint8_t[]){0, 0, 3, 0}), sizeof(b));

    assert_true(ram_zero(&f->ram, (1u << 20) - 1, 1));
    assert_false(ram_zero(&f->ram, (1u << 20) - 1, 2)); /* all or nothing */
    assert_false(ram_zero(&f->ram, in_page + 2, 1u << 20));
    assert_true(ram_read(&f->ram, in_page, b, sizeof(b)));
    assert_int_equal(b[2], 3);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(dma_outside_ram_copies_nothing),
        T(unwritten_pages_read_as_zero_and_take_no_memory),
        T(what_was_found_lately_is_found_again_and_nothing_else),
        T(payload_in_one_page_leaves_what_was_found_lately),
        T(virtual_pages_are_scattered_over_ram),
        T(a_page_between_allocations_is_unmapped),
        T(bytes_survive_page_boundaries),
        T(memory_comes_zeroed_until_there_is_no_more),
        T(every_page_is_handed_out_once),
        T(an_allocation_is_found_by_any_address_in_it),
        T(what_is_given_back_is_used_again),
        T(what_is_given_back_is_not_mapped_any_more),
        T(nothing_behind_the_last_address_is_mapped),
        T(memory_may_come_and_go_for_ever),
        T(dma_memory_is_contiguous_aligned_and_bounded),
        T(zeros_are_written_where_something_was_and_make_no_page),
    };

    return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
