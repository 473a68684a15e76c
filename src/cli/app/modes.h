/* SPDX-License-Identifier: MIT */
/* What the program can be asked to do by its first argument; each returns the exit status, or
 * EXIT_ASK. */
#ifndef CLI_APP_MODES_H
#define CLI_APP_MODES_H

#include <stdbool.h>
#include <stddef.h>

struct mode {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *usage, *what;
    const char *exits; /* what each exit status means; NULL: its own --help tells */
    const char *takes; /* what its words can be: MODE_FILES and suffixes, MODE_TOPIC, or the words
                          themselves, "a|b"; "": nobody knows */
    bool has_options;  /* options_take() knows them; otherwise they are those of @usage */
};

#define MODE_FILES ":files"
#define MODE_TOPIC ":topic" /* what `explain` explains */

int check_main(int argc, char **argv);
int open_main(int argc, char **argv);
int run_main(int argc, char **argv);
int show_main(int argc, char **argv);
int test_main(int argc, char **argv);

/* What may follow on a command line of a shell: @argv is `complete -- WORD...`.  @none: what is
 * done without a mode.
 */
int complete_shell(const struct mode *modes, size_t n, const struct mode *none, int argc,
                   char **argv);

/* Is the standard output a terminal that wants colour? */
bool modes_colour(void);

/* Is the standard output a terminal? */
bool modes_terminal(void);

#endif
