/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include "emu/base/name.h"

static void a_name_is_a_letter_and_then_what_may_follow_one(void **state)
{
    static const struct {
        const char *s;
        bool is;
    } rows[] = {
        {"a", true},
        {"Z9_-", true},
        {"h1", true},
        {"abcdefghijklmnopqrstuvw", true},   /* 23 */
        {"abcdefghijklmnopqrstuvwx", false}, /* and its NUL would be the 25th */
        {"", false},
        {"1h", false},
        {"_h", false},
        {"-h", false},
        {"h.qp", false},
        {"h[0]", false},
        {"h ", false},
        {"h\xc3\xa4", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (name_is_valid(rows[i].s) != rows[i].is)
            fail_msg("\"%s\"", rows[i].s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_a_letter_and_then_what_may_follow_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
