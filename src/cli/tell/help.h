/* SPDX-License-Identifier: MIT */
/* Help, made from the command table. */
#ifndef CLI_TELL_HELP_H
#define CLI_TELL_HELP_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/lang/table.h"

/* The classes of commands, and how to go on. */
void help_overview(FILE *out);

/* The commands of one class. */
void help_class(FILE *out, enum cmd_class class);

/* All about one command: usage, parameters, example. */
void help_command(FILE *out, const struct cmd *cmd);

/* "post_send QP [wr_id=N] ... [as NAME]" */
void help_usage(FILE *out, const struct cmd *cmd);

/* Prints what is known of @topic, a command or a class; false if that is nothing. */
bool help_topic(FILE *out, const char *topic);

/* The command or class that looks most like @topic, or NULL. */
const char *help_suggest(const char *topic);

#endif
