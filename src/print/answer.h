/* SPDX-License-Identifier: MIT */
/* The output of a command as a part of something else: its lines stand behind a margin. */
#ifndef PRINT_ANSWER_H
#define PRINT_ANSWER_H

#include <stdio.h>

#define ANSWER_LINES_MAX 24u /* most lines of an answer whose command can be given again */

/* Calls @line with each line of @text: the margin, and @bytes at @s, without the line end. @command
 * is the command that prints @text: after ANSWER_LINES_MAX lines one more says that it tells the
 * rest.  NULL: all lines are given.
 */
void answer_lines(const char *command, const char *text,
                  void (*line)(void *ctx, const char *margin, const char *s, size_t bytes),
                  void *ctx);

/* Prints these lines. */
void answer_print(FILE *out, const char *command, const char *text);

#endif
