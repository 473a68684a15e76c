/* SPDX-License-Identifier: MIT */
/* Reports of `rdmalab test`, in formats for people and CI systems. */
#ifndef CLI_APP_REPORT_H
#define CLI_APP_REPORT_H

#include <stdio.h>

#include "cli/app/suite.h"

#define REPORT_NAME_BYTES 4352u /* a path and a seed */

/* Coverage of a suite, and the number of cases that it is based on. */
struct report_coverage {
    size_t runs, failed; /* cases with events; the failed ones among these */
    size_t without;      /* cases without events: skipped, not valid, killed or not begun */
    struct coverage covered;
    struct cover_figures total;
};

struct report {
    const struct report_form *form;
    FILE *out;
    const struct suite *su;
    size_t n; /* cases reported so far */
    size_t passed, failed, skipped;
    size_t not_run;                         /* cases that have not begun because of a signal */
    bool many_seeds;                        /* print the seed with the name of a case */
    const struct report_coverage *coverage; /* NULL: not requested */
};

/* The texts about a case, made printable by utf8_add_printable(). */
struct shown_case {
    char name[REPORT_NAME_BYTES]; /* "scenarios/01.json", and the seed if there are several */
    char file[REPORT_NAME_BYTES];
    char title[1024];
    char message[2 * TEST_MESSAGE_BYTES]; /* complete lines */
};

void shown_case(const struct test_case *c, bool many_seeds, struct shown_case *ret);

/* Returns true if @name is a report format: text, tap, json or github. */
bool report_knows(const char *name);

/* Begins a report on the standard output in the format @name, which must be known. */
void report_begin(struct report *r, const char *name, const struct suite *su, bool many_seeds);

/* Reports one case and counts it. */
void report_case(struct report *r, const struct test_case *c);

/* Ends the report with the line "N passed, N failed, N skipped". */
void report_end(struct report *r);

/* Adds up the coverage of the cases of @su. */
void report_covered(const struct suite *su, struct report_coverage *ret);

/* Reports covered and missing rows: as lines that begin with @mark, or as a member of a JSON
 * object.
 */
void report_coverage_text(FILE *out, const char *mark, const struct report_coverage *rc);
void report_coverage_json(FILE *out, const struct report_coverage *rc);

/* Writes all cases that have ended to @f, as JUnit XML. */
void report_junit(FILE *f, const struct test_case *cases, size_t n);

#endif
