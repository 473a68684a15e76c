/* SPDX-License-Identifier: MIT */
/* Rows in each form: what stands in a cell comes out of it as it was. */
#include "testing.h"

#include "cli/printed.h"
#include "cli/show/show_rows.h"

static const struct row_column columns[] = {
    {.name = "name"},
    {.name = "path mtu", .right = true},
    {.name = "at", .data = true, .key = "at_ns"},
};

/* Two rows: one that has all that must be quoted, and one with what is not there. */
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

static void each_form_is_as_its_readers_want_it(void **state)
{
    static const struct {
        enum show_form form;
        const char *want;
    } rows[] = {
        {SHOW_TEXT, "name     path mtu\n"
                    "a|b,\"c\"        1k\n"
                    "plain           -\n"},
        {SHOW_JSON, "[{\"name\":\"a|b,\\\"c\\\"\",\"path-mtu\":1024,\"at_ns\":1500},\n"
                    "{\"name\":\"plain\",\"path-mtu\":null,\"at_ns\":\"18446744073709551615\"}]\n"},
        {SHOW_NDJSON,
         "{\"name\":\"a|b,\\\"c\\\"\",\"path-mtu\":1024,\"at_ns\":1500}\n"
         "{\"name\":\"plain\",\"path-mtu\":null,\"at_ns\":\"18446744073709551615\"}\n"},
        {SHOW_CSV, "name,path-mtu,at_ns\r\n"
                   "\"a|b,\"\"c\"\"\",1024,1500\r\n"
                   "plain,,18446744073709551615\r\n"},
        {SHOW_MARKDOWN, "| name | path-mtu | at_ns |\n"
                        "| --- | ---: | --- |\n"
                        "| a\\|b,\"c\" | 1k | 1.5us |\n"
                        "| plain | - | 18446744073709551615 |\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct printed p;

        print(&p, rows[i].form);
        assert_string_equal(printed_text(&p), rows[i].want);
        printed_end(&p);
    }
}

static void without_rows_there_is_still_a_table(void **state)
{
    static const struct {
        enum show_form form;
        const char *want;
    } rows[] = {{SHOW_TEXT, "none\n"},
                {SHOW_JSON, "[]\n"},
                {SHOW_NDJSON, ""},
                {SHOW_CSV, "name,path-mtu,at_ns\r\n"},
                {SHOW_MARKDOWN, "| name | path-mtu | at_ns |\n| --- | ---: | --- |\n"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct printed p;
        struct rows r;

        rows_begin(&r, printed_begin(&p)->out, rows[i].form, columns, ARRAY_LEN(columns));
        rows_end(&r, "none");
        assert_string_equal(printed_text(&p), rows[i].want);
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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
