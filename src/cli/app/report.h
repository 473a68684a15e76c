/* SPDX-License-Identifier: MIT */
/* Results of `rdmalab test`, in the forms that people and CI systems read. */
#ifndef CLI_APP_REPORT_H
#define CLI_APP_REPORT_H

#include <stdio.h>

#include "cli/app/suite.h"

#define REPORT_NAME_BYTES 4352u /* a path, and a seed */

/* What the cases of a suite have exercised, and of how many that is. */
struct report_coverage {
    size_t runs, failed; /* that made events, and those of them that failed */
    size_t without;      /* skipped, wrong, killed, or not begun */
    struct coverage covered;
    struct cover_figures total;
};

struct report {
    const struct report_form *form;
    FILE *out;
    const struct suite *su;
    size_t n; /* told so far */
    size_t passed, failed, skipped;
    size_t not_run;                         /* because of a signal */
    bool many_seeds;                        /* names of cases say the seed */
    const struct report_coverage *coverage; /* NULL: it is not asked for */
};

/* What is said of a case, as text that every form can take: utf8_add_printable(). */
struct shown_case {
    char name[REPORT_NAME_BYTES]; /* "scenarios/01.json", and the seed if several are run */
    char file[REPORT_NAME_BYTES];
    char title[1024];
    char message[2 * TEST_MESSAGE_BYTES]; /* whole lines */
};

void shown_case(const struct test_case *c, bool many_seeds, struct shown_case *ret);

/* Is @name text, tap, json or github? */
bool report_knows(const char *name);

/* @name is known. */
void report_begin(struct report *r, const char *name, const struct suite *su, bool many_seeds);

/* Tells one case and counts it. */
void report_case(struct report *r, const struct test_case *c);

/* Ends with the line "N passed, N failed, N skipped". */
void report_end(struct report *r);

/* Adds up what the cases of @su have exercised. */
void report_covered(const struct suite *su, struct report_coverage *ret);

/* Says what was exercised, and what not: lines that begin with @mark, or a member of an object. */
void report_coverage_text(FILE *out, const char *mark, const struct report_coverage *rc);
void report_coverage_json(FILE *out, const struct report_coverage *rc);

/* Writes all cases that have ended to @f as JUnit XML. */
void report_junit(FILE *f, const struct test_case *cases, size_t n);

#endif
