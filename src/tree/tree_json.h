/* SPDX-License-Identifier: MIT */
/* Prints a part of the inspect tree as JSON.
 *
 * Nodes are objects, lists are arrays, flags are booleans.  Words and texts are strings.  Numbers
 * above 2^53 are strings, too, because a double would round them.  Times are in nanoseconds; null
 * means never.
 */
#ifndef TREE_TREE_JSON_H
#define TREE_TREE_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "rdmalab/inspect.h"

/* Prints the value at @path, without a line end; "" is the whole lab.  @tool_names: use the names
 * of the tables (leaf_name()) instead of those of paths.  Errors as rdl_inspect(), and
 * RDL_ERR_NOMEM.
 */
RDL_MUST_CHECK enum rdl_status show_json(FILE *out, const struct rdl_lab *lab, const char *path,
                                         bool tool_names, size_t *reterr_at);

#endif
