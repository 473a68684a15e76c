/* SPDX-License-Identifier: MIT */
/* Tests of rows in each output form: the value of a cell can be read back unchanged. */
#include "testing.h"

#include "cli/printed.h"
#include "cli/show/show_rows.h"
#include "golden.h"

static const struct row_column columns[] = {
    {.name = "name"},
    {.name = "path mtu", .right = true},
    {.name = "at", .data = true, .key = "at_ns"},
};

/* Prints two rows: one with everything that needs quotes, and one with absent values. */
static void print(struct printed *p, enum show_form form)
{
    struct rows r;

    rows_begin(&r, printed_begin(p)->out, form, columns, ARRAY_LEN(columns));
    rows_text(&r, "a|b,\"c\"");
    rows_number_as(&r, 1024, "1k");
    rows_time(&r, 1500);
    rows_text(&r, "plain");
    rows_none(&r);
    rows_number(&r, UINT64_MAX);
    rows_end(&r, "none");
}

/* The forms as they are typed after `show`. */
static const struct {
    enum show_form form;
    const char *name;
} forms[] = {{SHOW_TEXT, "text"},
             {SHOW_JSON, "json"},
             {SHOW_NDJSON, "ndjson"},
             {SHOW_CSV, "csv"},
             {SHOW_MARKDOWN, "markdown"}};

static void each_form_is_as_its_readers_want_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct printed p;

        print(&p, forms[i].form);
        assert_golden(forms[i].name, printed_text(&p));
        printed_end(&p);
    }
}

static void without_rows_there_is_still_a_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct printed p;
        struct rows r;
        char name[32];

        snprintf(name, sizeof(name), "%s without rows", forms[i].name);
        rows_begin(&r, printed_begin(&p)->out, forms[i].form, columns, ARRAY_LEN(columns));
        rows_end(&r, "none");
        assert_golden(name, printed_text(&p));
        printed_end(&p);
    }
}

static void a_field_of_csv_is_quoted_where_it_must_be(void **state)
{
    static const struct {
        const char *text, *want;
    } rows[] = {{"", ""},           {"plain", "plain"},   {"a,b", "\"a,b\""},
                {"\"", "\"\"\"\""}, {"a\nb", "\"a\nb\""}, {"a\r", "\"a\r\""},
                {"a b", "a b"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct printed p;

        print_csv_field(printed_begin(&p)->out, rows[i].text);
        assert_string_equal(printed_text(&p), rows[i].want);
        printed_end(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_is_as_its_readers_want_it),
        cmocka_unit_test(without_rows_there_is_still_a_table),
        cmocka_unit_test(a_field_of_csv_is_quoted_where_it_must_be),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
