/* SPDX-License-Identifier: MIT */
/* Reports of `rdmalab test --coverage`, as text and as a part of the JSON report. */

#include "cli/app/report.h"
#include "print/print_json.h"

void report_covered(const struct suite *su, struct report_coverage *ret)
{
    *ret = (struct report_coverage){0};
    for (size_t i = 0; i < su->n_cases; i++) {
        const struct test_result *r = &su->cases[i].result;

        if (!su->cases[i].ended || !r->ran) {
            ret->without++;
            continue;
        }
        ret->runs++;
        ret->failed += r->status != EXIT_PASSED;
        coverage_merge(&ret->covered, &r->covered);
    }
    ret->total = coverage_total(&ret->covered);
}

/* Prints a row that is not covered, or that is excluded but covered. */
static void text_row(FILE *out, const char *mark, enum cover_class class, size_t i, bool has)
{
    struct cover_row row;

    cover_row(class, i, &row);
    if (row.nothing || has == !row.excluded)
        return;
    if (has)
        fprintf(out, "%s  %s happened, and was said to be impossible: %s\n", mark, row.name,
                row.excluded);
    else if (!row.excluded)
        fprintf(out, "%s  %-30s %s\n", mark, row.name, row.text);
}

static void text_class(FILE *out, const char *mark, const struct coverage *c,
                       enum cover_class class)
{
    const struct cover_figures f = coverage_figures(c, class);
    const size_t n = cover_rows(class);

    fprintf(out, "%s%s: %zu of %zu\n", mark, cover_class_what(class), f.covered, f.of);
    for (size_t i = 0; i < n; i++)
        text_row(out, mark, class, i, coverage_has(c, class, i));
    if (f.stranger)
        fprintf(out, "%s  something happened that has no row\n", mark);
}

void report_coverage_text(FILE *out, const char *mark, const struct report_coverage *rc)
{
    fprintf(out, "%scoverage, of %zu runs", mark, rc->runs);
    if (rc->failed)
        fprintf(out, ", of which %zu failed and may have ended early", rc->failed);
    if (rc->without)
        fprintf(out, "; %zu did not run, or left no result", rc->without);
    fputc('\n', out);
    for (size_t class = 0; class < COVER_CLASSES; class ++)
        text_class(out, mark, &rc->covered, (enum cover_class) class);
    fprintf(out, "%severything: %zu of %zu, %u %%\n", mark, rc->total.covered, rc->total.of,
            cover_percent(&rc->total));
}

/* Prints the names of rows that are missing, or of excluded rows that are covered. */
static void json_rows(FILE *out, const struct coverage *c, enum cover_class class, bool impossible)
{
    const size_t n = cover_rows(class);
    const char *between = "";
    struct cover_row row;

    for (size_t i = 0; i < n; i++) {
        cover_row(class, i, &row);
        if (row.nothing || impossible != (row.excluded != NULL) ||
            impossible != coverage_has(c, class, i))
            continue;
        fputs(between, out);
        print_json_string(out, row.name);
        between = ", ";
    }
}

void report_coverage_json(FILE *out, const struct report_coverage *rc)
{
    fprintf(out,
            "\"coverage\": {\"runs\": %zu, \"failed\": %zu, \"without\": %zu, \"covered\": %zu, "
            "\"of\": %zu, \"percent\": %u, \"classes\": [",
            rc->runs, rc->failed, rc->without, rc->total.covered, rc->total.of,
            cover_percent(&rc->total));
    for (size_t i = 0; i < COVER_CLASSES; i++) {
        const enum cover_class class = (enum cover_class)i;
        const struct cover_figures f = coverage_figures(&rc->covered, class);

        fprintf(out, "%s\n  {\"name\": \"%s\", \"covered\": %zu, \"of\": %zu, \"missing\": [",
                i ? "," : "", cover_class_name(class), f.covered, f.of);
        json_rows(out, &rc->covered, class, false);
        fputs("], \"impossible\": [", out);
        json_rows(out, &rc->covered, class, true);
        fprintf(out, "], \"without_row\": %s}", f.stranger ? "true" : "false");
    }
    fputs("]}", out);
}
