/* SPDX-License-Identifier: MIT */
/* The lab on one screen: what there is, what is under way, and what will happen next. */
#ifndef CLI_SHOW_SHOW_SUMMARY_H
#define CLI_SHOW_SHOW_SUMMARY_H

#include <stdio.h>

#include "cli/lang/words.h"
#include "emu/past/past.h"
#include "rdmalab/inspect.h"

/* For people it has at most 23 lines of 80 columns; what does not fit is counted.  The other forms
 * leave nothing out but what is due later than the first RDL_DUE_MAX.
 */
RDL_MUST_CHECK enum rdl_status show_summary(FILE *out, const struct rdl_lab *lab,
                                            const struct past *p, enum show_form form);

/* All that is due, at most RDL_DUE_MAX of it, soonest first. */
RDL_MUST_CHECK enum rdl_status show_due(FILE *out, const struct rdl_lab *lab, enum show_form form);

#endif
