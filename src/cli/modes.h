/* SPDX-License-Identifier: MIT */
/* What the program can be asked to do by its first argument; each returns the exit status. */
#ifndef CLI_MODES_H
#define CLI_MODES_H

#include <stdbool.h>

int run_main(int argc, char **argv);
int show_main(int argc, char **argv);
int test_main(int argc, char **argv);
int convert_main(int argc, char **argv);
int schema_main(int argc, char **argv);
int explain_main(int argc, char **argv);
int doctor_main(int argc, char **argv);

/* Says on the standard error how the mode @name is used, as its --help does.  Returns EXIT_USAGE.
 */
int modes_usage(const char *name);

/* Is the standard output a terminal that wants colour? */
bool modes_colour(void);

#endif
