/* SPDX-License-Identifier: MIT */
/* Which sources are told to whom. */
#include "testing.h"

#include "cli/tell/cite.h"

static void what_is_marked_is_left_out_with_the_blanks_before_it(void **state)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"", ""},
        {"so it is", "so it is"},
        {"so it is  [IBTA1 9.4.1]", "so it is  [IBTA1 9.4.1]"},
        {"so it is  [IBTA1 9.7.5 (unverified)]", "so it is"},
        {"so it is  [IBTA1 9.7.5 (unverified), C9-105]", "so it is"},
        {"so  [A 1 (unverified)] and so  [B 2]", "so and so  [B 2]"},
        {"so  [B 2] and so  [A 1 (unverified)]", "so  [B 2] and so"},
        {"[IBTA1 17.2.8 (unverified)]; frames of rxe", "frames of rxe"},
        {"frames of rxe; [IBTA1 17.2.8]", "frames of rxe; [IBTA1 17.2.8]"},
        {"mr[0:64", "mr[0:64"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char buf[128];
        struct text t = text_on(buf, sizeof(buf));

        cite_add(&t, rows[i].text, false);
        assert_string_equal(buf, rows[i].want);
        t = text_on(buf, sizeof(buf));
        cite_add(&t, rows[i].text, true);
        assert_string_equal(buf, rows[i].text);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_marked_is_left_out_with_the_blanks_before_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
