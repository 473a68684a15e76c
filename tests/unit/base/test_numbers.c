/* SPDX-License-Identifier: MIT */
/* Powers of two and random numbers. */
#include "testing.h"

#include "emu/base/log2.h"
#include "emu/base/prng.h"

static void powers_of_two(void **state)
{
    static const struct {
        uint64_t v, ceil;
        bool is;
    } rows[] = {
        {0, 1, false},
        {1, 1, true},
        {2, 2, true},
        {3, 4, false},
        {4, 4, true},
        {5, 8, false},
        {0x7fffffff, 0x80000000, false},
        {0x80000000, 0x80000000, true},
        {0x80000001, 0x100000000, false},
        {0x8000000000000000, 0x8000000000000000, true},
        {0x4000000000000001, 0x8000000000000000, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(is_pow2(rows[i].v), rows[i].is);
        assert_true(pow2_ceil(rows[i].v) == rows[i].ceil);
    }
}

static void the_generator_is_splitmix64(void **state)
{
    /* The first numbers of the published generator from state 0. */
    static const uint64_t want[] = {0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f};
    struct prng r = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        assert_true(prng_next(&r) == want[i]);
}

static void streams_depend_on_seed_and_number_only(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        for (uint64_t stream = 0; stream < 8; stream++) {
            struct prng a = prng_stream(seed, stream), b = prng_stream(seed, stream);
            struct prng other_seed = prng_stream(seed + 1, stream);
            struct prng other_stream = prng_stream(seed, stream + 1);
            const uint64_t first = prng_next(&a);

            assert_true(first == prng_next(&b));
            assert_true(first != prng_next(&other_seed));
            assert_true(first != prng_next(&other_stream));
        }
    }
}

static void numbers_below_a_bound_reach_all_of_it(void **state)
{
    struct prng r = prng_stream(1, 1);
    unsigned seen[6] = {0};

    (void)state;
    for (unsigned i = 0; i < 600; i++)
        seen[prng_below(&r, ARRAY_LEN(seen))]++;
    for (size_t i = 0; i < ARRAY_LEN(seen); i++)
        assert_in_range(seen[i], 50, 150);
    assert_int_equal(prng_below(&r, 1), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_of_two),
        cmocka_unit_test(the_generator_is_splitmix64),
        cmocka_unit_test(streams_depend_on_seed_and_number_only),
        cmocka_unit_test(numbers_below_a_bound_reach_all_of_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
