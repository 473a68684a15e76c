/* SPDX-License-Identifier: MIT */
#include "print/utf8.h"

#include "cli/cli_testing.h"

static void printable_text_is_left_alone_and_the_rest_is_spelled(void **state)
{
    static const struct {
        const char *in;
        bool lines;
        const char *want;
    } rows[] = {
        {"", false, ""},
        {"a \"b\" <c> 'd' \\ #", false, "a \"b\" <c> 'd' \\ #"},
        {"na\xc3\xafve \xe2\x82\xac \xf0\x9f\x90\x8c", false,
         "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x90\x8c"},
        {"a\nb", true, "a\nb"},
        {"a\nb\tc\r", false, "a\\x0ab\\x09c\\x0d"},
        {"\x1b[31m\x7f", true, "\\x1b[31m\\x7f"},
        {"\xff\xc3", true, "\\xff\\xc3"}, /* invalid byte, truncated character */
        {"\xc0\x80\xed\xa0\x80", true, "\\xc0\\x80\\xed\\xa0\\x80"}, /* overlong form, surrogate */
        {"\xc2\x9b", true, "\\xc2\\x9b"},                            /* a C1 control */
        {"\xef\xbf\xbf", true, "\\xef\\xbf\\xbf"},                   /* not permitted in XML */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char buf[64];
        struct text t = text_on(buf, sizeof(buf));

        utf8_add_printable(&t, rows[i].in, rows[i].lines);
        assert_string_equal(buf, rows[i].want);
        assert_false(t.cut);
    }
}

static void what_does_not_fit_is_left_out_by_whole_characters(void **state)
{
    static const struct {
        const char *in;
        size_t cap;
        const char *want;
    } rows[] = {
        {"abc", 4, "abc"},         {"abc", 3, "ab"},       {"a\xe2\x82\xac", 5, "a\xe2\x82\xac"},
        {"a\xe2\x82\xac", 4, "a"}, {"a\x01", 6, "a\\x01"}, {"a\x01", 5, "a"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char buf[8];
        struct text t = text_on(buf, rows[i].cap);

        utf8_add_printable(&t, rows[i].in, false);
        assert_string_equal(buf, rows[i].want);
        assert_int_equal(t.cut, strcmp(rows[i].want, rows[i].in) != 0 && !strchr(buf, '\\'));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printable_text_is_left_alone_and_the_rest_is_spelled),
        cmocka_unit_test(what_does_not_fit_is_left_out_by_whole_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
