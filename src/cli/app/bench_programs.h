/* SPDX-License-Identifier: MIT */
/* `rdmalab bench programs`: how fast Debian's perftest programs are on two hosts of a lab. */
#ifndef CLI_APP_BENCH_PROGRAMS_H
#define CLI_APP_BENCH_PROGRAMS_H

#include <stdbool.h>

/* Measures perftest under `rdmalab exec`, UCX over TCP and TCP over the loopback interface in
 * turns, and prints the medians: as JSON if @json, otherwise as text.  Leaves out a
 * figure whose program is not installed, and says so.  Returns the exit status (enum exit_status).
 */
int bench_programs(bool json);

#endif
