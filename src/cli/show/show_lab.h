/* SPDX-License-Identifier: MIT */
/* A host, a device, counters, and whatever else a path names. */
#ifndef CLI_SHOW_SHOW_LAB_H
#define CLI_SHOW_SHOW_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/lang/words.h"
#include "emu/past/past.h"
#include "rdmalab/inspect.h"

/* All counters that are not 0. */
RDL_MUST_CHECK enum rdl_status show_counters(FILE *out, const struct rdl_lab *lab,
                                             enum show_form form);

/* Every leaf at @path or below it as a row, under its path; with @tool_names as tables call it
 * (leaf_name()), and without @path before it.  Errors as rdl_inspect().
 */
RDL_MUST_CHECK enum rdl_status show_leaves(FILE *out, const struct rdl_lab *lab, const char *path,
                                           enum show_form form, bool tool_names, size_t *reterr_at);

/* The node or leaf @path, in the form that suits its kind.  Errors as rdl_inspect(). */
RDL_MUST_CHECK enum rdl_status show_path(FILE *out, const struct rdl_lab *lab, const struct past *p,
                                         const char *path, size_t *reterr_at);

#endif
