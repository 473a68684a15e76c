/* SPDX-License-Identifier: MIT */
/* `rdmalab bench device`: what queue pairs and completion queues of one device cost, up to as many
 * as the RFC allows.
 */
#ifndef BENCH_BENCH_DEVICE_H
#define BENCH_BENCH_DEVICE_H

#include <stdbool.h>

/* Measures devices of different sizes, and prints them.  Returns the exit status. */
int bench_device(bool json, double (*now_s)(void));

#endif
