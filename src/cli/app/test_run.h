/* SPDX-License-Identifier: MIT */
/* Runs one case of `rdmalab test`, in a process of its own.
 *
 * The process answers through a pipe and then ends.  Signals that ask the program to end do not
 * reach it: the runner kills it, and so does the kernel when the runner dies.
 */
#ifndef CLI_APP_TEST_RUN_H
#define CLI_APP_TEST_RUN_H

#include <sys/types.h>

#include "cli/app/suite.h"

struct test_options {
    bool twice;            /* and compare the hashes */
    bool coverage;         /* and say what was exercised */
    bool anywhere;         /* commands may write files wherever they like */
    const char *artifacts; /* directory for what cases leave behind; NULL: it is not kept */
    const char *scratch;   /* where they write if it is not kept */
    uint64_t timeout_s;    /* of the wall clock; 0: none */
};

/* A run that is under way. */
struct test_process {
    pid_t pid; /* 0: none */
    int pipe;  /* readable when it has something to say, or has ended */
    struct test_case *c;
    uint64_t started_us;
    int killed_for; /* enum exit_status; EXIT_PASSED: it was not */
};

/* A clock that only goes forward. */
uint64_t test_now_us(void);

/* Runs it in this process; commands print to @out, complaints go to @err.  NULL: there was no lab.
 * Release with session_free().
 */
struct session *test_run_here(const struct test_case *c, const struct test_options *o, FILE *out,
                              FILE *err, int *ret_status);

/* NULL, or why there is no process. */
const char *test_start(struct test_case *c, const struct test_options *o, struct test_process *ret);

/* Ends it; @why is EXIT_TIMEOUT or EXIT_INTERRUPTED.  Its pipe becomes readable. */
void test_kill(struct test_process *p, int why);

/* Waits for the end of the process, and takes its result into its case. */
void test_collect(struct test_process *p);

#endif
