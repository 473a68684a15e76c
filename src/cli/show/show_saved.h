/* SPDX-License-Identifier: MIT */
/* What a saved trace is as a whole. */
#ifndef CLI_SHOW_SHOW_SAVED_H
#define CLI_SHOW_SHOW_SAVED_H

#include <stdio.h>

#include "cli/trace_file/trace_file.h"

/* Who wrote it, hosts, how many events of each kind, what is missing. */
void show_saved(FILE *out, const struct trace_file *s);

/* A line for each thing that was amiss when it was read, each behind @lead; often none. */
void show_saved_notes(FILE *out, const char *lead, const struct trace_file *s);

#endif
