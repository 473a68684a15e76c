/* SPDX-License-Identifier: MIT */
/* What the program can be asked to do by its first argument; each returns the exit status, or
 * EXIT_ASK. */
#ifndef CLI_APP_MODES_H
#define CLI_APP_MODES_H

#include <stdbool.h>

int check_main(int argc, char **argv);
int open_main(int argc, char **argv);
int run_main(int argc, char **argv);
int show_main(int argc, char **argv);
int test_main(int argc, char **argv);

/* Is the standard output a terminal that wants colour? */
bool modes_colour(void);

/* Is the standard output a terminal? */
bool modes_terminal(void);

#endif
