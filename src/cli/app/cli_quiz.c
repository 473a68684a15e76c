/* SPDX-License-Identifier: MIT */
/* `rdmalab quiz`: problems with one right answer, which the lab computes; with --check, a check of
 * the problems themselves.
 */
#include <ctype.h>
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
#include "emu/base/plural.h"
#include "print/print_csv.h"
#include "print/utf8.h"
#include "process/must.h"
#include "process/signals.h"

#define COUNT_MAX         1000u
#define SEEDS_OF_CHECK    20u
#define ANSWER_LINE_BYTES 256u

struct quiz_arguments {
    const char *seed_text, *count_text, *seeds_text, *format;
    bool solve, check, key;
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

/* Draws a problem; prints an error of the file to @err. */
static bool draw(const struct source *src, uint64_t seed, struct problem *ret, FILE *err)
{
    struct diag d = {.kind = DIAG_NONE};

    if (problem_draw(ret, src, seed, &d))
        return true;
    diag_print(err, &ret->src, &d);
    return false;
}

/* The same, for one problem. */
static bool draw_one(const struct source *src, uint64_t seed, struct problem *ret)
{
    if (draw(src, seed, ret, stderr))
        return true;
    fprintf(stderr, "  with the seed %" PRIu64 "\n", seed);
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
        if (!draw_one(&src, a->seed + i, &problem))
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

/* --- The key -----------------------------------------------------------------------------------
 */

/* Prints the right answer of the problem @seed: for @topic. */
static void print_key(const char *format, const struct problem *problem, const char *topic,
                      const struct tour_answer *right)
{
    const struct tour_screen *sc = &problem->tour.screens[0];
    const bool is_choice = !sc->number.text;
    const char letter[] = {answer_letter(right->choice), '\0'};
    const char *answer = is_choice ? letter : SHOWN_NAME(right->value);
    const char *text = is_choice ? SHOWN_NAME(sc->choices[right->choice].text) : "";

    if (strcmp(format, "csv") == 0) {
        print_csv_text(stdout, SHOWN_NAME(topic));
        printf(",%" PRIu64 ",", problem->seed);
        print_csv_text(stdout, answer);
        putchar(',');
        print_csv_text(stdout, text);
        putchar('\n');
    } else {
        printf("%-12s %8" PRIu64 "  %s%s%s\n", SHOWN_NAME(topic), problem->seed, answer,
               is_choice ? ") " : "", text);
    }
}

/* Prints the right answers of the problems with all seeds. */
static int print_keys(const struct quiz_arguments *a, const char *topic)
{
    const struct session_config config = modes_session();
    struct source file = {0}, src;
    int status = open_topic(topic, &file, &src);

    for (uint64_t i = 0; status == EXIT_PASSED && i <= a->last - a->seed && !*signals_interrupted();
         i++) {
        struct problem problem;
        struct play p = {.opened = NULL};
        struct tour_answer right;

        if (!draw_one(&src, a->seed + i, &problem))
            status = EXIT_USAGE;
        else if (!play_begin(&p, &problem.tour, &config, 0) || !play_find(&p, &right))
            status = EXIT_FAILED;
        else
            print_key(a->format, &problem, topic, &right);
        play_done(&p);
        problem_done(&problem);
    }
    if (file.text)
        source_done(&file);
    return *signals_interrupted() ? EXIT_INTERRUPTED : status;
}

/* Prints the keys of all topics, or of those in @topics. */
static int key_all(const struct quiz_arguments *a, int n, char **topics)
{
    int status = EXIT_PASSED;

    if (strcmp(a->format, "csv") == 0)
        puts("topic,seed,answer,text");
    for (size_t i = 0; n == 0 && i < n_quiz_builtins; i++)
        status = exit_worse(status, print_keys(a, quiz_builtins[i].name));
    for (int i = 0; i < n; i++)
        status = exit_worse(status, print_keys(a, topics[i]));
    return status;
}

/* --- Checking ------------------------------------------------------------------------------------
 */

/* Errors of several seeds that differ only in the drawn values. */
struct quiz_fault {
    char *text;     /* of the first seed */
    char *key;      /* the part of its first line that does not depend on the seed */
    uint64_t first; /* seed */
    unsigned n;
};

struct quiz_faults {
    struct quiz_fault *v;
    size_t n, room;
};

/* Returns the place and the message in the first line of @text, "FILE:LINE:0: FAIL no choice is
 * right", with 0 for each number behind that of the line.  What a colon in the message leads to is
 * left out, since it depends on the seed.  The caller frees the text.
 */
static char *kind_of_fault(const char *text)
{
    static const char error[] = ": error";
    char *key = NULL;
    size_t bytes, colons = 0;
    FILE *f = must_memstream(&key, &bytes);

    for (size_t i = 0; text[i] && text[i] != '\n'; i++) {
        const bool is_digit = isdigit((unsigned char)text[i]) != 0;

        if (text[i] == ':' && colons >= 3)
            break;
        colons += text[i] == ':' && strncmp(text + i, error, strlen(error)) != 0;
        if (!is_digit || colons < 2)
            fputc(text[i], f);
        else if (!isdigit((unsigned char)text[i - 1]))
            fputc('0', f);
    }
    must_memstream_end(f, &key);
    return key;
}

/* Adds the error @text of the seed @seed, and owns it. */
static void add_fault(struct quiz_faults *faults, char *text, uint64_t seed)
{
    char *key = kind_of_fault(text);

    for (size_t i = 0; i < faults->n; i++) {
        if (strcmp(faults->v[i].key, key) == 0) {
            faults->v[i].n++;
            free(key);
            free(text);
            return;
        }
    }
    faults->v = must_grow(faults->v, faults->n, &faults->room, sizeof(*faults->v));
    faults->v[faults->n++] = (struct quiz_fault){.text = text, .key = key, .first = seed, .n = 1};
}

/* Prints each error once, with its seeds, and frees them.  @n: seeds that were drawn. */
static void tell_faults(struct quiz_faults *faults, unsigned n)
{
    for (size_t i = 0; i < faults->n; i++) {
        struct quiz_fault *f = &faults->v[i];

        fputs(f->text, stdout);
        if (f->n == n && n > 1)
            printf("  with all %u seeds\n", n);
        else if (f->n > 1)
            printf("  with %u of %u seeds; the first is %" PRIu64 "\n", f->n, n, f->first);
        else
            printf("  with the seed %" PRIu64 "\n", f->first);
        free(f->text);
        free(f->key);
    }
    free(faults->v);
}

/* Checks the problem @seed.  Returns its errors, which the caller frees; NULL: there is none. */
static char *check_seed(const struct source *src, uint64_t seed)
{
    struct session_config config = modes_session();
    struct problem problem;
    char *text = NULL;
    size_t bytes;
    FILE *err = must_memstream(&text, &bytes);
    bool ok;

    config.err = err;
    ok = draw(src, seed, &problem, err) && tour_check(&problem.tour, &config);
    problem_done(&problem);
    must_memstream_end(err, &text);
    if (!ok)
        return text;
    free(text);
    return NULL;
}

static int check_topic(const struct quiz_arguments *a, const char *topic, unsigned *n_passed,
                       unsigned *n_failed)
{
    struct source file = {0}, src;
    struct quiz_faults faults = {0};
    int status = open_topic(topic, &file, &src);
    unsigned n_wrong = 0, n = 0;

    for (; status == EXIT_PASSED && n <= a->last - a->seed && !*signals_interrupted(); n++) {
        char *text = check_seed(&src, a->seed + n);

        n_wrong += text != NULL;
        if (text)
            add_fault(&faults, text, a->seed + n);
    }
    if (file.text)
        source_done(&file);
    *n_passed += n - n_wrong;
    *n_failed += n_wrong + (status != EXIT_PASSED);
    printf("%s  %s  %u problem%s\n", n_wrong || status ? "FAIL" : "ok  ", SHOWN_NAME(topic), n,
           plural_s(n));
    tell_faults(&faults, n);
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
    if (!a->format) {
        a->format = "text";
    } else if (strcmp(a->format, "text") != 0 && strcmp(a->format, "csv") != 0) {
        fprintf(stderr, "rdmalab: --format %s: there are text, csv\n", SHOWN_NAME(a->format));
        return false;
    }
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
        {.name = "--key", .flag = &a.key},
        {.name = "--seeds", .value = &a.seeds_text, .words = ""},
        {.name = "--format", .value = &a.format, .words = "text|csv"},
    };

    if (!options_take(rows, ARRAY_LEN(rows), &argc, argv))
        return EXIT_USAGE;
    if (a.format && !a.key)
        return EXIT_ASK;
    if (!read_arguments(&a))
        return EXIT_USAGE;
    if (a.check || a.key ? a.seed_text || a.count_text || a.solve || (a.check && a.key)
                         : a.seeds_text != NULL)
        return EXIT_ASK;
    if (a.check)
        return check_all(&a, argc - 1, argv + 1);
    if (a.key)
        return key_all(&a, argc - 1, argv + 1);
    if (argc == 1) {
        quiz_list(stdout);
        return EXIT_PASSED;
    }
    return argc > 2 ? EXIT_ASK : ask_all(&a, argv[1]);
}
