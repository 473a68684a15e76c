/* SPDX-License-Identifier: MIT */
/* The modes of the program, chosen by the first argument.  Each function takes its options with
 * options_take(), and returns the exit status, or EXIT_ASK to print the usage.
 */
#ifndef CLI_APP_MODES_H
#define CLI_APP_MODES_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/session/session.h"
#include "emu/base/text.h"

struct mode {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *usage; /* arguments, "convert A.lab B.json" */
    const char *what;  /* phrase about the mode */
    const char *exits; /* meaning of each exit status; NULL: the mode's own --help has it */
    /* The operands, for shell completion: MODE_FILES followed by the suffixes of the files
     * (":files json lab"), MODE_TOPIC, MODE_HOSTS, or the possible words ("a|b"); "": they cannot
     * be completed.
     */
    const char *takes;
};

#define MODE_FILES ":files"
#define MODE_TOPIC ":topic" /* an argument of `explain` */
#define MODE_HOSTS ":hosts" /* hosts of the lab, each with "--" and a program */

int check_main(int argc, char **argv);
int exec_main(int argc, char **argv);
int grade_main(int argc, char **argv);
int open_main(int argc, char **argv);
int quiz_main(int argc, char **argv);
int run_main(int argc, char **argv);
int show_main(int argc, char **argv);
int test_main(int argc, char **argv);
int tour_main(int argc, char **argv);

/* Prints completions for a shell.  @argv is `complete -- WORD...`, where the last WORD is the one
 * to complete.  @modes are the @n modes; @none describes a command line without a mode.  Returns
 * the exit status, or EXIT_ASK if @argv has another form.
 */
int complete_shell(const struct mode *modes, size_t n, const struct mode *none, int argc,
                   char **argv);

/* Prints the command line that comes to the same failure again.  Prints nothing if @t was cut, or
 * after ^C.
 */
void modes_say_again(const struct text *t);

/* Returns the configuration of a session that talks to the user: on the standard output, with
 * colours if that can show them, and with places in time to go back to.
 */
struct session_config modes_session(void);

/* modes_terminal() returns true if the standard output is a terminal.  modes_colour() returns true
 * if it is a terminal with colours: TERM is set and not "dumb", and NO_COLOR is not set.
 */
bool modes_colour(void);

bool modes_terminal(void);

#endif
