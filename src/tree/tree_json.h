/* SPDX-License-Identifier: MIT */
/* A part of the inspect tree as JSON.
 *
 * Nodes are objects, lists are arrays, flags are booleans.  Words and texts are strings, and so are
 * numbers beyond 2^53, which a double would round.  Times are nanoseconds, null for never.
 */
#ifndef TREE_TREE_JSON_H
#define TREE_TREE_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "rdmalab/inspect.h"

/* Prints @path ("" is the whole lab), without a line end.  @tool_names: values are called as in the
 * tables (leaf_name()), and not as in paths.  Errors as rdl_inspect(), and RDL_ERR_NOMEM.
 */
RDL_MUST_CHECK enum rdl_status show_json(FILE *out, const struct rdl_lab *lab, const char *path,
                                         bool tool_names, size_t *reterr_at);

#endif
