/* SPDX-License-Identifier: MIT */
/* `rdmalab bench time`: what going back costs, and how long it takes. */
#ifndef CLI_APP_BENCH_TIME_H
#define CLI_APP_BENCH_TIME_H

#include <stdbool.h>

/* Measures a session of two hosts, and prints it.  Returns the exit status. */
int bench_time(bool json);

#endif
