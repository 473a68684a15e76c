/* SPDX-License-Identifier: MIT */
/* Help, made from the command table. */
#ifndef CLI_HELP_HELP_H
#define CLI_HELP_HELP_H

#include <stdbool.h>
#include <stdio.h>

/* The classes of commands, and how to go on. */
void help_overview(FILE *out);

/* Prints what is known of @topic, a command or a class; false if that is nothing. */
bool help_topic(FILE *out, const char *topic);

/* Prints what the command @topic has called @part: a parameter.  False: nothing. */
bool help_part(FILE *out, const char *topic, const char *part);

/* The command or class that looks most like @topic, or NULL. */
const char *help_suggest(const char *topic);

#endif
