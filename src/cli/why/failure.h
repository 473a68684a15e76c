/* SPDX-License-Identifier: MIT */
/* What a failed completion means, and which check refused what: the part of `why` before the chain.
 */
#ifndef CLI_WHY_FAILURE_H
#define CLI_WHY_FAILURE_H

#include <stdio.h>

#include "emu/past/past_index.h"

/* Prints nothing unless @e tells of a failure. */
void show_failure(FILE *out, const struct past_index *x, const struct ev *e);

/* Prints @e as a line of detail under another. */
void show_detail(FILE *out, const struct past *p, const struct ev *e);

#endif
