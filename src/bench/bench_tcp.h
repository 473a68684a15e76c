/* SPDX-License-Identifier: MIT */
/* TCP over the loopback interface of the machine, with which programs on a lab are compared. */
#ifndef BENCH_BENCH_TCP_H
#define BENCH_BENCH_TCP_H

#include <stdbool.h>
#include <stdint.h>

/* Two processes with a connection: the second one answers each message of @bytes with one as long,
 * @n times; or, if @stream, takes them all and answers the last one.  Sets *@ret_s to the time of
 * the machine's clock in seconds.  Returns false if the machine refuses; errno says why.
 */
bool bench_tcp(uint32_t bytes, uint32_t n, bool stream, double *ret_s);

#endif
