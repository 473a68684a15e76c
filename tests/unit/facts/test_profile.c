/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include <string.h>

#include "emu/facts/enum/profile.h"
#include "emu/facts/enum_table.h"
#include "emu/facts/profile.h"

/* A row in which all agree would say nothing. */
static void every_row_is_a_difference(void **state)
{
    (void)state;
    for (unsigned t = 0; t < TRAIT_COUNT; t++) {
        unsigned has = 0;

        for (size_t i = 0; i < enum_profile.n_rows; i++)
            has += profile_has((enum profile)enum_profile.rows[i].value, (enum trait)t);
        assert_in_range(has, 1, enum_profile.n_rows - 1);
    }
}

static void every_row_has_texts_of_its_own(void **state)
{
    (void)state;
    for (unsigned t = 0; t < TRAIT_COUNT; t++) {
        const struct trait_row *row = &trait_rows[t];

        assert_true(row->name[0] && row->with[0] && row->without[0] && row->matters[0]);
        assert_non_null(strchr(row->sources, '['));
        for (unsigned k = 0; k < t; k++)
            assert_string_not_equal(row->name, trait_rows[k].name);
    }
}

/* What is left at zero is a host of the specification. */
static void the_specification_is_profile_zero(void **state)
{
    (void)state;
    assert_int_equal(PROFILE_iba, 0);
    assert_true(profile_has(PROFILE_iba, TRAIT_LENGTH_CHECKED));
    assert_false(profile_has(PROFILE_rxe, TRAIT_LENGTH_CHECKED));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_a_difference),
        cmocka_unit_test(every_row_has_texts_of_its_own),
        cmocka_unit_test(the_specification_is_profile_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
