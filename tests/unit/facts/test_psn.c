/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include "emu/facts/psn.h"

static void distance_wraps(void **state)
{
    static const struct {
        uint32_t a, b;
        int32_t want;
    } rows[] = {
        {0, 0, 0},
        {5, 3, 2},
        {3, 5, -2},
        {1, PSN_MASK, 2},
        {PSN_MASK, 1, -2},
        {0x7fffff, 0, 0x7fffff},
        {0x800000, 0, -0x800000},
        {0, 0x800000, -0x800000}, /* half the circle: behind, from either side */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(psn_diff((struct psn){rows[i].a}, (struct psn){rows[i].b}), rows[i].want);
}

static void adding_wraps_and_is_undone_by_the_distance(void **state)
{
    static const uint32_t starts[] = {0, 1, 0x7fffff, 0x800000, PSN_MASK - 1, PSN_MASK};
    static const uint32_t steps[] = {0, 1, 2, 127, 0x7fffff};

    (void)state;
    assert_int_equal(psn_add((struct psn){PSN_MASK}, 1).v, 0);
    for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
        for (size_t k = 0; k < ARRAY_LEN(steps); k++) {
            const struct psn from = {starts[i]}, to = psn_add(from, steps[k]);

            assert_true(to.v <= PSN_MASK);
            assert_int_equal(psn_diff(to, from), steps[k]);
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_wraps),
        cmocka_unit_test(adding_wraps_and_is_undone_by_the_distance),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
