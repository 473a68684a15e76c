/* SPDX-License-Identifier: MIT */
/* The suite of `rdmalab test`: scenario files, and cases, which are a file and a seed.
 *
 * A file that cannot be run is part of the suite: it becomes a failed case, so that every report
 * contains it and the other files run.
 */
#ifndef CLI_APP_SUITE_H
#define CLI_APP_SUITE_H

#include "cli/app/coverage.h"
#include "cli/session/scenario.h"

#define TEST_MESSAGE_BYTES 9216u
#define TEST_SEEN_BYTES    512u
#define TEST_WHY_BYTES     3072u

struct test_file {
    char *name; /* path as given, or as found in a directory */
    char *left; /* name of the directory for what its cases leave behind; unique in the suite */
    struct scenario sc;
    int status; /* result of loading it, enum exit_status; EXIT_PASSED: it can be run */
    /* The reason why it cannot be run, in complete lines.  NULL: it can be run, or there is no
     * memory for the reason.
     */
    char *wrong;
};

/* The result of a case.  It is sent through a pipe, so it is plain bytes. */
struct test_result {
    int status;                       /* enum exit_status */
    bool ran;                         /* a lab was created; the next members describe it */
    uint64_t hash;                    /* of all events */
    uint64_t ticks;                   /* number of ticks */
    uint64_t sim_ns;                  /* simulated time at the end */
    uint64_t expected;                /* number of `expect`s executed */
    bool expects;                     /* it has an `expect`, `until` or `refused` that ran */
    bool answer_unread;               /* the text of test_case.answer could not be parsed */
    uint64_t wall_us;                 /* duration of the run in real time */
    size_t line, col;                 /* position of the failure in the file, from 1; 0: none */
    struct coverage covered;          /* empty unless test_options.coverage is set */
    char message[TEST_MESSAGE_BYTES]; /* why it failed or was skipped; may be empty */
    /* The rest is set by a witness that compares outcomes (outcome.h): */
    uint64_t n_packets; /* number of sent packets */
    bool is_hit;        /* the fault has hit a packet */
    bool differs;       /* the outcome differs from that without the fault */
    bool other_order;   /* the outcome is the same, but its completions have another order */
    bool unmet;         /* an expectation of the scenario does not hold */
    char seen[TEST_SEEN_BYTES]; /* the first difference, or that expectation, as text */
    char why[TEST_WHY_BYTES];   /* the cause of that, lines as `why` prints them; "": unknown */
};

/* Observes the run of a case. */
struct test_witness {
    struct session_observer observer;
    /* Called when the script has ended, to set members of @ret; may be NULL.  @ctx is that of
     * @observer.
     */
    void (*ended)(void *ctx, struct session *s, struct test_result *ret);
    bool expectations_ignored; /* the run goes on if an expectation does not hold */
};

/* One file with one seed. */
struct test_case {
    const struct test_file *file;
    uint64_t seed;
    bool seed_given;                    /* @seed is from the command line, not the scenario */
    bool ended;                         /* the result is valid */
    const struct test_witness *witness; /* NULL: none */
    /* Of an exercise: the text of a student, for the command `answer`.  The file is then a script
     * that is run line by line.  NULL: the file is a scenario.
     */
    const struct source *answer;
    uint32_t number; /* from 1, among runs with the same file and seed; 0: only one */
    /* Value of --fault that selects this run of the fault matrix; NULL: it is a test. */
    const char *fault;
    struct test_result result;
};

#define SUITE_CASES_MAX 1000000u /* most cases: seeds times files */

/* The seeds with which each file is run: @first to @last, both included. */

struct suite_seeds {
    bool given; /* false: each scenario uses its own */
    uint64_t first, last;
};

struct suite {
    struct test_file *files;
    size_t n_files, files_room;
    void *seen; /* visited files and directories, a tree of tsearch() */
    struct test_case *cases;
    size_t n_cases;
    bool no_memory; /* something is missing because there was no memory */
};

/* Adds the file @path, or all scenarios below the directory @path, sorted by name.  A file that is
 * in the suite is not added again, and a JSON Schema in the directory is left out.  @tags: add only
 * scenarios with one of these ("a,b"); NULL: all. Errors in a file are stored with it.
 */
void suite_add(struct suite *su, const char *path, const char *tags);

/* Judges each file without running it (lang/judge.h).  One in which something is wrong cannot be
 * run any more.
 */
void suite_judge(struct suite *su);

/* Ends all cases that could be run as passed. */
void suite_pass(struct suite *su);

/* Creates the cases from the files.  Returns NULL on success, otherwise the reason.  If that is a
 * lack of memory, su->no_memory is set; otherwise there are more than SUITE_CASES_MAX cases.
 */
const char *suite_make_cases(struct suite *su, const struct suite_seeds *seeds);

void suite_done(struct suite *su);

#endif
