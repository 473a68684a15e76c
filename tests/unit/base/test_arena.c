/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include <string.h>

#include "emu/base/arena.h"

#define ARENA_BYTES ((size_t)1 << 20)

static int arena_make(void **state)
{
    *state = arena_new(ARENA_BYTES);
    return *state ? 0 : -1;
}

static int arena_drop(void **state)
{
    arena_free(*state);
    return 0;
}

static void blocks_are_aligned_zeroed_and_apart(void **state)
{
    static const struct {
        size_t bytes, aligned;
    } rows[] = {{1, 16},   {15, 16},   {16, 16},     {17, 32},     {33, 64},     {64, 64},
                {100, 64}, {2048, 64}, {2049, 4096}, {4096, 4096}, {4097, 4096}, {10000, 4096}};
    uint8_t *blocks[ARRAY_LEN(rows)];
    struct arena *a = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        blocks[i] = arena_alloc(a, rows[i].bytes);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % rows[i].aligned, 0);
        for (size_t k = 0; k < rows[i].bytes; k++)
            assert_int_equal(blocks[i][k], 0);
        memset(blocks[i], (int)(i + 1), rows[i].bytes);
    }
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (size_t k = 0; k < rows[i].bytes; k++)
            assert_int_equal(blocks[i][k], i + 1);
    }
}

static void the_block_freed_last_is_given_first_and_zeroed_again(void **state)
{
    struct arena *a = *state;
    uint8_t *first = arena_alloc(a, 40), *second = arena_alloc(a, 40);
    const size_t used = arena_used_bytes(a);

    memset(first, 0xff, 40);
    memset(second, 0xff, 40);
    arena_release(a, first, 40);
    arena_release(a, second, 40);
    assert_ptr_equal(arena_alloc(a, 33), second); /* of the same class */
    assert_ptr_equal(arena_alloc_raw(a, 64), first);
    for (size_t k = 0; k < 33; k++)
        assert_int_equal(second[k], 0);
    assert_int_equal(arena_used_bytes(a), used);
}

static void a_full_arena_gives_nothing_and_goes_on(void **state)
{
    struct arena *a = *state;
    void *small = arena_alloc(a, 16);

    assert_non_null(small);
    assert_null(arena_alloc(a, ARENA_BYTES));
    assert_null(arena_alloc(a, SIZE_MAX));
    assert_null(arena_alloc(a, (size_t)1 << 40));
    while (arena_alloc(a, 16))
        ;
    assert_true(arena_used_bytes(a) <= ARENA_BYTES);
    arena_release(a, small, 16);
    assert_ptr_equal(arena_alloc(a, 16), small);
}

/* A block counts with the size of its class, from when it is handed out until it is given back. */
static void live_bytes_are_those_of_the_blocks_in_use(void **state)
{
    struct arena *a = *state;
    struct arena_checkpoint *c;
    void *small, *large;

    assert_int_equal(arena_live_bytes(a), 0);
    small = arena_alloc(a, 1);
    assert_int_equal(arena_live_bytes(a), 16);
    large = arena_alloc_raw(a, 4097);
    assert_int_equal(arena_live_bytes(a), 16 + 8192);
    assert_null(arena_alloc(a, ARENA_BYTES)); /* what is refused does not count */
    assert_int_equal(arena_live_bytes(a), 16 + 8192);
    c = arena_save(a);
    arena_release(a, small, 1);
    arena_release(a, NULL, 4096);
    assert_int_equal(arena_live_bytes(a), 8192);
    assert_ptr_equal(arena_alloc(a, 16), small); /* it is used again */
    assert_int_equal(arena_live_bytes(a), 16 + 8192);
    arena_release(a, small, 16);
    arena_release(a, large, 8192);
    assert_int_equal(arena_live_bytes(a), 0);
    arena_restore(a, c);
    assert_int_equal(arena_live_bytes(a), 16 + 8192);
    arena_checkpoint_free(c);
}

static void releasing_nothing_is_fine(void **state)
{
    arena_release(*state, NULL, 100);
    arena_release(*state, NULL, 0);
    arena_free(NULL);
    arena_checkpoint_free(NULL);
}

static void an_arena_too_small_for_itself_is_refused(void **state)
{
    (void)state;
    assert_null(arena_new(0));
    assert_null(arena_new(4095));
}

static void an_arena_takes_what_the_system_lets_it_have(void **state)
{
    const size_t never = (size_t)1 << 62; /* more than any processor addresses */
    struct arena *a = arena_new_within(ARENA_BYTES, never);

    (void)state;
    assert_null(arena_new(never));
    assert_null(arena_new_within(never / 2, never));
    assert_non_null(a);
    assert_non_null(arena_alloc(a, ARENA_BYTES / 2));
    arena_free(a);
}

static void an_arena_within_bounds_takes_the_most(void **state)
{
    struct arena *a = arena_new_within(4096, ARENA_BYTES);

    (void)state;
    assert_non_null(a);
    assert_non_null(arena_alloc(a, ARENA_BYTES / 2));
    arena_free(a);
    assert_null(arena_new_within(0, 4095));
    assert_null(arena_new_within(ARENA_BYTES, ARENA_BYTES - 1));
}

/* Three blocks of a linked structure, to see that pointers survive. */
struct node {
    struct node *next;
    int value;
};

static void restoring_brings_back_bytes_pointers_and_the_allocator(void **state)
{
    struct arena *a = *state;
    struct node *head = arena_alloc(a, sizeof(*head));
    struct node *tail = arena_alloc(a, sizeof(*tail));
    void *hole = arena_alloc(a, 200);
    struct arena_checkpoint *c;
    void *then[3];
    size_t used;

    *head = (struct node){tail, 1};
    *tail = (struct node){NULL, 2};
    arena_release(a, hole, 200);
    used = arena_used_bytes(a);
    c = arena_save(a);
    assert_non_null(c);

    for (unsigned round = 0; round < 2; round++) {
        void *now[] = {arena_alloc(a, 200), arena_alloc(a, 200), arena_alloc(a, 5000)};

        assert_ptr_equal(now[0], hole);
        if (round == 0)
            memcpy(then, now, sizeof(then));
        assert_memory_equal(now, then, sizeof(then));
        memset(now[2], 0x55, 5000);
        head->next = NULL;
        arena_release(a, tail, sizeof(*tail));

        arena_restore(a, c);
        assert_int_equal(arena_used_bytes(a), used);
        assert_ptr_equal(head->next, tail);
        assert_int_equal(tail->value, 2);
    }
    arena_checkpoint_free(c);
}

static void memory_taken_after_a_restore_is_zeroed(void **state)
{
    struct arena *a = *state;
    struct arena_checkpoint *c = arena_save(a);
    uint8_t *block = arena_alloc(a, 1000);

    assert_non_null(c);
    memset(block, 0xff, 1000);
    arena_restore(a, c);
    assert_ptr_equal(arena_alloc(a, 1000), block);
    for (size_t k = 0; k < 1000; k++)
        assert_int_equal(block[k], 0);
    arena_checkpoint_free(c);
}

/* Blocks of a page and more come and go; those in use and the free lists are as they were, and the
 * free ones cost nothing but their first line.
 */
static void free_pages_are_no_part_of_a_checkpoint(void **state)
{
    enum { N = 24 };
    static const size_t sizes[] = {100, 4096, 5000, 9000, 20000};
    struct arena *a = *state;
    struct arena_checkpoint *c, *full;
    uint8_t *blocks[N], *again[N];
    size_t freed = 0, bytes;

    for (size_t i = 0; i < N; i++) {
        blocks[i] = arena_alloc(a, sizes[i % ARRAY_LEN(sizes)]);
        assert_non_null(blocks[i]);
        memset(blocks[i], (int)i + 1, sizes[i % ARRAY_LEN(sizes)]);
    }
    full = arena_save(a);
    for (size_t i = 0; i < N; i += 2) {
        bytes = sizes[i % ARRAY_LEN(sizes)];
        arena_release(a, blocks[i], bytes);
        freed += bytes >= 4096 ? bytes : 0;
    }
    c = arena_save(a);
    assert_non_null(full);
    assert_non_null(c);
    assert_true(arena_checkpoint_bytes(full) >= arena_used_bytes(a));
    assert_true(arena_checkpoint_bytes(c) + freed < arena_checkpoint_bytes(full) + 24 * 100);
    for (unsigned round = 0; round < 2; round++) {
        memset(blocks[1], 0xee, 4096);
        for (size_t i = 0; i < N; i += 2) {
            uint8_t *now = arena_alloc(a, sizes[i % ARRAY_LEN(sizes)]);

            assert_non_null(now);
            if (round == 0)
                again[i] = now;
            assert_ptr_equal(now, again[i]);
            memset(now, 0xdd, sizes[i % ARRAY_LEN(sizes)]);
        }
        arena_restore(a, c);
        for (size_t i = 1; i < N; i += 2) {
            assert_int_equal(blocks[i][0], i + 1);
            assert_int_equal(blocks[i][sizes[i % ARRAY_LEN(sizes)] - 1], i + 1);
        }
    }
    arena_restore(a, full);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(blocks[i][sizes[i % ARRAY_LEN(sizes)] / 2], i + 1);
    arena_checkpoint_free(full);
    arena_checkpoint_free(c);
}

static void an_array_grows_and_keeps_what_is_used(void **state)
{
    struct arena *a = arena_new(ARENA_BYTES);
    uint32_t cap = 0, *v = NULL, *same;

    (void)state;
    assert_non_null(a);
    for (uint32_t i = 0; i < 1000; i++) {
        v = arena_extend(a, v, &cap, i, i + 1, sizeof(*v));
        assert_non_null(v);
        assert_int_equal(v[i], 0);
        v[i] = i + 1;
    }
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(v[i], i + 1);
    same = v;
    assert_int_equal(cap, 1024);
    assert_ptr_equal(arena_extend(a, v, &cap, 1000, cap, sizeof(*v)), same);
    assert_null(arena_extend(a, v, &cap, 1000, UINT32_C(1) << 30, sizeof(*v)));
    assert_int_equal(cap, 1024);
    assert_int_equal(v[999], 1000);
    arena_free(a);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blocks_are_aligned_zeroed_and_apart, arena_make,
                                        arena_drop),
        cmocka_unit_test_setup_teardown(the_block_freed_last_is_given_first_and_zeroed_again,
                                        arena_make, arena_drop),
        cmocka_unit_test_setup_teardown(a_full_arena_gives_nothing_and_goes_on, arena_make,
                                        arena_drop),
        cmocka_unit_test_setup_teardown(live_bytes_are_those_of_the_blocks_in_use, arena_make,
                                        arena_drop),
        cmocka_unit_test_setup_teardown(releasing_nothing_is_fine, arena_make, arena_drop),
        cmocka_unit_test_setup_teardown(free_pages_are_no_part_of_a_checkpoint, arena_make,
                                        arena_drop),
        cmocka_unit_test(an_arena_too_small_for_itself_is_refused),
        cmocka_unit_test(an_arena_takes_what_the_system_lets_it_have),
        cmocka_unit_test(an_arena_within_bounds_takes_the_most),
        cmocka_unit_test(an_array_grows_and_keeps_what_is_used),
        cmocka_unit_test_setup_teardown(restoring_brings_back_bytes_pointers_and_the_allocator,
                                        arena_make, arena_drop),
        cmocka_unit_test_setup_teardown(memory_taken_after_a_restore_is_zeroed, arena_make,
                                        arena_drop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
