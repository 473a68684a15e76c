/* SPDX-License-Identifier: MIT */
/* Reports of `rdmalab test`, in formats for people and CI systems. */
#ifndef CLI_APP_REPORT_H
#define CLI_APP_REPORT_H

#include <stdio.h>

#include "cli/app/suite.h"
#include "cli/app/test_run.h"
#include "print/shell.h"

#define REPORT_NAME_BYTES 4352u /* a path and a seed */

/* Coverage of a suite, and the number of cases that it is based on. */
struct report_coverage {
    size_t runs;                /* number of cases with a result of a lab */
    size_t failed;              /* number of these that failed */
    size_t without;             /* number of other cases: skipped, not valid, killed or not begun */
    struct coverage covered;    /* rows that any of the runs covered */
    struct cover_figures total; /* figures of all classes together */
};

/* A report that is being written. */
struct report {
    const struct report_form *form;
    FILE *out;
    const struct suite *su;
    const struct test_options *o;   /* how the cases are run */
    size_t n;                       /* number of cases reported so far */
    size_t passed, failed, skipped; /* numbers of cases with this result */
    size_t not_run;                 /* number of cases that have not begun because of a signal */
    bool many_seeds;                /* the name of a case contains its seed */
    const struct report_coverage *coverage; /* NULL: not requested */
};

/* The texts about a case, made printable by utf8_add_printable(). */
struct shown_case {
    char name[REPORT_NAME_BYTES]; /* "scenarios/01.json", and the seed if there are several */
    char file[REPORT_NAME_BYTES];
    char title[1024];
    char message[2 * TEST_MESSAGE_BYTES + 2 * SHELL_LINE_BYTES]; /* complete lines */
};

/* Fills @ret with the texts about @c.  @many_seeds: as in struct report.  The message of a failed
 * run ends with the commands that repeat it with the options @o, and that open the prompt where it
 * failed; NULL: with none.
 */
void shown_case(const struct test_case *c, const struct test_options *o, bool many_seeds,
                struct shown_case *ret);

/* Returns true if @name is a report format: text, tap, json or github. */
bool report_knows(const char *name);

/* Begins a report on the standard output in the format @name, which must be known. */
void report_begin(struct report *r, const char *name, const struct suite *su,
                  const struct test_options *o, bool many_seeds);

/* Reports one case and counts it. */
void report_case(struct report *r, const struct test_case *c);

/* Ends the report with the line "N passed, N failed, N skipped". */
void report_end(struct report *r);

/* Adds up the coverage of the cases of @su. */
void report_covered(const struct suite *su, struct report_coverage *ret);

/* Report the number of covered rows, and each row that is missing: report_coverage_text() in lines
 * that begin with @mark, report_coverage_json() as the member "coverage" of a JSON object.
 */
void report_coverage_text(FILE *out, const char *mark, const struct report_coverage *rc);
void report_coverage_json(FILE *out, const struct report_coverage *rc);

/* Writes those of the @n cases that have ended to @f, as JUnit XML.  @o: as in struct report. */
void report_junit(FILE *f, const struct test_case *cases, size_t n, const struct test_options *o);

#endif
