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
    uint64_t names[LEN];
    int obj;

    slots_init(&s, *state, LEN);
    for (uint32_t i = 0; i < LEN; i++) {
        names[i] = slots_add(&s, &obj);
        assert_int_equal(names[i] & 0xffffff, i);
    }
    assert_int_equal(s.used, LEN);
    for (size_t i = 0; i < ARRAY_LEN(removed); i++)
        slots_remove(&s, names[removed[i]]);
    for (size_t i = 0; i < ARRAY_LEN(next); i++)
        assert_int_equal(slots_add(&s, &obj) & 0xffffff, next[i]);
    slots_done(&s);
}

static uint32_t add(struct slots *s)
{
    static int obj;
    const uint64_t name = slots_add(s, &obj);

    assert_int_not_equal(name, 0);
    return slots_index(name);
}

static void the_index_that_is_free_for_longest_is_given_when_none_is_new(void **state)
{
    static const uint32_t removed[] = {100, 3, 64}; /* in this order they come back */
    struct slots s;

    slots_init_oldest_first(&s, *state, LEN);
    for (uint32_t i = 0; i < LEN; i++) {
        assert_int_equal(add(&s), i);
        if (i == 3 || i == 64 || i == 100)
            slots_remove(&s, slots_name(&s, i)); /* what is new goes first */
    }
    assert_int_equal(add(&s), 3); /* none is new any more */
    assert_int_equal(add(&s), 64);
    assert_int_equal(add(&s), 100);
    assert_true(slots_are_full(&s));
    for (size_t i = 0; i < ARRAY_LEN(removed); i++)
        slots_remove(&s, slots_name(&s, removed[i]));
    assert_int_equal(add(&s), 100);
    slots_remove(&s, slots_name(&s, 7)); /* behind those that wait already */
    assert_int_equal(add(&s), 3);
    assert_int_equal(add(&s), 64);
    assert_int_equal(add(&s), 7);
    assert_true(slots_are_full(&s));
    slots_done(&s);
}

static void one_slot_is_free_for_longest_at_once(void **state)
{
    struct slots s;
    uint64_t before = 0;
    int obj;

    slots_init_oldest_first(&s, *state, 1);
    for (int i = 0; i < 3; i++) {
        const uint64_t name = slots_add(&s, &obj);

        assert_int_equal(slots_index(name), 0);
        assert_int_not_equal(name, before);
        assert_int_equal(slots_add(&s, &obj), 0);
        slots_remove(&s, name);
        before = name;
    }
    slots_done(&s);
}

/* Many come and go, few at a time: the table is as long as the limit, and no longer. */
static void a_table_whose_indices_go_round_stays_within_its_limit(void **state)
{
    struct slots s;

    slots_init_oldest_first(&s, *state, LEN);
    for (uint32_t i = 0; i < 5 * LEN; i++) {
        const uint32_t index = add(&s);

        assert_int_equal(index, i % LEN);
        slots_remove(&s, slots_name(&s, index));
    }
    assert_int_equal(s.len, LEN);
    assert_int_equal(s.used, 0);
    slots_done(&s);
}

static void a_full_table_gives_no_name(void **state)
{
    struct slots s;
    int obj;

    slots_init(&s, *state, 2);
    assert_int_not_equal(slots_add(&s, &obj), 0);
    assert_int_not_equal(slots_add(&s, &obj), 0);
    assert_int_equal(slots_add(&s, &obj), 0);
    assert_int_equal(s.used, 2);
    slots_done(&s);
}

static void a_removed_name_is_stale_also_when_the_slot_is_used_again(void **state)
{
    struct slots s;
    int first, second;
    uint64_t old, fresh;

    slots_init(&s, *state, 4);
    old = slots_add(&s, &first);
    assert_ptr_equal(slots_get(&s, old), &first);
    slots_remove(&s, old);
    assert_null(slots_get(&s, old));
    fresh = slots_add(&s, &second);
    assert_int_equal(fresh & 0xffffff, old & 0xffffff);
    assert_int_not_equal(fresh, old);
    assert_null(slots_get(&s, old));
    assert_ptr_equal(slots_get(&s, fresh), &second);
    slots_done(&s);
}

static void the_generation_wraps_past_zero(void **state)
{
    struct slots s;
    int obj;

    slots_init(&s, *state, 1);
    slots_remove(&s, slots_add(&s, &obj));
    s.v[0].gen = SLOTS_GEN_MAX - 1;
    for (uint32_t i = 0; i < 3; i++) {
        const uint64_t name = slots_add(&s, &obj);

        assert_int_equal(name >> 24, i < 2 ? SLOTS_GEN_MAX - 1 + i : 1);
        slots_remove(&s, name);
    }
    slots_done(&s);
}

static void forged_names_name_nothing(void **state)
{
    static const uint64_t forged[] = {0,         1,         0xffffff,   0x1000004,
                                      0x1ffffff, 0x2000000, 0xffffffff, 0x1000001000000};
    struct slots s;
    int obj;

    slots_init(&s, *state, 4);
    assert_int_equal(slots_add(&s, &obj), 0x1000000);
    for (size_t i = 0; i < ARRAY_LEN(forged); i++)
        assert_null(slots_get(&s, forged[i]));
    assert_null(slots_get(&s, 0x1000001)); /* the generation fits, but the slot is free */
    slots_done(&s);
}

static void a_table_can_be_walked(void **state)
{
    struct slots s;
    int a, b;
    uint64_t name_a, name_b;

    slots_init(&s, *state, 3);
    name_a = slots_add(&s, &a);
    name_b = slots_add(&s, &b);
    slots_remove(&s, name_a);
    assert_null(slots_at(&s, 0));
    assert_int_equal(slots_name(&s, 0), 0);
    assert_ptr_equal(slots_at(&s, 1), &b);
    assert_int_equal(slots_name(&s, 1), name_b);
    assert_null(slots_at(&s, 3));
    assert_int_equal(slots_name(&s, 3), 0);
    slots_done(&s);
}

static void a_table_that_grows_keeps_its_names(void **state)
{
    uint64_t names[LEN], stale = 0;
    struct slots s;
    int obj[LEN];

    slots_init(&s, *state, SLOTS_MAX);
    assert_int_equal(s.len, 0); /* an empty one costs nothing */
    for (uint32_t i = 0; i < LEN; i++) {
        names[i] = slots_add(&s, &obj[i]);
        if (i == 5) { /* in use for the second time when the table grows again */
            stale = names[i];
            slots_remove(&s, stale);
            names[i] = slots_add(&s, &obj[i]);
        }
    }
    for (uint32_t i = 0; i < LEN; i++) {
        assert_int_equal(slots_index(names[i]), i);
        assert_ptr_equal(slots_get(&s, names[i]), &obj[i]);
    }
    assert_null(slots_get(&s, stale));
    assert_int_equal(s.used, LEN);
    slots_done(&s);
}

static void a_full_arena_gives_no_name_and_keeps_what_is_there(void **state)
{
    struct arena *tiny = arena_new(4096);
    uint64_t last = 0, name;
    struct slots s;
    int obj;

    (void)state;
    assert_non_null(tiny);
    slots_init(&s, tiny, SLOTS_MAX);
    while ((name = slots_add(&s, &obj)) != 0)
        last = name;
    assert_true(s.used > 0 && !slots_are_full(&s));
    assert_ptr_equal(slots_get(&s, last), &obj);
    slots_remove(&s, last);
    assert_int_not_equal(slots_add(&s, &obj), 0);
    arena_free(tiny);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_lowest_free_index_is_given_first, arena_make,
                                        arena_drop),
        cmocka_unit_test_setup_teardown(
            the_index_that_is_free_for_longest_is_given_when_none_is_new, arena_make, arena_drop),
        cmocka_unit_test_setup_teardown(one_slot_is_free_for_longest_at_once, arena_make,
                                        arena_drop),
        cmocka_unit_test_setup_teardown(a_table_whose_indices_go_round_stays_within_its_limit,
                                        arena_make, arena_drop),
        cmocka_unit_test_setup_teardown(a_full_table_gives_no_name, arena_make, arena_drop),
        cmocka_unit_test_setup_teardown(a_removed_name_is_stale_also_when_the_slot_is_used_again,
                                        arena_make, arena_drop),
        cmocka_unit_test_setup_teardown(the_generation_wraps_past_zero, arena_make, arena_drop),
        cmocka_unit_test_setup_teardown(forged_names_name_nothing, arena_make, arena_drop),
        cmocka_unit_test_setup_teardown(a_table_can_be_walked, arena_make, arena_drop),
        cmocka_unit_test_setup_teardown(a_table_that_grows_keeps_its_names, arena_make, arena_drop),
        cmocka_unit_test(a_full_arena_gives_no_name_and_keeps_what_is_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
