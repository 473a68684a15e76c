/* SPDX-License-Identifier: MIT */
#include "cli/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files.h"
#include "cli/json.h"
#include "emu/base/assert.h"

struct report_form {
    const char *name;
    void (*begin)(struct report *r);
    void (*one)(struct report *r, const struct test_case *c, const struct test_result *result,
                const char *name);
    void (*end)(struct report *r);
};

static const char *verdict(const struct test_result *result)
{
    return result->status == EXIT_PASSED ? "ok" : result->status == EXIT_SKIPPED ? "skip" : "FAIL";
}

/* Prints every line of @s behind @lead. */
static void print_lines(FILE *out, const char *lead, const char *s)
{
    while (*s) {
        const size_t n = strcspn(s, "\n");

        fprintf(out, "%s%.*s\n", lead, (int)n, s);
        s += n + (s[n] == '\n');
    }
}

/* --- text --- */

static void text_one(struct report *r, const struct test_case *c, const struct test_result *result,
                     const char *name)
{
    (void)c;
    fprintf(r->out, "%-4s  %s", verdict(result), name);
    if (result->status == EXIT_PASSED)
        fprintf(r->out, "  %llu ticks  hash %016llx\n", (unsigned long long)result->ticks,
                (unsigned long long)result->hash);
    else if (result->status == EXIT_SKIPPED)
        fprintf(r->out, "  %s\n", result->message);
    else
        fprintf(r->out, "\n%s", result->message);
}

/* --- TAP version 13 --- */

static void tap_begin(struct report *r)
{
    fprintf(r->out, "TAP version 13\n1..%zu\n", r->n_cases);
}

static void tap_one(struct report *r, const struct test_case *c, const struct test_result *result,
                    const char *name)
{
    const bool bad = result->status != EXIT_PASSED && result->status != EXIT_SKIPPED;

    fprintf(r->out, "%s %zu - %s", bad ? "not ok" : "ok", r->n, name);
    if (result->status == EXIT_SKIPPED)
        fprintf(r->out, " # SKIP %s", result->message);
    fputc('\n', r->out);
    if (!bad)
        return;
    fprintf(r->out, "  ---\n  seed: %llu\n  at: \"%s:%zu:%zu\"\n  message: |\n",
            (unsigned long long)c->seed, c->sc->src.name, result->line, result->col);
    print_lines(r->out, "    ", result->message);
    fputs("  ...\n", r->out);
}

/* --- JSON --- */

static void json_begin(struct report *r)
{
    fputs("{\"cases\": [", r->out);
}

static void json_one(struct report *r, const struct test_case *c, const struct test_result *result,
                     const char *name)
{
    const char *title = scenario_title(c->sc);

    fputs(r->n > 1 ? ",\n  {\"name\": " : "\n  {\"name\": ", r->out);
    json_write_string(r->out, name);
    fputs(", \"file\": ", r->out);
    json_write_string(r->out, c->sc->src.name);
    fputs(", \"title\": ", r->out);
    json_write_string(r->out, title ? title : "");
    fprintf(
        r->out,
        ", \"seed\": \"%llu\", \"result\": \"%s\", \"status\": %d, \"line\": %zu, \"col\": %zu, "
        "\"ticks\": %llu, \"time_ns\": %llu, \"expected\": %llu, \"hash\": \"%016llx\", "
        "\"wall_us\": %llu, \"message\": ",
        (unsigned long long)c->seed, verdict(result), result->status, result->line, result->col,
        (unsigned long long)result->ticks, (unsigned long long)result->sim_ns,
        (unsigned long long)result->expected, (unsigned long long)result->hash,
        (unsigned long long)result->wall_us);
    json_write_string(r->out, result->message);
    fputc('}', r->out);
}

static void json_end(struct report *r)
{
    fprintf(r->out, "\n], \"passed\": %zu, \"failed\": %zu, \"skipped\": %zu}\n", r->passed,
            r->failed, r->skipped);
}

/* --- GitHub Actions --- */

/* Escapes what workflow commands give a meaning to. */
static void github_escape(FILE *out, const char *s, bool property)
{
    for (; *s; s++) {
        if (*s == '%' || *s == '\r' || *s == '\n' || (property && (*s == ':' || *s == ',')))
            fprintf(out, "%%%02X", (unsigned char)*s);
        else
            fputc(*s, out);
    }
}

static void github_one(struct report *r, const struct test_case *c,
                       const struct test_result *result, const char *name)
{
    text_one(r, c, result, name);
    if (result->status == EXIT_PASSED || result->status == EXIT_SKIPPED)
        return;
    fputs("::error file=", r->out);
    github_escape(r->out, c->sc->src.name, true);
    fprintf(r->out, ",line=%zu,col=%zu,title=", result->line, result->col);
    github_escape(r->out, name, true);
    fputs("::", r->out);
    github_escape(r->out, result->message, false);
    fputc('\n', r->out);
}

/* A table in the summary of the job. */
static void github_end(struct report *r)
{
    const char *file = getenv("GITHUB_STEP_SUMMARY");
    FILE *f = file ? fopen(file, "a") : NULL;

    if (!f)
        return;
    fprintf(f, "| passed | failed | skipped |\n| --- | --- | --- |\n| %zu | %zu | %zu |\n",
            r->passed, r->failed, r->skipped);
    fclose(f);
}

static void nothing(struct report *r)
{
    (void)r;
}

static const struct report_form forms[] = {
    {"text", nothing, text_one, nothing},
    {"tap", tap_begin, tap_one, nothing},
    {"json", json_begin, json_one, json_end},
    {"github", nothing, github_one, github_end},
};

bool report_begin(struct report *r, const char *name, size_t n_cases, bool many_seeds)
{
    *r = (struct report){.out = stdout, .n_cases = n_cases, .many_seeds = many_seeds};
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (strcmp(forms[i].name, name) == 0)
            r->form = &forms[i];
    }
    if (r->form)
        r->form->begin(r);
    return r->form != NULL;
}

/* "scenarios/01.json", with the seed if several are run. */
static void case_name(const struct test_case *c, bool many_seeds, char *ret, size_t cap)
{
    struct text t = text_on(ret, cap);

    text_add(&t, c->sc->src.name);
    if (many_seeds)
        text_addf(&t, " seed=%llu", (unsigned long long)c->seed);
}

void report_case(struct report *r, const struct test_case *c, const struct test_result *result)
{
    char name[1024];

    case_name(c, r->many_seeds, name, sizeof(name));
    r->n++;
    r->passed += result->status == EXIT_PASSED;
    r->skipped += result->status == EXIT_SKIPPED;
    r->failed += result->status != EXIT_PASSED && result->status != EXIT_SKIPPED;
    r->form->one(r, c, result, name);
    fflush(r->out);
}

void report_end(struct report *r)
{
    r->form->end(r);
    fflush(r->out);
    /* A JSON document ends where it ends. */
    fprintf(strcmp(r->form->name, "json") == 0 ? stderr : r->out,
            "%zu passed, %zu failed, %zu skipped\n", r->passed, r->failed, r->skipped);
}

static void xml(FILE *out, const char *s)
{
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;

        if (c == '&')
            fputs("&amp;", out);
        else if (c == '<')
            fputs("&lt;", out);
        else if (c == '>')
            fputs("&gt;", out);
        else if (c == '"')
            fputs("&quot;", out);
        else if (c >= 0x20 || c == '\n' || c == '\t')
            fputc(c, out);
    }
}

static void junit_case(FILE *f, const struct test_case *c, const struct test_result *r)
{
    char name[1024];

    case_name(c, c->seed_given, name, sizeof(name));
    fputs("    <testcase classname=\"rdmalab\" name=\"", f);
    xml(f, name);
    fputs("\" file=\"", f);
    xml(f, c->sc->src.name);
    fprintf(f, "\" line=\"%zu\" time=\"%.6f\">\n", r->line, (double)r->wall_us / 1e6);
    fprintf(f,
            "      <properties><property name=\"seed\" value=\"%llu\"/>"
            "<property name=\"hash\" value=\"%016llx\"/></properties>\n",
            (unsigned long long)c->seed, (unsigned long long)r->hash);
    if (r->status == EXIT_SKIPPED) {
        fputs("      <skipped message=\"", f);
        xml(f, r->message);
        fputs("\"/>\n", f);
    } else if (r->status != EXIT_PASSED) {
        const char *kind = r->status == EXIT_FAILED ? "failure" : "error";

        fprintf(f, "      <%s>", kind);
        xml(f, r->message);
        fprintf(f, "</%s>\n", kind);
    }
    fputs("    </testcase>\n", f);
}

const char *report_junit(const char *file, const struct test_case *cases,
                         const struct test_result *results, size_t n)
{
    FILE *f = fopen(file, "w");
    size_t failures = 0, errors = 0, skipped = 0;

    if (!f)
        return strerror(errno);
    for (size_t i = 0; i < n; i++) {
        failures += results[i].status == EXIT_FAILED;
        skipped += results[i].status == EXIT_SKIPPED;
        errors += results[i].status != EXIT_PASSED && results[i].status != EXIT_FAILED &&
                  results[i].status != EXIT_SKIPPED;
    }
    fprintf(f,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
            "  <testsuite name=\"rdmalab\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
            "skipped=\"%zu\">\n",
            n, failures, errors, skipped);
    for (size_t i = 0; i < n; i++)
        junit_case(f, &cases[i], &results[i]);
    fputs("  </testsuite>\n</testsuites>\n", f);
    return files_close(f);
}
