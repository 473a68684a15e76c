/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include <string.h>

#include "rdmalab/status.h"

static void every_status_has_a_name_a_text_and_a_remedy(void **state)
{
    (void)state;
    for (unsigned i = 0; i < RDL_STATUS_COUNT; i++) {
        const enum rdl_status st = (enum rdl_status)i;

        assert_true(strlen(rdl_status_name(st)) > 0);
        assert_true(strlen(rdl_status_str(st)) > 0);
        assert_true(st == RDL_OK || strlen(rdl_status_remedy(st)) > 0);
    }
}

static void names_differ(void **state)
{
    (void)state;
    for (unsigned i = 0; i < RDL_STATUS_COUNT; i++) {
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(rdl_status_name((enum rdl_status)i),
                                    rdl_status_name((enum rdl_status)k));
    }
}

static void numbers_do_not_move(void **state)
{
    (void)state;
    assert_int_equal(RDL_OK, 0);
    assert_int_equal(RDL_ERR_INVAL, 1);
    assert_int_equal(RDL_ERR_STATE, 2);
    assert_int_equal(RDL_ERR_STALE, 3);
    assert_int_equal(RDL_ERR_LIMIT, 4);
    assert_int_equal(RDL_ERR_NOMEM, 5);
}

static void values_out_of_range_have_a_text_too(void **state)
{
    static const int values[] = {RDL_STATUS_COUNT, RDL_STATUS_COUNT + 1, 0x7fffffff};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        assert_string_equal(rdl_status_str((enum rdl_status)values[i]), "unknown status");
        assert_non_null(rdl_status_name((enum rdl_status)values[i]));
        assert_non_null(rdl_status_remedy((enum rdl_status)values[i]));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_name_a_text_and_a_remedy),
        cmocka_unit_test(names_differ),
        cmocka_unit_test(numbers_do_not_move),
        cmocka_unit_test(values_out_of_range_have_a_text_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
