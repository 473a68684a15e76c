/* SPDX-License-Identifier: MIT */
#include "cli/lang/lex.h"

#include "cli/cli_testing.h"

/* Writes the kinds of all tokens, one letter each. */
static void kinds_of(const char *text, char *ret, size_t cap)
{
    static const char letters[] = "w#;{}.!";
    const struct source src = source_of(NULL, text);
    struct diag d;
    size_t n = 0, at = 0;
    struct token t;

    do {
        t = lex_next(&src, at, &d);
        at = t.at.at + t.at.len;
        assert_true(n + 1 < cap);
        ret[n++] = letters[t.kind];
    } while (t.kind != TOKEN_END && t.kind != TOKEN_BAD);
    ret[n] = '\0';
}

static void text_is_cut_into_tokens(void **state)
{
    static const struct {
        const char *text, *kinds;
    } rows[] = {
        {"", "."},
        {"host h1 h2", "www."},
        {"a;b\nc", "w;w;w."},
        {"on h1{a}", "ww{w}."},
        {"a # comment ; { }", "w#."},
        {"why #12.3", "ww."},
        {"#12", "w."},
        {"# 12", "#."},
        {"write a \"x;{#y\" b", "wwww."},
        {"k=\"a b\" c", "ww."},
        {"k=\"a \\\" b\" c", "ww."},
        {"a \\\n b", "ww."},
        {"a \\ \n b", "ww."},
        {"a\\b", "!"},
        {"\"open", "!"},
        {"\"open\n\"", "!"},
        {"na\xc3\xafve", "!"},
        {"\"na\xc3\xafve\" # na\xc3\xafve", "w#."},
        {"a\r\nb", "w;w."},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char kinds[32];

        kinds_of(rows[i].text, kinds, sizeof(kinds));
        assert_string_equal(kinds, rows[i].kinds);
    }
}

static void open_blocks_and_joined_lines_want_more(void **state)
{
    static const struct {
        const char *text;
        bool more;
    } rows[] = {
        {"run\n", false},         {"on h1 {\n", true},
        {"on h1 { a }\n", false}, {"on h1 { repeat 2 { a }\n", true},
        {"host \\\n", true},      {"host \\\n h1\n", false},
        {"note \"{\"\n", false},  {"# {\n", false},
        {"}\n", false},           {"\"open {\n", false}, /* more lines do not correct an error */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct source src = source_of(NULL, rows[i].text);
        struct tokens tokens = {.v = NULL};

        lex_rest(&tokens, &src);
        assert_int_equal(lex_wants_more(&tokens, &src), rows[i].more);
        lex_free(&tokens);
    }
}

/* Lines that arrive one by one give the same tokens as the whole text.  Each is read once:
 * processed text and tokens are overwritten before the next line.
 */
static void a_text_may_grow_by_lines(void **state)
{
    static const char text[] = "on h1 { # a comment\n  run 5us; note \"a\\n}\" \\\n \\\n\\\n \n\n"
                               "repeat 2 {\nrun \\\n 5us }\n} # end\n";
    char lines[sizeof(text)];
    struct source src = source_of(NULL, text);
    struct tokens whole = {.v = NULL}, grown = {.v = NULL};

    (void)state;
    lex_rest(&whole, &src);
    memcpy(lines, text, sizeof(text));
    src.text = lines;
    for (size_t i = 0, n = 0; i < sizeof(text) - 1; i++) {
        if (text[i] != '\n')
            continue;
        src.len = i + 1;
        lex_rest(&grown, &src);
        assert_int_equal(lex_wants_more(&grown, &src), i + 1 < sizeof(text) - 1);
        for (; n < grown.n && grown.v[n].kind != TOKEN_END; n++) {
            assert_int_equal(grown.v[n].kind, whole.v[n].kind);
            assert_int_equal(grown.v[n].at.at, whole.v[n].at.at);
            assert_int_equal(grown.v[n].at.len, whole.v[n].at.len);
            grown.v[n] = (struct token){TOKEN_BAD, {0, 0}};
        }
        memset(lines, '"', i + 1);
    }
    assert_int_equal(grown.n, whole.n);
    lex_free(&whole);
    lex_free(&grown);
}

static void lines_do_not_mend_what_is_wrong(void **state)
{
    static const char text[] = "on h1 { \"open\nrun\n}\n";
    struct source src = source_of(NULL, text);
    struct tokens tokens = {.v = NULL};

    (void)state;
    src.len = strcspn(text, "\n") + 1;
    for (size_t i = 0; i < 2; i++) {
        lex_rest(&tokens, &src);
        assert_int_equal(tokens.n, 4); /* on, h1, {, the string */
        assert_int_equal(tokens.v[3].kind, TOKEN_BAD);
        assert_false(lex_wants_more(&tokens, &src));
        src.len = sizeof(text) - 1;
    }
    lex_free(&tokens);
}

static void quoting_and_unquoting_are_inverse(void **state)
{
    static const char *const texts[] = {"",   "plain",         "a b",          "\"",
                                        "\\", "line\nend\t\r", "\x01\x1f\x7f", "na\xc3\xafve",
                                        "#1", "a;b{c}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct pool pool = {NULL};
        struct diag d;
        char *quoted = NULL;
        size_t n = 0;
        FILE *f = open_memstream(&quoted, &n);
        struct source src;

        assert_non_null(f);
        lex_write_quoted(f, texts[i]);
        fclose(f);
        src = source_of(NULL, quoted);
        assert_int_equal(lex_next(&src, 0, &d).at.len, n);
        assert_string_equal(lex_unquote(&pool, &src, (struct span){0, n}, &d), texts[i]);
        free(quoted);
        pool_free(&pool);
    }
}

static void unknown_escapes_are_errors(void **state)
{
    static const char *const texts[] = {"\"\\q\"", "\"\\x0\"", "\"\\x00\"", "\"\\x80\"",
                                        "\"\\xzz\""};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const struct source src = source_of(NULL, texts[i]);
        struct pool pool = {NULL};
        struct diag d;

        assert_null(lex_unquote(&pool, &src, (struct span){0, src.len}, &d));
        assert_int_equal(d.kind, DIAG_SYNTAX);
        pool_free(&pool);
    }
}

static void text_that_is_not_utf8_is_found(void **state)
{
    static const struct {
        const char *text;
        size_t len;
        bool good;
    } rows[] = {
        {"plain", 5, true},     {"\xc3\xaf", 2, true},      {"\xf0\x9f\x98\x80", 4, true},
        {"a\0b", 3, false},     {"\xc3", 1, false},         {"\x80", 1, false},
        {"\xc0\xaf", 2, false}, {"\xed\xa0\x80", 3, false}, {"\xf5\x80\x80\x80", 4, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct source src = {.text = rows[i].text, .len = rows[i].len};
        size_t at;

        assert_int_equal(source_check_text(&src, &at) == NULL, rows[i].good);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_cut_into_tokens),
        cmocka_unit_test(open_blocks_and_joined_lines_want_more),
        cmocka_unit_test(a_text_may_grow_by_lines),
        cmocka_unit_test(lines_do_not_mend_what_is_wrong),
        cmocka_unit_test(quoting_and_unquoting_are_inverse),
        cmocka_unit_test(unknown_escapes_are_errors),
        cmocka_unit_test(text_that_is_not_utf8_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
