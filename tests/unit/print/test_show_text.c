/* SPDX-License-Identifier: MIT */
/* Tests of wrapping and tables: nothing is lost, lines fit, columns are aligned. */
#include "testing.h"

#include "cli/printed.h"
#include "golden.h"
#include "print/show_text.h"

static void long_text_is_broken_at_blanks(void **state)
{
    char words[400];
    struct text t = text_on(words, sizeof(words));
    struct printed p;

    (void)state;
    for (unsigned i = 0; i < 60; i++)
        text_addf(&t, "%sw%u", i ? " " : "", i);
    show_wrap(printed_begin(&p)->out, 4, words);
    assert_lines_fit(&p);
    for (unsigned i = 0; i < 60; i++) {
        char word[8];
        struct text w = text_on(word, sizeof(word));

        text_addf(&w, "w%u", i);
        assert_prints(&p, word);
    }
    assert_int_equal(strncmp(printed_text(&p), "    w0 w1", 9), 0);
    printed_end(&p);
}

static void edges_of_wrapping(void **state)
{
    static const struct {
        const char *lead;
        unsigned indent;
        const char *in, *want;
    } rows[] = {
        {"", 2, "", "\n"},
        {"", 2, "a", "  a\n"},
        {"lead", 6, "a b", "lead  a b\n"},
        {"longer than that", 6, "a", "longer than thata\n"},
        {"a lead that takes up nearly all of the hundred columns that there are, so that little is "
         "left  ",
         4, "word another",
         "a lead that takes up nearly all of the hundred columns that there are, "
         "so that little is left  word\n    another\n"},
        {"", 2, "one\n\ntwo", "  one\n\n  two\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct printed p;

        show_wrap_behind(printed_begin(&p)->out, rows[i].lead, rows[i].indent, rows[i].in);
        assert_string_equal(printed_text(&p), rows[i].want);
        printed_end(&p);
    }
}

static void only_the_first_line_is_not_indented(void **state)
{
    char words[301];
    struct printed p;

    (void)state;
    for (size_t i = 0; i < sizeof(words) - 1; i++)
        words[i] = i % 3 == 2 ? ' ' : 'x';
    words[sizeof(words) - 1] = '\0';
    show_hanging(printed_begin(&p)->out, 8, words);
    assert_lines_fit(&p);
    assert_int_equal(strncmp(printed_text(&p), "xx xx", 5), 0);
    assert_prints(&p, "xx\n        xx xx");
    printed_end(&p);
}

static void a_word_wider_than_the_line_stays_whole(void **state)
{
    char word[201];
    struct printed p;

    (void)state;
    memset(word, 'x', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    show_wrap(printed_begin(&p)->out, 2, word);
    assert_prints(&p, word);
    printed_end(&p);
}

static void columns_are_aligned(void **state)
{
    static const char *const cells[] = {"qp",  "psn",  "state",    "h1.qp", "7",
                                        "RTS", "h1.x", "16777215", ""};
    struct printed p;
    struct grid g;

    (void)state;
    grid_init(&g, 3, 1u << 1);
    for (size_t i = 0; i < ARRAY_LEN(cells); i++)
        grid_cell(&g, cells[i]);
    grid_print(&g, printed_begin(&p)->out, 1);
    assert_golden("columns_are_aligned", printed_text(&p));
    printed_end(&p);
    grid_done(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_text_is_broken_at_blanks),
        cmocka_unit_test(edges_of_wrapping),
        cmocka_unit_test(only_the_first_line_is_not_indented),
        cmocka_unit_test(a_word_wider_than_the_line_stays_whole),
        cmocka_unit_test(columns_are_aligned),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
