/* SPDX-License-Identifier: MIT */
/* `rdmalab bench device`: the cost of the queue pairs and completion queues of one device, up to
 * the maximum number that the virtio-rdma RFC permits.
 */
#ifndef BENCH_BENCH_DEVICE_H
#define BENCH_BENCH_DEVICE_H

#include <stdbool.h>

/* Measures devices with several numbers of queue pairs, and prints the results: as JSON if @json,
 * otherwise as text.  @now_s returns the processor time in seconds.  Returns 0, or 1 if a lab
 * failed; then it has printed the reason.
 */
int bench_device(bool json, double (*now_s)(void));

#endif
