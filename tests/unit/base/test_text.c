/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include <string.h>

#include "emu/base/text.h"

static void pieces_are_joined(void **state)
{
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));

    (void)state;
    assert_string_equal(buf, "");
    text_add(&t, "a");
    text_addn(&t, "bcd", 2);
    text_addf(&t, "%d-%s", 7, "x");
    assert_string_equal(buf, "abc7-x");
    assert_int_equal(t.len, 6);
    assert_false(t.cut);
}

/* Each way of appending "12345" to "abc", for every size of the buffer. */
static void append(struct text *t, unsigned how)
{
    if (how == 0)
        text_add(t, "12345");
    else if (how == 1)
        text_addn(t, "123456", 5);
    else
        text_addf(t, "%d", 12345);
}

static void what_does_not_fit_is_cut_and_said_so(void **state)
{
    static const char whole[] = "abc12345";

    (void)state;
    for (unsigned how = 0; how < 3; how++) {
        for (size_t cap = 1; cap <= sizeof(whole) + 1; cap++) {
            char buf[sizeof(whole) + 2];
            struct text t;

            memset(buf, 0x7e, sizeof(buf));
            t = text_on(buf, cap);
            text_add(&t, "abc");
            append(&t, how);
            assert_int_equal(t.cut, cap < sizeof(whole));
            assert_int_equal(t.len, t.cut ? cap - 1 : strlen(whole));
            assert_memory_equal(buf, whole, t.len);
            assert_int_equal(buf[t.len], '\0');
            assert_int_equal(buf[cap], 0x7e);
        }
    }
}

static void cut_stays_set(void **state)
{
    char buf[4];
    struct text t = text_on(buf, sizeof(buf));

    (void)state;
    text_add(&t, "abcd");
    text_add(&t, "");
    assert_true(t.cut);
    assert_string_equal(buf, "abc");
}

static void padding_reaches_the_column_of_its_line(void **state)
{
    char buf[64];
    struct text t = text_on(buf, sizeof(buf));

    (void)state;
    text_pad_to(&t, 2);
    text_add(&t, "x");
    text_pad_to(&t, 3); /* there already: one blank separates */
    text_add(&t, "y\nlong");
    text_pad_to(&t, 6);
    text_add(&t, "z");
    assert_string_equal(buf, "  x y\nlong  z");
}

static void padding_a_full_buffer_ends(void **state)
{
    char buf[4];
    struct text t = text_on(buf, sizeof(buf));

    (void)state;
    text_pad_to(&t, 100);
    assert_string_equal(buf, "   ");
    assert_true(t.cut);
}

static void articles_are_as_words_are_spoken(void **state)
{
    static const struct {
        const char *word, *article;
    } rows[] = {{"address handle", "an"},
                {"queue pair", "a"},
                {"shared receive queue", "a"},
                {"mr", "an"},
                {"SRQ", "an"},
                {"qp", "a"},
                {"cq", "a"},
                {"ah", "an"},
                {"link", "a"},
                {"", "a"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(text_article(rows[i].word), rows[i].article);
}

static void ordinals_end_as_they_are_spoken(void **state)
{
    static const struct {
        uint32_t n;
        const char *want;
    } rows[] = {{1, "1st"},
                {2, "2nd"},
                {3, "3rd"},
                {4, "4th"},
                {10, "10th"},
                {11, "11th"},
                {12, "12th"},
                {13, "13th"},
                {21, "21st"},
                {100, "100th"},
                {102, "102nd"},
                {111, "111th"},
                {4294967295u, "4294967295th"}};
    char buf[16];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct text t = text_on(buf, sizeof(buf));

        text_add_ordinal(&t, rows[i].n);
        assert_string_equal(buf, rows[i].want);
    }
}

static void which_of_many_is_said_as_people_say_it(void **state)
{
    static const struct {
        uint32_t nth, every, count;
        const char *want;
    } rows[] = {{1, 1, 1, "the next"},           {2, 1, 1, "the 2nd"},
                {1, 1, 3, "the next 3"},         {1, 1, UINT32_MAX, "every"},
                {3, 3, UINT32_MAX, "every 3rd"}, {1, 2, 4, "every 2nd"}};
    char buf[16];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct text t = text_on(buf, sizeof(buf));

        text_add_which(&t, rows[i].nth, rows[i].every, rows[i].count);
        assert_string_equal(buf, rows[i].want);
    }
}

static void bytes_are_written_in_hexadecimal_and_digits_read_in_either_case(void **state)
{
    static const uint8_t bytes[] = {0x00, 0x9f, 0xa0};
    static const struct {
        char digit;
        int value;
    } rows[] = {{'0', 0},  {'9', 9},  {'a', 10}, {'f', 15}, {'A', 10},
                {'F', 15}, {'g', -1}, {'/', -1}, {':', -1}, {'\0', -1}};
    char buf[16];
    struct text t = text_on(buf, sizeof(buf));

    (void)state;
    text_add_hex(&t, bytes, sizeof(bytes), ":");
    text_add_hex(&t, bytes, 0, ":");
    text_add_hex(&t, bytes + 1, 2, "");
    assert_string_equal(buf, "00:9f:a09fa0");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(text_hex_digit(rows[i].digit), rows[i].value);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_joined),
        cmocka_unit_test(what_does_not_fit_is_cut_and_said_so),
        cmocka_unit_test(cut_stays_set),
        cmocka_unit_test(padding_reaches_the_column_of_its_line),
        cmocka_unit_test(padding_a_full_buffer_ends),
        cmocka_unit_test(articles_are_as_words_are_spoken),
        cmocka_unit_test(ordinals_end_as_they_are_spoken),
        cmocka_unit_test(which_of_many_is_said_as_people_say_it),
        cmocka_unit_test(bytes_are_written_in_hexadecimal_and_digits_read_in_either_case),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
