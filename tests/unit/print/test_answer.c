/* SPDX-License-Identifier: MIT */
#include "print/answer.h"

#include <string.h>

#include "emu/base/text.h"
#include "testing.h"

static void add(void *ctx, const char *margin, const char *s, size_t bytes)
{
    text_addf(ctx, "%s%.*s|", margin, (int)bytes, s);
}

static void each_line_is_given_behind_a_margin(void **state)
{
    static const struct {
        const char *text, *lines;
    } rows[] = {
        {"", ""},
        {"a", "    a|"},
        {"a\n", "    a|"},
        {"a\n\n  b\n", "    a|    |      b|"},
    };
    char buf[128];

    (void)state;
    for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
        struct text t = text_on(buf, sizeof(buf));

        answer_lines(i % 2 ? "why" : NULL, rows[i / 2].text, add, &t);
        assert_string_equal(buf, rows[i / 2].lines);
    }
}

static void count(void *ctx, const char *margin, const char *s, size_t bytes)
{
    static const char rest[] = "... \"why #1\" tells the rest";
    unsigned *n = ctx;

    (void)margin;
    n[bytes == sizeof(rest) - 1 && memcmp(s, rest, bytes) == 0]++;
}

static void a_long_answer_names_the_command_that_tells_the_rest(void **state)
{
    char text[2 * (ANSWER_LINES_MAX + 1) + 1];

    (void)state;
    for (unsigned lines = ANSWER_LINES_MAX - 1; lines <= ANSWER_LINES_MAX + 1; lines++) {
        const bool is_cut = lines > ANSWER_LINES_MAX;
        struct text t = text_on(text, sizeof(text));
        unsigned n[2] = {0}, all[2] = {0};

        for (unsigned i = 0; i < lines; i++)
            text_add(&t, "x\n");
        answer_lines("why #1", text, count, n);
        assert_int_equal(n[0], is_cut ? ANSWER_LINES_MAX : lines);
        assert_int_equal(n[1], is_cut);
        answer_lines(NULL, text, count, all);
        assert_int_equal(all[0], lines);
        assert_int_equal(all[1], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_is_given_behind_a_margin),
        cmocka_unit_test(a_long_answer_names_the_command_that_tells_the_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
