/* SPDX-License-Identifier: MIT */
/* Prints a host, a device, counters, and any other node or leaf of the inspect tree. */
#ifndef CLI_SHOW_SHOW_LAB_H
#define CLI_SHOW_SHOW_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/lang/words.h"
#include "emu/past/past.h"
#include "rdmalab/inspect.h"

/* Prints all counters that are not 0. */
RDL_MUST_CHECK enum rdl_status show_counters(FILE *out, const struct rdl_lab *lab,
                                             enum show_form form);

/* Prints the leaf @path, or every leaf below the node @path, as a row with its path.  With
 * @tool_names it prints the names that tables use (leaf_name()) and omits @path.  Errors are those
 * of rdl_inspect().
 */
RDL_MUST_CHECK enum rdl_status show_leaves(FILE *out, const struct rdl_lab *lab, const char *path,
                                           enum show_form form, bool tool_names, size_t *reterr_at);

/* Prints the node or leaf @path in the layout for its kind.  Errors are those of rdl_inspect(). */
RDL_MUST_CHECK enum rdl_status show_path(FILE *out, const struct rdl_lab *lab, const struct past *p,
                                         const char *path, size_t *reterr_at);

#endif
