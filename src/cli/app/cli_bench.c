/* SPDX-License-Identifier: MIT */
/* `rdmalab bench`: parses its options. */
#include "cli/app/cli_bench.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/bench_device.h"
#include "cli/app/bench_time.h"
#include "process/exit_status.h"

int bench_main(int argc, char **argv)
{
    const bool time = argc > 1 && strcmp(argv[1], "time") == 0;
    const bool device = argc > 1 && strcmp(argv[1], "device") == 0;
    const int words = 1 + (time || device);
    const char *format =
        argc == words + 2 && strcmp(argv[words], "--format") == 0 ? argv[words + 1] : NULL;
    const bool json = format && strcmp(format, "json") == 0;

    if (!json && argc != words && !(format && strcmp(format, "text") == 0))
        return EXIT_ASK;
    if (device)
        return bench_device(json, bench_now_s);
    return time ? bench_time(json) : bench_lab(json);
}
