/* SPDX-License-Identifier: MIT */
/* `rdmalab tour`: the prompt in the tour; with --check, a check of its lessons. */
#include <stdlib.h>
#include <string.h>

#include "cli/app/device_option.h"
#include "cli/app/modes.h"
#include "cli/app/options.h"
#include "cli/app/repl.h"
#include "cli/app/tour_prompt.h"
#include "cli/lang/lex.h"
#include "cli/session/files.h"
#include "cli/tour/check.h"
#include "emu/base/assert.h"
#include "emu/base/plural.h"
#include "print/utf8.h"
#include "process/must.h"
#include "process/signals.h"

/* Checks the lesson of @src.  @name: the name that it must have; NULL: any. */
static int check_one(const struct source *src, const char *name,
                     const struct session_devices *devices)
{
    struct session_config config = modes_session();
    struct diag d = {.kind = DIAG_NONE};
    struct tour t;
    int status = EXIT_PASSED;
    char *wrong = NULL;
    size_t bytes;
    FILE *err = must_memstream(&wrong, &bytes);

    config.devices = *devices;
    config.err = err;
    if (!tour_read(&t, src, &d)) {
        diag_print(err, src, &d);
        status = EXIT_USAGE;
    } else if (name && strcmp(t.name, name) != 0) {
        fprintf(err, "%s: the lesson is called \"%s\", and its file \"%s\"\n", src->name, t.name,
                name);
        status = EXIT_FAILED;
    } else if (!tour_check(&t, &config)) {
        status = EXIT_FAILED;
    }
    must_memstream_end(err, &wrong);
    printf("%s  %s", status == EXIT_PASSED ? "ok  " : "FAIL", SHOWN_NAME(src->name));
    if (status == EXIT_PASSED)
        printf("  %zu screen%s", t.n_screens, plural_s(t.n_screens));
    putchar('\n');
    fputs(wrong, stdout);
    free(wrong);
    tour_done(&t);
    return status;
}

static int check_file(const char *file, const struct session_devices *devices)
{
    struct source src = {0};
    int status = files_read(file, &src, stderr);

    if (status == EXIT_PASSED)
        status = check_one(&src, NULL, devices);
    source_done(&src);
    return status;
}

/* Checks the @n files, or the lessons of the program if there are none. */
static int check_all(int n, char **files, const struct session_devices *devices)
{
    int status = EXIT_PASSED, n_failed = 0, n_all = 0;

    for (size_t i = 0; n == 0 && i < n_tour_builtins && !*signals_interrupted(); i++) {
        const struct source src = source_of(tour_builtins[i].file, tour_builtins[i].text);
        const int one = check_one(&src, tour_builtins[i].name, devices);

        n_all++;
        n_failed += one != EXIT_PASSED;
        status = exit_worse(status, one);
    }
    for (int i = 0; i < n && !*signals_interrupted(); i++) {
        const int one = check_file(files[i], devices);

        n_all++;
        n_failed += one != EXIT_PASSED;
        status = exit_worse(status, one);
    }
    printf("%d passed, %d failed\n", n_all - n_failed, n_failed);
    return *signals_interrupted() ? EXIT_INTERRUPTED : status;
}

static int list(void)
{
    struct tour_progress progress;

    tour_progress_read(&progress);
    tour_list(stdout, &progress);
    tour_progress_done(&progress);
    return EXIT_PASSED;
}

static bool is_number(const char *s)
{
    return s[0] && strspn(s, "0123456789") == strlen(s);
}

/* Returns the command that opens @where at its @screen.  The caller frees it. */
static char *line_of(const char *where, const char *screen)
{
    char *line = NULL;
    size_t n;
    FILE *f = must_memstream(&line, &n);

    fputs("tour", f);
    if (where) {
        fputc(' ', f);
        lex_write_quoted(f, where);
    }
    if (screen)
        fprintf(f, " %s", screen);
    must_memstream_end(f, &line);
    return line;
}

/* Starts the prompt in the tour, at @where and its @screen; both may be NULL. */
static int start(const char *where, const char *screen)
{
    const struct session_config config = modes_session();
    struct session *s = NULL;
    enum rdl_status st;
    char *line;
    int status;

    st = session_new(&config, &s);
    if (st != RDL_OK) {
        session_no_lab(stderr, &config, st);
        return EXIT_FAILED;
    }
    line = line_of(where, screen);
    status = repl_run(s, true, line);
    free(line);
    session_free(s);
    return status;
}

int tour_main(int argc, char **argv)
{
    bool check = false;
    struct session_devices devices;
    const char *device = NULL, *extensions = NULL, *guests = NULL;
    const struct option rows[] = {
        {.name = "--check", .flag = &check},
        {.name = "--device", .value = &device, .words = DEVICE_OPTION_WORDS},
        {.name = "--extensions", .value = &extensions, .words = ""},
        {.name = "--guests", .value = &guests, .words = GUESTS_OPTION_WORDS}};

    if (!options_take(rows, ARRAY_LEN(rows), &argc, argv) ||
        !device_option_read(device, &devices) || !extensions_option_read(extensions, &devices) ||
        !guests_option_read(guests, &devices))
        return EXIT_USAGE;
    if (check)
        return check_all(argc - 1, argv + 1, &devices);
    if (device || extensions || guests) {
        fprintf(stderr, "rdmalab: %s needs --check\n",
                device       ? "--device"
                : extensions ? "--extensions"
                             : "--guests");
        return EXIT_USAGE;
    }
    if (argc == 2 && strcmp(argv[1], "list") == 0)
        return list();
    if (argc > 3 || (argc == 3 && !is_number(argv[2])))
        return EXIT_ASK;
    return start(argc > 1 ? argv[1] : NULL, argc > 2 ? argv[2] : NULL);
}
