/* SPDX-License-Identifier: MIT */
#include "cli/app/grading.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/app/crew.h"
#include "cli/app/fault_matrix.h"
#include "cli/app/grading_files.h"
#include "print/utf8.h"
#include "process/beneath.h"
#include "process/must.h"
#include "process/signals.h"

/* --- Exercises ---------------------------------------------------------------------------------
 */

/* Returns the length of the word that begins the name of a check; 0: it is none. */
static size_t check_prefix(const char *name)
{
    if (!is_script(name))
        return 0;
    return strncmp(name, "check-", 6) == 0 ? 6 : strncmp(name, "matrix-", 7) == 0 ? 7 : 0;
}

/* Returns true if there are checks in the directory @dir. */
static bool has_checks(const char *dir)
{
    struct names names;
    bool has = false;

    if (!names_read(dir, &names))
        return false;
    for (size_t i = 0; i < names.n && !has; i++)
        has = check_prefix(names.v[i]) > 0;
    names_done(&names);
    return has;
}

static bool read_check(struct grading_check *c, const char *dir, const char *name)
{
    const size_t prefix = check_prefix(name);
    const char *why;

    *c = (struct grading_check){.name = copied(name + prefix), .is_matrix = prefix == 7};
    c->name[strlen(c->name) - 4] = '\0';
    c->file.name = joined(dir, "/", name);
    c->file.left = copied(name);
    why = source_read(c->file.name, &c->file.sc.src);
    if (why)
        fprintf(stderr, "rdmalab: %s: %s\n", SHOWN_NAME(c->file.name), why);
    return !why;
}

/* Adds the exercise in the directory @name, which has checks. */
static bool read_exercise(struct grading *g, const char *name, size_t *room)
{
    struct grading_exercise e = {.name = copied(name)};
    char *dir = joined(g->top, "/", name);
    struct names names;
    size_t checks_room = 0;
    bool ok = true;

    if (names_read(dir, &names)) {
        for (size_t i = 0; ok && i < names.n; i++) {
            if (check_prefix(names.v[i]) == 0)
                continue;
            e.checks = must_grow(e.checks, e.n_checks, &checks_room, sizeof(*e.checks));
            ok = read_check(&e.checks[e.n_checks++], dir, names.v[i]);
        }
        names_done(&names);
    }
    free(dir);
    g->exercises = must_grow(g->exercises, g->n_exercises, room, sizeof(*g->exercises));
    g->exercises[g->n_exercises++] = e;
    g->n_checks += e.n_checks;
    return ok;
}

static bool cannot_list(const char *dir)
{
    fprintf(stderr, "rdmalab: %s: %s\n", SHOWN_NAME(dir), strerror(errno));
    return false;
}

/* Sets g->top.  Returns the name of the only exercise to grade, which the caller frees, if the
 * directory that was given is an exercise.  Returns NULL if it is one of exercises.
 */
static char *find_top(struct grading *g)
{
    char *dir = copied(g->exercises_in), *real, *slash;
    size_t n = strlen(dir);

    while (n > 1 && dir[n - 1] == '/')
        dir[--n] = '\0';
    if (!has_checks(dir)) {
        g->top = dir;
        return NULL;
    }
    slash = strrchr(dir, '/');
    if (strcmp(slash ? slash + 1 : dir, ".") == 0 || strcmp(slash ? slash + 1 : dir, "..") == 0) {
        real = realpath(dir, NULL);
        if (real) {
            free(dir);
            dir = real;
            slash = strrchr(dir, '/');
        }
    }
    real = copied(slash ? slash + 1 : dir);
    if (slash)
        slash[slash == dir] = '\0';
    g->top = slash ? dir : copied(".");
    if (!slash)
        free(dir);
    return real;
}

static bool read_exercises(struct grading *g)
{
    char *only = find_top(g);
    struct names names;
    size_t room = 0, names_room = 0;
    bool ok = true;

    if (!names_read(g->top, &names)) {
        free(only);
        return cannot_list(g->top);
    }
    for (size_t i = 0; ok && i < names.n; i++) {
        char *dir = joined(g->top, "/", names.v[i]);

        if (has_checks(dir)) {
            g->names = must_grow(g->names, g->n_names, &names_room, sizeof(*g->names));
            g->names[g->n_names++] = copied(names.v[i]);
            if (!only || strcmp(only, names.v[i]) == 0)
                ok = read_exercise(g, names.v[i], &room);
        }
        free(dir);
    }
    names_done(&names);
    free(only);
    if (ok && g->n_exercises == 0) {
        fprintf(stderr,
                "rdmalab: %s: there is no exercise: a directory with a file check-NAME.lab\n",
                SHOWN_NAME(g->exercises_in));
        ok = false;
    }
    return ok;
}

/* --- Students ----------------------------------------------------------------------------------
 */

/* Reads the answer @path below @top.  A student has chosen what is there: no link is followed. */
static const char *read_answer(const char *top, const char *path, struct source *ret)
{
    int fd;
    const char *why = beneath_open(top, path, &fd);
    char *name;
    FILE *f;

    if (why)
        return why;
    f = fdopen(fd, "r");
    if (!f) {
        close(fd);
        return strerror(errno);
    }
    name = joined(top, "/", path);
    why = source_read_file(f, name, NULL, ret);
    free(name);
    fclose(f);
    return why;
}

/* Reads STUDENT/EXERCISE/answer.lab, or else STUDENT/EXERCISE.lab. */
static void read_answer_of(const struct grading *g, struct grading_student *s, size_t exercise)
{
    const char *top = g->students_in ? g->students_in : g->top;
    struct grading_answer *a = &s->answers[exercise];
    char *base = s->name ? joined(s->name, "/", g->exercises[exercise].name)
                         : copied(g->exercises[exercise].name);
    char *inside = joined(base, "/", "answer.lab"), *alone = joined(base, "", ".lab");
    const char *why = read_answer(top, inside, &a->text);

    if (why && s->name && !is_there(top, inside))
        why = read_answer(top, alone, &a->text);
    if (why) {
        const bool there = is_there(top, inside) || (s->name && is_there(top, alone));

        a->state = there ? GRADING_WRONG : GRADING_MISSING;
        a->why = there ? joined("the answer cannot be read: ", "", why)
                 : s->name
                     ? joined("not handed in: there is no file ", inside + strlen(s->name) + 1,
                              ", and none directly in the student's directory")
                     : joined("not handed in: there is no file ", inside, "");
    }
    free(base);
    free(inside);
    free(alone);
}

static void add_student(struct grading *g, const char *name, size_t *room)
{
    struct grading_student s = {.name = name ? copied(name) : NULL};
    const size_t n = g->n_exercises;

    s.answers = must_malloc(n * sizeof(*s.answers));
    for (size_t i = 0; i < n; i++) {
        s.answers[i] = (struct grading_answer){.state = GRADING_READ};
        read_answer_of(g, &s, i);
    }
    if (name)
        grading_files_warn(g, name);
    g->students = must_grow(g->students, g->n_students, room, sizeof(*g->students));
    g->students[g->n_students++] = s;
}

static bool read_students(struct grading *g)
{
    struct names names;
    size_t room = 0;

    if (!g->students_in) {
        add_student(g, NULL, &room);
        return true;
    }
    if (!names_read(g->students_in, &names))
        return cannot_list(g->students_in);
    for (size_t i = 0; i < names.n; i++) {
        if (g->student && strcmp(g->student, names.v[i]) != 0)
            continue;
        if (is_directory(g->students_in, names.v[i]))
            add_student(g, names.v[i], &room);
        else if (is_script(names.v[i]))
            fprintf(stderr, "rdmalab: %s/%s: this is of no student: it is not graded\n",
                    SHOWN_NAME(g->students_in), SHOWN_NAME(names.v[i]));
    }
    names_done(&names);
    if (g->n_students == 0 && g->student)
        fprintf(stderr, "rdmalab: --student %s: %s has no such directory\n", SHOWN_NAME(g->student),
                SHOWN_NAME(g->students_in));
    else if (g->n_students == 0)
        fprintf(stderr, "rdmalab: %s: there is no student: a directory with answers\n",
                SHOWN_NAME(g->students_in));
    return g->n_students > 0;
}

bool grading_read(struct grading *g)
{
    return read_exercises(g) && read_students(g);
}

/* --- Running -----------------------------------------------------------------------------------
 */

static size_t n_seeds(const struct grading *g)
{
    return (size_t)(g->seeds.last - g->seeds.first) + 1;
}

/* Returns the index of the first run of a check among those of a student. */
static size_t case_index(const struct grading *g, size_t exercise, size_t check)
{
    size_t n = check;

    for (size_t i = 0; i < exercise; i++)
        n += g->exercises[i].n_checks;
    return n * n_seeds(g);
}

static void plan(const struct grading *g, struct grading_student *s)
{
    struct test_case *c = must_malloc(g->n_checks * n_seeds(g) * sizeof(*c));

    s->cases = c;
    for (size_t i = 0; i < g->n_exercises; i++) {
        for (size_t k = 0; k < g->exercises[i].n_checks; k++) {
            for (size_t seed = 0; seed < n_seeds(g); seed++, c++) {
                *c = (struct test_case){.file = &g->exercises[i].checks[k].file,
                                        .answer = &s->answers[i].text,
                                        .seed = g->seeds.first + seed,
                                        .seed_given = true};
                if (s->answers[i].state == GRADING_READ)
                    continue;
                c->ended = true;
                c->result.status = EXIT_FAILED;
                snprintf(c->result.message, sizeof(c->result.message), "%s\n", s->answers[i].why);
            }
        }
    }
}

/* Runs the matrix of the check, which has passed without faults. */
static void try_faults(const struct grading *g, struct test_case *c)
{
    char note[TEST_SEEN_BYTES];
    struct text t = text_on(note, sizeof(note));
    const int status = fault_matrix_of(c, &g->run, g->jobs, &t);

    if (status == EXIT_PASSED)
        return;
    c->result.status = status;
    snprintf(c->result.message, sizeof(c->result.message), "with a fault: %s\n", note);
}

static int run_student(struct grading *g, struct grading_student *s)
{
    struct suite su = {.n_cases = g->n_checks * n_seeds(g)};
    struct report unseen = {0};
    int status;

    plan(g, s);
    su.cases = s->cases;
    status = crew_run(&su, &g->run, g->jobs, &unseen);
    for (size_t i = 0; i < g->n_exercises && status < EXIT_SIGNALS; i++) {
        for (size_t k = 0; k < g->exercises[i].n_checks; k++) {
            struct test_case *c = &s->cases[case_index(g, i, k)];

            for (size_t seed = 0; g->exercises[i].checks[k].is_matrix && seed < n_seeds(g);
                 seed++) {
                if (c[seed].result.status == EXIT_PASSED && !*signals_interrupted())
                    try_faults(g, &c[seed]);
                status = exit_worse(status, c[seed].result.status);
            }
        }
    }
    return status;
}

int grading_run(struct grading *g)
{
    int status = EXIT_PASSED;

    for (size_t i = 0; i < g->n_students && !*signals_interrupted(); i++)
        status = exit_worse(status, run_student(g, &g->students[i]));
    if (*signals_interrupted())
        return signals_exit_status();
    /* A wrong answer is no wrong use of rdmalab. */
    return status == EXIT_PASSED || status == EXIT_BROKEN ? status : EXIT_FAILED;
}

const struct test_case *grading_failed(const struct grading *g, size_t student, size_t exercise,
                                       size_t check)
{
    const struct test_case *c = &g->students[student].cases[case_index(g, exercise, check)];

    for (size_t seed = 0; seed < n_seeds(g); seed++) {
        if (!c[seed].ended || c[seed].result.status != EXIT_PASSED)
            return &c[seed];
    }
    return NULL;
}

enum grading_state grading_state_of(const struct grading *g, size_t student, size_t exercise)
{
    const struct grading_student *s = &g->students[student];

    for (size_t k = 0; k < g->exercises[exercise].n_checks; k++) {
        const struct test_case *c = grading_failed(g, student, exercise, k);

        if (c && c->result.answer_unread)
            return GRADING_WRONG;
    }
    return s->answers[exercise].state;
}

size_t grading_points(const struct grading *g, size_t student, size_t exercise)
{
    size_t n = 0;

    for (size_t k = 0; k < g->exercises[exercise].n_checks; k++)
        n += grading_failed(g, student, exercise, k) == NULL;
    return n;
}

/* --- The end -----------------------------------------------------------------------------------
 */

static void forget_student(const struct grading *g, struct grading_student *s)
{
    for (size_t i = 0; i < g->n_exercises; i++) {
        if (s->answers[i].text.text)
            source_done(&s->answers[i].text);
        free(s->answers[i].why);
    }
    free(s->answers);
    free(s->cases);
    free(s->name);
}

static void forget_exercise(struct grading_exercise *e)
{
    for (size_t k = 0; k < e->n_checks; k++) {
        free(e->checks[k].name);
        free(e->checks[k].file.name);
        free(e->checks[k].file.left);
        if (e->checks[k].file.sc.src.text)
            source_done(&e->checks[k].file.sc.src);
    }
    free(e->checks);
    free(e->name);
}

void grading_done(struct grading *g)
{
    for (size_t i = 0; i < g->n_students; i++)
        forget_student(g, &g->students[i]);
    for (size_t i = 0; i < g->n_exercises; i++)
        forget_exercise(&g->exercises[i]);
    for (size_t i = 0; i < g->n_names; i++)
        free(g->names[i]);
    free(g->names);
    free(g->top);
    free(g->students);
    free(g->exercises);
}
