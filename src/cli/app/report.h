/* SPDX-License-Identifier: MIT */
/* Results of `rdmalab test`, in the forms that people and CI systems read. */
#ifndef CLI_APP_REPORT_H
#define CLI_APP_REPORT_H

#include <stdio.h>

#include "cli/app/suite.h"

#define REPORT_NAME_BYTES 4352u /* a path, and a seed */

struct report {
    const struct report_form *form;
    FILE *out;
    const struct suite *su;
    size_t n; /* told so far */
    size_t passed, failed, skipped;
    size_t not_run;  /* because of a signal */
    bool many_seeds; /* names of cases say the seed */
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

/* Writes all cases that have ended to @f as JUnit XML. */
void report_junit(FILE *f, const struct test_case *cases, size_t n);

#endif
