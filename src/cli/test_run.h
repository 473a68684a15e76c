/* SPDX-License-Identifier: MIT */
/* Runs one scenario for `rdmalab test`, in a process of its own. */
#ifndef CLI_TEST_RUN_H
#define CLI_TEST_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/scenario.h"

#define TEST_MESSAGE_BYTES 6144u

/* One scenario with one seed. */
struct test_case {
    const struct scenario *sc;
    uint64_t seed;
    bool seed_given; /* on the command line */
};

struct test_options {
    bool twice;            /* and compare the hashes */
    const char *artifacts; /* directory for what failures leave behind; NULL: none */
    unsigned timeout_s;    /* of the wall clock */
};

/* What a run leaves; written through a pipe, so it is plain bytes. */
struct test_result {
    int status; /* enum exit_status */
    uint64_t hash, ticks, sim_ns, expected;
    uint64_t wall_us;
    size_t line, col; /* of the failure; 0: none */
    char message[TEST_MESSAGE_BYTES];
};

/* A run that is under way. */
struct test_process {
    pid_t pid; /* 0: none */
    int pipe;
    uint64_t started_us;
};

/* False: the process could not be made. */
bool test_start(const struct test_case *c, const struct test_options *o, struct test_process *ret);

/* Waits for any of the @n processes; its index, or @n on an error. */
size_t test_wait(const struct test_process *p, size_t n, int *ret_wait_status);

/* Takes the result of a process that has ended. */
void test_collect(struct test_process *p, const struct test_case *c, int wait_status,
                  struct test_result *ret);

#endif
