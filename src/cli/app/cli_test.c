/* SPDX-License-Identifier: MIT */
/* `rdmalab test`: finds scenarios, runs each with each seed, reports.
 *
 * Errors in the command line are found before anything runs.  Errors in a file fail that file only;
 * the others run.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/app/allow.h"
#include "cli/app/crew.h"
#include "cli/app/device_option.h"
#include "cli/app/fault_matrix.h"
#include "cli/app/modes.h"
#include "cli/app/options.h"
#include "cli/app/scratch.h"
#include "cli/session/files.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "print/print_json.h"
#include "print/utf8.h"
#include "process/signals.h"

#define TIMEOUT_S_DEFAULT 60u
#define TIMEOUT_S_MAX     86400u

struct test_arguments {
    const char *format, *junit, *jobs_text, *seed_text, *seeds_text, *tag, *timeout_text,
        *least_text, *fault_text;
    struct allow allow;
    bool list, matrix, dry, help;
    struct fault_choice choice; /* with @matrix */
    char scratch[PATH_MAX];     /* storage of a.run.scratch */
    struct test_options run;
    uint64_t jobs;
    uint64_t coverage_least; /* percent; 0: not required */
    struct suite_seeds seeds;
};

/* Lists the cases, including those that cannot be run, since testing them fails. */
static int list(const struct suite *su, bool json)
{
    int status = EXIT_PASSED;

    for (size_t i = 0; i < su->n_cases; i++) {
        const struct test_case *c = &su->cases[i];
        const bool wrong = c->file->status != EXIT_PASSED;
        struct shown_case shown;

        shown_case(c, NULL, false, &shown);
        if (wrong)
            status = exit_worse(status, c->file->status);
        if (!json) {
            printf("%s  %s\n", shown.name, wrong ? "(cannot be run)" : shown.title);
            fputs(wrong ? shown.message : "", stderr);
            continue;
        }
        fputs(i ? ",\n {\"file\": " : "[{\"file\": ", stdout);
        print_json_string(stdout, shown.file);
        fputs(", \"title\": ", stdout);
        print_json_string(stdout, shown.title);
        if (wrong) {
            fputs(", \"error\": ", stdout);
            print_json_string(stdout, shown.message);
        }
        fputc('}', stdout);
    }
    if (json)
        fputs(su->n_cases ? "]\n" : "[]\n", stdout);
    return status;
}

static int cannot(const char *option, const char *name, const char *why)
{
    fprintf(stderr, "rdmalab: %s %s: %s\n", option, SHOWN_NAME(name), why);
    return EXIT_USAGE;
}

/* Creates the directory of --artifacts if it does not exist.  Returns NULL, or the reason why it
 * cannot be used.
 */
static const char *open_artifacts(const char *dir, bool *ret_made)
{
    struct stat info;

    *ret_made = mkdir(dir, 0777) == 0;
    if (!*ret_made && errno != EEXIST)
        return strerror(errno);
    if (stat(dir, &info) != 0)
        return strerror(errno);
    if (!S_ISDIR(info.st_mode))
        return "this is no directory";
    return access(dir, W_OK | X_OK) == 0 ? NULL : strerror(errno);
}

/* Creates a directory for files that are not kept.  Returns NULL, or the reason of a failure. */
static const char *open_scratch(struct test_arguments *a)
{
    const char *why = scratch_open(a->scratch);

    a->run.scratch = why ? NULL : a->scratch;
    return why;
}

static void remove_scratch(const struct test_arguments *a)
{
    if (a->run.scratch)
        scratch_remove(a->scratch);
}

/* Fails if the coverage is less than --coverage-least, or if an excluded row was covered.  Prints
 * the reason on the standard error.
 */
static int judge_coverage(const struct test_arguments *a, const struct report_coverage *rc)
{
    const struct cover_figures *f = &rc->total;
    const bool wrong = f->impossible > 0 || f->stranger;

    if (!a->least_text)
        return EXIT_PASSED;
    if (cover_percent(f) < a->coverage_least)
        fprintf(stderr, "rdmalab: --coverage-least %u: it is %u %%, %zu of %zu\n",
                (unsigned)a->coverage_least, cover_percent(f), f->covered, f->of);
    if (wrong)
        fputs("rdmalab: --coverage-least: something happened that was said to be impossible, or "
              "has no row; the report says what\n",
              stderr);
    return wrong || cover_percent(f) < a->coverage_least ? EXIT_FAILED : EXIT_PASSED;
}

/* Closes the file of --junit; @status is that of the run. */
static int close_junit(const struct test_arguments *a, FILE *junit, int status)
{
    const char *why = files_close(junit);

    if (!why)
        return status;
    fprintf(stderr, "rdmalab: --junit %s: %s\n", SHOWN_NAME(a->junit), why);
    return exit_worse(status, EXIT_FAILED);
}

/* @junit is NULL if it is not requested. */
static int run_and_report(struct suite *su, const struct test_arguments *a, FILE *junit)
{
    struct report_coverage covered;
    struct report r;
    int status;

    report_begin(&r, a->format, su, &a->run, a->seeds.last > a->seeds.first);
    status = crew_run(su, &a->run, (size_t)a->jobs, &r);
    if (junit) {
        report_junit(junit, su->cases, su->n_cases, &a->run);
        status = close_junit(a, junit, status);
    }
    if (r.not_run)
        fprintf(stderr, "rdmalab: interrupted; %zu of %zu were not run\n", r.not_run, su->n_cases);
    if (a->run.coverage) {
        report_covered(su, &covered);
        r.coverage = &covered;
        status = exit_worse(status, judge_coverage(a, &covered));
    }
    report_end(&r);
    return status == EXIT_PASSED && r.passed == 0 && r.skipped > 0 ? EXIT_SKIPPED : status;
}

/* @junit is NULL if it is not requested. */
static int try_faults(struct suite *su, const struct test_arguments *a, FILE *junit)
{
    struct fault_cells cells = {0};
    int status = fault_matrix(su, &a->choice, &a->run, (size_t)a->jobs,
                              strcmp(a->format, "json") == 0, junit ? &cells : NULL);

    if (junit) {
        report_junit(junit, cells.v, cells.n, &a->run);
        status = close_junit(a, junit, status);
    }
    fault_cells_done(&cells);
    return status;
}

/* Opens all output files before the tests run, so that errors appear at once. */
static int run_suite(struct suite *su, struct test_arguments *a)
{
    bool made = false;
    const char *why;
    FILE *junit;
    int status;

    for (size_t i = 0; a->junit && i < su->n_files; i++) {
        if (files_same(a->junit, su->files[i].name))
            return cannot("--junit", a->junit, "this is a scenario");
    }
    why = a->run.artifacts ? open_artifacts(a->run.artifacts, &made) : NULL;
    if (why)
        return cannot("--artifacts", a->run.artifacts, why);
    signals_catch_endings();
    signals_catch_pipe();
    why = a->run.artifacts || test_writes_anywhere(&a->run) ? NULL : open_scratch(a);
    if (why)
        return cannot("TMPDIR", a->scratch, why);
    junit = a->junit ? fopen(a->junit, "w") : NULL;
    if (a->junit && !junit) {
        status = exit_unopened(errno);
        (void)cannot("--junit", a->junit, strerror(errno));
    } else {
        status = a->matrix ? try_faults(su, a, junit) : run_and_report(su, a, junit);
    }
    remove_scratch(a);
    if (made)
        (void)rmdir(a->run.artifacts); /* fails unless it is empty */
    return status;
}

/* Prints why there is no case. */
static void complain_of_nothing(const struct test_arguments *a)
{
    if (a->tag)
        fprintf(stderr,
                "rdmalab: no scenario found with the tag %s; a scenario says tags=%s in its "
                "first line\n",
                SHOWN_NAME(a->tag), SHOWN_NAME(a->tag));
    else
        fputs("rdmalab: no scenario found: their names end in .json or .lab\n", stderr);
}

/* Refuses options that --list, --fault-matrix or --fault would ignore. */
static bool fits_mode(const struct test_arguments *a)
{
    const char *matrix = a->fault_text ? "--fault" : "--fault-matrix";
    const char *mode = a->list ? "--list" : a->matrix ? matrix : "--dry";
    const char *other = a->junit && a->list                ? "--junit"
                        : a->run.twice                     ? "--twice"
                        : a->run.strict                    ? "--strict"
                        : a->run.artifacts && !a->matrix   ? "--artifacts"
                        : a->list && a->matrix             ? matrix
                        : a->dry && (a->list || a->matrix) ? "--dry"
                        : a->dry && a->seeds.given         ? "--seeds"
                        : a->run.coverage || a->least_text ? "--coverage"
                                                           : NULL;

    if (!a->matrix && !a->list && !a->dry)
        return true;
    if (other)
        fprintf(stderr, "rdmalab: %s and %s: give one of them\n", mode, other);
    else if (!a->matrix || strcmp(a->format, "text") == 0 || strcmp(a->format, "json") == 0)
        return true;
    else
        fprintf(stderr, "rdmalab: %s makes a table: its --format is text or json\n", matrix);
    return false;
}

static bool read_arguments(struct test_arguments *a)
{
    a->jobs = 1;
    a->run.timeout_s = TIMEOUT_S_DEFAULT;
    a->seeds.given = a->seed_text || a->seeds_text;
    a->matrix |= a->fault_text != NULL;
    if (!allow_read(&a->allow, &a->run.allowed))
        return false;
    if (a->fault_text && !fault_choice_read(a->fault_text, &a->choice))
        return false;
    if (!a->format)
        a->format = getenv("GITHUB_ACTIONS") && !a->matrix ? "github" : "text";
    if (!report_knows(a->format)) {
        fprintf(stderr, "rdmalab: --format %s: there are text, tap, json, github\n",
                SHOWN_NAME(a->format));
        return false;
    }
    if (!fits_mode(a) || !device_option_read(a->run.device, &a->run.devices) ||
        !extensions_option_read(a->run.extensions, &a->run.devices) ||
        !guests_option_read(a->run.guests, &a->run.devices))
        return false;
    if (a->jobs_text && !options_number_in("-j", a->jobs_text, 1, CREW_MAX, &a->jobs))
        return false;
    a->run.timeout_given = a->timeout_text != NULL;
    if (a->timeout_text &&
        !options_number_in("--timeout", a->timeout_text, 0, TIMEOUT_S_MAX, &a->run.timeout_s))
        return false;
    a->run.coverage |= a->least_text != NULL;
    if (a->least_text &&
        !options_number_in("--coverage-least", a->least_text, 0, 100, &a->coverage_least))
        return false;
    if (a->seed_text && a->seeds_text) {
        fputs("rdmalab: --seed and --seeds: give one of them\n", stderr);
        return false;
    }
    if (a->seeds_text)
        return options_range("--seeds", a->seeds_text, SUITE_CASES_MAX, &a->seeds.first,
                             &a->seeds.last);
    if (a->seed_text && !options_number("--seed", a->seed_text, &a->seeds.first))
        return false;
    a->seeds.last = a->seeds.first;
    return true;
}

static void print_usage(FILE *out)
{
    fprintf(
        out,
        "usage: rdmalab test PATH... [OPTION...]\n"
        "  PATH              a scenario, or a directory: all .json and .lab files below it;\n"
        "                    what is named twice runs once\n"
        "  --format F        text, tap, json or github\n"
        "  --junit FILE      all results as JUnit XML too\n"
        "  -j N              so many at a time, each in a process of its own: 1 to %u\n"
        "  --seed S          instead of the scenarios' own\n"
        "  --seeds A..B      each scenario with each of these seeds\n"
        "  --device D        the RDMA device of hosts that name none: virtio, pvrdma, or mixed,\n"
        "                    each in turn; what a device does not have fails\n"
        "  --extensions E,.. what virtio-rdma offers of hosts that name none: all, or some\n"
        "  --guests G        hosts are guests of one machine, and links between them nothing;\n"
        "                    G: shortcut if the machine has one, otherwise frames\n"
        "  --twice           run each twice and compare every event\n"
        "  --strict          a scenario fails that expects nothing\n"
        "  --tag T,...       only scenarios with one of these tags\n"
        "  --coverage        say which rules, opcodes, statuses and the like were exercised, and\n"
        "                    which were not; packets of inject are received, but sent by no host\n"
        "  --coverage-least N\n"
        "                    the same, and fail if it is less than N %% of what can be\n"
        "  --list            print which there are, and run none\n"
        "  --dry             run none, and report what is wrong without that: syntax, unknown\n"
        "                    commands, hosts and values, expectations that can never hold;\n"
        "                    \"ok\" does not say that objects are there when they are used\n"
        "  --fault-matrix    run each once for every packet lost, for every packet that comes\n"
        "                    twice, changes places with the next, or is damaged, and print a\n"
        "                    table: do its programs see the same, and do its expectations\n"
        "                    hold?  Status 1 if not\n"
        "  --fault HOW:PACKET\n"
        "                    of that table only this run: lost:12.3 is packet #12.3 lost; HOW is\n"
        "                    lost, twice, swapped or damaged\n"
        "  --artifacts DIR   a directory of each case for the files that it writes and, if it\n"
        "                    fails, its pcapng, ladder, timeline, events and command, and what\n"
        "                    programs have printed\n"
        "  --allow programs  the scenarios may start programs of this machine, in virtual time:\n"
        "                    it stands still while one of them computes\n"
        "  --allow files     the scenarios write files wherever they say; otherwise only in\n"
        "                    their directory, which without --artifacts is not kept\n"
        "  --no-sandbox      --allow programs,ports,files: all that \"rdmalab run\" can allow;\n"
        "                    a test has no ports\n"
        "  --timeout N       seconds of the wall clock for each: 0 to %u, 0 is none;\n"
        "                    default %u\n",
        CREW_MAX, TIMEOUT_S_MAX, TIMEOUT_S_DEFAULT);
    fputs(
        "exit status: 0 all passed, 1 an expectation or a command failed, or less was exercised\n"
        "  than --coverage-least asks for, 2 usage, a file that cannot be run, or nothing to run,\n"
        "  77 everything was skipped, 99 a bug of rdmalab, 124 a wall-clock limit; of several\n"
        "  99, 124, 2, 1 in this order;\n"
        "  130 ^C, 143 SIGTERM, 129 SIGHUP: what has ended until then is reported\n",
        out);
}

static int test_paths(int n, char **paths, struct test_arguments *a)
{
    const struct suite_seeds none = {0};
    struct suite su = {0};
    const char *why;
    int status;

    for (int i = 0; i < n; i++)
        suite_add(&su, paths[i], a->tag);
    if (a->dry)
        suite_judge(&su);
    why = suite_make_cases(&su, a->list ? &none : &a->seeds);
    if (why) {
        fprintf(stderr, "rdmalab: %s\n", why);
        status = su.no_memory ? EXIT_FAILED : EXIT_USAGE;
    } else {
        if (su.n_cases == 0)
            complain_of_nothing(a);
        if (a->dry)
            suite_pass(&su);
        if (a->list)
            status = list(&su, strcmp(a->format, "json") == 0);
        else
            status = run_suite(&su, a);
        if (su.n_cases == 0)
            status = exit_worse(status, EXIT_USAGE);
    }
    suite_done(&su);
    return status;
}

int test_main(int argc, char **argv)
{
    struct test_arguments a = {0};
    const struct option rows[] = {
        {.name = "--format", .value = &a.format, .words = "text|tap|json|github"},
        {.name = "--junit", .value = &a.junit, .output = OPTION_WRITES_FILE},
        {.name = "-j", .value = &a.jobs_text, .words = ""},
        {.name = "--seed", .value = &a.seed_text, .words = ""},
        {.name = "--seeds", .value = &a.seeds_text, .words = ""},
        {.name = "--device", .value = &a.run.device, .words = DEVICE_OPTION_WORDS},
        {.name = "--extensions", .value = &a.run.extensions, .words = ""},
        {.name = "--guests", .value = &a.run.guests, .words = GUESTS_OPTION_WORDS},
        {.name = "--twice", .flag = &a.run.twice},
        {.name = "--strict", .flag = &a.run.strict},
        {.name = "--tag", .value = &a.tag, .words = ""},
        {.name = "--coverage", .flag = &a.run.coverage},
        {.name = "--coverage-least", .value = &a.least_text, .words = ""},
        {.name = "--list", .flag = &a.list},
        {.name = "--dry", .flag = &a.dry},
        {.name = "--fault-matrix", .flag = &a.matrix},
        {.name = "--fault", .value = &a.fault_text, .words = ""},
        {.name = "--artifacts", .value = &a.run.artifacts},
        ALLOW_OPTIONS(a.allow),
        {.name = "--timeout", .value = &a.timeout_text},
        {.name = "--help", .flag = &a.help},
    };

    if (!options_take(rows, ARRAY_LEN(rows), &argc, argv))
        return EXIT_USAGE;
    if (a.help || argc < 2) {
        print_usage(a.help ? stdout : stderr);
        return a.help ? EXIT_PASSED : EXIT_USAGE;
    }
    if (!read_arguments(&a) || !options_judge_outputs(rows, ARRAY_LEN(rows), NULL))
        return EXIT_USAGE;
    return test_paths(argc - 1, argv + 1, &a);
}
