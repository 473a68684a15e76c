/* SPDX-License-Identifier: MIT */
/* The table of citations has every citation exactly once. */
#include "testing.h"

#include <string.h>

#include "emu/facts/citation.h"

static const struct citation *find(const char *document, const char *section)
{
    return citation_find(document, strlen(document), section, strlen(section));
}

/* A number that is there twice could be verified and not. */
static void every_row_is_found_and_no_other(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_citations; i++) {
        assert_ptr_equal(find(citations[i].document, citations[i].section), &citations[i]);
        assert_true(citations[i].about[0]);
    }
}

static void a_part_of_a_number_is_another_number(void **state)
{
    (void)state;
    assert_non_null(find("IBTA1", "9.7.4.1.2"));
    assert_null(find("IBTA1", "9.7.4"));
    assert_null(find("IBTA1", "9.7.4.1.20"));
    assert_null(find("IBTA1", ""));
    assert_null(find("RoCEv2", "9.7.4.1.2"));
    assert_ptr_equal(citation_find("IBTA1 9", 5, "9.7.5.2.8", 5), find("IBTA1", "9.7.5"));
}

static void some_numbers_were_verified_and_some_were_not(void **state)
{
    (void)state;
    assert_true(find("IBTA1", "C9-105")->verified);
    assert_false(find("IBTA1", "11.2.5.2")->verified);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_found_and_no_other),
        cmocka_unit_test(a_part_of_a_number_is_another_number),
        cmocka_unit_test(some_numbers_were_verified_and_some_were_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
