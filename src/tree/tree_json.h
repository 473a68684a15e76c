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

/* Prints the value at @path, without a line end; "" is the whole lab.  @tool_names: the keys are
 * the names that tables have (tree_child_name()), not the keys of paths.  Errors as rdl_inspect(),
 * and RDL_ERR_NOMEM.
 */
RDL_MUST_CHECK enum rdl_status show_json(FILE *out, const struct rdl_lab *lab, const char *path,
                                         bool tool_names, size_t *reterr_at);

#endif
