/* SPDX-License-Identifier: MIT */
/* Tables of all objects of a kind: queue pairs, completion queues, memory regions and so on. */
#ifndef CLI_SHOW_SHOW_OBJECTS_H
#define CLI_SHOW_SHOW_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/show/show_rows.h"
#include "emu/facts/leaf.h"
#include "rdmalab/inspect.h"

/* show_each() calls @each with the path of every node of @kind, in the order of the tree.  It
 * searches the children of @path ("" is the lab) and, for each child that is a host, the host's
 * children.
 */
typedef void show_each_object(void *ctx, const char *path);
RDL_MUST_CHECK enum rdl_status show_each(const struct rdl_lab *lab, const char *path,
                                         enum node_kind kind, show_each_object *each, void *ctx);

/* Prints a table of the objects of @kind that show_each() finds for @path.  If there are none,
 * people see the text @none; NULL: nothing.
 *
 * Return: RDL_OK, RDL_ERR_INVAL (this kind has no table), RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status show_kind(FILE *out, const struct rdl_lab *lab, const char *path,
                                         enum node_kind kind, enum show_form form,
                                         const char *none);

/* Fills @ret with the columns of the table that show_kind() prints for @kind.  Returns their
 * number; 0 if the kind has no table.
 */
unsigned show_columns_of_kind(enum node_kind kind, struct row_column ret[GRID_COLUMNS_MAX]);

/* Returns the number of objects that show_kind() would print. */
size_t show_count(const struct rdl_lab *lab, const char *path, enum node_kind kind);

/* Prints the device configuration of host @host, or of all hosts if it is empty.  For each field,
 * or for @field alone (NULL: all), it prints the value and which side enforces it.
 */
void show_device(FILE *out, const struct rdl_lab *lab, const char *host, const char *field,
                 enum show_form form);

#endif
