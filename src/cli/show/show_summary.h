/* SPDX-License-Identifier: MIT */
/* `show` without arguments: a summary of the lab, of what is in progress, and of what happens next.
 */
#ifndef CLI_SHOW_SHOW_SUMMARY_H
#define CLI_SHOW_SHOW_SUMMARY_H

#include <stdio.h>

#include "cli/lang/words.h"
#include "emu/past/past.h"
#include "rdmalab/inspect.h"

/* Prints the summary.  For people it has at most 23 lines of 80 columns, and says how many entries
 * it omits.  The forms for programs omit nothing, except pending timers and frames after the first
 * RDL_DUE_MAX.
 */
RDL_MUST_CHECK enum rdl_status show_summary(FILE *out, const struct rdl_lab *lab,
                                            const struct past *p, enum show_form form);

/* Prints all pending timers and frames, at most RDL_DUE_MAX, in order of time. */
RDL_MUST_CHECK enum rdl_status show_due(FILE *out, const struct rdl_lab *lab, enum show_form form);

#endif
