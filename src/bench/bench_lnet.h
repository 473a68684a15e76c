/* SPDX-License-Identifier: MIT */
/* The benchmark of LNet: PUTs beside RDMA WRITEs of the same size. */
#ifndef BENCH_BENCH_LNET_H
#define BENCH_BENCH_LNET_H

#include <stdbool.h>

/* Measures and prints the results, as bench_shortcut() does. */
int bench_lnet(bool json, double (*now_s)(void));

#endif
