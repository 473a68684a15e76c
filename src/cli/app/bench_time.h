/* SPDX-License-Identifier: MIT */
/* `rdmalab bench time`: measures memory and time of travelling back in a session. */
#ifndef CLI_APP_BENCH_TIME_H
#define CLI_APP_BENCH_TIME_H

#include <stdbool.h>

/* Measures a session of two hosts and prints the results: as JSON if @json, otherwise as text.
 * Returns the exit status (enum exit_status).
 */
int bench_time(bool json);

#endif
