/* SPDX-License-Identifier: MIT */
/* Foreign RAM consists of the regions of the last map only. */
#include "testing.h"

#include <string.h>

#include "emu/mem/ram.h"

#define PAGE ((uint64_t)RAM_PAGE_BYTES)

struct fixture {
    struct arena *arena;
    struct ram ram;
    uint8_t low[4 * RAM_PAGE_BYTES], high[2 * RAM_PAGE_BYTES], rom[RAM_PAGE_BYTES];
};

/* low at 0, rom right behind it, a hole, high at 8 pages. */
static void map_all(struct fixture *f)
{
    const struct ram_region regions[] = {
        {0, sizeof(f->low), f->low, true},
        {4 * PAGE, sizeof(f->rom), f->rom, false},
        {8 * PAGE, sizeof(f->high), f->high, true},
    };

    ram_map(&f->ram, regions, ARRAY_LEN(regions));
}

static int set_up(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));

    f->arena = arena_new((size_t)1 << 30);
    assert_true(ram_init_foreign(&f->ram, f->arena));
    memset(f->low, 1, sizeof(f->low));
    memset(f->rom, 2, sizeof(f->rom));
    memset(f->high, 3, sizeof(f->high));
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

static void without_a_map_nothing_is_ram(void **state)
{
    struct fixture *f = *state;
    uint8_t byte = 0x5a;

    assert_false(ram_read(&f->ram, 0, &byte, 1));
    assert_false(ram_write(&f->ram, 0, &byte, 1));
    assert_int_equal(byte, 0x5a);
    assert_null(ram_page(&f->ram, 0));
}

static void what_is_in_a_hole_or_read_only_is_refused_whole(void **state)
{
    struct fixture *f = *state;
    static const struct {
        uint64_t gpa;
        size_t n;
        bool reads, writes;
    } rows[] = {
        {0, 4 * RAM_PAGE_BYTES, true, true},
        {0, 5 * RAM_PAGE_BYTES, true, false}, /* its end is read-only */
        {4 * PAGE - 2, 4, true, false},       /* from one region into the next */
        {4 * PAGE, 8, true, false},           /* all of it is */
        {5 * PAGE - 4, 8, false, false},      /* into the hole */
        {6 * PAGE, 8, false, false},          /* in it */
        {8 * PAGE - 4, 8, false, false},      /* out of it */
        {8 * PAGE, 2 * RAM_PAGE_BYTES, true, true},
        {10 * PAGE - 4, 8, false, false}, /* beyond the end */
        {UINT64_MAX - 3, 4, false, false},
        {UINT64_MAX - 3, 8, false, false}, /* around 2^64 */
    };
    static uint8_t buf[8 * RAM_PAGE_BYTES];

    map_all(f);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        memset(buf, 0x5a, sizeof(buf));
        assert_int_equal(ram_holds(&f->ram, rows[i].gpa, rows[i].n), rows[i].reads);
        assert_int_equal(ram_read(&f->ram, rows[i].gpa, buf, rows[i].n), rows[i].reads);
        if (!rows[i].reads)
            assert_int_equal(buf[0], 0x5a);
        memset(buf, 0x77, sizeof(buf));
        assert_int_equal(ram_write(&f->ram, rows[i].gpa, buf, rows[i].n), rows[i].writes);
        assert_int_equal(ram_zero(&f->ram, rows[i].gpa, rows[i].n), rows[i].writes);
    }
    assert_int_equal(f->rom[0], 2); /* nothing was written, not even the part before it */
}

static void the_other_side_sees_each_byte_at_once(void **state)
{
    struct fixture *f = *state;
    uint8_t got[4];

    map_all(f);
    assert_true(ram_write(&f->ram, 9 * PAGE - 2, "abcd", 4));
    assert_memory_equal(f->high + PAGE - 2, "abcd", 4);
    f->high[PAGE] = 'x'; /* the machine writes; the page was found before */
    assert_true(ram_read(&f->ram, 9 * PAGE - 2, got, 4));
    assert_memory_equal(got, "abxd", 4);
    assert_true(ram_write_run(&f->ram, PAGE + 8, "run", 3));
    assert_memory_equal(f->low + PAGE + 8, "run", 3);
}

/* Pages that were found in one map are looked for again in the next. */
static void a_new_map_replaces_the_old_one_whole(void **state)
{
    struct fixture *f = *state;
    const struct ram_region moved = {PAGE, sizeof(f->high), f->high, true};
    uint8_t byte;
    uint64_t forgotten;

    map_all(f);
    forgotten = f->ram.forgotten;
    assert_true(ram_read(&f->ram, PAGE, &byte, 1));
    assert_int_equal(byte, 1);
    ram_map(&f->ram, &moved, 1);
    assert_true(f->ram.forgotten > forgotten);
    assert_false(ram_read(&f->ram, 0, &byte, 1));
    assert_true(ram_read(&f->ram, PAGE, &byte, 1));
    assert_int_equal(byte, 3);
    ram_map(&f->ram, NULL, 0);
    assert_false(ram_read(&f->ram, PAGE, &byte, 1));
}

/* A device that was told of a page earlier may come back when it is gone. */
static void what_has_gone_reads_as_zero_and_takes_nothing(void **state)
{
    struct fixture *f = *state;

    map_all(f);
    assert_int_equal(*ram_look(&f->ram, 4 * PAGE + 5, 1), 2);
    assert_false(ram_write_run(&f->ram, 4 * PAGE, "rom", 3));
    assert_int_equal(*ram_look(&f->ram, 6 * PAGE + 5, 1), 0);
    ram_map(&f->ram, NULL, 0);
    assert_int_equal(*ram_look(&f->ram, PAGE, 1), 0);
    assert_false(ram_write_run(&f->ram, PAGE, "gone", 4));
    assert_int_equal(f->low[RAM_PAGE_BYTES], 1);
}

/* A read-only page that was just read is not found by the next write. */
static void reading_a_page_gives_no_right_to_write_it(void **state)
{
    struct fixture *f = *state;
    uint8_t byte;

    map_all(f);
    assert_true(ram_read(&f->ram, 4 * PAGE, &byte, 1));
    assert_true(ram_read(&f->ram, 4 * PAGE, &byte, 1));
    assert_false(ram_write(&f->ram, 4 * PAGE, "x", 1));
    assert_int_equal(f->rom[0], 2);
    assert_null(ram_page(&f->ram, 4));
}

static void of_a_region_only_whole_pages_count(void **state)
{
    struct fixture *f = *state;
    const struct ram_region odd[] = {
        {PAGE - 16, PAGE + 32, f->low, true}, /* one whole page, 16 bytes into it */
        {8 * PAGE + 1, PAGE, f->high, true},  /* none */
        {16 * PAGE, 100, f->high, true},      /* none */
    };
    uint8_t byte;

    f->low[16] = 9;
    ram_map(&f->ram, odd, ARRAY_LEN(odd));
    assert_int_equal(f->ram.bytes, 2 * PAGE);
    assert_false(ram_read(&f->ram, PAGE - 1, &byte, 1));
    assert_true(ram_read(&f->ram, PAGE, &byte, 1));
    assert_int_equal(byte, 9);
    assert_false(ram_read(&f->ram, 2 * PAGE, &byte, 1));
    assert_false(ram_read(&f->ram, 8 * PAGE + 1, &byte, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_a_map_nothing_is_ram, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_in_a_hole_or_read_only_is_refused_whole, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_other_side_sees_each_byte_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_new_map_replaces_the_old_one_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_has_gone_reads_as_zero_and_takes_nothing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(reading_a_page_gives_no_right_to_write_it, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(of_a_region_only_whole_pages_count, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
