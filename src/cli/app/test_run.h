/* SPDX-License-Identifier: MIT */
/* Runs one case of `rdmalab test` in a process of its own.
 *
 * The process sends its result through a pipe and ends.  It ignores the signals that ask rdmalab to
 * end, since the runner kills it after such a signal.  The kernel kills it if the runner dies.
 */
#ifndef CLI_APP_TEST_RUN_H
#define CLI_APP_TEST_RUN_H

#include <sys/types.h>

#include "cli/app/suite.h"

struct test_options {
    bool twice;            /* run each case twice and compare the hashes of all events */
    bool strict;           /* a scenario that expects nothing fails */
    bool coverage;         /* compute test_result.covered */
    unsigned allowed;      /* set of enum permit; with FILES commands may write anywhere */
    const char *artifacts; /* directory for files of failed cases, and files that cases write; NULL:
                              none is kept */
    const char *scratch; /* if @artifacts is NULL: temporary directory for files that cases write */
    uint64_t timeout_s;  /* most real time of a case; 0: no limit */
    bool timeout_given;  /* @timeout_s comes from the command line */
    const char *device;  /* value of --device; NULL: not given */
    const char *extensions; /* value of --extensions; NULL: not given */
    const char *guests;     /* value of --guests; NULL: not given */
    struct session_devices devices;
};

/* The result of a case before its artifacts are written, in memory that its process shares. */
struct test_early {
    bool is_set;
    struct test_result r;
};

/* A running process. */
struct test_process {
    pid_t pid; /* 0: none */
    int pipe;  /* readable when the result is available or the process has ended */
    struct test_case *c;
    struct test_early *early; /* the result if the process is killed while it writes artifacts */
    uint64_t started_us;      /* time of test_now_us() at its start */
    int killed_for;           /* @why of test_kill(); EXIT_PASSED: not killed */
    uint64_t killed_us;       /* time of the first test_kill(); valid if it was killed */
};

/* Returns true if scenarios may write files anywhere. */
bool test_writes_anywhere(const struct test_options *o);

/* Returns the time of a monotonic clock, in microseconds. */
uint64_t test_now_us(void);

/* Runs the case in this process.  Commands print to @out, errors go to @err.  *@ret_status is the
 * exit status of the run.  Returns the session, which the caller frees with session_free(), or NULL
 * if there was no lab.
 */
struct session *test_run_here(const struct test_case *c, const struct test_options *o, FILE *out,
                              FILE *err, int *ret_status);

/* Appends the command line that runs the case again with the same options.  Appends nothing if the
 * scenario was read from the standard input.
 */
void test_add_again(struct text *t, const struct test_case *c, const struct test_options *o);

/* Appends the command line that opens the prompt where the case failed.  Appends nothing if the
 * scenario was read from the standard input.
 */
void test_add_open(struct text *t, const struct test_case *c, const struct test_options *o);

/* Sets r->message to what the witness of the run has seen, and to its cause. */
void test_tell_seen(struct test_result *r);

/* Starts a process that runs @c.  Returns NULL on success, otherwise the reason. */
const char *test_start(struct test_case *c, const struct test_options *o, struct test_process *ret);

/* Kills the process; @why is EXIT_TIMEOUT or EXIT_INTERRUPTED.  Its pipe becomes readable.  Call it
 * again while the process lives: one that cannot react is killed the hard way.
 */
void test_kill(struct test_process *p, int why);

/* Waits for the end of the process and stores the result in its case. */
void test_collect(struct test_process *p);

#endif
