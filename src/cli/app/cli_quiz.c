/* SPDX-License-Identifier: MIT */
/* `rdmalab quiz`: problems with one right answer, which the lab computes; with --check, a check of
 * the problems themselves.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/app/modes.h"
#include "cli/app/options.h"
#include "cli/app/tour_prompt.h"
#include "cli/lang/suggest.h"
#include "cli/session/files.h"
#include "cli/session/scenario.h"
#include "cli/tour/check.h"
#include "cli/tour/draw.h"
#include "cli/tour/play.h"
#include "emu/base/assert.h"
#include "print/utf8.h"
#include "process/signals.h"

#define COUNT_MAX         1000u
#define SEEDS_OF_CHECK    20u
#define ANSWER_LINE_BYTES 256u

struct quiz_arguments {
    const char *seed_text, *count_text, *seeds_text;
    bool solve, check;
    uint64_t seed, count, last; /* @last: of --seeds, which begin with @seed */
};

/* --- Topics ------------------------------------------------------------------------------------
 */

/* Sets *@ret to the text of the topic @name, or of the file @name, whose text is then owned by
 * @ret_file.  Prints an error and returns another status than EXIT_PASSED on failure.
 */
static int open_topic(const char *name, struct source *ret_file, struct source *ret)
{
    struct suggestion near = suggestion_for(name);
    const size_t n = strlen(name);
    const struct tour_builtin *topic = quiz_find(name, &near);
    int status;

    if (topic) {
        *ret = source_of(topic->file, topic->text);
        return EXIT_PASSED;
    }
    if (!strchr(name, '/') && (n < 5 || strcmp(name + n - 5, ".tour") != 0)) {
        fprintf(stderr, "rdmalab: the quiz has no topic \"%s\"\n", SHOWN_NAME(name));
        fprintf(stderr, near.best ? "  did you mean \"rdmalab quiz %s\"?\n" : "%s",
                near.best ? near.best : "  \"rdmalab quiz\" lists the topics\n");
        return EXIT_USAGE;
    }
    status = files_read(name, ret_file, stderr);
    *ret = *ret_file;
    return status;
}

/* Draws a problem; prints an error of the file. */
static bool draw(const struct source *src, uint64_t seed, struct problem *ret)
{
    struct diag d = {.kind = DIAG_NONE};

    if (problem_draw(ret, src, seed, &d))
        return true;
    fprintf(stderr, "with the seed %" PRIu64 ":\n", seed);
    diag_print(stderr, &ret->src, &d);
    return false;
}

/* --- Asking ------------------------------------------------------------------------------------
 */

/* Reads lines until one has the form of an answer.  At the end of the input the answer is missing.
 */
static enum play_result read_answer(struct play *p)
{
    char line[ANSWER_LINE_BYTES];
    enum play_result result;

    do {
        fputs("answer: ", stdout);
        fflush(stdout);
        if (!fgets(line, sizeof(line), stdin)) {
            putchar('\n');
            return play_enter(p);
        }
        if (!modes_terminal()) /* the answer of a pipe is not on the screen */
            fputs(line, stdout);
        if (line[strspn(line, " \t\n")] == '\0')
            return play_enter(p);
        result = play_answer(p, line, false);
        if (result == PLAY_NOT)
            puts("this has not the form of an answer; an empty line shows the right one");
    } while (result == PLAY_NOT || result == PLAY_ASKS);
    return result;
}

static int ask(const struct problem *problem, const char *topic, bool *ret_right)
{
    const struct session_config config = modes_session();
    struct play p = {.opened = NULL};
    int status = EXIT_FAILED;

    if (play_begin(&p, &problem->tour, &config, 0)) {
        play_show(&p);
        if (read_answer(&p) == PLAY_TAKEN)
            status = EXIT_PASSED;
    }
    *ret_right = status == EXIT_PASSED && p.is_right;
    if (status == EXIT_PASSED && !p.is_right)
        printf("step by step: rdmalab quiz %s --seed %" PRIu64 " --solve\n", SHOWN_NAME(topic),
               problem->seed);
    play_done(&p);
    return status;
}

static int solve(const struct problem *problem)
{
    const struct session_config config = modes_session();
    struct play p = {.opened = NULL};
    const bool ok = play_begin(&p, &problem->tour, &config, 0) && play_solve(&p);

    play_done(&p);
    return ok ? EXIT_PASSED : EXIT_FAILED;
}

static int ask_all(const struct quiz_arguments *a, const char *topic)
{
    struct source file = {0}, src;
    uint64_t n_right = 0, i = 0;
    int status = open_topic(topic, &file, &src);

    for (; status == EXIT_PASSED && i < a->count && !*signals_interrupted(); i++) {
        struct problem problem;
        bool right = false;

        if (i > 0)
            putchar('\n');
        if (!draw(&src, a->seed + i, &problem))
            status = EXIT_USAGE;
        else
            status = a->solve ? solve(&problem) : ask(&problem, topic, &right);
        n_right += right;
        problem_done(&problem);
    }
    if (file.text)
        source_done(&file);
    if (*signals_interrupted())
        return EXIT_INTERRUPTED;
    if (status != EXIT_PASSED || a->solve)
        return status;
    if (a->count > 1)
        printf("\n%" PRIu64 " of %" PRIu64 " right\n", n_right, a->count);
    return n_right == a->count ? EXIT_PASSED : EXIT_FAILED;
}

/* --- Checking ----------------------------------------------------------------------------------
 */

static int check_topic(const struct quiz_arguments *a, const char *topic, unsigned *n_passed,
                       unsigned *n_failed)
{
    const struct session_config config = modes_session();
    struct source file = {0}, src;
    int status = open_topic(topic, &file, &src);
    unsigned n_wrong = 0, n = 0;

    for (; status == EXIT_PASSED && n <= a->last - a->seed && !*signals_interrupted(); n++) {
        const uint64_t seed = a->seed + n;
        struct problem problem;
        bool ok = draw(&src, seed, &problem);

        if (ok && !tour_check(&problem.tour, &config)) {
            fprintf(stderr, "with the seed %" PRIu64 "\n", seed);
            ok = false;
        }
        problem_done(&problem);
        n_wrong += !ok;
    }
    if (file.text)
        source_done(&file);
    fflush(stderr);
    *n_passed += n - n_wrong;
    *n_failed += n_wrong + (status != EXIT_PASSED);
    printf("%s  %s  %u problem%s\n", n_wrong || status ? "FAIL" : "ok  ", SHOWN_NAME(topic), n,
           n == 1 ? "" : "s");
    return n_wrong ? exit_worse(status, EXIT_FAILED) : status;
}

static int check_all(const struct quiz_arguments *a, int n, char **topics)
{
    int status = EXIT_PASSED;
    unsigned n_passed = 0, n_failed = 0;

    for (size_t i = 0; n == 0 && i < n_quiz_builtins; i++)
        status = exit_worse(status, check_topic(a, quiz_builtins[i].name, &n_passed, &n_failed));
    for (int i = 0; i < n; i++)
        status = exit_worse(status, check_topic(a, topics[i], &n_passed, &n_failed));
    printf("%u passed, %u failed\n", n_passed, n_failed);
    return *signals_interrupted() ? EXIT_INTERRUPTED : status;
}

/* --- Arguments ---------------------------------------------------------------------------------
 */

static bool read_arguments(struct quiz_arguments *a)
{
    a->seed = a->count = 1;
    a->last = SEEDS_OF_CHECK;
    if (a->seed_text && !options_number("--seed", a->seed_text, &a->seed))
        return false;
    if (a->count_text && !options_number_in("--count", a->count_text, 1, COUNT_MAX, &a->count))
        return false;
    return !a->seeds_text || options_range("--seeds", a->seeds_text, COUNT_MAX, &a->seed, &a->last);
}

int quiz_main(int argc, char **argv)
{
    struct quiz_arguments a = {0};
    const struct option rows[] = {
        {.name = "--seed", .value = &a.seed_text, .words = ""},
        {.name = "--count", .value = &a.count_text, .words = ""},
        {.name = "--solve", .flag = &a.solve},
        {.name = "--check", .flag = &a.check},
        {.name = "--seeds", .value = &a.seeds_text, .words = ""},
    };

    if (!options_take(rows, ARRAY_LEN(rows), &argc, argv) || !read_arguments(&a))
        return EXIT_USAGE;
    if (a.check ? a.seed_text || a.count_text || a.solve : a.seeds_text != NULL)
        return EXIT_ASK;
    if (a.check)
        return check_all(&a, argc - 1, argv + 1);
    if (argc == 1) {
        quiz_list(stdout);
        return EXIT_PASSED;
    }
    return argc > 2 ? EXIT_ASK : ask_all(&a, argv[1]);
}
