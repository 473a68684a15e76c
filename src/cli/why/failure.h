/* SPDX-License-Identifier: MIT */
/* The first part of `why`, before the chain of causes: explains a failed completion and the check
 * that refused a packet or a request.
 */
#ifndef CLI_WHY_FAILURE_H
#define CLI_WHY_FAILURE_H

#include <stdio.h>

#include "emu/past/past_index.h"

/* Explains the failure that the event @e reports.  Prints nothing if it reports none. */
void show_failure(FILE *out, const struct past_index *x, const struct ev *e);

/* Prints @e as an indented detail line. */
void show_detail(FILE *out, const struct past *p, const struct ev *e);

#endif
