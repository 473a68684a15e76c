/* SPDX-License-Identifier: MIT */
/* `rdmalab bench`: parses its options. */
#include "cli/app/cli_bench.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/bench_connect.h"
#include "bench/bench_device.h"
#include "cli/app/bench_programs.h"
#include "cli/app/bench_time.h"
#include "cli/app/options.h"
#include "emu/base/assert.h"
#include "print/utf8.h"
#include "process/exit_status.h"

int bench_main(int argc, char **argv)
{
    const char *format = NULL;
    const struct option rows[] = {{.name = "--format", .value = &format, .words = "text|json"}};
    bool time, device, connect, programs, json;

    if (!options_take(rows, ARRAY_LEN(rows), &argc, argv))
        return EXIT_USAGE;
    time = argc == 2 && strcmp(argv[1], "time") == 0;
    device = argc == 2 && strcmp(argv[1], "device") == 0;
    connect = argc == 2 && strcmp(argv[1], "connect") == 0;
    programs = argc == 2 && strcmp(argv[1], "programs") == 0;
    if (argc > 1 && !time && !device && !connect && !programs)
        return EXIT_ASK;
    json = format && strcmp(format, "json") == 0;
    if (format && !json && strcmp(format, "text") != 0) {
        fprintf(stderr, "rdmalab: --format %s: there are text, json\n", SHOWN_NAME(format));
        return EXIT_USAGE;
    }
    if (device)
        return bench_device(json, bench_now_s);
    if (connect)
        return bench_connect(json, bench_now_s);
    if (programs)
        return bench_programs(json);
    return time ? bench_time(json) : bench_lab(json);
}
