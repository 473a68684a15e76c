/* SPDX-License-Identifier: MIT */
/* Arbitrary text in the line language, and as one expression.
 *
 * Checked: steps that were read are written as text that reads as the same steps, and is written
 * the same again.  This holds for scenarios and for typed lines, where commands may be abbreviated
 * and reading continues up to the first wrong statement.  A quoted string unquotes to itself.
 */
#include <string.h>

#include "cli/lang/expr.h"
#include "cli/lang/line.h"
#include "fuzz.h"
#include "script_text.h"

/* As the prompt reads: any command, up to the first statement that is wrong. */
static void read_typed(struct script *ret, const struct source *src, bool abbreviated)
{
    struct lines l = {.script = {.src = *src}};
    struct line_reader r = {.script = &l.script, .abbreviated = abbreviated};

    line_read_rest(&r, &l);
    *ret = l.script;
}

static void check_written(const struct script *s)
{
    char *once = script_written(line_write_script, s), *twice;
    const struct source src = source_of(NULL, once);
    struct script again;

    read_typed(&again, &src, false);
    FUZZ_CHECK(script_equal(s, &again));
    twice = script_written(line_write_script, &again);
    FUZZ_CHECK(strcmp(once, twice) == 0);
    script_done(&again);
    free(once);
    free(twice);
}

static void try_typed(const struct source *src)
{
    struct script s;

    read_typed(&s, src, true);
    check_written(&s);
    script_done(&s);
}

static void try_scenario(const struct source *src)
{
    struct script s = {.src = *src}, again;
    struct diag d = {.kind = DIAG_NONE};
    char *text;

    if (line_read_script(&s, &d)) {
        text = script_written(line_write_script, &s);
        again = (struct script){.src = source_of(NULL, text)};
        FUZZ_CHECK(line_read_script(&again, &d) && script_equal(&s, &again));
        script_done(&again);
        free(text);
    } else {
        FUZZ_CHECK(d.kind != DIAG_NONE && d.at.at <= src->len);
    }
    script_done(&s);
}

static void try_expression(const char *text)
{
    const struct span at = {0, strlen(text)};
    struct diag d = {.kind = DIAG_NONE};
    struct pool pool = {NULL};
    const char *line = lex_one_line(&pool, text, at.len);
    const struct expr *e = expr_parse(&pool, text, at, &d), *f;

    FUZZ_CHECK(e || d.kind != DIAG_NONE);
    if (e) {
        (void)expr_paths_lead(e, at, &d);
        f = expr_parse(&pool, line, (struct span){0, strlen(line)}, &d);
        FUZZ_CHECK(f && f->kind == e->kind);
    }
    pool_free(&pool);
}

static void try_quotes(const char *text)
{
    struct diag d = {.kind = DIAG_NONE};
    struct pool pool = {NULL};
    char *quoted = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&quoted, &n);
    struct source src;
    const char *back;

    FUZZ_CHECK(f);
    lex_write_quoted(f, text);
    FUZZ_CHECK(fclose(f) == 0);
    src = source_of(NULL, quoted);
    back = lex_unquote(&pool, &src, (struct span){0, n}, &d);
    FUZZ_CHECK(back && strcmp(back, text) == 0);
    pool_free(&pool);
    free(quoted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = text_of(data, n);
    const struct source src = {.text = text, .len = n};
    size_t at;

    try_scenario(&src);
    if (!source_check_text(&src, &at)) { /* a prompt asks that before it reads */
        try_typed(&src);
        try_expression(text);
        try_quotes(text);
    }
    free(text);
    return 0;
}
