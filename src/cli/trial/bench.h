/* SPDX-License-Identifier: MIT */
/* `rdmalab bench`: how fast the emulator is. */
#ifndef CLI_TRIAL_BENCH_H
#define CLI_TRIAL_BENCH_H

/* Returns the exit status. */
int bench_main(int argc, char **argv);

#endif
