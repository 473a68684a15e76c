/* SPDX-License-Identifier: MIT */
/* The benchmark of messages between guests of a machine: by frames and by the shortcut. */
#ifndef BENCH_BENCH_SHORTCUT_H
#define BENCH_BENCH_SHORTCUT_H

#include <stdbool.h>

/* Measures and prints the results: as JSON if @json, otherwise as text.  @now_s returns the
 * processor time of this process in seconds.  Returns 0, or 1 if the lab failed; then it has
 * printed the reason.
 */
int bench_shortcut(bool json, double (*now_s)(void));

#endif
