/* SPDX-License-Identifier: MIT */
#include "cli/app/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/session/files.h"
#include "emu/base/assert.h"
#include "print/plain.h"
#include "print/print_json.h"
#include "print/utf8.h"

struct report_form {
    const char *name;
    void (*begin)(struct report *r);
    void (*one)(struct report *r, const struct test_case *c, const struct shown_case *shown);
    void (*end)(struct report *r);
};

static bool is_bad(const struct test_result *result)
{
    return result->status != EXIT_PASSED && result->status != EXIT_SKIPPED;
}

static const char *verdict(const struct test_result *result)
{
    return result->status == EXIT_PASSED ? "ok" : result->status == EXIT_SKIPPED ? "skip" : "FAIL";
}

/* Appends @s, or its beginning and "..." if it is too long. */
static void add_all(struct text *t, const char *s)
{
    static const char more[] = "...\n";
    struct text shorter = *t;

    shorter.cap -= sizeof(more);
    utf8_add_printable(&shorter, s, true);
    t->len = shorter.len;
    if (shorter.cut)
        text_add(t, more);
    else if (t->len > 0 && t->buf[t->len - 1] != '\n')
        text_add(t, "\n");
}

/* Appends the line "  @name COMMAND" if @add appends a command that fits. */
static void add_command(struct text *t, const char *name, const struct test_case *c,
                        const struct test_options *o,
                        void (*add)(struct text *, const struct test_case *,
                                    const struct test_options *))
{
    char line[SHELL_LINE_BYTES];
    struct text command = text_on(line, sizeof(line));

    add(&command, c, o);
    if (!command.cut && command.len > 0)
        text_addf(t, "  %-6s %s\n", name, line);
}

/* Appends how a failed run comes to the same failure again, and how to look around there. */
static void add_again(struct text *t, const struct test_case *c, const struct test_options *o)
{
    if (!o || c->file->status != EXIT_PASSED || c->result.status == EXIT_INTERRUPTED)
        return;
    add_command(t, "again:", c, o, test_add_again);
    if (c->result.ran && c->result.status == EXIT_FAILED)
        add_command(t, "open:", c, o, test_add_open);
}

void shown_case(const struct test_case *c, const struct test_options *o, bool many_seeds,
                struct shown_case *ret)
{
    struct text name = text_on(ret->name, sizeof(ret->name));
    struct text file = text_on(ret->file, sizeof(ret->file));
    struct text title = text_on(ret->title, sizeof(ret->title));
    struct text message = text_on(ret->message, sizeof(ret->message));
    const char *given = c->file->status == EXIT_PASSED ? scenario_title(&c->file->sc) : NULL;

    utf8_add_printable(&file, c->file->name, false);
    utf8_add_printable(&title, given ? given : "", false);
    text_add(&name, ret->file);
    if (many_seeds && c->seed_given)
        text_addf(&name, " seed=%llu", (unsigned long long)c->seed);
    if (c->fault)
        text_addf(&name, " %s", c->fault);
    if (is_bad(&c->result)) {
        message.cap -= 2 * SHELL_LINE_BYTES;
        add_all(&message, c->result.message);
        message.cap += 2 * SHELL_LINE_BYTES;
        add_again(&message, c, o);
    } else {
        utf8_add_printable(&message, c->result.message, false);
    }
}

/* --- text --- */

static void text_one(struct report *r, const struct test_case *c, const struct shown_case *shown)
{
    fprintf(r->out, "%-4s  %s", verdict(&c->result), shown->name);
    if (c->result.status == EXIT_PASSED && !c->result.ran)
        fputc('\n', r->out);
    else if (c->result.status == EXIT_PASSED)
        fprintf(r->out, "  %llu ticks  hash %016llx%s\n", (unsigned long long)c->result.ticks,
                (unsigned long long)c->result.hash,
                c->result.expects ? "" : "  nothing was expected");
    else if (c->result.status == EXIT_SKIPPED)
        fprintf(r->out, "  %s\n", shown->message);
    else
        fprintf(r->out, "\n%s", shown->message);
}

/* --- TAP version 13 --- */

static void tap_begin(struct report *r)
{
    fprintf(r->out, "TAP version 13\n1..%zu\n", r->su->n_cases);
}

/* Escapes #, which would begin a directive. */
static void tap_words(FILE *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '#' || *s == '\\')
            fputc('\\', out);
        fputc(*s, out);
    }
}

/* Writes a TAP line.  The message is a YAML block with explicit indentation, since its lines may
 * begin with blanks.
 */
static void tap_one(struct report *r, const struct test_case *c, const struct shown_case *shown)
{
    const char *s = shown->message;
    char place[REPORT_NAME_BYTES + 64];
    struct text at = text_on(place, sizeof(place));

    fprintf(r->out, "%s %zu - ", is_bad(&c->result) ? "not ok" : "ok", r->n);
    tap_words(r->out, shown->name);
    if (c->result.status == EXIT_SKIPPED)
        fprintf(r->out, " # SKIP %s", s);
    fputc('\n', r->out);
    if (!is_bad(&c->result))
        return;
    text_addf(&at, "%s:%zu:%zu", shown->file, c->result.line, c->result.col);
    fprintf(r->out, "  ---\n  seed: %llu\n  at: ", (unsigned long long)c->seed);
    print_json_string(r->out, place);
    fputs("\n  message: |2\n", r->out);
    while (*s) {
        const size_t n = strcspn(s, "\n");

        fprintf(r->out, "%s%.*s\n", n ? "    " : "", (int)n, s);
        s += n + (s[n] == '\n');
    }
    fputs("  ...\n", r->out);
}

static void tap_end(struct report *r)
{
    if (r->not_run)
        fprintf(r->out, "Bail out! Interrupted: %zu were not run\n", r->not_run);
    if (r->coverage)
        report_coverage_text(r->out, "# ", r->coverage);
}

/* --- JSON --- */

static void json_begin(struct report *r)
{
    fputs("{\"cases\": [", r->out);
}

static void json_one(struct report *r, const struct test_case *c, const struct shown_case *shown)
{
    const struct test_result *result = &c->result;

    fputs(r->n > 1 ? ",\n  {\"name\": " : "\n  {\"name\": ", r->out);
    print_json_string(r->out, shown->name);
    fputs(", \"file\": ", r->out);
    print_json_string(r->out, shown->file);
    fputs(", \"title\": ", r->out);
    print_json_string(r->out, shown->title);
    fprintf(
        r->out,
        ", \"seed\": \"%llu\", \"result\": \"%s\", \"status\": %d, \"line\": %zu, \"col\": %zu, "
        "\"ticks\": %llu, \"time_ns\": %llu, \"expected\": %llu, "
        "\"wall_us\": %llu, ",
        (unsigned long long)c->seed, verdict(result), result->status, result->line, result->col,
        (unsigned long long)result->ticks, (unsigned long long)result->sim_ns,
        (unsigned long long)result->expected, (unsigned long long)result->wall_us);
    if (result->ran)
        fprintf(r->out, "\"hash\": \"%016llx\", ", (unsigned long long)result->hash);
    fputs("\"message\": ", r->out);
    print_json_string(r->out, shown->message);
    fputc('}', r->out);
}

static void json_end(struct report *r)
{
    fprintf(r->out, "\n], \"passed\": %zu, \"failed\": %zu, \"skipped\": %zu, \"not_run\": %zu",
            r->passed, r->failed, r->skipped, r->not_run);
    if (r->coverage) {
        fputs(",\n ", r->out);
        report_coverage_json(r->out, r->coverage);
    }
    fputs("}\n", r->out);
}

/* --- GitHub Actions --- */

static void github_one(struct report *r, const struct test_case *c, const struct shown_case *shown)
{
    if (!is_bad(&c->result)) {
        text_one(r, c, shown);
        return;
    }
    /* The log shows the message of the annotation. */
    fprintf(r->out, "%-4s  %s\n", verdict(&c->result), shown->name);
    fputs("::error file=", r->out);
    print_github(r->out, shown->file, true);
    if (c->result.line > 0)
        fprintf(r->out, ",line=%zu,col=%zu", c->result.line, c->result.col);
    fputs(",title=", r->out);
    print_github(r->out, shown->name, true);
    fputs("::", r->out);
    print_github(r->out, shown->message, false);
    fputc('\n', r->out);
}

/* Writes the first line of @s as a table cell, with all Markdown and HTML characters escaped. */
static void github_cell(FILE *out, const char *s)
{
    for (; *s && *s != '\n'; s++) {
        if (strchr("\\`*_{}[]<>()#+!|~&", *s))
            fprintf(out, "&#%u;", (unsigned)(unsigned char)*s);
        else
            fputc(*s, out);
    }
}

/* Writes tables of the counts and of the failed cases. */
static void github_summary(const struct report *r, FILE *f)
{
    fprintf(f, "| passed | failed | skipped |\n| --- | --- | --- |\n| %zu | %zu | %zu |\n",
            r->passed, r->failed, r->skipped);
    if (r->not_run)
        fprintf(f, "\nInterrupted: %zu were not run.\n", r->not_run);
    for (size_t i = 0, told = 0; i < r->su->n_cases && told < r->failed; i++) {
        const struct test_case *c = &r->su->cases[i];
        struct shown_case shown;

        if (!c->ended || !is_bad(&c->result))
            continue;
        if (told++ == 0)
            fputs("\n| failed | why |\n| --- | --- |\n", f);
        shown_case(c, r->o, r->many_seeds, &shown);
        fputs("| ", f);
        github_cell(f, shown.name);
        fputs(" | ", f);
        github_cell(f, shown.message);
        fputs(" |\n", f);
    }
}

/* Appends to the summary of the job. */
static void github_end(struct report *r)
{
    const char *file = getenv("GITHUB_STEP_SUMMARY");
    const char *why;
    FILE *f;

    if (r->coverage)
        report_coverage_text(r->out, "", r->coverage);
    if (!file || !file[0])
        return;
    f = fopen(file, "a");
    if (f)
        github_summary(r, f);
    why = f ? files_close(f) : strerror(errno);
    if (why)
        fprintf(stderr, "rdmalab: GITHUB_STEP_SUMMARY %s: %s\n", file, why);
}

static void nothing(struct report *r)
{
    (void)r;
}

static void text_end(struct report *r)
{
    if (r->coverage)
        report_coverage_text(r->out, "", r->coverage);
}

static const struct report_form forms[] = {
    {"text", nothing, text_one, text_end},
    {"tap", tap_begin, tap_one, tap_end},
    {"json", json_begin, json_one, json_end},
    {"github", nothing, github_one, github_end},
};

static const struct report_form *find_form(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (strcmp(forms[i].name, name) == 0)
            return &forms[i];
    }
    return NULL;
}

bool report_knows(const char *name)
{
    return find_form(name) != NULL;
}

void report_begin(struct report *r, const char *name, const struct suite *su,
                  const struct test_options *o, bool many_seeds)
{
    *r = (struct report){
        .form = find_form(name), .out = stdout, .su = su, .o = o, .many_seeds = many_seeds};
    RDL_ASSERT(r->form);
    r->form->begin(r);
}

void report_case(struct report *r, const struct test_case *c)
{
    struct shown_case shown;

    shown_case(c, r->o, r->many_seeds, &shown);
    r->n++;
    r->passed += c->result.status == EXIT_PASSED;
    r->skipped += c->result.status == EXIT_SKIPPED;
    r->failed += is_bad(&c->result);
    r->form->one(r, c, &shown);
    fflush(r->out);
}

void report_end(struct report *r)
{
    r->form->end(r);
    fflush(r->out);
    /* A JSON document must not be followed by text. */
    fprintf(strcmp(r->form->name, "json") == 0 ? stderr : r->out,
            "%zu passed, %zu failed, %zu skipped\n", r->passed, r->failed, r->skipped);
}
