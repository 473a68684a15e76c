/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include "emu/base/slots.h"

#define ARENA_BYTES ((size_t)1 << 20)
#define LEN         130u /* more than two words of the bitmap */

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

static void the_lowest_free_index_is_given_first(void **state)
{
    static const uint32_t removed[] = {100, 3, 64};
    static const uint32_t next[] = {3, 64, 100};
    struct slots s;
    uint32_t names[LEN];
    int obj;

    assert_true(slots_init(&s, *state, LEN));
    for (uint32_t i = 0; i < LEN; i++) {
        names[i] = slots_add(&s, &obj);
        assert_int_equal(names[i] & 0xffff, i);
    }
    assert_int_equal(s.used, LEN);
    for (size_t i = 0; i < ARRAY_LEN(removed); i++)
        slots_remove(&s, names[removed[i]]);
    for (size_t i = 0; i < ARRAY_LEN(next); i++)
        assert_int_equal(slots_add(&s, &obj) & 0xffff, next[i]);
    slots_done(&s, *state);
}

static void a_full_table_gives_no_name(void **state)
{
    struct slots s;
    int obj;

    assert_true(slots_init(&s, *state, 2));
    assert_int_not_equal(slots_add(&s, &obj), 0);
    assert_int_not_equal(slots_add(&s, &obj), 0);
    assert_int_equal(slots_add(&s, &obj), 0);
    assert_int_equal(s.used, 2);
    slots_done(&s, *state);
}

static void a_removed_name_is_stale_also_when_the_slot_is_used_again(void **state)
{
    struct slots s;
    int first, second;
    uint32_t old, fresh;

    assert_true(slots_init(&s, *state, 4));
    old = slots_add(&s, &first);
    assert_ptr_equal(slots_get(&s, old), &first);
    slots_remove(&s, old);
    assert_null(slots_get(&s, old));
    fresh = slots_add(&s, &second);
    assert_int_equal(fresh & 0xffff, old & 0xffff);
    assert_int_not_equal(fresh, old);
    assert_null(slots_get(&s, old));
    assert_ptr_equal(slots_get(&s, fresh), &second);
    slots_done(&s, *state);
}

static void the_generation_wraps_past_zero(void **state)
{
    struct slots s;
    int obj;

    assert_true(slots_init(&s, *state, 1));
    for (uint32_t i = 0; i < 2 * 65535u; i++) {
        const uint32_t name = slots_add(&s, &obj);

        assert_int_equal(name >> 16, i % 65535 + 1);
        slots_remove(&s, name);
    }
    slots_done(&s, *state);
}

static void forged_names_name_nothing(void **state)
{
    static const uint32_t forged[] = {0, 1, 0xffff, 0x10004, 0x1ffff, 0x20000, 0xffffffff};
    struct slots s;
    int obj;

    assert_true(slots_init(&s, *state, 4));
    assert_int_equal(slots_add(&s, &obj), 0x10000);
    for (size_t i = 0; i < ARRAY_LEN(forged); i++)
        assert_null(slots_get(&s, forged[i]));
    assert_null(slots_get(&s, 0x10001)); /* the generation fits, but the slot is free */
    slots_done(&s, *state);
}

static void a_table_can_be_walked(void **state)
{
    struct slots s;
    int a, b;
    uint32_t name_a, name_b;

    assert_true(slots_init(&s, *state, 3));
    name_a = slots_add(&s, &a);
    name_b = slots_add(&s, &b);
    slots_remove(&s, name_a);
    assert_null(slots_at(&s, 0));
    assert_int_equal(slots_name(&s, 0), 0);
    assert_ptr_equal(slots_at(&s, 1), &b);
    assert_int_equal(slots_name(&s, 1), name_b);
    assert_null(slots_at(&s, 3));
    assert_int_equal(slots_name(&s, 3), 0);
    slots_done(&s, *state);
}

static void a_full_arena_is_reported(void **state)
{
    struct arena *tiny = arena_new(4096);
    struct slots s;

    (void)state;
    assert_non_null(tiny);
    assert_false(slots_init(&s, tiny, SLOTS_MAX));
    arena_free(tiny);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_lowest_free_index_is_given_first, arena_make,
                                        arena_drop),
        cmocka_unit_test_setup_teardown(a_full_table_gives_no_name, arena_make, arena_drop),
        cmocka_unit_test_setup_teardown(a_removed_name_is_stale_also_when_the_slot_is_used_again,
                                        arena_make, arena_drop),
        cmocka_unit_test_setup_teardown(the_generation_wraps_past_zero, arena_make, arena_drop),
        cmocka_unit_test_setup_teardown(forged_names_name_nothing, arena_make, arena_drop),
        cmocka_unit_test_setup_teardown(a_table_can_be_walked, arena_make, arena_drop),
        cmocka_unit_test(a_full_arena_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
