/* SPDX-License-Identifier: MIT */
/* The benchmark of operations between two hosts: each goes the whole way, from post to completion.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>

/* Measures every operation and prints the figures, as text or as JSON.  Returns 0, or 1 if the lab
 * failed; then the reason was printed.
 */
int bench_lab(bool json);

/* Processor time of this process in seconds. */
double bench_now_s(void);

#endif
