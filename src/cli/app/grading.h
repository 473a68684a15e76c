/* SPDX-License-Identifier: MIT */
/* Grades answers to exercises.
 *
 * An exercise is a directory with checks: scripts whose names begin with "check-" or "matrix-", and
 * end in ".lab".  Each check is worth one point.  It makes a lab, runs the student's file by the
 * command `answer`, and expects something.  It is run with each seed, and passes if it passes with
 * all of them.  One that begins with "matrix-" is then run once for each packet and fault, and no
 * fault may change what the programs see (fault_matrix.h).
 *
 * Each run has a process of its own, with limits of time and memory.  But the run without a fault
 * of a "matrix-" is repeated here: it was within the limits, and comes to the same.
 */
#ifndef CLI_APP_GRADING_H
#define CLI_APP_GRADING_H

#include "cli/app/test_run.h"

struct grading_check {
    struct test_file file;
    char *name; /* "order" of "check-order.lab" */
    bool is_matrix;
};

struct grading_exercise {
    char *name; /* of its directory */
    struct grading_check *checks;
    size_t n_checks;
};

/* States of an answer. */
enum grading_state {
    GRADING_READ,    /* the checks decide about it */
    GRADING_MISSING, /* there is no file */
    GRADING_WRONG    /* the file cannot be read or parsed, or must not be read */
};

struct grading_answer {
    struct source text;       /* @text.text NULL: it was not read */
    enum grading_state state; /* before the checks have run, only about reading the file */
    char *why;                /* the reason why it was not read */
};

struct grading_student {
    char *name;                     /* NULL: the answers stand beside the checks */
    struct grading_answer *answers; /* of each exercise */
    struct test_case *cases;        /* per exercise, check and seed */
};

struct grading {
    const char *exercises_in; /* directory of exercises, or one exercise */
    const char *students_in;  /* NULL: the answers stand beside the checks */
    const char *student;      /* grade only this one; NULL: all */
    struct suite_seeds seeds;
    struct test_options run;
    size_t jobs;
    struct grading_exercise *exercises;
    size_t n_exercises, n_checks; /* @n_checks: of all exercises */
    struct grading_student *students;
    size_t n_students;
    char *top;    /* the directory of the exercises; owned */
    char **names; /* of all exercises in @top, also of those that are not graded; owned */
    size_t n_names;
};

/* Reads the exercises, the students and their answers.  Returns false after an error, which was
 * printed.  Warns of files of students that no exercise asks for.  Call grading_done() in both
 * cases.
 */
bool grading_read(struct grading *g);

/* Runs all checks.  Returns EXIT_PASSED if every student has all points, EXIT_FAILED if one has
 * not, or the status of a signal or of a bug of rdmalab.
 */
int grading_run(struct grading *g);
void grading_done(struct grading *g);

/* Returns the state of an answer, after the checks have run. */
enum grading_state grading_state_of(const struct grading *g, size_t student, size_t exercise);

/* Returns the number of points of student @student in exercise @exercise. */
size_t grading_points(const struct grading *g, size_t student, size_t exercise);

/* Returns the first run of the check that has failed, or NULL if it is passed. */
const struct test_case *grading_failed(const struct grading *g, size_t student, size_t exercise,
                                       size_t check);

#endif
