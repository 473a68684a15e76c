/* SPDX-License-Identifier: MIT */
/* Runs the programs of `rdmalab exec` on the hosts of a lab. */
#ifndef CLI_APP_EXEC_RUN_H
#define CLI_APP_EXEC_RUN_H

#include <stdbool.h>
#include <stdint.h>

/* One program of the command line. */
struct exec_part {
    const char *host;
    char **words; /* the program and its arguments: @n_words, at least 1 */
    int n_words;
};

struct exec_run {
    const char *lab;                               /* file of --lab; NULL: two hosts with a link */
    const char *events, *pcap, *ladder, *timeline; /* names of files to write; NULL: none */
    uint64_t seed;                                 /* valid if @seed_given */
    bool seed_given;
    uint64_t timeout_s; /* of the machine's clock, for all programs; 0: none */
    bool is_virtual;    /* time advances only while all programs wait */
    bool tells_hash;
    unsigned allowed; /* set of enum permit: what @lab may do */
    const struct exec_part *parts;
    int n_parts;
};

/* Runs the programs to their end, and writes the outputs.  Returns the exit status of rdmalab: that
 * of the first program that failed, EXIT_TIMEOUT, or another enum exit_status.
 */
int exec_run(const struct exec_run *r);

#endif
