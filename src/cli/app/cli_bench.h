/* SPDX-License-Identifier: MIT */
/* `rdmalab bench`: measures the speed of the emulator. */
#ifndef CLI_APP_CLI_BENCH_H
#define CLI_APP_CLI_BENCH_H

/* Runs the mode `bench` with the arguments after the program name.  Returns the exit status. */
int bench_main(int argc, char **argv);

#endif
