/* SPDX-License-Identifier: MIT */
/* Results of `rdmalab test`, in the forms that people and CI systems read. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "cli/test_run.h"

struct report {
    const struct report_form *form;
    FILE *out;
    size_t n_cases;
    size_t n; /* told so far */
    size_t passed, failed, skipped;
    bool many_seeds; /* names of cases say the seed */
};

/* @name is text, tap, json or github.  False if it is none of them. */
bool report_begin(struct report *r, const char *name, size_t n_cases, bool many_seeds);

/* Tells one case and counts it. */
void report_case(struct report *r, const struct test_case *c, const struct test_result *result);

/* Ends with the line "N passed, N failed, N skipped". */
void report_end(struct report *r);

/* Writes all results as JUnit XML.  NULL, or why it did not work. */
const char *report_junit(const char *file, const struct test_case *cases,
                         const struct test_result *results, size_t n);

#endif
