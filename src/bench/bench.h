/* SPDX-License-Identifier: MIT */
/* The benchmark of operations between two hosts, each from the post to the polled completion. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>

/* Measures every operation and prints the results: as JSON if @json, otherwise as text.  Returns 0,
 * or 1 if the lab failed; then it has printed the reason.
 */
int bench_lab(bool json);

/* Returns the processor time of this process in seconds. */
double bench_now_s(void);

#endif
