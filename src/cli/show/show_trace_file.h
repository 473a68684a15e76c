/* SPDX-License-Identifier: MIT */
/* A summary of a saved trace. */
#ifndef CLI_SHOW_SHOW_TRACE_FILE_H
#define CLI_SHOW_SHOW_TRACE_FILE_H

#include <stdio.h>

#include "cli/trace_file/trace_file.h"

/* Prints the version of rdmalab that wrote the trace, its hosts, the number of events of each kind,
 * and what is missing.
 */
void show_trace_file(FILE *out, const struct trace_file *s);

/* Prints a line that begins with @lead for each kind of problem that was found while the trace was
 * read (struct trace_file_info).
 */
void show_trace_file_notes(FILE *out, const char *lead, const struct trace_file *s);

#endif
