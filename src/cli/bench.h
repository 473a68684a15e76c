/* SPDX-License-Identifier: MIT */
/* `rdmalab bench`: how fast this machine runs the whole path. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

/* Runs the benchmark and prints it to standard output.  @argv[0] is "bench".  Returns an exit
 * status of rdmalab: 0, 1 if a lab failed, 2 for wrong usage.
 */
int bench_main(int argc, char **argv);

#endif
