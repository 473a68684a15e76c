/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include <string.h>

#include "emu/base/prng.h"
#include "emu/base/quantity.h"

static void what_people_write_is_read(void **state)
{
    static const struct {
        enum quantity kind;
        const char *text;
        uint64_t want;
    } rows[] = {
        {QUANTITY_NUMBER, "0", 0},
        {QUANTITY_NUMBER, "007", 7},
        {QUANTITY_NUMBER, "1.0", 1},
        {QUANTITY_NUMBER, "0x1F", 31},
        {QUANTITY_NUMBER, "18446744073709551615", UINT64_MAX},
        {QUANTITY_NUMBER, "0xffffffffffffffff", UINT64_MAX},
        {QUANTITY_SIZE, "64", 64},
        {QUANTITY_SIZE, "64b", 64},
        {QUANTITY_SIZE, "4k", 4096},
        {QUANTITY_SIZE, "4K", 4096},
        {QUANTITY_SIZE, "4KiB", 4096},
        {QUANTITY_SIZE, "1.5k", 1536},
        {QUANTITY_SIZE, "64m", 64u << 20},
        {QUANTITY_SIZE, "17179869183g", UINT64_MAX - (1u << 30) + 1},
        {QUANTITY_TIME, "0", 0},
        {QUANTITY_TIME, "1ns", 1},
        {QUANTITY_TIME, "10us", 10000},
        {QUANTITY_TIME, "4.096us", 4096},
        {QUANTITY_TIME, "655.36ms", 655360000},
        {QUANTITY_TIME, "0.000000001s", 1},
        {QUANTITY_TIME, "18446744073.709551615s", UINT64_MAX},
        {QUANTITY_RATE, "100g", 100000000000},
        {QUANTITY_RATE, "2.5Gbps", 2500000000},
        {QUANTITY_RATE, "1t", 1000000000000},
        {QUANTITY_RATE, "9600bps", 9600},
        {QUANTITY_CHANCE, "0", 0},
        {QUANTITY_CHANCE, "1%", 10000},
        {QUANTITY_CHANCE, "0.0001%", 1},
        {QUANTITY_CHANCE, "100%", 1000000},
        {QUANTITY_CHANCE, "250ppm", 250},
        {QUANTITY_CHANCE, "1/1000", 1000},
        {QUANTITY_CHANCE, "1/1", 1000000},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint64_t v = 0xdead;

        assert_null(quantity_parse(rows[i].kind, rows[i].text, &v));
        assert_true(v == rows[i].want);
    }
}

static void what_is_wrong_is_refused_with_a_reason(void **state)
{
    static const struct {
        enum quantity kind;
        const char *text, *part_of_reason;
    } rows[] = {
        {QUANTITY_NUMBER, "", "needed"},
        {QUANTITY_NUMBER, "-1", "needed"},
        {QUANTITY_NUMBER, " 1", "needed"},
        {QUANTITY_NUMBER, "k", "needed"},
        {QUANTITY_NUMBER, "1k", "no unit"},
        {QUANTITY_NUMBER, "1 ", "no unit"},
        {QUANTITY_NUMBER, "1.5", "whole"},
        {QUANTITY_NUMBER, "1.", "digit"},
        {QUANTITY_NUMBER, "0x", "hexadecimal"},
        {QUANTITY_NUMBER, "0x1g", "hexadecimal"},
        {QUANTITY_NUMBER, "18446744073709551616", "too large"},
        {QUANTITY_NUMBER, "0x10000000000000000", "too large"},
        {QUANTITY_SIZE, "4us", "units of size"},
        {QUANTITY_SIZE, "17179869184g", "too large"},
        {QUANTITY_SIZE, "0.3k", "whole"},
        {QUANTITY_TIME, "10", "unit"},
        {QUANTITY_TIME, "10k", "unit"},
        {QUANTITY_TIME, "1.5ns", "whole"},
        {QUANTITY_TIME, "18446744073.709551616s", "too large"},
        {QUANTITY_TIME, "1.0000000000000s", "too many digits"},
        {QUANTITY_RATE, "1x", "a rate needs a unit"},
        {QUANTITY_RATE, "9600", "a rate needs a unit"},
        {QUANTITY_RATE, "0x10", "a rate needs a unit"},
        {QUANTITY_TIME, "0x10", "a time needs a unit"},
        {QUANTITY_CHANCE, "1", "percentage"},
        {QUANTITY_CHANCE, "0.1", "percentage"},
        {QUANTITY_CHANCE, "101%", "at most"},
        {QUANTITY_CHANCE, "0.00001%", "whole"},
        {QUANTITY_CHANCE, "1/3", "whole"},
        {QUANTITY_CHANCE, "2/1", "at most"},
        {QUANTITY_CHANCE, "0/0", "at most"},
        {QUANTITY_CHANCE, "1/", "after the slash"},
        {QUANTITY_CHANCE, "1/2x", "after the slash"},
        {QUANTITY_TIME, "1/2", "unit"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint64_t v = 0xdead;
        const char *reason = quantity_parse(rows[i].kind, rows[i].text, &v);

        assert_non_null(reason);
        assert_non_null(strstr(reason, rows[i].part_of_reason));
        assert_int_equal(v, 0xdead);
    }
}

static void the_largest_exact_unit_is_written(void **state)
{
    static const struct {
        enum quantity kind;
        uint64_t v;
        const char *want;
    } rows[] = {
        {QUANTITY_NUMBER, 4096, "4096"},
        {QUANTITY_SIZE, 0, "0"},
        {QUANTITY_SIZE, 1, "1"},
        {QUANTITY_SIZE, 4096, "4k"},
        {QUANTITY_SIZE, 4097, "4097"},
        {QUANTITY_SIZE, 1u << 30, "1g"},
        {QUANTITY_TIME, 0, "0"},
        {QUANTITY_TIME, 1, "1ns"},
        {QUANTITY_TIME, 1500, "1500ns"},
        {QUANTITY_TIME, 60000000000, "60s"},
        {QUANTITY_RATE, 100000000000, "100g"},
        {QUANTITY_CHANCE, 10000, "1%"},
        {QUANTITY_CHANCE, 10001, "10001ppm"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char buf[40];
        struct text t = text_on(buf, sizeof(buf));

        quantity_add(&t, rows[i].kind, rows[i].v);
        assert_string_equal(buf, rows[i].want);
    }
}

static void what_is_written_is_read_back(void **state)
{
    struct prng r = prng_stream(1, 0);

    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        const enum quantity kind = (enum quantity)(i % 5);
        const unsigned shift = (unsigned)prng_below(&r, 64);
        uint64_t v = prng_next(&r) >> shift, back;
        char buf[40];
        struct text t = text_on(buf, sizeof(buf));

        if (kind == QUANTITY_CHANCE)
            v %= 1000001;
        quantity_add(&t, kind, v);
        assert_false(t.cut);
        assert_null(quantity_parse(kind, buf, &back));
        assert_true(back == v);
    }
}

static void a_time_for_people_is_short(void **state)
{
    static const struct {
        uint64_t ns;
        const char *want;
    } rows[] = {
        {0, "0"},         {1, "1ns"},           {999, "999ns"},     {1000, "1us"},
        {1050, "1.05us"}, {1500, "1.5us"},      {85660, "85.66us"}, {999999, "999.99us"},
        {1000000, "1ms"}, {67108864, "67.1ms"}, {3000000000, "3s"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char buf[40];
        struct text t = text_on(buf, sizeof(buf));

        quantity_add_time_short(&t, rows[i].ns);
        assert_string_equal(buf, rows[i].want);
    }
}

static void a_time_with_all_digits_is_read_back(void **state)
{
    static const struct {
        uint64_t ns;
        const char *want;
    } rows[] = {
        {0, "0"},
        {999, "999ns"},
        {1005, "1.005us"},
        {17510, "17.51us"},
        {17513, "17.513us"},
        {999999, "999.999us"},
        {1000001, "1.000001ms"},
        {3000000007, "3.000000007s"},
        {UINT64_MAX, "18446744073.709551615s"},
    };
    struct prng r = prng_stream(7, 0);

    (void)state;
    for (size_t i = 0; i < 2000 + ARRAY_LEN(rows); i++) {
        const unsigned shift = (unsigned)prng_below(&r, 64);
        const uint64_t ns = i < ARRAY_LEN(rows) ? rows[i].ns : prng_next(&r) >> shift;
        uint64_t back;
        char buf[40];
        struct text t = text_on(buf, sizeof(buf));

        quantity_add_time(&t, ns);
        if (i < ARRAY_LEN(rows))
            assert_string_equal(buf, rows[i].want);
        assert_null(quantity_parse(QUANTITY_TIME, buf, &back));
        assert_true(back == ns);
    }
}

static void a_range_is_two_numbers(void **state)
{
    static const char *const wrong[] = {
        "",      "3",       "..",   "1..",   "..2",
        "1.. 2", "1..2..3", "a..b", "1..-1", "11111111111111111111111111111111..2"};
    uint64_t first = 7, last = 8;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        assert_non_null(quantity_parse_range(wrong[i], &first, &last));
        assert_true(first == 7 && last == 8);
    }
    assert_null(quantity_parse_range("9..0x10", &first, &last));
    assert_true(first == 9 && last == 16);
}

static void a_missing_unit_is_offered(void **state)
{
    static const struct {
        enum quantity kind;
        const char *text, *want; /* NULL: nothing is missing that would help */
    } rows[] = {
        {QUANTITY_TIME, "10", "10s, 10ms, 10us or 10ns"},
        {QUANTITY_TIME, "1.5", "1.5s, 1.5ms or 1.5us"},
        {QUANTITY_RATE, "100", "100t, 100g, 100m, 100k or 100bps"},
        {QUANTITY_CHANCE, "5", "5% or 5ppm"},
        {QUANTITY_CHANCE, "101", "101ppm"},
        {QUANTITY_NUMBER, "10", NULL},
        {QUANTITY_SIZE, "1.5", NULL},
        {QUANTITY_TIME, "10x", NULL},
        {QUANTITY_TIME, "0x10", NULL},
        {QUANTITY_TIME, "1.2.3", NULL},
        {QUANTITY_TIME, "99999999999999999999999999999999", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char buf[96];
        struct text t = text_on(buf, sizeof(buf));

        assert_int_equal(quantity_add_with_units(&t, rows[i].kind, rows[i].text),
                         rows[i].want != NULL);
        assert_string_equal(buf, rows[i].want ? rows[i].want : "");
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_people_write_is_read),
        cmocka_unit_test(what_is_wrong_is_refused_with_a_reason),
        cmocka_unit_test(a_missing_unit_is_offered),
        cmocka_unit_test(the_largest_exact_unit_is_written),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(a_time_for_people_is_short),
        cmocka_unit_test(a_time_with_all_digits_is_read_back),
        cmocka_unit_test(a_range_is_two_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
