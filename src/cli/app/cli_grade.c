/* SPDX-License-Identifier: MIT */
/* `rdmalab grade`: the points of students in exercises, as a table, JSON or CSV. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/app/crew.h"
#include "cli/app/grading.h"
#include "cli/app/modes.h"
#include "cli/app/options.h"
#include "cli/app/scratch.h"
#include "emu/base/assert.h"
#include "print/print_csv.h"
#include "print/print_json.h"
#include "print/show_text.h"
#include "print/utf8.h"
#include "process/signals.h"

#define SEEDS_MAX         100u
#define SEEDS_LAST        3u
#define TIMEOUT_S_DEFAULT 20u
#define TIMEOUT_S_MAX     86400u
#define LINE_BYTES        256u
#define CELL_BYTES        24u

/* Marks of answers that have no points because there is nothing to run. */
static const char *const marks[] = {[GRADING_MISSING] = "-", [GRADING_WRONG] = "!"};

struct grade_arguments {
    const char *students, *student, *seeds_text, *format, *jobs_text, *timeout_text;
};

/* --- Text --------------------------------------------------------------------------------------
 */

/* Prints the first line of the message of a failed check. */
static void print_reason(const struct test_case *c)
{
    char line[LINE_BYTES];
    struct text t = text_on(line, sizeof(line));
    const char *message = c->result.message;

    text_addn(&t, message, strcspn(message, "\n"));
    if (c->result.status == EXIT_TIMEOUT)
        text_add(&t, " (too long)");
    show_wrap(stdout, 6, SHOWN_NAME(line));
}

/* Writes the points of an answer, or its mark. */
static const char *cell(const struct grading *g, size_t s, size_t i, char ret[CELL_BYTES])
{
    struct text t = text_on(ret, CELL_BYTES);
    const enum grading_state state = grading_state_of(g, s, i);

    if (state == GRADING_READ)
        text_addf(&t, "%zu", grading_points(g, s, i));
    else
        text_add(&t, marks[state]);
    return ret;
}

#define CELL(g, s, i) cell(g, s, i, (char[CELL_BYTES]){0})

/* Prints one exercise of a student, with the failed checks, or the reason why none was run. */
static void print_exercise(const struct grading *g, size_t s, size_t i)
{
    const struct grading_exercise *e = &g->exercises[i];
    const enum grading_state state = grading_state_of(g, s, i);

    printf("%-24s %s of %zu\n", SHOWN_NAME(e->name), CELL(g, s, i), e->n_checks);
    for (size_t k = 0; k < e->n_checks; k++) {
        const struct test_case *c = grading_failed(g, s, i, k);

        if (!c)
            continue;
        if (state == GRADING_READ)
            printf("  not passed: %s, seed %" PRIu64 "\n", SHOWN_NAME(e->checks[k].name), c->seed);
        print_reason(c);
        if (state != GRADING_READ)
            break;
    }
}

/* Prints the exercises of the student @s, with the failed checks. */
static void print_student(const struct grading *g, size_t s)
{
    size_t sum = 0;

    if (g->students[s].name)
        printf("%s\n", SHOWN_NAME(g->students[s].name));
    for (size_t i = 0; i < g->n_exercises; i++) {
        sum += grading_points(g, s, i);
        print_exercise(g, s, i);
    }
    printf("%-24s %zu of %zu\n", "points", sum, g->n_checks);
}

/* Prints a report about each student, with an empty line between two. */
static void print_report(const struct grading *g)
{
    for (size_t s = 0; s < g->n_students; s++) {
        if (s > 0)
            putchar('\n');
        print_student(g, s);
    }
}

/* Explains the marks that are in the table. */
static void explain_marks(const struct grading *g)
{
    static const char *const texts[] = {
        [GRADING_MISSING] = "not handed in", [GRADING_WRONG] = "the file cannot be read"};
    bool used[ARRAY_LEN(texts)] = {false};

    for (size_t s = 0; s < g->n_students; s++) {
        for (size_t i = 0; i < g->n_exercises; i++)
            used[grading_state_of(g, s, i)] = true;
    }
    for (size_t m = 0; m < ARRAY_LEN(texts); m++) {
        if (texts[m] && used[m])
            printf("%s: %s\n", marks[m], texts[m]);
    }
}

/* Prints a table with a row for each student. */
static void print_class(const struct grading *g)
{
    for (size_t i = 0; i < g->n_exercises; i++)
        printf("%zu: %s, %zu points\n", i + 1, SHOWN_NAME(g->exercises[i].name),
               g->exercises[i].n_checks);
    printf("%-24s", "");
    for (size_t i = 0; i < g->n_exercises; i++)
        printf(" %3zu", i + 1);
    puts("   sum");
    for (size_t s = 0; s < g->n_students; s++) {
        size_t sum = 0;

        printf("%-24s", SHOWN_NAME(g->students[s].name));
        for (size_t i = 0; i < g->n_exercises; i++) {
            sum += grading_points(g, s, i);
            printf(" %3s", CELL(g, s, i));
        }
        printf("   %zu of %zu\n", sum, g->n_checks);
    }
    explain_marks(g);
}

static void print_text(const struct grading *g)
{
    if (g->students_in && !g->student)
        print_class(g);
    else
        print_report(g);
}

/* --- CSV ---------------------------------------------------------------------------------------
 */

static void print_csv(const struct grading *g)
{
    fputs("student", stdout);
    for (size_t i = 0; i < g->n_exercises; i++) {
        putchar(',');
        print_csv_text(stdout, SHOWN_NAME(g->exercises[i].name));
    }
    puts(",points,of");
    for (size_t s = 0; s < g->n_students; s++) {
        const char *name = g->students[s].name;
        size_t sum = 0;

        print_csv_text(stdout, name ? SHOWN_NAME(name) : "");
        for (size_t i = 0; i < g->n_exercises; i++) {
            sum += grading_points(g, s, i);
            printf(",%s", CELL(g, s, i));
        }
        printf(",%zu,%zu\n", sum, g->n_checks);
    }
}

/* --- JSON --------------------------------------------------------------------------------------
 */

static void print_json_check(const struct grading *g, size_t s, size_t i, size_t k)
{
    const struct test_case *c = grading_failed(g, s, i, k);

    fputs(k ? ",\n    {\"name\": " : "\n    {\"name\": ", stdout);
    print_json_string(stdout, g->exercises[i].checks[k].name);
    printf(", \"passed\": %s", c ? "false" : "true");
    if (c) {
        printf(", \"seed\": ");
        print_json_number(stdout, c->seed);
        fputs(", \"message\": ", stdout);
        print_json_string(stdout, c->result.message);
    }
    putchar('}');
}

static void print_json_student(const struct grading *g, size_t s)
{
    static const char *const states[] = {
        [GRADING_READ] = "graded", [GRADING_MISSING] = "missing", [GRADING_WRONG] = "unreadable"};
    const char *name = g->students[s].name;
    size_t sum = 0;

    fputs(s ? ",\n {\"student\": " : "\n {\"student\": ", stdout);
    if (name)
        print_json_string(stdout, name);
    else
        fputs("null", stdout);
    fputs(", \"exercises\": [", stdout);
    for (size_t i = 0; i < g->n_exercises; i++) {
        const size_t points = grading_points(g, s, i);

        sum += points;
        fputs(i ? ",\n  {\"name\": " : "\n  {\"name\": ", stdout);
        print_json_string(stdout, g->exercises[i].name);
        printf(", \"state\": \"%s\", \"points\": %zu, \"of\": %zu, \"checks\": [",
               states[grading_state_of(g, s, i)], points, g->exercises[i].n_checks);
        for (size_t k = 0; k < g->exercises[i].n_checks; k++)
            print_json_check(g, s, i, k);
        fputs("]}", stdout);
    }
    printf("], \"points\": %zu, \"of\": %zu}", sum, g->n_checks);
}

static void print_json(const struct grading *g)
{
    putchar('[');
    for (size_t s = 0; s < g->n_students; s++)
        print_json_student(g, s);
    puts("]");
}

/* --- Arguments ---------------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    void (*print)(const struct grading *g);
} formats[] = {
    {"text", print_text}, {"report", print_report}, {"json", print_json}, {"csv", print_csv}};

/* Returns the index of the format, or ARRAY_LEN(formats) if there is none. */
static size_t find_format(const char *name)
{
    size_t i = 0;

    while (i < ARRAY_LEN(formats) && name && strcmp(formats[i].name, name) != 0)
        i++;
    if (i == ARRAY_LEN(formats))
        fprintf(stderr, "rdmalab: --format %s: there are text, report, json, csv\n",
                SHOWN_NAME(name));
    return i;
}

static bool read_arguments(const struct grade_arguments *a, struct grading *g)
{
    uint64_t jobs = 1;

    g->students_in = a->students;
    g->student = a->student;
    if (a->student && !a->students) {
        fputs("rdmalab: --student: --answers says where the students are\n", stderr);
        return false;
    }
    g->seeds = (struct suite_seeds){true, 1, SEEDS_LAST};
    g->run.timeout_s = TIMEOUT_S_DEFAULT;
    g->run.strict = true; /* a check that expects nothing is wrong */
    if (a->seeds_text &&
        !options_range("--seeds", a->seeds_text, SEEDS_MAX, &g->seeds.first, &g->seeds.last))
        return false;
    if (a->jobs_text && !options_number_in("-j", a->jobs_text, 1, CREW_MAX, &jobs))
        return false;
    if (a->timeout_text &&
        !options_number_in("--timeout", a->timeout_text, 1, TIMEOUT_S_MAX, &g->run.timeout_s))
        return false;
    g->jobs = (size_t)jobs;
    return true;
}

static int grade(struct grading *g, size_t format)
{
    char scratch[PATH_MAX];
    const char *why = scratch_open(scratch);
    int status;

    if (why) {
        fprintf(stderr, "rdmalab: TMPDIR %s: %s\n", SHOWN_NAME(scratch), why);
        return EXIT_FAILED;
    }
    g->run.scratch = scratch;
    status = grading_run(g);
    scratch_remove(scratch);
    if (status < EXIT_SIGNALS)
        formats[format].print(g);
    return status;
}

int grade_main(int argc, char **argv)
{
    struct grade_arguments a = {0};
    struct grading g = {0};
    const struct option rows[] = {
        {.name = "--answers", .value = &a.students},
        {.name = "--student", .value = &a.student, .words = ""},
        {.name = "--seeds", .value = &a.seeds_text, .words = ""},
        {.name = "--format", .value = &a.format, .words = "text|report|json|csv"},
        {.name = "-j", .value = &a.jobs_text, .words = ""},
        {.name = "--timeout", .value = &a.timeout_text, .words = ""},
    };
    size_t format;
    int status = EXIT_USAGE;

    if (!options_take(rows, ARRAY_LEN(rows), &argc, argv))
        return EXIT_USAGE;
    if (argc != 2)
        return EXIT_ASK;
    format = find_format(a.format);
    if (format == ARRAY_LEN(formats) || !read_arguments(&a, &g))
        return EXIT_USAGE;
    g.exercises_in = argv[1];
    signals_catch_endings();
    signals_catch_pipe();
    if (grading_read(&g))
        status = grade(&g, format);
    grading_done(&g);
    return status;
}
