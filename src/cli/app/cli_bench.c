/* SPDX-License-Identifier: MIT */
/* `rdmalab bench`: parses its options. */
#include "cli/app/cli_bench.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/bench_connect.h"
#include "bench/bench_control.h"
#include "bench/bench_device.h"
#include "bench/bench_lnet.h"
#include "bench/bench_shortcut.h"
#include "cli/app/bench_programs.h"
#include "cli/app/bench_time.h"
#include "cli/app/options.h"
#include "emu/base/assert.h"
#include "print/utf8.h"
#include "process/exit_status.h"

static int run_device(bool json)
{
    return bench_device(json, bench_now_s);
}

static int run_connect(bool json)
{
    return bench_connect(json, bench_now_s);
}

static int run_shortcut(bool json)
{
    return bench_shortcut(json, bench_now_s);
}

static int run_lnet(bool json)
{
    return bench_lnet(json, bench_now_s);
}

/* The measurements, by the word behind `bench`. */
static const struct {
    const char *word;
    int (*run)(bool json);
} kinds[] = {{"time", bench_time},        {"device", run_device}, {"connect", run_connect},
             {"shortcut", run_shortcut},  {"lnet", run_lnet},     {"control", bench_control},
             {"programs", bench_programs}};

int bench_main(int argc, char **argv)
{
    const char *format = NULL;
    const struct option rows[] = {{.name = "--format", .value = &format, .words = "text|json"}};
    int (*run)(bool json) = NULL;
    bool json;

    if (!options_take(rows, ARRAY_LEN(rows), &argc, argv))
        return EXIT_USAGE;
    if (argc <= 1)
        run = bench_lab;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (argc == 2 && strcmp(argv[1], kinds[i].word) == 0)
            run = kinds[i].run;
    }
    if (!run)
        return EXIT_ASK;
    json = format && strcmp(format, "json") == 0;
    if (format && !json && strcmp(format, "text") != 0) {
        fprintf(stderr, "rdmalab: --format %s: there are text, json\n", SHOWN_NAME(format));
        return EXIT_USAGE;
    }
    return run(json);
}
