/* SPDX-License-Identifier: MIT */
/* `rdmalab bench`: measures the speed of the emulator. */
#ifndef CLI_APP_CLI_BENCH_H
#define CLI_APP_CLI_BENCH_H

/* Runs the mode `bench`; @argv[0] is "bench".  Returns the exit status (enum exit_status), or
 * EXIT_ASK if the arguments are wrong: the caller prints the usage.
 */
int bench_main(int argc, char **argv);

#endif
