/* SPDX-License-Identifier: MIT */
/* What `rdmalab test` is to run: files, found by their names, and cases, which are files with
 * seeds.
 *
 * A file that cannot be run is part of it too: as a case that has failed already, so that every
 * report tells of it and the others run.
 */
#ifndef CLI_APP_SUITE_H
#define CLI_APP_SUITE_H

#include "cli/app/coverage.h"
#include "cli/session/scenario.h"

#define TEST_MESSAGE_BYTES 6144u
#define TEST_SEEN_BYTES    512u

struct test_file {
    char *name; /* as it was given or found */
    char *left; /* the directory for what its cases leave behind: no other file has the same */
    struct scenario sc;
    int status;  /* enum exit_status; EXIT_PASSED: it can be run */
    char *wrong; /* why not, in whole lines; NULL: it can, or there is no memory */
};

/* What came of a case; written through a pipe, so it is plain bytes. */
struct test_result {
    int status; /* enum exit_status */
    bool ran;   /* there was a lab: what follows is of it */
    uint64_t hash, ticks, sim_ns, expected;
    uint64_t wall_us;
    size_t line, col;        /* of the failure; 0: none */
    struct coverage covered; /* if that is asked for */
    char message[TEST_MESSAGE_BYTES];
    /* What a witness says of it. */
    uint64_t n_packets;
    bool is_hit, differs;
    char seen[TEST_SEEN_BYTES];
};

/* Who looks at a run while it goes on. */
struct test_witness {
    struct session_ear ear;
    /* The script is over; NULL: nobody wants to know.  @ctx is the ear's. */
    void (*ended)(void *ctx, struct session *s, struct test_result *ret);
    bool indulgent; /* what the scenario expects is not looked at */
};

/* One file with one seed. */
struct test_case {
    const struct test_file *file;
    uint64_t seed;
    bool seed_given;                    /* on the command line */
    bool ended;                         /* the result is there */
    const struct test_witness *witness; /* NULL: there is none */
    uint32_t number;                    /* of a run among several with one seed; 0: the only one */
    struct test_result result;
};

#define SUITE_CASES_MAX 1000000u /* seeds times files */

struct suite_seeds {
    bool given; /* otherwise each scenario has its own */
    uint64_t first, last;
};

struct suite {
    struct test_file *files;
    size_t n_files, files_room;
    void *seen; /* tree of the places that were visited */
    struct test_case *cases;
    size_t n_cases;
    bool no_memory; /* something was left out */
};

/* Adds the file @path, or all scenarios below the directory @path by their names, sorted; what is
 * there already is not added again.  @tags: only those that have one of these ("a,b"); NULL: all.
 * What is wrong in a file is kept with it.
 */
void suite_add(struct suite *su, const char *path, const char *tags);

/* Makes the cases from the files.  NULL, or why that is not possible; unless su->no_memory is set,
 * what was asked for is to blame.
 */
const char *suite_make_cases(struct suite *su, const struct suite_seeds *seeds);

void suite_done(struct suite *su);

#endif
