/* SPDX-License-Identifier: MIT */
/* Tests of conversion: every string that JSON can hold survives the way through lines and back,
 * wherever a text or a string of an expression may stand.  What a line cannot hold is refused.
 */
#include "cli/cli_testing.h"
#include "cli/lang/expr.h"
#include "emu/base/prng.h"
#include "print/print_json.h"
#include "rounds.h"

#define ROUNDS     n_rounds(4000)
#define TEXT_BYTES 160u

/* Characters with a meaning in one of the two languages, and some without. */
static const char *const pieces[] = {
    "\t",
    "\r",
    "\x01",
    "\x1f",
    "\x7f",
    "\v",
    "\f",
    " ",
    "  ",
    "\"",
    "\\",
    "/",
    "#",
    "# ",
    "#1",
    ";",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "=",
    "==",
    "a",
    "as",
    "arp",
    "timeout=",
    "na\xc3\xafve",
    "\\n",
    "\\t",
    "\\",
    "-s",
    "1",
    "0x",
    "\\u0041",
    "and",
    "\xe2\x82\xac",
    "\xf0\x9f\x90\xb1",
    "\xef\xbb\xbf",
    "json",
};

static void add_random(struct prng *r, struct text *t)
{
    for (uint64_t left = prng_below(r, 8); left > 0; left--)
        text_add(t, pieces[prng_below(r, ARRAY_LEN(pieces))]);
}

/* Appends @text as a string of the expression language, in which only its end is escaped. */
static void add_string(struct text *t, const char *text)
{
    text_add(t, "h1.mr[0:4] == \"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            text_add(t, "\\");
        text_addn(t, text, 1);
    }
    text_add(t, "\" and t > 1us");
}

/* Returns one step of each kind that holds a text unchanged. */
static char *json_of(const char *text, const char *that)
{
    char *json = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&json, &n);

    assert_non_null(f);
    fputs("{\"title\": ", f);
    print_json_string(f, text);
    fputs(", \"teaches\": [", f);
    print_json_string(f, text);
    fputs(", \"\"], \"steps\": [{\"do\": \"note\", \"text\": ", f);
    print_json_string(f, text);
    fputs("}, {\"do\": \"write\", \"at\": \"h1.mr[0]\", \"text\": ", f);
    print_json_string(f, text);
    fputs("}, {\"do\": \"expect\", \"that\": ", f);
    print_json_string(f, that);
    fputs("}, {\"do\": \"until\", \"that\": ", f);
    print_json_string(f, that);
    fputs(", \"timeout\": \"1us\"}, {\"do\": \"explain\", \"word\": ", f);
    print_json_string(f, *text ? text : "x");
    fputs("}, {\"do\": \"show\", \"what\": [\"json\", ", f);
    print_json_string(f, *text ? text : "x");
    fputs("]}, {\"do\": \"export\", \"form\": \"ladder\", \"file\": ", f);
    print_json_string(f, *text ? text : "x");
    fputs("}]}", f);
    fclose(f);
    return json;
}

static void must_be_equal(const struct script *a, const struct script *b)
{
    const struct step *x = a->first, *y = b->first;

    assert_true(step_equal(a->header, b->header));
    for (; x && y; x = x->next, y = y->next) {
        if (!step_equal(x, y))
            fail_msg("%s is not what it was", x->cmd->name);
    }
    assert_true(!x && !y);
}

/* Reads @json and converts it to lines and back.  The result must be equal. */
static void survives(const char *json, const char *text)
{
    struct script s = script_of(json), from_lines;
    char *lines, *json_again, *lines_again, *json_once;

    must_read(&s, true);
    assert_string_equal(step_text(s.header, "title"), text);
    assert_string_equal(step_text(s.first, "text"), text);
    json_once = written(json_write_script, &s);
    lines = written(line_write_script, &s);
    from_lines = script_of(lines);
    must_read(&from_lines, false);
    must_be_equal(&s, &from_lines);
    json_again = written(json_write_script, &from_lines);
    lines_again = written(line_write_script, &from_lines);
    assert_string_equal(json_again, json_once);
    assert_string_equal(lines_again, lines);
    script_done(&from_lines);
    script_done(&s);
    free(json_once);
    free(json_again);
    free(lines_again);
    free(lines);
}

static void every_text_survives_conversion(void **state)
{
    struct prng r = prng_stream(1, 0);

    (void)state;
    for (unsigned k = 0; k < ROUNDS; k++) {
        char text[TEXT_BYTES], that[3 * TEXT_BYTES];
        struct text t = text_on(text, sizeof(text)), e = text_on(that, sizeof(that));
        char *json;

        add_random(&r, &t);
        add_string(&e, text);
        assert_false(t.cut || e.cut);
        json = json_of(text, that);
        survives(json, text);
        free(json);
    }
}

static void a_line_end_survives_as_a_text(void **state)
{
    static const char *const texts[] = {"\n", "a\nb", "a\r\nb", "\n\n ", " \t\n"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        char *json = json_of(texts[i], "t > 1us");

        survives(json, texts[i]);
        free(json);
    }
}

static void a_string_of_an_expression_has_its_value(void **state)
{
    static const struct {
        const char *json; /* the JSON of "that" */
        const char *line, *value;
    } rows[] = {
        {"h1.mr[0:3] == \\\"a\\tb\\\"", "h1.mr[0:3] == \"a\tb\"", "a\tb"},
        {"h1.mr[0:3] == \\\"a\\\\tb\\\"", "h1.mr[0:3] == \"a\\tb\"", "a\tb"},
        {"h1.mr[0:3] == \\\"a\\\\nb\\\"", "h1.mr[0:3] == \"a\\nb\"", "a\nb"},
        {"h1.mr[0:3] == \\\"a\\rb\\\"", "h1.mr[0:3] == \"a\rb\"", "a\rb"},
        {" h1.mr[0:3]\\t==\\n\\\"a  \\\" ", "h1.mr[0:3] == \"a  \"", "a  "},
        {"h1.mr[0:3] == \\\"\\\\\\\\ \\t\\\"", "h1.mr[0:3] == \"\\\\ \t\"", "\\ \t"},
        {"h1.mr[0:3] == \\\"\\u00e9\\\"", "h1.mr[0:3] == \"\xc3\xa9\"", "\xc3\xa9"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char json[256], line[128];
        struct script s;
        const struct expr *e;
        struct diag d;
        char *lines;

        snprintf(json, sizeof(json), "{\"steps\": [{\"do\": \"expect\", \"that\": \"%s\"}]}",
                 rows[i].json);
        snprintf(line, sizeof(line), "expect %s\n", rows[i].line);
        s = script_of(json);
        must_read(&s, true);
        lines = written(line_write_script, &s);
        assert_string_equal(lines, line);
        e = expr_parse(&s.pool, step_text(s.first, "that"), (struct span){0, 0}, &d);
        assert_non_null(e);
        assert_string_equal(e->b->text, rows[i].value);
        free(lines);
        script_done(&s);
    }
}

static void what_no_line_can_hold_is_refused(void **state)
{
    static const struct {
        const char *step, *message, *remedy;
    } rows[] = {
        {"{\"do\": \"expect\", \"that\": \"h1.mr[0:3] == \\\"a\\nb\\\"\"}",
         "the string does not end on its line", "\\n"},
        {"{\"do\": \"expect\", \"that\": \"h1.mr[0:3] == \\\"a\"}",
         "the string does not end on its line", "end it"},
        {"{\"do\": \"expect\", \"that\": \"# 5\"}", "not the number of an event", "#12"},
        {"{\"do\": \"expect\", \"that\": \"h1.x == 1; run\"}", "should end here", ""},
        {"{\"do\": \"note\", \"text\": \"a\\u0000b\"}", "cannot contain \\u0000", "\"hex\""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char json[256];
        struct diag d = {.kind = DIAG_NONE};
        struct script s;

        snprintf(json, sizeof(json), "{\"steps\": [%s]}", rows[i].step);
        s = script_of(json);
        assert_false(json_read_script(&s, &d));
        if (!strstr(d.message, rows[i].message) || !strstr(d.remedy, rows[i].remedy))
            fail_msg("%s: %s (%s)", rows[i].step, d.message, d.remedy);
        script_done(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_text_survives_conversion),
        cmocka_unit_test(a_line_end_survives_as_a_text),
        cmocka_unit_test(a_string_of_an_expression_has_its_value),
        cmocka_unit_test(what_no_line_can_hold_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
