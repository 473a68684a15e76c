/* SPDX-License-Identifier: MIT */
/* `rdmalab test`: finds scenarios, runs each with each seed, reports. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/files.h"
#include "cli/json.h"
#include "cli/modes.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"

#define JOBS_MAX          64u
#define TIMEOUT_S_DEFAULT 60u
#define DIRECTORY_DEPTH   8u
#define PATH_BYTES        1024u
#define CASES_MAX         1000000u

struct suite {
    struct scenario *scenarios;
    size_t n_scenarios, cap_scenarios;
    size_t n_invalid; /* files that could not be read, or are wrong */
    struct test_case *cases;
    struct test_result *results;
    size_t n_cases;
};

struct test_arguments {
    const char *format, *junit, *jobs_text, *seed_text, *seeds_text, *tag, *timeout_text;
    bool list, help;
    struct test_options run;
    uint64_t jobs, first_seed, last_seed;
    bool seed_given;
};

static void suite_done(struct suite *su)
{
    for (size_t i = 0; i < su->n_scenarios; i++)
        scenario_done(&su->scenarios[i]);
    free(su->scenarios);
    free(su->cases);
    free(su->results);
}

static bool has_tag(const struct scenario *sc, const char *tags)
{
    char tag[RDL_NAME_BYTES + 1];

    if (!tags)
        return true;
    for (;;) {
        const size_t n = strcspn(tags, ",");
        struct text t = text_on(tag, sizeof(tag));

        text_addn(&t, tags, n);
        if (scenario_has_tag(sc, tag))
            return true;
        if (tags[n] == '\0')
            return false;
        tags += n + 1;
    }
}

static void add_file(struct suite *su, const char *file, const char *tags)
{
    struct scenario sc;

    if (!scenario_load(&sc, file, stderr)) {
        su->n_invalid++;
        scenario_done(&sc);
        return;
    }
    if (su->n_scenarios == su->cap_scenarios) {
        const size_t cap = su->cap_scenarios ? 2 * su->cap_scenarios : 16;
        struct scenario *more = realloc(su->scenarios, cap * sizeof(*more));

        if (more) {
            su->scenarios = more;
            su->cap_scenarios = cap;
        }
    }
    if (!has_tag(&sc, tags) || su->n_scenarios == su->cap_scenarios)
        scenario_done(&sc);
    else
        su->scenarios[su->n_scenarios++] = sc;
}

/* A file, or everything below a directory that is a scenario by its name; sorted. */
static void add_path(struct suite *su, const char *path, const char *tags, size_t depth)
{
    struct dirent **entries;
    struct stat info;
    int n;

    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        add_file(su, path, tags);
        return;
    }
    n = depth < DIRECTORY_DEPTH ? scandir(path, &entries, NULL, alphasort) : -1;
    if (n < 0) {
        fprintf(stderr, "rdmalab: %s: cannot be read\n", path);
        su->n_invalid++;
        return;
    }
    for (int i = 0; i < n; i++) {
        char name[PATH_BYTES];
        struct text t = text_on(name, sizeof(name));

        text_addf(&t, "%.*s/%s", (int)(strlen(path) - (path[strlen(path) - 1] == '/')), path,
                  entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && (files_is_json(name) || files_is_lab(name) ||
                                             (stat(name, &info) == 0 && S_ISDIR(info.st_mode))))
            add_path(su, name, tags, depth + 1);
        free(entries[i]);
    }
    free(entries);
}

static bool make_cases(struct suite *su, const struct test_arguments *a)
{
    const uint64_t n_seeds = a->seed_given ? a->last_seed - a->first_seed + 1 : 1;
    size_t n = 0;

    if (n_seeds > CASES_MAX / (su->n_scenarios + 1))
        return false;
    su->n_cases = su->n_scenarios * (size_t)n_seeds;
    su->cases = calloc(su->n_cases + 1, sizeof(*su->cases));
    su->results = calloc(su->n_cases + 1, sizeof(*su->results));
    if (!su->cases || !su->results)
        return false;
    for (size_t i = 0; i < su->n_scenarios; i++) {
        for (uint64_t k = 0; k < n_seeds; k++)
            su->cases[n++] = (struct test_case){
                .sc = &su->scenarios[i],
                .seed = a->seed_given ? a->first_seed + k : scenario_seed(&su->scenarios[i]),
                .seed_given = a->seed_given,
            };
    }
    return true;
}

static void list(const struct suite *su, bool json)
{
    for (size_t i = 0; i < su->n_scenarios; i++) {
        const char *title = scenario_title(&su->scenarios[i]);

        if (!json) {
            printf("%s  %s\n", su->scenarios[i].src.name, title ? title : "");
            continue;
        }
        fputs(i ? ",\n {\"file\": " : "[{\"file\": ", stdout);
        json_write_string(stdout, su->scenarios[i].src.name);
        fputs(", \"title\": ", stdout);
        json_write_string(stdout, title ? title : "");
        fputc('}', stdout);
    }
    if (json)
        fputs(su->n_scenarios ? "]\n" : "[]\n", stdout);
}

/* Up to a->jobs at a time; reports in the order of the cases. */
static int run_cases(struct suite *su, const struct test_arguments *a, struct report *r)
{
    struct test_process running[JOBS_MAX] = {{0}};
    size_t which[JOBS_MAX] = {0};
    bool *done = calloc(su->n_cases + 1, sizeof(*done));
    size_t next = 0, told = 0, n_running = 0;
    int status = EXIT_PASSED;

    while (done && told < su->n_cases) {
        int wait_status;
        size_t slot = 0;

        if (*signals_interrupted()) {
            status = EXIT_INTERRUPTED;
            next = su->n_cases; /* what runs was interrupted too, and is collected */
            if (n_running == 0)
                break;
        }
        while (slot < a->jobs && running[slot].pid != 0)
            slot++;
        if (slot < a->jobs && next < su->n_cases) {
            const char *skip = scenario_skip(su->cases[next].sc);
            struct text t = text_on(su->results[next].message, TEST_MESSAGE_BYTES);

            which[slot] = next++;
            if (skip || !test_start(&su->cases[which[slot]], &a->run, &running[slot])) {
                text_add(&t, skip ? skip : "no process could be started\n");
                su->results[which[slot]].status = skip ? EXIT_SKIPPED : EXIT_FAILED;
                done[which[slot]] = true;
            } else {
                n_running++;
            }
        } else if (n_running > 0) {
            slot = test_wait(running, (size_t)a->jobs, &wait_status);
            RDL_ASSERT(slot < a->jobs);
            test_collect(&running[slot], &su->cases[which[slot]], wait_status,
                         &su->results[which[slot]]);
            done[which[slot]] = true;
            n_running--;
        }
        for (; told < su->n_cases && done[told]; told++) {
            report_case(r, &su->cases[told], &su->results[told]);
            if (su->results[told].status != EXIT_SKIPPED)
                status = exit_worse(status, su->results[told].status);
        }
    }
    free(done);
    return status;
}

static int run_suite(struct suite *su, const struct test_arguments *a)
{
    struct report r;
    const char *why;
    int status;

    if (!make_cases(su, a)) {
        fputs("rdmalab: too many cases\n", stderr);
        return EXIT_USAGE;
    }
    if (!report_begin(&r, a->format, su->n_cases, a->last_seed > a->first_seed)) {
        fprintf(stderr, "rdmalab: --format %s: there are text, tap, json, github\n", a->format);
        return EXIT_USAGE;
    }
    status = run_cases(su, a, &r);
    why = a->junit ? report_junit(a->junit, su->cases, su->results, su->n_cases) : NULL;
    if (why) {
        fprintf(stderr, "rdmalab: %s: %s\n", a->junit, why);
        status = exit_worse(status, EXIT_FAILED);
    }
    report_end(&r);
    return status == EXIT_PASSED && r.passed == 0 ? EXIT_SKIPPED : status;
}

/* "A..B" */
static bool read_seeds(struct test_arguments *a)
{
    char first[32];
    struct text t = text_on(first, sizeof(first));
    const char *dots = strstr(a->seeds_text, "..");

    if (!dots) {
        fprintf(stderr, "rdmalab: --seeds %s: it is written 1..100\n", a->seeds_text);
        return false;
    }
    text_addn(&t, a->seeds_text, (size_t)(dots - a->seeds_text));
    if (!options_number("--seeds", first, &a->first_seed) ||
        !options_number("--seeds", dots + 2, &a->last_seed))
        return false;
    if (a->last_seed < a->first_seed || a->last_seed - a->first_seed >= CASES_MAX) {
        fprintf(stderr, "rdmalab: --seeds %s: from the smaller to the larger\n", a->seeds_text);
        return false;
    }
    a->seed_given = true;
    return true;
}

static bool read_arguments(struct test_arguments *a)
{
    uint64_t timeout = TIMEOUT_S_DEFAULT;

    a->jobs = 1;
    if (!a->format)
        a->format = getenv("GITHUB_ACTIONS") ? "github" : "text";
    if (a->jobs_text && !options_number("-j", a->jobs_text, &a->jobs))
        return false;
    if (a->jobs < 1)
        a->jobs = 1;
    if (a->jobs > JOBS_MAX)
        a->jobs = JOBS_MAX;
    if (a->timeout_text && !options_number("--timeout", a->timeout_text, &timeout))
        return false;
    a->run.timeout_s = timeout > 86400 ? 86400 : (unsigned)timeout;
    if (a->seeds_text)
        return read_seeds(a);
    if (!a->seed_text)
        return true;
    a->seed_given = true;
    if (!options_number("--seed", a->seed_text, &a->first_seed))
        return false;
    a->last_seed = a->first_seed;
    return true;
}

static void print_usage(FILE *out)
{
    fputs("usage: rdmalab test PATH... [OPTION...]\n"
          "  PATH              a scenario, or a directory: all .json and .lab files below it\n"
          "  --format F        text, tap, json or github\n"
          "  --junit FILE      all results as JUnit XML too\n"
          "  -j N              so many at a time, each in a process of its own\n"
          "  --seed S          instead of the scenarios' own\n"
          "  --seeds A..B      each scenario with each of these seeds\n"
          "  --twice           run each twice and compare every event\n"
          "  --tag T,...       only scenarios with one of these tags\n"
          "  --list            print which there are, and run none\n"
          "  --artifacts DIR   pcapng, ladder, events and the command of each failure\n"
          "  --timeout N       seconds of the wall clock for each, default 60\n",
          out);
}

int test_main(int argc, char **argv)
{
    struct test_arguments a = {0};
    const struct option rows[] = {
        {"--format", NULL, &a.format},
        {"--junit", NULL, &a.junit},
        {"-j", NULL, &a.jobs_text},
        {"--seed", NULL, &a.seed_text},
        {"--seeds", NULL, &a.seeds_text},
        {"--twice", &a.run.twice, NULL},
        {"--tag", NULL, &a.tag},
        {"--list", &a.list, NULL},
        {"--artifacts", NULL, &a.run.artifacts},
        {"--timeout", NULL, &a.timeout_text},
        {"--help", &a.help, NULL},
    };
    struct suite su = {0};
    int status = EXIT_PASSED;

    if (!options_take(rows, ARRAY_LEN(rows), &argc, argv) || !read_arguments(&a))
        return EXIT_USAGE;
    if (a.help || argc < 2) {
        print_usage(a.help ? stdout : stderr);
        return a.help ? EXIT_PASSED : EXIT_USAGE;
    }
    for (int i = 1; i < argc; i++)
        add_path(&su, argv[i], a.tag, 0);
    if (su.n_invalid || su.n_scenarios == 0) {
        if (!su.n_invalid)
            fputs("rdmalab: no scenario found\n", stderr);
        printf("0 passed, %zu failed, 0 skipped\n", su.n_invalid);
        status = EXIT_USAGE;
    } else if (a.list) {
        list(&su, strcmp(a.format, "json") == 0);
    } else {
        status = run_suite(&su, &a);
    }
    suite_done(&su);
    return status;
}
