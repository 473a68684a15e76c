/* SPDX-License-Identifier: MIT */
/* `rdmalab bench connect`: connections by rdma_cm between two hosts, one after the other and many
 * that live at the same time.
 */
#ifndef BENCH_BENCH_CONNECT_H
#define BENCH_BENCH_CONNECT_H

#include <stdbool.h>

/* Measures connections, and prints the results: as JSON if @json, otherwise as text.  @now_s
 * returns the processor time in seconds.  Returns 0, or 1 if a lab failed; then it has printed the
 * reason.
 */
int bench_connect(bool json, double (*now_s)(void));

#endif
