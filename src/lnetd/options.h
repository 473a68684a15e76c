/* SPDX-License-Identifier: MIT */
/* The command line of lnetd. */
#ifndef LNETD_OPTIONS_H
#define LNETD_OPTIONS_H

#include "lnet/selftest.h"

#define OPTIONS_SIZES_MAX 16u

enum command { CMD_SERVE, CMD_PING, CMD_READ, CMD_WRITE, CMD_PUT, CMD_GET, CMD_BATCH };

/* A test of a batch. */
struct option_test {
    enum selftest_op op;
    uint32_t size, concurrency;
};

struct options {
    struct lnd_config config;
    enum command command;
    bool is_verbose;
    uint64_t rpc_timeout_ns;
    uint64_t for_ns; /* of serve, read, write and batch; 0: no end, or a count */
    uint64_t nids[SELFTEST_PEERS_MAX];
    uint32_t n_nids;
    uint32_t sizes[OPTIONS_SIZES_MAX], n_sizes; /* read and write try them one after the other */
    uint32_t concurrency;
    struct option_test tests[SELFTEST_TESTS_MAX]; /* of batch */
    uint32_t n_tests;
    uint64_t connections; /* serve ends when so many have closed; 0: any number */
    uint64_t count, seed;
    struct selftest_shape shape;
};

/* The name of each test, by enum selftest_op. */
extern const char *const options_op_names[];

/* The result of options_parse(), beside true. */
enum options_end { OPTIONS_USAGE, OPTIONS_HELP, OPTIONS_VERSION };

/* Parses @argv to *@ret.  Returns false if the program has to end: after a mistake, which is
 * printed, or for help.
 */
bool options_parse(int argc, char **argv, struct options *ret, enum options_end *reterr);
void options_print_help(void);

#endif
