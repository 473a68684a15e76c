/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include "emu/base/json.h"

static void a_string_escapes_what_json_reserves(void **state)
{
    static const struct {
        const char *s, *want;
    } rows[] = {
        {"", "\"\""},
        {"h1.qp", "\"h1.qp\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"a\nb\tc", "\"a\\nb\\tc\""},
        {"\r\x1b\x1f ", "\"\\u000d\\u001b\\u001f \""},
        {"\x7f\xc3\xa4", "\"\x7f\xc3\xa4\""}, /* DEL and UTF-8 stand for themselves */
    };
    char buf[64];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct text t = text_on(buf, sizeof(buf));

        json_add_string(&t, rows[i].s);
        assert_string_equal(buf, rows[i].want);
    }
}

static void a_number_that_a_double_rounds_is_a_string(void **state)
{
    char buf[64];
    struct text t = text_on(buf, sizeof(buf));

    (void)state;
    json_add_number(&t, JSON_EXACT_MAX);
    assert_string_equal(buf, "9007199254740992");
    t = text_on(buf, sizeof(buf));
    json_add_number(&t, JSON_EXACT_MAX + 1);
    assert_string_equal(buf, "\"9007199254740993\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_string_escapes_what_json_reserves),
        cmocka_unit_test(a_number_that_a_double_rounds_is_a_string),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
