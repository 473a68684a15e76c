/* SPDX-License-Identifier: MIT */
/* Prints the virtual functions of a machine like `ip link show`. */
#ifndef TREE_TREE_VFS_H
#define TREE_TREE_VFS_H

#include <stdbool.h>
#include <stdio.h>

#include "rdmalab/inspect.h"

/* Prints the list at @path with a line for each function.  Returns false, with nothing printed, if
 * @path is not the list of a machine's virtual functions, like "m1.vfs".
 */
bool tree_vfs(FILE *out, const struct rdl_lab *lab, const char *path);

#endif
