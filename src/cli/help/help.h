/* SPDX-License-Identifier: MIT */
/* The command `help`, generated from the command table. */
#ifndef CLI_HELP_HELP_H
#define CLI_HELP_HELP_H

#include <stdbool.h>
#include <stdio.h>

/* Prints the classes of commands ("verbs", "faults", ...) and their commands, and how to get more
 * help.
 */
void help_overview(FILE *out);

/* Prints the help of @topic, a command or a class.  Returns false if there is none. */
bool help_topic(FILE *out, const char *topic);

/* Prints the help of parameter @part of the command @topic.  Returns false if there is none. */
bool help_part(FILE *out, const char *topic, const char *part);

/* Returns the name of the command or class most similar to @topic, or NULL if none is similar. */
const char *help_suggest(const char *topic);

#endif
