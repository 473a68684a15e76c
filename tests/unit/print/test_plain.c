/* SPDX-License-Identifier: MIT */
#include "print/plain.h"

#include "cli/printed.h"
#include "emu/base/assert.h"
#include "testing.h"

static void every_kind_of_output_escapes_what_it_must(void **state)
{
    static const struct {
        const char *in, *plain, *lines, *line;
    } rows[] = {
        {"", "", "", "\n"},
        {"a\nb", "a\\x0ab", "a\nb", "a\\x0ab\n"},
        {"\x1b]0;x\a\r", "\\x1b]0;x\\x07\\x0d", "\\x1b]0;x\\x07\\x0d", "\\x1b]0;x\\x07\\x0d\n"},
        {"::error::x", "::error::x", "::error::x", "\\x3a:error::x\n"},
        {"::1 is at home, :: is every one", "::1 is at home, :: is every one",
         "::1 is at home, :: is every one", "::1 is at home, :: is every one\n"},
        {" \t::error::x", " \\x09::error::x", " \\x09::error::x", " \\x09\\x3a:error::x\n"},
        {"a ::error::x", "a ::error::x", "a ::error::x", "a ::error::x\n"},
        {"a ##[error]x", "a \\x23#[error]x", "a \\x23#[error]x", "a \\x23#[error]x\n"},
        {"###[x", "#\\x23#[x", "#\\x23#[x", "#\\x23#[x\n"},
        {"a\xe2\x80\xae"
         "b\xe2\x81\xa6\xd8\x9c",
         "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6\\xd8\\x9c", "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6\\xd8\\x9c",
         "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6\\xd8\\x9c\n"}, /* they would turn the text around */
        {"\xff%0A]]>'\"", "\\xff%0A]]>'\"", "\\xff%0A]]>'\"", "\\xff%0A]]>'\"\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct printed p;
        const char *wanted[] = {rows[i].plain, rows[i].lines, rows[i].line};

        for (unsigned k = 0; k < ARRAY_LEN(wanted); k++) {
            printed_begin(&p);
            if (k == 2)
                print_line(p.out, rows[i].in);
            else
                print_plain(p.out, rows[i].in, k == 1);
            assert_string_equal(printed_text(&p), wanted[k]);
            printed_end(&p);
        }
    }
}

static void xml_and_github_escape_their_own_characters(void **state)
{
    struct printed p;

    (void)state;
    print_xml(printed_begin(&p)->out, "<a b=\"c\">&]]>'");
    assert_string_equal(printed_text(&p), "&lt;a b=&quot;c&quot;&gt;&amp;]]&gt;'");
    printed_end(&p);
    print_github(printed_begin(&p)->out, "100%0A\na:b,c::d", false);
    assert_string_equal(printed_text(&p), "100%250A%0Aa:b,c::d");
    printed_end(&p);
    print_github(printed_begin(&p)->out, "100%\na:b,c", true);
    assert_string_equal(printed_text(&p), "100%25%0Aa%3Ab%2Cc");
    printed_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_output_escapes_what_it_must),
        cmocka_unit_test(xml_and_github_escape_their_own_characters),
    };

    return cmocka_run_group_tests_name("plain", tests, NULL, NULL);
}
